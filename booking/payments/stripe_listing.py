"""What moved at Stripe in a span of time: intents (authorizations), cancellations (voids), balance entries (money).

The window is asked of Stripe and checked here as well. A cursor is `PART:LAST_ID`; the three parts follow each other.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

from booking.domain.model import PaymentOperation
from booking.domain.states import OperationKind
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount
from booking.payments.provider import MovementPage, MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.stripe_calls import NoAnswerError, RefusedError, StripeCalls, Talk
from booking.payments.stripe_reading import IntentState, key_of, provider_of, state_of, was_granted

PAGE = 100
LATE_CREATION = timedelta(minutes=30)
_PARTS = ("intents", "cancellations", "balance")
_MONEY = {
    "charge": OperationKind.CAPTURE,
    "payment": OperationKind.CAPTURE,
    "refund": OperationKind.REFUND,
    "payment_refund": OperationKind.REFUND,
}
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
    created = {"gte": int(since.timestamp()), "lt": int(until.timestamp()) + 1}
    window: dict[str, Any] = {"created": created, "limit": PAGE}
    if last:
        window["starting_after"] = last
    try:
        found = await _ask(calls, part, window)
        entries: list[dict[str, Any]] = list(found["data"])
        movements = [
            m for m in [await _movement_of(calls, part, entry, provider) for entry in entries] if m is not None
        ]
    except (RefusedError, NoAnswerError, KeyError, TypeError, ValueError) as error:
        raise ProviderAwayError(f"no list of {part}: {error}") from error
    inside = tuple(movement for movement in movements if since <= movement.at < until)
    if found.get("has_more") and entries:
        return MovementPage(inside, f"{part}:{entries[-1]['id']}")
    following = _PARTS[_PARTS.index(part) + 1 :]
    return MovementPage(inside, f"{following[0]}:" if following else "")


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
    asked = window | {"expand": ["data.source"]}
    return await calls.ask(talk, "list money", calls.v1.balance_transactions.list_async(cast("Any", asked)))


async def _movement_of(calls: StripeCalls, part: str, entry: dict[str, Any], provider: str) -> ProviderMovement | None:
    """The movement of an entry; None for what is none, or another provider's."""
    if part == "intents":
        return _authorization(entry, provider)
    if part == "cancellations":
        return _void(entry, provider)
    source = entry.get("source")
    kind = _MONEY.get(str(entry.get("type")))
    if not isinstance(source, dict) or kind is None:
        return None
    if (provider_of(source) or await _provider_of_intent(calls, source)) != provider:
        return None
    reference = _id_of(source.get("payment_intent")) or str(source["id"])
    taken = source | {"amount": source.get("amount_captured", source["amount"])}
    key = key_of(source) if kind is OperationKind.REFUND else ""
    return _movement(provider, kind, taken, reference, key, MovementStatus.SUCCEEDED, entry["created"])


async def _provider_of_intent(calls: StripeCalls, source: dict[str, Any]) -> str:
    """What somebody did by hand bears no mark of ours: its intent tells where it was paid."""
    reference = _id_of(source.get("payment_intent"))
    if not reference:
        return "stripe"
    intent = await calls.ask(Talk(), f"retrieve {reference}", calls.v1.payment_intents.retrieve_async(reference))
    return provider_of(intent) or "stripe"


def _authorization(intent: dict[str, Any], provider: str) -> ProviderMovement | None:
    if (provider_of(intent) or "stripe") != provider:
        return None
    state = state_of(intent)
    status = _AUTHORIZATIONS.get(state, MovementStatus.PENDING) if state else MovementStatus.PENDING
    if state is IntentState.CLOSED and was_granted(intent):
        status = MovementStatus.SUCCEEDED
    kind, key = OperationKind.AUTHORIZE, key_of(intent)
    return _movement(provider, kind, intent, str(intent["id"]), key, status, intent["created"])


def _void(event: dict[str, Any], provider: str) -> ProviderMovement | None:
    intent = event["data"]["object"]
    is_void = event.get("type") == "payment_intent.canceled" and was_granted(intent)
    if not is_void or (provider_of(intent) or "stripe") != provider:
        return None
    at = intent.get("canceled_at") or event["created"]
    return _movement(provider, OperationKind.VOID, intent, str(intent["id"]), "", MovementStatus.SUCCEEDED, at)


def _id_of(thing: object) -> str:
    name = thing.get("id") if isinstance(thing, dict) else thing
    return name if isinstance(name, str) else ""


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
