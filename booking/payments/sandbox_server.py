"""The payment sandbox: a provider of our own in a process of its own, with faults on command.

    POST /v1/authorizations   {operation_id, amount, currency, payment_method}
    POST /v1/withdrawals      the same: close it, unless it is granted already
    POST /v1/captures         {operation_id, charge, amount, currency}
    POST /v1/voids            {operation_id, charge, amount, currency}
    POST /v1/refunds          {operation_id, charge, amount, currency}
    GET  /v1/operations/{id}  what became of it, 404 `operation-unknown`
    GET  /v1/charges          every charge, oldest first (?after=ch_…&limit=100)

    POST   /control/faults    {on: authorize|capture|void|refund|withdraw|enquire|any, fault, times}
    DELETE /control/faults    no more faults
    GET    /control/faults    {planned, fired}
    POST   /control/actions   {operation_id, approve}: the buyer did what a 3-D Secure challenge asked
    GET    /control/ledger    {operations, charges}

A declined answer is 402 with the same shape as a success. Amounts are in the provider's own minor units. Magic payment
methods are those of `sandbox_faults.METHODS`; any other method approves. Faults: `sandbox_faults.Fault`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from booking import own_process
from booking.payments.exponents import PROVIDER_EXPONENTS
from booking.payments.sandbox_faults import (
    DONE_BEFORE_ANSWER,
    METHODS,
    SCENARIOS,
    Fault,
    FaultPlan,
    Method,
    Planned,
    fingerprint_of,
    method_of,
)
from booking.payments.sandbox_http import BadRequestError, Call, Delivery, LoopbackServer, Reply
from booking.payments.sandbox_ledger import (
    Kind,
    Operation,
    OperationConflictError,
    Request,
    SandboxLedger,
    Status,
)

CANNOT_REACH = 3
DEFAULT_DELAY_S = 0.0
DEFAULT_SLOW_S = 3.0
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
    """The provider: routes over a ledger and a fault plan. `decline_all` declines every authorization."""

    def __init__(
        self,
        ledger: SandboxLedger | None = None,
        *,
        delay_s: float = DEFAULT_DELAY_S,
        slow_s: float = DEFAULT_SLOW_S,
        decline_all: bool = False,
    ) -> None:
        self.ledger = ledger or SandboxLedger()
        self.faults = FaultPlan()
        self.requests = 0
        self._delay_s = delay_s
        self._slow_s = slow_s
        self._decline_all = decline_all
        self._control: dict[tuple[str, str], Callable[[Call], Reply]] = {
            ("POST", "/control/faults"): self._plan_fault,
            ("DELETE", "/control/faults"): self._forget_faults,
            ("GET", "/control/faults"): self._tell_faults,
            ("POST", "/control/actions"): self._complete_action,
            ("GET", "/control/ledger"): self._tell_ledger,
            ("GET", "/v1/charges"): self._list_charges,
        }

    async def handle(self, call: Call) -> Reply:
        """One call; what is wrong with it is a 4xx with a code."""
        try:
            control = self._control.get((call.method, call.path))
            if control is not None:
                return control(call)
            if call.method == "POST" and call.path in _ROUTES:
                return await self._operate(_ROUTES[call.path], call)
            if (call.method, call.path) == ("POST", "/v1/withdrawals"):
                return await self._withdraw(call)
            if call.method == "GET" and call.path.startswith("/v1/operations/"):
                return await self._enquire(call.path.rsplit("/", 1)[1])
        except OperationConflictError as error:
            return _error(409, error.code, "this operation id was used for another request")
        except (BadRequestError, KeyError, ValueError) as error:
            return _error(400, "invalid-request", str(error))
        return _error(404, "not-found", call.path)

    async def _operate(self, kind: Kind, call: Call) -> Reply:
        request = _read_request(kind, call.json())
        method = METHODS.get(method_of(request.payment_method), Method())
        self.requests += 1

        async def done() -> Reply:
            refusal = method.decline_code or ("card-declined" if self._decline_all else "")
            return _answer(self.ledger.carry_out(request, refuse_with=refusal, needs_action=method.needs_action))

        return await self._with_faults(self.faults.strike(kind.value, method, request.operation_id), done)

    async def _withdraw(self, call: Call) -> Reply:
        request = _read_request(Kind.AUTHORIZE, call.json())

        async def done() -> Reply:
            return _answer(self.ledger.withdraw(request))

        return await self._with_faults(self.faults.strike("withdraw", Method(), request.operation_id), done)

    async def _enquire(self, operation_id: str) -> Reply:
        async def done() -> Reply:
            operation = self.ledger.operations.get(operation_id)
            if operation is None:
                return _error(404, "operation-unknown", operation_id)
            return _answer(operation)

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

    def _plan_fault(self, call: Call) -> Reply:
        asked = call.json()
        planned = Planned(str(asked.get("on", "any")), Fault(asked["fault"]), int(asked.get("times", 1)))
        if planned.on not in {*Kind, "enquire", "withdraw", "any"} or planned.times < 1:
            raise BadRequestError("on or times")
        self.faults.planned.append(planned)
        return Reply(200)

    def _forget_faults(self, _call: Call) -> Reply:
        self.faults.planned.clear()
        self.faults.standing = None
        return Reply(200)

    def _tell_faults(self, _call: Call) -> Reply:
        planned = [{"on": p.on, "fault": p.fault.value, "times": p.times} for p in self.faults.planned]
        return Reply(200, {"planned": planned, "fired": self.faults.fired})

    def _complete_action(self, call: Call) -> Reply:
        asked = call.json()
        return _answer(self.ledger.complete_action(str(asked["operation_id"]), approve=bool(asked["approve"])))

    def _tell_ledger(self, _call: Call) -> Reply:
        operations = [asdict(operation) for operation in self.ledger.operations.values()]
        return Reply(200, {"operations": operations, "charges": [asdict(c) for c in self.ledger.charges.values()]})

    def _list_charges(self, call: Call) -> Reply:
        limit, after = int(call.query.get("limit", "100")), call.query.get("after", "")
        charges = [asdict(charge) for charge in self.ledger.charges.values() if charge.charge > after]
        return Reply(200, {"charges": charges[:limit], "has_more": len(charges) > limit})


def _read_request(kind: Kind, body: dict[str, Any]) -> Request:
    amount, currency = body["amount"], str(body["currency"])
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
        raise BadRequestError("amount must be a whole number of minor units")
    if ("sandbox", currency) not in PROVIDER_EXPONENTS:
        raise BadRequestError(f"currency {currency!r} is not supported")
    operation_id = str(body["operation_id"])
    if not operation_id or len(operation_id) > 200:
        raise BadRequestError("operation_id")
    return Request(
        operation_id, kind, amount, currency, str(body.get("payment_method", "")), str(body.get("charge", ""))
    )


def _answer(operation: Operation) -> Reply:
    request = operation.request
    body = {
        "operation_id": request.operation_id,
        "kind": request.kind.value,
        "status": operation.status.value,
        "charge": operation.charge,
        "amount": request.amount,
        "currency": request.currency,
        "decline_code": operation.decline_code,
        "next_action": operation.next_action,
        "card_brand": "Visa" if request.kind is Kind.AUTHORIZE else "",
        "card_fingerprint": fingerprint_of(request.payment_method),
    }
    return Reply(402 if operation.status is Status.DECLINED else 200, body)


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
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    own_process.log_to_standard_error()
    try:
        asyncio.run(_run(chosen))
    except OSError as error:
        sys.stderr.write(f"taquilla sandbox: {error}\n")
        return CANNOT_REACH
    return 0


async def _run(chosen: argparse.Namespace) -> None:
    sandbox = Sandbox(
        SandboxLedger(chosen.ledger),
        delay_s=chosen.delay,
        slow_s=chosen.slow,
        decline_all=chosen.scenario == "decline",
    )
    if chosen.scenario in set(Fault):
        sandbox.faults.standing = Fault(chosen.scenario)
    server = LoopbackServer(sandbox.handle)
    with own_process.ending(chosen.parent_pid) as end:
        await server.start(chosen.port)
        own_process.write_ready_file(chosen.ready_file, {"port": server.port, "url": f"http://127.0.0.1:{server.port}"})
        await end.wait()
        await server.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
