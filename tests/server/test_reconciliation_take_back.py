"""A supervisor takes an order back whose capture was refused for good: tickets void, seats free (R25)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.errors import (
    ActionNotAllowedError,
    BookingError,
    InvalidRequestError,
    ItemChangedError,
    KeyReusedError,
    SecondPersonNeededError,
)
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemDetail, ItemState
from booking.domain.model import OperationResult, Order, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus, TicketStatus
from booking.payments.sandbox_ledger import ChargeStatus, Kind
from booking.services import drive_operation
from booking.services.issue_tickets import issue_new, prepare
from booking.services.orders import order_as_it_stands
from booking.store.database import Database
from tests.server.box_office import Desk, count, fan, reported, seat_states, till
from tests.server.reconciliation_books import Books, Comparison
from tests.server.reconciliation_house import House, failed_capture, offered, open_house
from tests.server.refund_desk import follow_up, issued, pay_part, refund
from tests.server.web_api import api_over, problem, read

TAKE_BACK = ItemAction.TAKE_BACK
FORBIDDEN = wire.ErrorCode.FORBIDDEN


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


async def acts(house: House) -> int:
    return await count(house.db, "SELECT count(*) FROM money_backs")


async def split_order(house: House, first: OperationKind, caller: Caller) -> tuple[Order, ItemDetail]:
    """Two seats for 80.00: half by `first` at a till, half by a card whose capture is refused; tickets are issued."""
    desk = Desk(house.db, caller, house.event_id)
    order = await desk.check_out(await desk.hold(0, 1))
    part = (await pay_part(desk, order, first, 4_000)).operation
    if first is OperationKind.SALE:
        booked = OperationResult(ResultOutcome.SUCCEEDED, 4_000, "t/17/9")
        await reported(house.db, caller, part.operation_id, booked)
    card = (await pay_part(desk, order, OperationKind.AUTHORIZE, 4_000, in_parts=False)).operation
    settled = await drive_operation.authorize(house.db, house.provider, card)
    assert settled is not None
    await issued(house.db, caller, order.order_id)
    capture = follow_up(settled.order, card.operation_id)
    await house.record(capture.operation_id, ResultOutcome.DECLINED, code="insufficient-funds")
    return await order_as_it_stands(house.db, order.order_id), await house.item("capture-failed")


async def test_the_order_is_void_and_its_authorization_let_go(house: House) -> None:
    step, item = await failed_capture(house)
    assert TAKE_BACK in offered(item)
    done = await house.act(item, TAKE_BACK)
    assert (done.item.state, done.item.resolution) == (ItemState.RESOLVED, "taken back: the order is void")
    assert done.order is not None
    assert done.order.status is OrderStatus.CANCELLED
    assert {state[0] for state in (await seat_states(house.db, house.event_id)).values()} <= {SeatStatus.AVAILABLE}
    await prepare(house.db)
    assert await issue_new(house.db) == 0
    await house.work()
    (charge,) = house.sandbox.ledger.charges.values()
    assert (charge.status, charge.captured) == (ChargeStatus.VOIDED, 0)
    assert await house.open_kinds() == []
    assert "act-take-back" in [entry.title for entry in done.timeline]
    row = (await house.db.fetch("SELECT * FROM audit_log WHERE action = 'item-take-back'"))[0]
    detail = msgspec.json.decode(row["detail"])
    assert (row["subject"], row["reason"]) == (str(item.item.item_id), "Seen with the bank")
    assert (detail["from"], detail["to"], detail["seats_to_sale"]) == ("capture-missing", "resolved", True)
    assert await count(house.db, "SELECT count(*) FROM audit_log WHERE action = 'order-taken-back'") == 1
    assert (await Comparison(house, Books(house.provider)).run()).differences == {}
    await Desk(house.db, fan(), house.event_id).sell(0, kind=OperationKind.AUTHORIZE)
    assert step.order.order_id == done.item.order_id


async def test_the_seats_may_stay_blocked_and_issued_tickets_die(house: House) -> None:
    step = await house.open_payment()
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    tickets = await issued(house.db, house.ana, step.order.order_id)
    assert len(tickets) == 2
    capture = follow_up(settled.order, step.operation.operation_id)
    await house.record(capture.operation_id, ResultOutcome.DECLINED, code="expired")
    await house.act(await house.item("capture-failed"), TAKE_BACK, seats_to_sale=False)
    states = await seat_states(house.db, house.event_id)
    assert [states[seat][0] for seat in (0, 1)] == [SeatStatus.BLOCKED, SeatStatus.BLOCKED]
    now = await issued(house.db, house.ana, step.order.order_id)
    assert {one.status for one in now} == {TicketStatus.VOID}
    await house.work()


async def test_an_authorization_that_has_ended_is_not_asked_about(house: House) -> None:
    """P26: the scheme has let go by itself."""
    _, item = await failed_capture(house)
    await house.db.fetch("UPDATE payment_operations SET expires_at = booking_now() - interval '1 s'")
    done = await house.act(item, TAKE_BACK)
    assert [one.kind for one in done.operations] == [OperationKind.AUTHORIZE, OperationKind.CAPTURE]


@pytest.mark.parametrize("kind", [OperationKind.CASH, OperationKind.SALE])
async def test_what_other_parts_took_goes_back_at_their_till(house: House, kind: OperationKind) -> None:
    caller = till()
    order, item = await split_order(house, kind, caller)
    done = await house.act(item, TAKE_BACK)
    (back,) = [one for one in done.operations if one.kind is OperationKind.REFUND]
    assert (back.status, back.amount_minor, back.device_id) == (OperationStatus.SENT, 4_000, caller.device_id)
    assert back.provider == ("cash" if kind is OperationKind.CASH else "zvt")
    await house.work()
    assert await house.open_kinds() == ["no-result"]  # a till that is silent becomes an item
    given = OperationResult(ResultOutcome.SUCCEEDED, 4_000)
    for _ in range(2):
        await reported(house.db, caller, back.operation_id, given)
    await house.work()
    assert await house.open_kinds() == []
    moved = await house.db.fetch("SELECT amount_minor, device_id, principal FROM cash_movements")
    drawer = [(-4_000, caller.device_id, caller.principal)] if kind is OperationKind.CASH else []
    assert [tuple(row.values()) for row in moved] == drawer
    assert (await order_as_it_stands(house.db, order.order_id)).status is OrderStatus.CANCELLED


async def test_no_more_goes_back_than_the_lines_that_end_cost(house: House) -> None:
    """One of two tickets went back in cash before: what is left is a part of each charge, and 40.00 are void."""
    caller = till()
    desk = Desk(house.db, caller, house.event_id)
    order = await desk.check_out(await desk.hold(0, 1))
    await pay_part(desk, order, OperationKind.CASH, 5_000)
    card = (await pay_part(desk, order, OperationKind.AUTHORIZE, 3_000, in_parts=False)).operation
    settled = await drive_operation.authorize(house.db, house.provider, card)
    assert settled is not None
    tickets = await issued(house.db, caller, order.order_id)
    await house.record(follow_up(settled.order, card.operation_id).operation_id, ResultOutcome.DECLINED, code="no")
    await refund(house.db, caller, order.order_id, tickets[:1])
    done = await house.act(await house.item("capture-failed"), TAKE_BACK)
    refunds = [one.amount_minor for one in done.operations if one.kind is OperationKind.REFUND]
    assert refunds == [4_000, 1_000]
    assert done.order is not None
    assert done.order.status is OrderStatus.PARTLY_REFUNDED
    (left,) = [one for one in done.operations if one.status is OperationStatus.SENT]
    await reported(house.db, caller, left.operation_id, OperationResult(ResultOutcome.SUCCEEDED, 1_000))
    await house.work()


class TestSecondPerson:
    async def test_the_limit_measures_the_whole_order(self, house: House) -> None:
        _, item = await split_order(house, OperationKind.CASH, till())
        await house.limit(7_999)
        item = await house.read(item.item.item_id)
        assert [each.needs_second_person for each in item.actions if each.action is TAKE_BACK] == [True]
        asked = await house.act(item, TAKE_BACK, seats_to_sale=False)
        assert (asked.item.state, await acts(house)) == (ItemState.AWAITING_APPROVAL, 0)
        with pytest.raises(SecondPersonNeededError):
            await house.decide(asked, house.ana, approve=True)
        seen = await house.read(item.item.item_id, house.bo)
        assert seen.approval is not None
        assert (seen.approval.action, seen.approval.seats_to_sale) == (TAKE_BACK, False)
        done = await house.decide(seen, house.bo, approve=True)
        assert done.item.state is ItemState.RESOLVED
        titles = [entry.title for entry in done.timeline if entry.kind == "person" and entry.title != "evidence-given"]
        assert titles[0] == "approval-asked"
        assert set(titles[1:]) == {"order-taken-back", "approval-given", "act-take-back"}
        by = await house.db.fetch("SELECT staff_id, item_id FROM money_backs")
        assert [tuple(row.values()) for row in by] == [(house.ana.staff_id, item.item.item_id)]
        states = await seat_states(house.db, house.event_id)
        assert states[0][0] == SeatStatus.BLOCKED

    async def test_what_was_asked_is_overtaken_when_the_money_comes(self, house: House) -> None:
        _, item = await failed_capture(house)
        await house.act(item, ItemAction.CAPTURE)
        await house.limit(0)
        item = await house.read(item.item.item_id)
        with pytest.raises(ActionNotAllowedError):
            await house.act(item, TAKE_BACK)
        await house.work()
        assert (await house.read(item.item.item_id)).item.resolution == "captured"
        assert await acts(house) == 0


class TestRaces:
    async def test_two_supervisors_at_once_and_one_wins(self, house: House) -> None:
        _, item = await failed_capture(house)
        results = await asyncio.gather(
            house.act(item, TAKE_BACK, house.ana), house.act(item, TAKE_BACK, house.bo), return_exceptions=True
        )
        (lost,) = [each for each in results if isinstance(each, BookingError)]
        assert isinstance(lost, ItemChangedError)
        assert await acts(house) == 1
        await house.work()

    async def test_one_collects_while_the_other_takes_back(self, house: House) -> None:
        """Whoever is first decides; the money and the seats never go both ways."""
        for _ in range(4):
            step, item = await failed_capture(house)
            results = await asyncio.gather(
                house.act(item, ItemAction.CAPTURE, house.ana), house.act(item, TAKE_BACK, house.bo),
                return_exceptions=True,
            )  # fmt: skip
            (lost,) = [each for each in results if isinstance(each, BookingError)]
            assert isinstance(lost, ItemChangedError)
            await house.work(2)
            now = await order_as_it_stands(house.db, step.order.order_id)
            charge = list(house.sandbox.ledger.charges.values())[-1]
            assert (now.status, charge.captured) in {(OrderStatus.CONFIRMED, 8_000), (OrderStatus.CANCELLED, 0)}
            assert await house.open_kinds() == []

    async def test_the_same_key_takes_back_once(self, house: House) -> None:
        _, item = await failed_capture(house)
        first, again = await asyncio.gather(
            house.act(item, TAKE_BACK, key="once"), house.act(item, TAKE_BACK, key="once")
        )
        assert (first.item.version, await acts(house)) == (again.item.version, 1)
        with pytest.raises(KeyReusedError):
            await house.act(item, TAKE_BACK, key="once", seats_to_sale=False)
        await house.work()

    async def test_a_refund_in_flight_is_waited_for(self, house: House) -> None:
        caller = till()
        order, item = await split_order(house, OperationKind.SALE, caller)
        tickets = await issued(house.db, caller, order.order_id)
        (back,) = (await refund(house.db, caller, order.order_id, tickets[:1])).value.refunds
        item = await house.read(item.item.item_id)
        assert [each.why_not for each in item.actions if each.action is TAKE_BACK] == ["refund-pending"]
        with pytest.raises(ActionNotAllowedError, match="on its way back"):
            await house.act(item, TAKE_BACK)
        await reported(house.db, caller, back.operation_id, OperationResult(ResultOutcome.SUCCEEDED, 4_000))
        done = await house.act(await house.read(item.item.item_id), TAKE_BACK)
        assert [one.kind for one in done.operations].count(OperationKind.REFUND) == 1  # all that was taken had gone
        await house.work()

    async def test_a_refund_in_cash_at_the_same_time_pays_no_cash_twice(
        self, house: House, other_database: Database
    ) -> None:
        """40.00 were taken in cash; whoever is first gives them back, and nobody does a second time."""
        caller = till()
        order, item = await split_order(house, OperationKind.CASH, caller)
        tickets = await issued(house.db, caller, order.order_id)
        taken, refunded = await asyncio.gather(
            house.act(item, TAKE_BACK),
            refund(other_database, caller, order.order_id, tickets[:1]),
            return_exceptions=True,
        )
        assert not isinstance(taken, BaseException)
        now = await order_as_it_stands(house.db, order.order_id)
        assert not any(ticket.status == "ISSUED" for ticket in await issued(house.db, caller, order.order_id))
        for waiting in [one for one in now.operations if one.status is OperationStatus.SENT]:
            assert isinstance(refunded, BookingError)
            await reported(house.db, caller, waiting.operation_id, OperationResult(ResultOutcome.SUCCEEDED, 4_000))
        assert await count(house.db, "SELECT -sum(amount_minor)::int FROM cash_movements") == 4_000
        await house.work()

    async def test_a_capture_that_may_have_succeeded_is_settled_first(self, house: House) -> None:
        _, item = await failed_capture(house)
        capture = next(one for one in item.operations if one.kind is OperationKind.CAPTURE)
        with pytest.raises(BookingError):
            await house.record(capture.operation_id, ResultOutcome.SUCCEEDED, 8_000)
        for kind in ("capture-failed", "result-conflict"):
            found = await house.item(kind)
            assert [each.why_not for each in found.actions if each.action is TAKE_BACK] == ["may-be-captured"]
            with pytest.raises(ActionNotAllowedError, match="captured the money after all"):
                await house.act(found, TAKE_BACK)
        assert await acts(house) == 0

    async def test_money_that_was_captured_after_all_goes_back(self, house: House) -> None:
        """R25: captured, and the order is gone: a refund, by the word of the provider and of a person."""
        _, item = await failed_capture(house)
        capture = next(one for one in item.operations if one.kind is OperationKind.CAPTURE)
        await house.act(item, TAKE_BACK)
        (charge,) = house.sandbox.ledger.charges
        house.sandbox.ledger.by_hand(Kind.CAPTURE, charge=charge)
        with pytest.raises(BookingError):
            await house.record(capture.operation_id, ResultOutcome.SUCCEEDED, 8_000)
        assert offered(await house.item("result-conflict")) == [ItemAction.ASK_AGAIN, ItemAction.NOTE]  # its void runs
        await house.work()
        assert await house.open_kinds() == ["result-conflict", "void-failed"]
        late = await house.item("result-conflict")
        assert offered(late) == [ItemAction.REFUND, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
        assert [each.most_minor for each in late.actions][:1] == [8_000]
        await house.act(late, ItemAction.REFUND)
        await house.work(2)
        assert await house.open_kinds() == []
        ledger = house.sandbox.ledger.charges[charge]
        assert (ledger.captured, ledger.refunded) == (8_000, 8_000)
        assert (await Comparison(house, Books(house.provider)).run()).differences == {}


async def test_blocked_seats_go_with_no_other_act(house: House) -> None:
    _, item = await failed_capture(house)
    with pytest.raises(InvalidRequestError) as refused:
        await house.act(item, ItemAction.CAPTURE, seats_to_sale=False)
    assert [fault.pointer for fault in refused.value.fields] == ["/seats_to_sale"]


async def test_over_http_the_order_is_taken_back_and_the_item_says_so(house: House) -> None:
    step, item = await failed_capture(house)
    async with api_over(house.db) as api:
        supervisor, path = await api.staff(Role.SUPERVISOR), f"/v1/reconciliation/items/{item.item.item_id}"
        wish = wire.ItemActionRequest(action=wire.ItemAction.TAKE_BACK, version=item.item.version, reason="Never paid")
        problem(await api.call("POST", f"{path}/actions", wish, token=await api.staff(Role.CLERK)), FORBIDDEN)
        done = read(await api.call("POST", f"{path}/actions", wish, token=supervisor), wire.ItemDetail)
        assert (done.item.state, done.item.resolved_by) == (wire.ItemState.RESOLVED, "Some supervisor")
        assert done.order is not None
        assert str(done.order.order_id) == str(step.order.order_id)
        assert done.order.status is wire.OrderStatus.CANCELLED
        problem(await api.call("POST", f"{path}/actions", wish, token=supervisor), wire.ErrorCode.ITEM_CHANGED)
    await house.work()
