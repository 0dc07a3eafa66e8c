"""How many checkouts may run at once while the provider is slow: a cap that shrinks fast and grows slowly.

A running checkout is one that this process began and whose payment has no answer yet, for 15 seconds at most. The law
is additive increase, multiplicative decrease, once a second: when the 95th percentile of the provider's answers (one
that hangs with its age) is above `slow_s`, or more than one in twenty stays without an answer, the cap becomes 0.7 of
what really ran; otherwise it grows by a fiftieth of the most. Three bad answers are needed: one is chance. Buyers who
are refused keep their hold and come again; the database's cap of seats being paid stays the hard limit beside this one.
"""

from __future__ import annotations

import math
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
SHRINK = 0.7
UNKNOWN_SHARE = 0.05
BAD_ENOUGH = 3
RUNS_AT_MOST_S = 15.0
"""Beyond it a checkout does not count: its payment may have gone to another process, which tells nobody here."""
RETRY_AFTER_S = 2


@dataclass(frozen=True, slots=True)
class PaceFigures:
    """`p95_ms` and `unknown_share` are of the last second in which the provider answered; None before."""

    cap: int
    most: int
    running: int
    refused: int
    p95_ms: int | None
    unknown_share: float | None


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
        self._asked: dict[int, float] = {}
        self._answers: list[tuple[float, bool]] = []
        self._asks = 0
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
        self._asks += 1
        ask, began = self._asks, self._clock()
        self._asked[ask] = began
        unknown = True

        def told(result: OperationResult) -> None:
            nonlocal unknown
            unknown = result.outcome is ResultOutcome.UNKNOWN

        try:
            yield told
        finally:
            del self._asked[ask]
            self._answers.append((self._clock() - began, unknown))
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
        if self._is_slow(now):
            ran = max(self._least, min(self._cap, len(self._running)))
            self._cap = max(self._least, int(ran * SHRINK))
        else:
            self._cap = min(self._most, self._cap + seconds * max(1, self._most // 50))

    def _is_slow(self, now: float) -> bool:
        answers, self._answers = self._answers, []
        hanging = [now - began for began in self._asked.values() if now - began > self._slow_s]
        if not answers and not hanging:
            return False
        took = sorted([*(seconds for seconds, _ in answers), *hanging])
        unknown = sum(1 for _, is_unknown in answers if is_unknown)
        p95_s = took[math.ceil(0.95 * len(took)) - 1]
        self._seen = (p95_s, unknown / len(answers) if answers else 0.0)
        late = sum(1 for seconds in took if seconds > self._slow_s)
        return (p95_s > self._slow_s and late >= BAD_ENOUGH) or (
            unknown >= BAD_ENOUGH and unknown > UNKNOWN_SHARE * len(answers)
        )

    def _forget_old(self, now: float) -> None:
        for token in [token for token, since in self._running.items() if now - since > RUNS_AT_MOST_S]:
            del self._running[token]
        self._token_of = {order: token for order, token in self._token_of.items() if token in self._running}
