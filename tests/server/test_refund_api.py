"""Money back over HTTP: who may, what a wrong body is answered, orders looked up by staff (R25, R33, R35)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.states import OperationKind
from booking.services import issue_tickets
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, fan, make_event
from tests.server.general_admission import Counter, make_standing
from tests.server.refund_desk import captured, issued
from tests.server.web_api import Api, api_over, problem, read

CASH = OperationKind.CASH


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def counter_sale(api: Api, *seats: int) -> tuple[str, Desk, wire.RefundableOrder]:
    """A clerk's token, the till it is signed in at, and a cash sale with its tickets as `refundable` shows it."""
    device = uuid4()
    token = await api.staff(Role.CLERK, device)
    desk = Desk(api.db, Caller.at_till(device, uuid4(), Role.CLERK), await make_event(api.db))
    order = (await desk.sell(*seats)).order
    await issue_tickets.issue_for(api.db, [order.order_id])
    path = f"/v1/orders/{order.order_id}/refundable"
    return token, desk, read(await api.call("GET", path, token=token), wire.RefundableOrder)


def request(found: wire.RefundableOrder, count: int = 1, **members: object) -> wire.RefundRequest:
    tickets = tuple(one.ticket.ticket_id for one in found.tickets[:count])
    words: dict[str, object] = {
        "ticket_ids": tickets, "way": wire.RefundWay.SAME, "expected_minor": ADULT_PRICE * count,
        "seats_to_sale": True, "reason": "ill", **members,
    }  # fmt: skip
    return wire.RefundRequest(**words)  # type: ignore[arg-type]


async def test_a_clerk_sees_what_can_go_back_and_gives_it_back(api: Api) -> None:
    token, _, found = await counter_sale(api, 1, 2)
    assert [one.why_not for one in found.tickets] == ["", ""]
    assert [(one.kind, one.charged_minor, one.refundable_minor) for one in found.charges] == [
        (wire.OperationKind.CASH, 2 * ADULT_PRICE, 2 * ADULT_PRICE)
    ]
    assert found.approval_above_minor == 20_000
    path = f"/v1/orders/{found.order.order_id}/refunds"
    told = read(await api.call("POST", path, request(found), token=token, key="k"), wire.RefundAnswer, 201)
    assert (told.order.status, told.tickets[0].status) == (wire.OrderStatus.PARTLY_REFUNDED, wire.TicketStatus.VOID)
    assert [(one.kind, one.provider, one.parent_id) for one in told.refunds] == [
        (wire.OperationKind.REFUND, "cash", found.charges[0].operation_id)
    ]
    again = await api.call("POST", path, request(found), token=token, key="k")
    assert (again.status_code, again.headers[wire.REPLAYED_HEADER]) == (201, "true")
    later = read(await api.call("GET", path.replace("refunds", "refundable"), token=token), wire.RefundableOrder)
    assert sorted(one.why_not for one in later.tickets) == ["", "refunded"]
    assert later.refundable_minor == ADULT_PRICE


async def test_p18_the_problem_names_what_can_still_go_back(api: Api) -> None:
    token, _, found = await counter_sale(api, 1)
    operation, order_id = found.charges[0].operation_id, found.order.order_id
    async with api.db.transaction() as connection:
        await connection.fetch("SELECT lock_order_for_money($1)", order_id)
        await connection.fetch(
            "SELECT open_money_back($1, 'refund', 1500, 'cash', $2, 'p', $3, 'r', booking_now())",
            operation, uuid4(), uuid4(),
        )  # fmt: skip
    told = await api.call("POST", f"/v1/orders/{order_id}/refunds", request(found), token=token)
    assert "2500" in problem(told, wire.ErrorCode.REFUND_TOO_MUCH).detail
    assert told.status_code == 409


async def test_a_wrong_body_names_its_field_and_nothing_is_done(api: Api) -> None:
    token, _, found = await counter_sale(api, 1)
    path = f"/v1/orders/{found.order.order_id}/refunds"
    tickets = [str(found.tickets[0].ticket.ticket_id)]
    good = {
        "ticket_ids": tickets, "way": "same", "expected_minor": ADULT_PRICE,
        "seats_to_sale": True, "reason": "ill",
    }  # fmt: skip
    wrong: list[tuple[str, object]] = [
        ("ticket_ids", []), ("ticket_ids", ["x"]), ("ticket_ids", tickets * 2), ("way", "cheque"),
        ("expected_minor", -1), ("expected_minor", 1.5), ("expected_minor", "4000"), ("seats_to_sale", "yes"),
        ("reason", ""), ("reason", "x" * 5_000), ("reason", "a\x00b"), ("reason", "   "),
    ]  # fmt: skip
    for name, value in wrong:
        response = await api.call("POST", path, {**good, name: value}, token=token)
        told = problem(response, wire.ErrorCode.INVALID_REQUEST)
        assert response.status_code == 422, (name, value)
        assert all(fault.pointer.startswith(f"/{name}") for fault in told.fields), (name, value, told)
        assert told.fields
    assert await count(api.db, "SELECT count(*) FROM money_backs") == 0


