"""Calls about money that goes back, and about orders looked up by staff."""

from __future__ import annotations

from urllib.parse import urlencode

from backend_client.client_base import ClientBase
from backend_client.http import Request
from backend_client.wire import (
    EventId,
    OrderId,
    OrderList,
    OrderStatus,
    RefundableOrder,
    RefundAnswer,
    RefundRequest,
    TicketCancelRequest,
)


class MoneyBackCalls(ClientBase):
    """A part of `BookingClient`."""

    async def orders(
        self, q: str = "", *, event: EventId | None = None, status: OrderStatus | None = None, after: str = ""
    ) -> OrderList:
        """Orders, newest first: this till's own, or all for supervisors. `after` is `next` of the page before."""
        return await self._read("/v1/orders" + query_of(q=q, event=event, status=status, after=after), OrderList)

    async def returns(self) -> OrderList:
        """Orders of which this till has to give money back, whoever sold them."""
        return await self._read("/v1/returns", OrderList)

    async def refundable(self, order_id: OrderId) -> RefundableOrder:
        """What of an order's money can go back, and why not the rest."""
        return await self._read(f"/v1/orders/{order_id}/refundable", RefundableOrder)

    async def refund(self, order_id: OrderId, request: RefundRequest, *, key: str) -> RefundAnswer:
        """Give the money of tickets back. A refund at our own terminal is ours to drive and to report."""
        return await self._call(Request("POST", f"/v1/orders/{order_id}/refunds", request, key), RefundAnswer)

    async def cancel_tickets(self, order_id: OrderId, request: TicketCancelRequest, *, key: str) -> RefundAnswer:
        """Make tickets void, and give no money back."""
        return await self._call(Request("POST", f"/v1/orders/{order_id}/cancel-tickets", request, key), RefundAnswer)


def query_of(**members: object) -> str:
    """`?a=1&b=2` of the members that say something; nothing without one."""
    given = {name: str(value) for name, value in members.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""
