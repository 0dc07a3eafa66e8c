"""Who waits for whom, and the end of a session that keeps others waiting (R32, B21)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.errors import AuthorityAwayError
from booking.domain.figures import Figure
from booking.figures.lock_waits import LockWaits, read_lock_waits
from booking.store import figures_calls
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, fan, make_event
from tests.server.ops_house import OpsHouse, ops_house
from tests.server.web_api import problem, read

WITHIN_S = 20.0


@pytest.fixture
async def house(sound_database: Database, clock: Clock) -> AsyncIterator[OpsHouse]:
    async with ops_house(sound_database, clock) as house:
        yield house


@asynccontextmanager
async def holder_of(db: Database, event_id: int, *seats: int) -> AsyncIterator[asyncpg.Connection[Any]]:
    """Another session of ours that keeps seats locked, in a transaction that it does nothing in."""
    connection = await asyncpg.connect(db.dsn, server_settings={"application_name": "a forgotten psql"})
    try:
        await connection.execute("BEGIN")
        await connection.fetch(
            "SELECT FROM seats WHERE event_id = $1 AND seat_no = ANY ($2::int[]) FOR UPDATE", event_id, list(seats)
        )
        yield connection
    finally:
        connection.terminate()


@asynccontextmanager
async def waiting_hold(db: Database, event_id: int, *seats: int) -> AsyncIterator[asyncio.Task[Any]]:
    """A hold of a fan for seats that somebody keeps locked."""
    task = asyncio.create_task(Desk(db, fan(), event_id).hold(*seats), name="waiting hold")
    try:
        yield task
    finally:
        await asyncio.gather(task, return_exceptions=True)


async def until_somebody_waits(db: Database) -> LockWaits:
    async with asyncio.timeout(WITHIN_S):
        while not (found := await read_lock_waits(db)).waits or not found.waits[0].blocked_by:
            await asyncio.sleep(0.01)
    return found


async def test_a_lock_that_is_held_shows_with_who_waits_for_what_and_goes_again(house: OpsHouse) -> None:
    """B21: the hold itself is answered within its time; until then operators see why it is not."""
    event_id = await make_event(house.api.db)
    await house.second()
    async with holder_of(house.api.db, event_id, 5) as holder, waiting_hold(house.api.db, event_id, 4, 5):
        await until_somebody_waits(house.api.db)
        second = await house.second()
        (wait,) = second.lock_waits
        assert (wait.event_id, wait.sections, wait.lock) == (event_id, ("Stalls",), "row of seats")
        assert (wait.waiting.statement, wait.waiting.may_be_ended) == ("hold", True)
        assert 0 < wait.waited_s < WITHIN_S
        (blocker,) = wait.blocked_by
        assert wait.roots == (blocker.pid,) == (holder.get_server_pid(),)
        assert (blocker.application, blocker.state, blocker.may_be_ended) == (
            "a forgotten psql", "idle in transaction", True,
        )  # fmt: skip
        assert blocker.transaction_started_at is not None
        assert second.house[Figure.LOCK_WAITS] == 1
        assert second.house[Figure.LOCK_WAIT_OLDEST_S] == wait.waited_s
        assert b"FOR UPDATE" not in msgspec.json.encode(wait), "no text of a statement is told"
        await holder.execute("COMMIT")
    second = await house.second()
    assert (second.lock_waits, second.house[Figure.LOCK_WAITS]) == ((), 0)


async def test_a_queue_of_waiters_names_the_one_at_its_head(database: Database) -> None:
    event_id = await make_event(database)
    async with holder_of(database, event_id, 5) as holder:
        sessions = [await asyncpg.connect(database.dsn) for _ in range(3)]
        lock = f"UPDATE seats SET version = version WHERE event_id = {event_id} AND seat_no = 5"
        tasks = [asyncio.create_task(session.execute(lock), name="in line") for session in sessions]
        async with asyncio.timeout(WITHIN_S):
            while (found := await read_lock_waits(database)).total < 3 or not all(w.roots for w in found.waits):
                await asyncio.sleep(0.01)
        assert {wait.roots for wait in found.waits} == {(holder.get_server_pid(),)}
        assert {wait.waiting.statement for wait in found.waits} == {"write"}
        assert any(one.pid != holder.get_server_pid() for wait in found.waits for one in wait.blocked_by)
        short = await read_lock_waits(database, most=2)
        assert (short.total, len(short.waits)) == (3, 2), "the list is bounded, the count is not"
        await holder.execute("ROLLBACK")
        await asyncio.gather(*tasks)
        for session in sessions:
            await session.close()


async def test_operators_can_ask_at_this_moment(house: OpsHouse) -> None:
    event_id = await make_event(house.api.db)
    token = await house.staff()
    async with holder_of(house.api.db, event_id, 5), waiting_hold(house.api.db, event_id, 5):
        await until_somebody_waits(house.api.db)
        found = read(await house.api.call("GET", "/v1/ops/lock-waits", token=token), wire.OpsLockWaitList)
        assert (found.total, found.lock_waits[0].sections) == (1, ("Stalls",))


async def test_an_admin_ends_the_session_that_keeps_others_waiting_once_and_it_is_in_the_log(house: OpsHouse) -> None:
    event_id = await make_event(house.api.db)
    token, key = await house.staff(Role.ADMIN), str(uuid4())
    async with holder_of(house.api.db, event_id, 5) as holder, waiting_hold(house.api.db, event_id, 5) as hold:
        session = (await until_somebody_waits(house.api.db)).waits[0].blocked_by[0]
        body = wire.OpsSessionEnd(backend_started_at=session.backend_started_at, reason="keeps row 1 locked")
        path = f"/v1/ops/sessions/{session.pid}/end"
        answer = await house.api.call("POST", path, body, token=token, key=key)
        ended = read(answer, wire.OpsSessionEnded)
        assert (ended.outcome, ended.application) == (wire.OpsSessionOutcome.ENDED, "a forgotten psql")
        assert [seat.seat_no for seat in (await hold).seats] == [5], "whoever waited goes on"
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError)):
            await holder.execute("SELECT 1")
        again = await house.api.call("POST", path, body, token=token, key=key)
        assert again.headers[wire.REPLAYED_HEADER] == "true"
        assert read(again, wire.OpsSessionEnded).outcome is wire.OpsSessionOutcome.ENDED
    log = read(await house.api.call("GET", "/v1/ops/log?kind=session", token=token), wire.OpsLog)
    (entry,) = log.entries
    assert (entry.who, entry.action, entry.subject, entry.reason) == (
        "Some admin", "session-end-asked", f"session:{session.pid}", "keeps row 1 locked",
    )  # fmt: skip
    assert wire.OpsLogChange(name="state", was="idle in transaction", now="ended") in entry.changes


async def test_a_number_that_was_given_to_another_session_since_hits_nobody(house: OpsHouse) -> None:
    token = await house.staff(Role.ADMIN)
    connection = await asyncpg.connect(house.api.db.dsn)
    try:
        pid = connection.get_server_pid()
        began = await connection.fetchval("SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        for wrong in (began - timedelta(microseconds=1), began + timedelta(hours=1)):
            body = wire.OpsSessionEnd(backend_started_at=wrong, reason="an old list")
            answer = await house.api.call("POST", f"/v1/ops/sessions/{pid}/end", body, token=token)
            assert read(answer, wire.OpsSessionEnded).outcome is wire.OpsSessionOutcome.GONE
        assert await connection.fetchval("SELECT 1") == 1
    finally:
        await connection.close()
    rows = await house.api.db.fetch("SELECT FROM audit_log WHERE action LIKE 'session-%'")
    assert rows == [], "nothing was done, nothing is in the log"


async def test_a_session_whose_transaction_has_ended_meanwhile_is_left_alone(house: OpsHouse) -> None:
    """A session of a pool that kept others waiting serves somebody else a moment later: not that one is meant."""
    event_id = await make_event(house.api.db)
    token = await house.staff(Role.ADMIN)
    async with holder_of(house.api.db, event_id, 5) as holder:
        async with waiting_hold(house.api.db, event_id, 5):
            session = (await until_somebody_waits(house.api.db)).waits[0].blocked_by[0]
            await holder.execute("COMMIT")
        await holder.execute("BEGIN")
        await holder.execute("SELECT 1")
        body = wire.OpsSessionEnd(
            backend_started_at=session.backend_started_at, reason="kept row 1 locked",
            transaction_started_at=session.transaction_started_at,
        )  # fmt: skip
        path, key = f"/v1/ops/sessions/{session.pid}/end", str(uuid4())
        answer = await house.api.call("POST", path, body, token=token, key=key)
        assert read(answer, wire.OpsSessionEnded).outcome is wire.OpsSessionOutcome.GONE
        assert await holder.fetchval("SELECT 1") == 1
        assert await house.api.db.fetch("SELECT FROM audit_log WHERE action LIKE 'session-%'") == []
        (row,) = await house.api.db.fetch("SELECT xact_start FROM pg_stat_activity WHERE pid = $1", session.pid)
        now = msgspec.structs.replace(body, transaction_started_at=row["xact_start"])
        answer = await house.api.call("POST", path, now, token=token)
        assert read(answer, wire.OpsSessionEnded).outcome is wire.OpsSessionOutcome.ENDED


async def test_the_same_wish_again_says_of_a_session_that_lives_that_it_was_not_ended(
    house: OpsHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was asked died between the log and the act; the session has ended its transaction by itself meanwhile."""
    event_id = await make_event(house.api.db)
    token, key = await house.staff(Role.ADMIN), str(uuid4())
    async with holder_of(house.api.db, event_id, 5) as holder:
        async with waiting_hold(house.api.db, event_id, 5):
            session = (await until_somebody_waits(house.api.db)).waits[0].blocked_by[0]
            body = wire.OpsSessionEnd(
                backend_started_at=session.backend_started_at, reason="keeps row 1 locked",
                transaction_started_at=session.transaction_started_at,
            )  # fmt: skip
            path = f"/v1/ops/sessions/{session.pid}/end"

            async def dies(*_: object) -> str:
                raise AuthorityAwayError("died")

            with monkeypatch.context() as patch:
                patch.setattr(figures_calls, "end_session", dies)
                problem(await house.api.call("POST", path, body, token=token, key=key), wire.ErrorCode.AUTHORITY_AWAY)
            await holder.execute("COMMIT")
        answer = await house.api.call("POST", path, body, token=token, key=key)
        assert answer.headers[wire.REPLAYED_HEADER] == "true"
        assert read(answer, wire.OpsSessionEnded).outcome is wire.OpsSessionOutcome.GONE
        assert await holder.fetchval("SELECT 1") == 1


