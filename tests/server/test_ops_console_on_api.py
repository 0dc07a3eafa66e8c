"""The console's side of operations on real processes: feed, history, admission, a session ended, the log (R20, R32)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from app.actions.alarm_rules import read_last_change, read_quarter, set_rule
from app.actions.desk import Desk, Patience
from app.actions.follow_ops import fill_seconds, follow_ops, load_alarms, load_minutes, steady_now
from app.actions.sign_in import sign_in
from app.actions.steer_admission import change_admission, load_admission, preview_admission
from app.actions.steer_operations import end_session, load_log
from app.core.hold_clock import ServerClock
from app.core.ops_draft import AdmissionDraft
from app.core.ops_health import Health, state_of
from app.core.ops_waits import wait_rows
from app.core.rule_draft import RuleDraft, change_of
from app.core.store import ConsoleStore
from backend_client.client import BookingClient
from backend_client.errors import BookingRefusedError
from backend_client.feed import dial_websocket
from backend_client.ops_feed_state import OpsFeedState
from backend_client.steady_time import steady_seconds
from backend_client.wire import DeviceId, ErrorCode, EventId, OpsLogKind, OpsSessionOutcome
from booking.domain.caller import Role
from booking.services.sign_in import create_staff
from booking.store.database import Database
from tests.server.box_office import make_event
from tests.server.web_process import running
from tests.unit.counter import MemoryVault, open_journal

WITHIN_S = 30.0
PASSWORD = "a password of the tests"


async def until(true: Callable[[], object], what: str) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not true():
            await asyncio.sleep(0.02)
    assert true(), what


@asynccontextmanager
async def console_on(url: str, db: Database, folder: Path, role: Role) -> AsyncIterator[Desk]:
    """A desk on a real API, signed in."""
    await create_staff(db, "ops", "Olga Ops", role, PASSWORD)
    client = BookingClient(url, device_id=DeviceId(uuid4()))
    journal = open_journal(folder)
    desk = Desk(client, journal, ConsoleStore(ServerClock(steady_seconds)), MemoryVault(), patience=Patience())
    try:
        await sign_in(desk, "ops", PASSWORD)
        yield desk
    finally:
        await client.close()
        await journal.close()


@asynccontextmanager
async def following(desk: Desk) -> AsyncIterator[None]:
    task = asyncio.create_task(follow_ops(desk, dial_websocket), name="follow-ops")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.timeout(120)
async def test_an_evening_of_operations_on_real_processes(dsn: str, database: Database, tmp_path: Path) -> None:
    event_id = EventId(await make_event(database))
    (tmp_path / "journal").mkdir()
    (tmp_path / "processes").mkdir()
    async with (
        running("serve", "--dsn", dsn, folder=tmp_path / "processes") as api,
        console_on(api.url, database, tmp_path / "journal", Role.ADMIN) as desk,
        following(desk),
    ):
        board = desk.store.ops
        await until(lambda: len(board.house) >= 2, "figures by the second")
        assert board.state is OpsFeedState.LIVE
        assert board.event_id == event_id
        await until(lambda: board.event is not None and "seats_free" in board.event.figures, "the event's part")
        await load_alarms(desk)
        assert len(board.rules) > 10
        await until(lambda: state_of(board, steady_seconds()).health is Health.WELL, "calm")
        before = board.house.table()
        await fill_seconds(desk)
        assert set(before.times.round()) <= set(board.house.table().times.round())
        assert not board.history_trouble
        await load_minutes(desk, steady_now(desk) - 3_600, steady_now(desk))
        assert not board.history_trouble
        await _steer(desk)
        await _set_limit(desk)
        await _end_who_blocks(desk, dsn, event_id)
        await _look_once(desk, event_id)
        await load_log(desk)
        assert {entry.kind for entry in board.log} >= {OpsLogKind.SESSION, OpsLogKind.ADMISSION, OpsLogKind.ALARM}
        assert {entry.who for entry in board.log} >= {"Olga Ops"}


async def _steer(desk: Desk) -> None:
    """Look at what it does, set it, and be told when somebody else was faster."""
    board = desk.store.ops
    await load_admission(desk)
    assert board.control is not None
    settings = board.control.settings
    typed = AdmissionDraft(reason="The derby begins at eight")
    board.put_draft(typed.with_text("cap_per_minute", "900", settings))
    await preview_admission(desk)
    assert board.preview is not None, board.preview_trouble
    answer = await change_admission(desk)
    assert answer is not None
    assert answer.settings.cap_per_minute == 900
    assert board.draft.is_empty
    stale = settings
    board.put_draft(typed.with_text("cap_per_minute", "800", stale))
    assert board.draft.version == stale.version
    with pytest.raises(BookingRefusedError) as refused:
        await change_admission(desk)
    assert refused.value.problem.code is ErrorCode.SETTINGS_CHANGED
    assert board.theirs is not None
    assert board.draft.text("cap_per_minute") == "800"
    board.keep_mine()
    await change_admission(desk)
    assert board.control.settings.cap_per_minute == 800


async def _set_limit(desk: Desk) -> None:
    """Try a limit on what was measured, set it, be told when somebody else was faster, and who."""
    board = desk.store.ops
    rule = board.rule("locks-waiting")
    assert rule is not None
    assert rule.standard is not None
    quarter = await read_quarter(desk, rule.figure)
    assert len(quarter.columns[rule.figure]) >= 2
    mine = RuleDraft(rule).with_text("raise_at", "20")
    change = change_of(mine, "A big evening")
    assert change is not None
    answer = await set_rule(desk, rule.rule, change)
    assert (answer.version, answer.raise_at, answer.standard) == (rule.version + 1, 20.0, rule.standard)
    assert board.rule("locks-waiting") == answer
    with pytest.raises(BookingRefusedError) as refused:
        await set_rule(desk, rule.rule, msgspec.structs.replace(change, raise_at=30.0))
    assert refused.value.problem.code is ErrorCode.SETTINGS_CHANGED
    last = await read_last_change(desk, rule.rule)
    assert last is not None
    assert (last.who, last.reason) == ("Olga Ops", "A big evening")
    again = change_of(mine.over(answer).with_text("raise_at", "25"), "Bigger still")
    assert again is not None
    assert (await set_rule(desk, rule.rule, again)).raise_at == 25.0


async def _look_once(desk: Desk, event_id: EventId) -> None:
    """As a program does that follows no feed: the newest statement, and all changes of admission, a page at a time."""
    seen = desk.store.ops.figures
    assert seen is not None
    statement = await desk.client.ops_figures()
    assert statement.second >= seen.second
    assert event_id in {event.event_id for event in statement.events}
    newest = await desk.client.admission_changes(event_id, limit=1)
    assert newest.next is not None
    older = await desk.client.admission_changes(event_id, after=newest.next, limit=1)
    changes = (*newest.changes, *older.changes)
    assert older.next is None
    assert [one.numbers["cap_per_minute"] for one in changes] == [800, 900]
    assert {(one.by_name, one.words) for one in changes} == {("Olga Ops", "The derby begins at eight")}
    assert newest.changes[0].at > older.changes[0].at


async def _end_who_blocks(desk: Desk, dsn: str, event_id: EventId) -> None:
    """Two sessions of ours: one keeps seats locked, the other waits; the first one is ended."""
    board = desk.store.ops
    holder = await asyncpg.connect(dsn, server_settings={"application_name": "a forgotten psql"})
    waiter = await asyncpg.connect(dsn, server_settings={"application_name": "somebody who waits"})
    lock = "SELECT FROM seats WHERE event_id = $1 AND seat_no = 5 FOR UPDATE"
    try:
        await holder.execute("BEGIN")
        await holder.fetch(lock, event_id)
        waiting = asyncio.create_task(waiter.fetch(lock, event_id), name="waiting")
        await until(lambda: board.figures is not None and board.figures.lock_waits, "the wait")
        assert board.figures is not None
        (row,) = wait_rows(board.figures.lock_waits)
        assert (row.blocker.application, row.is_root) == ("a forgotten psql", True)
        asked = await desk.client.ops_lock_waits()
        assert (asked.total, [wait.waiting.application for wait in asked.lock_waits]) == (1, ["somebody who waits"])
        answer = await end_session(desk, row.blocker, "Nobody waits for it")
        assert answer.outcome is OpsSessionOutcome.ENDED
        await asyncio.wait_for(waiting, WITHIN_S)
        await until(lambda: board.figures is not None and not board.figures.lock_waits, "the end of the wait")
    finally:
        holder.terminate()
        waiter.terminate()
