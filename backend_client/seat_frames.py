"""Binary seat frames: the snapshot and the delta (design §4).

Snapshot: 32-byte header (`TQSS`, format, layout, flags, event, plan version, epoch, version, count), then the states:
layout PUBLIC packs 2 bits a seat, lowest bits first (60,000 seats = 15,000 bytes); layout STAFF has one byte a seat.
Delta: 36-byte header (`TQSD`, format, layout, flags, event, epoch, from, to, count), then `count` little-endian u32
words `seat_no << 8 | state`. The version belongs to the batch: a delta takes a map from `from_version` to `to_version`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

States = npt.NDArray[np.uint8]
SeatNumbers = npt.NDArray[np.uint32]

_SNAPSHOT = struct.Struct("<4sBBHIIIQI")
_DELTA = struct.Struct("<4sBBHIIQQI")
_SNAPSHOT_MAGIC = b"TQSS"
_DELTA_MAGIC = b"TQSD"
FORMAT = 1


class FrameError(ValueError):
    """The bytes are no seat frame of a format this version reads."""

    code = "bad-seat-frame"


class Layout(IntEnum):
    PUBLIC = 0
    STAFF = 1


class PublicState(IntEnum):
    """What the public sees; two bits."""

    AVAILABLE = 0
    HELD = 1
    SOLD = 2
    BLOCKED = 3


class StaffStatus(IntEnum):
    """Low three bits of a staff byte."""

    AVAILABLE = 0
    HELD = 1
    PAYING = 2
    SOLD = 3
    BLOCKED = 4


class HolderKind(IntEnum):
    """Bits 3–5 of a staff byte: who holds or bought the seat."""

    NONE = 0
    TILL = 1
    FAN = 2
    HOUSE = 3


STATUS_MASK = 0b0000_0111
HOLDER_SHIFT = 3
HOLDER_MASK = 0b0011_1000
PRINTED_BIT = 0b0100_0000
USED_BIT = 0b1000_0000

_PUBLIC_OF_STATUS: States = np.array([0, 1, 1, 2, 3, 3, 3, 3], np.uint8)
_UNPACK: npt.NDArray[np.uint8] = np.array(
    [[byte >> shift & 3 for shift in (0, 2, 4, 6)] for byte in range(256)], np.uint8
)


def staff_state(status: StaffStatus, holder: HolderKind, *, printed: bool = False, used: bool = False) -> int:
    """Pack one seat's state into a staff byte."""
    return status | holder << HOLDER_SHIFT | (PRINTED_BIT if printed else 0) | (USED_BIT if used else 0)


def to_public(states: States) -> States:
    """Staff bytes → public states, element by element."""
    public: States = _PUBLIC_OF_STATUS[states & STATUS_MASK]
    return public


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All seats of an event at one version; `states[seat_no]` in the layout named."""

    event_id: int
    plan_version: int
    epoch: int
    version: int
    layout: Layout
    states: States


@dataclass(frozen=True, slots=True)
class Delta:
    """Changes that take a map from `from_version` to `to_version`; arrays of equal length, in order of change."""

    event_id: int
    epoch: int
    from_version: int
    to_version: int
    layout: Layout
    seats: SeatNumbers
    states: States


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Snapshot → bytes."""
    count = len(snapshot.states)
    header = _SNAPSHOT.pack(
        _SNAPSHOT_MAGIC, FORMAT, snapshot.layout, 0, snapshot.event_id, snapshot.plan_version,
        snapshot.epoch, snapshot.version, count,
    )  # fmt: skip
    if snapshot.layout is Layout.STAFF:
        return header + snapshot.states.tobytes()
    padded = np.zeros((count + 3) // 4 * 4, np.uint8)
    padded[:count] = snapshot.states
    quads = padded.reshape(-1, 4)
    packed = quads[:, 0] | quads[:, 1] << 2 | quads[:, 2] << 4 | quads[:, 3] << 6
    return header + packed.astype(np.uint8).tobytes()


def decode_snapshot(data: bytes) -> Snapshot:
    """Bytes → Snapshot.

    Raises:
        FrameError: wrong magic, unknown format or layout, or a length that does not match the count.
    """
    if len(data) < _SNAPSHOT.size:
        raise FrameError(f"a snapshot has at least {_SNAPSHOT.size} bytes, got {len(data)}")
    magic, version_of_format, layout, _flags, event_id, plan_version, epoch, version, count = _SNAPSHOT.unpack_from(
        data
    )
    if magic != _SNAPSHOT_MAGIC or version_of_format != FORMAT or layout not in (0, 1):
        raise FrameError(
            f"not a seat snapshot this program reads: {magic!r} format {version_of_format} layout {layout}"
        )
    body = np.frombuffer(data, np.uint8, offset=_SNAPSHOT.size)
    expected = count if layout == Layout.STAFF else (count + 3) // 4
    if len(body) != expected:
        raise FrameError(f"snapshot of {count} seats needs {expected} bytes of states, got {len(body)}")
    states = body.copy() if layout == Layout.STAFF else _UNPACK[body].reshape(-1)[:count].copy()
    return Snapshot(event_id, plan_version, epoch, version, Layout(layout), states)


def encode_delta(delta: Delta) -> bytes:
    """Delta → bytes."""
    header = _DELTA.pack(
        _DELTA_MAGIC, FORMAT, delta.layout, 0, delta.event_id, delta.epoch,
        delta.from_version, delta.to_version, len(delta.seats),
    )  # fmt: skip
    words = delta.seats.astype("<u4") << np.uint32(8) | delta.states.astype("<u4")
    body: bytes = words.astype("<u4").tobytes()
    return header + body


def decode_delta(data: bytes) -> Delta:
    """Bytes → Delta.

    Raises:
        FrameError: wrong magic, unknown format or layout, or a length that does not match the count.
    """
    if len(data) < _DELTA.size:
        raise FrameError(f"a delta has at least {_DELTA.size} bytes, got {len(data)}")
    magic, version_of_format, layout, _flags, event_id, epoch, first, last, count = _DELTA.unpack_from(data)
    if magic != _DELTA_MAGIC or version_of_format != FORMAT or layout not in (0, 1):
        raise FrameError(f"not a seat delta this program reads: {magic!r} format {version_of_format} layout {layout}")
    if len(data) != _DELTA.size + 4 * count:
        raise FrameError(f"delta of {count} changes needs {4 * count} bytes of words, got {len(data) - _DELTA.size}")
    words = np.frombuffer(data, "<u4", offset=_DELTA.size)
    return Delta(event_id, epoch, first, last, Layout(layout), words >> np.uint32(8), (words & 0xFF).astype(np.uint8))
