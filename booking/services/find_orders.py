"""Staff look orders up: by number, seat, ticket code, or the mark of a buyer; newest first, page by page."""

from __future__ import annotations

from booking.domain.caller import Caller, Channel
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError
from booking.domain.order_search import OrderList, OrderQuestion, OrderSummary
from booking.domain.text import is_storable
from booking.store import order_search_queries
from booking.store.database import Database

PAGE = 50
MAX_TEXT = 80


async def find_orders(db: Database, caller: Caller, asked: OrderQuestion) -> OrderList:
    """A page of orders: a till's own, or everybody's for whoever sees all.

    Raises:
        ForbiddenError: fans have their own orders by id. InvalidRequestError: a text that cannot be looked for.
    """
    if caller.channel is not Channel.TILL:
        raise ForbiddenError("Only staff look orders up.")
    if len(asked.text) > MAX_TEXT or not is_storable(asked.text):
        fault = FieldFault("query:q", f"up to {MAX_TEXT} characters")
        raise InvalidRequestError("This cannot be looked for.", fields=(fault,))
    principal = None if caller.sees_all else caller.principal
    return await _page(db, await order_search_queries.find_orders(db, principal, asked, PAGE + 1))


async def find_returns(db: Database, caller: Caller) -> OrderList:
    """Orders of which the caller's till has to give money back and has not reported it, whoever sold them (R33)."""
    if caller.device_id is None:
        raise ForbiddenError("Only tills give money back.")
    return await _page(db, await order_search_queries.find_returns(db, caller.device_id, PAGE))


async def _page(db: Database, found: list[OrderSummary]) -> OrderList:
    page = tuple(found[:PAGE])
    return OrderList(
        orders=page,
        next=str(page[-1].order_id) if len(found) > PAGE else "",
        server_time=await order_search_queries.server_time(db),
    )
