"""What keys mean on the map: where the keyboard goes next. No widget: a key and a seat in, a seat out.

Arrows go from seat to seat; with Ctrl, up and down from row to row and left and right from section to section, as Page
Up and Page Down do. Home and End go to the ends of the row, with Ctrl to those of the section. Letters and digits spell
the name of a row.
"""

from __future__ import annotations

from PySide6.QtCore import Qt

from widgets.seat_map.navigation import (
    Step,
    next_seat,
    row_called,
    row_end,
    row_mates,
    row_step,
    section_end,
    section_step,
)
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.seat_grid import SeatGrid

TYPING_S = 1.2
_KEY = Qt.Key
_STEPS = {_KEY.Key_Left: Step.LEFT, _KEY.Key_Right: Step.RIGHT, _KEY.Key_Up: Step.UP, _KEY.Key_Down: Step.DOWN}
_SECTIONS = {_KEY.Key_PageUp: -1, _KEY.Key_PageDown: 1}
_SECTIONS_WITH_CTRL = {_KEY.Key_Left: -1, _KEY.Key_Right: 1, **_SECTIONS}
_ROWS_WITH_CTRL = {_KEY.Key_Up: -1, _KEY.Key_Down: 1}
_ENDS = {_KEY.Key_Home: False, _KEY.Key_End: True}


def moves(key: int, *, ctrl: bool) -> bool:
    """Whether a key moves the keyboard from seat to seat."""
    return key in _STEPS or key in _SECTIONS or key in _ENDS or (ctrl and key in _ROWS_WITH_CTRL)


def needs_seat(key: int, *, ctrl: bool) -> bool:
    """Whether a moving key means something only once the keyboard is on a seat."""
    return key not in (_SECTIONS_WITH_CTRL if ctrl else _SECTIONS)


def seat_after(plan: SeatMapPlan, grid: SeatGrid, seat_no: int, key: int, *, ctrl: bool) -> int:
    """The seat that a moving key leads to from a seat."""
    named = Qt.Key(key)
    if named in (_SECTIONS_WITH_CTRL if ctrl else _SECTIONS):
        return section_step(plan, seat_no, _SECTIONS_WITH_CTRL[named])
    if ctrl and named in _ROWS_WITH_CTRL:
        return row_step(plan, seat_no, _ROWS_WITH_CTRL[named])
    if named in _ENDS:
        return (section_end if ctrl else row_end)(plan, seat_no, last=_ENDS[named])
    return next_seat(plan, grid, seat_no, _STEPS[named])


def is_arrow(key: int) -> bool:
    """Whether it is one of the four arrows."""
    return key in _STEPS


def row_mate(plan: SeatMapPlan, seat_no: int, key: int) -> int:
    """The seat beside this one in its row, on the side that an arrow points to; the same seat at the row's end."""
    right, down = _STEPS[Qt.Key(key)].value
    ahead = {
        mate: float((plan.x[mate] - plan.x[seat_no]) * right + (plan.y[mate] - plan.y[seat_no]) * down)
        for mate in row_mates(plan, seat_no)
    }
    best = max(ahead, key=lambda mate: ahead[mate], default=seat_no)
    return best if ahead.get(best, 0.0) > 0 else seat_no


class RowTyping:
    """Letters typed in quick succession spell the name of a row. Times in seconds of a steady clock."""

    def __init__(self) -> None:
        self._typed = ""
        self._at_s = 0.0

    def under_way(self, now_s: float) -> bool:
        """Whether the next letter belongs to the name that was begun."""
        return bool(self._typed) and now_s - self._at_s <= TYPING_S

    def type(self, plan: SeatMapPlan, seat_no: int, letter: str, now_s: float) -> int:
        """One more letter; the seat of the row that it leads to, -1 when no row is called so.

        A letter that makes no name of those before it begins a new one.
        """
        before = self._typed if self.under_way(now_s) else ""
        self._at_s = now_s
        for name in (before + letter, letter):
            found = row_called(plan, seat_no, name)
            if found >= 0:
                self._typed = name
                return found
        self._typed = ""
        return -1
