"""Seats that the house keeps back, and for whom (R9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from backend_client.seat_frames import HOLDER_MASK, HOLDER_SHIFT, STATUS_MASK, HolderKind, StaffStatus, States
from backend_client.wire import HouseHold, HouseHoldKind

_HOUSE = StaffStatus.BLOCKED | HolderKind.HOUSE << HOLDER_SHIFT


def is_house_seat(states: States) -> npt.NDArray[np.bool_]:
    """By place in `states` (staff bytes): whether the house keeps that seat back."""
    kept: npt.NDArray[np.bool_] = (states & (STATUS_MASK | HOLDER_MASK)) == _HOUSE
    return kept


def kinds_by_seat(holds: Iterable[HouseHold]) -> Mapping[int, HouseHoldKind]:
    """For whom each seat is kept; of two that name one seat the newer."""
    return {seat.seat_no: hold.kind for hold in holds if hold.released_at is None for seat in hold.seats}
