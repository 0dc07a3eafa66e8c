"""Stripe's events as facts (docs.stripe.com/api/events/types). Read as plain JSON: they come in the account's version.

Configure for the address: payment_intent.amount_capturable_updated, .succeeded, .canceled, .payment_failed,
.requires_action, refund.created, .updated, .failed, terminal.reader.action_succeeded, .action_failed.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.events import LONGEST_NAME, NoEventError, ProviderEvent, WebhookEndpoint
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount
from booking.payments.stripe_reading import captured_amount, card_of, key_of

NAME = "stripe"
HEADER = b"stripe-signature"
_READER = "terminal.reader.action_"
_REFUNDS = {"succeeded": ResultOutcome.SUCCEEDED, "failed": ResultOutcome.DECLINED, "canceled": ResultOutcome.DECLINED}


def endpoint(*secrets: bytes) -> WebhookEndpoint:
    """Where Stripe's events are taken, of payments online and at readers."""
    return WebhookEndpoint(NAME, HEADER, secrets, parse)


def parse(body: bytes) -> ProviderEvent:
    """Raises `NoEventError`."""
    try:
        event: dict[str, Any] = msgspec.json.decode(body)
        event_ref, kind, thing = event["id"], str(event["type"]), event["data"]["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise NoEventError("no event of Stripe") from error
    if not isinstance(event_ref, str) or not 0 < len(event_ref) <= LONGEST_NAME or not isinstance(thing, dict):
        raise NoEventError("no event of Stripe")
    told = _facts(event_ref, kind, thing)
    # The body has names and addresses of buyers: what is kept is what it says of the money.
    return msgspec.structs.replace(told, evidence=f"{kind} {thing.get('id')} {thing.get('status', '')}".strip())


def _facts(event_ref: str, kind: str, thing: dict[str, Any]) -> ProviderEvent:
    if kind.startswith("payment_intent."):
        return _of_intent(event_ref, kind.removeprefix("payment_intent."), thing)
    if kind in ("refund.created", "refund.updated", "refund.failed", "charge.refund.updated"):
        outcome = _REFUNDS.get(str(thing.get("status")))
        fact = ProviderEvent(
            event_ref=event_ref,
            kind=OperationKind.REFUND,
            outcome=outcome,
            key=key_of(thing),
            provider_ref=_id_of(thing.get("payment_intent")),
            movement_ref=str(thing.get("id", "")),
            decline_code=str(thing.get("failure_reason") or "").replace("_", "-"),
        )
        return _with_money(fact, thing, thing.get("amount"))
    if kind.startswith(_READER):
        action = thing.get("action")
        payment = action.get("process_payment_intent") if isinstance(action, dict) else None
        reference = _id_of(payment.get("payment_intent")) if isinstance(payment, dict) else ""
        if reference:
            return ProviderEvent(event_ref=event_ref, kind=OperationKind.AUTHORIZE, provider_ref=reference)
    return ProviderEvent(event_ref=event_ref)


def _of_intent(event_ref: str, what: str, intent: dict[str, Any]) -> ProviderEvent:
    card = card_of(intent)
    about = ProviderEvent(
        event_ref=event_ref,
        kind=OperationKind.AUTHORIZE,
        charge_key=key_of(intent),
        provider_ref=_id_of(intent),
        movement_ref=_id_of(intent),
        card_brand=card.brand,
        card_fingerprint=card.fingerprint,
    )
    if what == "amount_capturable_updated":
        granted = msgspec.structs.replace(about, outcome=ResultOutcome.SUCCEEDED)
        return _with_money(granted, intent, intent.get("amount"))
    if what == "succeeded":
        taken = msgspec.structs.replace(about, kind=OperationKind.CAPTURE, outcome=ResultOutcome.SUCCEEDED)
        return _with_money(taken, intent, captured_amount(intent))
    if what == "canceled":
        closed = msgspec.structs.replace(about, kind=OperationKind.VOID, outcome=ResultOutcome.SUCCEEDED)
        return _with_money(closed, intent, intent.get("amount"))
    if what in ("payment_failed", "requires_action", "processing"):
        return about
    return ProviderEvent(event_ref=event_ref)


def _with_money(fact: ProviderEvent, thing: dict[str, Any], amount: object) -> ProviderEvent:
    """With its amount; what cannot be read makes it a hint: Stripe is asked."""
    currency = str(thing.get("currency", "")).upper()
    try:
        amount_minor = ledger_amount(NAME, currency, cast("int", amount))
    except (UnknownExponentError, InexactAmountError, TypeError):
        return msgspec.structs.replace(fact, outcome=None)
    return msgspec.structs.replace(fact, amount_minor=amount_minor, currency=currency)


def _id_of(thing: object) -> str:
    name = thing.get("id") if isinstance(thing, dict) else thing
    return name if isinstance(name, str) else ""
