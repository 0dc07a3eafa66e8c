"""The sale: hold, check out, pay, cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from starlette.responses import Response

from backend_client import wire
from booking.domain.caller import Channel
from booking.domain.errors import ForbiddenError, InvalidRequestError
from booking.domain.model import (
    BestAvailable,
    CheckoutLine,
    CheckoutPlaces,
    Evidence,
    OperationResult,
    PaymentIntent,
    PaymentStep,
    ResultOutcome,
    TierQuantity,
)
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind
from booking.services import check_out as checking_out
from booking.services import hold_seats as holding
from booking.services import orders, take_payment
from booking.web.at_once import take_at_once
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_hold = TypedBody(wire.HoldRequest)
_checkout = TypedBody(wire.CheckoutRequest)
_payment = TypedBody(wire.PaymentRequest)
_report = TypedBody(wire.ResultReport)
_cancel = TypedBody(wire.CancelRequest)
_TOKEN = wire.ADMISSION_TOKEN_HEADER.lower().encode()
_SESSION = wire.ADMISSION_SESSION_HEADER.lower().encode()


async def hold_seats(call: Call) -> Response:
    """Hold seats and places, all or nothing (R3)."""
    body = _hold(call)
    best = body.best_available
    if call.services.admission is not None:
        token, session = call.header(_TOKEN), call.header(_SESSION)
        await call.services.admission.admit(call.signed_in, call.event_id, token, session, call.key)
    outcome = await holding.hold_seats(
        call.db,
        call.signed_in,
        call.event_id,
        body.seats,
        key=call.key,
        digest=call.digest,
        best_available=None
        if best is None
        else BestAvailable(best.count, best.categories, best.sections, best.accessible),
        tiers=tuple(TierQuantity(tier.tier_id, tier.quantity) for tier in body.tiers),
        access_code=body.access_code,
        house_hold_id=body.house_hold_id,
    )
    return answer_outcome(outcome, wire.Hold)


async def read_hold(call: Call) -> Response:
    """A hold as of now."""
    return answer(to_wire(await holding.read_hold(call.db, call.signed_in, call.id("hold_id")), wire.Hold))


async def release_hold(call: Call) -> Response:
    """Give the seats of a hold back."""
    outcome = await holding.release_hold(call.db, call.signed_in, call.id("hold_id"), key=call.key, digest=call.digest)
    return answer_outcome(outcome, wire.Hold, 200)


async def check_out(call: Call) -> Response:
    """Make an order of a hold; the total is ours (R10)."""
    body = _checkout(call)
    lines = tuple(CheckoutLine(line.seat_no, line.price_type_id) for line in body.lines)
    places = tuple(CheckoutPlaces(line.tier_id, line.price_type_id, line.quantity) for line in body.places)
    with _in_pace(call) as became:
        outcome = await checking_out.check_out(
            call.db, call.signed_in, call.id("hold_id"), lines, body.shown_total_minor,
            key=call.key, digest=call.digest, places=places,
        )  # fmt: skip
        became(outcome.value.order_id)
    return answer_outcome(outcome, wire.Order)


@contextmanager
def _in_pace(call: Call) -> Iterator[Callable[[UUID], None]]:
    """Buyers online begin as many checkouts at once as the provider keeps up with; a till does not wait for it."""
    desk = call.services.providers.desk
    if desk is None or call.signed_in.channel is not Channel.ONLINE:
        yield lambda _: None
        return
    with desk.pace.checkout((call.signed_in.principal, call.key)) as became:
        yield became


async def read_order(call: Call) -> Response:
    """An order as of now."""
    return answer(to_wire(await orders.read_order(call.db, call.signed_in, call.id("order_id")), wire.Order))


async def cancel_order(call: Call) -> Response:
    """Cancel an unpaid order."""
    body = _cancel(call)
    outcome = await orders.cancel_order(
        call.db, call.signed_in, call.id("order_id"), body.reason, body.keep_seats, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.Order, 200)


async def pay(call: Call) -> Response:
    """Open a payment operation. One that a provider authorizes is taken there at once."""
    body = _payment(call)
    intent = PaymentIntent(
        OperationKind(body.kind), body.provider, body.amount_minor, body.tendered_minor, body.payment_method,
        body.in_parts, body.instead_of,
    )  # fmt: skip
    return answer_outcome(await _taken_to_provider(call, await _opened(call, intent)), wire.PaymentAnswer)


async def _opened(call: Call, intent: PaymentIntent) -> Outcome[PaymentStep]:
    """The payment of this request. One that it has opened before stands, whatever the channel takes by now."""
    order_id, choice = call.id("order_id"), call.services.providers.choice
    if choice is not None:
        try:
            intent = await choice.resolve(call.signed_in, order_id, intent)
        except (InvalidRequestError, ForbiddenError):
            seen = await take_payment.payment_of_key(
                call.db, call.signed_in, order_id, key=call.key, digest=call.digest
            )
            if seen is None:
                raise
            return seen
    return await take_payment.open_payment(call.db, call.signed_in, order_id, intent, key=call.key, digest=call.digest)


async def _taken_to_provider(call: Call, outcome: Outcome[PaymentStep]) -> Outcome[PaymentStep]:
    """Speak to the provider outside any transaction (R23), for a few seconds; the worker goes on with what is left."""
    operation = outcome.value.operation
    if call.services.payments is None or operation.kind is not OperationKind.AUTHORIZE:
        return outcome
    (told,) = await take_at_once(call, [operation])
    order = await orders.read_order(call.db, call.signed_in, operation.order_id) if told is None else told.order
    now = next((one for one in order.operations if one.operation_id == operation.operation_id), operation)
    return Outcome(PaymentStep(now, order), outcome.replayed)


async def report_result(call: Call) -> Response:
    """What a terminal said, reported by the device that opened the operation."""
    body = _report(call)
    result = OperationResult(
        outcome=ResultOutcome(body.outcome),
        amount_minor=body.amount_minor,
        provider_ref=body.provider_ref,
        decline_code=body.decline_code,
        card_brand=body.card_brand,
        evidence=tuple(Evidence(item.at, item.direction, item.body) for item in body.evidence),
    )
    outcome = await take_payment.report_device_result(
        call.db, call.signed_in, call.id("operation_id"), result, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.ResultAnswer, 200)
