"""Refunds side by side, lost answers, deaths between the steps: the money goes back once (R25; P18, P19, G5)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar
from uuid import UUID, uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.errors import BookingError
from booking.domain.model import CheckoutLine
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, TicketStatus
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_faults import Fault, Planned
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_server import Sandbox
from booking.services import drive_operation, issue_tickets
from booking.services.check_out import check_out
from booking.services.print_tickets import open_print_job
from booking.store import issue_queries
from booking.store.database import Database
from booking.store.issue_queries import Line, NewTicket
from booking.workers.payment_worker import PaymentWorker
from tests.payments_lab.haste import haste
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, fan, make_event, till
from tests.server.postgres_proxy import Cut, Relay, relay
from tests.server.refund_desk import call_off, captured, issued, items, order_now, provider_says, refund

AUTHORIZE, CASH = OperationKind.AUTHORIZE, OperationKind.CASH
T = TypeVar("T")


async def outcome_of(step: Awaitable[T]) -> T | BookingError:
    """A step's answer, or its refusal; anything else is a failure of the test."""
    try:
        return await step
    except BookingError as error:
        return error


async def test_p18_captured_100_and_two_refunds_of_60_one_is_refused_naming_40(
    database: Database, other_database: Database
) -> None:
    """Two processes, one barrier, twenty times."""
    event = await make_event(database, seats=40)
    await database.fetch("UPDATE prices SET amount_minor = 100")
    for seat in range(20):
        charge = await charged_100(database, event, seat)
        barrier = asyncio.Barrier(2)

        async def ask(db: Database, charge: UUID, barrier: asyncio.Barrier) -> tuple[str, str]:
            async with db.transaction() as connection:
                await barrier.wait()
                await connection.fetch(
                    "SELECT lock_order_for_money(order_id) FROM payment_operations WHERE operation_id = $1", charge
                )
                row = await connection.fetchrow(
                    "SELECT * FROM open_money_back($1, 'refund', 60, 'same', $2, 'p', NULL, 'twice', booking_now())",
                    charge, uuid4(),
                )  # fmt: skip
            assert row is not None
            return row["code"], row["detail"]

        told = await asyncio.gather(ask(database, charge, barrier), ask(other_database, charge, barrier))
        assert sorted(told) == [("", ""), ("refund-too-much", "40")]


async def charged_100(db: Database, event: int, seat: int) -> UUID:
    desk = Desk(db, fan(), event)
    hold = await desk.hold(seat)
    lines = [CheckoutLine(seat, ADULT)]
    order = (await check_out(db, desk.caller, hold.hold_id, lines, 100, key=str(uuid4()), digest=b"d")).value
    charge = (await desk.pay(order, AUTHORIZE)).operation
    await captured(db, charge)
    return charge.operation_id


async def test_one_ticket_refunded_at_two_processes_at_once(database: Database, other_database: Database) -> None:
    event = await make_event(database)
    for seats in ((1, 2), (3, 4), (5, 6), (7, 8), (9, 10)):
        desk = Desk(database, till(), event)
        order = (await desk.sell(*seats)).order
        tickets = await issued(database, desk.caller, order.order_id)
        told = await asyncio.gather(
            *(outcome_of(refund(db, desk.caller, order.order_id, tickets)) for db in (database, other_database))
        )
        (lost,) = [one for one in told if isinstance(one, BookingError)]
        assert isinstance(lost, errors.TicketNotRefundableError)
        assert "refunded" in lost.detail
    assert await count(database, "SELECT sum(amount_minor) FROM cash_movements") == -10 * ADULT_PRICE


async def test_refund_and_cancel_of_the_same_tickets_at_once(database: Database, other_database: Database) -> None:
    """Whichever comes first: the ticket is void once, the seat free once, the money out once at most."""
    event = await make_event(database)
    for seat in range(10):
        desk = Desk(database, till(), event)
        order = (await desk.sell(seat)).order
        tickets = await issued(database, desk.caller, order.order_id)
        await asyncio.gather(
            outcome_of(refund(database, desk.caller, order.order_id, tickets)),
            outcome_of(call_off(other_database, desk.caller, order.order_id, tickets)),
        )
        await Desk(database, fan(), event).hold(seat)
    assert await count(database, "SELECT count(*) FROM tickets WHERE status <> 'VOID'") == 0


