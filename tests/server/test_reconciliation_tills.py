"""What a refund still owes and a provider cannot give is handed to a till: once, and out of that drawer alone (R33)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.errors import (
    ActionNotAllowedError,
    BookingError,
    InvalidRequestError,
    ItemChangedError,
    OperationNotYoursError,
    OrderNotFoundError,
    RefundTooMuchError,
    ResultConflictError,
)
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemDetail, ItemState
from booking.domain.model import OperationResult, Order, PaymentOperation, ResultOutcome
from booking.domain.money_back import RefundWay
from booking.domain.states import OperationKind, OperationStatus, OrderStatus
from booking.services import find_orders, money_back, orders, reconciliation_items
from booking.store.database import Database
from tests.server.box_office import Desk, count, reported, till
from tests.server.reconciliation_house import House, offered, open_house, stray_charge
from tests.server.refund_desk import issued, pay_part, refund
from tests.server.web_api import api_over, problem, read

HAND = ItemAction.HAND_TO_TILL
GIVEN = ResultOutcome.SUCCEEDED
NOT_GIVEN = OperationResult(ResultOutcome.DECLINED, 0, decline_code="not-returned-here")


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


async def open_till(db: Database, name: str, role: Role = Role.CLERK, *, hours: int = 8) -> Caller:
    """A till with somebody at work."""
    caller = till(role)
    await db.fetch(
        "INSERT INTO staff (staff_id, name, display_name, role, password_hash) VALUES ($1, $2, $3, $4, 'x')",
        caller.staff_id, f"{name} {uuid4()}".lower(), f"Clerk of {name}", role.value,
    )  # fmt: skip
    await db.fetch("INSERT INTO devices (device_id, name) VALUES ($1, $2)", caller.device_id, name)
    await db.fetch(
        "INSERT INTO staff_sessions (session_id, staff_id, device_id, created_at, expires_at)"
        " VALUES ($1, $2, $3, booking_now(), booking_now() + make_interval(hours => $4))",
        uuid4(), caller.staff_id, caller.device_id, hours,
    )  # fmt: skip
    return caller


async def owed(house: House) -> tuple[Order, Caller, ItemDetail]:
    """Half in cash, half at a terminal: both tickets went back, the cash was given, the terminal gave nothing."""
    caller = await open_till(house.db, f"Till {house.free_seat}")
    desk = Desk(house.db, caller, house.event_id)
    order = await desk.check_out(await desk.hold(house.free_seat, house.free_seat + 1))
    house.free_seat += 2
    await pay_part(desk, order, OperationKind.CASH, 4_000)
    sale = (await pay_part(desk, order, OperationKind.SALE, 4_000, in_parts=False)).operation
    await reported(house.db, caller, sale.operation_id, OperationResult(GIVEN, 4_000, "52/17/9"))
    tickets = await issued(house.db, caller, order.order_id)
    backs = (await refund(house.db, caller, order.order_id, tickets)).value.refunds
    (card,) = [one for one in backs if one.status is OperationStatus.SENT]
    await reported(house.db, caller, card.operation_id, NOT_GIVEN)
    return order, caller, await house.item("refund-failed")


def at_till(detail: ItemDetail) -> PaymentOperation:
    (found,) = [one for one in detail.operations if one.status is OperationStatus.SENT]
    return found


async def drawer(db: Database) -> list[tuple[UUID, int]]:
    rows = await db.fetch("SELECT device_id, amount_minor FROM cash_movements ORDER BY at, movement_id")
    return [(row["device_id"], row["amount_minor"]) for row in rows]


async def test_a_named_till_pays_out_in_cash_and_its_drawer_knows(house: House) -> None:
    order, seller, item = await owed(house)
    assert offered(item) == [HAND, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    (act,) = [each for each in item.actions if each.action is HAND]
    assert (act.ways, act.most_minor) == ((RefundWay.SAME, RefundWay.CASH), 4_000)
    other = await open_till(house.db, "North")
    handed = await house.act(item, HAND, device_id=other.device_id, way=RefundWay.CASH)
    operation = at_till(handed)
    assert (operation.device_id, operation.provider, operation.amount_minor) == (other.device_id, "cash", 4_000)
    assert offered(handed) == [ItemAction.NOTE]  # it waits for the till, and the provider cannot be asked
    with pytest.raises(OperationNotYoursError):
        await reported(house.db, seller, operation.operation_id, OperationResult(GIVEN, 4_000))
    for _ in range(2):  # its answer was lost
        await reported(house.db, other, operation.operation_id, OperationResult(GIVEN, 4_000))
    await house.work()
    assert (await house.read(item.item.item_id)).item.resolution == "refunded"
    assert await drawer(house.db) == [(seller.device_id, -4_000), (other.device_id, -4_000)]
    assert (await orders.order_as_it_stands(house.db, order.order_id)).status is OrderStatus.REFUNDED


async def test_a_named_terminal_gives_it_to_the_card(house: House) -> None:
    _, seller, item = await owed(house)
    handed = await house.act(item, HAND, device_id=seller.device_id, way=RefundWay.SAME)
    operation = at_till(handed)
    assert (operation.provider, operation.provider_ref) == ("zvt", "52/17/9")
    await reported(house.db, seller, operation.operation_id, OperationResult(GIVEN, 4_000, "52/18/10"))
    await house.work()
    assert await house.open_kinds() == []
    assert await drawer(house.db) == [(seller.device_id, -4_000)]


async def test_a_till_sees_the_order_of_another_while_it_owes_it(house: House) -> None:
    order, _, item = await owed(house)
    other = await open_till(house.db, "North")
    with pytest.raises(OrderNotFoundError):
        await orders.read_order(house.db, other, order.order_id)
    handed = await house.act(item, HAND, device_id=other.device_id, way=RefundWay.CASH)
    assert [one.order_id for one in (await find_orders.find_returns(house.db, other)).orders] == [order.order_id]
    assert (await orders.read_order(house.db, other, order.order_id)).order_id == order.order_id
    shown = await money_back.refundable_order(house.db, other, order.order_id)
    assert shown.order.order_id == order.order_id
    with pytest.raises(BookingError):  # it may give this back, and do nothing else with it
        await refund(house.db, other, order.order_id, await issued(house.db, house.ana, order.order_id))
    await reported(house.db, other, at_till(handed).operation_id, OperationResult(GIVEN, 4_000))
    assert (await find_orders.find_returns(house.db, other)).orders == ()
    with pytest.raises(OrderNotFoundError):
        await orders.read_order(house.db, other, order.order_id)


async def test_it_is_paid_once_whoever_hands_it_to_whom(house: House) -> None:
    _, seller, item = await owed(house)
    other = await open_till(house.db, "North")
    results = await asyncio.gather(
        house.act(item, HAND, house.ana, device_id=other.device_id, way=RefundWay.CASH),
        house.act(item, HAND, house.bo, device_id=seller.device_id, way=RefundWay.SAME),
        return_exceptions=True,
    )
    (lost,) = [each for each in results if isinstance(each, BookingError)]
    assert isinstance(lost, ItemChangedError)
    now = await house.read(item.item.item_id)
    with pytest.raises(ActionNotAllowedError):
        await house.act(now, HAND, device_id=seller.device_id, way=RefundWay.CASH)
    operation = at_till(now)
    winner = other if operation.device_id == other.device_id else seller
    await reported(house.db, winner, operation.operation_id, OperationResult(GIVEN, 4_000))
    await house.work()
    assert await house.open_kinds() == []
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE at_till AND status = 'SENT'") == 0


async def test_a_silent_till_is_settled_before_another_gives_it(house: House) -> None:
    """Nobody knows whether it paid: only a person's word that it did not lets another till pay."""
    _, _, item = await owed(house)
    first, second = await open_till(house.db, "North"), await open_till(house.db, "South")
    handed = at_till(await house.act(item, HAND, device_id=first.device_id, way=RefundWay.CASH))
    await house.work()
    silent = await house.item("no-result")
    assert offered(silent) == [ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    await house.act(silent, ItemAction.SETTLED_OUTSIDE, reference="till roll", outcome=ResultOutcome.DECLINED)
    await house.work()
    again = await house.act(await house.item("refund-failed"), HAND, device_id=second.device_id, way=RefundWay.CASH)
    with pytest.raises(ResultConflictError):  # the first till has paid all the same: a person hears
        await reported(house.db, first, handed.operation_id, OperationResult(GIVEN, 4_000))
    assert "result-conflict" in await house.open_kinds()
    await reported(house.db, second, at_till(again).operation_id, OperationResult(GIVEN, 4_000))


async def test_in_slices_never_more_than_is_owed(house: House) -> None:
    _, seller, item = await owed(house)
    with pytest.raises(RefundTooMuchError, match="4000"):
        await house.act(item, HAND, device_id=seller.device_id, way=RefundWay.CASH, amount_minor=4_001)
    for amount in (1_500, 2_500):
        handed = await house.act(
            await house.read(item.item.item_id), HAND, device_id=seller.device_id, way=RefundWay.CASH,
            amount_minor=amount,
        )  # fmt: skip
        await reported(house.db, seller, at_till(handed).operation_id, OperationResult(GIVEN, amount))
    await house.work()
    assert await house.open_kinds() == []
    assert sum(amount for _, amount in await drawer(house.db)) == -8_000


async def test_above_the_limit_a_second_person_sees_till_and_way(house: House) -> None:
    _, seller, item = await owed(house)
    await house.limit(3_999)
    asked = await house.act(item, HAND, device_id=seller.device_id, way=RefundWay.CASH)
    assert asked.item.state is ItemState.AWAITING_APPROVAL
    assert asked.approval is not None
    assert (asked.approval.device_id, asked.approval.way, asked.approval.amount_minor) == (
        seller.device_id, RefundWay.CASH, 4_000,
    )  # fmt: skip
    await house.db.fetch("UPDATE staff_sessions SET revoked_at = booking_now(), revoked_reason = 'signed out'")
    with pytest.raises(InvalidRequestError) as refused:
        await house.decide(asked, house.bo, approve=True)
    assert [fault.pointer for fault in refused.value.fields] == ["/device_id"]
    await house.db.fetch("UPDATE staff_sessions SET revoked_at = NULL, revoked_reason = NULL")
    done = await house.decide(await house.read(item.item.item_id), house.bo, approve=True)
    assert at_till(done).device_id == seller.device_id
    await reported(house.db, seller, at_till(done).operation_id, OperationResult(GIVEN, 4_000))


async def test_a_providers_refund_that_failed_may_be_paid_in_cash(house: House) -> None:
    step = await house.sell()
    tickets = await issued(house.db, house.ana, step.order.order_id)
    await refund(house.db, house.ana, step.order.order_id, tickets[:1], way=RefundWay.SAME)
    item = await stray_item(house, step.order.order_id)
    assert offered(item)[:2] == [ItemAction.REFUND, HAND]
    (act,) = [each for each in item.actions if each.action is HAND]
    assert act.ways == (RefundWay.CASH,)
    seller = await open_till(house.db, "North")
    with pytest.raises(InvalidRequestError) as refused:
        await house.act(item, HAND, device_id=seller.device_id, way=RefundWay.SAME)
    assert [fault.pointer for fault in refused.value.fields] == ["/way"]
    handed = await house.act(item, HAND, device_id=seller.device_id, way=RefundWay.CASH, amount_minor=1_000)
    await reported(house.db, seller, at_till(handed).operation_id, OperationResult(GIVEN, 1_000))
    assert await drawer(house.db) == [(seller.device_id, -1_000)]


async def stray_item(house: House, order_id: UUID) -> ItemDetail:
    """A charge of 80.00 that somebody made at the provider, attached to an order: it pays nothing of it."""
    return await house.act(await stray_charge(house, 8_000), ItemAction.ATTACH, order_id=order_id)


async def test_a_sale_that_its_till_is_told_to_reverse_is_handed_to_nobody(house: House) -> None:
    """That till reverses it by itself as soon as it is back: another would give the money a second time."""
    caller = await open_till(house.db, "North")
    operation = await house.sell_at_terminal(caller)
    await house.db.fetch("UPDATE payment_operations SET void_requested = true")
    told = await reported(
        house.db, caller, operation.operation_id, OperationResult(GIVEN, operation.amount_minor, "1/2/3")
    )
    assert told.advice == "reverse"
    await house.work()
    item = await house.item("reversal-overdue")
    assert HAND not in offered(item)
    with pytest.raises(ActionNotAllowedError):
        await house.act(item, HAND, device_id=caller.device_id, way=RefundWay.CASH)


async def test_only_tills_where_somebody_sells_are_open(house: House) -> None:
    north = await open_till(house.db, "North")
    await open_till(house.db, "Office", Role.OPS)
    await open_till(house.db, "Yesterday", hours=-1)
    tills = await reconciliation_items.open_tills(house.db)
    assert [(one.device_id, one.name, one.staff_name) for one in tills] == [
        (north.device_id, "North", "Clerk of North")
    ]
    _, _, item = await owed(house)
    for device in (uuid4(), house.ana.device_id):
        with pytest.raises(InvalidRequestError) as refused:
            await house.act(item, HAND, device_id=device, way=RefundWay.CASH)
        assert [fault.pointer for fault in refused.value.fields] == ["/device_id"]


@pytest.mark.parametrize(
    ("members", "pointers"),
    [
        ({}, ["/device_id", "/way"]),
        ({"device_id": uuid4()}, ["/way"]),
        ({"way": RefundWay.CASH}, ["/device_id"]),
        ({"device_id": uuid4(), "way": RefundWay.CASH, "amount_minor": 0}, ["/amount_minor"]),
    ],
)
async def test_what_a_till_needs_is_named(house: House, members: dict[str, object], pointers: list[str]) -> None:
    _, _, item = await owed(house)
    with pytest.raises(InvalidRequestError) as refused:
        await house.act(item, HAND, **members)  # type: ignore[arg-type]
    assert [fault.pointer for fault in refused.value.fields] == pointers


async def test_over_http_a_supervisor_hands_it_over_and_the_till_gives_it(house: House) -> None:
    """From the list of tills to the report of the one that gave it; who may read and do what."""
    async with api_over(house.db) as api:
        order, _, item = await owed(house)
        device = uuid4()
        seller, supervisor = await api.staff(Role.CLERK, device), await api.staff(Role.SUPERVISOR)
        problem(await api.call("GET", "/v1/tills", token=seller), wire.ErrorCode.FORBIDDEN)
        found = read(await api.call("GET", "/v1/tills", token=supervisor), wire.TillList)
        assert device in {one.device_id for one in found.tills}
        path = f"/v1/reconciliation/items/{item.item.item_id}/actions"
        wish = wire.ItemActionRequest(
            action=wire.ItemAction.HAND_TO_TILL, version=item.item.version, reason="The buyer is there",
            device_id=wire.DeviceId(device), way=wire.RefundWay.CASH,
        )  # fmt: skip
        none = await api.call("POST", path, replace(wish, device_id=wire.DeviceId(uuid4())), token=supervisor)
        fault = problem(none, wire.ErrorCode.INVALID_REQUEST).fields[0]
        assert (fault.pointer, fault.message) == ("/device_id", "a till at which somebody is at work")
        handed = read(await api.call("POST", path, wish, token=supervisor, key="once"), wire.ItemDetail)
        again = read(await api.call("POST", path, wish, token=supervisor, key="once"), wire.ItemDetail)
        assert (handed.item.version, len(handed.operations)) == (again.item.version, len(again.operations))
        waiting = read(await api.call("GET", "/v1/returns", token=seller), wire.OrderList)
        assert [one.order_id for one in waiting.orders] == [order.order_id]
        shown = read(await api.call("GET", f"/v1/orders/{order.order_id}", token=seller), wire.Order)
        (mine,) = [one for one in shown.operations if one.device_id == device]
        report = wire.ResultReport(outcome=wire.ResultOutcome.SUCCEEDED, amount_minor=mine.amount_minor)
        told = await api.call("PUT", f"/v1/payments/{mine.operation_id}/result", report, token=seller)
        assert read(told, wire.ResultAnswer).operation.status == "SUCCEEDED"
        assert read(await api.call("GET", "/v1/returns", token=seller), wire.OrderList).orders == ()
        problem(await api.call("GET", f"/v1/orders/{order.order_id}", token=seller), wire.ErrorCode.ORDER_NOT_FOUND)
