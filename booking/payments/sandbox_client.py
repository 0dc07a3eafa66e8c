"""The sandbox as a `PaymentProvider`: the one place where its HTTP becomes results, and every doubt becomes UNKNOWN."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome
from booking.payments.exponents import ledger_amount, provider_amount

NAME = "sandbox"
CONNECT_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 10.0
_OUTCOMES = {
    (200, "succeeded"): ResultOutcome.SUCCEEDED,
    (200, "action_required"): ResultOutcome.ACTION_REQUIRED,
    (402, "declined"): ResultOutcome.DECLINED,
}


class SandboxProvider:
    """See the module. Belongs to one event loop."""

    def __init__(self, base_url: str, *, answer_timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            timeout=httpx.Timeout(answer_timeout_s, connect=CONNECT_TIMEOUT_S),
            trust_env=False,
        )

    @property
    def name(self) -> str:
        return NAME

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.authorize`. Raises as `provider_amount`, before anything is sent."""
        return await self._ask(operation, "/v1/authorizations", _authorization(operation))

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.withdraw`."""
        return await self._ask(operation, "/v1/withdrawals", _authorization(operation))

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.capture`."""
        return await self._ask(operation, "/v1/captures", _body(operation) | {"charge": operation.provider_ref})

    async def void(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.void`."""
        return await self._ask(operation, "/v1/voids", _body(operation) | {"charge": operation.provider_ref})

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.refund`."""
        return await self._ask(operation, "/v1/refunds", _body(operation) | {"charge": operation.provider_ref})

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        """See `PaymentProvider.enquire`."""
        steps = [_step("sent", f"enquire {operation.idempotency_key}")]
        try:
            response = await self._http.get(f"/v1/operations/{operation.idempotency_key}")
        except httpx.HTTPError as error:
            return _unknown(steps, type(error).__name__)
        if response.status_code == 404 and _error_code(response) == "operation-unknown":
            return None
        return _read(operation, response, steps)

    async def close(self) -> None:
        """See `PaymentProvider.close`."""
        await self._http.aclose()

    async def _ask(self, operation: PaymentOperation, path: str, body: dict[str, object]) -> OperationResult:
        steps = [_step("sent", f"POST {path} {operation.idempotency_key} {body['amount']} {body['currency']}")]
        try:
            response = await self._http.post(path, json=body)
        except httpx.HTTPError as error:
            return _unknown(steps, type(error).__name__)
        return _read(operation, response, steps)


def _body(operation: PaymentOperation) -> dict[str, object]:
    return {
        "operation_id": operation.idempotency_key,
        "amount": provider_amount(NAME, operation.currency, operation.amount_minor),
        "currency": operation.currency,
    }


def _authorization(operation: PaymentOperation) -> dict[str, object]:
    return _body(operation) | {"payment_method": operation.payment_method}


def _read(operation: PaymentOperation, response: httpx.Response, steps: list[Evidence]) -> OperationResult:
    """A whole answer about this very operation, or UNKNOWN."""
    try:
        told: dict[str, Any] = response.json()
        outcome = _OUTCOMES[response.status_code, told["status"]]
        if (told["operation_id"], told["currency"]) != (operation.idempotency_key, operation.currency):
            return _unknown(steps, "an answer about another operation")
        amount_minor = ledger_amount(NAME, operation.currency, told["amount"])
        reference, decline_code = str(told["charge"]), str(told["decline_code"])
        brand, next_action = str(told["card_brand"]), str(told["next_action"])
        fingerprint = str(told.get("card_fingerprint", ""))
    except (ValueError, KeyError, TypeError):
        return _unknown(steps, f"status {response.status_code}, {_error_code(response) or 'no answer that we know'}")
    steps.append(
        _step("received", f"{response.status_code} {told['status']} {reference} {amount_minor} {decline_code}")
    )
    return OperationResult(
        outcome,
        0 if outcome is ResultOutcome.DECLINED else amount_minor,
        provider_ref=reference,
        decline_code=decline_code,
        card_brand=brand,
        next_action=next_action,
        evidence=tuple(steps),
        card_fingerprint=fingerprint,
    )


def _error_code(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def _unknown(steps: list[Evidence], why: str) -> OperationResult:
    return OperationResult(ResultOutcome.UNKNOWN, 0, evidence=(*steps, _step("received", f"unknown: {why}")))


def _step(direction: str, body: str) -> Evidence:
    return Evidence(datetime.now(UTC), direction, body)
