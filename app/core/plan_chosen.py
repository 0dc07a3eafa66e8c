"""What can be done to everything that is chosen in a draft: moved, turned, removed, made once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.core.plan_areas import bounds_of
from app.core.plan_draft import DraftPicture, DraftRow, DraftSeat, DraftShape, DraftStanding, PlanDraft, Selection
from app.core.plan_geometry import MAX_COORDINATE, Place, turned
from app.core.plan_images import drop_lost_views
from app.core.plan_parts import each_chosen_seat, each_row, each_shape


def move(draft: PlanDraft, selection: Selection, dx: float, dy: float) -> PlanDraft:
    """Everything chosen, by so much; no place leaves what plans may name."""

    def moved(seat: DraftSeat) -> DraftSeat:
        return replace(seat, x=_moved(seat.x, dx), y=_moved(seat.y, dy))

    draft = each_chosen_seat(draft, selection, moved)
    draft = each_row(draft, selection.rows, lambda row: _with_table_moved(row, dx, dy))
    draft = each_shape(draft, selection.shapes, lambda shape: _shape_moved(shape, dx, dy))
    if not draft.pictures:
        return draft
    pictures = tuple(
        _picture_moved(one, dx, dy) if one.picture_id in selection.shapes else one for one in draft.pictures
    )
    return replace(draft, pictures=pictures)


def turn(draft: PlanDraft, selection: Selection, degrees: float) -> PlanDraft:
    """Chosen seats and shapes, clockwise about their common middle; tables turn with their rows, pictures do not."""
    middle = _middle_of(draft, selection)
    if middle is None:
        return draft

    def around(seat: DraftSeat) -> DraftSeat:
        x, y = turned(seat.place, middle, degrees)
        return replace(seat, x=x, y=y)

    def table_around(row: DraftRow) -> DraftRow:
        if row.table is None:
            return row
        x, y = turned((row.table.x, row.table.y), middle, degrees)
        return replace(row, table=replace(row.table, x=x, y=y, rotation=round((row.table.rotation + degrees) % 360, 3)))

    def shape_around(shape: DraftShape) -> DraftShape:
        x, y = turned((shape.x, shape.y), middle, degrees)
        placed = _shape_moved(shape, x - shape.x, y - shape.y)
        return replace(placed, rotation=round((shape.rotation + degrees) % 360, 3))

    draft = each_row(each_chosen_seat(draft, selection, around), selection.rows, table_around)
    return each_shape(draft, selection.shapes, shape_around)


def _middle_of(draft: PlanDraft, selection: Selection) -> Place | None:
    """The middle of the box around chosen seats and the middles of chosen shapes; None when there are none."""
    places = [seat.place for seat in selection.seats_in(draft)]
    places += [
        (row.table.x, row.table.y) for row in draft.rows if row.table is not None and row.row_id in selection.rows
    ]
    places += [_shape_middle(shape) for shape in draft.all_shapes if shape.shape_id in selection.shapes]
    if not places:
        return None
    xs, ys = [x for x, _y in places], [y for _x, y in places]
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def _shape_middle(shape: DraftShape) -> Place:
    left, top, right, bottom = bounds_of(shape)
    return turned(((left + right) / 2, (top + bottom) / 2), (shape.x, shape.y), shape.rotation)


def remove(draft: PlanDraft, selection: Selection) -> PlanDraft:
    """Everything chosen, and the views from there; a row that loses its last seat goes with it."""
    rows = []
    for row in draft.rows:
        if row.row_id in selection.rows:
            continue
        seats = tuple(seat for seat in row.seats if seat.guid not in selection.seats) if selection.seats else row.seats
        if seats or not row.seats:
            rows.append(row if len(seats) == len(row.seats) else replace(row, seats=seats))
    return drop_lost_views(
        replace(
            draft,
            rows=tuple(rows),
            shapes=tuple(shape for shape in draft.shapes if shape.shape_id not in selection.shapes),
            standing=tuple(area for area in draft.standing if area.area.shape_id not in selection.shapes),
            pictures=tuple(one for one in draft.pictures if one.picture_id not in selection.shapes),
        )
    )


def duplicate(
    draft: PlanDraft, selection: Selection, dx: float, dy: float, new_guid: Callable[[], str]
) -> tuple[PlanDraft, Selection]:
    """Rows, shapes and standing areas once more, beside themselves, and the copies as the new choice. Seats alone and
    pictures are not copied.
    """
    rows, shapes, standing = list(draft.rows), list(draft.shapes), list(draft.standing)
    next_id = draft.next_id
    new_rows, new_shapes = [], []
    for row in [row for row in draft.rows if row.row_id in selection.rows]:
        seats = tuple(replace(seat, guid=new_guid(), x=_moved(seat.x, dx), y=_moved(seat.y, dy)) for seat in row.seats)
        rows.append(_with_table_moved(replace(row, row_id=next_id, seats=seats), dx, dy))
        new_rows.append(next_id)
        next_id += 1
    for shape in [shape for shape in draft.shapes if shape.shape_id in selection.shapes]:
        shapes.append(replace(_shape_moved(shape, dx, dy), shape_id=next_id))
        new_shapes.append(next_id)
        next_id += 1
    for area in [area for area in draft.standing if area.area.shape_id in selection.shapes]:
        copied = replace(_shape_moved(area.area, dx, dy), shape_id=next_id)
        standing.append(replace(area, name=_free_name(area.name, standing), area=copied))
        new_shapes.append(next_id)
        next_id += 1
    chosen = Selection(frozenset(new_rows), frozenset(), frozenset(new_shapes))
    made = replace(draft, rows=tuple(rows), shapes=tuple(shapes), standing=tuple(standing), next_id=next_id)
    return made, chosen


def _free_name(name: str, standing: list[DraftStanding]) -> str:
    """`Pit 2`, `Pit 3`, …: a tier of an event is known by its name, so a copy cannot have the same."""
    taken = {area.name.strip() for area in standing}
    number = 2
    while f"{name.strip()} {number}" in taken:
        number += 1
    return f"{name.strip()} {number}"


def _with_table_moved(row: DraftRow, dx: float, dy: float) -> DraftRow:
    if row.table is None:
        return row
    return replace(row, table=replace(row.table, x=_moved(row.table.x, dx), y=_moved(row.table.y, dy)))


def _shape_moved(shape: DraftShape, dx: float, dy: float) -> DraftShape:
    return replace(
        shape,
        x=_moved(shape.x, dx),
        y=_moved(shape.y, dy),
        points=tuple((_moved(x, dx), _moved(y, dy)) for x, y in shape.points),
        text_at=None if shape.text_at is None else (_moved(shape.text_at[0], dx), _moved(shape.text_at[1], dy)),
    )


def _picture_moved(picture: DraftPicture, dx: float, dy: float) -> DraftPicture:
    return replace(picture, x=_moved(picture.x, dx), y=_moved(picture.y, dy))


def _moved(value: float, by: float) -> float:
    return round(max(-MAX_COORDINATE, min(value + by, MAX_COORDINATE)), 3)
