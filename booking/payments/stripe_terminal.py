"""Stripe Terminal, driven by the server: the customer's card at a reader that Stripe speaks to for us.

An authorization is an intent (created and kept as online) that is handed to the till's reader; `payment_method` names
the reader. The reader's action says how far it is, the intent alone is the truth. After a lost answer the same intent
is looked at, or handed over again under the same key: there never is a second intent, and never a second charge.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from booking.domain.model import OperationResult, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.provider import READER
from booking.payments.stripe_calls import Intent, RefusedError, Talk
from booking.payments.stripe_provider import StripeProvider
from booking.payments.stripe_reading import IntentState, state_of

NAME: Final = "stripe-terminal"
_REFUSALS: Final = {
    "terminal-reader-busy": "reader-busy",
    "terminal-reader-offline": "reader-offline",
    "terminal-reader-hardware-fault": "reader-broken",
    "resource-missing": "reader-unknown",
}
_FAILURES: Final = {
    "terminal-reader-timeout": "reader-timeout",
    "customer-canceled": "customer-cancelled",
    "terminal-reader-offline": "reader-offline",
}


class StripeTerminalProvider(StripeProvider):
    """See the module."""

    name = NAME
    payment_method_types = ("card_present",)

    async def _begin(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult:
        if state_of(intent) is not IntentState.NOT_STARTED:
            return await self._of_intent(operation, intent, talk) or self._unknown(operation, talk)
        reader = operation.payment_method
        params: Any = {"payment_intent": str(intent["id"])}
        call = self._calls.v1.terminal.readers.process_payment_intent_async(
            reader, params, {"idempotency_key": f"{operation.idempotency_key}:process"}
        )
        try:
            told = await self._calls.ask(talk, f"hand {intent['id']} to {reader}", call)
        except RefusedError as refused:
            if refused.code not in _REFUSALS and refused.code.startswith("terminal-reader-"):
                raise  # it may have begun all the same: the reader and the intent tell
            return await self._closed(operation, intent, talk, code=_REFUSALS.get(refused.code, refused.code))
        return await self._of_reader(operation, intent, told, talk)

    async def _of_charge(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult | None:
        """As online; for an intent that waits for a card, the reader says how far it is."""
        if operation.kind is not OperationKind.AUTHORIZE or state_of(intent) is not IntentState.NOT_STARTED:
            return await super()._of_charge(operation, intent, talk)
        reader = await self._reader(operation, talk)
        if not _is_at(reader, intent):
            return None
        return await self._of_reader(operation, intent, reader, talk)

    async def _closed(
        self, operation: PaymentOperation, intent: Intent, talk: Talk, *, code: str = ""
    ) -> OperationResult:
        """Take the intent from the reader first: a reader that is at it would go on.

        The card may have been approved meanwhile, and whoever watches the reader may have confirmed the sale with it:
        then it stands. Only what the reader cannot approve any more is closed.
        """
        reader = await self._reader(operation, talk)
        if _is_at(reader, intent) and _status_of(reader) == "in_progress":
            call = self._calls.v1.terminal.readers.cancel_action_async(operation.payment_method)
            with contextlib.suppress(RefusedError):
                await self._calls.ask(talk, f"cancel at {operation.payment_method}", call)
            intent = await self._retrieve(str(intent["id"]), talk)
        return await super()._closed(operation, intent, talk, code=code)

    async def _of_reader(
        self, operation: PaymentOperation, intent: Intent, reader: dict[str, Any], talk: Talk
    ) -> OperationResult:
        status = _status_of(reader)
        if status == "failed":
            code = str(reader["action"].get("failure_code") or "declined").replace("_", "-")
            return await self._closed(operation, intent, talk, code=_FAILURES.get(code, code))
        if status == "succeeded":
            intent = await self._retrieve(str(intent["id"]), talk)
            if state_of(intent) is not IntentState.NOT_STARTED:
                return await super()._of_charge(operation, intent, talk) or self._unknown(operation, talk)
        return OperationResult(
            ResultOutcome.ACTION_REQUIRED,
            operation.amount_minor,
            provider_ref=str(intent["id"]),
            next_action=f"{READER}{operation.payment_method}",
            evidence=talk.steps,
        )

    async def _reader(self, operation: PaymentOperation, talk: Talk) -> dict[str, Any]:
        call = self._calls.v1.terminal.readers.retrieve_async(operation.payment_method)
        try:
            return await self._calls.ask(talk, f"look at {operation.payment_method}", call)
        except RefusedError as refused:
            if refused.status != 404:
                raise
            return {}  # there is no such reader, so nothing happens at it


def _is_at(reader: dict[str, Any], intent: Intent) -> bool:
    """Whether the reader's action is about this intent."""
    action = reader.get("action")
    process = action.get("process_payment_intent") if isinstance(action, dict) else None
    at = process.get("payment_intent") if isinstance(process, dict) else None
    return bool((at.get("id") if isinstance(at, dict) else at) == intent["id"])


def _status_of(reader: dict[str, Any]) -> str:
    action = reader.get("action")
    return str(action.get("status", "")) if isinstance(action, dict) else ""
