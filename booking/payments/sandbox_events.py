"""The sandbox's events as facts."""

from __future__ import annotations

from typing import Any

import msgspec

from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.events import LONGEST_NAME, NoEventError, ProviderEvent, WebhookEndpoint, shortened
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount
from booking.payments.sandbox_client import NAME
from booking.payments.sandbox_webhooks import SIGNATURE_HEADER

_OUTCOMES = {"succeeded": ResultOutcome.SUCCEEDED, "declined": ResultOutcome.DECLINED, "action_required": None}


def endpoint(*secrets: bytes) -> WebhookEndpoint:
    """Where the sandbox's events are taken."""
    return WebhookEndpoint(NAME, SIGNATURE_HEADER.lower().encode(), secrets, parse)


def parse(body: bytes) -> ProviderEvent:
    """Raises `NoEventError`."""
    try:
        event: dict[str, Any] = msgspec.json.decode(body)
        data, event_ref = event["data"], event["id"]
        kind, outcome = OperationKind(data["kind"]), _OUTCOMES[data["status"]]
        key, charge, currency = str(data["operation_id"]), str(data["charge"]), str(data["currency"])
        amount, movement = data["amount"], str(data["movement"])
    except (ValueError, KeyError, TypeError) as error:
        raise NoEventError("no event of the sandbox") from error
    if not isinstance(event_ref, str) or not 0 < len(event_ref) <= LONGEST_NAME:
        raise NoEventError("no event of the sandbox")
    try:
        amount_minor = ledger_amount(NAME, currency, amount)
    except (UnknownExponentError, InexactAmountError, TypeError):
        amount_minor, outcome = 0, None
    return ProviderEvent(
        event_ref=event_ref,
        kind=kind,
        outcome=outcome,
        key=key,
        provider_ref=charge,
        movement_ref=movement,
        amount_minor=amount_minor,
        currency=currency,
        decline_code=str(data.get("decline_code", "")),
        card_brand=str(data.get("card_brand", "")),
        card_fingerprint=str(data.get("card_fingerprint", "")),
        evidence=shortened(body.decode("utf-8", "replace")),
    )
