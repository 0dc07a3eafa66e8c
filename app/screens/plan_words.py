"""Words of the plan editor: what is wrong with a draft, what is chosen, where it stands."""

from __future__ import annotations

from typing import Final

from app.core.plan_draft import PlanDraft, SeatMark, Selection
from app.core.plan_faults import FaultCode, PlanFault
from app.core.plan_focus import FocusSource
from app.core.plan_numbering import Counting
from app.core.plan_work import PlanWork
from app.i18n import _, figures, marked, ngettext
from app.models.plan_scene import row_name
from widgets.plan_canvas import Tool

_WORDS: Final[dict[FaultCode, str]] = {
    FaultCode.PLAN_UNNAMED: marked("The plan has no name"),
    FaultCode.NO_SEATS: marked("The plan has neither seats nor standing places"),
    FaultCode.SECTION_UNNAMED: marked("A section has no name"),
    FaultCode.SECTION_EMPTY: marked("Section {name} has no rows"),
    FaultCode.SECTION_REPEATS: marked("There are two sections {name}"),
    FaultCode.ROW_UNNAMED: marked("A row has no name ({section})"),
    FaultCode.ROW_EMPTY: marked("Row {name} has no seats ({section})"),
    FaultCode.ROW_REPEATS: marked("There are two rows {name} ({section})"),
    FaultCode.ROW_LOOKS_ALIKE: marked("Row {name} looks like another row ({section})"),
    FaultCode.SEAT_REPEATS: marked("Seat {name} is there twice ({section})"),
    FaultCode.CATEGORY_UNNAMED: marked("A price category has no name"),
    FaultCode.CATEGORY_REPEATS: marked("There are two price categories {name}"),
    FaultCode.CATEGORY_UNUSED: marked("No seat is of the category {name}"),
    FaultCode.SHAPE_OUTSIDE: marked("A shape stands outside of the hall"),
    FaultCode.SHAPE_WITHOUT_TEXT: marked("A text has no words"),
    FaultCode.TOO_LARGE: marked("The plan has more in it than the booking system takes"),
    FaultCode.TEXT_UNUSABLE: marked("A text is too long, or has signs in it that cannot be printed: {name}"),
    FaultCode.OUT_OF_RANGE: marked("Something stands further away, or is larger, than a plan can say"),
    FaultCode.SECTION_LOOKS_ALIKE: marked("Section {name} looks like another section"),
    FaultCode.CATEGORY_LOOKS_ALIKE: marked("The price category {name} looks like another one"),
    FaultCode.STANDING_UNNAMED: marked("Standing places have no name"),
    FaultCode.STANDING_REPEATS: marked("There are two areas of standing places {name}"),
    FaultCode.STANDING_WITHOUT_CATEGORY: marked("The standing places {name} have no price category"),
    FaultCode.FLOOR_UNNAMED: marked("A floor has no name"),
    FaultCode.FLOOR_UNKNOWN: marked("{name} is on a floor that the plan does not have"),
}
TOOL_WORDS: Final[dict[Tool, tuple[str, str]]] = {
    Tool.CHOOSE: (marked("Choose"), "V"),
    Tool.ROW: (marked("Row"), "R"),
    Tool.ROWS: (marked("Block of rows"), "B"),
    Tool.TABLE: (marked("Table"), "O"),
    Tool.BOOTH: (marked("Booth"), "H"),
    Tool.STANDING: (marked("Standing places"), "G"),
    Tool.STAGE: (marked("Stage or area"), "S"),
    Tool.TEXT: (marked("Text"), "T"),
    Tool.FOCUS: (marked("Where people look"), "F"),
}
FORM_WORDS: Final[dict[str, str]] = {
    "rectangle": marked("Rectangular"),
    "ellipse": marked("Oval"),
    "circle": marked("Round"),
}
FOCUS_WORDS: Final[dict[FocusSource, str]] = {
    FocusSource.PLAN: marked("As somebody has set it."),
    FocusSource.STAGE: marked("Found: the middle of the stage that the drawing names."),
    FocusSource.UPPER_EDGE: marked("Guessed: in front of the first seats. The drawing names no stage."),
}
COUNTING_WORDS: Final[dict[Counting, str]] = {
    Counting.EVERY: marked("1, 2, 3, 4 (all)"),
    Counting.ODD: marked("1, 3, 5, 7 (odd)"),
    Counting.EVEN: marked("2, 4, 6, 8 (even)"),
    Counting.FROM_MIDDLE: marked("5, 3, 1, 2, 4 (from the middle)"),
    Counting.LETTERS: marked("A, B, C, D (letters)"),
}
MARK_WORDS: Final[dict[SeatMark, str]] = {
    SeatMark.ACCESSIBLE: marked("Accessible place"),
    SeatMark.COMPANION: marked("Companion seat"),
    SeatMark.RESTRICTED_VIEW: marked("Restricted view"),
}


