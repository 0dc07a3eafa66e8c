"""What a drawn line or frame becomes: rows that go on from those that are there, a table, standing places, a text."""

from __future__ import annotations

import math

from app.actions.load_plan import new_guid
from app.core import plan_edits as edits
from app.core.focal_point import names_focus
from app.core.plan_areas import add_standing
from app.core.plan_draft import NO_CATEGORY, DraftRow, DraftShape, DraftTable, PlanDraft, Selection
from app.core.plan_floors import floor_of_row, shown_on
from app.core.plan_geometry import Place, RowLine
from app.core.plan_numbering import CONFUSED_LETTERS, Counting, Numbering, numbering_of
from app.core.plan_tables import BOOTH, CIRCLE, RECTANGLE, TABLE, add_table
from app.i18n import _
from app.screens.plan_page import free_name
from widgets.plan_canvas import Tool

_TABLE_SIZE, _BOOTH_SIZE = 2.5, 2.0
"""Of what a click makes, as shares of the distance between two seats."""
_SEAT_AT_TABLE = 1.25
"""Room for one at a table, as a share of that distance."""
_LEAST = 5.0
ROW_DISTANCE = 1.5
"""Between two rows, as a share of the distance between two seats."""


def drawn_with(
    tool: Tool, draft: PlanDraft, selection: Selection, floor_no: int, start: Place, end: Place
) -> tuple[PlanDraft, Selection]:
    """What the tool makes of a line, a frame or a click on this floor; what was made is chosen."""
    if tool in {Tool.ROW, Tool.ROWS}:
        return rows_in(draft, selection, floor_no, start, end, block=tool is Tool.ROWS)
    if tool in {Tool.TABLE, Tool.BOOTH}:
        return table_in(draft, selection, floor_no, start, end, kind=BOOTH if tool is Tool.BOOTH else TABLE)
    if tool is Tool.STANDING:
        return standing_in(draft, floor_no, start, end)
    if tool is Tool.STAGE:
        return stage_in(draft, floor_no, start, end)
    if tool is Tool.FOCUS:
        return edits.put_focal(draft, (round(end[0], 3), round(end[1], 3))), selection
    return text_at(draft, floor_no, end, _("Text"))


def rows_in(
    draft: PlanDraft, selection: Selection, floor_no: int, start: Place, end: Place, *, block: bool
) -> tuple[PlanDraft, Selection]:
    """A row from `start` to `end`, or a block of rows in the frame between them.

    Section, category and numbers are those of the row that is chosen, or of the last one; labels go on.
    """
    pattern = _pattern(draft, selection, floor_no)
    draft, section_id = _section_on(draft, floor_no, pattern)
    lines = _lines_in(draft, start, end) if block else (RowLine(start, end),)
    count = max(1, math.floor(lines[0].chord / draft.distance + 1e-6) + 1)
    labels = next_labels(draft, section_id, len(lines))
    first_id = draft.next_id
    made = edits.add_rows(
        draft, section_id, lines, [count] * len(lines), labels, _category(draft, pattern), _numbering(pattern), new_guid
    )
    return made, Selection(frozenset(range(first_id, made.next_id)))


def table_in(
    draft: PlanDraft, selection: Selection, floor_no: int, start: Place, end: Place, *, kind: str
) -> tuple[PlanDraft, Selection]:
    """A table or booth in a frame, or of a usual size about a click; a table gets as many seats as go round it."""
    left, top, width, height = _frame(start, end)
    usual = round(draft.distance * (_TABLE_SIZE if kind == TABLE else _BOOTH_SIZE), 1)
    if width < draft.distance or height < draft.distance:
        left, top, width, height = end[0] - usual / 2, end[1] - usual / 2, usual, usual
    shape = CIRCLE if kind == TABLE else RECTANGLE
    table = DraftTable(kind, shape, left + width / 2, top + height / 2, width, height)
    last = _pattern(draft, selection, floor_no)
    draft, section_id = _section_on(draft, floor_no, last)
    seats = max(2, round((width + height) * 1.5 / draft.distance / _SEAT_AT_TABLE))
    made = add_table(draft, section_id, table, seats, _category(draft, last), new_guid)
    return made, Selection(frozenset({draft.next_id}))