async def test_who_may_not_is_refused_and_who_sees_nothing_is_told_nothing(api: Api) -> None:
    _, _, found = await counter_sale(api, 1)
    order = found.order.order_id
    cancel = wire.TicketCancelRequest(ticket_ids=(found.tickets[0].ticket.ticket_id,), seats_to_sale=True, reason="ill")
    for role, code in (
        (None, wire.ErrorCode.NOT_SIGNED_IN), (Role.FAN, wire.ErrorCode.FORBIDDEN),
        (Role.OPS, wire.ErrorCode.FORBIDDEN),
        (Role.CLERK, wire.ErrorCode.ORDER_NOT_FOUND),
    ):  # fmt: skip
        token = await api.token_of(role)
        problem(await api.call("POST", f"/v1/orders/{order}/refunds", request(found), token=token), code)
        problem(await api.call("POST", f"/v1/orders/{order}/cancel-tickets", cancel, token=token), code)
    leader = await api.staff(Role.SUPERVISOR)
    seen = await api.call("GET", f"/v1/orders/{order}/refundable", token=leader)
    assert read(seen, wire.RefundableOrder).approval_above_minor is None
    told = read(
        await api.call("POST", f"/v1/orders/{order}/cancel-tickets", cancel, token=leader), wire.RefundAnswer, 201
    )
    assert (told.order.status, told.refunds) == (wire.OrderStatus.CANCELLED, ())
    seats = await api.call("GET", f"/v1/events/{found.order.event_id}/seats/1", token=leader)
    kinds = [one.kind for one in read(seats, wire.SeatDetail).history]
    assert "ticket-cancelled" in kinds


async def test_the_history_of_a_seat_tells_its_own_refund_and_no_other(api: Api) -> None:
    token, _, found = await counter_sale(api, 1, 2)
    await api.call("POST", f"/v1/orders/{found.order.order_id}/refunds", request(found), token=token)
    for seat, told in ((1, True), (2, False)):
        answer = await api.call("GET", f"/v1/events/{found.order.event_id}/seats/{seat}", token=token)
        history = read(answer, wire.SeatDetail).history
        assert ("refunded" in [one.kind for one in history]) is told
        assert all(one.reason == "ill" for one in history if one.kind == "refunded")


async def test_a_payment_in_parts_and_instead_of_another_over_http(api: Api) -> None:
    device = uuid4()
    token = await api.staff(Role.CLERK, device)
    desk = Desk(api.db, Caller.at_till(device, uuid4(), Role.CLERK), await make_event(api.db))
    order = await desk.check_out(await desk.hold(1))
    path = f"/v1/orders/{order.order_id}/payments"
    part = wire.PaymentRequest(
        kind=wire.OperationKind.CASH, provider="drawer", amount_minor=1_000, tendered_minor=2_000, in_parts=True
    )
    told = read(await api.call("POST", path, part, token=token), wire.PaymentAnswer, 201)
    assert (told.order.paid_minor, told.operation.change_minor) == (1_000, 1_000)
    card = wire.PaymentRequest(kind=wire.OperationKind.SALE, provider="zvt", amount_minor=3_000)
    sale = read(await api.call("POST", path, card, token=token), wire.PaymentAnswer, 201).operation
    cash = wire.PaymentRequest(
        kind=wire.OperationKind.CASH, provider="drawer", amount_minor=3_000, tendered_minor=3_000,
        instead_of=sale.operation_id,
    )  # fmt: skip
    told = read(await api.call("POST", path, cash, token=token), wire.PaymentAnswer, 201)
    assert (told.order.status, told.order.paid_minor) == (wire.OrderStatus.CONFIRMED, ADULT_PRICE)
    assert [one.void_requested for one in told.order.operations] == [False, True, False]


@pytest.mark.parametrize(
    ("currency", "amount", "code"),
    [("ARS", 4_000, wire.ErrorCode.UNKNOWN_EXPONENT), ("KWD", 4_000, None)],
)
async def test_p21_p22_what_a_provider_cannot_count_is_refused_before_anything_is_stored(
    api: Api, currency: str, amount: int, code: wire.ErrorCode | None
) -> None:
    event = await make_event(api.db, currency=currency)
    desk = Desk(api.db, fan(), event)
    order = await desk.check_out(await desk.hold(1))
    token = await api.staff(Role.SUPERVISOR)
    body = wire.PaymentRequest(kind=wire.OperationKind.AUTHORIZE, provider="sandbox", amount_minor=amount)
    answer = await api.call("POST", f"/v1/orders/{order.order_id}/payments", body, token=token)
    if code is None:
        assert answer.status_code == 201
    else:
        problem(answer, code)
        assert answer.status_code == 422
        assert await count(api.db, "SELECT count(*) FROM payment_operations") == 0
        assert await count(api.db, "SELECT count(*) FROM idempotency WHERE route = 'payments'") == 0


# ---------------------------------------------------------------- orders looked up