async def test_different_tickets_of_one_order_at_once(database: Database, other_database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2, 3, 4)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await asyncio.gather(
        *(
            refund(db, desk.caller, order.order_id, [ticket])
            for db, ticket in zip((database, other_database) * 2, tickets, strict=True)
        )
    )
    assert (await order_now(database, order.order_id)).status is OrderStatus.REFUNDED


async def test_an_issuer_that_comes_late_makes_no_ticket_for_money_that_went_back(database: Database) -> None:
    """It saw the line without a ticket; another issuer, a refund, and then its own insert (R28)."""
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await refund(database, desk.caller, order.order_id, tickets)
    late = NewTicket(uuid4(), Line(order.order_id, desk.event_id, 1), issue_tickets.ticket_code())
    async with database.transaction() as connection:
        assert await issue_queries.insert_tickets(connection, [late]) == 0
    assert await count(database, "SELECT count(*) FROM tickets") == 1


async def test_a_refund_waits_for_the_issuer_that_is_at_its_lines(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    late = NewTicket(uuid4(), Line(order.order_id, desk.event_id, 2), issue_tickets.ticket_code())
    async with database.transaction() as connection:
        await issue_queries.insert_tickets(connection, [late])
        with pytest.raises(errors.BusyError):
            await refund(database, desk.caller, order.order_id, tickets)
    await refund(database, desk.caller, order.order_id, tickets)


async def test_a_print_and_a_refund_of_one_ticket_at_once(database: Database, other_database: Database) -> None:
    """One way or the other; a job that was opened first is history, and what it printed is void."""
    event = await make_event(database)
    for seat in range(5):
        desk = Desk(database, till(), event)
        order = (await desk.sell(seat)).order
        (ticket,) = await issued(database, desk.caller, order.order_id)
        printed, refunded = await asyncio.gather(
            outcome_of(
                open_print_job(
                    other_database, desk.caller, order.order_id, [ticket.ticket_id], "P", key=str(uuid4()), digest=b"d"
                )
            ),
            outcome_of(refund(database, desk.caller, order.order_id, [ticket])),
        )
        assert not isinstance(refunded, BookingError)
        assert not isinstance(printed, BookingError) or isinstance(printed, errors.TicketNotFoundError)


@pytest.fixture
async def relayed(dsn: str) -> AsyncIterator[tuple[Relay, Database]]:
    """A second API process whose connections can be cut. Paths of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="tq") as folder:
        async with relay(dsn, folder) as (relaying, through):
            db = await Database.open(through, application="relayed")
            yield relaying, db
            await db.close()


@pytest.mark.parametrize("after_the_answer", [False, True], ids=["before commit", "after commit"])
async def test_g5_a_refund_lost_in_its_commit_happens_once(
    database: Database, relayed: tuple[Relay, Database], after_the_answer: bool
) -> None:
    relaying, db = relayed
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    relaying.cut = Cut(b"cut-this-key", after_the_answer, times=2)
    step = (await refund(db, desk.caller, order.order_id, tickets[:1], key="cut-this-key")).value
    assert relaying.cut.done == 2
    assert step.order.status is OrderStatus.PARTLY_REFUNDED
    relaying.cut = Cut(b"cut-that-key", after_the_answer)
    await call_off(db, desk.caller, order.order_id, tickets[1:], key="cut-that-key")
    assert relaying.cut.done == 1
    assert await count(database, "SELECT count(*) FROM cash_movements") == 1
    assert await count(database, "SELECT count(*) FROM money_backs") == 2


# ---------------------------------------------------------------- the API dies between two steps, the worker goes on


@pytest.fixture
async def sandbox() -> AsyncIterator[tuple[Sandbox, SandboxProvider]]:
    box = Sandbox()
    server = LoopbackServer(box.handle)
    await server.start()
    provider = SandboxProvider(f"http://127.0.0.1:{server.port}")
    yield box, provider
    await provider.close()
    await server.close()


async def work(db: Database, provider: SandboxProvider) -> None:
    """A round of the worker, with everything that is under way due."""
    await db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL")
    await PaymentWorker(db, {provider.name: provider}).work_once()


async def bought(db: Database, provider: SandboxProvider, *seats: int) -> tuple[Desk, UUID]:
    """A fan's order, authorized and captured at the sandbox."""
    desk = Desk(db, fan(), await make_event(db))
    step = await desk.sell(*seats, kind=AUTHORIZE)
    await db.fetch("UPDATE payment_operations SET payment_method = 'card-approve'")
    await work(db, provider)
    return desk, step.order.order_id


@pytest.mark.parametrize(
    "fault", [None, Fault.HANG_BEFORE, Fault.DROP_BEFORE, Fault.STATUS_503, Fault.HANG_AFTER, Fault.BROKEN_ANSWER]
)
async def test_a_refund_whose_api_died_is_driven_by_the_worker_to_one_refund_at_the_provider(
    database: Database, sandbox: tuple[Sandbox, SandboxProvider], fault: Fault | None
) -> None:
    box, provider = sandbox
    desk, order_id = await bought(database, provider, 1, 2)
    tickets = await issued(database, desk.caller, order_id)
    step = (await refund(database, till(Role.SUPERVISOR), order_id, tickets[:1])).value
    assert step.refunds[0].status is OperationStatus.CREATED  # accepted and committed; nobody was asked yet
    if fault is not None:
        box.faults.planned.append(Planned("refund", fault, 1))
    with haste(provider, fault):
        await work(database, provider)
    await work(database, provider)
    assert sum(box.faults.fired.values()) == (0 if fault is None else 1)
    assert (await order_now(database, order_id)).status is OrderStatus.PARTLY_REFUNDED
    (charge,) = box.ledger.charges.values()
    assert (charge.captured, charge.refunded) == (2 * ADULT_PRICE, ADULT_PRICE)
    assert await items(database) == []


async def test_p19_a_void_before_the_capture_and_a_refund_after_it_at_the_provider(
    database: Database, sandbox: tuple[Sandbox, SandboxProvider]
) -> None:
    box, provider = sandbox
    desk = Desk(database, fan(), await make_event(database))
    step = await desk.sell(1, kind=AUTHORIZE)
    await database.fetch("UPDATE payment_operations SET payment_method = 'card-approve'")
    operation = (await order_now(database, step.order.order_id)).operations[0]
    assert await drive_operation.authorize(database, provider, operation) is not None
    tickets = await issued(database, desk.caller, step.order.order_id)
    await refund(database, till(Role.SUPERVISOR), step.order.order_id, tickets)
    await work(database, provider)
    assert [(one.status, one.captured) for one in box.ledger.charges.values()] == [("voided", 0)]
    assert (await order_now(database, step.order.order_id)).status is OrderStatus.REFUNDED
    await work(database, provider)
    assert [(one.status, one.captured) for one in box.ledger.charges.values()] == [("voided", 0)]


async def test_the_capture_and_a_void_of_its_charge_race_and_one_of_them_wins(
    database: Database, other_database: Database
) -> None:
    """Sent before the act it is captured, and the money refunded; parked before it is sent it never is."""
    event = await make_event(database)
    leader = till(Role.SUPERVISOR)
    for seat in range(8):
        desk = Desk(database, fan(), event)
        charge = (await desk.sell(seat, kind=AUTHORIZE)).operation
        order = await provider_says(database, charge)
        (capture,) = (one for one in order.operations if one.kind is OperationKind.CAPTURE)
        tickets = await issued(database, desk.caller, order.order_id)
        sent, step = await asyncio.gather(
            database.fetch("SELECT mark_sent($1) AS sent", capture.operation_id),
            refund(other_database, leader, order.order_id, tickets),
        )
        (back,) = step.value.refunds
        assert (sent[0]["sent"], back.kind) in ((True, OperationKind.REFUND), (False, OperationKind.VOID))
        if back.kind is OperationKind.REFUND:
            now = await order_now(database, order.order_id)
            await provider_says(database, next(one for one in now.operations if one.kind is OperationKind.CAPTURE))
        after = await provider_says(database, back)
        assert after.status is OrderStatus.REFUNDED
        assert {one.status for one in await issued(database, desk.caller, order.order_id)} == {TicketStatus.VOID}
