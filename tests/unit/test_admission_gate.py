"""The gate of admission in front of holds: one question for a crowd, however slow the database is (R18)."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from booking.domain.admission_token import Admission, UnknownAdmissionKeyError, sign
from booking.domain.errors import BusyError
from booking.services.admission import AdmissionGate
from booking.store.database import Database

CROWD = 300


class SlowDatabase:
    """Answers when it is told to, with what it had when it was asked; counts how often that was."""

    def __init__(self) -> None:
        self.keys: list[dict[str, object]] = []
        self.asked: Counter[str] = Counter()
        self.answers = asyncio.Event()
        self.is_busy = False

    async def fetchrow(self, *_: object) -> Any:
        self.asked["events"] += 1
        await self.answers.wait()
        if self.is_busy:
            raise BusyError("The database takes too long.")
        return {"admission": True}

    async def fetch(self, *_: object) -> Any:
        self.asked["keys"] += 1
        seen = list(self.keys)
        await self.answers.wait()
        return seen


def gate_of(db: SlowDatabase) -> AdmissionGate:
    return AdmissionGate(cast("Database", SimpleNamespace(fetchrow=db.fetchrow, fetch=db.fetch)))


async def crowd_at(gate: AdmissionGate, event_id: int = 7) -> list[asyncio.Task[bool]]:
    crowd = [asyncio.create_task(gate._asks_for_admission(event_id)) for _ in range(CROWD)]
    for _ in range(3):
        await asyncio.sleep(0)
    return crowd


async def test_a_crowd_asks_a_slow_database_once() -> None:
    db = SlowDatabase()
    gate = gate_of(db)
    crowd, others = await crowd_at(gate), await crowd_at(gate, 8)
    crowd[0].cancel()  # whoever began it may go away
    db.answers.set()
    assert await asyncio.gather(*crowd[1:], *others) == [True] * (2 * CROWD - 1)
    assert (db.asked["events"], db.asked["keys"]) == (2, 1)
    assert gate._asking == {}


async def test_the_crowd_shares_a_failure_and_the_next_one_asks_anew() -> None:
    db = SlowDatabase()
    gate, db.is_busy = gate_of(db), True
    crowd = await crowd_at(gate)
    db.answers.set()
    ends = await asyncio.gather(*crowd, return_exceptions=True)
    assert {type(end) for end in ends} == {BusyError}
    db.is_busy = False
    assert await gate._asks_for_admission(7)
    assert db.asked["events"] == 2


async def test_nobody_is_left_with_an_error_that_nobody_waited_for(recwarn: pytest.WarningsRecorder) -> None:
    db = SlowDatabase()
    gate, db.is_busy = gate_of(db), True
    (alone,) = [asyncio.create_task(gate._asks_for_admission(7))]
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.gather(alone, return_exceptions=True)
    db.answers.set()
    while gate._asking:
        await asyncio.sleep(0)
    assert not recwarn.list


async def test_a_key_that_came_while_somebody_elses_read_was_on_its_way_is_read_once_more() -> None:
    db = SlowDatabase()
    gate = gate_of(db)
    key, now = Ed25519PrivateKey.generate(), int(datetime.now(UTC).timestamp())
    admission = Admission(
        slot_id=uuid4(), event_id=7, account_id=uuid4(), session="s", generation=1, not_before=now - 60,
        expires_at=now + 300, slot_ends_at=now + 600,
    )  # fmt: skip
    token = sign(admission, "new-key-1", key)
    early = asyncio.create_task(gate._asks_for_admission(7))
    db.answers.set()
    assert await early
    gate._keys_read_at = -10.0  # more than a second ago
    db.answers.clear()
    first = asyncio.create_task(gate._once("keys", gate._read_keys))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert db.asked["keys"] == 2, "it is on its way, and will not bring the key"
    db.keys.append({"key_id": "new-key-1", "public_key": key.public_key().public_bytes_raw()})
    crowd = [asyncio.create_task(gate._read(token)) for _ in range(CROWD)]
    for _ in range(3):
        await asyncio.sleep(0)
    db.answers.set()
    assert await asyncio.gather(*crowd) == [admission] * CROWD
    await first
    assert db.asked["keys"] == 3, "once for all of them"
    with pytest.raises(UnknownAdmissionKeyError):
        await gate._read(sign(admission, "nobodys-key", key))
