"""Card readers of Stripe Terminal, driven by the server, in front of localstripe, which has none.

    python -m tests.payments_lab.reader_simulator --upstream URL [--port 0] [--ready-file F]

Readers `tmr_…` exist once they are named. `POST /control/readers/ID {mode, seconds}`: approve (default), decline,
timeout (the customer presents nothing), no_card (waits until it is cancelled), offline, busy, uncertain (a time-out of
the command although the reader began), slow_cancel (an approval crosses the cancellation). A card that is presented
becomes localstripe's own test card on the intent, which is then confirmed there: the money is localstripe's word.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import httpx

from booking import own_process
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from tests.payments_lab.fault_proxy import error_reply, passed_on

_READER = re.compile(r"/v1/terminal/readers/(tmr_\w+)(?:/(process_payment_intent|cancel_action))?")
_CARDS = {"decline": "pm_card_chargeCustomerFail"}


@dataclass
class Reader:
    name: str
    mode: str = "approve"
    seconds: float = 0.05
    action: dict[str, Any] | None = None
    processed: int = 0

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.name, "object": "terminal.reader", "device_type": "simulated_wisepos_e", "livemode": False,
            "status": "offline" if self.mode == "offline" else "online", "action": self.action,
        }  # fmt: skip


@dataclass
class ReaderSimulator:
    upstream: str
    readers: dict[str, Reader] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=30))

    async def handle(self, call: Call) -> Reply:
        if call.path.startswith("/control/readers/"):
            return self._control(call)
        found = _READER.fullmatch(call.path)
        if found is None:
            return await self._forward(call)
        reader = self.readers.get(found[1])
        if reader is None:
            return error_reply(404, "invalid_request_error", "no such reader", code="resource_missing")
        if call.method == "GET":
            return Reply(200, reader.shown())
        return self._process(reader, call) if found[2] == "process_payment_intent" else self._cancel(reader)

    def _control(self, call: Call) -> Reply:
        reader = self.readers.setdefault(call.path.rsplit("/", 1)[1], Reader(call.path.rsplit("/", 1)[1]))
        if call.method == "POST":
            asked = call.json()
            reader.mode, reader.seconds = asked.get("mode", "approve"), float(asked.get("seconds", 0.05))
        return Reply(200, reader.shown() | {"processed": reader.processed})

    def _process(self, reader: Reader, call: Call) -> Reply:
        intent = dict(parse_qsl(call.body.decode()))["payment_intent"]
        if reader.mode == "offline":
            return error_reply(400, "invalid_request_error", "offline", code="terminal_reader_offline")
        if reader.mode == "busy" or (reader.action or {}).get("status") == "in_progress":
            return error_reply(409, "invalid_request_error", "busy", code="terminal_reader_busy")
        reader.processed += 1
        reader.action = {
            "type": "process_payment_intent", "status": "in_progress", "failure_code": None, "failure_message": None,
            "process_payment_intent": {"payment_intent": intent},
        }  # fmt: skip
        if reader.mode != "no_card":
            task = asyncio.create_task(self._present(reader, intent, call.headers.get("authorization", "")))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        if reader.mode == "uncertain":
            return error_reply(400, "invalid_request_error", "timeout", code="terminal_reader_timeout")
        return Reply(200, reader.shown())

    def _cancel(self, reader: Reader) -> Reply:
        if reader.mode == "slow_cancel":
            return error_reply(400, "invalid_request_error", "busy", code="terminal_reader_busy")
        if reader.action is not None and reader.action["status"] == "in_progress":
            reader.action = None
        return Reply(200, reader.shown())

    async def _present(self, reader: Reader, intent: str, authorization: str) -> None:
        """A customer's card at the reader: what localstripe says of it is what the reader shows."""
        await asyncio.sleep(reader.seconds)
        action = reader.action
        if action is None or action["process_payment_intent"]["payment_intent"] != intent:
            return
        if reader.mode == "timeout":
            action |= {"status": "failed", "failure_code": "terminal_reader_timeout"}
            return
        headers = {"authorization": authorization}
        at = f"{self.upstream}/v1/payment_intents/{intent}"
        card = _CARDS.get(reader.mode, "pm_card_visa")
        held = await self.client.post(at, data={"payment_method": (await self._method(card, headers))}, headers=headers)
        done = await self.client.post(f"{at}/confirm", headers=headers) if held.is_success else held
        if done.is_success:
            action |= {"status": "succeeded"}
        else:
            action |= {"status": "failed", "failure_code": done.json()["error"].get("code", "card_declined")}

    async def _method(self, card: str, headers: dict[str, str]) -> str:
        return str((await self.client.get(f"{self.upstream}/v1/payment_methods/{card}", headers=headers)).json()["id"])

    async def _forward(self, call: Call) -> Reply:
        url, headers = f"{self.upstream}{call.target}", passed_on(call)
        answer = await self.client.request(call.method, url, content=call.body, headers=headers)
        return Reply(answer.status_code, answer.json() if answer.content else {})


async def main() -> None:
    parser = argparse.ArgumentParser(prog="reader_simulator")
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--port", type=int, default=0)
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args()
    simulator = ReaderSimulator(chosen.upstream)
    server = LoopbackServer(simulator.handle)
    with own_process.ending(chosen.parent_pid) as end:
        await server.start(chosen.port)
        facts: dict[str, object] = {"port": server.port, "url": f"http://127.0.0.1:{server.port}"}
        own_process.write_ready_file(chosen.ready_file, facts)
        await end.wait()
        await server.close()
        await simulator.client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
