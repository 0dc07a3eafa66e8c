"""Stripe as a `PaymentProvider`, through its official library: payment intents that are captured by hand.

An authorization is two requests. The intent is created first, under a key of ours, and its id is kept (`remember`)
before it is confirmed: so a crash leaves no authorization that nobody finds. Each request of an operation has a key
that follows from the operation's, so that whoever repeats it does nothing twice. An intent that failed is closed before
the decline is told: a buyer's page cannot try it again behind our back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from booking.domain.model import OperationResult, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments import stripe_listing
from booking.payments.exponents import InexactAmountError, UnknownExponentError, ledger_amount, provider_amount
from booking.payments.provider import MovementPage, ProviderAwayError, Remember
from booking.payments.stripe_calls import Intent, NoAnswerError, RefusedError, StripeCalls, Talk
from booking.payments.stripe_reading import (
    EXPIRED,
    OPERATION,
    PROVIDER,
    WITHDRAWN,
    IntentState,
    capture_before,
    captured_amount,
    card_of,
    decline_code_of,
    is_about,
    key_of,
    next_action_of,
    state_of,
)

NAME: Final = "stripe"
KEYS_KEPT_FOR: Final = timedelta(hours=20)
"""Stripe keeps idempotency keys for at least 24 hours; later a repeated request would be a new one."""

_EXPAND: Final = ["latest_charge", "payment_method"]
_STATE_REFUSED: Final = frozenset({"payment-intent-unexpected-state", "charge-already-captured", "refused"})
_GRANTED: Final = frozenset({IntentState.GRANTED, IntentState.CAPTURED})


class StripeProvider:
    """See the module. `remember` keeps an intent's id; `return_url` is where a bank sends the buyer back to.

    Without one it asks by Stripe's own page code (`page_secret`).
    """

    name: str = NAME
    payment_method_types: tuple[str, ...] = ("card",)

    def __init__(self, calls: StripeCalls, remember: Remember, *, return_url: str = "") -> None:
        self._calls, self._remember, self._return_url = calls, remember, return_url

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.authorize`. Raises as `provider_amount`, before anything is sent."""
        amount = provider_amount(self.name, operation.currency, operation.amount_minor)
        talk = Talk()
        try:
            intent = await self._intent(operation, amount, talk)
        except RefusedError as refused:
            return self._declined(operation, refused.code, talk)  # nothing was created, so nothing can be charged
        except NoAnswerError:
            return self._unknown(operation, talk)
        return await self._safely(operation, talk, lambda: self._begin(operation, intent, talk))

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.capture`."""
        amount = provider_amount(self.name, operation.currency, operation.amount_minor)
        talk = Talk()

        async def take(key: str) -> Intent:
            call = self._calls.v1.payment_intents.capture_async(
                operation.provider_ref, {"amount_to_capture": amount, "expand": _EXPAND}, {"idempotency_key": key}
            )
            return await self._calls.ask(talk, f"capture {operation.provider_ref} {amount}", call)

        return await self._safely(operation, talk, lambda: self._act(operation, talk, take, self._of_capture))

    async def void(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.void`."""
        talk = Talk()

        async def let_go(key: str) -> Intent:
            call = self._calls.v1.payment_intents.cancel_async(operation.provider_ref, {}, {"idempotency_key": key})
            return await self._calls.ask(talk, f"cancel {operation.provider_ref}", call)

        return await self._safely(operation, talk, lambda: self._act(operation, talk, let_go, self._of_void))

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.refund`."""
        amount = provider_amount(self.name, operation.currency, operation.amount_minor)
        talk = Talk()

        async def give_back() -> OperationResult:
            call = self._calls.v1.refunds.create_async(
                {
                    "payment_intent": operation.provider_ref,
                    "amount": amount,
                    "metadata": self._marks(operation),
                },
                {"idempotency_key": operation.idempotency_key},
            )
            try:
                refund = await self._calls.ask(talk, f"refund {operation.provider_ref} {amount}", call)
            except RefusedError as refused:
                # Its key may be forgotten: what was refused now may have been done then.
                known = await self._refund_of(operation, talk)
                return (
                    self._of_refund(operation, known, talk) if known else self._declined(operation, refused.code, talk)
                )
            return self._of_refund(operation, refund, talk)

        return await self._safely(operation, talk, give_back)

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        """See `PaymentProvider.enquire`. An authorization without a reference was never confirmed: see the module."""
        talk = Talk()
        if not operation.provider_ref:
            return None
        try:
            if operation.kind is OperationKind.REFUND:
                refund = await self._refund_of(operation, talk)
                return None if refund is None else self._of_refund(operation, refund, talk)
            intent = await self._retrieve(operation.provider_ref, talk)
            return await self._of_intent(operation, intent, talk)
        except (RefusedError, NoAnswerError):
            return self._unknown(operation, talk)

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.withdraw`."""
        talk = Talk()

        async def close() -> OperationResult:
            intent = await self._existing(operation, talk)
            if intent is None:
                return self._declined(operation, WITHDRAWN, talk)
            if state_of(intent) in _GRANTED:
                return self._succeeded(operation, intent, intent.get("amount"), talk)
            return await self._closed(operation, intent, talk)

        return await self._safely(operation, talk, close)

    async def page_secret(self, operation: PaymentOperation) -> str:
        """See `PaymentProvider.page_secret`: the intent's client secret, asked for anew each time."""
        if operation.kind is not OperationKind.AUTHORIZE or not operation.provider_ref:
            return ""
        try:
            intent = await self._retrieve(operation.provider_ref, Talk())
        except (RefusedError, NoAnswerError) as error:
            raise ProviderAwayError("The intent could not be read.") from error
        if state_of(intent) is not IntentState.ACTION or key_of(intent) != operation.idempotency_key:
            return ""
        return str(intent.get("client_secret") or "")

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        """See `PaymentProvider.list_movements`."""
        return await stripe_listing.page(self._calls, self.name, since, until, cursor)

    async def close(self) -> None:
        """See `PaymentProvider.close`."""
        await self._calls.close()

    async def _safely(
        self, operation: PaymentOperation, talk: Talk, work: Callable[[], Awaitable[OperationResult]]
    ) -> OperationResult:
        try:
            return await work()
        except (RefusedError, NoAnswerError):
            return self._unknown(operation, talk)

    async def _intent(self, operation: PaymentOperation, amount: int, talk: Talk) -> Intent:
        """The operation's intent, created and kept; a repetition of the request finds the same one."""
        if operation.provider_ref:
            return await self._retrieve(operation.provider_ref, talk)
        intent = await self._create(operation, amount, talk)
        await self._remember(operation, str(intent["id"]))
        return intent

    async def _create(self, operation: PaymentOperation, amount: int, talk: Talk) -> Intent:
        asked: Any = {
            "amount": amount,
            "currency": operation.currency.lower(),
            "capture_method": "manual",
            "payment_method_types": list(self.payment_method_types),
            "metadata": {**self._marks(operation), "order_id": str(operation.order_id)},
        }
        if "card" in self.payment_method_types:
            asked["payment_method"] = operation.payment_method
        call = self._calls.v1.payment_intents.create_async(
            asked, {"idempotency_key": f"{operation.idempotency_key}:create"}
        )
        return await self._calls.ask(talk, f"create an intent of {amount} {operation.currency}", call)

    async def _begin(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult:
        """Confirm an intent that nobody has confirmed; tell of any other."""
        if state_of(intent) is not IntentState.NOT_STARTED:
            return await self._of_intent(operation, intent, talk) or self._unknown(operation, talk)
        # A bank asks on a page of its own, which sends the buyer back; or within ours, by Stripe's code.
        asks: Any = {"return_url": self._return_url} if self._return_url else {"use_stripe_sdk": True}
        params: Any = {"expand": _EXPAND} | asks
        call = self._calls.v1.payment_intents.confirm_async(
            str(intent["id"]), params, {"idempotency_key": f"{operation.idempotency_key}:confirm"}
        )
        try:
            intent = await self._calls.ask(talk, f"confirm {intent['id']}", call)
        except RefusedError as refused:
            intent = await self._retrieve(str(intent["id"]), talk)
            if state_of(intent) in (IntentState.NOT_STARTED, IntentState.FAILED):
                return await self._closed(operation, intent, talk, code=refused.code)
        return await self._of_intent(operation, intent, talk) or self._unknown(operation, talk)

    def _marks(self, operation: PaymentOperation) -> dict[str, str]:
        return {OPERATION: operation.idempotency_key, PROVIDER: self.name}

    async def _retrieve(self, reference: str, talk: Talk) -> Intent:
        call = self._calls.v1.payment_intents.retrieve_async(reference, {"expand": _EXPAND})
        return await self._calls.ask(talk, f"retrieve {reference}", call)

    async def _existing(self, operation: PaymentOperation, talk: Talk) -> Intent | None:
        """The operation's intent, wherever its first driver died; None when there is none."""
        if operation.provider_ref:
            return await self._retrieve(operation.provider_ref, talk)
        if datetime.now(UTC) - operation.created_at < KEYS_KEPT_FOR:
            # The same request under the same key is the same intent, also when the first one is still on its way.
            amount = provider_amount(self.name, operation.currency, operation.amount_minor)
            try:
                return await self._intent(operation, amount, talk)
            except RefusedError:
                return None  # refused now as it was or will be refused to whoever asked first
        return await stripe_listing.find_intent(self._calls, operation, talk)

    async def _act(
        self,
        operation: PaymentOperation,
        talk: Talk,
        act: Callable[[str], Awaitable[Intent]],
        read: Callable[[PaymentOperation, Intent, Talk], OperationResult | None],
    ) -> OperationResult:
        """A capture or void: what was refused because of the intent's state is told by that state.

        Stripe repeats a refusal to the key that it was given for. Both happen once by nature, so a state that has
        become right since is acted upon under a further key.
        """
        try:
            intent = await act(operation.idempotency_key)
        except RefusedError:
            intent = await self._retrieve(operation.provider_ref, talk)
            if state_of(intent) is IntentState.GRANTED:
                intent = await act(f"{operation.idempotency_key}:{operation.attempts}")
        return read(operation, intent, talk) or self._unknown(operation, talk)

    async def _of_intent(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult | None:
        """What the intent says of an operation of its charge; None: it never began."""
        if operation.kind is OperationKind.CAPTURE:
            return self._of_capture(operation, intent, talk)
        if operation.kind is OperationKind.VOID:
            return self._of_void(operation, intent, talk)
        if not is_about(intent, operation, self.name) or key_of(intent) not in ("", operation.idempotency_key):
            return self._unknown(operation, talk, "an answer about another operation")
        return await self._of_charge(operation, intent, talk)

    async def _of_charge(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult | None:
        state = state_of(intent)
        if state is IntentState.NOT_STARTED:
            return None
        if state in _GRANTED:
            return self._succeeded(operation, intent, intent.get("amount"), talk)
        if state is IntentState.ACTION:
            return OperationResult(
                ResultOutcome.ACTION_REQUIRED,
                operation.amount_minor,
                provider_ref=str(intent["id"]),
                next_action=next_action_of(intent),
                evidence=talk.steps,
            )
        if state is IntentState.FAILED:
            return await self._closed(operation, intent, talk, code=decline_code_of(intent))
        if state is IntentState.CLOSED:
            return self._declined(operation, decline_code_of(intent), talk, str(intent["id"]))
        return self._unknown(operation, talk)

    async def _closed(
        self, operation: PaymentOperation, intent: Intent, talk: Talk, *, code: str = ""
    ) -> OperationResult:
        """Close an intent that is not granted; one that is stands. A decline only when it is closed for good."""
        reference = str(intent["id"])
        if state_of(intent) in _GRANTED:
            return self._succeeded(operation, intent, intent.get("amount"), talk)
        try:
            call = self._calls.v1.payment_intents.cancel_async(reference, {})
            intent = await self._calls.ask(talk, f"cancel {reference}", call)
        except RefusedError:
            intent = await self._retrieve(reference, talk)
        if state_of(intent) in _GRANTED:
            return self._succeeded(operation, intent, intent.get("amount"), talk)
        if state_of(intent) is IntentState.CLOSED:
            return self._declined(operation, code or decline_code_of(intent), talk, reference)
        return self._unknown(operation, talk)

    def _of_capture(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult | None:
        state = state_of(intent)
        if state is IntentState.CAPTURED and is_about(intent, operation, self.name):
            return self._succeeded(operation, intent, captured_amount(intent), talk)
        if state is IntentState.CLOSED:
            code = decline_code_of(intent)
            return self._declined(operation, code if code == EXPIRED else "charge-voided", talk)
        return None if state is IntentState.GRANTED else self._unknown(operation, talk)

    def _of_void(self, operation: PaymentOperation, intent: Intent, talk: Talk) -> OperationResult | None:
        state = state_of(intent)
        if state is IntentState.CLOSED:
            return self._succeeded(operation, intent, intent.get("amount"), talk)
        if state is IntentState.CAPTURED:
            return self._declined(operation, "charge-captured", talk)
        return None if state is IntentState.GRANTED else self._unknown(operation, talk)

    def _of_refund(self, operation: PaymentOperation, refund: dict[str, Any], talk: Talk) -> OperationResult:
        status = refund.get("status")
        if status in ("failed", "canceled"):
            return self._declined(operation, str(refund.get("failure_reason") or status).replace("_", "-"), talk)
        if status == "succeeded" and key_of(refund) == operation.idempotency_key:
            return self._succeeded(operation, refund, refund.get("amount"), talk, reference=operation.provider_ref)
        return self._unknown(operation, talk)

    async def _refund_of(self, operation: PaymentOperation, talk: Talk) -> dict[str, Any] | None:
        """The refund that this operation made, among those of its charge."""
        after: dict[str, str] = {}
        while True:
            params: Any = {"payment_intent": operation.provider_ref, "limit": 100} | after
            call = self._calls.v1.refunds.list_async(params)
            found = await self._calls.ask(talk, f"list refunds of {operation.provider_ref}", call)
            for refund in found["data"]:
                if key_of(refund) == operation.idempotency_key:
                    return dict(refund)
            if not found.get("has_more") or not found["data"]:
                return None
            after = {"starting_after": str(found["data"][-1]["id"])}

    def _succeeded(
        self, operation: PaymentOperation, thing: dict[str, Any], amount: object, talk: Talk, *, reference: str = ""
    ) -> OperationResult:
        try:
            amount_minor = ledger_amount(self.name, str(thing["currency"]).upper(), cast("int", amount))
        except (KeyError, TypeError, UnknownExponentError, InexactAmountError):
            return self._unknown(operation, talk, "an amount that cannot be read")
        if operation.kind is OperationKind.VOID:
            amount_minor = operation.amount_minor
        card = card_of(thing)
        return OperationResult(
            ResultOutcome.SUCCEEDED,
            amount_minor,
            provider_ref=reference or str(thing["id"]),
            card_brand=card.brand,
            card_fingerprint=card.fingerprint,
            evidence=talk.steps,
            expires_at=capture_before(thing) if operation.kind is OperationKind.AUTHORIZE else None,
        )

    def _declined(self, operation: PaymentOperation, code: str, talk: Talk, reference: str = "") -> OperationResult:
        return OperationResult(
            ResultOutcome.DECLINED,
            0,
            provider_ref=reference or operation.provider_ref,
            decline_code=code,
            evidence=talk.steps,
        )

    def _unknown(self, operation: PaymentOperation, talk: Talk, why: str = "") -> OperationResult:
        if why:
            talk.note("received", f"unknown: {why}")
        return OperationResult(ResultOutcome.UNKNOWN, 0, provider_ref=operation.provider_ref, evidence=talk.steps)
