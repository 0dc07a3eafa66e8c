"""What a rush through a waiting room will be told as, predicted from its settings alone, beside what it reported.

The room lets in at the rate that the real law decides; the law is fed by the model: how many hold requests wait for
the rows that a forgotten transaction has locked, and for how long. Fans come, wait, look, hold, lose races, are shed,
fill in, pay. Numbers, times and waits are predicted; latencies of a quiet database are not (see `rush_prediction`):
the law hears a usual 30 ms, or what locked rows make of it, so a neighbour who makes all slow is not foreseen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate
from random import Random

from booking import crowd
from booking.domain.admission_control import AdmissionMode, AdmissionSettings, AdmissionState, decide
from booking.domain.admission_control_law import LawState
from booking.domain.admission_control_signals import AdmissionLimits, AdmissionSignals
from booking.quantiles import nearest_rank
from booking.simulation.rates import number
from booking.simulation.rush_prediction import Compared

_GIVEN = ("admitted", "hold")
_LOCK_WITHIN_S, _RETRY_AFTER_S = 1.0, 1.0
_QUIET_HOLD_S = 0.03
_SALE_POOL = 8
_TICK_S, _CREDIT_S = 0.25, 2.0
_COLLECTS_WITHIN_S = 2.0
_ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST_S = 3_600
_Stretch = tuple[float, float, float]
"""Seconds: least, most, most often."""
_NUMBERS = ("fans", "rate", "cap", "least", "seats", "skew", "buyers", "patience")


@dataclass(slots=True)
class RoomRun:
    """What one simulated run gave: counts by name, the waits of all who were let in, the rate of each second."""

    counts: Counter[str] = field(default_factory=Counter)
    waits_s: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    last_in_s: float = 0.0


class RoomModel:
    """One run; the same settings and seed give the same run."""

    def __init__(self, settings: Mapping[str, float], look: _Stretch, form: _Stretch, seed: int) -> None:
        self._set, self._look, self._form = settings, look, form
        self._rng = Random(seed)  # noqa: S311 - a crowd, not a secret
        self._seats = int(settings["seats"])
        self._cumulative = list(accumulate((rank + 1) ** -settings["skew"] for rank in range(self._seats)))
        self._taken = bytearray(self._seats)
        self._line: deque[float] = deque()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._pushed = self._waiting_for_locks = 0
        self._attempts: deque[tuple[float, float]] = deque()
        self._inside = 0
        self._credit = 1.0
        cap, is_automatic = settings["cap"], bool(settings["automatic"])
        self._law = AdmissionSettings(
            mode=AdmissionMode.AUTOMATIC if is_automatic else AdmissionMode.MANUAL, cap_per_minute=cap,
            manual_per_minute=cap, least_per_minute=settings["least"], total_active_users=100_000,
            limits=AdmissionLimits(
                lock_waits=settings.get("lock_waits", 4.0), hold_p99_ms=settings.get("hold_p99_ms", 300.0)
            ),
        )  # fmt: skip
        # It steers already when the first fans come, and all has been calm for a moment.
        law = LawState(rate=settings["least"], good=cap, calm_s=self._law.law.calm_after_s)
        self._state = AdmissionState(settings["least"], law, at=_ORIGIN)
        self.run_ = RoomRun()

    def run(self) -> RoomRun:
        """Until everybody has come, been let in and is done."""
        at = 0.0
        for _ in range(int(self._set["fans"])):
            at += self._rng.expovariate(self._set["rate"])
            self._later(at, self._join)
        self._later(0.0, self._decide)
        self._later(0.0, self._let_in)
        while self._events:
            now, _, what = heappop(self._events)
            what(now)
        return self.run_

    # ------------------------------------------------ the room and its controller

    def _join(self, now: float) -> None:
        self.run_.counts["came"] += 1
        self._line.append(now)

    def _is_over(self, now: float) -> bool:
        everybody = self.run_.counts["came"] == self._set["fans"]
        return (everybody and not self._line) or now > _LONGEST_S

    def _decide(self, now: float) -> None:
        at = _ORIGIN + timedelta(seconds=now)
        self._state, _ = decide(self._state, self._law, self._signals(now), at, at)
        self.run_.rates.append(self._state.per_minute)
        if not self._is_over(now):
            self._later(now + 1.0, self._decide)

    def _signals(self, now: float) -> AdmissionSignals:
        while self._attempts and self._attempts[0][0] < now - 5:
            self._attempts.popleft()
        p99_s = nearest_rank((seconds for _, seconds in self._attempts), 0.99)
        p99 = None if p99_s is None else 1_000 * p99_s
        return AdmissionSignals(
            queue_age_ms=5.0, hold_p99_ms=p99, lock_waits=float(min(self._waiting_for_locks, _SALE_POOL)),
            active_shoppers=float(self._inside),
        )  # fmt: skip

    def _let_in(self, now: float) -> None:
        per_s = self._state.per_minute / 60
        self._credit = min(self._credit + per_s * _TICK_S, max(1.0, per_s * _CREDIT_S))
        while self._credit >= 1 and self._line:
            self._credit -= 1
            came = self._line.popleft()
            self._inside += 1
            self._later(now + self._rng.uniform(0, _COLLECTS_WITHIN_S), partial(self._enter, came))
        if not self._is_over(now):
            self._later(now + _TICK_S, self._let_in)

    def _enter(self, came: float, now: float) -> None:
        run = self.run_
        run.counts["admitted"] += 1
        run.waits_s.append(now - came)
        run.last_in_s = now
        self._later(now + self._rng.triangular(*self._look), partial(self._hold, self._popular(), 0, 0))

    # ------------------------------------------------ one fan

    def _hold(self, seats: tuple[int, int], attempt: int, sheds: int, now: float) -> None:
        first, size = seats
        self.run_.counts["hold" if sheds == 0 else "again"] += 1
        if any(self._taken[first : first + size]):
            self._attempts.append((now, _QUIET_HOLD_S))
            self._lost(size, attempt, now)
            return
        wait_s = self._locked_for(first, now)
        if wait_s == 0:
            self._attempts.append((now, _QUIET_HOLD_S))
            self._won(first, size, now)
            return
        waits_s = min(wait_s, _LOCK_WITHIN_S)
        self._waiting_for_locks += 1
        self._later(now + waits_s, partial(self._lock_ended, seats, attempt, sheds, waits_s))

    def _lock_ended(self, seats: tuple[int, int], attempt: int, sheds: int, waited_s: float, now: float) -> None:
        self._waiting_for_locks -= 1
        self._attempts.append((now, waited_s))
        if waited_s < _LOCK_WITHIN_S:
            free = not any(self._taken[seats[0] : sum(seats)])
            self._won(*seats, now) if free else self._lost(seats[1], attempt, now)
        elif sheds < crowd.FAN_PATIENT_TRIES and self._rng.random() < self._set["patience"]:
            again = now + self._rng.uniform(_RETRY_AFTER_S, _RETRY_AFTER_S + 1)
            self._later(again, partial(self._hold, seats, attempt, sheds + 1))
        else:
            self._end("gave up")

    def _locked_for(self, first: int, now: float) -> float:
        """How much longer the rows of a run are locked; 0: they are not."""
        ends = self._set.get("slow_at_s", 0.0) + self._set.get("slow_for_s", 0.0)
        is_slow = self._set.get("slow_at_s", _LONGEST_S) <= now < ends
        return ends - now if is_slow and first < crowd.LOCKED_SHARE * self._seats else 0.0

    def _lost(self, size: int, attempt: int, now: float) -> None:
        self.run_.counts["lost"] += 1
        if attempt == crowd.FAN_ELSEWHERE_TRIES:
            self._end("found nothing")
            return
        anywhere = min(self._rng.randrange(self._seats), self._seats - size), size
        self._later(now + self._rng.uniform(*crowd.ELSEWHERE_AFTER_S), partial(self._hold, anywhere, attempt + 1, 0))

    def _won(self, first: int, size: int, now: float) -> None:
        self.run_.counts["won"] += 1
        self._taken[first : first + size] = b"\1" * size
        if self._rng.random() >= self._set["buyers"]:
            self._end("changed his mind")
            return
        self._later(now + self._rng.triangular(*self._form) + 0.5, partial(self._pay, size))

    def _pay(self, size: int, now: float) -> None:
        del now
        if self._rng.random() < crowd.DECLINES:
            self._end("did not pay")
            return
        self.run_.counts["tickets"] += size
        self._end("bought")

    def _end(self, name: str) -> None:
        self.run_.counts[name] += 1
        self._inside -= 1

    def _popular(self) -> tuple[int, int]:
        size = min(self._rng.choices(crowd.SIZES, crowd.SIZE_WEIGHTS)[0], self._seats)
        first = bisect_left(self._cumulative, self._rng.random() * self._cumulative[-1])
        return max(0, min(first, self._seats - size)), size

    def _later(self, at: float, what: Callable[[float], None]) -> None:
        self._pushed += 1
        heappush(self._events, (at, self._pushed, what))


def is_through_room(report: Mapping[str, object]) -> bool:
    """Whether a rush report is of fans who came through a waiting room."""
    settings = report.get("settings")
    return isinstance(settings, dict) and "fans" in settings and "admission" in report


def predict(report: Mapping[str, object], seed: int = 1, runs: int = 3) -> list[Compared]:
    """The mean of some simulated runs beside what a rush through a room saw.

    Raises:
        ValueError: a setting in the report is missing or no number. Names the field.
    """
    settings, look, form = _settings_of(report)
    found = [RoomModel(settings, look, form, seed + run).run() for run in range(runs)]
    seen = _seen(report)
    predicted = {name: sum(one.counts[name] for one in found) / runs for name in seen}
    waits = [sorted(one.waits_s) for one in found]
    for name, share in (("wait p50 s", 0.5), ("wait p90 s", 0.9)):
        predicted[name] = sum(one[int(share * (len(one) - 1))] for one in waits) / runs
    predicted["last in s"] = sum(one.last_in_s for one in found) / runs
    return [Compared(name, predicted[name], seen[name], name in _GIVEN) for name in seen]


def _settings_of(report: Mapping[str, object]) -> tuple[dict[str, float], _Stretch, _Stretch]:
    settings = report.get("settings")
    if not isinstance(settings, dict):
        raise ValueError("settings: this is no report of a rush (rush --report DIR writes rush.json)")  # noqa: TRY004
    found = {name: number(settings, name) for name in _NUMBERS}
    found |= {name: number(settings, name) for name in ("slow_at_s", "slow_for_s") if name in settings}
    targets = settings.get("targets")
    if isinstance(targets, dict):
        found |= {name: number(targets, name) for name in ("lock_waits", "hold_p99_ms") if name in targets}
    if not 6 <= found["seats"] <= 240_000 or found["rate"] <= 0 or not 0 < found["fans"] <= 200_000:
        raise ValueError("settings: seats from 6 to 240000, a rate above 0, up to 200000 fans")
    if not 0 < found["cap"] <= 600_000 or not 0 <= found["least"] <= found["cap"]:
        raise ValueError("settings: a cap above 0, and no more than that at least")
    found["automatic"] = float(settings.get("admission") == "automatic")
    return found, _stretch(settings, "look"), _stretch(settings, "form")


def _stretch(settings: Mapping[str, object], name: str) -> _Stretch:
    value = settings.get(name)
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError(f"{name}: least, most and most often are needed, in seconds")
    least, most, often = (number({name: one}, name) for one in value)
    return least, most, often


def _seen(report: Mapping[str, object]) -> dict[str, float]:
    fans, waits, timeline, kinds = (report.get(name) for name in ("fans", "waits", "timeline", "kinds"))
    if not (isinstance(fans, dict) and isinstance(waits, dict) and isinstance(kinds, dict)):
        raise ValueError("fans, waits, kinds: objects are needed")  # noqa: TRY004 - a fault of the file
    if not isinstance(timeline, list):
        raise ValueError("timeline: a list is needed")  # noqa: TRY004 - a fault of the file
    admitted = [one for one in timeline if isinstance(one, dict) and number(one, "admitted") > 0]
    hold = kinds.get("hold", {})
    return {
        "admitted": number(fans, "admitted"),
        "hold": number(hold, "offered"),
        "won": float(hold.get("answers", {}).get("201", 0)),
        "lost": float(hold.get("answers", {}).get("409 seats-taken", 0)),
        "bought": number(fans, "bought"),
        "tickets": number(fans, "tickets"),
        "wait p50 s": number(waits, "p50_s"),
        "wait p90 s": number(waits, "p90_s"),
        "last in s": number(admitted[-1], "at_s") if admitted else 0.0,
    }
