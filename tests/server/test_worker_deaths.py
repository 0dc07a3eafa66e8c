"""Every worker dies at every statement, before the server has it or after it was answered; its heir ends the same way.

R40: what is done twice, or half, must not show. Short form: at each statement one of the two in turn; `--long`: both.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from booking.domain.errors import UnavailableError
from booking.domain.states import OperationKind
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_ledger import ChargeStatus
from booking.payments.sandbox_server import Sandbox
from booking.services import issue_tickets, retention, sequence_feed
from booking.services.expire_holds import CONSUMER as EXPIRY
from booking.services.expire_holds import ExpiryMessages
from booking.services.sweep_expired import sweep_once
from booking.store import database as database_module
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.server.box_office import Clock, Desk, count, fan, make_event, till
from tests.server.death_relay import Death, DeathRelay, death_relay

SEATS = 8
TTL_S = 300
DAY_S = 24 * 3600


@dataclass
class Stage:
    """The database itself, its clock, and the payment provider."""

    db: Database
    clock: Clock
    provider: SandboxProvider
    sandbox: Sandbox


@dataclass(frozen=True)
class Play:
    """What a worker finds (an event of its own each time), and what the worker does with it until nothing is left."""

    prepare: Callable[[Stage], Awaitable[int]]
    work: Callable[[Stage, Database], Awaitable[None]]


# ---------------------------------------------------------------- the workers


async def some_holds(stage: Stage) -> int:
    event_id = await make_event(stage.db, seats=SEATS)
    await Desk(stage.db, fan(), event_id).hold(0, 1)
    await Desk(stage.db, fan(), event_id).hold(2)
    await Desk(stage.db, till(), event_id).sell(3)
    return event_id


async def over_holds(stage: Stage) -> int:
    event_id = await some_holds(stage)
    await stage.clock.move(seconds=TTL_S + 1)
    return event_id


async def an_authorization(stage: Stage) -> int:
    event_id = await make_event(stage.db, seats=SEATS)
    buyer = Desk(stage.db, fan(), event_id)
    await buyer.pay(await buyer.check_out(await buyer.hold(0, 1)), OperationKind.AUTHORIZE)
    return event_id


async def old_rows(stage: Stage) -> int:
    event_id = await some_holds(stage)
    await sequence(stage, stage.db)
    await issue(stage, stage.db)
    await stage.db.fetch("DELETE FROM consumer_offsets WHERE consumer = $1", EXPIRY)
    await stage.clock.move(seconds=30 * DAY_S)
    return event_id


async def sequence(stage: Stage, db: Database) -> None:
    await sequence_feed.prepare(db)
    for _ in range(2):
        await sequence_feed.tick(db)


async def sweep(stage: Stage, db: Database) -> None:
    while await sweep_once(db):
        pass


async def deliver(stage: Stage, db: Database) -> None:
    messages = ExpiryMessages(db)
    await messages.prepare()
    await messages.step()


async def issue(stage: Stage, db: Database) -> None:
    await issue_tickets.prepare(db)
    await issue_tickets.issue_new(db)


async def forget(stage: Stage, db: Database) -> None:
    await retention.forget(db, batch=2)


async def settle(stage: Stage, db: Database) -> None:
    worker = PaymentWorker(db, {stage.provider.name: stage.provider})
    for _ in range(4):
        await stage.db.fetch(
            "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
        )
        if not await worker.work_once():
            return


PLAYS = {
    "sequencer": Play(over_holds, sequence),
    "sweeper": Play(over_holds, sweep),
    "expiry": Play(over_holds, deliver),
    "tickets": Play(some_holds, issue),
    "payments": Play(an_authorization, settle),
    "retention": Play(old_rows, forget),
}


# ---------------------------------------------------------------- the deaths


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def stage(sound_database: Database, clock: Clock) -> AsyncIterator[Stage]:
    sandbox = Sandbox()
    server = LoopbackServer(sandbox.handle)
    await server.start()
    provider = SandboxProvider(f"http://127.0.0.1:{server.port}")
    await sequence_feed.prepare(sound_database)
    await issue_tickets.prepare(sound_database)
    await ExpiryMessages(sound_database).prepare()
    yield Stage(sound_database, clock, provider, sandbox)
    await provider.close()
    await server.close()


async def outcome(stage: Stage, event_id: int) -> dict[str, Any]:
    """All that a worker may have changed about an event, without what differs from run to run (ids, times, batches)."""

    async def rows(query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await stage.db.fetch(query, event_id)]

    feed: dict[int, list[tuple[int, int]]] = {}
    for (body,) in await rows("SELECT body FROM seat_feed WHERE event_id = $1 ORDER BY version"):
        for word, version in np.frombuffer(body, "<u4").reshape(-1, 2).tolist():
            feed.setdefault(word >> 8, []).append((version, word & 0xFF))
    return {
        "seats": await rows("SELECT seat_no, status, version FROM seats WHERE event_id = $1 ORDER BY seat_no"),
        "holds": Counter(await rows("SELECT status FROM holds WHERE event_id = $1")),
        "orders": Counter(await rows("SELECT status FROM orders WHERE event_id = $1")),
        "operations": Counter(await rows("SELECT kind, status FROM payment_operations WHERE event_id = $1")),
        "tickets": Counter(await rows("SELECT seat_no, status FROM tickets WHERE event_id = $1")),
        "outbox": Counter(await rows("SELECT type FROM outbox WHERE event_id = $1")),
        "keys": Counter(
            await rows(
                "SELECT i.route FROM idempotency i JOIN orders o ON o.order_id IN (i.subject_id, i.result_id)"
                " WHERE o.event_id = $1"
            )
        ),
        "feed": feed,
    }


async def live(play: Play, stage: Stage, relay: DeathRelay, through: str, death: Death | None) -> tuple[int, bool]:
    """One life of a worker behind the relay. Returns how many statements it sent, and whether it was killed."""
    relay.begin(None)
    db = await Database.open(through, lanes=False, application="mortal")
    try:
        relay.begin(death)
        await play.work(stage, db)
    except UnavailableError:
        assert relay.is_dead
    finally:
        statements, died = relay.statements, relay.is_dead
        relay.kill()
        await db.close()
    return statements, died


async def until_the_server_noticed(db: Database) -> None:
    """What a dead client holds locked is locked until then, and workers skip it."""
    async with asyncio.timeout(60):
        while await count(db, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'mortal%'"):
            await asyncio.sleep(0.002)


async def heirs_end_alike(name: str, stage: Stage, through: tuple[DeathRelay, str], *, both_ways: bool) -> int:
    """Kill the worker at each of its statements and let an heir go on. Returns how many deaths that were."""
    play, (relay, dsn) = PLAYS[name], through
    undisturbed = await play.prepare(stage)
    statements, died = await live(play, stage, relay, dsn, None)
    assert not died
    assert statements > 2
    expected = await outcome(stage, undisturbed)
    deaths = 0
    ways = [(False, True)] if both_ways else [(False,), (True,)]
    for death in [Death(at, after) for at in range(1, statements + 1) for after in ways[at % len(ways)]]:
        event_id = await play.prepare(stage)
        _, died = await live(play, stage, relay, dsn, death)
        deaths += died
        await until_the_server_noticed(stage.db)
        await play.work(stage, stage.db)
        assert await outcome(stage, event_id) == expected, death
    return deaths


@pytest.fixture
def mortal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed does not connect again."""
    monkeypatch.setattr(database_module, "MAX_RECONNECTS", 0)


@pytest.mark.usefixtures("mortal")
@pytest.mark.parametrize("name", PLAYS)
async def test_r40_a_worker_that_dies_at_any_statement_leaves_nothing_half_and_nothing_twice(
    stage: Stage, dsn: str, short_folder: str, name: str, request: pytest.FixtureRequest
) -> None:
    async with death_relay(dsn, short_folder) as through:
        deaths = await heirs_end_alike(name, stage, through, both_ways=request.config.getoption("--long"))
    assert deaths >= 3
    charges = stage.sandbox.ledger.charges.values()
    assert {charge.status for charge in charges} == ({ChargeStatus.CAPTURED} if name == "payments" else set())
    if name == "payments":
        assert len(charges) == await count(stage.db, "SELECT count(*) FROM orders"), "each buyer was charged once"
