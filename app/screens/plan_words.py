"""Words of the plan editor: what is wrong with a draft, what is chosen, where it stands."""

from __future__ import annotations

from typing import Final

from app.core.plan_draft import PlanDraft, SeatMark, Selection
from app.core.plan_faults import FaultCode, PlanFault
from app.core.plan_numbering import Counting
from app.core.plan_work import PlanWork
from app.i18n import _, figures, marked, ngettext
from app.models.plan_scene import row_name
from widgets.plan_canvas import Tool

_WORDS: Final[dict[FaultCode, str]] = {
    FaultCode.PLAN_UNNAMED: marked("The plan has no name"),
    FaultCode.NO_SEATS: marked("The plan has no seats"),
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
}
TOOL_WORDS: Final[dict[Tool, tuple[str, str]]] = {
    Tool.CHOOSE: (marked("Choose"), "V"),
    Tool.ROW: (marked("Row"), "R"),
    Tool.ROWS: (marked("Block of rows"), "B"),
    Tool.STAGE: (marked("Stage or area"), "S"),
    Tool.TEXT: (marked("Text"), "T"),
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


def selection_words(draft: PlanDraft, selection: Selection) -> str:
    """What is chosen, as a title."""
    rows = [row for row in draft.rows if row.row_id in selection.rows]
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
    parts.append(ngettext("{count} seat", "{count} seats", count).format(count=figures().number(count)))
    return figures().joined(parts)
