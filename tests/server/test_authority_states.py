"""What the SQL does with states is what `booking.domain.states` allows, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import Any
from uuid import UUID, uuid4

import pytest
from uuid_utils.compat import uuid7

from booking.domain import errors, states
from booking.domain.caller import Role
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind, PrintJobStatus
from booking.services.hold_seats import read_hold
from booking.services.orders import cancel_order
from booking.services.print_tickets import open_print_job, report_print_job
from booking.services.take_payment import mark_sent, record_result
from booking.services.tickets import tickets_of_order
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, make_event, released, seat_states, till
from tests.server.refund_desk import call_off, issued, refund

TABLES: Mapping[str, tuple[type[StrEnum | IntEnum], Mapping[Any, frozenset[Any]]]] = {
    "seats": (states.SeatStatus, states.SEAT_TRANSITIONS),
    "holds": (states.HoldStatus, states.HOLD_TRANSITIONS),
    "orders": (states.OrderStatus, states.ORDER_TRANSITIONS),
    "payment_operations": (states.OperationStatus, states.OPERATION_TRANSITIONS),
    "tickets": (states.TicketStatus, states.TICKET_TRANSITIONS),
    "print_jobs": (states.PrintJobStatus, states.PRINT_JOB_TRANSITIONS),
}
SUCCEEDED, DECLINED, UNKNOWN, ACTION = (
    OperationResult(outcome, 4_000)
    for outcome in (
        ResultOutcome.SUCCEEDED, ResultOutcome.DECLINED, ResultOutcome.UNKNOWN, ResultOutcome.ACTION_REQUIRED,
    )
)  # fmt: skip


@pytest.fixture
async def watched(sound_database: Database) -> Database:
    """Writes each change of a status to a table of its own."""
    async with sound_database.transaction() as connection:
        await connection.execute(
            "CREATE TABLE seen_transitions (machine text, before text, after text,"
            " PRIMARY KEY (machine, before, after));"
            "CREATE FUNCTION see_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " INSERT INTO seen_transitions VALUES (TG_TABLE_NAME, OLD.status::text, NEW.status::text)"
            " ON CONFLICT DO NOTHING; RETURN NULL; END $$"
        )
        for table in TABLES:
            # A hold that takes over an expired one leaves the seat HELD: that is a transition too.
            when = "WHEN (OLD.status IS DISTINCT FROM NEW.status"
            when += " OR OLD.hold_id IS DISTINCT FROM NEW.hold_id)" if table == "seats" else ")"
            await connection.execute(
                f"CREATE TRIGGER see AFTER UPDATE ON {table} FOR EACH ROW {when} EXECUTE FUNCTION see_transition()"
            )
    return sound_database


async def seen(db: Database) -> dict[str, set[tuple[Any, Any]]]:
    found: dict[str, set[tuple[Any, Any]]] = {table: set() for table in TABLES}
    for row in await db.fetch("SELECT machine, before, after FROM seen_transitions"):
        kind = TABLES[row["machine"]][0]
        read = (lambda text, kind=kind: kind(int(text))) if issubclass(kind, IntEnum) else kind
        found[row["machine"]].add((read(row["before"]), read(row["after"])))
    return found


async def test_every_transition_made_by_sql_is_in_the_tables(watched: Database, clock: Clock) -> None:
    event = await make_event(watched, seats=60, max_open_holds_till=50)
    await _sell_in_every_way(watched, event)
    await _print(watched, event)
    await _give_back(watched, event)
    await _let_time_run_out(watched, event, clock)
    await _end_by_hand(watched, event)

    transitions = await seen(watched)
    for table, (_, allowed) in TABLES.items():
        strange = {(before, after) for before, after in transitions[table] if after not in allowed[before]}
        assert strange == set(), table

    hold, order, operation, seat = (
        states.HoldStatus, states.OrderStatus, states.OperationStatus, states.SeatStatus,
    )  # fmt: skip
    assert transitions["holds"] == {
        (hold.HELD, hold.PAYMENT_PENDING), (hold.HELD, hold.RELEASED), (hold.HELD, hold.EXPIRED),
        (hold.PAYMENT_PENDING, hold.SOLD), (hold.PAYMENT_PENDING, hold.HELD),
        (hold.PAYMENT_PENDING, hold.RELEASED), (hold.PAYMENT_PENDING, hold.EXPIRED),
    }  # fmt: skip
    assert transitions["seats"] == {
        (seat.AVAILABLE, seat.HELD), (seat.HELD, seat.HELD), (seat.HELD, seat.PAYING), (seat.HELD, seat.AVAILABLE),
        (seat.PAYING, seat.SOLD), (seat.PAYING, seat.HELD), (seat.PAYING, seat.AVAILABLE),
        (seat.SOLD, seat.AVAILABLE), (seat.SOLD, seat.BLOCKED),
    }  # fmt: skip
    assert transitions["orders"] == {
        (order.PENDING, order.CONFIRMED), (order.PENDING, order.RECONCILING), (order.PENDING, order.EXPIRED),
        (order.PENDING, order.CANCELLED), (order.RECONCILING, order.PENDING), (order.RECONCILING, order.CONFIRMED),
        (order.RECONCILING, order.EXPIRED), (order.RECONCILING, order.CANCELLED),
        (order.CONFIRMED, order.PARTLY_REFUNDED), (order.CONFIRMED, order.REFUNDED),
        (order.CONFIRMED, order.CANCELLED), (order.PARTLY_REFUNDED, order.REFUNDED),
    }  # fmt: skip
    assert transitions["payment_operations"] == {
        (operation.CREATED, operation.SENT), (operation.CREATED, operation.DECLINED),
        (operation.SENT, operation.SUCCEEDED), (operation.SENT, operation.DECLINED),
        (operation.SENT, operation.UNKNOWN), (operation.SENT, operation.ACTION_REQUIRED),
        (operation.UNKNOWN, operation.SUCCEEDED), (operation.UNKNOWN, operation.DECLINED),
        (operation.UNKNOWN, operation.ACTION_REQUIRED), (operation.ACTION_REQUIRED, operation.SUCCEEDED),
        (operation.ACTION_REQUIRED, operation.UNKNOWN),
    }  # fmt: skip
    ticket = states.TicketStatus
    assert transitions["tickets"] == {
        (ticket.ISSUED, ticket.PRINTED), (ticket.ISSUED, ticket.VOID), (ticket.PRINTED, ticket.VOID),
    }  # fmt: skip
    assert transitions["print_jobs"] == {
        (before, after) for before, allowed in states.PRINT_JOB_TRANSITIONS.items() for after in allowed
    }


async def _sell_in_every_way(db: Database, event: int) -> None:
    desk, buyer = Desk(db, till(), event), Desk(db, fan(), event)
    await desk.sell(0)
    await _report(db, (await desk.sell(1, kind=OperationKind.SALE)).operation.operation_id, UNKNOWN, SUCCEEDED)
    step = await desk.sell(2, kind=OperationKind.SALE)
    await _report(db, step.operation.operation_id, UNKNOWN, DECLINED)
    await desk.pay(step.order, OperationKind.CASH)
    authorized = await buyer.sell(3, kind=OperationKind.AUTHORIZE)
    assert await mark_sent(db, authorized.operation.operation_id)
    await _report(db, authorized.operation.operation_id, ACTION, UNKNOWN, ACTION, SUCCEEDED)
    straight = await desk.sell(4, kind=OperationKind.SALE)
    await _report(db, straight.operation.operation_id, SUCCEEDED)
    await _report(db, (await desk.sell(5, kind=OperationKind.SALE)).operation.operation_id, DECLINED)


async def _report(db: Database, operation: UUID, *results: OperationResult) -> None:
    for result in results:
        await record_result(db, operation, result, source="supervisor:test")


async def _print(db: Database, event: int) -> None:
    desk = Desk(db, till(), event)
    order = (await desk.sell(10, 11, 12, 13, 14, 15)).order
    await db.fetch(
        "INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)"
        " SELECT gen_random_uuid(), event_id, order_id, seat_no, gen_random_uuid()::text FROM order_seats"
        " WHERE order_id = $1",
        order.order_id,
    )
    tickets = (await tickets_of_order(db, desk.caller, order.order_id)).tickets
    sent, confirmed, failed, unknown = (
        PrintJobStatus.SENT, PrintJobStatus.CONFIRMED, PrintJobStatus.FAILED, PrintJobStatus.UNKNOWN,
    )  # fmt: skip
    ways = ((confirmed,), (sent, confirmed), (sent, unknown, confirmed), (unknown, failed), (failed,), (sent, failed))
    for ticket, way in zip(tickets, ways, strict=True):
        job = await open_print_job(
            db, desk.caller, order.order_id, [ticket.ticket_id], "PDF", key=str(uuid4()), digest=b"d"
        )
        for status in way:
            await report_print_job(
                db, desk.caller, job.value.print_job_id, status, "", key=str(uuid4()), digest=status.encode()
            )


async def _give_back(db: Database, event: int) -> None:
    desk = Desk(db, till(), event)
    order = (await desk.sell(40, 41)).order
    tickets = await issued(db, desk.caller, order.order_id)
    await db.fetch("UPDATE tickets SET status = 'PRINTED' WHERE ticket_id = $1", tickets[0].ticket_id)
    for ticket, to_sale in zip(tickets, (True, False), strict=True):
        await refund(db, desk.caller, order.order_id, [ticket], seats_to_sale=to_sale)
    for seat, give_back in ((42, refund), (43, call_off)):
        order = (await desk.sell(seat)).order
        await give_back(db, desk.caller, order.order_id, await issued(db, desk.caller, order.order_id))


async def _let_time_run_out(db: Database, event: int, clock: Clock) -> None:
    desk = Desk(db, till(), event)
    await desk.hold(20)
    await desk.check_out(await desk.hold(21))
    unknown = await desk.sell(22, kind=OperationKind.SALE)
    await _report(db, unknown.operation.operation_id, UNKNOWN)
    await desk.hold(23)
    await clock.move(seconds=1_000)
    await Desk(db, fan(), event).hold(23)
    await _report(db, unknown.operation.operation_id, DECLINED)
    await db.fetch("SELECT sweep_expired(100)")


async def _end_by_hand(db: Database, event: int) -> None:
    desk = Desk(db, till(), event)
    await released(db, desk.caller, (await desk.hold(30)).hold_id)
    for seat, keep in ((31, True), (32, False)):
        order = await desk.check_out(await desk.hold(seat))
        await cancel_order(db, desk.caller, order.order_id, "why", keep)
    await cancel_order(
        db, desk.caller, (await desk.sell(33, kind=OperationKind.AUTHORIZE)).order.order_id, "why", False
    )
    late = await desk.sell(34, kind=OperationKind.SALE)
    await _report(db, late.operation.operation_id, UNKNOWN)
    await db.fetch("UPDATE events SET status = 'CANCELLED' WHERE event_id = $1", event)
    await _report(db, late.operation.operation_id, SUCCEEDED)


async def test_the_tables_name_every_state_and_the_ends_are_ends() -> None:
    for kind, table in TABLES.values():
        assert set(table) == set(kind)
    assert {state for state, after in states.HOLD_TRANSITIONS.items() if not after} == {"SOLD", "RELEASED", "EXPIRED"}
    assert {state for state, after in states.OPERATION_TRANSITIONS.items() if not after} == {"SUCCEEDED", "DECLINED"}
    assert states.may_follow(states.SEAT_TRANSITIONS, states.SeatStatus.HELD, states.SeatStatus.PAYING)
    assert not states.may_follow(states.SEAT_TRANSITIONS, states.SeatStatus.PAYING, states.SeatStatus.PAYING)


async def test_the_sweeper_ends_what_is_over_and_only_that(sound_database: Database, clock: Clock) -> None:
    """R5: late, twice, or in any order, a sweep touches no newer hold and no sold seat."""
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    old = await desk.hold(1, 2)
    await desk.sell(3)
    await clock.stand_at(old.expires_at - timedelta(microseconds=1))
    assert await count(sound_database, "SELECT sweep_expired(10)") == 0
    await clock.stand_at(old.expires_at)
    taken = await Desk(sound_database, fan(), event).hold(2)
    assert [await count(sound_database, "SELECT sweep_expired(10)") for _ in range(2)] == [1, 0]
    now = await seat_states(sound_database, event)
    assert (now[1][0], now[2][1], now[3][0]) == (states.SeatStatus.AVAILABLE, taken.hold_id, states.SeatStatus.SOLD)
    assert (await read_hold(sound_database, desk.caller, old.hold_id)).status is states.HoldStatus.EXPIRED


async def test_print_jobs_are_replayed_and_refused_by_name(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = (await desk.sell(1, 2)).order
    empty = await tickets_of_order(sound_database, desk.caller, order.order_id)
    assert (empty.complete, empty.tickets) == (False, ())
    await sound_database.fetch(
        "INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)"
        " SELECT gen_random_uuid(), event_id, order_id, seat_no, seat_no::text FROM order_seats"
    )
    issued = await tickets_of_order(sound_database, desk.caller, order.order_id)
    assert issued.complete
    assert [ticket.seat.number for ticket in issued.tickets] == ["2", "3"]
    ids = [ticket.ticket_id for ticket in issued.tickets]
    args = (sound_database, desk.caller, order.order_id, ids, "PDF")
    job = await open_print_job(*args, key="j", digest=b"d")
    assert (await open_print_job(*args, key="j", digest=b"d")).replayed
    with pytest.raises(errors.KeyReusedError):
        await open_print_job(*args, key="j", digest=b"x")
    with pytest.raises(errors.TicketNotFoundError):
        await open_print_job(sound_database, desk.caller, order.order_id, [uuid7()], "PDF", key="k", digest=b"d")
    for wrong in ([], [ids[0], ids[0]]):
        with pytest.raises(errors.InvalidRequestError):
            await open_print_job(sound_database, desk.caller, order.order_id, wrong, "PDF", key="k", digest=b"d")

    report = (sound_database, desk.caller, job.value.print_job_id)
    for _ in range(2):
        done = (
            await report_print_job(*report, PrintJobStatus.CONFIRMED, "2 pages", key=str(uuid4()), digest=b"")
        ).value
        assert (done.status, done.detail) == (PrintJobStatus.CONFIRMED, "2 pages")
    with pytest.raises(errors.PrintJobConflictError):
        await report_print_job(*report, PrintJobStatus.FAILED, "", key="f", digest=b"")
    with pytest.raises(errors.PrintJobNotFoundError):
        await report_print_job(
            sound_database, till(), job.value.print_job_id, PrintJobStatus.CONFIRMED, "", key="f", digest=b""
        )
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE printed") == 2
    rows = await sound_database.fetch("SELECT seats, seat_states FROM outbox WHERE type = 'seats-printed'")
    assert [(row["seats"], row["seat_states"]) for row in rows] == [([1, 2], [3 | 1 << 3 | 1 << 6] * 2)]
    with pytest.raises(errors.OrderNotFoundError):
        await tickets_of_order(sound_database, fan(), order.order_id)
    assert (await tickets_of_order(sound_database, till(Role.OPS), order.order_id)).complete
