"""`python -m tests.bench.http_crowd`: requests to an API from a process of its own, so that their CPU is not the API's.

Reads a plan as one line of JSON from stdin, sends, and writes what it saw as JSON to stdout. Closed loop: each
connection asks again once it is answered. Open loop: each stream has a rate, and latency counts from the instant at
which a request was meant to leave. A `sale` goes on from its hold to checkout and cash at once, when it is a buyer.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

import msgspec
import uvloop

from booking.plain_http.link import Links
from booking.plain_http.message import Answer, request_bytes

HOLD, CHECKOUT, PAY, ORDER, MAP = "hold", "checkout", "pay", "order", "map"
_KNOWN_ORDERS = 2_000
_Work = Callable[[int, float], Coroutine[Any, Any, None]]


class Ask(msgspec.Struct):
    """One hold, ready to be sent; `buys` is its amount in minor units when it goes on to pay."""

    token: str
    seats: tuple[int, ...]
    buys: int = 0


class CrowdPlan(msgspec.Struct):
    """What to send: every hold once. Rates are per second; `holds_per_s` 0 is a closed loop."""

    host: str
    port: int
    event_id: int
    price_type_id: int
    connections: int
    holds: tuple[Ask, ...]
    holds_per_s: float = 0.0
    orders_per_s: float = 0.0
    maps_per_s: float = 0.0
    first_key: str = "crowd"


class CrowdReport(msgspec.Struct):
    """Latencies in ms by kind of request, answers by kind and status, the run's seconds, CPU seconds of the crowd."""

    latencies_ms: dict[str, list[float]]
    answers: dict[str, dict[str, int]]
    seconds: float
    cpu_s: float


class _Id(msgspec.Struct):
    hold_id: str = ""
    order_id: str = ""


_read_id = msgspec.json.Decoder(_Id)


class Crowd:
    """Sends a plan."""

    def __init__(self, plan: CrowdPlan) -> None:
        self._plan = plan
        self._links = Links(plan.host, plan.port, None, plan.connections)
        self._latencies: defaultdict[str, list[float]] = defaultdict(list)
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._orders: list[tuple[str, str]] = []
        self._keys = 0

    async def send(self) -> CrowdReport:
        """Everything that the plan says; returns when the last answer is here."""
        used, began = time.process_time(), time.perf_counter()
        if self._plan.holds_per_s:
            await self._open_loop()
        else:
            asks = iter(self._plan.holds)
            await asyncio.gather(*(self._one_after_another(asks) for _ in range(self._plan.connections)))
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
        self._links.close()
        answers = {kind: dict(counts) for kind, counts in self._answers.items()}
        return CrowdReport(dict(self._latencies), answers, seconds, cpu_s)

    async def _one_after_another(self, asks: Iterator[Ask]) -> None:
        for ask in asks:  # one iterator, shared by all
            await self._sale(ask, time.perf_counter())

    async def _open_loop(self) -> None:
        plan = self._plan
        seconds = len(plan.holds) / plan.holds_per_s
        async with asyncio.TaskGroup() as group:
            streams = [
                self._stream(group, plan.holds_per_s, len(plan.holds), self._nth_sale),
                self._stream(group, plan.orders_per_s, int(plan.orders_per_s * seconds), self._nth_order),
                self._stream(group, plan.maps_per_s, int(plan.maps_per_s * seconds), self._nth_map),
            ]
            await asyncio.gather(*streams)

    async def _stream(self, group: asyncio.TaskGroup, per_s: float, count: int, work: _Work) -> None:
        began = time.perf_counter()
        for number in range(count):
            due = began + number / per_s
            if (wait := due - time.perf_counter()) > 0.001:
                await asyncio.sleep(wait)
            group.create_task(work(number, due))

    async def _nth_sale(self, number: int, due: float) -> None:
        await self._sale(self._plan.holds[number], due)

    async def _nth_order(self, number: int, due: float) -> None:
        if self._orders:
            order_id, token = self._orders[number % len(self._orders)]
            await self._ask(ORDER, due, "GET", f"/v1/orders/{order_id}", token)

    async def _nth_map(self, number: int, due: float) -> None:
        await self._ask(MAP, due, "GET", f"/v1/events/{self._plan.event_id}/seats", "", zipped=True)

    async def _sale(self, ask: Ask, due: float) -> None:
        path = f"/v1/events/{self._plan.event_id}/holds"
        held = await self._ask(HOLD, due, "POST", path, ask.token, {"seats": ask.seats})
        if not ask.buys or held is None or held.status != 201:
            return
        hold_id = _read_id.decode(held.body).hold_id
        lines = [{"seat_no": seat, "price_type_id": self._plan.price_type_id} for seat in ask.seats]
        body: dict[str, object] = {"lines": lines, "shown_total_minor": ask.buys}
        ordered = await self._ask(
            CHECKOUT, time.perf_counter(), "POST", f"/v1/holds/{hold_id}/checkout", ask.token, body
        )
        if ordered is None or ordered.status != 201:
            return
        order_id = _read_id.decode(ordered.body).order_id
        cash = {"kind": "cash", "provider": "drawer", "amount_minor": ask.buys, "tendered_minor": ask.buys}
        await self._ask(PAY, time.perf_counter(), "POST", f"/v1/orders/{order_id}/payments", ask.token, cash)
        if len(self._orders) < _KNOWN_ORDERS:
            self._orders.append((order_id, ask.token))

    async def _ask(
        self, kind: str, due: float, method: str, path: str, token: str, body: object = None, *, zipped: bool = False
    ) -> Answer | None:
        self._keys += 1
        key = f"{self._plan.first_key}-{self._keys}" if method != "GET" else ""
        raw = msgspec.json.encode(body) if body is not None else b""
        headers = "Accept-Encoding: gzip\r\n" if zipped else ""
        request = request_bytes(method, path, self._plan.host, token=token, key=key, body=raw, headers=headers)
        try:
            answer = await self._links.ask(request)
        except OSError as error:
            self._answers[kind][type(error).__name__] += 1
            return None
        self._answers[kind][str(answer.status)] += 1
        if answer.status < 300:
            self._latencies[kind].append((time.perf_counter() - due) * 1_000)
        return answer


def main() -> None:
    """One plan from stdin, one report to stdout."""
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=CrowdPlan)
    with suppress(KeyboardInterrupt):
        report = uvloop.run(Crowd(plan).send())
        sys.stdout.buffer.write(msgspec.json.encode(report))


async def send_crowd(plan: CrowdPlan) -> CrowdReport:
    """Send `plan` from a new process.

    Raises:
        RuntimeError: it failed; its words are on stderr.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate(msgspec.json.encode(plan))
    if process.returncode:
        raise RuntimeError(f"the crowd ended with {process.returncode}")
    return msgspec.json.decode(output, type=CrowdReport)


if __name__ == "__main__":
    main()