async def found_by(api: Api, token: str, **asked: object) -> wire.OrderList:
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return read(await api.call("GET", f"/v1/orders?{query}", token=token), wire.OrderList)


async def test_staff_find_an_order_by_what_they_know_of_it(api: Api) -> None:
    token, desk, found = await counter_sale(api, 21, 22)
    other = (await Desk(api.db, desk.caller, desk.event_id).sell(5)).order
    number, event = found.order.number, desk.event_id
    code = found.tickets[0].ticket.code
    for asked in (
        {"q": number}, {"q": number.lower()}, {"q": number.replace("-", "")}, {"q": code, "event": event},
        {"q": code.lower()}, {"q": "B2", "event": event}, {"q": "b-3", "event": event},
        {"q": "Stalls+B+2", "event": event}, {"q": "%20B%202", "event": event},
    ):  # fmt: skip
        (one,) = (await found_by(api, token, **asked)).orders
        assert (one.number, one.seats) == (number, ("Stalls B 2", "Stalls B 3")), asked
    assert [one.number for one in (await found_by(api, token)).orders] == [other.number, number]  # newest first
    for nothing in ({"q": "B2"}, {"q": "nobody"}, {"q": "%25"}, {"event": 999}, {"status": "REFUNDED"}):
        assert (await found_by(api, token, **nothing)).orders == ()
    assert (await found_by(api, token, status="CONFIRMED", event=event)).orders[0].amount_minor == ADULT_PRICE


async def test_a_till_finds_its_own_and_a_supervisor_everybodys(api: Api) -> None:
    token, desk, found = await counter_sale(api, 1)
    buyer = fan()
    online = await captured(
        api.db, (await Desk(api.db, buyer, desk.event_id).sell(2, kind=OperationKind.AUTHORIZE)).operation
    )
    assert [one.number for one in (await found_by(api, token)).orders] == [found.order.number]
    leader = await api.staff(Role.SUPERVISOR)
    for token in (leader, await api.staff(Role.OPS), await api.staff(Role.ADMIN)):
        found_all = (await found_by(api, token)).orders
        assert [one.number for one in found_all] == [online.number, found.order.number]
    (hit,) = (await found_by(api, leader, q=online.number)).orders
    assert len(hit.buyer) == 6
    (again,) = (await found_by(api, leader, q=hit.buyer, event=desk.event_id)).orders
    assert again.order_id == hit.order_id
    assert buyer.principal not in str(hit)
    await api.db.fetch(
        "INSERT INTO reconciliation_items (item_id, kind, order_id, operation_id, opened_at)"
        " SELECT gen_random_uuid(), 'no-result', order_id, operation_id, booking_now() FROM payment_operations"
        " WHERE order_id = $1", found.order.order_id,
    )  # fmt: skip
    (hit,) = (await found_by(api, leader, q=found.order.number)).orders
    assert hit.open_items == 1
    problem(await api.call("GET", "/v1/orders", token=await api.fan()), wire.ErrorCode.FORBIDDEN)
    problem(await api.call("GET", "/v1/orders"), wire.ErrorCode.NOT_SIGNED_IN)


async def test_pages_are_whole_and_in_order_while_new_orders_come(api: Api) -> None:
    token, desk, _ = await counter_sale(api, 1)
    await api.db.fetch(
        "INSERT INTO orders (order_id, event_id, principal, channel, number, status, amount_minor, currency,"
        " price_version, created_at, ended_at)"
        " SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, 'till', 'N' || n, 'CANCELLED',"
        " 0, 'EUR', 1, booking_now(), booking_now() FROM generate_series(1, 120) AS n",
        desk.event_id, desk.caller.principal,
    )  # fmt: skip
    seen: list[UUID] = []
    after = ""
    while True:
        page = await found_by(api, token, after=after)
        seen += [one.order_id for one in page.orders]
        if not page.next:
            break
        after = page.next
        await desk.sell(len(seen) // 50 + 5)  # comes before the first page: it is in none that follows
    assert len(seen) == len(set(seen)) == 121
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("event", "x"), ("event", "0"), ("status", "PAID"), ("after", "soon"), ("q", "x" * 81)],
)
async def test_a_wrong_question_names_its_parameter(api: Api, name: str, value: str) -> None:
    token = await api.staff(Role.SUPERVISOR)
    response = await api.call("GET", f"/v1/orders?{name}={value}", token=token)
    told = problem(response, wire.ErrorCode.INVALID_REQUEST)
    assert (response.status_code, [fault.pointer for fault in told.fields]) == (422, [f"query:{name}"])


async def test_places_are_shown_by_their_tier(api: Api) -> None:
    event = await make_standing(api.db, 5)
    device = uuid4()
    token = await api.staff(Role.CLERK, device)
    counter = Counter(api.db, Caller.at_till(device, uuid4(), Role.CLERK), event)
    await counter.pay(await counter.check_out(await counter.hold(2)), CASH)
    (one,) = (await found_by(api, token)).orders
    assert one.seats == ("Floor ×2",)
    tickets = await issued(api.db, counter.caller, one.order_id)
    assert len(tickets) == 2
