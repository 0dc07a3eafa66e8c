"""One sender process: reads its plan from standard input, tells what it counts on standard output, a line at a time.

    python -m booking.rush.sender

It is started by the conductor, as many times as there are processes.
"""

from __future__ import annotations

import asyncio
import gc
import ssl
import sys
import time
from collections.abc import Callable, Coroutine
from itertools import cycle
from random import Random
from typing import Any

import msgspec

from booking.crowd import MEAN_FRIENDS
from booking.plain_http.link import Links
from booking.rush.arrivals import arrivals
from booking.rush.cpu import allow_connections
from booking.rush.fan import Fan
from booking.rush.office import Office
from booking.rush.plan import SenderPlan
from booking.rush.popularity import SeatPicker
from booking.rush.shopper import MAP, Shopper
from booking.rush.tally import Telling

TELL_EVERY_S = 0.5
_SLEEP_ONLY_ABOVE_S = 0.0005

Tell = Callable[[Telling], None]


class Sender:
    """The crowd of one process."""

    def __init__(self, plan: SenderPlan, tell: Tell) -> None:
        tls = ssl.create_default_context() if plan.server.tls else None
        links = Links(plan.server.host, plan.server.port, tls, plan.connections)
        self.office = Office(plan, links, _room_links(plan))
        self._plan = plan
        self._tell = tell
        self._rng = Random(plan.seed)  # noqa: S311 - a crowd, not a secret
        self._picker = SeatPicker(len(plan.sale.prices), plan.traffic.skew, self._rng)
        self._tokens = cycle(plan.tokens)
        self._under_way: set[asyncio.Task[None]] = set()
        self._etag = ""
        self._next_fan = plan.first_fan

    async def run(self) -> None:
        """Send what is planned, wait for what is under way, tell the rest."""
        loop = asyncio.get_running_loop()
        traffic = self._plan.traffic
        groups_per_s = traffic.rate / (1 + traffic.groups * (MEAN_FRIENDS - 1))
        start = loop.time() + self._plan.starts_at - time.time()
        telling = asyncio.create_task(self._keep_telling(start), name="tell")
        sending = [
            asyncio.create_task(self._send(start, groups_per_s, self._arrive), name="holds")
            if self._plan.room is None
            else asyncio.create_task(self._send(start, traffic.rate, self._join), name="fans"),
            asyncio.create_task(self._send(start, traffic.maps_per_s, self._look_at_map), name="maps"),
        ]
        await asyncio.gather(*sending)
        lasts_s = max(traffic.seconds, traffic.arrivals_last_s)
        await self._drain(start + lasts_s + self._plan.drain_s - loop.time())
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        self.office.links.close()
        if self.office.room_links is not None:
            self.office.room_links.close()
        self._tell(self.office.tell(loop.time() - start, last=True))

    async def _send(self, start: float, per_s: float, send: Callable[[float], None]) -> None:
        """Start each request at its instant; whatever has become due meanwhile leaves at once."""
        loop = asyncio.get_running_loop()
        traffic = self._plan.traffic
        # Fans come until all have come: a draw that gives too few in the time goes on.
        lasts_s = 2 * traffic.arrivals_last_s if send == self._join else traffic.seconds
        for at in arrivals(traffic.shape, self._rng, per_s, lasts_s):
            due = start + at
            if due - loop.time() > _SLEEP_ONLY_ABOVE_S:
                await asyncio.sleep(due - loop.time())
            if self.office.capped or (send == self._join and self._next_fan >= self._plan.first_fan + self._plan.fans):
                return
            send(due)

    def _join(self, due: float) -> None:
        """The next fan comes to the waiting room; nobody comes twice."""
        number = self._next_fan - self._plan.first_fan
        if number >= self._plan.fans:
            return
        token = self._plan.tokens[number % len(self._plan.tokens)]
        self._start(Fan(self.office, self._picker, self._next_fan, token).come(due))
        self._next_fan += 1

    def _arrive(self, due: float) -> None:
        if self._rng.random() < self._plan.traffic.groups:
            for seats in self._picker.friends():
                self._start(self._shopper().buy(due, seats))
        else:
            self._start(self._shopper().buy(due, self._picker.popular()))

    def _look_at_map(self, due: float) -> None:
        self._start(self._read_map(due))

    async def _read_map(self, due: float) -> None:
        """As a page does: compressed, and half of the pages know a version already."""
        headers = "Accept-Encoding: gzip\r\n"
        if self._etag and self._rng.random() < 0.5:
            headers += f"If-None-Match: {self._etag}\r\n"
        path = f"/v1/events/{self._plan.sale.event_id}/seats"
        answer = await self.office.ask(MAP, due, "GET", path, headers=headers)
        if answer is not None:
            self._etag = answer.headers.get(b"etag", b"").decode("ascii", "replace") or self._etag

    def _shopper(self) -> Shopper:
        return Shopper(self.office, self._picker, self._rng, next(self._tokens))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.office.contradict(f"an answer that cannot be read: {error!r}")

    async def _drain(self, within_s: float) -> None:
        """Let the shoppers finish; those that have not are cut off, and their open requests count as unanswered."""
        loop = asyncio.get_running_loop()
        until = loop.time() + within_s
        while self._under_way and loop.time() < until:
            await asyncio.wait(self._under_way, timeout=until - loop.time())
        left = list(self._under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _keep_telling(self, start: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TELL_EVERY_S)
            if loop.time() >= start:
                self._tell(self.office.tell(loop.time() - start, last=False))


def _room_links(plan: SenderPlan) -> Links | None:
    if plan.room is None:
        return None
    tls = ssl.create_default_context() if plan.room.tls else None
    return Links(plan.room.host, plan.room.port, tls, plan.connections)


def main() -> int:
    """Be a sender. Returns the exit code."""
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=SenderPlan)
    encoder = msgspec.json.Encoder()

    def tell(telling: Telling) -> None:
        sys.stdout.buffer.write(encoder.encode(telling) + b"\n")
        sys.stdout.buffer.flush()

    allow_connections(plan.connections)
    gc.collect()
    gc.freeze()
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_run(plan, tell))
    return 0


async def _run(plan: SenderPlan, tell: Tell) -> None:
    await Sender(plan, tell).run()


if __name__ == "__main__":
    sys.exit(main())
