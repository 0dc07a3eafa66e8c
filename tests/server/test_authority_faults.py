"""Faults: locks that are kept, connections that die in COMMIT, deadlocks, an authority that is away (B21, G4–G8)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import asyncpg
import pytest

from booking import sql
from booking.domain import errors
from booking.domain.model import CheckoutLine, PaymentIntent
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats
from booking.services.orders import cancel_order
from booking.services.take_payment import open_payment
from booking.store.connection import ANSWER_LIMITS, JOB_LIMITS, LANE_LIMITS, SALE_LIMITS
from booking.store.database import MAX_REPEATS, PULSE_S, Database
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, fan, make_event, till
from tests.server.postgres_proxy import Cut, Relay, relay

ANSWER_S = 8.0
"""Two seconds by our limits, and what a busy machine adds; the locks are kept for longer."""


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def relayed(dsn: str, short_folder: str) -> AsyncIterator[tuple[Relay, Database]]:
    async with relay(dsn, short_folder) as (relaying, through):
        db = await Database.open(through)
        yield relaying, db
        await db.close()


@pytest.fixture
async def kept_lock(dsn: str) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Another session that locks rows and sits on them."""
    connection = await asyncpg.connect(dsn)
    transaction = connection.transaction()
    await transaction.start()

    async def lock(query: str) -> None:
        await connection.fetch(query)

    yield lock
    await transaction.rollback()
    await connection.close()


# ---------------------------------------------------------------- B21


async def test_b21_a_kept_seat_lock_is_busy_within_two_seconds_and_nobody_elses_trouble(
    sound_database: Database, kept_lock: Callable[[str], Awaitable[None]]
) -> None:
    event = await make_event(sound_database)
    await Desk(sound_database, till(), event).hold(20)  # connections are open
    await kept_lock(f"SELECT FROM seats WHERE event_id = {event} AND seat_no = 1 FOR UPDATE")

    async def timed(desk: Desk, *seats: int) -> tuple[float, Any]:
        start = monotonic()
        try:
            answer: Any = await desk.hold(*seats)
        except errors.BookingError as error:
            answer = error
        return monotonic() - start, answer

    stuck = [asyncio.create_task(timed(Desk(sound_database, fan(), event), 1, 2 + n)) for n in range(3)]
    await asyncio.sleep(0)
    free = await asyncio.gather(*(timed(Desk(sound_database, fan(), event), 10 + n) for n in range(6)))
    results = await asyncio.gather(*stuck)

    for seconds, answer in results:
        assert isinstance(answer, errors.BusyError)
        assert answer.retry_after_s == 1
        assert seconds < ANSWER_S
    assert all(not isinstance(answer, errors.BookingError) for _, answer in free)
    assert max(seconds for seconds, _ in free) < max(seconds for seconds, _ in results)


def test_b21_the_limits_of_whoever_waits_sum_to_two_seconds() -> None:
    """A step that met a lock in a lane and waits for it once more, alone; a question at the other end of a call."""
    assert LANE_LIMITS.lock_ms + SALE_LIMITS.statement_ms <= 2_000
    assert ANSWER_LIMITS.transaction_ms <= 2_000
    assert PULSE_S <= 2.0


