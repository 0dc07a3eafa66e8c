"""Orders looked up and money given back at `FakeBookingServer`: over the orders of its house, without durability.

The tickets of a refund die with its acceptance; a refund that is not decided counts against what can still be given
back. `outcome` says what the provider makes of the next refund; `settle` lets it make up its mind later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from msgspec import json as msgspec_json
from msgspec.structs import replace
from uuid_utils.compat import uuid7

from backend_client.testing_house import House, RefusalError
from backend_client.testing_house_rows import OrderRow
from backend_client.testing_items import AreaCall
from backend_client.wire import (
    DeviceId,
    ErrorCode,
    OperationId,
    OperationKind,
    OperationStatus,
    OrderId,
    OrderList,
    OrderStatus,
    OrderSummary,
    PaymentOperation,
    RefundableCharge,
    RefundableOrder,
    RefundableTicket,
    RefundAnswer,
    RefundRequest,
    RefundWay,
    Role,
    Ticket,
    TicketCancelRequest,
    TicketId,
    TicketStatus,
)

_STAFF = frozenset({Role.CLERK, Role.OPS, Role.SUPERVISOR, Role.ADMIN})
_SELLERS = frozenset({Role.CLERK, Role.SUPERVISOR, Role.ADMIN})
_CHARGES = frozenset({OperationKind.SALE, OperationKind.CASH, OperationKind.CAPTURE})
_DECIDED = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})
_ID = "([0-9a-f-]{36})"


@dataclass(slots=True)
class OrderBook:
    """`limit_minor` is what a clerk may give back alone. `buyers` are names by order."""

    house: House
    outcome: OperationStatus = OperationStatus.SUCCEEDED
    limit_minor: int | None = 20_000
    page: int = 50
    buyers: dict[OrderId, str] = field(default_factory=dict)
    open_items: dict[OrderId, int] = field(default_factory=dict)
    pending: dict[OperationId, tuple[tuple[TicketId, ...], bool]] = field(default_factory=dict)

    def answer(self, call: AreaCall) -> object | None:
        """The answer to a call of this area; None for any other."""
        for method, pattern, roles, handler in _ROUTES:
            match = re.fullmatch(pattern, call.path)
            if match is None or method != call.method:
                continue
            if call.role not in roles:
                raise RefusalError(ErrorCode.FORBIDDEN if call.name else ErrorCode.NOT_SIGNED_IN)
            return handler(self, call, match)
        return None

    # ------------------------------------------------------------ reading

    def find(self, query: dict[str, str]) -> OrderList:
        """Newest first: by a whole number or ticket code, and within an event by a seat's label or a buyer."""
        words = query.get("q", "")
        rows = sorted(self.house.orders.values(), key=lambda row: row.created_at, reverse=True)
        found = [row for row in rows if not words or _bare(words) in self._names(row, within="event" in query)]
        start = int(query.get("after") or 0)
        end = start + self.page
        return OrderList(
            orders=tuple(self._summary(row) for row in found[start:end]),
            next=str(end) if end < len(found) else "",
            server_time=self.house.now(),
        )

    def returns(self, device_id: DeviceId) -> OrderList:
        """Orders of which a till has to give money back."""
        waiting = [
            row
            for row in self.house.orders.values()
            if any(
                one.kind is OperationKind.REFUND and one.device_id == device_id and one.status not in _DECIDED
                for one in row.operations
            )
        ]
        return OrderList(orders=tuple(self._summary(row) for row in waiting), server_time=self.house.now())

    def refundable(self, order_id: UUID) -> RefundableOrder:
        """An order with what of it can be given back."""
        row = self._find(order_id)
        charges = tuple(self._charge(row, charge) for charge in _charges(row))
        return RefundableOrder(
            order=self.house.read_order(order_id),
            tickets=tuple(RefundableTicket(ticket=one, why_not=self._why_not(one)) for one in row.tickets),
            charges=charges,
            refundable_minor=sum(charge.refundable_minor for charge in charges),
            approval_above_minor=self.limit_minor,
        )

    # ------------------------------------------------------------ acts

    def refund(self, order_id: UUID, request: RefundRequest, role: Role) -> RefundAnswer:
        """Give the money of tickets back, to the charges that have it."""
        row, detail = self._find(order_id), self.refundable(order_id)
        chosen = self._chosen(row, request.ticket_ids)
        if any(one.why_not for one in detail.tickets if one.ticket.ticket_id in set(request.ticket_ids)):
            raise RefusalError(ErrorCode.TICKET_NOT_REFUNDABLE)
        amount = sum(ticket.amount_minor for ticket in chosen)
        if amount != request.expected_minor:
            raise RefusalError(ErrorCode.AMOUNT_MISMATCH)
        if amount > detail.refundable_minor:
            raise RefusalError(ErrorCode.REFUND_TOO_MUCH)
        if role is Role.CLERK and self.limit_minor is not None and amount > self.limit_minor:
            raise RefusalError(ErrorCode.FORBIDDEN)
        made = self._open_refunds(row, detail, amount, request.way)
        tickets = tuple(ticket.ticket_id for ticket in chosen)
        for operation in made:
            self.pending[operation.operation_id] = (tickets, request.seats_to_sale)
            if operation.status in _DECIDED:
                self._follow(row, operation)
        return self._answer(row, made, tickets)

    def cancel(self, order_id: UUID, request: TicketCancelRequest) -> RefundAnswer:
        """Make tickets void without money."""
        row = self._find(order_id)
        if any(one.status in {TicketStatus.USED, TicketStatus.VOID} for one in self._chosen(row, request.ticket_ids)):
            raise RefusalError(ErrorCode.TICKET_NOT_REFUNDABLE)
        self._void(row, request.ticket_ids, to_sale=request.seats_to_sale)
        return self._answer(row, (), request.ticket_ids)

    def settle(self, operation_id: OperationId, status: OperationStatus) -> None:
        """The provider makes up its mind about a refund."""
        for row in self.house.orders.values():
            for place, operation in enumerate(row.operations):
                if operation.operation_id == operation_id:
                    row.operations[place] = replace(operation, status=status, updated_at=self.house.now())
                    self._follow(row, row.operations[place])

    # ------------------------------------------------------------ inside

    def _find(self, order_id: UUID) -> OrderRow:
        row = self.house.orders.get(OrderId(order_id))
        if row is None:
            raise RefusalError(ErrorCode.ORDER_NOT_FOUND)
        return row

    def _names(self, row: OrderRow, *, within: bool) -> set[str]:
        """What an order goes by, bare; `within` an event also by its seats and its buyer."""
        names = {row.number, *(ticket.code for ticket in row.tickets)}
        if within:
            seats = [line.seat for line in row.lines]
            names |= {f"{seat.row}{seat.number}" for seat in seats} | {
                f"{one.section}{one.row}{one.number}" for one in seats
            }
            names.add(self.buyers.get(row.order_id, ""))
        return {_bare(name) for name in names if name}

    def _summary(self, row: OrderRow) -> OrderSummary:
        event = self.house.event()
        seats = tuple(
            " ".join(part for part in (line.seat.section, line.seat.row, line.seat.number) if part)
            for line in row.lines
        )
        return OrderSummary(
            order_id=row.order_id, event_id=event.event_id, event_name=event.name, number=row.number,
            status=row.status, amount_minor=row.amount_minor, currency="EUR", seats=seats,
            buyer=self.buyers.get(row.order_id, ""), open_items=self.open_items.get(row.order_id, 0),
            created_at=row.created_at,
        )  # fmt: skip

    def _chosen(self, row: OrderRow, ticket_ids: tuple[TicketId, ...]) -> list[Ticket]:
        chosen = [ticket for ticket in row.tickets if ticket.ticket_id in set(ticket_ids)]
        if len(chosen) != len(set(ticket_ids)):
            raise RefusalError(ErrorCode.TICKET_NOT_FOUND)
        return chosen

    def _why_not(self, ticket: Ticket) -> str:
        if ticket.status is TicketStatus.USED:
            return "used"
        if ticket.status is TicketStatus.VOID:
            return "refunded"
        waits = any(ticket.ticket_id in tickets for tickets, _to_sale in self.pending.values())
        return "refund-pending" if waits else ""

    def _charge(self, row: OrderRow, charge: PaymentOperation) -> RefundableCharge:
        back = [one for one in row.operations if one.parent_id == charge.operation_id]
        done = sum(one.amount_minor for one in back if one.status is OperationStatus.SUCCEEDED)
        waits = sum(one.amount_minor for one in back if one.status not in _DECIDED)
        return RefundableCharge(
            operation_id=charge.operation_id, kind=charge.kind, provider=charge.provider,
            card_brand=charge.card_brand, charged_minor=charge.amount_minor, refunded_minor=done, pending_minor=waits,
            refundable_minor=charge.amount_minor - done - waits,
        )  # fmt: skip

    def _open_refunds(
        self, row: OrderRow, detail: RefundableOrder, amount: int, way: RefundWay
    ) -> tuple[PaymentOperation, ...]:
        made = []
        for charge in detail.charges:
            part = min(amount, charge.refundable_minor)
            if not part:
                continue
            amount -= part
            in_cash = way is RefundWay.CASH or charge.kind is OperationKind.CASH
            operation = PaymentOperation(
                operation_id=OperationId(uuid7()), order_id=row.order_id, part=len(row.operations) + 1,
                kind=OperationKind.REFUND, status=OperationStatus.SUCCEEDED if in_cash else self.outcome,
                provider="cash" if in_cash else charge.provider, amount_minor=part, currency="EUR",
                created_at=self.house.now(), updated_at=self.house.now(), parent_id=charge.operation_id,
                card_brand="" if in_cash else charge.card_brand,
            )  # fmt: skip
            row.operations.append(operation)
            made.append(operation)
        return tuple(made)

    def _follow(self, row: OrderRow, operation: PaymentOperation) -> None:
        """The tickets die with the acceptance, and live on after a refusal."""
        tickets, to_sale = self.pending.pop(operation.operation_id, ((), False))
        if operation.status is OperationStatus.SUCCEEDED:
            self._void(row, tickets, to_sale=to_sale)
            left = any(ticket.status is not TicketStatus.VOID for ticket in row.tickets)
            row.status = OrderStatus.PARTLY_REFUNDED if left else OrderStatus.REFUNDED

    def _void(self, row: OrderRow, ticket_ids: tuple[TicketId, ...], *, to_sale: bool) -> None:
        gone = set(ticket_ids)
        row.tickets = tuple(
            replace(ticket, status=TicketStatus.VOID) if ticket.ticket_id in gone else ticket for ticket in row.tickets
        )
        seats = [one.seat.seat_no for one in row.tickets if one.ticket_id in gone and one.seat.seat_no >= 0]
        if seats:
            self.house.set_seats(tuple(seats), 0 if to_sale else _BLOCKED)

    def _answer(
        self, row: OrderRow, made: tuple[PaymentOperation, ...], ticket_ids: tuple[TicketId, ...]
    ) -> RefundAnswer:
        tickets = tuple(ticket for ticket in row.tickets if ticket.ticket_id in set(ticket_ids))
        return RefundAnswer(order=self.house.read_order(row.order_id), refunds=made, tickets=tickets)


