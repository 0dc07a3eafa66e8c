"""The map's own reading of a state byte agrees with the wire's: widgets do not import the client library."""

from __future__ import annotations

import pytest

from backend_client import seat_frames as wire
from widgets.seat_map import seat_bits as bits
from widgets.seat_map.seat_bits import LOOK_OF_STATE, Look


def test_masks_and_bits_are_those_of_the_wire() -> None:
    for name in ("STATUS_MASK", "HOLDER_SHIFT", "HOLDER_MASK", "PRINTED_BIT", "USED_BIT"):
        assert getattr(bits, name) == getattr(wire, name), name


def test_statuses_and_holders_are_those_of_the_wire() -> None:
    assert {s.name: s.value for s in bits.SeatStatus} == {s.name: s.value for s in wire.StaffStatus}
    assert {h.name: h.value for h in bits.SeatHolder} == {h.name: h.value for h in wire.HolderKind}


@pytest.mark.parametrize(
    ("status", "holder", "printed", "used", "look"),
    [
        (wire.StaffStatus.AVAILABLE, wire.HolderKind.NONE, False, False, Look.FREE),
        (wire.StaffStatus.HELD, wire.HolderKind.TILL, False, False, Look.HELD_TILL),
        (wire.StaffStatus.HELD, wire.HolderKind.FAN, False, False, Look.HELD_FAN),
        (wire.StaffStatus.HELD, wire.HolderKind.HOUSE, False, False, Look.HELD_HOUSE),
        (wire.StaffStatus.PAYING, wire.HolderKind.NONE, False, False, Look.PAYING),
        (wire.StaffStatus.PAYING, wire.HolderKind.FAN, False, False, Look.PAYING_FAN),
        (wire.StaffStatus.SOLD, wire.HolderKind.FAN, False, False, Look.SOLD),
        (wire.StaffStatus.SOLD, wire.HolderKind.FAN, True, False, Look.PRINTED),
        (wire.StaffStatus.SOLD, wire.HolderKind.TILL, True, True, Look.USED),
        (wire.StaffStatus.BLOCKED, wire.HolderKind.NONE, False, False, Look.BLOCKED),
        (wire.StaffStatus.BLOCKED, wire.HolderKind.HOUSE, False, False, Look.BLOCKED_HOUSE),
    ],
)
def test_a_state_byte_of_the_wire_gets_its_look(
    status: wire.StaffStatus, holder: wire.HolderKind, printed: bool, used: bool, look: Look
) -> None:
    assert LOOK_OF_STATE[wire.staff_state(status, holder, printed=printed, used=used)] == look


def test_a_status_of_a_newer_server_is_not_offered_as_free() -> None:
    for status in range(5, 8):
        assert LOOK_OF_STATE[status] == Look.BLOCKED
