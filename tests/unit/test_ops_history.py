"""The history of figures: much at once, and nobody else of the process is kept waiting for it (R42)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Self, cast
from uuid import UUID

import msgspec

from backend_client import wire
from booking.domain.figures import Figure
from booking.figures import history
from booking.figures.model import Minute, Second, pack
from booking.store.database import Database
from booking.web.calls import to_wire
from booking.web.handlers.ops import history_body

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAYS = 2 * 24 * 60


class Turns:
    """How often others of the loop had their turn meanwhile."""

    def __init__(self) -> None:
        self.count = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._turn())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _turn(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.count += 1


def database(rows: Sequence[Mapping[str, object]]) -> Database:
    async def fetch(*_: object) -> Sequence[Mapping[str, object]]:
        return rows

    return cast("Database", SimpleNamespace(fetch=fetch))


def minutes(count: int) -> Database:
    bodies = [
        pack(Minute(values={str(Figure.HOLD_P99_MS): 1.5, **({"lock_waits": 2.0} if number else {})},
                    worst={str(Figure.HOLD_P99_MS): 3.0}))
        for number in range(count)
    ]  # fmt: skip
    return database([{"minute": BEGAN + timedelta(minutes=number), "body": body} for number, body in enumerate(bodies)])


async def test_two_days_of_minutes_keep_nobody_waiting() -> None:
    async with Turns() as turns:
        found = await history.read_minutes(minutes(DAYS), BEGAN, BEGAN, None, None)
        assert turns.count >= DAYS // 10 - 1, "few at a time"
        before = turns.count
        await history_body(found)
        assert turns.count - before >= len(found.series) + len(found.peaks) - 1


async def test_what_is_written_piece_by_piece_is_the_message() -> None:
    found = await history.read_minutes(minutes(3), BEGAN, BEGAN, 7, None)
    assert found.series == {"hold_p99_ms": (1.5, 1.5, 1.5), "lock_waits": (None, 2.0, 2.0)}
    assert found.peaks == {"hold_p99_ms": (3.0, 3.0, 3.0)}
    body = await history_body(found)
    assert msgspec.json.decode(body, type=wire.OpsHistory) == to_wire(found, wire.OpsHistory)


async def test_names_that_are_asked_for_are_there_without_a_value_too() -> None:
    wanted: Any = frozenset({"lock_waits", "queue_age_ms"})
    found = await history.read_minutes(minutes(2), BEGAN, BEGAN, None, wanted)
    assert found.series == {"lock_waits": (None, 2.0), "queue_age_ms": (None, None)}
    body = await history_body(found)
    assert b"event_id" not in body, "of the house"
    assert msgspec.json.decode(body, type=wire.OpsHistory) == to_wire(found, wire.OpsHistory)


async def test_a_quarter_of_an_hour_of_seconds_keeps_nobody_waiting() -> None:
    body = pack(Second(second=1, measured_at=BEGAN, watcher=UUID(int=1), house={"a": 1.0}))
    async with Turns() as turns:
        found = await history.read_seconds(database([{"body": body}] * 900), BEGAN, BEGAN, None, None)
        assert turns.count >= 900 // 10 - 1
    assert found.series["a"] == (1.0,) * 900
