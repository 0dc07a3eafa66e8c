"""Orders looked up at this console: what was asked for, what was found as of when, and the order that is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Flag, auto

import msgspec

from backend_client.wire import (
    EventId,
    OperationId,
    OrderId,
    OrderList,
    OrderSummary,
    RefundableOrder,
    RefundRequest,
    TicketCancelRequest,
)

MOST_ORDERS = 500
"""Orders that one search shows; whoever gets more has to say more."""


class OrderPart(Flag):
    """What changed."""

    FOUND = auto()
    DETAIL = auto()
    RETURNS = auto()
    UNTAKEN = auto()


@dataclass(frozen=True, slots=True)
class OrderQuery:
    """A whole number or ticket code; with an event also a seat by its label, or a buyer. Empty: the newest orders."""

    words: str = ""
    event_id: EventId | None = None


@dataclass(frozen=True, slots=True)
class UntakenCash:
    """Cash that was paid out of this till's drawer, and that the API does not take as given back: a person compares."""

    operation_id: OperationId
    order_id: OrderId
    order_number: str
    amount_minor: int
    currency: str
    paid_at: datetime


@dataclass(frozen=True, slots=True)
class SentStep:
    """A step on an order whose answer is not known: the same step goes again under the same key."""

    request: RefundRequest | TicketCancelRequest
    key: str


Listener = Callable[[OrderPart], None]


class OrderDesk:
    """See the module. Read the attributes, write through the methods."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._turn = 0
        self.untaken: tuple[UntakenCash, ...] = ()
        """Of this till, whoever works here; the oldest first."""
        self._forget()

    def _forget(self) -> None:
        self.query = OrderQuery()
        self.found: tuple[OrderSummary, ...] = ()
        self.next = ""
        self.as_of: datetime | None = None
        """When the orders were found; None before the first answer."""
        self.trouble = ""
        self.returns: tuple[OrderSummary, ...] = ()
        """Orders of which this till has to give money back, whoever sold them."""
        self.order_id: OrderId | None = None
        self.detail: RefundableOrder | None = None
        self.detail_trouble = ""
        self.sent: dict[OrderId, SentStep] = {}
        self._shown_turn = 0

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change; the answer ends it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def clear(self) -> None:
        """Nobody works here any more: names of buyers do not stay for the next person."""
        self._forget()
        self._tell(OrderPart.FOUND | OrderPart.DETAIL | OrderPart.RETURNS)

    def ask(self, query: OrderQuery) -> None:
        """Something else is looked for; what was found before stays until the answer comes."""
        self.query, self.trouble = query, ""
        self._tell(OrderPart.FOUND)

    def put_found(self, query: OrderQuery, answer: OrderList, *, more: bool = False) -> None:
        """What was found for `query`; an answer to another one comes too late. `more` adds to what is there."""
        if query != self.query:
            return
        known = {order.order_id for order in self.found} if more else set()
        before = self.found if more else ()
        self.found = (*before, *(order for order in answer.orders if order.order_id not in known))[:MOST_ORDERS]
        self.next = answer.next if len(self.found) < MOST_ORDERS else ""
        self.as_of, self.trouble = answer.server_time, ""
        self._tell(OrderPart.FOUND)

    def put_returns(self, returns: tuple[OrderSummary, ...]) -> None:
        """Orders of which this till has to give money back, as the API named them just now."""
        if returns != self.returns:
            self.returns = returns
            self._tell(OrderPart.RETURNS)

    def put_untaken(self, untaken: tuple[UntakenCash, ...]) -> None:
        """Cash that waits for somebody to compare."""
        if untaken != self.untaken:
            self.untaken = untaken
            self._tell(OrderPart.UNTAKEN)

    def put_trouble(self, query: OrderQuery, code: str) -> None:
        """Looking for `query` did not work; what is there stays."""
        if query == self.query:
            self.trouble = code
            self._tell(OrderPart.FOUND)

    def open(self, order_id: OrderId | None) -> None:
        """Open an order, or none."""
        if order_id != self.order_id:
            self.order_id, self.detail, self.detail_trouble = order_id, None, ""
            self._tell(OrderPart.DETAIL)

    def next_turn(self) -> int:
        """Whose turn it is to read the open order, counted: goes along with the answer."""
        self._turn += 1
        return self._turn

    def put_detail(self, detail: RefundableOrder, turn: int | None = None) -> None:
        """The open order as it stands; an answer about another one is dropped.

        So is the answer to a reading that began before the one that is shown: it would offer again what was just done.
        """
        turn = self.next_turn() if turn is None else turn
        if detail.order.order_id == self.order_id and turn > self._shown_turn:
            self._shown_turn = turn
            self.detail, self.detail_trouble = detail, ""
            self.found = tuple(
                _refreshed(order, detail) if order.order_id == self.order_id else order for order in self.found
            )
            self._tell(OrderPart.DETAIL | OrderPart.FOUND)

    def put_detail_trouble(self, order_id: OrderId, code: str) -> None:
        """The open order could not be read; what is shown of it stays."""
        if order_id == self.order_id:
            self.detail_trouble = code
            self._tell(OrderPart.DETAIL)

    def key_for(
        self, order_id: OrderId, request: RefundRequest | TicketCancelRequest, new_key: Callable[[], str]
    ) -> str:
        """The key of a step: that of the same step if its answer is not known, a new one otherwise."""
        sent = self.sent.get(order_id)
        if sent is None or sent.request != request:
            sent = self.sent[order_id] = SentStep(request, new_key())
        return sent.key

    def settle_key(self, order_id: OrderId) -> None:
        """The answer is known: the next step is another one."""
        self.sent.pop(order_id, None)

    def _tell(self, part: OrderPart) -> None:
        for listener in tuple(self._listeners):
            listener(part)


def _refreshed(order: OrderSummary, detail: RefundableOrder) -> OrderSummary:
    return msgspec.structs.replace(order, status=detail.order.status)