def standing_in(draft: PlanDraft, floor_no: int, start: Place, end: Place) -> tuple[PlanDraft, Selection]:
    """Standing places in a frame, in the last category, with as many places as there is room for."""
    left, top, width, height = _frame(start, end)
    area = DraftShape(0, "rectangle", left, top, max(width, _LEAST), max(height, _LEAST), floor_no=floor_no)
    name = free_name(_("Standing"), {one.name for one in draft.standing})
    places = max(1, round(area.width * area.height / (draft.distance * draft.distance)))
    category_id = draft.categories[-1].category_id if draft.categories else NO_CATEGORY
    made = add_standing(draft, name, places, category_id, area)
    return made, Selection(shapes=frozenset({draft.next_id}))


def stage_in(draft: PlanDraft, floor_no: int, start: Place, end: Place) -> tuple[PlanDraft, Selection]:
    """A rectangle in a frame; the first one of a plan is its stage."""
    left, top, width, height = _frame(start, end)
    words = "" if any(names_focus(shape.text) for shape in draft.shapes) else _("Stage")
    stage = DraftShape(
        0, "rectangle", left, top, max(width, _LEAST), max(height, _LEAST), text=words, floor_no=floor_no
    )
    return edits.add_shape(draft, stage), Selection(shapes=frozenset({draft.next_id}))


def text_at(draft: PlanDraft, floor_no: int, place: Place, words: str) -> tuple[PlanDraft, Selection]:
    """A text with its middle at `place`."""
    shape = DraftShape(0, "text", *place, text=words, floor_no=floor_no)
    return edits.add_shape(draft, shape), Selection(shapes=frozenset({draft.next_id}))


def _frame(start: Place, end: Place) -> tuple[float, float, float, float]:
    """Left, top, width and height."""
    left, top = min(start[0], end[0]), min(start[1], end[1])
    return left, top, abs(end[0] - start[0]), abs(end[1] - start[1])


def _section_on(draft: PlanDraft, floor_no: int, pattern: DraftRow | None) -> tuple[PlanDraft, int]:
    """The section of the pattern, else the last one of the floor, which is made where there is none."""
    if pattern is not None:
        return draft, pattern.section_id
    own = [one for one in draft.sections if shown_on(draft, one.floor_no) == floor_no]
    if own:
        return draft, own[-1].section_id
    name = free_name(_("Section"), {one.name for one in draft.sections})
    return edits.add_section(draft, name, floor_no), draft.next_id


def next_labels(draft: PlanDraft, section_id: int, count: int) -> tuple[str, ...]:
    """Labels that go on from the section's last row; letters without I and O where there are none yet."""
    taken = {row.label for row in draft.rows_of(section_id)}
    known = tuple(row.label for row in draft.rows_of(section_id) if row.table is None)
    scheme = numbering_of(known) if known else None
    if scheme is None or scheme.backwards or scheme.counting is Counting.FROM_MIDDLE:
        scheme = Numbering(Counting.LETTERS, skipped=CONFUSED_LETTERS)
    labels = [label for label in scheme.labels(len(taken) + count + len(known)) if label not in taken]
    return tuple(labels[:count])


def _lines_in(draft: PlanDraft, start: Place, end: Place) -> tuple[RowLine, ...]:
    """Level lines from the top of a frame to its foot, as many as fit."""
    left, right = sorted((start[0], end[0]))
    top, foot = sorted((start[1], end[1]))
    step = draft.distance * ROW_DISTANCE
    count = min(max(1, math.floor((foot - top) / step + 1e-6) + 1), edits.MAX_ROWS_AT_ONCE)
    seats = max(1, math.floor((right - left) / draft.distance + 1e-6))
    right = left + seats * draft.distance
    return tuple(RowLine((left, top + step * number), (right, top + step * number)) for number in range(count))


def _pattern(draft: PlanDraft, selection: Selection, floor_no: int) -> DraftRow | None:
    """The last of the chosen rows of a floor, else the last of all that are there."""
    rows = [row for row in draft.rows if floor_of_row(draft, row.section_id) == floor_no]
    chosen = [row for row in rows if row.row_id in selection.rows]
    found = chosen or rows
    return found[-1] if found else None


def _category(draft: PlanDraft, pattern: DraftRow | None) -> int:
    if pattern is not None and pattern.seats:
        return pattern.seats[0].category_id
    return draft.categories[0].category_id if draft.categories else NO_CATEGORY


def _numbering(pattern: DraftRow | None) -> Numbering:
    if pattern is None or pattern.table is not None:
        return Numbering()
    return numbering_of(tuple(seat.number for seat in pattern.seats)) or Numbering()
