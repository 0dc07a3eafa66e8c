"""What can be done to a draft: each edit takes a draft and gives the next one. Ids of seats come in as arguments.

An id that the draft does not have changes nothing. Tables, floors, areas and aisles have modules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from app.core.plan_areas import add_shape, change_shape
from app.core.plan_chosen import duplicate, move, remove, turn
from app.core.plan_draft import (
    NO_CATEGORY,
    DraftCategory,
    DraftRow,
    DraftSeat,
    DraftSection,
    PlanDraft,
    SeatMark,
    Selection,
)
from app.core.plan_geometry import MAX_COORDINATE, Place, RowLine, even_fractions, fractions_of, turned
from app.core.plan_images import drop_lost_views
from app.core.plan_numbering import Numbering, numbering_of
from app.core.plan_parts import at_places, each_chosen_seat, each_row, each_seat
from app.core.plan_tables import places_round, set_table_seats

__all__ = [
    "add_category", "add_rows", "add_section", "add_shape", "bend_rows", "change_category", "change_shape",
    "duplicate", "label_rows", "move", "move_to_section", "number_rows", "number_seat", "put_focal", "remove",
    "remove_category", "remove_section", "rename_plan", "rename_row", "rename_section", "reshape_row", "resize_hall",
    "set_category", "set_mark", "set_seat_count", "space_evenly", "turn",
]  # fmt: skip

NewGuid = Callable[[], str]
MAX_SEATS_OF_A_ROW = 500
MAX_ROWS_AT_ONCE = 200
MAX_CATEGORIES = 64


# ---------------------------------------------------------------- the hall


def rename_plan(draft: PlanDraft, name: str) -> PlanDraft:
    """A plan of another name is another plan."""
    return replace(draft, name=name)


def resize_hall(draft: PlanDraft, width: float, height: float) -> PlanDraft:
    """Both from 1 to what a plan may name; nothing in it moves."""
    is_possible = all(1 <= side <= MAX_COORDINATE for side in (width, height))
    return replace(draft, width=width, height=height) if is_possible else draft


def put_focal(draft: PlanDraft, focal: Place | None) -> PlanDraft:
    """Where people look; None: it is derived from the stage."""
    return replace(draft, focal=focal)


# ---------------------------------------------------------------- categories and sections


def add_category(draft: PlanDraft, name: str, color: str) -> PlanDraft:
    """A new category, as the last one; none beyond what a plan may have."""
    if len(draft.categories) >= MAX_CATEGORIES:
        return draft
    made = DraftCategory(draft.next_id, name, color)
    return replace(draft, categories=(*draft.categories, made), next_id=draft.next_id + 1)


def change_category(draft: PlanDraft, category_id: int, name: str, color: str) -> PlanDraft:
    """Another name and colour (`#rrggbb`)."""
    changed = tuple(
        replace(one, name=name, color=color) if one.category_id == category_id else one for one in draft.categories
    )
    return replace(draft, categories=changed)


def remove_category(draft: PlanDraft, category_id: int) -> PlanDraft:
    """Its seats have none then, and the draft says so; a category of standing places stays."""
    if any(area.category_id == category_id for area in draft.standing):
        return draft
    left = tuple(one for one in draft.categories if one.category_id != category_id)

    def bare(seat: DraftSeat) -> DraftSeat:
        return replace(seat, category_id=NO_CATEGORY) if seat.category_id == category_id else seat

    return replace(draft, categories=left, rows=each_seat(draft.rows, bare))


def add_section(draft: PlanDraft, name: str, floor_no: int = 0) -> PlanDraft:
    """A new section without rows, as the last one."""
    made = DraftSection(draft.next_id, name, "", floor_no)
    return replace(draft, sections=(*draft.sections, made), next_id=draft.next_id + 1)


def rename_section(draft: PlanDraft, section_id: int, name: str) -> PlanDraft:
    """Another name for a section."""
    return replace(
        draft, sections=tuple(replace(s, name=name) if s.section_id == section_id else s for s in draft.sections)
    )


def remove_section(draft: PlanDraft, section_id: int) -> PlanDraft:
    """With the rows in it, and the views from there."""
    sections = tuple(section for section in draft.sections if section.section_id != section_id)
    rows = tuple(row for row in draft.rows if row.section_id != section_id)
    return drop_lost_views(replace(draft, sections=sections, rows=rows))


def move_to_section(draft: PlanDraft, row_ids: Iterable[int], section_id: int) -> PlanDraft:
    """Put rows into another section."""
    if draft.section(section_id) is None:
        return draft
    return each_row(draft, row_ids, lambda row: replace(row, section_id=section_id))


# ---------------------------------------------------------------- rows


def add_rows(
    draft: PlanDraft,
    section_id: int,
    lines: Iterable[RowLine],
    counts: Iterable[int],
    labels: Iterable[str],
    category_id: int,
    numbering: Numbering,
    new_guid: NewGuid,
) -> PlanDraft:
    """Rows on these lines, with so many seats each. `section_id` must be there."""
    if draft.section(section_id) is None:
        return draft
    rows = list(draft.rows)
    next_id = draft.next_id
    for line, count, label in zip(lines, counts, labels, strict=True):
        places = line.points(even_fractions(max(1, min(count, MAX_SEATS_OF_A_ROW))))
        numbers = numbering.labels(len(places))
        seats = tuple(
            DraftSeat(new_guid(), number, x, y, category_id) for number, (x, y) in zip(numbers, places, strict=True)
        )
        rows.append(DraftRow(next_id, section_id, label, seats, "both"))
        next_id += 1
    return replace(draft, rows=tuple(rows), next_id=next_id)


def reshape_row(draft: PlanDraft, row_id: int, line: RowLine) -> PlanDraft:
    """Put the seats on this line; their distances stay in proportion. Those of a table stay round it."""

    def shaped(row: DraftRow) -> DraftRow:
        if not row.seats or row.table is not None:
            return row
        fractions = fractions_of(row.places) if len(row.seats) > 1 else (0.5,)
        return at_places(row, line.points(fractions))

    return each_row(draft, (row_id,), shaped)


def bend_rows(draft: PlanDraft, row_ids: Iterable[int], bend: float) -> PlanDraft:
    """The same bend for each row; 0 makes them straight."""
    for row_id in row_ids:
        row = draft.row(row_id)
        if row is not None and row.line is not None and len(row.seats) > 1:
            draft = reshape_row(draft, row_id, replace(row.line, bend=bend))
    return draft


def space_evenly(draft: PlanDraft, row_ids: Iterable[int]) -> PlanDraft:
    """Equal distances between the seats of each row, whose ends stay, and round each table."""

    def even(row: DraftRow) -> DraftRow:
        if row.table is not None:
            return at_places(row, places_round(row.table, len(row.seats), draft.distance)) if row.seats else row
        line = row.line
        if line is None or len(row.seats) < 3:
            return row
        return at_places(row, line.points(even_fractions(len(row.seats))))

    return each_row(draft, row_ids, even)


def set_seat_count(draft: PlanDraft, row_id: int, count: int, new_guid: NewGuid) -> PlanDraft:
    """So many seats, at the distance they have: added or taken away at the end of the row, numbered as before.

    Numbers that no scheme gives were given by hand and stay; new seats get the next ones that are free.
    """
    row = draft.row(row_id)
    if row is not None and row.table is not None:
        return set_table_seats(draft, row_id, count, new_guid)
    count = max(1, min(count, MAX_SEATS_OF_A_ROW))
    if row is None or not row.seats or count == len(row.seats):
        return draft
    more = _seats_beyond(draft, row, count, new_guid) if count > len(row.seats) else ()
    kept = (*row.seats[:count], *more)
    numbering = numbering_of(tuple(seat.number for seat in row.seats))
    numbers = _numbered_on(kept, len(row.seats)) if numbering is None else numbering.labels(count)
    numbered = tuple(replace(seat, number=number) for seat, number in zip(kept, numbers, strict=True))
    return drop_lost_views(each_row(draft, (row_id,), lambda one: replace(one, seats=numbered)))


def _numbered_on(seats: tuple[DraftSeat, ...], known: int) -> tuple[str, ...]:
    """The numbers of the first `known` seats as they are, and for the others the next free whole numbers."""
    numbers = [seat.number for seat in seats[:known]]
    taken = set(numbers)
    following = (str(number) for number in range(len(numbers) + 1, 2 * len(seats) + len(numbers) + 1))
    free = (number for number in following if number not in taken)
    return (*numbers, *(next(free) for _seat in seats[known:]))


def _seats_beyond(draft: PlanDraft, row: DraftRow, count: int, new_guid: NewGuid) -> tuple[DraftSeat, ...]:
    """Seats after the last one, going on as the row ends."""
    last = row.seats[-1]
    if len(row.seats) > 1:
        before = row.seats[-2]
        dx, dy = last.x - before.x, last.y - before.y
        turn = _turn_at_end(row)
    else:
        dx, dy, turn = draft.distance, 0.0, 0.0
    made, (x, y) = [], last.place
    for _number in range(count - len(row.seats)):
        dx, dy = turned((dx, dy), (0.0, 0.0), turn)
        x, y = round(x + dx, 3), round(y + dy, 3)
        made.append(DraftSeat(new_guid(), "", x, y, last.category_id))
    return tuple(made)


def _turn_at_end(row: DraftRow) -> float:
    """By how many degrees the row turns from one seat to the next."""
    if len(row.seats) < 3:
        return 0.0
    (x0, y0), (x1, y1), (x2, y2) = row.places[-3:]
    turn = math.degrees(math.atan2(y2 - y1, x2 - x1) - math.atan2(y1 - y0, x1 - x0))
    return (turn + 180) % 360 - 180


def number_rows(draft: PlanDraft, row_ids: Iterable[int], numbering: Numbering) -> PlanDraft:
    """Number the seats of each row anew."""

    def numbered(row: DraftRow) -> DraftRow:
        labels = numbering.labels(len(row.seats))
        return replace(
            row, seats=tuple(replace(seat, number=number) for seat, number in zip(row.seats, labels, strict=True))
        )

    return each_row(draft, row_ids, numbered)


def label_rows(draft: PlanDraft, row_ids: Iterable[int], scheme: Numbering) -> PlanDraft:
    """Name rows one after the other, in the order of the plan."""
    chosen = set(row_ids)
    rows = [row for row in draft.rows if row.row_id in chosen]
    labels = dict(zip([row.row_id for row in rows], scheme.labels(len(rows)), strict=True))
    return each_row(draft, chosen, lambda row: replace(row, label=labels[row.row_id]))


def rename_row(draft: PlanDraft, row_id: int, label: str) -> PlanDraft:
    """Another label for a row."""
    return each_row(draft, (row_id,), lambda row: replace(row, label=label))


# ---------------------------------------------------------------- seats


def set_category(draft: PlanDraft, selection: Selection, category_id: int) -> PlanDraft:
    """The category of all chosen seats."""
    return each_chosen_seat(draft, selection, lambda seat: replace(seat, category_id=category_id))


def set_mark(draft: PlanDraft, selection: Selection, mark: SeatMark, *, on: bool) -> PlanDraft:
    """Give all chosen seats a mark, or take it from them."""
    return each_chosen_seat(
        draft, selection, lambda seat: replace(seat, marks=seat.marks | mark if on else seat.marks & ~mark)
    )


def number_seat(draft: PlanDraft, guid: str, number: str) -> PlanDraft:
    """What is printed on one seat."""
    chosen = Selection(seats=frozenset({guid}))
    return each_chosen_seat(draft, chosen, lambda seat: replace(seat, number=number))
