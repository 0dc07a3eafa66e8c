"""The sweeper and the ticket issuer: R5, R7, R24, R28, B10, B13, B14."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from asyncpg import exceptions

from booking.domain.errors import InvalidRequestError
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import HoldStatus, OperationKind, OrderStatus
from booking.services import issue_tickets, sweep_expired
from booking.services.hold_seats import read_hold
from booking.services.issue_tickets import issue_for, issue_new, ticket_code
from booking.services.orders import read_order
from booking.services.sweep_expired import sweep_once
from booking.store import issue_queries
from booking.store.connection import Connection
from booking.store.database import Database
from booking.store.issue_queries import NewTicket
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, seat_states, till

TTL_S, GRACE_S = 300, 120


@pytest.fixture
async def event_id(database: Database, clock: Clock) -> int:
    return await make_event(database)


@pytest.fixture
def desk(database: Database, event_id: int) -> Desk:
    return Desk(database, till(), event_id)


async def state(db: Database, event_id: int, seat: int) -> int:
    return (await seat_states(db, event_id))[seat][0]


async def last_told(db: Database) -> tuple[str, list[int]]:
    (row,) = await db.fetch("SELECT type, seats FROM outbox ORDER BY id DESC LIMIT 1")
    return row["type"], row["seats"]


# ---------------------------------------------------------------- the sweeper


async def test_r5_an_expired_hold_is_ended_its_seats_are_free_and_every_map_is_told(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1, 2)
    await clock.stand_at(held.expires_at)
    assert await sweep_once(desk.db) == 1
    assert [await state(desk.db, desk.event_id, seat) for seat in (1, 2)] == [0, 0]
    assert await last_told(desk.db) == ("seats-released", [1, 2])
    ended = await desk.db.fetch("SELECT status FROM holds")
    assert ended[0]["status"] == HoldStatus.EXPIRED
    assert await sweep_once(desk.db) == 0


async def test_r4_a_hold_is_left_alone_until_the_exact_instant(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1)
    await clock.stand_at(held.expires_at - timedelta(microseconds=1))
    assert await sweep_once(desk.db) == 0
    assert await state(desk.db, desk.event_id, 1) == 1


async def test_b10_the_end_of_an_old_hold_touches_no_seat_of_a_newer_one(
    desk: Desk, clock: Clock, event_id: int
) -> None:
    await desk.hold(1, 2)
    await clock.move(seconds=TTL_S + 1)
    newer = await Desk(desk.db, fan(), event_id).hold(2, 3)
    assert await sweep_once(desk.db) == 1
    states = await seat_states(desk.db, event_id)
    assert (states[1][0], states[2][:2], states[3][:2]) == (0, (1, newer.hold_id), (1, newer.hold_id))


async def test_what_somebody_else_holds_locked_is_left_for_the_next_time(
    desk: Desk, clock: Clock, event_id: int
) -> None:
    await desk.hold(1)
    await desk.hold(2)
    await clock.move(seconds=TTL_S + 1)
    async with desk.db.transaction() as other:
        await other.execute("SELECT FROM seats WHERE event_id = $1 AND seat_no = 1 FOR UPDATE", event_id)
        async with asyncio.timeout(60):
            assert await sweep_once(desk.db) == 1
        assert await state(desk.db, event_id, 2) == 0
    assert await sweep_once(desk.db) == 1


async def test_two_sweepers_at_once_end_each_hold_once(desk: Desk, clock: Clock, event_id: int) -> None:
    for seat in range(20):
        await Desk(desk.db, fan(), event_id).hold(seat)
    await clock.move(seconds=TTL_S + 1)
    ended = await asyncio.gather(*(sweep_once(desk.db) for _ in range(4)))
    ended.append(await sweep_once(desk.db))
    assert sum(ended) == 20
    assert await count(desk.db, "SELECT count(*) FROM outbox WHERE type = 'seats-released'") == 20


async def test_r7_an_order_that_nobody_pays_ends_after_grace_and_not_before(desk: Desk, clock: Clock) -> None:
    order = await desk.check_out(await desk.hold(1))
    assert order.pay_until is not None
    await clock.move(seconds=TTL_S - 5)
    assert await sweep_once(desk.db) == 0
    await clock.stand_at(order.pay_until)
    assert await sweep_once(desk.db) == 1
    assert (await read_order(desk.db, desk.caller, order.order_id)).status is OrderStatus.EXPIRED
    assert (await read_hold(desk.db, desk.caller, order.hold_ids[0])).status is HoldStatus.EXPIRED
    assert await state(desk.db, desk.event_id, 1) == 0


@pytest.mark.parametrize("unknown", [False, True])
async def test_r24_seats_whose_payment_runs_or_is_not_known_are_kept_after_grace(
    desk: Desk, clock: Clock, unknown: bool
) -> None:
    step = await desk.sell(1, kind=OperationKind.SALE)
    if unknown:
        result = OperationResult(ResultOutcome.UNKNOWN, ADULT_PRICE)
        await reported(desk.db, desk.caller, step.operation.operation_id, result)
    await clock.move(seconds=TTL_S + GRACE_S + 1000)
    assert await sweep_once(desk.db) == 0
    assert await state(desk.db, desk.event_id, 1) == 2


async def test_an_order_with_another_amount_booked_keeps_its_seats_until_somebody_settled_it(
    desk: Desk, clock: Clock
) -> None:
    step = await desk.sell(1, kind=OperationKind.SALE)
    result = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE - 1)
    await reported(desk.db, desk.caller, step.operation.operation_id, result)
    await clock.move(seconds=TTL_S + GRACE_S + 1000)
    await sweep_once(desk.db)
    order = await read_order(desk.db, desk.caller, step.order.order_id)
    assert (order.status, await state(desk.db, desk.event_id, 1)) == (OrderStatus.RECONCILING, 2)


async def test_a_declined_order_whose_time_runs_out_ends_with_its_hold(desk: Desk, clock: Clock) -> None:
    step = await desk.sell(1, kind=OperationKind.SALE)
    declined = OperationResult(ResultOutcome.DECLINED, ADULT_PRICE)
    await reported(desk.db, desk.caller, step.operation.operation_id, declined)
    assert await state(desk.db, desk.event_id, 1) == 1
    await clock.move(seconds=TTL_S + GRACE_S)
    assert await sweep_once(desk.db) == 1
    assert (await read_order(desk.db, desk.caller, step.order.order_id)).status is OrderStatus.EXPIRED
    assert await state(desk.db, desk.event_id, 1) == 0


async def test_a_sold_seat_is_never_swept(desk: Desk, clock: Clock) -> None:
    await desk.sell(1)
    await clock.move(seconds=10_000)
    assert await sweep_once(desk.db) == 0
    assert await state(desk.db, desk.event_id, 1) == 3


async def test_the_sweeper_goes_on_by_itself(desk: Desk, clock: Clock) -> None:
    await desk.hold(1)
    await clock.move(seconds=TTL_S + 1)
    sweeper = asyncio.create_task(sweep_expired.run(desk.db, tick_s=0.01))
    async with asyncio.timeout(60):
        while await state(desk.db, desk.event_id, 1):
            await asyncio.sleep(0.01)
    sweeper.cancel()
    await asyncio.gather(sweeper, return_exceptions=True)


# ---------------------------------------------------------------- tickets


async def codes_of(db: Database) -> list[str]:
    return [row["code"] for row in await db.fetch("SELECT code FROM tickets ORDER BY seat_no")]


async def test_r28_tickets_come_from_the_confirmation_one_a_seat(desk: Desk) -> None:
    await issue_tickets.prepare(desk.db)
    await desk.sell(1, 2, 3)
    await desk.check_out(await desk.hold(4))
    assert await issue_new(desk.db) == 3
    assert await issue_new(desk.db) == 0
    assert len(set(await codes_of(desk.db))) == 3


async def test_b14_an_issuer_that_dies_before_it_moves_its_cursor_issues_nothing_twice(desk: Desk) -> None:
    await issue_tickets.prepare(desk.db)
    step = await desk.sell(1, 2)
    assert await issue_for(desk.db, [step.order.order_id]) == 2
    before = await codes_of(desk.db)
    assert await issue_new(desk.db) == 0
    assert await codes_of(desk.db) == before


async def test_issuers_at_once_issue_each_ticket_once(desk: Desk, event_id: int) -> None:
    await issue_tickets.prepare(desk.db)
    for seat in range(10):
        await Desk(desk.db, till(), event_id).sell(seat)
    issued = await asyncio.gather(*(issue_new(desk.db) for _ in range(4)))
    assert sum(issued) == 10
    assert await count(desk.db, "SELECT count(*) FROM tickets") == 10


@pytest.mark.usefixtures("breaks_rules")
async def test_a_ticket_that_was_made_void_is_not_issued_again_for_a_line_that_is_not_valid(desk: Desk) -> None:
    await issue_tickets.prepare(desk.db)
    step = await desk.sell(1, 2)
    await issue_new(desk.db)
    await desk.db.fetch("UPDATE order_seats SET valid = false WHERE seat_no = 1")
    await desk.db.fetch("UPDATE tickets SET status = 'VOID' WHERE seat_no = 1")
    assert await issue_for(desk.db, [step.order.order_id]) == 0


@pytest.mark.parametrize(
    "fault",
    [
        exceptions.DiskFullError("could not extend file"),
        exceptions.IndexCorruptedError("index contains unexpected zero page"),
        exceptions.InsufficientPrivilegeError("permission denied for table tickets"),
        exceptions.InternalServerError("unexpected"),
        RuntimeError("a mistake of ours"),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_what_ails_the_database_is_no_orders_fault_and_passes_nobody_over(
    desk: Desk, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    await issue_tickets.prepare(desk.db)
    await desk.sell(1, 2)
    await desk.sell(3)

    async def refuse(*_: object) -> int:
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(issue_queries, "insert_tickets", refuse)
        with pytest.raises(type(fault)):
            await issue_new(desk.db)
    assert await issue_new(desk.db) == 3


@pytest.mark.parametrize(
    "fault",
    [
        exceptions.CheckViolationError("new row violates a check"),
        exceptions.NumericValueOutOfRangeError("integer out of range"),
        InvalidRequestError("A text holds a character that cannot be stored."),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_p32_what_is_wrong_with_one_order_keeps_no_other_waiting(
    desk: Desk, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    await issue_tickets.prepare(desk.db)
    bad = (await desk.sell(1, 2)).order.order_id
    await desk.sell(3)
    insert = issue_queries.insert_tickets

    async def refuse(connection: Connection, tickets: Sequence[NewTicket]) -> int:
        if any(ticket.line.order_id == bad for ticket in tickets):
            raise fault
        return await insert(connection, tickets)

    with monkeypatch.context() as patch:
        patch.setattr(issue_queries, "insert_tickets", refuse)
        assert await issue_new(desk.db) == 1
    assert await issue_for(desk.db, [bad]) == 2


async def test_a_backlog_from_before_the_first_issuer_is_worked_off(desk: Desk, event_id: int) -> None:
    for seat in range(5):
        await Desk(desk.db, till(), event_id).sell(seat)
    issuer = asyncio.create_task(issue_tickets.run(desk.db, tick_s=0.01))
    async with asyncio.timeout(60):
        while await count(desk.db, "SELECT count(*) FROM tickets") < 5:
            await asyncio.sleep(0.01)
    issuer.cancel()
    await asyncio.gather(issuer, return_exceptions=True)


def test_a_ticket_code_is_80_random_bits_in_letters_that_cannot_be_mistaken() -> None:
    codes = {ticket_code() for _ in range(1000)}
    assert len(codes) == 1000
    shape = re.compile(r"T(-[0-9A-HJKMNP-TV-Z]{4}){4}")
    assert all(shape.fullmatch(code) for code in codes)
    assert len({symbol for code in codes for symbol in code[2:]} - {"-"}) == 32
