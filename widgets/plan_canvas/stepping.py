"""Going through a plan with the keyboard: from row to row and shape to shape, and along the seats of a row."""

from __future__ import annotations

from widgets.plan_canvas.scene import CanvasScene, Chosen


def step_thing(scene: CanvasScene, chosen: Chosen, by: int, *, extend: bool = False) -> Chosen:
    """The next row, shape or picture (`by` 1) or the one before (-1), as in the plan; it goes round at the ends."""
    things: list[Chosen] = [Chosen(rows=frozenset({row.key})) for row in scene.rows]
    things += [Chosen(shapes=frozenset({thing.key})) for thing in scene.laid]
    if not things:
        return Chosen()
    places = [place for place, thing in enumerate(things) if _holds(scene, chosen, thing)]
    if not places:
        place = 0 if by > 0 else len(things) - 1
    else:
        place = ((max(places) if by > 0 else min(places)) + by) % len(things)
    return chosen.with_all(things[place]) if extend else things[place]


def step_seat(scene: CanvasScene, chosen: Chosen, by: int, *, extend: bool = False) -> Chosen:
    """The next seat of the row (`by` 1) or the one before; from a whole row to its first or last seat."""
    row = next((row for row in scene.rows if _holds(scene, chosen, Chosen(rows=frozenset({row.key})))), None)
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


def _holds(scene: CanvasScene, chosen: Chosen, thing: Chosen) -> bool:
    if thing.shapes:
        return bool(thing.shapes & chosen.shapes)
    if thing.rows & chosen.rows:
        return True
    return any(scene.row_of_seat[key].key in thing.rows for key in chosen.seats if key in scene.row_of_seat)


def spoken(scene: CanvasScene, chosen: Chosen) -> str:
    """What is chosen, for a screen reader: the name of one thing, of several their names one after the other."""
    names = [row.name for row in scene.rows if row.key in chosen.rows]
    if chosen.seats:
        names += [
            row.seats[place].name for row in scene.rows if row.key not in chosen.rows for place in chosen.places_in(row)
        ]
    names += [thing.name for thing in scene.laid if thing.key in chosen.shapes]
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
