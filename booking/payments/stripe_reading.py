"""What Stripe's objects say, as results of our operations. Nothing here asks anybody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any

from booking.domain.model import PaymentOperation
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount
from booking.payments.provider import REDIRECT

OPERATION = "operation_id"
"""The member of `metadata` that carries our operation's key."""
PROVIDER = "taquilla_provider"
"""The member of `metadata` that says whether a payment is one online or at a reader."""

EXPIRED = "authorization-expired"
WITHDRAWN = "withdrawn"


class IntentState(Enum):
    """What a payment intent means for its authorization."""

    NOT_STARTED = auto()
    ACTION = auto()
    RUNNING = auto()
    GRANTED = auto()
    CAPTURED = auto()
    FAILED = auto()
    CLOSED = auto()


_STATES = {
    "requires_confirmation": IntentState.NOT_STARTED,
    "requires_action": IntentState.ACTION,
    "processing": IntentState.RUNNING,
    "requires_capture": IntentState.GRANTED,
    "succeeded": IntentState.CAPTURED,
    "canceled": IntentState.CLOSED,
}


@dataclass(frozen=True, slots=True)
class Card:
    brand: str = ""
    fingerprint: str = ""


def state_of(intent: dict[str, Any]) -> IntentState | None:
    """None for a state that we do not know."""
    if intent.get("status") == "requires_payment_method":
        return IntentState.FAILED if intent.get("last_payment_error") else IntentState.NOT_STARTED
    return _STATES.get(str(intent.get("status")))


def is_about(intent: dict[str, Any], operation: PaymentOperation, provider: str) -> bool:
    """Whether it is the intent of this charge: right reference, money and, for its authorization, our key."""
    try:
        amount = ledger_amount(provider, str(intent["currency"]).upper(), intent["amount"])
    except (KeyError, TypeError, UnknownExponentError, InexactAmountError):
        return False
    if str(intent["currency"]).upper() != operation.currency or intent.get("id") in (None, ""):
        return False
    return amount == operation.amount_minor or operation.kind in ("refund", "void")


def key_of(thing: dict[str, Any]) -> str:
    """Our operation's key in an object's metadata; "" without one."""
    metadata = thing.get("metadata")
    return str(metadata.get(OPERATION, "")) if isinstance(metadata, dict) else ""


def provider_of(thing: dict[str, Any]) -> str:
    """`stripe` or `stripe-terminal`, as far as an object says; "" when it does not."""
    metadata = thing.get("metadata")
    marked = metadata.get(PROVIDER) if isinstance(metadata, dict) else None
    if marked:
        return str(marked)
    details = thing.get("payment_method_details")
    types = [details.get("type")] if isinstance(details, dict) else thing.get("payment_method_types")
    if not isinstance(types, list):
        return ""
    return "stripe-terminal" if "card_present" in types else "stripe"


def was_granted(intent: dict[str, Any]) -> bool:
    """Whether an intent that is closed was an authorization before: it has a charge, and no error."""
    return bool(intent.get("latest_charge")) and not intent.get("last_payment_error")


def next_action_of(intent: dict[str, Any]) -> str:
    """`redirect:URL`, or `stripe:TYPE` for what only Stripe's own page code can do."""
    action = intent.get("next_action")
    if not isinstance(action, dict):
        return ""
    redirect = action.get("redirect_to_url")
    if isinstance(redirect, dict) and redirect.get("url"):
        return f"{REDIRECT}{redirect['url']}"
    return f"stripe:{action.get('type', '')}"


def decline_code_of(intent: dict[str, Any]) -> str:
    """Why an intent failed or was closed, in kebab-case."""
    error = intent.get("last_payment_error")
    if isinstance(error, dict):
        code = error.get("decline_code") or error.get("code") or "declined"
        return str(code).replace("_", "-")
    return EXPIRED if intent.get("cancellation_reason") == "automatic" else WITHDRAWN


def card_of(intent: dict[str, Any]) -> Card:
    """The card that paid, as far as it is told: the charge knows it, and the payment method."""
    charge = intent.get("latest_charge")
    details = charge.get("payment_method_details") if isinstance(charge, dict) else None
    method = intent.get("payment_method")
    for holder in (details, method):
        if not isinstance(holder, dict):
            continue
        card = holder.get("card") or holder.get("card_present")
        if isinstance(card, dict):
            return Card(str(card.get("brand") or ""), str(card.get("fingerprint") or ""))
    return Card()


def capture_before(intent: dict[str, Any]) -> datetime | None:
    """Until when an authorization can be captured, as far as its charge says."""
    charge = intent.get("latest_charge")
    details = charge.get("payment_method_details") if isinstance(charge, dict) else None
    card = (details.get("card") or details.get("card_present")) if isinstance(details, dict) else None
    until = card.get("capture_before") if isinstance(card, dict) else None
    return datetime.fromtimestamp(until, UTC) if isinstance(until, int) else None


def captured_amount(intent: dict[str, Any]) -> object:
    """What was taken, as Stripe counts."""
    received = intent.get("amount_received")
    return intent.get("amount") if received is None else received
