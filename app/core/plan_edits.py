"""What can be done to a draft: each edit takes a draft and gives the next one. Ids of seats come in as arguments.

An id that the draft does not have changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from app.core.plan_draft import (
    NO_CATEGORY,
    DraftCategory,
    DraftRow,
    DraftSeat,
    DraftSection,
    DraftShape,
    PlanDraft,
    SeatMark,
    Selection,
)
from app.core.plan_geometry import Place, RowLine, even_fractions, fractions_of, turned
from app.core.plan_images import drop_lost_views
from app.core.plan_numbering import Numbering, numbering_of

NewGuid = Callable[[], str]
MAX_SEATS_OF_A_ROW = 500
MAX_ROWS_AT_ONCE = 200


# ---------------------------------------------------------------- the hall


def rename_plan(draft: PlanDraft, name: str) -> PlanDraft:
    """A plan of another name is another plan."""
    return replace(draft, name=name)


def resize_hall(draft: PlanDraft, width: float, height: float) -> PlanDraft:
    """Both above 0; nothing in it moves."""
    return replace(draft, width=width, height=height) if width > 0 and height > 0 else draft


def put_focal(draft: PlanDraft, focal: Place | None) -> PlanDraft:
    """Where people look; None: it is derived from the stage."""
    return replace(draft, focal=focal)


# ---------------------------------------------------------------- categories and sections


def add_category(draft: PlanDraft, name: str, color: str) -> PlanDraft:
    """A new category, as the last one."""
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

    return replace(draft, categories=left, rows=_each_seat(draft.rows, bare))


def add_section(draft: PlanDraft, name: str) -> PlanDraft:
    """A new section without rows, as the last one."""
    made = DraftSection(draft.next_id, name)
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
    return _each_row(draft, row_ids, lambda row: replace(row, section_id=section_id))


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
    """Put the seats on this line; their distances stay in proportion."""

    def shaped(row: DraftRow) -> DraftRow:
        if not row.seats:
            return row
        fractions = fractions_of(row.places) if len(row.seats) > 1 else (0.5,)
        return _at(row, line.points(fractions))

    return _each_row(draft, (row_id,), shaped)


def bend_rows(draft: PlanDraft, row_ids: Iterable[int], bend: float) -> PlanDraft:
    """The same bend for each row; 0 makes them straight."""
    for row_id in row_ids:
        row = draft.row(row_id)
        if row is not None and row.line is not None and len(row.seats) > 1:
            draft = reshape_row(draft, row_id, replace(row.line, bend=bend))
    return draft


def space_evenly(draft: PlanDraft, row_ids: Iterable[int]) -> PlanDraft:
    """Equal distances between the seats of each row; its ends stay."""

    def even(row: DraftRow) -> DraftRow:
        line = row.line
        if line is None or len(row.seats) < 3:
            return row
        return _at(row, line.points(even_fractions(len(row.seats))))

    return _each_row(draft, row_ids, even)


def set_seat_count(draft: PlanDraft, row_id: int, count: int, new_guid: NewGuid) -> PlanDraft:
    """So many seats, at the distance they have: added or taken away at the end of the row, numbered as before."""
    row = draft.row(row_id)
    count = max(1, min(count, MAX_SEATS_OF_A_ROW))
    if row is None or not row.seats or count == len(row.seats):
        return draft
    numbering = numbering_of(tuple(seat.number for seat in row.seats)) or Numbering()
    more = _seats_beyond(draft, row, count, new_guid) if count > len(row.seats) else ()
    kept = (*row.seats[:count], *more)
    numbered = tuple(replace(seat, number=number) for seat, number in zip(kept, numbering.labels(count), strict=True))
    return drop_lost_views(_each_row(draft, (row_id,), lambda one: replace(one, seats=numbered)))


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

    return _each_row(draft, row_ids, numbered)


def label_rows(draft: PlanDraft, row_ids: Iterable[int], scheme: Numbering) -> PlanDraft:
    """Name rows one after the other, in the order of the plan."""
    chosen = set(row_ids)
    rows = [row for row in draft.rows if row.row_id in chosen]
    labels = dict(zip([row.row_id for row in rows], scheme.labels(len(rows)), strict=True))
    return _each_row(draft, chosen, lambda row: replace(row, label=labels[row.row_id]))


def rename_row(draft: PlanDraft, row_id: int, label: str) -> PlanDraft:
    """Another label for a row."""
    return _each_row(draft, (row_id,), lambda row: replace(row, label=label))


# ---------------------------------------------------------------- seats


def set_category(draft: PlanDraft, selection: Selection, category_id: int) -> PlanDraft:
    """The category of all chosen seats."""
    return _each_chosen_seat(draft, selection, lambda seat: replace(seat, category_id=category_id))


def set_mark(draft: PlanDraft, selection: Selection, mark: SeatMark, *, on: bool) -> PlanDraft:
    """Give all chosen seats a mark, or take it from them."""
    return _each_chosen_seat(
        draft, selection, lambda seat: replace(seat, marks=seat.marks | mark if on else seat.marks & ~mark)
    )


def number_seat(draft: PlanDraft, guid: str, number: str) -> PlanDraft:
    """What is printed on one seat."""
    chosen = Selection(seats=frozenset({guid}))
    return _each_chosen_seat(draft, chosen, lambda seat: replace(seat, number=number))


# ---------------------------------------------------------------- shapes


def add_shape(draft: PlanDraft, shape: DraftShape) -> PlanDraft:
    """`shape_id` is given here."""
    made = replace(shape, shape_id=draft.next_id)
    return replace(draft, shapes=(*draft.shapes, made), next_id=draft.next_id + 1)


def change_shape(draft: PlanDraft, shape: DraftShape) -> PlanDraft:
    """The shape of that id becomes this."""
    return _each_shape(draft, {shape.shape_id}, lambda _old: shape)


# ---------------------------------------------------------------- what is chosen


def move(draft: PlanDraft, selection: Selection, dx: float, dy: float) -> PlanDraft:
    """Everything chosen, by so much."""

    def moved(seat: DraftSeat) -> DraftSeat:
        return replace(seat, x=round(seat.x + dx, 3), y=round(seat.y + dy, 3))

    draft = _each_chosen_seat(draft, selection, moved)
    draft = _each_row(draft, selection.rows, lambda row: _with_table_moved(row, dx, dy))
    return _each_shape(draft, selection.shapes, lambda shape: _shape_moved(shape, dx, dy))


def turn(draft: PlanDraft, selection: Selection, degrees: float) -> PlanDraft:
    """Chosen seats, clockwise about their middle; tables turn with their rows."""
    seats = selection.seats_in(draft)
    if not seats:
        return draft
    xs, ys = [seat.x for seat in seats], [seat.y for seat in seats]
    middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)

    def around(seat: DraftSeat) -> DraftSeat:
        x, y = turned(seat.place, middle, degrees)
        return replace(seat, x=x, y=y)

    def table_around(row: DraftRow) -> DraftRow:
        if row.table is None:
            return row
        x, y = turned((row.table.x, row.table.y), middle, degrees)
        return replace(row, table=replace(row.table, x=x, y=y, rotation=(row.table.rotation + degrees) % 360))

    return _each_row(_each_chosen_seat(draft, selection, around), selection.rows, table_around)


def remove(draft: PlanDraft, selection: Selection) -> PlanDraft:
    """Everything chosen, and the views from there; a row that loses its last seat goes with it."""
    rows = []
    for row in draft.rows:
        if row.row_id in selection.rows:
            continue
        seats = tuple(seat for seat in row.seats if seat.guid not in selection.seats)
        if seats or not row.seats:
            rows.append(row if len(seats) == len(row.seats) else replace(row, seats=seats))
    shapes = tuple(shape for shape in draft.shapes if shape.shape_id not in selection.shapes)
    standing = tuple(area for area in draft.standing if area.area.shape_id not in selection.shapes)
    return drop_lost_views(replace(draft, rows=tuple(rows), shapes=shapes, standing=standing))


def duplicate(
    draft: PlanDraft, selection: Selection, dx: float, dy: float, new_guid: NewGuid
) -> tuple[PlanDraft, Selection]:
    """Rows and shapes once more, beside themselves, and the copies as the new choice. Seats alone are not copied."""
    rows, shapes = list(draft.rows), list(draft.shapes)
    next_id = draft.next_id
    new_rows, new_shapes = [], []
    for row in [row for row in draft.rows if row.row_id in selection.rows]:
        seats = tuple(
            replace(seat, guid=new_guid(), x=round(seat.x + dx, 3), y=round(seat.y + dy, 3)) for seat in row.seats
        )
        rows.append(_with_table_moved(replace(row, row_id=next_id, seats=seats), dx, dy))
        new_rows.append(next_id)
        next_id += 1
    for shape in [shape for shape in draft.shapes if shape.shape_id in selection.shapes]:
        shapes.append(replace(_shape_moved(shape, dx, dy), shape_id=next_id))
        new_shapes.append(next_id)
        next_id += 1
    chosen = Selection(frozenset(new_rows), frozenset(), frozenset(new_shapes))
    return replace(draft, rows=tuple(rows), shapes=tuple(shapes), next_id=next_id), chosen


# ---------------------------------------------------------------- parts


def _at(row: DraftRow, places: tuple[Place, ...]) -> DraftRow:
    return replace(row, seats=tuple(replace(seat, x=x, y=y) for seat, (x, y) in zip(row.seats, places, strict=True)))


def _with_table_moved(row: DraftRow, dx: float, dy: float) -> DraftRow:
    if row.table is None:
        return row
    return replace(row, table=replace(row.table, x=round(row.table.x + dx, 3), y=round(row.table.y + dy, 3)))


def _shape_moved(shape: DraftShape, dx: float, dy: float) -> DraftShape:
    return replace(
        shape,
        x=round(shape.x + dx, 3),
        y=round(shape.y + dy, 3),
        points=tuple((round(x + dx, 3), round(y + dy, 3)) for x, y in shape.points),
        text_at=None if shape.text_at is None else (round(shape.text_at[0] + dx, 3), round(shape.text_at[1] + dy, 3)),
    )


def _each_row(draft: PlanDraft, row_ids: Iterable[int], change: Callable[[DraftRow], DraftRow]) -> PlanDraft:
    chosen = set(row_ids)
    return replace(draft, rows=tuple(change(row) if row.row_id in chosen else row for row in draft.rows))


def _each_seat(rows: tuple[DraftRow, ...], change: Callable[[DraftSeat], DraftSeat]) -> tuple[DraftRow, ...]:
    return tuple(replace(row, seats=tuple(change(seat) for seat in row.seats)) for row in rows)


def _each_chosen_seat(draft: PlanDraft, selection: Selection, change: Callable[[DraftSeat], DraftSeat]) -> PlanDraft:
    rows = []
    for row in draft.rows:
        if row.row_id in selection.rows:
            rows.append(replace(row, seats=tuple(change(seat) for seat in row.seats)))
        elif any(seat.guid in selection.seats for seat in row.seats):
            seats = tuple(change(seat) if seat.guid in selection.seats else seat for seat in row.seats)
            rows.append(replace(row, seats=seats))
        else:
            rows.append(row)
    return replace(draft, rows=tuple(rows))


def _each_shape(draft: PlanDraft, shape_ids: Iterable[int], change: Callable[[DraftShape], DraftShape]) -> PlanDraft:
    chosen = set(shape_ids)
    return replace(
        draft,
        shapes=tuple(change(shape) if shape.shape_id in chosen else shape for shape in draft.shapes),
        standing=tuple(
            replace(area, area=change(area.area)) if area.area.shape_id in chosen else area for area in draft.standing
        ),
    )