async def test_only_admins_end_sessions(house: OpsHouse) -> None:
    connection = await asyncpg.connect(house.api.db.dsn)
    try:
        began = await connection.fetchval("SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        body = wire.OpsSessionEnd(backend_started_at=began, reason="I may not")
        path = f"/v1/ops/sessions/{connection.get_server_pid()}/end"
        for role in (Role.CLERK, Role.OPS, Role.SUPERVISOR):
            problem(await house.api.call("POST", path, body, token=await house.staff(role)), wire.ErrorCode.FORBIDDEN)
        assert await connection.fetchval("SELECT 1") == 1
    finally:
        await connection.close()


async def test_sessions_of_other_roles_and_of_the_server_itself_are_not_ours_to_end(house: OpsHouse) -> None:
    """A superuser, which the embedded set-up connects as, is no exception."""
    token = await house.staff(Role.ADMIN)
    name = f"stranger_{uuid4().hex[:8]}"
    db = house.api.db
    await db.fetch(f"CREATE ROLE {name} LOGIN")
    stranger = await asyncpg.connect(db.dsn, user=name)
    try:
        own = await db.fetch("SELECT pid, backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
        foreign = await db.fetch("SELECT pid, backend_start FROM pg_stat_activity WHERE usename = $1", name)
        for row in (*own, *foreign):
            body = wire.OpsSessionEnd(backend_started_at=row["backend_start"], reason="mine?")
            answer = await house.api.call("POST", f"/v1/ops/sessions/{row['pid']}/end", body, token=token)
            problem(answer, wire.ErrorCode.FORBIDDEN)
        assert await stranger.fetchval("SELECT 1") == 1
    finally:
        await stranger.close()
        await db.fetch(f"DROP ROLE {name}")


WRONG_SESSIONS: tuple[tuple[str, str, str, str], ...] = (
    ("0", "2026-11-30T10:00:00Z", "x", "path:pid"),
    ("99999999999", "2026-11-30T10:00:00Z", "x", "path:pid"),
    ("7", "2026-11-30T10:00:00", "x", "/backend_started_at"),
    ("7", "2026-11-30T10:00:00Z", "", "/reason"),
    ("7", "2026-11-30T10:00:00Z", "a\u0000b", "/reason"),
)


async def test_what_names_no_session_is_refused_by_its_field(house: OpsHouse) -> None:
    token = await house.staff(Role.ADMIN)
    for pid, began, reason, pointer in WRONG_SESSIONS:
        body = {"backend_started_at": began, "reason": reason}
        answer = await house.api.call("POST", f"/v1/ops/sessions/{pid}/end", body, token=token)
        assert [field.pointer for field in problem(answer, wire.ErrorCode.INVALID_REQUEST).fields] == [pointer]
