"""What a seat's state byte says, and which look the map gives it.

The byte is the staff byte of the seat feed: bits 0–2 status, 3–5 holder, 6 printed, 7 used. Widgets do not import the
wire; `tests/contract/test_seat_bits.py` holds both definitions together.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

STATUS_MASK = 0b0000_0111
HOLDER_SHIFT = 3
HOLDER_MASK = 0b0011_1000
PRINTED_BIT = 0b0100_0000
USED_BIT = 0b1000_0000

ACCESSIBLE_FLAG = 1
COMPANION_FLAG = 2
RESTRICTED_FLAG = 4
FLAGS_MASK = ACCESSIBLE_FLAG | COMPANION_FLAG | RESTRICTED_FLAG


class SeatStatus(IntEnum):
    AVAILABLE = 0
    HELD = 1
    PAYING = 2
    SOLD = 3
    BLOCKED = 4


class SeatHolder(IntEnum):
    NONE = 0
    TILL = 1
    FAN = 2
    HOUSE = 3


class Look(IntEnum):
    """How a seat is drawn. HELD and PAYING run by holder: look = HELD + holder."""

    FREE = 0
    CLOSED = 1  # free, but not sellable by this person
    MINE = 2
    HELD = 3
    HELD_TILL = 4
    HELD_FAN = 5
    HELD_HOUSE = 6
    PAYING = 7
    PAYING_TILL = 8
    PAYING_FAN = 9
    PAYING_HOUSE = 10
    SOLD = 11
    PRINTED = 12
    USED = 13
    BLOCKED = 14
    BLOCKED_HOUSE = 15


LOOK_COUNT = len(Look)


def _look_of(state: int) -> Look:
    status = state & STATUS_MASK
    holder = (state & HOLDER_MASK) >> HOLDER_SHIFT
    known_holder = holder if holder <= SeatHolder.HOUSE else SeatHolder.NONE
    if status == SeatStatus.AVAILABLE:
        return Look.FREE
    if status == SeatStatus.HELD:
        return Look(Look.HELD + known_holder)
    if status == SeatStatus.PAYING:
        return Look(Look.PAYING + known_holder)
    if status == SeatStatus.SOLD:
        return Look.USED if state & USED_BIT else Look.PRINTED if state & PRINTED_BIT else Look.SOLD
    # A status that a newer server may send counts as blocked: nothing is offered that is not known to be free.
    return Look.BLOCKED_HOUSE if known_holder == SeatHolder.HOUSE else Look.BLOCKED


LOOK_OF_STATE: npt.NDArray[np.uint8] = np.array([_look_of(state) for state in range(256)], np.uint8)
"""State byte → Look."""
