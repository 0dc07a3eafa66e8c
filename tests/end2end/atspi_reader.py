"""What a screen reader sees: run by the system's Python, which has the bindings of AT-SPI; speaks JSON, line by line.

`find` waits for the window's map; `sections` reads their names; `walk SECTION ROW` reads the names of a row's seats
and the row's own, `focus` waits for the next object that gets the keyboard (at most 5 s) and reads it; `state SECTION
ROW SEAT` reads the states of a seat; `named TEXT` waits until the focused seat is called something with TEXT.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

Thing = Any
"""An accessible object; the bindings have no types."""
gi: Any = import_module("gi")
gi.require_version("Atspi", "2.0")
Atspi: Any = import_module("gi.repository.Atspi")
GLib: Any = import_module("gi.repository.GLib")
WAIT_S = 60.0
heard: list[Thing] = []
read: list[Thing] = []


def main() -> None:
    """Answer one command a line until the input ends."""
    Atspi.init()
    listener = Atspi.EventListener.new(lambda event: heard.append(event.source) if event.detail1 else None)
    listener.register("object:state-changed:focused")
    names = Atspi.EventListener.new(lambda _event: None)
    names.register("object:property-change:accessible-name")  # names that were read are kept until they change
    for line in sys.stdin:
        verb, *words = line.split(maxsplit=1)
        print(json.dumps(answer(verb, words[0].strip() if words else "")), flush=True)


def answer(verb: str, words: str) -> object:
    """One command."""
    if verb == "find":
        return describe(seat_map())
    if verb == "sections":
        return [section.get_name() for section in sections()]
    if verb == "walk":
        section, row = (int(word) for word in words.split())
        found = sections()[section].get_child_at_index(row)
        seats = [found.get_child_at_index(index) for index in range(found.get_child_count())]
        return {"row": describe(found), "seats": [seat.get_name() for seat in seats]}
    if verb == "state":
        section, row, seat = (int(word) for word in words.split())
        return describe(sections()[section].get_child_at_index(row).get_child_at_index(seat))
    if verb == "focus":
        return describe(next_focus())
    return describe(waited(lambda: read[-1] if words in read[-1].get_name() else None, 5.0))


def describe(thing: Thing | None) -> object:
    """Role, name, states that matter and number of children."""
    if thing is None:
        return None
    states = thing.get_state_set()
    told = [name for name in ("focused", "selected", "selectable", "focusable", "showing")
            if states.contains(getattr(Atspi.StateType, name.upper()))]  # fmt: skip
    return {"role": thing.get_role_name(), "name": thing.get_name(), "children": thing.get_child_count(), "is": told}


def seat_map() -> Thing | None:
    """The map in the console's window."""
    return waited(lambda: found_below(Atspi.get_desktop(0), "Seat map", 12))


def found_below(thing: Thing | None, name: str, deep: int) -> Thing | None:
    """The first object of that name, depth first."""
    if thing is None or thing.get_name() == name:
        return thing
    for index in range(min(thing.get_child_count(), 60) if deep else 0):
        found = found_below(thing.get_child_at_index(index), name, deep - 1)
        if found is not None:
            return found
    return None


def sections() -> list[Thing]:
    """Children of the map that hold rows; buttons lie on it too."""
    parent = seat_map()
    children = [] if parent is None else [parent.get_child_at_index(at) for at in range(parent.get_child_count())]
    return [child for child in children if "free" in child.get_name()]


def next_focus() -> Thing | None:
    """What gets the keyboard next, or got it since the last question."""
    found = waited(lambda: heard[-1] if heard else None, 5.0)
    read[:] = [found] if found is not None else read
    heard.clear()
    return found


def waited(look: Callable[[], Thing | None], limit_s: float = WAIT_S) -> Thing | None:
    """Look again and again, hearing events meanwhile."""
    end = time.monotonic() + limit_s
    context = GLib.MainContext.default()
    while time.monotonic() < end:
        while context.iteration(False):
            pass
        found = look()
        if found is not None:
            return found
        time.sleep(0.02)
    return None


if __name__ == "__main__":
    main()
