"""Money in doubt for pictures and tests: an inbox of many kinds and ages, a whole timeline, orders that were paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from msgspec.structs import replace
from uuid_utils.compat import uuid4, uuid7

from app.showcase import TheatreHouse
from backend_client.testing import FakeBookingServer
from backend_client.testing_items import ItemEntry, ItemShelf
from backend_client.wire import (
    AllowedAction,
    ApprovalAsked,
    CheckoutLine,
    CheckoutRequest,
    DeviceId,
    EventId,
    HoldRequest,
    ItemAction,
    ItemId,
    ItemState,
    OperationId,
    OperationKind,
    OperationStatus,
    Order,
    OrderId,
    PaymentOperation,
    PaymentRequest,
    ReconciliationItem,
    ReconciliationRun,
    RefundWay,
    ResultOutcome,
    ResultReport,
    RunId,
    RunState,
    SeatRef,
    Till,
    TimelineEntry,
    TimelineKind,
)

_DEVICE = DeviceId(UUID(int=77))
_DAY = date(2027, 3, 4)


@dataclass(frozen=True, slots=True)
class _Sketch:
    """An item in few words: kind, age in seconds, amount, provider, seats."""

    kind: str
    age_s: int
    amount_minor: int
    provider: str
    seats: int = 0
    currency: str = "EUR"
    event: str = "La Traviata"


_SKETCHES = (
    _Sketch("provider-only", 2 * 86_400 + 3_600, 12_800, "stripe"),
    _Sketch("money-without-ticket", 86_400 + 14_000, 6_400, "stripe", 1),
    _Sketch("terminal-total-differs", 50_400, 8_900, "zvt"),
    _Sketch("unknown-overdue", 9_300, 25_600, "sandbox", 4),
    _Sketch("refund-failed", 7_400, 19_200, "stripe", 3),
    _Sketch("no-result", 2_700, 17_800, "zvt", 2),
    _Sketch("capture-failed", 1_860, 980_000, "sandbox", 6, "JPY", "Kodo: One Earth"),
    _Sketch("amount-mismatch", 900, 8_900, "zvt", 1),
    _Sketch("paid-not-confirmed", 420, 66_000, "stripe", 5),
    _Sketch("tickets-missing", 130, 4_450, "sandbox", 1),
    _Sketch("duplicate-charge", 48, 12_800, "stripe", 2),
)

_BACK = frozenset({ItemAction.REFUND, ItemAction.HAND_TO_TILL})
_NOBODY_KNOWS = frozenset({"unknown-overdue", "no-result", "amount-mismatch"})
_ACTS: Mapping[str, tuple[ItemAction, ...]] = {
    "provider-only": (ItemAction.ATTACH,),
    "unknown-overdue": (ItemAction.ASK_AGAIN,),
    "no-result": (ItemAction.ASK_AGAIN,),
    "capture-failed": (ItemAction.CAPTURE, ItemAction.TAKE_BACK),
    "refund-failed": (ItemAction.REFUND, ItemAction.HAND_TO_TILL),
    "amount-mismatch": (ItemAction.ASK_AGAIN, ItemAction.VOID),
    "paid-not-confirmed": (ItemAction.REFUND,),
    "duplicate-charge": (ItemAction.REFUND,),
    "tickets-missing": (ItemAction.ASK_AGAIN,),
    "money-without-ticket": (ItemAction.ASK_AGAIN,),
}


def fill_inbox(server: FakeBookingServer, sketches: Sequence[_Sketch] = _SKETCHES) -> list[ItemId]:
    """Items of many kinds in the inbox; the third from the end waits for a second person. Returns their ids."""
    shelf, house = server.items, server.house
    orders = sell_orders(server, 3)
    made = [shelf.add(_entry(shelf, house, sketch, place)) for place, sketch in enumerate(sketches)]
    if len(made) >= 6:
        _give_evidence(shelf, house, made[3], orders[0])
        _ask_second_person(shelf, made[-3])
    server.items.tills[:] = _tills(server)
    server.items.runs.update({run.run_id: run for run in _runs(shelf)})
    for order in orders[:1]:
        server.order_book.open_items[order.order_id] = 1
    return made


def _tills(server: FakeBookingServer) -> list[Till]:
    """Two tills with somebody at work."""
    now = server.house.now()
    return [
        Till(device_id=DeviceId(UUID(int=71)), name="Counter 2", staff_name="Carla Mota", since=now),
        Till(device_id=DeviceId(UUID(int=72)), name="Foyer", staff_name="Tomás Figueiredo", since=now),
    ]


def many_items(server: FakeBookingServer, count: int) -> list[ItemId]:
    """`count` plain items, for what a long list costs."""
    kinds = [sketch.kind for sketch in _SKETCHES]
    sketches = [
        _Sketch(
            kinds[place % len(kinds)], 30 * place + 5, 100 + place * 7 % 50_000, ("stripe", "zvt")[place % 2], place % 7
        )
        for place in range(count)
    ]
    house = server.house
    return [server.items.add(_entry(server.items, house, sketch, place)) for place, sketch in enumerate(sketches)]


def sell_orders(server: FakeBookingServer, count: int) -> list[Order]:
    """Orders that are paid, by card and in cash, with buyers."""
    house = server.house
    if not isinstance(house, TheatreHouse):
        raise TypeError("orders are sold in the theatre")
    buyers = ("Ana Reis", "Tomás Figueiredo", "佐藤 葵", "ليلى حداد")
    made = []
    for place in range(count):
        seats = house.free_run(2 + place % 3, 20 + place)
        order = _buy(house, tuple(seats), in_cash=place % 3 == 2)
        server.order_book.buyers[order.order_id] = buyers[place % len(buyers)]
        row = house.orders[order.order_id]
        row.tickets = tuple(replace(ticket, code=f"T-{uuid4().hex[:16].upper()}") for ticket in row.tickets)
        made.append(order)
    return made


def _buy(house: TheatreHouse, seats: tuple[int, ...], *, in_cash: bool) -> Order:
    hold = house.hold(HoldRequest(seats=seats))
    total = sum(house.prices[house.plan.seats.category_no[seat], 1] for seat in seats)
    lines = tuple(CheckoutLine(seat_no=seat, price_type_id=1) for seat in seats)
    order = house.check_out(hold.hold_id, CheckoutRequest(lines=lines, shown_total_minor=total))
    kind, provider = (OperationKind.CASH, "cash") if in_cash else (OperationKind.SALE, "zvt")
    request = PaymentRequest(
        kind=kind, provider=provider, amount_minor=total, tendered_minor=total if in_cash else None
    )
    paid = house.pay(order.order_id, request, _DEVICE)
    if not in_cash:
        report = ResultReport(
            outcome=ResultOutcome.SUCCEEDED, amount_minor=total, provider_ref="0000418", card_brand="Visa"
        )
        house.report_result(paid.operation.operation_id, report)
    return house.read_order(order.order_id)


def _entry(shelf: ItemShelf, house: object, sketch: _Sketch, place: int) -> ItemEntry:
    del house
    now = shelf.now()
    seats = tuple(
        SeatRef(seat_no=40 + number, section="Stalls centre", row=chr(65 + place % 16), number=str(number + 3))
        for number in range(sketch.seats)
    )
    item = ReconciliationItem(
        item_id=ItemId(uuid7()), kind=sketch.kind, state=ItemState.OPEN, version=1,
        opened_at=now - timedelta(seconds=sketch.age_s), event_id=None if sketch.currency == "JPY" else EventId(1),
        event_name=sketch.event, order_id=OrderId(uuid7()) if sketch.seats else None,
        order_number=f"TQ-{4_100 + place}-{chr(65 + place % 26)}" if sketch.seats else "",
        operation_id=OperationId(uuid7()),
        provider=sketch.provider, amount_minor=sketch.amount_minor, currency=sketch.currency, seats=seats,
        words=sketch.kind,
    )  # fmt: skip
    actions = _actions(sketch, shelf.second_person_above)
    opened = TimelineEntry(at=item.opened_at, kind=TimelineKind.COMPARISON, title="item-opened", source="authority")
    return ItemEntry(item=item, timeline=(opened,), actions=actions)


def _actions(sketch: _Sketch, second_person_above: int | None) -> tuple[AllowedAction, ...]:
    """What the booking system allows with an item of the kind (its table is `booking/domain/item_actions.py`)."""
    moved = _ACTS.get(sketch.kind, ())
    needs_two = second_person_above is not None and sketch.amount_minor > second_person_above
    settled = AllowedAction(
        action=ItemAction.SETTLED_OUTSIDE, needs_second_person=needs_two, needs_outcome=sketch.kind in _NOBODY_KNOWS
    )
    return (
        *(
            AllowedAction(
                action=action, needs_second_person=needs_two and action is not ItemAction.ASK_AGAIN,
                most_minor=sketch.amount_minor if action in _BACK else None,
                ways=(RefundWay.CASH,) if action is ItemAction.HAND_TO_TILL else (),
                why_not="terminal-tells-itself" if sketch.kind == "no-result" else "",
            )
            for action in moved
        ),
        settled,
        AllowedAction(action=ItemAction.NOTE),
    )  # fmt: skip


def _give_evidence(shelf: ItemShelf, house: object, item_id: ItemId, order: Order) -> None:
    """The whole story of a payment whose outcome nobody knows."""
    del house
    entry, now = shelf.entries[item_id], shelf.now()
    operation = OperationId(uuid7())
    amount = order.amount_minor

    def told(
        ago_s: int, kind: TimelineKind, title: str, source: str = "", body: str = "", *, money: bool = False
    ) -> TimelineEntry:
        return TimelineEntry(
            at=now - timedelta(seconds=ago_s), kind=kind, title=title, source=source, body=body,
            operation_id=operation if kind is not TimelineKind.SALE else None,
            amount_minor=amount if money else None, currency="EUR" if money else "",
        )  # fmt: skip

    request = '{"amount":25600,"currency":"EUR","capture":false,"key":"0192f6…c41","method":"pm_••••4242"}'
    entry.timeline = (
        told(11_260, TimelineKind.SALE, "hold-made", "Counter 2"),
        told(11_190, TimelineKind.SALE, "order-made", "Sofia Lindqvist", money=True),
        told(11_188, TimelineKind.REQUEST, "operation-opened", "sandbox", money=True),
        told(11_188, TimelineKind.REQUEST, "request-sent", "sandbox", f"POST /v1/charges\n{request}"),
        told(11_178, TimelineKind.ANSWER, "answer-received", "sandbox", "time-out after 10.0 s, nothing read"),
        told(11_170, TimelineKind.REQUEST, "request-sent", "sandbox", "GET /v1/charges?key=0192f6…c41"),
        told(11_169, TimelineKind.ANSWER, "answer-received", "sandbox", '503 {"error":"overloaded"}'),
        told(11_020, TimelineKind.WEBHOOK, "webhook-received", "sandbox",
             '{"type":"charge.pending","id":"evt_81","charge":"ch_0417","amount":25600}'),
        told(9_300, TimelineKind.COMPARISON, "item-opened", "authority"),
        told(4_100, TimelineKind.PERSON, "act-ask-again", "Sofia Lindqvist", "The buyer is at the desk and asks."),
        told(4_099, TimelineKind.ANSWER, "answer-received", "sandbox", '404 {"error":"no such charge"}'),
        told(3_900, TimelineKind.PERSON, "act-note", "Ana Reis", "Called the provider: ticket 88-1204, by noon."),
    )  # fmt: skip
    charge = PaymentOperation(
        operation_id=operation, order_id=order.order_id, part=1, kind=OperationKind.AUTHORIZE,
        status=OperationStatus.UNKNOWN, provider="sandbox", amount_minor=amount, currency="EUR",
        created_at=now - timedelta(seconds=11_188), updated_at=now - timedelta(seconds=4_099),
    )  # fmt: skip
    entry.order, entry.operations = order, (charge,)
    seats = tuple(line.seat for line in order.lines)
    entry.item = replace(
        entry.item, order_id=order.order_id, order_number=order.number, amount_minor=amount, seats=seats
    )


def _ask_second_person(shelf: ItemShelf, item_id: ItemId) -> None:
    entry, now = shelf.entries[item_id], shelf.now()
    asked = now - timedelta(seconds=95)
    entry.approval = ApprovalAsked(
        action=ItemAction.REFUND, asked_by="Ana Reis", asked_at=asked, amount_minor=entry.item.amount_minor,
        reason="Seats were sold to somebody else while the card ran.", may_decide=True,
    )  # fmt: skip
    entry.item = replace(entry.item, state=ItemState.AWAITING_APPROVAL, version=2, asked_by="Ana Reis")
    entry.timeline = (
        *entry.timeline,
        TimelineEntry(at=asked, kind=TimelineKind.PERSON, title="approval-asked", source="Ana Reis",
                      amount_minor=entry.item.amount_minor, currency=entry.item.currency, body=entry.approval.reason),
    )  # fmt: skip


def _runs(shelf: ItemShelf) -> list[ReconciliationRun]:
    now = shelf.now()

    def run(provider: str, days: int, state: RunState, **members: object) -> ReconciliationRun:
        began = now - timedelta(days=days, seconds=3_000 if days else 20)
        made = ReconciliationRun(
            run_id=RunId(uuid7()), provider=provider, day=_DAY - timedelta(days=days), state=state, started_at=began,
            started_by="Sofia Lindqvist" if not days else "authority",
        )  # fmt: skip
        ended = None if state is RunState.RUNNING else began + timedelta(seconds=74)
        return replace(made, ended_at=ended, **members)

    return [
        run("stripe", 0, RunState.RUNNING, read=1_240, expected=2_000, matched=1_236, differences={"provider-only": 1}),
        run("zvt", 0, RunState.DONE, read=6, expected=6, matched=5, differences={"terminal-total-differs": 1},
            opened_items=1),
        run("stripe", 1, RunState.DONE, read=1_812, expected=1_812, matched=1_809, opened_items=3,
            differences={"provider-only": 1, "duplicate-charge": 1, "money-without-ticket": 1}),
        run("sandbox", 1, RunState.FAILED, read=310, matched=310, detail="the provider's list ended early"),
        run("stripe", 2, RunState.DONE, read=1_540, expected=1_540, matched=1_540),
    ]  # fmt: skip
