"""What moved at Stripe in a span of time: intents (authorizations), cancellations (voids), balance entries (money).

The window is asked of Stripe and checked here as well. A cursor is `PART:LAST_ID`; the three parts follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from booking.domain.model import PaymentOperation
from booking.domain.states import OperationKind
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount
from booking.payments.provider import MovementPage, MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.stripe_calls import NoAnswerError, RefusedError, StripeCalls, Talk
from booking.payments.stripe_reading import IntentState, key_of, state_of

PAGE = 100
LATE_CREATION = timedelta(minutes=30)
_PARTS = ("intents", "cancellations", "balance")
_AUTHORIZATIONS = {
    IntentState.GRANTED: MovementStatus.SUCCEEDED,
    IntentState.CAPTURED: MovementStatus.SUCCEEDED,
    IntentState.CLOSED: MovementStatus.DECLINED,
    IntentState.FAILED: MovementStatus.DECLINED,
}


async def page(calls: StripeCalls, provider: str, since: datetime, until: datetime, cursor: str) -> MovementPage:
    """See `PaymentProvider.list_movements`; `provider` chooses payments online or those at readers."""
    part, _, last = (cursor or f"{_PARTS[0]}:").partition(":")
    if part not in _PARTS:
        raise ValueError(f"no cursor of a list: {cursor}")
    # Whole seconds outside of the window: Stripe counts in seconds, and each entry is looked at again.
    window: dict[str, Any] = {
        "created": {"gte": int(since.timestamp()), "lt": int(until.timestamp()) + 1},
        "limit": PAGE,
    }
    if last:
        window["starting_after"] = last
    try:
        found = await _ask(calls, part, window)
        entries: list[dict[str, Any]] = list(found["data"])
        movements = [m for entry in entries for m in _READERS[part](entry, provider) if since <= m.at < until]
    except (RefusedError, NoAnswerError, KeyError, TypeError, ValueError) as error:
        raise ProviderAwayError(f"no list of {part}: {error}") from error
    older = bool(entries) and datetime.fromtimestamp(int(entries[-1]["created"]), UTC) < since - timedelta(seconds=1)
    if found.get("has_more") and entries and not older:
        return MovementPage(tuple(movements), f"{part}:{entries[-1]['id']}")
    following = _PARTS[_PARTS.index(part) + 1 :]
    return MovementPage(tuple(movements), f"{following[0]}:" if following else "")


async def find_intent(calls: StripeCalls, operation: PaymentOperation, talk: Talk) -> dict[str, Any] | None:
    """The intent with this operation's key in its metadata, among those created around its time."""
    begin, end = operation.created_at - LATE_CREATION, operation.created_at + timedelta(days=1)
    window: Any = {"created": {"gte": int(begin.timestamp()), "lt": int(end.timestamp())}, "limit": PAGE}
    while True:
        found = await calls.ask(talk, "list intents", calls.v1.payment_intents.list_async(window))
        for intent in found["data"]:
            if key_of(intent) == operation.idempotency_key:
                return dict(intent)
        if not found.get("has_more") or not found["data"]:
            return None
        window["starting_after"] = str(found["data"][-1]["id"])


async def _ask(calls: StripeCalls, part: str, window: dict[str, Any]) -> dict[str, Any]:
    talk = Talk()
    if part == "intents":
        return await calls.ask(talk, "list intents", calls.v1.payment_intents.list_async(cast("Any", window)))
    if part == "cancellations":
        asked = window | {"type": "payment_intent.canceled"}
        return await calls.ask(talk, "list cancellations", calls.v1.events.list_async(cast("Any", asked)))
    asked = window | {"expand": ["data.source", "data.source.charge", "data.source.payment_intent"]}
    return await calls.ask(talk, "list money", calls.v1.balance_transactions.list_async(cast("Any", asked)))


def _authorizations(intent: dict[str, Any], provider: str) -> Iterator[ProviderMovement]:
    if _provider_of(intent.get("payment_method_types")) == provider:
        status = _AUTHORIZATIONS.get(state_of(intent) or IntentState.RUNNING, MovementStatus.PENDING)
        if state_of(intent) is IntentState.CLOSED and intent.get("latest_charge"):
            status = MovementStatus.SUCCEEDED  # granted, and let go later
        yield _movement(
            provider, OperationKind.AUTHORIZE, intent, intent["id"], key_of(intent), status, intent["created"]
        )


def _cancellations(event: dict[str, Any], provider: str) -> Iterator[ProviderMovement]:
    intent = event["data"]["object"]
    is_void = bool(intent.get("latest_charge"))
    if (
        event.get("type") == "payment_intent.canceled"
        and is_void
        and _provider_of(intent.get("payment_method_types")) == provider
    ):
        at = intent.get("canceled_at") or event["created"]
        yield _movement(provider, OperationKind.VOID, intent, intent["id"], "", MovementStatus.SUCCEEDED, at)


def _money(entry: dict[str, Any], provider: str) -> Iterator[ProviderMovement]:
    kind, source = entry.get("type"), entry.get("source")
    if not isinstance(source, dict):
        return
    charge = source if kind in ("charge", "payment") else source.get("charge")
    if not isinstance(charge, dict) or _provider_of_charge(charge, source.get("payment_intent")) != provider:
        return
    reference = charge.get("payment_intent") or charge["id"]
    reference = reference["id"] if isinstance(reference, dict) else reference
    if kind in ("charge", "payment"):
        taken = source | {"amount": source.get("amount_captured", source["amount"])}
        yield _movement(
            provider, OperationKind.CAPTURE, taken, reference, "", MovementStatus.SUCCEEDED, entry["created"]
        )
    elif kind in ("refund", "payment_refund"):
        yield _movement(
            provider,
            OperationKind.REFUND,
            source,
            reference,
            key_of(source),
            MovementStatus.SUCCEEDED,
            entry["created"],
        )


_READERS: dict[str, Callable[[dict[str, Any], str], Iterable[ProviderMovement]]] = {
    "intents": _authorizations,
    "cancellations": _cancellations,
    "balance": _money,
}


def _provider_of(payment_method_types: object) -> str:
    return (
        "stripe-terminal"
        if isinstance(payment_method_types, list) and "card_present" in payment_method_types
        else "stripe"
    )


def _provider_of_charge(charge: dict[str, Any], intent: object) -> str:
    details = charge.get("payment_method_details")
    if isinstance(details, dict):
        return _provider_of([details.get("type")])
    return _provider_of(intent.get("payment_method_types") if isinstance(intent, dict) else None)


def _movement(
    provider: str,
    kind: OperationKind,
    thing: dict[str, Any],
    reference: str,
    key: str,
    status: MovementStatus,
    at: float,
) -> ProviderMovement:
    currency = str(thing["currency"]).upper()
    try:
        amount_minor = ledger_amount(provider, currency, thing["amount"])
    except (UnknownExponentError, InexactAmountError) as error:
        raise ValueError(f"{thing['id']}: {error}") from error
    return ProviderMovement(
        provider_ref=str(reference),
        idempotency_key=key,
        kind=kind,
        amount_minor=amount_minor,
        currency=currency,
        at=datetime.fromtimestamp(at, UTC),
        status=status,
        movement_ref=str(thing["id"]),
    )
