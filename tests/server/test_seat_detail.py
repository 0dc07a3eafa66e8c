"""One seat for staff: who has it and since when, and every event on it, whatever retention has deleted (R13)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.control import HouseHoldKind, HouseWish
from booking.domain.errors import EventNotFoundError, SeatUnknownError
from booking.domain.model import OperationResult, Order, ResultOutcome
from booking.domain.seat_detail import SeatActor, SeatActorKind, SeatDetail, SeatEventKind, SeatStatus
from booking.domain.states import OperationKind, OrderStatus, PrintJobStatus, TicketStatus
from booking.services import house_holds
from booking.services.issue_tickets import issue_for
from booking.services.orders import cancel_order
from booking.services.print_tickets import open_print_job, report_print_job
from booking.services.read_seat import read_seat
from booking.services.sign_in import create_staff
from booking.services.sweep_expired import sweep_once
from booking.services.tickets import tickets_of_order
from booking.store.database import Database
from booking.store.seat_detail_queries import read_seat_detail
from tests.server.box_office import (
    ADULT_PRICE,
    CHILD_PRICE,
    Clock,
    Desk,
    digest_of,
    fan,
    make_event,
    released,
    reported,
    till,
)
from tests.server.plan_change import change, evening, hall, load, names
from tests.server.web_api import PASSWORD, Api, api_over, problem, read

K = SeatEventKind
SOLD_OVER = (K.HELD, K.PAYING, K.SOLD)


def kinds(detail: SeatDetail) -> list[SeatEventKind]:
    return [item.kind for item in detail.history]


async def clerk(db: Database, name: str = "Sofia Lindqvist", device: str = "Counter 2") -> Caller:
    """A clerk whom the database knows, at a till that it knows."""
    staff_id = await create_staff(db, f"{name}-{uuid4()}", name, Role.CLERK, PASSWORD)
    device_id = uuid4()
    await db.fetch("INSERT INTO devices (device_id, name) VALUES ($1, $2)", device_id, device)
    return Caller.at_till(device_id, staff_id, Role.CLERK, name)


async def keep(db: Database, event_id: int, *seats: int) -> UUID:
    boss = Caller.at_till(uuid4(), uuid4(), Role.SUPERVISOR, "Ana Reis")
    wish = HouseWish(HouseHoldKind.PRESS, "critics", seats, None)
    made = await house_holds.keep_seats_back(db, boss, event_id, wish, key=str(uuid4()), digest=digest_of(wish))
    return made.value.house_hold_id


async def give_back(db: Database, house_hold_id: UUID, *seats: int) -> None:
    await house_holds.release_house_hold(
        db, till(Role.SUPERVISOR), house_hold_id, seats, "not wanted", key=str(uuid4()), digest=digest_of(seats)
    )


async def print_all(db: Database, caller: Caller, order: Order, status: PrintJobStatus) -> None:
    await issue_for(db, [order.order_id])
    tickets = (await tickets_of_order(db, caller, order.order_id)).tickets
    job = await open_print_job(
        db, caller, order.order_id, [one.ticket_id for one in tickets], "BOCA", key=str(uuid4()), digest=b""
    )
    await report_print_job(db, caller, job.value.print_job_id, status, "no paper", key=str(uuid4()), digest=b"")


async def test_a_free_seat_has_its_names_its_prices_and_no_history(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    detail = await read_seat(sound_database, event_id, 21)
    assert (detail.seat.section, detail.seat.row, detail.seat.number) == ("Stalls", "B", "2")
    assert (detail.category_name, detail.currency) == ("Stalls", "EUR")
    assert [(price.name, price.amount_minor) for price in detail.prices] == [
        ("Adult", ADULT_PRICE),
        ("Child", CHILD_PRICE),
    ]
    assert (detail.status, detail.held_by, detail.since, detail.history) == (SeatStatus.AVAILABLE, None, None, ())
    assert detail.history_complete


async def test_who_holds_a_seat_and_since_when_is_answered_by_name(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    hold = await Desk(sound_database, await clerk(sound_database), event_id).hold(3, 4)
    detail = await read_seat(sound_database, event_id, 3)
    assert detail.status is SeatStatus.HELD
    assert detail.held_by == SeatActor(SeatActorKind.TILL, "Sofia Lindqvist", "Counter 2")
    assert (detail.hold_id, detail.since, detail.until) == (hold.hold_id, hold.created_at, hold.expires_at)
    assert kinds(detail) == [K.HELD]
    assert detail.history[0].by == detail.held_by


async def test_a_fan_is_a_mark_that_is_the_same_in_an_event_and_another_elsewhere(sound_database: Database) -> None:
    """R35: staff at a counter have no business with who a buyer is."""
    buyer = fan()
    marks = []
    for event_id in (await make_event(sound_database), await make_event(sound_database)):
        hold = await Desk(sound_database, buyer, event_id).hold(1, 2)
        one, two = [await read_seat(sound_database, event_id, seat) for seat in (1, 2)]
        assert one.held_by == two.held_by
        assert one.held_by is not None
        assert (one.held_by.kind, one.held_by.name, one.held_by.till) == (SeatActorKind.FAN, "", "")
        marks.append(one.held_by.short_id)
        assert len(marks[-1]) == 6
        assert marks[-1] not in str(buyer.account_id)
        assert hold.hold_id == one.hold_id
    assert marks[0] != marks[1]


async def test_a_sale_tells_of_the_hold_the_payment_the_ticket_and_the_print(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    seller = await clerk(sound_database)
    order = (await Desk(sound_database, seller, event_id).sell(5, 6)).order
    await print_all(sound_database, seller, order, PrintJobStatus.FAILED)
    await print_all(sound_database, seller, order, PrintJobStatus.CONFIRMED)
    detail = await read_seat(sound_database, event_id, 6)
    assert (detail.status, detail.order_number, detail.order_status) == (
        SeatStatus.SOLD,
        order.number,
        OrderStatus.CONFIRMED,
    )
    assert (detail.amount_minor, detail.price_type_name) == (ADULT_PRICE, "Adult")
    assert (detail.ticket_status, detail.printed, detail.used) == (TicketStatus.PRINTED, True, False)
    assert kinds(detail) == [*SOLD_OVER, K.TICKET_ISSUED, K.PRINT_FAILED, K.PRINTED]
    sold = detail.history[2]
    assert (sold.order_number, sold.amount_minor, sold.price_type_name) == (order.number, ADULT_PRICE, "Adult")
    assert sold.by == SeatActor(SeatActorKind.TILL, "Sofia Lindqvist", "Counter 2")
    assert detail.history[4].reason == "no paper"
    assert detail.since == sold.at


async def test_a_seat_that_went_from_hand_to_hand_tells_all_of_it_in_order(
    sound_database: Database, clock: Clock
) -> None:
    db = sound_database
    event_id = await make_event(db)
    buyer = Desk(db, fan(), event_id)
    await released(db, buyer.caller, (await buyer.hold(7)).hold_id)
    await clock.move(seconds=1)
    await Desk(db, fan(), event_id).hold(7)
    await clock.move(seconds=400)
    await sweep_once(db)
    counter = Desk(db, await clerk(db), event_id)
    order = await counter.check_out(await counter.hold(7))
    await cancel_order(db, counter.caller, order.order_id, "changed their mind", False)
    await clock.move(seconds=1)
    house = await keep(db, event_id, 7, 8)
    kept = await read_seat(db, event_id, 7)
    assert (kept.status, kept.held_by) == (SeatStatus.BLOCKED, SeatActor(SeatActorKind.HOUSE, "Ana Reis"))
    assert kept.house_hold is not None
    assert (kept.house_hold.kind, kept.house_hold.reason) == (HouseHoldKind.PRESS, "critics")
    await give_back(db, house, 7)
    await Desk(db, fan(), event_id).hold(7)
    detail = await read_seat(db, event_id, 7)
    assert kinds(detail) == [
        K.HELD, K.RELEASED, K.HELD, K.EXPIRED,
        K.HELD, K.PAYING, K.ORDER_CANCELLED, K.RELEASED,
        K.KEPT_BACK, K.GIVEN_BACK, K.HELD,
    ]  # fmt: skip
    assert [item.at for item in detail.history] == sorted(item.at for item in detail.history)
    assert (detail.history[6].reason, detail.history[9].reason) == ("changed their mind", "not wanted")
    assert detail.history[8].house_kind is HouseHoldKind.PRESS
    beside = await read_seat(db, event_id, 8)
    assert kinds(beside) == [K.KEPT_BACK]


async def test_a_declined_card_and_the_end_of_the_time_are_told(sound_database: Database, clock: Clock) -> None:
    db = sound_database
    event_id = await make_event(db)
    counter = Desk(db, till(), event_id)
    step = await counter.sell(9, kind=OperationKind.SALE)
    declined = OperationResult(ResultOutcome.DECLINED, step.order.amount_minor, decline_code="no-funds")
    await reported(db, counter.caller, step.operation.operation_id, declined)
    back = await read_seat(db, event_id, 9)
    assert (back.status, kinds(back)) == (SeatStatus.HELD, [K.HELD, K.PAYING, K.PAYMENT_DECLINED])
    assert back.history[2].reason == "no-funds"
    await clock.move(seconds=1_000)
    free = await read_seat(db, event_id, 9)
    assert (free.status, free.held_by, free.until) == (SeatStatus.AVAILABLE, None, None), "R5: no sweeper needed"
    await sweep_once(db)
    ended = await read_seat(db, event_id, 9)
    assert kinds(ended)[3:] == [K.ORDER_EXPIRED, K.EXPIRED]


async def test_a_seat_being_paid_names_its_order_and_its_deadline(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    counter = Desk(sound_database, till(), event_id)
    order = await counter.check_out(await counter.hold(11))
    detail = await read_seat(sound_database, event_id, 11)
    assert (detail.status, detail.order_number, detail.until) == (SeatStatus.PAYING, order.number, order.pay_until)
    assert detail.held_by is not None
    assert detail.held_by.kind is SeatActorKind.TILL


async def test_retention_takes_nothing_from_the_history(sound_database: Database) -> None:
    """The outbox is pruned after days; holds, orders, tickets, print jobs and the audit log are not."""
    db = sound_database
    event_id = await make_event(db)
    seller = till()
    desk = Desk(db, seller, event_id)
    await released(db, seller, (await desk.hold(13)).hold_id)
    await give_back(db, await keep(db, event_id, 13))
    order = (await desk.sell(13)).order
    await print_all(db, seller, order, PrintJobStatus.CONFIRMED)
    before = await read_seat(db, event_id, 13)
    await db.fetch("DELETE FROM outbox WHERE id < (SELECT max(id) FROM outbox WHERE 13 = ANY (seats))")
    await db.fetch("DELETE FROM seat_feed")
    await db.fetch("DELETE FROM idempotency")
    after = await read_seat(db, event_id, 13)
    assert after.history == before.history
    assert kinds(after) == [
        K.HELD, K.RELEASED, K.KEPT_BACK, K.GIVEN_BACK, *SOLD_OVER, K.TICKET_ISSUED, K.PRINTED,
    ]  # fmt: skip


async def test_a_change_of_the_plan_is_told_where_the_seat_changed(sound_database: Database) -> None:
    """I4: a seat that keeps its number under another name says so; its neighbours say nothing."""
    old = {"A": names("A", *range(1, 11))}
    stored = await load(sound_database, hall(old))
    event_id = await evening(sound_database, stored)
    await load(sound_database, hall({"B": old["A"][:5], "A": old["A"][5:]}))
    await change(sound_database, event_id, 2)
    moved, stayed = [await read_seat(sound_database, event_id, seat) for seat in (0, 9)]
    assert (kinds(moved), moved.seat.row) == ([K.PLAN_CHANGED], "B")
    assert (kinds(stayed), stayed.seat.row) == ([], "A")


async def test_a_long_history_is_cut_at_its_old_end_and_says_so(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    caller = till()
    desk = Desk(sound_database, caller, event_id)
    for _time in range(4):
        await released(sound_database, caller, (await desk.hold(2)).hold_id)
    last = await desk.hold(2)
    cut = await read_seat_detail(sound_database, event_id, 2, limit=4)
    assert cut is not None
    assert not cut.history_complete
    assert kinds(cut) == [K.RELEASED, K.HELD, K.RELEASED, K.HELD]
    assert cut.history[-1].hold_id == last.hold_id
    whole = await read_seat_detail(sound_database, event_id, 2, limit=9)
    assert whole is not None
    assert whole.history_complete
    assert len(whole.history) == 9


async def test_every_row_is_found_by_a_key(sound_database: Database) -> None:
    """The answer takes the same time in a house that has sold out ten times over: nothing is scanned."""
    db = sound_database
    event_id = await make_event(db)
    desk = Desk(db, till(), event_id)
    await released(db, desk.caller, (await desk.hold(1)).hold_id)
    await desk.sell(1)
    rows_scanned = "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_xact_user_tables"
    async with db.transaction() as connection:
        before = await connection.fetchval(rows_scanned)
        history = await connection.fetch("SELECT kind FROM seat_history($1, 1, 200)", event_id)
        after = await connection.fetchval(rows_scanned)
        await connection.fetch("SELECT count(*) FROM holds")
        counted = await connection.fetchval(rows_scanned)
    assert len(history) == 5
    assert after == before
    assert counted > after, "a scan would have been counted"


async def test_a_seat_or_event_that_is_not_there_is_refused_by_name(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    with pytest.raises(SeatUnknownError) as unknown:
        await read_seat(sound_database, event_id, 40)
    assert [seat.seat_no for seat in unknown.value.seats] == [40]
    with pytest.raises(EventNotFoundError):
        await read_seat(sound_database, event_id + 1, 0)
    with pytest.raises(SeatUnknownError):
        await read_seat(sound_database, event_id, -1)


@pytest.fixture
async def api(sound_database: Database) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def test_over_http_staff_get_it_and_bad_addresses_name_what_is_wrong(api: Api) -> None:
    event_id = await make_event(api.db)
    token = await api.staff(Role.CLERK)
    await Desk(api.db, fan(), event_id).hold(3)
    detail = read(await api.call("GET", f"/v1/events/{event_id}/seats/3", token=token), wire.SeatDetail)
    assert detail.status is wire.SeatStatus.HELD
    assert [item.kind for item in detail.history] == ["held"]
    assert problem(
        await api.call("GET", f"/v1/events/{event_id}/seats/40", token=token), wire.ErrorCode.SEAT_UNKNOWN
    ).seats
    for wrong in ("-1", "x", "16777215", "1.0", "99999999999"):
        refused = problem(
            await api.call("GET", f"/v1/events/{event_id}/seats/{wrong}", token=token), wire.ErrorCode.INVALID_REQUEST
        )
        assert [fault.pointer for fault in refused.fields] == ["path:seat_no"]
    problem(await api.call("GET", f"/v1/events/{event_id + 1}/seats/3", token=token), wire.ErrorCode.EVENT_NOT_FOUND)
