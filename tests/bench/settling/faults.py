"""A share of all calls to the sandbox goes wrong, evenly over every kind of fault and every call that moves money."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random

from booking.payments.sandbox_faults import Fault
from booking.plain_http.link import Links
from booking.plain_http.message import request_bytes

CALLS = ("authorize", "capture")
EVERY_S = 0.05


class FaultSource:
    """Plans faults at the sandbox while it runs: `share` of `per_s` calls of each kind. A seed makes it again."""

    def __init__(self, port: int, *, share: float, per_s: float, seed: int) -> None:
        self._links = Links("127.0.0.1", port, None, 2)
        self._host = f"127.0.0.1:{port}"
        self._every_s = 1.0 / max(share * per_s * len(CALLS), 1e-9)
        kinds = [(call, fault) for call in CALLS for fault in Fault]
        Random(seed).shuffle(kinds)
        self._kinds = itertools.cycle(kinds)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Faults are planned inside the block; what is planned and has not struck is forgotten at its end."""
        task = asyncio.create_task(self._plan(), name="faults")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self._tell("DELETE", {})

    async def fired(self) -> dict[str, int]:
        """How often each has struck, by `call:fault`."""
        answer = await self._links.ask(request_bytes("GET", "/control/faults", self._host))
        fired: dict[str, int] = json.loads(answer.body)["fired"]
        return fired

    def close(self) -> None:
        self._links.close()

    async def _plan(self) -> None:
        """At intended times, so that a late loop plans as many."""
        loop = asyncio.get_running_loop()
        began, planned = loop.time(), 0
        while True:
            due = int((loop.time() - began) / self._every_s)
            for call, fault in itertools.islice(self._kinds, due - planned):
                await self._tell("POST", {"on": call, "fault": fault.value, "times": 1})
            planned = due
            await asyncio.sleep(EVERY_S)

    async def _tell(self, method: str, body: dict[str, object]) -> None:
        request = request_bytes(method, "/control/faults", self._host, body=json.dumps(body).encode())
        answer = await self._links.ask(request)
        if answer.status != 200:
            raise RuntimeError(f"the sandbox does not take a fault: {answer.status}")
