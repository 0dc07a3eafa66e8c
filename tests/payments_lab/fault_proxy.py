"""What stands between us and localstripe: idempotency keys as Stripe keeps them, and faults on command.

    python -m tests.payments_lab.fault_proxy --upstream URL [--secret TEXT] [--port 0] [--ready-file F]

Every call goes to the upstream, but for these. A POST with an `Idempotency-Key` is done once: the same key and body
gets the stored answer (`Idempotent-Replayed`), another body 400 `idempotency_error`, while the first is under way 409.
`POST /control/faults {on, fault, times, seconds}`, `GET /control/faults` {planned, fired, calls}, `DELETE` for no more.
`on`: create|confirm|capture|cancel|refund|retrieve|list|process|reader|cancel_action|webhook|any.
Faults: drop_before, drop_after, hang_before, hang_after, delay, status_NNN (instead), status_NNN_after; of webhooks
delay, duplicate, drop, reorder. Webhooks come in at `/hooks` and go to what `POST /control/hooks {url}` named; all are
signed anew as they go, because a signature grows old.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx

from booking import own_process
from booking.payments.sandbox_http import Call, Delivery, LoopbackServer, Reply
from booking.payments.signatures import sign

SIGNATURE = "stripe-signature"
_KINDS = (
    ("POST", r"/v1/payment_intents", "create"),
    ("POST", r"/v1/payment_intents/[^/]+/confirm", "confirm"),
    ("POST", r"/v1/payment_intents/[^/]+/capture", "capture"),
    ("POST", r"/v1/payment_intents/[^/]+/cancel", "cancel"),
    ("POST", r"/v1/refunds", "refund"),
    ("POST", r"/v1/terminal/readers/[^/]+/process_payment_intent", "process"),
    ("POST", r"/v1/terminal/readers/[^/]+/cancel_action", "cancel_action"),
    ("GET", r"/v1/terminal/readers/[^/]+", "reader"),
    ("GET", r"/v1/payment_intents/[^/]+", "retrieve"),
    ("GET", r"/v1/(payment_intents|refunds|events|balance_transactions)", "list"),
)
_REJECTED = {"confirm": ("return_url", "use_stripe_sdk"), "list": ("created",)}
"""Parameters that localstripe rejects and Stripe takes: taken off, the adapter has to do without their effect."""
HANG_S = 60.0


@dataclass
class Planned:
    on: str
    fault: str
    times: int
    seconds: float


@dataclass
class Kept:
    """An answer under an idempotency key; none while the first call is under way."""

    body: bytes
    reply: Reply | None = None


@dataclass
class FaultProxy:
    upstream: str
    secret: bytes
    hooks_to: str = ""
    planned: list[Planned] = field(default_factory=list)
    fired: dict[str, int] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    held: list[bytes] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=30))

    async def handle(self, call: Call) -> Reply:
        if call.path.startswith("/control/"):
            return self._control(call)
        if call.path == "/hooks":
            return self._hook(call.body)
        kind = kind_of(call)
        self.calls[kind] = self.calls.get(kind, 0) + 1
        planned = self._strike(kind)
        fault, seconds = (planned.fault, planned.seconds) if planned else ("", 0.0)
        if fault == "delay":
            await asyncio.sleep(seconds)
        if fault in ("drop_before", "hang_before"):
            return Reply(200, delivery=Delivery.CUT if fault == "drop_before" else Delivery.NEVER)
        if re.fullmatch(r"status_\d+", fault):
            return error_reply(int(fault[-3:]), "api_error", "a fault on command")
        reply = await self._once(call, kind)
        if fault in ("drop_after", "hang_after"):
            return Reply(reply.status, reply.body, Delivery.CUT if fault == "drop_after" else Delivery.NEVER)
        if re.fullmatch(r"status_\d+_after", fault):
            return error_reply(int(fault.split("_")[1]), "api_error", "a fault on command")
        return reply

    async def _once(self, call: Call, kind: str) -> Reply:
        key = call.headers.get("idempotency-key", "")
        if call.method != "POST" or not key:
            return await self._forward(call, kind)
        known = self.kept.get(key)
        if known is not None:
            if known.body != call.target.encode() + call.body:
                return error_reply(400, "idempotency_error", "another request under the same key")
            if known.reply is None:
                return error_reply(409, "invalid_request_error", "under way", code="idempotency_key_in_use")
            return Reply(known.reply.status, known.reply.body, headers={"Idempotent-Replayed": "true"})
        kept = self.kept[key] = Kept(call.target.encode() + call.body)
        try:
            kept.reply = await self._forward(call, kind)
        except BaseException:
            del self.kept[key]
            raise
        return kept.reply

    async def _forward(self, call: Call, kind: str) -> Reply:
        query = _without(call.target.partition("?")[2], kind)
        headers = passed_on(call)
        body = call.body
        if call.method == "POST" and call.headers.get("content-type", "").startswith("application/x-www-form"):
            body = _without(body.decode(), kind).encode()
        url = f"{self.upstream}{call.path}{'?' if query else ''}{query}"
        answer = await self.client.request(call.method, url, content=body, headers=headers)
        return Reply(answer.status_code, answer.json() if answer.content else {})

    def _strike(self, kind: str) -> Planned | None:
        for planned in self.planned:
            if planned.on == kind or (planned.on == "any" and kind != "webhook"):
                planned.times -= 1
                if planned.times <= 0:
                    self.planned.remove(planned)
                name = f"{kind}:{planned.fault}"
                self.fired[name] = self.fired.get(name, 0) + 1
                return planned
        return None

    def _control(self, call: Call) -> Reply:
        if (call.method, call.path) == ("POST", "/control/faults"):
            asked = call.json()
            self.planned.append(
                Planned(asked["on"], asked["fault"], int(asked.get("times", 1)), float(asked.get("seconds", 0)))
            )
        elif (call.method, call.path) == ("DELETE", "/control/faults"):
            self.planned.clear()
        elif (call.method, call.path) == ("POST", "/control/hooks"):
            self.hooks_to = call.json()["url"]
        elif (call.method, call.path) == ("POST", "/control/forget-keys"):
            self.kept.clear()
        elif call.path != "/control/faults":
            return error_reply(404, "invalid_request_error", call.path)
        return Reply(200, {"fired": self.fired, "planned": len(self.planned), "calls": self.calls})

    def _hook(self, body: bytes) -> Reply:
        """Taken at once, as a queue would; what becomes of it is up to the plan."""
        planned = self._strike("webhook")
        fault, seconds = (planned.fault, planned.seconds) if planned else ("", 0.0)
        if fault == "reorder":
            self.held.append(body)
        elif fault != "drop":
            self._later(body, seconds if fault == "delay" else 0.0)
            for _ in range(fault == "duplicate"):
                self._later(body, 0.0)
            while self.held:
                self._later(self.held.pop(), 0.3)
        return Reply(200)

    def _later(self, body: bytes, delay_s: float) -> None:
        task = asyncio.create_task(self._send(body, delay_s))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _send(self, body: bytes, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        for pause_s in (0.2, 0.5, *[1.0] * 20):
            if not self.hooks_to:
                return
            headers = {SIGNATURE: sign(body, self.secret, datetime.now(UTC)), "content-type": "application/json"}
            try:
                if (await self.client.post(self.hooks_to, content=body, headers=headers)).is_success:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(pause_s)


def passed_on(call: Call) -> dict[str, str]:
    """The headers that the upstream needs."""
    return {name: value for name, value in call.headers.items() if name in ("authorization", "content-type")}


def kind_of(call: Call) -> str:
    """What a call asks for, by its address."""
    return next(
        (name for method, path, name in _KINDS if call.method == method and re.fullmatch(path, call.path)), "other"
    )


def error_reply(status: int, kind: str, message: str, *, code: str = "") -> Reply:
    error: dict[str, Any] = {"type": kind, "message": message} | ({"code": code} if code else {})
    return Reply(status, {"error": error})


def _without(encoded: str, kind: str) -> str:
    rejected = _REJECTED.get(kind, ())
    kept = [(name, value) for name, value in parse_qsl(encoded, keep_blank_values=True)
            if name.partition("[")[0] not in rejected]  # fmt: skip
    return urlencode(kept)


async def main() -> None:
    parser = argparse.ArgumentParser(prog="fault_proxy")
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--secret", default="whsec_of_the_tests")
    parser.add_argument("--port", type=int, default=0)
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args()
    proxy = FaultProxy(chosen.upstream, chosen.secret.encode())
    server = LoopbackServer(proxy.handle)
    with own_process.ending(chosen.parent_pid) as end:
        await server.start(chosen.port)
        facts: dict[str, object] = {"port": server.port, "url": f"http://127.0.0.1:{server.port}"}
        own_process.write_ready_file(chosen.ready_file, facts)
        await end.wait()
        await server.close()
        await proxy.client.aclose()


if __name__ == "__main__":
    print(json.dumps({"starts": "fault proxy"}), flush=True)
    asyncio.run(main())
