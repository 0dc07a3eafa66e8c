"""The part of the table of routes that is about money that goes back, and about orders looked up by staff."""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web.calls import Answer, KeyRule, QueryParameter, Route
from booking.web.handlers import money_back
from booking.web.who import SELLERS, STAFF

_ORDER: Final = "/v1/orders/{order_id}"
_SEARCH: Final = (
    QueryParameter(
        "q", "string", "A number, a ticket's code; with an event a seat (`A 12`) or what its buyer is known by"
    ),
    QueryParameter("event", "integer", "Of this event alone"),
    QueryParameter("status", "string", "In this state alone"),
    QueryParameter("after", "string", "`next` of the page before"),
)

MONEY_ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "GET", "/v1/orders", money_back.find_orders, STAFF, "Orders, newest first: a till's own, or all for leaders",
        KeyRule.READS, (Answer(200, wire.OrderList),), query=_SEARCH,
    ),
    Route(
        "GET", "/v1/returns", money_back.find_returns, SELLERS, "Orders of which this till has to give money back",
        KeyRule.READS, (Answer(200, wire.OrderList),),
    ),
    Route(
        "GET", f"{_ORDER}/refundable", money_back.refundable, STAFF, "What of an order's money can go back",
        KeyRule.READS, (Answer(200, wire.RefundableOrder),),
    ),
    Route(
        "POST", f"{_ORDER}/refunds", money_back.refund, SELLERS, "Give the money of tickets back", KeyRule.REQUIRED,
        (Answer(201, wire.RefundAnswer),), wire.RefundRequest,
    ),
    Route(
        "POST", f"{_ORDER}/cancel-tickets", money_back.cancel_tickets, SELLERS,
        "Make tickets void and give no money back", KeyRule.REQUIRED, (Answer(201, wire.RefundAnswer),),
        wire.TicketCancelRequest,
    ),
)  # fmt: skip
