"""What the database forgets, and what it keeps (R6, R13): both sides of each window, with the movable clock."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from booking.domain import errors
from booking.domain.model import OperationResult, PaymentStep, ResultOutcome
from booking.domain.states import OperationKind
from booking.services import issue_tickets, retention, sequence_feed, sign_in
from booking.services.hold_seats import hold_seats, release_hold
from booking.services.print_tickets import open_print_job
from booking.services.retention import Retention, forget
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, till

DAY_S = 24 * 3600
KEYS = "SELECT count(*) FROM idempotency"
OUTBOX = "SELECT count(*) FROM outbox"


@pytest.fixture
async def desk(sound_database: Database, clock: Clock) -> Desk:
    return Desk(sound_database, till(), await make_event(sound_database))


async def print_once(desk: Desk, step: PaymentStep, key: str) -> tuple[UUID, bool]:
    """The print job of a key, and whether it is a replay."""
    ticket = (await desk.db.fetch("SELECT ticket_id FROM tickets ORDER BY seat_no"))[0]["ticket_id"]
    outcome = await open_print_job(desk.db, desk.caller, step.order.order_id, [ticket], "PDF", key=key, digest=b"d")
    return outcome.value.print_job_id, outcome.replayed


async def test_r6_a_key_is_replayed_until_its_window_is_over_and_then_it_is_a_new_request(
    desk: Desk, clock: Clock
) -> None:
    await issue_tickets.prepare(desk.db)
    step = await desk.sell(1)
    await issue_tickets.issue_new(desk.db)
    await clock.stand_at(await clock.now())
    job, _ = await print_once(desk, step, "one")

    await clock.move(seconds=DAY_S - 0.001)
    await forget(desk.db)
    assert await print_once(desk, step, "one") == (job, True)

    await clock.move(seconds=0.001)
    assert (await forget(desk.db))["keys"] > 0
    again, replayed = await print_once(desk, step, "one")
    assert (again == job, replayed) == (False, False)
    assert await count(desk.db, "SELECT count(*) FROM print_jobs") == 2


async def test_r6_a_forgotten_key_may_be_spent_on_something_else(desk: Desk, clock: Clock) -> None:
    caller = fan()
    first = await Desk(desk.db, caller, desk.event_id).hold(1)
    await release_hold(desk.db, caller, first.hold_id, key="one", digest=b"d")
    second = await Desk(desk.db, caller, desk.event_id).hold(2)
    await clock.move(seconds=DAY_S - 60)
    await forget(desk.db)
    with pytest.raises(errors.KeyReusedError):
        await release_hold(desk.db, caller, second.hold_id, key="one", digest=b"d")
    await clock.move(seconds=61)
    await forget(desk.db)
    outcome = await release_hold(desk.db, caller, second.hold_id, key="one", digest=b"d")
    assert (outcome.value.hold_id, outcome.replayed) == (second.hold_id, False)


async def test_r6_the_key_of_a_hold_is_its_row_and_is_never_forgotten(desk: Desk, clock: Clock) -> None:
    caller = fan()
    first = await hold_seats(desk.db, caller, desk.event_id, [1], key="one", digest=b"d")
    await clock.move(seconds=30 * DAY_S)
    await forget(desk.db)
    again = await hold_seats(desk.db, caller, desk.event_id, [1], key="one", digest=b"d")
    assert (again.replayed, again.value.hold_id) == (True, first.value.hold_id)


async def test_keys_of_an_order_stay_while_money_of_it_is_not_settled_and_a_window_beyond(
    desk: Desk, clock: Clock
) -> None:
    step = await desk.sell(1, kind=OperationKind.SALE)
    unknown = OperationResult(ResultOutcome.UNKNOWN, ADULT_PRICE)
    await reported(desk.db, desk.caller, step.operation.operation_id, unknown)
    keys = await count(desk.db, KEYS)
    assert keys == 3, "checkout, payment, report"
    await clock.move(seconds=30 * DAY_S)
    await forget(desk.db)
    assert await count(desk.db, KEYS) == keys

    succeeded = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE)
    await reported(desk.db, desk.caller, step.operation.operation_id, succeeded)
    await clock.move(seconds=DAY_S - 60)
    await forget(desk.db)
    assert await count(desk.db, KEYS) == keys + 1
    await clock.move(seconds=120)
    await forget(desk.db)
    assert await count(desk.db, KEYS) == 0


async def test_keys_of_an_order_with_an_open_item_stay(desk: Desk, clock: Clock) -> None:
    step = await desk.sell(1, kind=OperationKind.SALE)
    differs = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE - 1)
    await reported(desk.db, desk.caller, step.operation.operation_id, differs)
    await desk.db.fetch("UPDATE orders SET status = 'CANCELLED', ended_at = booking_now()")
    await clock.move(seconds=30 * DAY_S)
    await forget(desk.db)
    kept = await count(desk.db, KEYS)
    await desk.db.fetch("UPDATE orders SET status = 'RECONCILING', ended_at = NULL")
    assert kept == 3


async def test_all_keys_are_looked_at_in_small_stretches(desk: Desk, clock: Clock) -> None:
    await desk.db.fetch(
        "INSERT INTO idempotency (principal, route, key, request_digest, subject_id, result_id, created_at)"
        " SELECT 'fan:' || n % 7, 'release', n::text, 'd', gen_random_uuid(), gen_random_uuid(),"
        "        booking_now() - make_interval(hours => n % 2 * 25) FROM generate_series(1, 100) AS n"
    )
    gone = await forget(desk.db, batch=7)
    assert gone["keys"] == 50
    assert await count(desk.db, KEYS) == 50


async def test_a_key_that_somebody_holds_locked_is_left_for_the_next_time(desk: Desk, clock: Clock) -> None:
    caller = fan()
    held = await Desk(desk.db, caller, desk.event_id).hold(1)
    await release_hold(desk.db, caller, held.hold_id, key="one", digest=b"d")
    await clock.move(seconds=2 * DAY_S)
    async with desk.db.transaction() as rival:
        await rival.execute("SELECT FROM idempotency FOR UPDATE")
        async with asyncio.timeout(60):
            assert (await forget(desk.db))["keys"] == 0
    assert (await forget(desk.db))["keys"] == 1


# ---------------------------------------------------------------- the outbox and the feed


async def test_the_outbox_is_deleted_only_behind_every_consumer(desk: Desk, clock: Clock) -> None:
    await sequence_feed.prepare(desk.db)
    await desk.sell(1)
    await clock.move(seconds=8 * DAY_S)
    await sequence_feed.tick(desk.db)
    rows = await count(desk.db, OUTBOX)
    assert (await forget(desk.db))["outbox"] == 0, "the ticket issuer has no place yet"
    await issue_tickets.prepare(desk.db)
    assert (await forget(desk.db))["outbox"] == 0, "and now it has not read them"
    await issue_tickets.issue_new(desk.db)
    assert (await forget(desk.db, batch=1))["outbox"] == rows
    assert await count(desk.db, "SELECT count(*) FROM tickets") == 1


async def test_the_outbox_keeps_what_is_young_and_all_that_came_after_it(desk: Desk, clock: Clock) -> None:
    await sequence_feed.prepare(desk.db)
    await issue_tickets.prepare(desk.db)
    for seat in range(4):
        await desk.hold(seat)
        await clock.move(seconds=2 * DAY_S)
    await sequence_feed.tick(desk.db)
    await issue_tickets.issue_new(desk.db)
    assert (await forget(desk.db))["outbox"] == 1
    assert await count(desk.db, OUTBOX) == 3
    assert (await forget(desk.db, Retention(outbox=timedelta(days=5))))["outbox"] == 1


async def test_old_versions_of_the_feed_are_deleted_and_the_newer_ones_stay(desk: Desk, clock: Clock) -> None:
    await sequence_feed.prepare(desk.db)
    for seat in (1, 2):
        await desk.hold(seat)
        await sequence_feed.tick(desk.db)
        await clock.move(seconds=1_805)
    assert (await forget(desk.db))["seat_feed"] >= 1
    assert await count(desk.db, "SELECT min(version) FROM seat_feed") > 1
    await desk.hold(3)
    await sequence_feed.tick(desk.db)
    assert await count(desk.db, "SELECT max(version) FROM seat_feed") == await count(
        desk.db, "SELECT last_version FROM event_feed"
    )


# ---------------------------------------------------------------- sign-ins


async def test_refresh_tokens_go_a_day_after_their_session_and_not_before(desk: Desk, clock: Clock) -> None:
    name, device_id = f"clerk-{uuid4()}", uuid4()
    await sign_in.create_staff(desk.db, name, "A clerk", till().role, "a password of the tests")
    tokens = await sign_in.login(desk.db, name, "a password of the tests", device_id, "Till")
    tokens = await sign_in.refresh(desk.db, tokens.refresh_token, device_id)
    await clock.move(seconds=sign_in.SESSION_LIFE.total_seconds() + DAY_S - 60)
    assert (await forget(desk.db))["tokens"] == 0
    await clock.move(seconds=120)
    assert (await forget(desk.db))["tokens"] == 2
    with pytest.raises(errors.BookingError):
        await sign_in.refresh(desk.db, tokens.refresh_token, device_id)


async def test_failed_sign_ins_are_forgotten_after_a_day(desk: Desk, clock: Clock) -> None:
    with pytest.raises(errors.BookingError):
        await sign_in.login(desk.db, "nobody", "wrong", uuid4(), "Till")
    await clock.move(seconds=DAY_S - 60)
    assert (await forget(desk.db))["login_attempts"] == 0
    await clock.move(seconds=120)
    assert (await forget(desk.db))["login_attempts"] == 1


# ---------------------------------------------------------------- the worker


async def test_two_at_once_delete_everything_once(desk: Desk, clock: Clock, other_database: Database) -> None:
    await sequence_feed.prepare(desk.db)
    await issue_tickets.prepare(desk.db)
    for seat in range(30):
        await Desk(desk.db, fan(), desk.event_id).hold(seat)
    await sequence_feed.tick(desk.db)
    await issue_tickets.issue_new(desk.db)
    await clock.move(seconds=30 * DAY_S)
    both = await asyncio.gather(forget(desk.db, batch=3), forget(other_database, batch=3))
    assert sum(gone["outbox"] for gone in both) == 30
    assert await count(desk.db, OUTBOX) == 0


async def test_the_worker_goes_on_by_itself(desk: Desk, clock: Clock) -> None:
    await desk.db.fetch(
        "INSERT INTO login_attempts VALUES ('x', gen_random_uuid(), 1, booking_now() - interval '2 days')"
    )
    worker = asyncio.create_task(retention.run(desk.db, every_s=0.01), name="retention")
    try:
        async with asyncio.timeout(60):
            while await count(desk.db, "SELECT count(*) FROM login_attempts"):
                await asyncio.sleep(0.01)
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    assert worker.cancelled()


async def test_minutes_of_figures_and_alarms_that_ended_go_and_open_alarms_stay(desk: Desk, clock: Clock) -> None:
    await desk.db.fetch(
        "INSERT INTO figures_minutes SELECT 0, date_trunc('minute', booking_now(), 'UTC') - d * interval '1 day', ''"
        " FROM generate_series(0, 99, 33) AS d"
    )
    await desk.db.fetch(
        "INSERT INTO alarms (alarm_id, rule, figure, severity, raised_at, value, worst, raise_at, clear_at, cleared_at)"
        " SELECT gen_random_uuid(), r, 'lock_waits', 'warning', booking_now() - interval '500 days', 1, 1, 1, 0,"
        " CASE r WHEN 'over' THEN booking_now() END FROM unnest('{over,open}'::text[]) AS r"
    )
    gone = await forget(desk.db, batch=1)
    assert (gone["figures"], gone["alarms"]) == (1, 1)
    assert [row["rule"] for row in await desk.db.fetch("SELECT rule FROM alarms")] == ["open"]
    await clock.move(seconds=90 * 86_400)
    assert (await forget(desk.db))["figures"] == 3