async def test_b21_every_sale_step_gives_a_lock_up(
    sound_database: Database, kept_lock: Callable[[str], Awaitable[None]]
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    hold = await desk.hold(2)
    await kept_lock(f"SELECT FROM seats WHERE event_id = {event} AND seat_no IN (1, 2) FOR UPDATE")
    steps = (
        lambda: desk.check_out(hold),
        lambda: desk.pay(order, OperationKind.CASH),
        lambda: cancel_order(sound_database, desk.caller, order.order_id, "why", False),
    )

    async def timed(step: Callable[[], Awaitable[Any]]) -> float:
        start = monotonic()
        with pytest.raises(errors.BusyError):
            await step()
        return monotonic() - start

    assert max(await asyncio.gather(*map(timed, steps))) < ANSWER_S


# ---------------------------------------------------------------- G5


@pytest.mark.parametrize("after_the_answer", [False, True], ids=["before commit", "after commit"])
async def test_g5_a_connection_lost_in_a_holds_commit_is_looked_up_by_key(
    sound_database: Database, relayed: tuple[Relay, Database], after_the_answer: bool
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    caller = fan()
    relaying.cut = Cut(b"cut-this-key", after_the_answer)

    outcome = await hold_seats(db, caller, event, [1, 2], key="cut-this-key", digest=b"d")

    assert relaying.cut.done == 1
    assert not outcome.replayed
    again = await hold_seats(db, caller, event, [1, 2], key="cut-this-key", digest=b"d")
    assert again.replayed
    assert again.value.hold_id == outcome.value.hold_id
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1
    assert await count(sound_database, "SELECT count(*) FROM outbox") == 1


async def test_g5_a_lost_batch_loses_none_of_its_requests(
    sound_database: Database, relayed: tuple[Relay, Database]
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    relaying.cut = Cut(b"cut-this-key", after_the_answer=True)
    calls = [hold_seats(db, fan(), event, [n], key=f"cut-this-key-{n}", digest=b"d") for n in range(20)]
    outcomes = await asyncio.gather(*calls)
    assert relaying.cut.done == 1
    assert len({outcome.value.hold_id for outcome in outcomes}) == 20
    assert await count(sound_database, "SELECT count(*) FROM holds") == 20


@pytest.mark.parametrize("after_the_answer", [False, True], ids=["before commit", "after commit"])
async def test_g5_checkout_and_payment_lost_in_commit_happen_once(
    sound_database: Database, relayed: tuple[Relay, Database], after_the_answer: bool
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    desk = Desk(db, till(), event)
    hold = await desk.hold(1)
    relaying.cut = Cut(b"cut-this-key", after_the_answer, times=2)
    order = (
        await check_out(
            db, desk.caller, hold.hold_id, [CheckoutLine(1, ADULT)], ADULT_PRICE, key="cut-this-key", digest=b"d"
        )
    ).value
    assert relaying.cut.done == 2

    relaying.cut = Cut(b"cut-that-key", after_the_answer)
    intent = PaymentIntent(OperationKind.CASH, "drawer", ADULT_PRICE, ADULT_PRICE)
    step = (await open_payment(db, desk.caller, order.order_id, intent, key="cut-that-key", digest=b"d")).value
    assert relaying.cut.done == 1
    assert step.order.status == "CONFIRMED"
    for table in ("orders", "payment_operations"):
        assert await count(sound_database, f"SELECT count(*) FROM {table}") == 1
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'order-confirmed'") == 1


async def test_when_the_connection_keeps_dying_the_authority_is_away_and_the_key_tells_later(
    sound_database: Database, relayed: tuple[Relay, Database]
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    caller = fan()
    relaying.cut = Cut(b"cut-this-key", after_the_answer=True, times=100)
    with pytest.raises(errors.AuthorityAwayError) as away:
        await hold_seats(db, caller, event, [1], key="cut-this-key", digest=b"d")
    assert away.value.retry_after_s == 3
    relaying.cut = None
    outcome = await hold_seats(db, caller, event, [1], key="cut-this-key", digest=b"d")
    assert outcome.replayed
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1


async def test_nobody_at_the_other_end_is_authority_away_and_stock_is_not_guessed(
    sound_database: Database, relayed: tuple[Relay, Database], short_folder: str
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    relaying.away = True
    await sound_database.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'taquilla%'"
        " AND datname = current_database()"
    )
    for call in (
        hold_seats(db, fan(), event, [1], key="k", digest=b"d"),
        db.fetch("SELECT 1"),
        Database.open(db.dsn),
        Database.open(f"postgresql://taquilla@/x?host={short_folder}/nowhere"),
    ):
        with pytest.raises(errors.AuthorityAwayError):
            await call
    relaying.away = False
    assert (await hold_seats(db, fan(), event, [1], key="k", digest=b"d")).value.status == "HELD"


async def test_terminated_sessions_are_replaced(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    await desk.sell(1)
    await database.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert (await desk.sell(2)).order.status == "CONFIRMED"


# ---------------------------------------------------------------- G6


@pytest.mark.parametrize("state", ["40001", "40P01"], ids=["serialization", "deadlock"])
async def test_g6_what_may_repeat_repeats_the_whole_call_with_a_cap(database: Database, state: str) -> None:
    async with database.transaction() as connection:
        await connection.execute(
            "CREATE SEQUENCE tries;"
            "CREATE FUNCTION fail_until(p_good bigint) RETURNS bigint LANGUAGE plpgsql AS $$"
            " DECLARE v bigint := nextval('tries'); BEGIN IF v < p_good THEN"
            f" RAISE EXCEPTION 'again' USING ERRCODE = '{state}'; END IF; RETURN v; END $$"
        )
    assert (await database.call("SELECT fail_until(4) AS tries"))[0]["tries"] == 4
    with pytest.raises(errors.BusyError):
        await database.call("SELECT fail_until(1000)")
    assert await count(database, "SELECT last_value FROM tries") == 4 + 1 + MAX_REPEATS


async def test_a_statement_that_takes_too_long_is_busy(database: Database) -> None:
    with pytest.raises(errors.BusyError):
        await database.call("SELECT pg_sleep(5)")


async def test_a_mistake_of_ours_is_not_dressed_up(database: Database) -> None:
    with pytest.raises(asyncpg.UndefinedTableError):
        await database.call("SELECT * FROM no_such_table")


# ---------------------------------------------------------------- G4, G8, limits of sessions


async def test_g4_no_advisory_lock_outlives_its_transaction(sound_database: Database) -> None:
    event = await make_event(sound_database)
    await Desk(sound_database, till(), event).sell(1)
    assert await count(sound_database, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
    texts = [file.text for file in (*sql.functions(), *sql.migrations())]
    root = Path(sql.__file__).parents[1]
    # The lab takes one over a whole run, on a connection of its own, in a database that nothing is sold from.
    texts += [path.read_text("utf-8") for path in root.rglob("*.py") if path.parent.name != "lab"]
    texts += [path.read_text("utf-8") for path in root.rglob("queries/*.sql")]
    session_locks = ("pg_advisory_lock", "pg_try_advisory_lock")
    assert not [text[:80] for text in texts if any(word in text for word in session_locks)]


async def test_g8_what_slips_through_is_an_invalid_request_not_a_crash(database: Database) -> None:
    for text in ("a\x00b", "a\ud800b"):
        with pytest.raises(errors.InvalidRequestError):
            await database.call("SELECT $1::text", text)


async def test_sessions_carry_their_limits(database: Database) -> None:
    async def limits(fetch: Callable[[str], Awaitable[Any]]) -> list[str]:
        rows = await fetch(
            "SELECT setting FROM unnest(ARRAY['lock_timeout', 'statement_timeout',"
            " 'idle_in_transaction_session_timeout', 'transaction_timeout']) WITH ORDINALITY AS n (name, ord)"
            " JOIN pg_settings USING (name) ORDER BY ord"
        )
        return [row["setting"] for row in rows]

    assert await limits(database._fetch_on_lane) == ["250", "1000", "2000", "5000"]
    assert await limits(database.call) == ["1000", "1500", "2000", "5000"]
    async with database.transaction(JOB_LIMITS) as connection:
        assert await limits(connection.fetch) == ["10000", "300000", "60000", "600000"]
    assert await limits(database.fetch) == ["2000", "10000", "5000", "15000"]
