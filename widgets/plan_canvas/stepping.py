"""Going through a plan with the keyboard: from row to row and shape to shape, and along the seats of a row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from widgets.plan_canvas.scene import CanvasScene, Chosen

_SPOKEN: Final = 4


def step_thing(scene: CanvasScene, chosen: Chosen, by: int, *, extend: bool = False) -> Chosen:
    """The next row, shape or picture (`by` 1) or the one before (-1), as in the plan; it goes round at the ends."""
    rows, laid = scene.rows, scene.laid
    count = len(rows) + len(laid)
    if not count:
        return Chosen()
    held = _rows_held(scene, chosen)
    places = [place for place, row in enumerate(rows) if row.key in held]
    places += [place for place, thing in enumerate(laid, len(rows)) if thing.key in chosen.shapes]
    place = 0 if by > 0 else count - 1
    if places:
        place = ((max(places) if by > 0 else min(places)) + by) % count
    if place < len(rows):
        found = Chosen(rows=frozenset({rows[place].key}))
    else:
        found = Chosen(shapes=frozenset({laid[place - len(rows)].key}))
    return chosen.with_all(found) if extend else found


def step_seat(scene: CanvasScene, chosen: Chosen, by: int, *, extend: bool = False) -> Chosen:
    """The next seat of the row (`by` 1) or the one before; from a whole row to its first or last seat."""
    held = _rows_held(scene, chosen)
    row = next((row for row in scene.rows if row.key in held), None)
    if row is None:
        return step_thing(scene, chosen, by)
    if not row.seats:
        return chosen
    places = [place for place, seat in enumerate(row.seats) if seat.key in chosen.seats]
    if not places:
        place = 0 if by > 0 else len(row.seats) - 1
    else:
        place = min(max((max(places) if by > 0 else min(places)) + by, 0), len(row.seats) - 1)
    found = Chosen(seats=frozenset({row.seats[place].key}))
    return Chosen(seats=chosen.seats | found.seats) if extend and places else found


def _rows_held(scene: CanvasScene, chosen: Chosen) -> frozenset[int]:
    """Keys of the rows that are chosen, whole or in part: gone through once, however many seats are chosen."""
    row_of_seat = scene.row_of_seat
    return chosen.rows | {row_of_seat[key].key for key in chosen.seats if key in row_of_seat}


def spoken(scene: CanvasScene, chosen: Chosen) -> str:
    """What is chosen, for a screen reader: the name of one thing, of several their names one after the other."""
    named = list(islice(_names(scene, chosen), _SPOKEN + 1))
    return ", ".join(named[:_SPOKEN]) + (" …" if len(named) > _SPOKEN else "")


def _names(scene: CanvasScene, chosen: Chosen) -> Iterator[str]:
    yield from (row.name for row in scene.rows if row.key in chosen.rows)
    if chosen.seats:
        held = _rows_held(scene, chosen) - chosen.rows
        for row in scene.rows:
            if row.key in held:
                yield from (row.seats[place].name for place in chosen.places_in(row))
    yield from (thing.name for thing in scene.laid if thing.key in chosen.shapes)
