"""The payment sandbox: a provider of our own in a process of its own, with faults on command.

    POST /v1/authorizations   {operation_id, amount, currency, payment_method}
    POST /v1/withdrawals      the same: close it, unless it is granted already
    POST /v1/captures         {operation_id, charge, amount, currency}
    POST /v1/voids            {operation_id, charge, amount, currency}
    POST /v1/refunds          {operation_id, charge, amount, currency}
    GET  /v1/operations/{id}  what became of it, 404 `operation-unknown`
    GET  /v1/charges          every charge, oldest first (?after=ch_…&limit=100)
    GET  /v1/movements        what was decided in [since, until) (?since=&until= seconds since 1970, &after=&limit=100)
    GET  /challenges/{id}     the page on which a buyer answers a 3-D Secure challenge; POST {answer=approve|refuse}

The control calls are in `sandbox_control`; events that it sends by itself in `sandbox_webhooks`.

A declined answer is 402 with the same shape as a success. Amounts are in the provider's own minor units. Magic payment
methods are those of `sandbox_faults.METHODS`; any other method approves. Faults: `sandbox_faults.Fault`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from booking import own_process
from booking.payments.exponents import PROVIDER_EXPONENTS
from booking.payments.sandbox_control import Controls
from booking.payments.sandbox_faults import (
    DONE_BEFORE_ANSWER,
    LIST,
    METHODS,
    SCENARIOS,
    Fault,
    FaultPlan,
    Method,
    WebhookFault,
    fingerprint_of,
    method_of,
)
from booking.payments.sandbox_http import BadRequestError, Call, Delivery, LoopbackServer, Reply
from booking.payments.sandbox_ledger import (
    BY_HAND,
    Kind,
    Operation,
    OperationConflictError,
    Request,
    SandboxLedger,
    Status,
)
from booking.payments.sandbox_page import CHALLENGES, challenge_page, read_answer
from booking.payments.sandbox_webhooks import WebhookSender

CANNOT_REACH = 3
DEFAULT_DELAY_S = 0.0
DEFAULT_SLOW_S = 3.0
DEFAULT_AUTHORIZATION_DAYS = 7.0
SECRET_VARIABLE = "TAQUILLA_SANDBOX_WEBHOOK_SECRET"
_ROUTES = {
    "/v1/authorizations": Kind.AUTHORIZE,
    "/v1/captures": Kind.CAPTURE,
    "/v1/voids": Kind.VOID,
    "/v1/refunds": Kind.REFUND,
}
_DELIVERIES = {
    Fault.HANG_BEFORE: Delivery.NEVER,
    Fault.HANG_AFTER: Delivery.NEVER,
    Fault.DROP_BEFORE: Delivery.CUT,
    Fault.DROP_AFTER: Delivery.CUT,
    Fault.BROKEN_ANSWER: Delivery.BROKEN,
}
_STATUSES = {Fault.STATUS_429: 429, Fault.STATUS_500: 500, Fault.STATUS_500_AFTER: 500, Fault.STATUS_503: 503}


class Sandbox:
    """The provider: routes over a ledger and a fault plan. `decline_all` declines every authorization.

    `url` is where buyers find its pages. Events go to `webhooks.url` and are signed with `webhook_secret`.
    """

    def __init__(
        self,
        ledger: SandboxLedger | None = None,
        *,
        delay_s: float = DEFAULT_DELAY_S,
        slow_s: float = DEFAULT_SLOW_S,
        decline_all: bool = False,
        webhook_secret: bytes = b"",
    ) -> None:
        self.ledger = ledger or SandboxLedger()
        self.faults = FaultPlan()
        self.requests = 0
        self.url = ""
        self.webhooks = WebhookSender(webhook_secret, self.faults.strike_webhook, slow_s=slow_s)
        self._delay_s = delay_s
        self._slow_s = slow_s
        self._decline_all = decline_all
        self._controls = Controls(self.ledger, self.faults, self.webhooks, self.answer_body)
        self.ledger.on_change = self._tell

    async def handle(self, call: Call) -> Reply:
        """One call; what is wrong with it is a 4xx with a code."""
        try:
            control = self._controls.find(call)
            return control(call) if control is not None else await self._serve(call)
        except OperationConflictError as error:
            return _error(409, error.code, "this operation id was used for another request")
        except (BadRequestError, KeyError, ValueError) as error:
            return _error(400, "invalid-request", str(error))

    async def _serve(self, call: Call) -> Reply:
        where, name = call.path.rsplit("/", 1)
        if call.method == "POST" and call.path in _ROUTES:
            return await self._operate(_ROUTES[call.path], call)
        if (call.method, call.path) == ("POST", "/v1/withdrawals"):
            return await self._withdraw(call)
        if (call.method, where) == ("GET", "/v1/operations"):
            return await self._enquire(name)
        if (call.method, call.path) == ("GET", "/v1/charges"):
            return self._list_charges(call)
        if (call.method, call.path) == ("GET", "/v1/movements"):
            return await self._list_movements(call)
        if where == CHALLENGES:
            return self._challenge(call, name)
        return _error(404, "not-found", call.path)

    def answer_body(self, operation: Operation) -> dict[str, Any]:
        """What a caller is told of an operation."""
        request = operation.request
        challenge = operation.status is Status.ACTION_REQUIRED
        return {
            "operation_id": "" if operation.by_hand else request.operation_id,
            "movement": request.operation_id,
            "kind": request.kind.value,
            "status": operation.status.value,
            "charge": operation.charge,
            "amount": request.amount,
            "currency": request.currency,
            "decline_code": operation.decline_code,
            "next_action": f"redirect:{self.url}{CHALLENGES}/{request.operation_id}" if challenge else "",
            "card_brand": "Visa" if request.kind is Kind.AUTHORIZE else "",
            "card_fingerprint": fingerprint_of(request.payment_method),
            "expires_at": self.ledger.expires_at(operation.charge) if request.kind is Kind.AUTHORIZE else None,
        }

    def _tell(self, operation: Operation) -> None:
        """An event for each decision, told under an id of its own: the same again after a restart."""
        self.webhooks.tell(
            {
                "id": f"evt_{operation.request.operation_id}_{operation.status.value}",
                "type": f"{operation.request.kind.value}.{operation.status.value}",
                "created": operation.at,
                "data": self.answer_body(operation),
            }
        )

    def _answer(self, operation: Operation) -> Reply:
        return Reply(402 if operation.status is Status.DECLINED else 200, self.answer_body(operation))

    async def _operate(self, kind: Kind, call: Call) -> Reply:
        request = _read_request(kind, call.json())
        method = METHODS.get(method_of(request.payment_method), Method())
        self.requests += 1

        async def done() -> Reply:
            refusal = method.decline_code or ("card-declined" if self._decline_all else "")
            return self._answer(self.ledger.carry_out(request, refuse_with=refusal, needs_action=method.needs_action))

        return await self._with_faults(self.faults.strike(kind.value, method, request.operation_id), done)

    async def _withdraw(self, call: Call) -> Reply:
        request = _read_request(Kind.AUTHORIZE, call.json())

        async def done() -> Reply:
            return self._answer(self.ledger.withdraw(request))

        return await self._with_faults(self.faults.strike("withdraw", Method(), request.operation_id), done)

    async def _enquire(self, operation_id: str) -> Reply:
        async def done() -> Reply:
            operation = self.ledger.operations.get(operation_id)
            if operation is None:
                return _error(404, "operation-unknown", operation_id)
            return self._answer(operation)

        return await self._with_faults(self.faults.strike("enquire", Method(), operation_id), done)

    async def _with_faults(self, fault: Fault | None, done: Callable[[], Awaitable[Reply]]) -> Reply:
        delay_s = self._slow_s if fault is Fault.SLOW else self._delay_s
        if delay_s:
            await asyncio.sleep(delay_s)
        reply = await done() if fault is None or fault in DONE_BEFORE_ANSWER else Reply(200)
        if fault is None or fault is Fault.SLOW:
            return reply
        if fault in _STATUSES:
            retry = {"Retry-After": "1"} if fault in {Fault.STATUS_429, Fault.STATUS_503} else {}
            return Reply(_STATUSES[fault], {"error": {"code": "sandbox-fault"}}, headers=retry)
        return Reply(reply.status, reply.body, _DELIVERIES[fault])

    def _list_charges(self, call: Call) -> Reply:
        limit, after = _limit_of(call), call.query.get("after", "")
        charges = [asdict(charge) for charge in self.ledger.charges.values() if charge.charge > after]
        return Reply(200, {"charges": charges[:limit], "has_more": len(charges) > limit})

    async def _list_movements(self, call: Call) -> Reply:
        since, until = float(call.query.get("since", "0")), float(call.query.get("until", "inf"))
        limit, after = _limit_of(call), int(call.query.get("after", "0"))

        async def done() -> Reply:
            # Operations are only ever added, so a place in the list names the same one for ever.
            operations = list(self.ledger.operations.values())
            chosen = [n for n in range(after, len(operations)) if since <= operations[n].at < until]
            shown = [self.answer_body(operations[n]) | {"at": operations[n].at} for n in chosen[:limit]]
            return Reply(200, {"movements": shown, "next": chosen[limit - 1] + 1 if len(chosen) > limit else None})

        return await self._with_faults(self.faults.strike(LIST, Method(), ""), done)

    def _challenge(self, call: Call, operation_id: str) -> Reply:
        operation = self.ledger.operations.get(operation_id)
        if operation is None:
            return Reply(404, page=challenge_page(None))
        if call.method == "POST" and operation.status is Status.ACTION_REQUIRED:
            self.ledger.complete_action(operation_id, approve=read_answer(call.body))
        return Reply(200, page=challenge_page(operation))


def _limit_of(call: Call) -> int:
    limit = int(call.query.get("limit", "100"))
    if not 1 <= limit <= 1000:
        raise BadRequestError("limit")
    return limit


def _read_request(kind: Kind, body: dict[str, Any]) -> Request:
    amount, currency = body["amount"], str(body["currency"])
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
        raise BadRequestError("amount must be a whole number of minor units")
    if ("sandbox", currency) not in PROVIDER_EXPONENTS:
        raise BadRequestError(f"currency {currency!r} is not supported")
    operation_id = str(body["operation_id"])
    if not operation_id or len(operation_id) > 200 or operation_id.startswith(BY_HAND):
        raise BadRequestError("operation_id")
    return Request(
        operation_id, kind, amount, currency, str(body.get("payment_method", "")), str(body.get("charge", ""))
    )


def _error(status: int, code: str, message: str) -> Reply:
    return Reply(status, {"error": {"code": code, "message": message}})


def main(arguments: Sequence[str]) -> int:
    """Run the sandbox until SIGTERM, SIGINT or the parent's end. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="taquilla sandbox", description="A payment provider with faults on command.")
    parser.add_argument("--port", type=int, default=0, help="on loopback; 0: a free one")
    parser.add_argument(
        "--scenario", choices=sorted(SCENARIOS), default="approve", help="until a control call says else"
    )
    parser.add_argument("--delay", type=float, default=DEFAULT_DELAY_S, metavar="S", help="seconds each answer takes")
    parser.add_argument("--slow", type=float, default=DEFAULT_SLOW_S, metavar="S", help="seconds a slow answer takes")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="keep the books here over restarts")
    parser.add_argument(
        "--authorization-days", type=float, default=DEFAULT_AUTHORIZATION_DAYS, metavar="N",
        help="how long an authorization can be captured",
    )  # fmt: skip
    parser.add_argument("--webhook-url", default="", metavar="URL", help="where events are sent to")
    parser.add_argument(
        "--webhook-secret-file", type=Path, metavar="FILE", help=f"signs events; default: ${SECRET_VARIABLE}"
    )
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    own_process.log_to_standard_error()
    try:
        asyncio.run(_run(chosen))
    except OSError as error:
        sys.stderr.write(f"taquilla sandbox: {error}\n")
        return CANNOT_REACH
    return 0


def _webhook_secret(file: Path | None) -> bytes:
    return file.read_bytes().strip() if file else os.environ.get(SECRET_VARIABLE, "").encode()


async def _run(chosen: argparse.Namespace) -> None:
    sandbox = Sandbox(
        SandboxLedger(chosen.ledger, authorization_days=chosen.authorization_days),
        delay_s=chosen.delay,
        slow_s=chosen.slow,
        decline_all=chosen.scenario == "decline",
        webhook_secret=_webhook_secret(chosen.webhook_secret_file),
    )
    if chosen.scenario in set(Fault):
        sandbox.faults.standing = Fault(chosen.scenario)
    if chosen.scenario in set(WebhookFault):
        sandbox.faults.standing_webhook = WebhookFault(chosen.scenario)
    server = LoopbackServer(sandbox.handle)
    with own_process.ending(chosen.parent_pid) as end:
        await server.start(chosen.port)
        sandbox.url = f"http://127.0.0.1:{server.port}"
        sandbox.webhooks.url = chosen.webhook_url
        own_process.write_ready_file(chosen.ready_file, {"port": server.port, "url": sandbox.url})
        await end.wait()
        await sandbox.webhooks.close()
        await server.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
