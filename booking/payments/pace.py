"""How many checkouts may run at once while the provider is slow: a cap that shrinks fast and grows slowly.

A running checkout is one that this process began and whose payment has no answer yet, for 15 seconds at most. The law
is additive increase, multiplicative decrease, looked at once a second. Each question to the provider is judged once:
when it is answered, or as bad when it is `slow_s` old; an answer that leaves the outcome unknown is bad as well. When
more than one in twenty of those judged in the last five seconds are bad, the cap becomes what ran, less that share
(at least 0.15, at most 0.7 of it); otherwise it grows by a fiftieth of the most, unless as many run as may and none
of them was judged yet. Three bad ones are needed: one is chance. After a cut nothing is judged anew until it could
show: questions asked before it say nothing of the new cap. Buyers who are refused keep their hold and come again; the
database's cap of seats being paid stays the hard limit beside this one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from booking.domain.errors import BusyError
from booking.domain.model import OperationResult, ResultOutcome

MOST = 5_000
LEAST = 5
SLOW_S = 2.0
EVERY_S = 1.0
JUDGED_FOR_S = 5.0
BAD_SHARE = 0.05
BAD_ENOUGH = 3
LEAST_CUT, MOST_CUT = 0.15, 0.7
RUNS_AT_MOST_S = 15.0
"""Beyond it a checkout does not count: its payment may have gone to another process, which tells nobody here."""
RETRY_AFTER_S = 2


@dataclass(frozen=True, slots=True)
class PaceFigures:
    """`p95_ms` and `unknown_share` are of the questions judged last (a hanging one with its age); None before."""

    cap: int
    most: int
    running: int
    refused: int
    p95_ms: int | None
    unknown_share: float | None


@dataclass(slots=True)
class _Question:
    began: float
    ended: float | None = None
    is_unknown: bool = False
    judged_at: float | None = None

    def took_s(self, now: float) -> float:
        return (now if self.ended is None else self.ended) - self.began


class CheckoutPace:
    """See the module. Used from one event loop."""

    def __init__(
        self,
        *,
        most: int = MOST,
        least: int = LEAST,
        slow_s: float = SLOW_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if not 1 <= least <= most:
            raise ValueError("a cap is between 1 and the most")
        self._most, self._least, self._slow_s, self._clock = most, least, slow_s, clock
        self._cap = most
        self._running: dict[Hashable, float] = {}
        self._token_of: dict[UUID, Hashable] = {}
        self._open: dict[int, _Question] = {}
        self._judged: deque[_Question] = deque()
        self._most_running = 0
        self._cut_at = -math.inf
        self._ticked_at = clock()
        self._refused = 0
        self._seen: tuple[float, float] | None = None

    @contextmanager
    def checkout(self, token: Hashable) -> Iterator[Callable[[UUID], None]]:
        """A checkout that begins; the order is told to the callable that this gives. One that fails does not count.

        `token` tells a repeated request: it is let in, because its order may be there already.

        Raises:
            BusyError: as many run as may; it says when to come again.
        """
        self._tick()
        again = token in self._running
        if not again and len(self._running) >= self._cap:
            self._refused += 1
            raise BusyError("Many payments are on their way. Try again in a moment.", retry_after_s=RETRY_AFTER_S)
        self._running[token] = self._clock()
        self._most_running = max(self._most_running, len(self._running))

        def became(order_id: UUID) -> None:
            self._token_of[order_id] = token

        try:
            yield became
        except BaseException:
            if not again:
                self._running.pop(token, None)
            raise

    def ended(self, order_id: UUID) -> None:
        """The order's payment has its answer."""
        self._running.pop(self._token_of.pop(order_id, None), None)

    @contextmanager
    def asking(self) -> Iterator[Callable[[OperationResult], None]]:
        """Around a question to the provider; its answer is told to the callable that this gives."""
        question = _Question(self._clock())
        self._open[id(question)] = question

        def told(result: OperationResult) -> None:
            question.is_unknown = result.outcome is ResultOutcome.UNKNOWN

        question.is_unknown = True
        try:
            yield told
        finally:
            question.ended = self._clock()
            del self._open[id(question)]
            self._judge(question, question.ended)
            self._tick()

    def figures(self) -> PaceFigures:
        """As of now."""
        self._tick()
        p95_s, unknown = self._seen or (None, None)
        return PaceFigures(
            self._cap,
            self._most,
            len(self._running),
            self._refused,
            None if p95_s is None else round(p95_s * 1000),
            unknown,
        )

    def _tick(self) -> None:
        """Once a second at most; after silence it grows for each second of it."""
        now = self._clock()
        seconds = int((now - self._ticked_at) / EVERY_S)
        if seconds < 1:
            return
        self._ticked_at = now
        self._forget_old(now)
        ran, self._most_running = self._most_running, len(self._running)
        bad_share, is_known = self._bad_share(now)
        if now - self._cut_at < self._slow_s + EVERY_S:
            return
        if bad_share:
            lost = min(max(bad_share, LEAST_CUT), MOST_CUT)
            self._cap = max(self._least, int(min(self._cap, ran) * (1.0 - lost)))
            self._cut_at = now
        elif is_known or len(self._running) < self._cap:
            self._cap = min(self._most, self._cap + seconds * max(1, self._most // 50))

    def _judge(self, question: _Question, now: float) -> None:
        if question.judged_at is None:
            question.judged_at = now
            self._judged.append(question)

    def _is_bad(self, question: _Question, now: float) -> bool:
        return question.took_s(now) > self._slow_s or (question.ended is not None and question.is_unknown)

    def _bad_share(self, now: float) -> tuple[float, bool]:
        """How many of the questions asked since the last cut were bad, 0 to 1 (0 when they are few enough).

        And whether any of them was judged at all.
        """
        for question in self._open.values():
            if now - question.began > self._slow_s:
                self._judge(question, now)
        while self._judged and (self._judged[0].judged_at or 0.0) <= now - JUDGED_FOR_S:
            self._judged.popleft()
        if not self._judged:
            return 0.0, False
        took = sorted(question.took_s(now) for question in self._judged)
        ended = [question for question in self._judged if question.ended is not None]
        unknown = sum(1 for question in ended if question.is_unknown)
        self._seen = took[math.ceil(0.95 * len(took)) - 1], unknown / len(ended) if ended else 0.0
        since = [question for question in self._judged if question.began >= self._cut_at]
        bad = sum(1 for question in since if self._is_bad(question, now))
        is_slow = bad >= BAD_ENOUGH and bad > BAD_SHARE * len(since)
        return (bad / len(since) if is_slow else 0.0), bool(since)

    def _forget_old(self, now: float) -> None:
        for token in [token for token, since in self._running.items() if now - since > RUNS_AT_MOST_S]:
            del self._running[token]
        self._token_of = {order: token for order, token in self._token_of.items() if token in self._running}