def fault_words(fault: PlanFault) -> str:
    """One fault in one line."""
    count = figures().number(fault.count)
    counted = {
        FaultCode.SEAT_UNNUMBERED: ngettext(
            "{count} seat has no number ({section})", "{count} seats have no number ({section})", fault.count
        ),
        FaultCode.SEATS_COINCIDE: ngettext(
            "{count} seat stands where another stands", "{count} seats stand at one place", fault.count
        ),
        FaultCode.SEATS_OVERLAP: ngettext("{count} seat overlaps", "{count} seats overlap", fault.count),
        FaultCode.NO_CATEGORY: ngettext(
            "{count} seat has no price category", "{count} seats have no price category", fault.count
        ),
        FaultCode.SEATS_OUTSIDE: ngettext(
            "{count} seat is outside of the hall", "{count} seats are outside of the hall", fault.count
        ),
    }
    text = counted.get(fault.code) or _(_WORDS[fault.code])
    return text.format(count=count, name=fault.name or "–", section=fault.section or "–")


def floor_names(draft: PlanDraft) -> list[str]:
    """The names of the floors; one without a name goes by its number, counted from 1."""
    words = _("Floor {number}")
    names = draft.floors or ("",)
    return [name.strip() or words.format(number=figures().number(n)) for n, name in enumerate(names, start=1)]


def _shape_words(draft: PlanDraft, key: int) -> str:
    """What the one chosen thing without seats is."""
    standing, shape = draft.standing_of(key), draft.shape(key)
    if standing is not None:
        return figures().joined([_("Standing places"), standing.name.strip() or "–"])
    if shape is None:
        return _("Picture under the drawing")
    return _("Text") if shape.shape == "text" else shape.text.strip() or _("Shape")


def selection_words(draft: PlanDraft, selection: Selection) -> str:
    """What is chosen, as a title."""
    rows = [row for row in draft.rows if row.row_id in selection.rows]
    if len(selection.shapes) == 1 and not rows and not selection.seats:
        return _shape_words(draft, next(iter(selection.shapes)))
    if selection.shapes and not rows and not selection.seats:
        return ngettext("{count} shape", "{count} shapes", len(selection.shapes)).format(
            count=figures().number(len(selection.shapes))
        )
    seats = selection.seats_in(draft)
    if len(rows) == 1 and not selection.seats:
        section = draft.section(rows[0].section_id)
        return row_name(rows[0], "" if section is None else section.name)
    parts = []
    if rows:
        parts.append(ngettext("{count} row", "{count} rows", len(rows)).format(count=figures().number(len(rows))))
    parts.append(ngettext("{count} seat", "{count} seats", len(seats)).format(count=figures().number(len(seats))))
    return figures().joined(parts)


def standing_words(work: PlanWork) -> str:
    """Venue, version and whether it is saved."""
    origin = work.origin
    parts = [origin.venue_name or _("No venue chosen")]
    if origin.version and origin.name == work.draft.name.strip():
        parts.append(_("Version {version}").format(version=figures().number(origin.version)))
    else:
        parts.append(_("New plan"))
    if work.is_changed:
        parts.append(_("Not saved yet"))
    count = work.draft.seat_count
    places = sum(area.capacity for area in work.draft.standing)
    if count or not places:
        parts.append(ngettext("{count} seat", "{count} seats", count).format(count=figures().number(count)))
    if places:
        words = ngettext("{count} standing place", "{count} standing places", places)
        parts.append(words.format(count=figures().number(places)))
    return figures().joined(parts)
