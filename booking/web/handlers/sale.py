"""The sale: hold, check out, pay, cancel."""

from __future__ import annotations

import asyncio
import logging

from starlette.responses import Response

from backend_client import wire
from booking.domain.model import (
    BestAvailable,
    CheckoutLine,
    CheckoutPlaces,
    Evidence,
    OperationResult,
    PaymentIntent,
    PaymentStep,
    ResultOutcome,
    SettledStep,
    TierQuantity,
)
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind, OperationStatus
from booking.services import check_out as checking_out
from booking.services import hold_seats as holding
from booking.services import orders, take_payment
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

PROVIDER_PATIENCE_S = 8.0

log = logging.getLogger(__name__)

_hold = TypedBody(wire.HoldRequest)
_checkout = TypedBody(wire.CheckoutRequest)
_payment = TypedBody(wire.PaymentRequest)
_report = TypedBody(wire.ResultReport)
_cancel = TypedBody(wire.CancelRequest)


async def hold_seats(call: Call) -> Response:
    """Hold seats and places, all or nothing (R3)."""
    body = _hold(call)
    best = body.best_available
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
    outcome = await checking_out.check_out(
        call.db, call.signed_in, call.id("hold_id"), lines, body.shown_total_minor,
        key=call.key, digest=call.digest, places=places,
    )  # fmt: skip
    return answer_outcome(outcome, wire.Order)


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
        OperationKind(body.kind), body.provider, body.amount_minor, body.tendered_minor, body.payment_method
    )
    outcome = await take_payment.open_payment(
        call.db, call.signed_in, call.id("order_id"), intent, key=call.key, digest=call.digest
    )
    return answer_outcome(await _taken_to_provider(call, outcome), wire.PaymentAnswer)


async def _taken_to_provider(call: Call, outcome: Outcome[PaymentStep]) -> Outcome[PaymentStep]:
    """Speak to the provider outside any transaction (R23), for a few seconds; the worker goes on with what is left."""
    operation = outcome.value.operation
    start = call.services.payments
    if start is None or (operation.kind, operation.status) != (OperationKind.AUTHORIZE, OperationStatus.CREATED):
        return outcome
    driving = asyncio.create_task(start(operation), name=f"authorize {operation.operation_id}")
    _driving.add(driving)
    driving.add_done_callback(_end_driving)
    await asyncio.wait({driving}, timeout=PROVIDER_PATIENCE_S)
    told = driving.result() if driving.done() and driving.exception() is None else None
    order = await orders.read_order(call.db, call.signed_in, operation.order_id) if told is None else told.order
    now = next((one for one in order.operations if one.operation_id == operation.operation_id), operation)
    return Outcome(PaymentStep(now, order), outcome.replayed)


_driving: set[asyncio.Task[SettledStep | None]] = set()


def _end_driving(task: asyncio.Task[SettledStep | None]) -> None:
    _driving.discard(task)
    if not task.cancelled() and task.exception() is not None:
        log.warning("%s goes on in the worker", task.get_name(), exc_info=task.exception())


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
