"""Edits of a draft's parts that other edits are made of: change each row, each chosen seat, each shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from app.core.plan_draft import DraftRow, DraftSeat, DraftShape, PlanDraft, Selection
from app.core.plan_geometry import Place


def at_places(row: DraftRow, places: tuple[Place, ...]) -> DraftRow:
    """The row's seats at these places."""
    return replace(row, seats=tuple(replace(seat, x=x, y=y) for seat, (x, y) in zip(row.seats, places, strict=True)))


def each_row(draft: PlanDraft, row_ids: Iterable[int], change: Callable[[DraftRow], DraftRow]) -> PlanDraft:
    """Rows of these ids changed."""
    chosen = set(row_ids)
    return replace(draft, rows=tuple(change(row) if row.row_id in chosen else row for row in draft.rows))


def each_seat(rows: tuple[DraftRow, ...], change: Callable[[DraftSeat], DraftSeat]) -> tuple[DraftRow, ...]:
    """All seats changed; a row without a change stays the very same."""
    return tuple(_with_seats(row, tuple(change(seat) for seat in row.seats)) for row in rows)


def each_chosen_seat(draft: PlanDraft, selection: Selection, change: Callable[[DraftSeat], DraftSeat]) -> PlanDraft:
    """Chosen seats changed, those of chosen rows too."""
    rows = []
    for row in draft.rows:
        if row.row_id in selection.rows:
            rows.append(_with_seats(row, tuple(change(seat) for seat in row.seats)))
        elif selection.seats and any(seat.guid in selection.seats for seat in row.seats):
            seats = tuple(change(seat) if seat.guid in selection.seats else seat for seat in row.seats)
            rows.append(_with_seats(row, seats))
        else:
            rows.append(row)
    return replace(draft, rows=tuple(rows))


def each_shape(draft: PlanDraft, shape_ids: Iterable[int], change: Callable[[DraftShape], DraftShape]) -> PlanDraft:
    """Shapes of these ids changed, those of standing areas too."""
    chosen = set(shape_ids)
    return replace(
        draft,
        shapes=tuple(change(shape) if shape.shape_id in chosen else shape for shape in draft.shapes),
        standing=tuple(
            replace(area, area=change(area.area)) if area.area.shape_id in chosen else area for area in draft.standing
        ),
    )


def _with_seats(row: DraftRow, seats: tuple[DraftSeat, ...]) -> DraftRow:
    return row if all(one is other for one, other in zip(seats, row.seats, strict=True)) else replace(row, seats=seats)