_BLOCKED = 4


def _bare(text: str) -> str:
    """Letters and digits alone, in capitals."""
    return "".join(letter for letter in text.upper() if letter.isalnum())


def _charges(row: OrderRow) -> list[PaymentOperation]:
    return [
        one
        for one in row.operations
        if one.kind in _CHARGES and one.status is OperationStatus.SUCCEEDED and not one.void_requested
    ]


def _refund(book: OrderBook, call: AreaCall, match: re.Match[str]) -> object:
    return book.refund(UUID(match[1]), msgspec_json.decode(call.content, type=RefundRequest), call.role)


def _cancel(book: OrderBook, call: AreaCall, match: re.Match[str]) -> object:
    return book.cancel(UUID(match[1]), msgspec_json.decode(call.content, type=TicketCancelRequest))


_Handler = Callable[[OrderBook, AreaCall, re.Match[str]], object]
_ROUTES: tuple[tuple[str, str, frozenset[Role], _Handler], ...] = (
    ("GET", "/v1/orders", _STAFF, lambda book, call, _match: book.find(call.query)),
    ("GET", "/v1/returns", _SELLERS, lambda book, call, _match: book.returns(call.device_id)),
    ("GET", f"/v1/orders/{_ID}/refundable", _STAFF, lambda book, _call, match: book.refundable(UUID(match[1]))),
    ("POST", f"/v1/orders/{_ID}/refunds", _SELLERS, _refund),
    ("POST", f"/v1/orders/{_ID}/cancel-tickets", _SELLERS, _cancel),
)
