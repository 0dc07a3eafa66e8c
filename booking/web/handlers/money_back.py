"""Money that goes back, and orders looked up by staff."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from backend_client import wire
from booking.domain.model import OrderId
from booking.domain.money_back import CancelWish, RefundStep, RefundWay, RefundWish
from booking.domain.order_search import OrderQuestion
from booking.domain.replay import Outcome
from booking.domain.states import OrderStatus
from booking.services import find_orders as searching
from booking.services import money_back
from booking.web.at_once import take_at_once
from booking.web.bodies import invalid
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_refund = TypedBody(wire.RefundRequest)
_cancel = TypedBody(wire.TicketCancelRequest)


async def find_orders(call: Call) -> Response:
    """Orders, newest first."""
    asked = OrderQuestion(
        text=call.query.get("q", ""),
        event_id=_event_of(call.query.get("event", "")),
        status=_status_of(call.query.get("status", "")),
        after=_order_of(call.query.get("after", "")),
    )
    return answer(to_wire(await searching.find_orders(call.db, call.signed_in, asked), wire.OrderList))


async def find_returns(call: Call) -> Response:
    """Orders of which the caller's till has to give money back."""
    return answer(to_wire(await searching.find_returns(call.db, call.signed_in), wire.OrderList))


def _event_of(text: str) -> int | None:
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) < 2**31):
        raise invalid("query:event", "must be a positive integer")
    return int(text) if text else None


def _status_of(text: str) -> OrderStatus | None:
    try:
        return OrderStatus(text) if text else None
    except ValueError:
        raise invalid("query:status", f"one of {', '.join(OrderStatus)}") from None


def _order_of(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise invalid("query:after", "must be `next` of a page") from None


async def refundable(call: Call) -> Response:
    """What of an order can go back."""
    found = await money_back.refundable_order(call.db, call.signed_in, call.id("order_id"))
    return answer(to_wire(found, wire.RefundableOrder))


async def refund(call: Call) -> Response:
    """Give the money of tickets back. What a provider has to do is taken there at once."""
    body = _refund(call)
    order_id = OrderId(call.id("order_id"))
    wish = RefundWish(tuple(body.ticket_ids), RefundWay(body.way), body.expected_minor, body.seats_to_sale, body.reason)
    outcome = await money_back.open_refund(call.db, call.signed_in, order_id, wish, key=call.key, digest=call.digest)
    await take_at_once(call, outcome.value.refunds)
    return _answered(
        Outcome(await money_back.read_step(call.db, order_id, outcome.value.money_back_id), outcome.replayed)
    )


async def cancel_tickets(call: Call) -> Response:
    """Make tickets void and give no money back."""
    body = _cancel(call)
    wish = CancelWish(tuple(body.ticket_ids), body.seats_to_sale, body.reason)
    return _answered(
        await money_back.cancel_tickets(
            call.db, call.signed_in, call.id("order_id"), wish, key=call.key, digest=call.digest
        )
    )


def _answered(outcome: Outcome[RefundStep]) -> Response:
    return answer_outcome(outcome, wire.RefundAnswer)
