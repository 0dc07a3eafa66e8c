"""Tables and booths: rows whose seats go round what stands in their middle. Each edit takes a draft and gives the next.

A booth is one seat with all that is in it. Seats of a table stand in the order in which they go round, clockwise from
its upper edge, and keep who they are (`guid`) and what is printed on them when the table changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from app.core.plan_draft import NO_CATEGORY, DraftRow, DraftSeat, DraftTable, PlanDraft
from app.core.plan_geometry import Place, turned
from app.core.plan_images import drop_lost_views

MAX_TABLE_SEATS: Final = 60
TABLE, BOOTH = "table", "booth"
CIRCLE, RECTANGLE = "circle", "rectangle"
_CLEAR: Final = 0.75
"""From the edge of a table to the middle of a seat, as a share of the distance between two seats."""
_LEAST: Final = 1.0
_PREFIX: Final = {TABLE: "T", BOOTH: "B"}


def add_table(
    draft: PlanDraft, section_id: int, table: DraftTable, seats: int, category_id: int, new_guid: Callable[[], str]
) -> PlanDraft:
    """A table with so many seats round it, or a booth with its one, named after those that the section has."""
    if draft.section(section_id) is None:
        return draft
    count = 1 if table.kind == BOOTH else max(1, min(seats, MAX_TABLE_SEATS))
    made = tuple(
        DraftSeat(new_guid(), str(number + 1), x, y, category_id)
        for number, (x, y) in enumerate(places_round(table, count, draft.distance))
    )
    row = DraftRow(draft.next_id, section_id, next_table_label(draft, section_id, table.kind), made, "", table=table)
    return replace(draft, rows=(*draft.rows, row), next_id=draft.next_id + 1)


def next_table_label(draft: PlanDraft, section_id: int, kind: str) -> str:
    """`T1`, `T2`, …; booths `B1`, `B2`, …: the first that the section does not have."""
    taken = {row.label for row in draft.rows_of(section_id)}
    number = 1
    while f"{_PREFIX.get(kind, 'T')}{number}" in taken:
        number += 1
    return f"{_PREFIX.get(kind, 'T')}{number}"


def change_table(draft: PlanDraft, row_id: int, table: DraftTable, new_guid: Callable[[], str]) -> PlanDraft:
    """Another form, size or place; the seats go round it anew. A table that becomes a booth keeps its first seat."""
    row = draft.row(row_id)
    if row is None or row.table is None or table.width < _LEAST or table.height < _LEAST:
        return draft
    count = 1 if table.kind == BOOTH else max(len(row.seats), 1)
    return _with_seats(draft, replace(row, table=table), count, new_guid)


def set_table_seats(draft: PlanDraft, row_id: int, count: int, new_guid: Callable[[], str]) -> PlanDraft:
    """So many seats round a table, at equal distances; a booth has one."""
    row = draft.row(row_id)
    if row is None or row.table is None or row.table.kind == BOOTH:
        return draft
    return _with_seats(draft, row, max(1, min(count, MAX_TABLE_SEATS)), new_guid)


def _with_seats(draft: PlanDraft, row: DraftRow, count: int, new_guid: Callable[[], str]) -> PlanDraft:
    """The row as its table says; seats beyond those that it has are numbered on."""
    if row.table is None:
        return draft
    kept = list(row.seats[:count])
    category_id = kept[-1].category_id if kept else NO_CATEGORY
    taken = {seat.number for seat in kept}
    number = len(kept)
    while len(kept) < count:
        number += 1
        if str(number) not in taken:
            kept.append(DraftSeat(new_guid(), str(number), 0.0, 0.0, category_id))
    places = places_round(row.table, count, draft.distance)
    seats = tuple(replace(seat, x=x, y=y) for seat, (x, y) in zip(kept, places, strict=True))
    changed = replace(row, seats=seats)
    rows = tuple(changed if one.row_id == row.row_id else one for one in draft.rows)
    return drop_lost_views(replace(draft, rows=rows))


def places_round(table: DraftTable, count: int, distance: float) -> tuple[Place, ...]:
    """Where the seats stand: that of a booth in its middle, the others clear of the table's edge."""
    middle = table.x, table.y
    if table.kind == BOOTH:
        return (middle,)
    clear = distance * _CLEAR
    half_width, half_height = table.width / 2 + clear, table.height / 2 + clear
    if table.shape == RECTANGLE:
        upright = _round_rectangle(table, half_width, half_height, count)
    else:
        turns = (2 * math.pi * number / count - math.pi / 2 for number in range(count))
        upright = [(table.x + half_width * math.cos(turn), table.y + half_height * math.sin(turn)) for turn in turns]
    return tuple(turned(place, middle, table.rotation) for place in upright)


def _round_rectangle(table: DraftTable, half_width: float, half_height: float, count: int) -> list[Place]:
    """At equal distances along the four sides, none in a corner; clockwise, beginning on the upper side."""
    width, height = table.width, table.height
    around = 2 * (width + height)
    places = []
    for number in range(count):
        way = (number + 0.5) * around / count
        if way < width:
            x, y = table.x - width / 2 + way, table.y - half_height
        elif way < width + height:
            x, y = table.x + half_width, table.y - height / 2 + way - width
        elif way < 2 * width + height:
            x, y = table.x + width / 2 - (way - width - height), table.y + half_height
        else:
            x, y = table.x - half_width, table.y + height / 2 - (way - 2 * width - height)
        places.append((x, y))
    return places
