"""What each worker has before it: backlog and the oldest item, from the database, whoever is stopped (R32, R42)."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import Namespace
from pathlib import Path

import msgspec
import pytest

from booking import sql
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.services import issue_tickets, sequence_feed, worker_figures
from booking.services.expire_holds import ExpiryMessages
from booking.services.worker_figures import WorkerFigures, figures
from booking.store.database import Database
from booking.workers import work
from tests.server.box_office import Clock, Desk, fan, make_event, reported, till

TTL_S = 300


@pytest.fixture
async def desk(sound_database: Database, clock: Clock) -> Desk:
    await sequence_feed.prepare(sound_database)
    await issue_tickets.prepare(sound_database)
    await ExpiryMessages(sound_database).prepare()
    return Desk(sound_database, till(), await make_event(sound_database))


async def of(db: Database, worker: str) -> WorkerFigures:
    return next(found for found in await figures(db) if found.worker == worker)


async def test_every_worker_is_there_and_has_nothing_before_it(desk: Desk) -> None:
    found = {each.worker: (each.backlog, each.oldest_s) for each in await figures(desk.db)}
    names = ("hold-expiry", "payments", "retention", "sequencer", "sweeper", "ticket-issuer", "webhooks")
    assert found == dict.fromkeys(names, (0, None))


async def test_a_reader_of_the_outbox_has_what_it_has_not_read_and_since_when(desk: Desk, clock: Clock) -> None:
    await clock.stand_at(await clock.now())
    await desk.hold(1)
    await clock.move(seconds=5)
    await desk.hold(2)
    for worker in ("sequencer", "ticket-issuer"):
        found = await of(desk.db, worker)
        assert (found.backlog, found.oldest_s) == (2, 5)
    await sequence_feed.tick(desk.db)
    assert (await of(desk.db, "sequencer")).backlog == 0
    assert (await of(desk.db, "ticket-issuer")).backlog == 2


async def test_overdue_holds_are_the_sweepers_and_the_expiry_messages(desk: Desk, clock: Clock) -> None:
    first = await desk.hold(1)
    step = await desk.sell(2, kind=OperationKind.SALE)
    await reported(desk.db, desk.caller, step.operation.operation_id, OperationResult(ResultOutcome.UNKNOWN, 0))
    await clock.stand_at(first.expires_at)
    await clock.move(seconds=TTL_S)
    assert [(await of(desk.db, name)).backlog for name in ("hold-expiry", "sweeper")] == [1, 2]
    assert (await of(desk.db, "hold-expiry")).oldest_s == TTL_S
    await desk.db.fetch("SELECT sweep_expired(10)")
    assert [(await of(desk.db, name)).backlog for name in ("hold-expiry", "sweeper")] == [0, 1], "R24 keeps it"


async def test_payments_that_are_due_are_counted_with_the_oldest(desk: Desk, clock: Clock) -> None:
    buyer = Desk(desk.db, fan(), desk.event_id)
    await buyer.pay(await buyer.check_out(await buyer.hold(1)), OperationKind.AUTHORIZE)
    await clock.move(seconds=60)
    found = await of(desk.db, "payments")
    assert found.backlog == 1
    assert found.oldest_s is not None
    assert 50 < found.oldest_s < 70


async def test_the_sequencers_last_sign_of_life_is_its_heartbeat(desk: Desk, clock: Clock) -> None:
    await desk.db.fetch("INSERT INTO feed_heartbeat VALUES (true, booking_now())")
    await clock.move(seconds=30)
    seen = (await of(desk.db, "sequencer")).seen_s
    assert seen is not None
    assert 29 < seen < 40


async def test_work_logs_the_figures(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    await desk.hold(1)
    with caplog.at_level(logging.INFO, worker_figures.__name__):
        logging_task = asyncio.create_task(worker_figures.log_figures(desk.db, every_s=0.01), name="figures")
        async with asyncio.timeout(60):
            while not caplog.messages:
                await asyncio.sleep(0.01)
        logging_task.cancel()
        await asyncio.gather(logging_task, return_exceptions=True)
    assert "sequencer 1, oldest 0." in caplog.messages[0]


async def test_work_figures_prints_json_and_ends(desk: Desk, dsn: str) -> None:
    await desk.hold(1)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", "work", "--dsn", dsn, "--figures", stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    found = msgspec.json.decode(printed, type=list[WorkerFigures])
    assert {each.worker: each.backlog for each in found}["sequencer"] == 1


def test_nobody_at_the_dsn_is_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert work.main(["--figures", "--dsn", f"postgresql://nobody@/none?host={tmp_path}"]) == 3
    assert "taquilla work" in capsys.readouterr().err


async def test_all_tasks_have_their_names_and_payments_need_a_provider(database: Database) -> None:
    with_sandbox = Namespace(sandbox_url="http://127.0.0.1:1", provider=[])
    assert tuple(work.tasks_of(database, work.TASKS, with_sandbox)) == work.TASKS
    assert "payments" not in work.tasks_of(database, work.TASKS, None)
    assert tuple(work.tasks_of(database, ["expiry"], None)) == ("expiry",)


@pytest.mark.parametrize("name", ["is_tick_due", "is_anything_new"])
async def test_a_look_for_news_that_finds_none_does_not_read_the_whole_outbox(database: Database, name: str) -> None:
    """It runs fifty times a second: planned as a scan it cost 80 ms at 200,000 rows, in place of 0.1."""
    await sequence_feed.prepare(database)
    await database.fetch(
        "INSERT INTO outbox (event_id, type, aggregate_id, created_at)"
        " SELECT 1, 'x', gen_random_uuid(), booking_now() FROM generate_series(1, 5000)"
    )
    await sequence_feed.tick(database)
    async with database.transaction() as connection:
        await connection.execute("ANALYZE outbox, holds, consumer_offsets")
        look = sql.query(name).replace("$1", "'sequencer'")
        plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {look}"))
    assert "outbox_xid" in plan
    assert "Seq Scan on outbox" not in plan
