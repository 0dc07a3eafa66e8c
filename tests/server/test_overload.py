"""Over-load is shed at the door with a time to come back at, and what was shed succeeds when it does."""

from __future__ import annotations

import asyncio

import asyncpg
import httpx
import pytest

from backend_client import wire
from booking.store import micro_batches
from booking.store.database import Database
from tests.server.box_office import count, make_event
from tests.server.web_api import Api, api_over, problem, read

CROWD = 200
FIRST = 140


async def hold(api: Api, event_id: int, token: str, seat: int, key: str) -> httpx.Response:
    return await api.call("POST", f"/v1/events/{event_id}/holds", {"seats": [seat]}, token=token, key=key)


async def test_what_comes_while_the_queue_is_long_and_old_is_shed_and_succeeds_later(
    sound_database: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(micro_batches, "SHED_AGE_S", 0.01)
    monkeypatch.setattr(micro_batches, "SHED_WAITING", 32)
    monkeypatch.setattr(micro_batches, "BATCH_LIMIT", 8)  # else the lanes may take all who come at once
    monkeypatch.setattr(micro_batches, "MAX_WAIT_S", 30.0)  # who has got in stays, however busy this machine is
    monkeypatch.setattr(micro_batches, "ANSWER_WITHIN_S", 60.0)
    event_id = await make_event(sound_database, seats=CROWD)
    blocker = await asyncpg.connect(dsn)
    async with api_over(sound_database) as api:
        tokens = [await api.fan() for _ in range(CROWD)]
        stalled = blocker.transaction()
        await stalled.start()
        await blocker.execute("LOCK TABLE holds IN SHARE ROW EXCLUSIVE MODE")  # readers go on, nobody writes
        lanes = sound_database.hold_lanes
        assert lanes is not None

        def come(first: int, end: int) -> list[asyncio.Task[httpx.Response]]:
            return [
                asyncio.create_task(hold(api, event_id, tokens[seat], seat, f"key-{seat}"), name=f"buyer {seat}")
                for seat in range(first, end)
            ]

        crowd = come(0, FIRST)
        async with asyncio.timeout(60):
            while lanes.waiting < micro_batches.SHED_WAITING or lanes.queue_age_s <= micro_batches.SHED_AGE_S:
                await asyncio.sleep(0.002)
        crowd += come(FIRST, CROWD)
        async with asyncio.timeout(60):
            while lanes.figures.shed == 0:
                await asyncio.sleep(0.002)
        await stalled.rollback()
        await blocker.close()
        answers = await asyncio.gather(*crowd)
        shed = {seat: answer for seat, answer in enumerate(answers) if answer.status_code != 201}
        for answer in shed.values():
            told = problem(answer, wire.ErrorCode.BUSY)
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(told.retry_after_s))
        assert 0 < len(shed) < CROWD
        for seat in shed:
            held = read(await hold(api, event_id, tokens[seat], seat, f"key-{seat}"), wire.Hold, 201)
            assert [ref.seat_no for ref in held.seats] == [seat]
    assert await count(sound_database, "SELECT count(*) FROM holds WHERE status = 'HELD'") == CROWD
    assert lanes.queue_age_s == 0
