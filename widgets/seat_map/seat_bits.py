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
GONE_FLAG = 8
"""The seat was removed from the plan; its number stays and is never given again."""
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


class HouseKind(IntEnum):
    """For whom the house keeps a seat back, in the order of the wire's kinds; 0: the map was not told."""

    UNKNOWN = 0
    PROMOTER = 1
    ARTIST = 2
    TECHNICAL = 3
    ACCESSIBLE = 4
    PRESS = 5
    SPONSOR = 6
    OTHER = 7


class Look(IntEnum):
    """How a seat is drawn. HELD and PAYING run by holder: look = HELD + holder; the house's run by kind likewise."""

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
    HOUSE_PROMOTER = 16
    HOUSE_ARTIST = 17
    HOUSE_TECHNICAL = 18
    HOUSE_ACCESSIBLE = 19
    HOUSE_PRESS = 20
    HOUSE_SPONSOR = 21
    HOUSE_OTHER = 22


LOOK_COUNT = len(Look)

CLOSED_MODE = 1
MINE_MODE = 2
DIMMED_MODE = 4
GONE_MODE = 8
KIND_SHIFT = 4
"""What the map knows of a seat besides its state, as one byte: closed, mine, dimmed, gone, and the house's kind."""


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


def _band_of(mode: int, state: int) -> int:
    """Look of a seat, and LOOK_COUNT more while it is dimmed."""
    look = LOOK_OF_STATE[state]
    if mode & GONE_MODE:
        return Look.BLOCKED
    if mode & MINE_MODE:
        look = Look.MINE
    elif mode & CLOSED_MODE and look == Look.FREE:
        look = Look.CLOSED
    elif look in {Look.HELD_HOUSE, Look.BLOCKED_HOUSE} and mode >> KIND_SHIFT:
        look = Look.BLOCKED_HOUSE + (mode >> KIND_SHIFT)
    return int(look) + (LOOK_COUNT if mode & DIMMED_MODE else 0)


def _bands() -> npt.NDArray[np.uint8]:
    """By mode × 256 + state: one look-up for each seat instead of a chain of conditions."""
    states = range(256)
    by_mode = [[_band_of(mode, state) for state in states] for mode in range(len(HouseKind) << KIND_SHIFT)]
    return np.array(by_mode, np.uint8).ravel()


BAND_OF: npt.NDArray[np.uint8] = _bands()


def house_kind_of(look: Look) -> HouseKind:
    """For whom the house keeps a seat of this look; UNKNOWN for all others."""
    return HouseKind(look - Look.BLOCKED_HOUSE) if look > Look.BLOCKED_HOUSE else HouseKind.UNKNOWN
