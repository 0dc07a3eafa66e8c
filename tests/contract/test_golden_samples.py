"""Old consoles meet new servers: one sample of every message ever released, and each must still parse for ever.

The files are never rewritten. A message that grows gets a second sample beside the first (`Order.2.json`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from backend_client import wire
from backend_client.seat_frames import (
    Delta,
    Layout,
    Snapshot,
    decode_delta,
    decode_snapshot,
    encode_delta,
    encode_snapshot,
)

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sorted(GOLDEN.glob("*.json"))
BASES = {wire.Message, wire.RequestMessage}
STATES = [0, 0b1001, 0b10010, 0b01011011, 4]
PUBLIC_STATES = [0, 1, 1, 2, 3]


def message_classes() -> Iterator[type[msgspec.Struct]]:
    for value in vars(wire).values():
        is_message = isinstance(value, type) and issubclass(value, msgspec.Struct) and value not in BASES
        if is_message and value.__module__.startswith(f"{wire.__name__}."):
            yield value


def class_of(sample: Path) -> type[msgspec.Struct]:
    kind = getattr(wire, sample.name.split(".")[0])
    assert isinstance(kind, type)
    assert issubclass(kind, msgspec.Struct)
    return kind


def lacking(golden: Any, now: Any, at: str = "$") -> list[str]:
    """Where `now` lost or changed something that `golden` says."""
    if isinstance(golden, dict) and isinstance(now, dict):
        return [
            fault
            for name, value in golden.items()
            for fault in (lacking(value, now[name], f"{at}.{name}") if name in now else [f"{at}.{name} is gone"])
        ]
    if isinstance(golden, list) and isinstance(now, list) and len(golden) == len(now):
        return [
            fault
            for index, (a, b) in enumerate(zip(golden, now, strict=True))
            for fault in lacking(a, b, f"{at}[{index}]")
        ]
    return [] if golden == now else [f"{at}: {golden!r} became {now!r}"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_each_released_message_still_parses_and_keeps_every_member(sample: Path) -> None:
    raw = sample.read_bytes()

    message = msgspec.json.decode(raw, type=class_of(sample))

    assert lacking(msgspec.json.decode(raw), msgspec.json.decode(msgspec.json.encode(message))) == []


def test_each_message_of_the_wire_has_a_sample() -> None:
    sampled = {class_of(sample) for sample in SAMPLES}
    assert {kind.__name__ for kind in message_classes()} - {kind.__name__ for kind in sampled} == set()


def test_a_sample_shows_every_member_that_its_message_had_when_it_was_made() -> None:
    shown: dict[str, set[str]] = {}
    for sample in SAMPLES:
        members = msgspec.json.decode(sample.read_bytes())
        shown.setdefault(class_of(sample).__name__, set()).update(members)
    hidden = {
        kind.__name__: set(kind.__struct_encode_fields__) - shown[kind.__name__]
        for kind in message_classes()
        if set(kind.__struct_encode_fields__) - shown[kind.__name__]
    }
    assert hidden == {}


@pytest.mark.parametrize("message", [kind for kind in message_classes() if issubclass(kind, wire.Message)])
def test_an_old_console_ignores_members_that_it_does_not_know(message: type[msgspec.Struct]) -> None:
    grown = msgspec.json.decode((GOLDEN / f"{message.__name__}.json").read_bytes()) | {"member_of_tomorrow": [1]}
    assert isinstance(msgspec.json.decode(msgspec.json.encode(grown), type=message), message)


@pytest.mark.parametrize("message", [kind for kind in message_classes() if issubclass(kind, wire.RequestMessage)])
def test_the_server_refuses_a_member_that_it_does_not_know(message: type[msgspec.Struct]) -> None:
    grown = msgspec.json.decode((GOLDEN / f"{message.__name__}.json").read_bytes()) | {"member_misspelt": 1}
    with pytest.raises(msgspec.ValidationError, match="member_misspelt"):
        msgspec.json.decode(msgspec.json.encode(grown), type=message)


@pytest.mark.parametrize(("layout", "states"), [(Layout.STAFF, STATES), (Layout.PUBLIC, PUBLIC_STATES)])
def test_released_snapshots_still_read_and_are_still_written_so(layout: Layout, states: list[int]) -> None:
    raw = (GOLDEN / f"snapshot-{layout.name.lower()}.bin").read_bytes()

    snapshot = decode_snapshot(raw)

    assert snapshot.states.tolist() == states
    expected = Snapshot(7, 3, 1, 104, layout, np.array(states, np.uint8))
    assert encode_snapshot(expected) == raw


@pytest.mark.parametrize(("layout", "states"), [(Layout.STAFF, STATES), (Layout.PUBLIC, PUBLIC_STATES)])
def test_released_deltas_still_read_and_are_still_written_so(layout: Layout, states: list[int]) -> None:
    raw = (GOLDEN / f"delta-{layout.name.lower()}.bin").read_bytes()

    delta = decode_delta(raw)

    assert dict(zip(delta.seats.tolist(), delta.states.tolist(), strict=True)) == {1: states[1], 4: states[4]}
    expected = Delta(7, 1, 104, 106, layout, np.array([1, 4], np.uint32), np.array(states, np.uint8)[[1, 4]])
    assert encode_delta(expected) == raw
