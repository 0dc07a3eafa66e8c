"""The sandbox as a `PaymentProvider`: the one place where its HTTP becomes results, and every doubt becomes UNKNOWN."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.exponents import ledger_amount, provider_amount
from booking.payments.provider import MovementPage, MovementStatus, ProviderAwayError, ProviderMovement
from booking.plain_http.link import Links
from booking.plain_http.message import Answer, request_bytes

NAME = "sandbox"
ANSWER_TIMEOUT_S = 10.0
MOST_CONNECTIONS = 64
PAGE = 500
_OUTCOMES = {
    (200, "succeeded"): ResultOutcome.SUCCEEDED,
    (200, "action_required"): ResultOutcome.ACTION_REQUIRED,
    (402, "declined"): ResultOutcome.DECLINED,
}
_MOVEMENTS = {
    "succeeded": MovementStatus.SUCCEEDED,
    "action_required": MovementStatus.PENDING,
    "declined": MovementStatus.DECLINED,
}


class SandboxProvider:
    """See the module. Belongs to one event loop. A call that has no answer `answer_timeout_s` later is given up.

    Raises:
        ValueError: `base_url` is no http or https address.
    """

    def __init__(self, base_url: str, *, answer_timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"no address of a provider: {base_url}")
        tls = ssl.create_default_context() if parts.scheme == "https" else None
        port = parts.port or (443 if tls else 80)
        self._host, self._path = parts.netloc.rpartition("@")[2], parts.path.rstrip("/")
        self._links = Links(parts.hostname, port, tls, MOST_CONNECTIONS)
        self._answer_timeout_s = answer_timeout_s

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
            answer = await self._send("GET", f"/v1/operations/{quote(operation.idempotency_key, safe='')}")
        except OSError as error:
            return _unknown(steps, type(error).__name__)
        if answer.status == 404 and _error_code(answer) == "operation-unknown":
            return None
        return _read(operation, answer, steps)

    async def page_secret(self, operation: PaymentOperation) -> str:  # noqa: ARG002
        """See `PaymentProvider.page_secret`: the sandbox's questions are on a page of its own."""
        return ""

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        """See `PaymentProvider.list_movements`."""
        after = int(cursor or "0")
        path = f"/v1/movements?since={since.timestamp()!r}&until={until.timestamp()!r}&after={after}&limit={PAGE}"
        try:
            answer = await self._send("GET", path)
            if answer.status != 200:
                raise ProviderAwayError(f"status {answer.status}")
            told = msgspec.json.decode(answer.body)
            movements = tuple(_movement(each) for each in told["movements"])
            return MovementPage(movements, "" if told["next"] is None else str(int(told["next"])))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ProviderAwayError(type(error).__name__) from error

    async def close(self) -> None:
        """See `PaymentProvider.close`."""
        self._links.close()

    async def _ask(self, operation: PaymentOperation, path: str, body: dict[str, object]) -> OperationResult:
        steps = [_step("sent", f"POST {path} {operation.idempotency_key} {body['amount']} {body['currency']}")]
        try:
            answer = await self._send("POST", path, msgspec.json.encode(body))
        except OSError as error:
            return _unknown(steps, type(error).__name__)
        return _read(operation, answer, steps)

    async def _send(self, method: str, path: str, body: bytes = b"") -> Answer:
        """One call. Raises OSError (TimeoutError is one) when no whole answer came: it may have been heard or not."""
        request = request_bytes(method, self._path + path, self._host, body=body)
        async with asyncio.timeout(self._answer_timeout_s):
            return await self._links.ask(request)


def _movement(told: dict[str, Any]) -> ProviderMovement:
    currency = str(told["currency"])
    return ProviderMovement(
        provider_ref=str(told["charge"]),
        idempotency_key=str(told["operation_id"]),
        kind=OperationKind(told["kind"]),
        amount_minor=ledger_amount(NAME, currency, told["amount"]),
        currency=currency,
        at=datetime.fromtimestamp(float(told["at"]), UTC),
        status=_MOVEMENTS[told["status"]],
        movement_ref=str(told["movement"]),
    )


def _body(operation: PaymentOperation) -> dict[str, object]:
    return {
        "operation_id": operation.idempotency_key,
        "amount": provider_amount(NAME, operation.currency, operation.amount_minor),
        "currency": operation.currency,
    }


def _authorization(operation: PaymentOperation) -> dict[str, object]:
    return _body(operation) | {"payment_method": operation.payment_method}


def _read(operation: PaymentOperation, answer: Answer, steps: list[Evidence]) -> OperationResult:
    """A whole answer about this very operation, or UNKNOWN."""
    try:
        told: dict[str, Any] = msgspec.json.decode(answer.body)
        outcome = _OUTCOMES[answer.status, told["status"]]
        if (told["operation_id"], told["currency"]) != (operation.idempotency_key, operation.currency):
            return _unknown(steps, "an answer about another operation")
        amount_minor = ledger_amount(NAME, operation.currency, told["amount"])
        reference, decline_code = str(told["charge"]), str(told["decline_code"])
        brand, next_action = str(told["card_brand"]), str(told["next_action"])
        fingerprint = str(told.get("card_fingerprint", ""))
        until = told.get("expires_at")
        expires_at = None if until is None else datetime.fromtimestamp(float(until), UTC)
    except (ValueError, KeyError, TypeError):
        return _unknown(steps, f"status {answer.status}, {_error_code(answer) or 'no answer that we know'}")
    steps.append(_step("received", f"{answer.status} {told['status']} {reference} {amount_minor} {decline_code}"))
    return OperationResult(
        outcome,
        0 if outcome is ResultOutcome.DECLINED else amount_minor,
        provider_ref=reference,
        decline_code=decline_code,
        card_brand=brand,
        next_action=next_action,
        evidence=tuple(steps),
        card_fingerprint=fingerprint,
        expires_at=expires_at,
    )


def _error_code(answer: Answer) -> str:
    try:
        return str(msgspec.json.decode(answer.body)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def _unknown(steps: list[Evidence], why: str) -> OperationResult:
    return OperationResult(ResultOutcome.UNKNOWN, 0, evidence=(*steps, _step("received", f"unknown: {why}")))


def _step(direction: str, body: str) -> Evidence:
    return Evidence(datetime.now(UTC), direction, body)
