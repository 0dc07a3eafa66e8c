"""The sandbox tells of what happened by itself: signed events, sent again until they are taken, with faults on command.

An event's body: {id, type, created, data}, where `data` is the answer that the operation's caller gets. `type` is
`authorize.succeeded`, `refund.declined` and so on. What somebody did by hand at the provider has no operation_id.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from booking.payments.sandbox_faults import WebhookFault
from booking.payments.signatures import sign
from booking.plain_http.link import Links
from booking.plain_http.message import request_bytes

SIGNATURE_HEADER = "Taquilla-Signature"
TRIES = 12
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
ANSWER_WITHIN_S = 10.0
MOST_CONNECTIONS = 16

log = logging.getLogger(__name__)


class WebhookSender:
    """Sends events to `url`, each on its own: no order is promised. Nothing is sent while `url` is empty.

    `fault` says what goes wrong with the next event. Each attempt is signed at its own time.
    """

    def __init__(
        self,
        secret: bytes,
        fault: Callable[[], WebhookFault | None],
        *,
        slow_s: float,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self.url = ""
        self.sent = 0
        self._secret, self._fault = secret, fault
        self._slow_s, self._first_pause_s = slow_s, first_pause_s
        self._held_back: list[dict[str, Any]] = []
        self._sending: set[asyncio.Task[None]] = set()
        self._links: dict[str, Links] = {}

    def tell(self, event: dict[str, Any]) -> None:
        """Begin to send an event, and what it was waited for with: a reordered one goes after its successor."""
        if not self.url:
            return
        fault = self._fault()
        if fault is WebhookFault.LOST:
            return
        if fault is WebhookFault.REORDER:
            self._held_back.append(event)
            self._start(self._later(), "held back")
            return
        self._begin(event, self._slow_s if fault is WebhookFault.SLOW else 0.0)
        if fault is WebhookFault.DUPLICATE:
            self._begin(event, 0.0)
        self._let_go(self._first_pause_s)

    async def close(self) -> None:
        """Give up what is not delivered."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        for links in self._links.values():
            links.close()

    def _let_go(self, after_s: float) -> None:
        held, self._held_back = self._held_back, []
        for event in held:
            self._begin(event, after_s)

    async def _later(self) -> None:
        """An event that nothing follows is late, and not lost."""
        await asyncio.sleep(self._slow_s)
        self._let_go(0.0)

    def _begin(self, event: dict[str, Any], delay_s: float) -> None:
        self._start(self._deliver(self.url, json.dumps(event).encode(), delay_s), str(event["id"]))

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=f"webhook {name}")
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _deliver(self, url: str, body: bytes, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        pause_s = self._first_pause_s
        for _ in range(TRIES):
            if await self._was_taken(url, body):
                self.sent += 1
                return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        log.warning("gave up an event after %d tries", TRIES)

    async def _was_taken(self, url: str, body: bytes) -> bool:
        parts = urlsplit(url)
        headers = f"{SIGNATURE_HEADER}: {sign(body, self._secret, datetime.now(UTC))}\r\n"
        request = request_bytes("POST", parts.path or "/", parts.netloc, body=body, headers=headers)
        links = self._links.get(parts.netloc)
        if links is None:
            links = self._links[parts.netloc] = Links(parts.hostname or "", parts.port or 80, None, MOST_CONNECTIONS)
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                answer = await links.ask(request)
        except OSError as error:
            log.info("an event was not taken: %s", type(error).__name__)
            return False
        return 200 <= answer.status < 300
