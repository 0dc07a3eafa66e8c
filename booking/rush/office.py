"""How a sender asks the API: every request counted once, from the instant at which it was meant to leave."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict

import msgspec

from booking.histogram import Histogram
from booking.plain_http.link import Links
from booking.plain_http.message import Answer, BrokenAnswerError, request_bytes
from booking.rush.plan import MOST_OPEN, SenderPlan
from booking.rush.tally import Tally, Telling

JOIN, POLL, LEAVE = "join", "poll", "leave"
AT_ROOM = frozenset({JOIN, POLL, LEAVE})
UNANSWERED, TIMED_OUT, NO_CONNECTION, CUT, UNSENT = "unanswered", "timeout", "no-connection", "cut", "unsent"


_CUTS = (BrokenAnswerError, ConnectionResetError, BrokenPipeError)


class _Code(msgspec.Struct):
    code: str = ""


_read_code = msgspec.json.Decoder(_Code)


class Office:
    """The API as the shoppers of one sender see it."""

    def __init__(self, plan: SenderPlan, links: Links, room_links: Links | None = None) -> None:
        self.plan = plan
        self.links = links
        self.room_links = room_links
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self.lateness = Histogram()
        self.contradictions: list[str] = []
        self.confirmed = 0
        self.counts: Counter[str] = Counter()
        self.waits = Histogram()
        self.capped = False
        self._offered = 0
        self._open = 0

    async def ask(
        self, kind: str, due: float, method: str, path: str, *, token: str = "", key: str = "",
        body: object = None, headers: str = "",
    ) -> Answer | None:  # fmt: skip
        """One request that is meant to leave at `due` (loop time). None when no answer came, or the run is at its cap.

        It is offered at `due`, or at once when that is past; whatever holds it up after `due`, here or there, counts as
        latency, and what never gets an answer counts as the longest that anybody waits for one. Kinds of `AT_ROOM` go
        to the waiting room.
        """
        if self._offered >= self.plan.most_requests:
            self.capped = True
            return None
        loop = asyncio.get_running_loop()
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        self._offered += 1
        tally = self.tallies[kind]
        tally.offered += 1
        self.lateness.record(loop.time() - due)
        if self._open >= MOST_OPEN:
            tally.broken(UNSENT, self._at_least(loop.time() - due))
            return None
        links, server = self.links, self.plan.server
        if kind in AT_ROOM and self.room_links is not None and self.plan.room is not None:
            links, server = self.room_links, self.plan.room
        request = request_bytes(
            method, path, server.named, token=token, key=key,
            body=b"" if body is None else json.dumps(body).encode("ascii"), headers=headers,
        )  # fmt: skip
        self._open += 1
        try:
            async with asyncio.timeout(self.plan.timeout_s):
                answer = await links.ask(request)
        except asyncio.CancelledError:
            self.tallies[kind].broken(UNANSWERED, loop.time() - due)
            raise
        except TimeoutError:
            self.tallies[kind].broken(TIMED_OUT, loop.time() - due)
            return None
        except OSError as error:
            why = CUT if isinstance(error, _CUTS) else NO_CONNECTION
            self.tallies[kind].broken(why, self._at_least(loop.time() - due))
            return None
        finally:
            self._open -= 1
        self.tallies[kind].answered(answer.status, code_of(answer), loop.time() - due)
        return answer

    def _at_least(self, waited_s: float) -> float:
        """A request that was cut at once was not a fast one."""
        return max(waited_s, self.plan.timeout_s)

    def contradict(self, what: str) -> None:
        """Note two answers that cannot both be true; a few are enough."""
        if len(self.contradictions) < 100:
            self.contradictions.append(what)

    def tell(self, at_s: float, *, last: bool) -> Telling:
        """What happened since the last telling."""
        telling = Telling(
            at_s=at_s, open=self._open, waiting=self.links.waiting,
            kinds={kind: tally.take() for kind, tally in self.tallies.items()},
            lateness=self.lateness.sparse(), lateness_largest_us=self.lateness.largest_us,
            contradictions=self.contradictions, confirmed=self.confirmed, capped=self.capped, last=last,
            counts=dict(self.counts), waits=self.waits.sparse(), longest_wait_us=self.waits.largest_us,
        )  # fmt: skip
        self.lateness, self.contradictions, self.confirmed = Histogram(), [], 0
        self.counts, self.waits = Counter(), Histogram()
        return telling


def code_of(answer: Answer) -> str:
    """The code of a refusal; '' otherwise."""
    if answer.status < 400:
        return ""
    try:
        return _read_code.decode(answer.body).code
    except msgspec.DecodeError:
        return "no-problem"
