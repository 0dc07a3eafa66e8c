"""An opening from the first visitor to the last ticket: a discrete-event simulation in batches.

Events lie on a heap by windows of a quarter second; all that falls into a window is worked at once, as arrays, in order
of time. That is exact as long as nothing follows sooner than a window after its cause, and nothing does but by a
window's width. Two million who wait are arrays too (`waiting`); only those who were let in have events of their own.
The rate of admission comes from the law that the room really has, once a second.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count

import numpy as np

from booking.domain.admission_control import AdmissionChange, AdmissionSettings, decide, start
from booking.domain.admission_control_signals import AdmissionSignals
from booking.room.estimate import Pace
from booking.simulation.opened import Opened, Second
from booking.simulation.rates import Rates
from booking.simulation.scenarios import Scenario
from booking.simulation.stations import SHED_AGE_S, House, Station
from booking.simulation.waiting import Floats, Ints, ToTurn, Waiting

WINDOW_S = 0.25
_WINDOWS = int(1 / WINDOW_S)
_MOST_SHEDS = 5
_PATIENCE = 0.7
_OPENS = datetime(2026, 1, 1, tzinfo=UTC)
_STATUS_READS = 3.0
_RECENT_BATCHES = 40


class Kind(IntEnum):
    """What happens; in one window in this order."""

    END_HOLD = 0
    HOLD = 1
    CHECKOUT = 2
    CONFIRM = 3
    PAY = 4
    LEAVE = 5


class Opening:
    """One run. `run()` may be called once; the same scenario, rates and seed give the same result."""

    def __init__(self, scenario: Scenario, rates: Rates, seed: int) -> None:
        self.scenario, self.rates = scenario, rates
        self._rng = np.random.default_rng(seed)
        self._waiting = Waiting.of(scenario, self._rng)
        self._house = House(scenario.seats, scenario.skew)
        self._shard, self._provider = Station(SHED_AGE_S), Station()
        self._heap: list[tuple[int, int, Kind, Ints, Floats]] = []
        self._number = count()
        people = scenario.visitors
        self._first = np.full(people, -1, np.int64)
        self._size = np.zeros(people, np.int64)
        self._tries = np.zeros(people, np.int64)
        self._sheds = np.zeros(people, np.int64)
        self._held_until = np.zeros(people)
        self._inside = 0
        self._owed = 0.0
        self._pace, self._admits = Pace(), False
        self._window = -1
        cap = scenario.cap_per_minute
        self._ops = AdmissionSettings(cap_per_minute=cap, total_active_users=scenario.total_active_users)
        self._control = start(self._ops, _OPENS)
        self._this: defaultdict[str, float] = defaultdict(float)
        self._left_by_s: list[tuple[int, int]] = []
        self._hold_waits: list[Floats] = []
        self._recent: list[Floats] = []
        self.seconds: list[Second] = []
        self.changes: list[AdmissionChange] = []
        work = {
            Kind.HOLD: 1 / rates.hold_per_s,
            Kind.CHECKOUT: 1 / rates.checkout_per_s + 1 / rates.payment_per_s,
            Kind.CONFIRM: 1 / rates.confirm_per_s + _STATUS_READS / rates.status_per_s,
        }
        self._work_s = np.array([work.get(kind, 0.0) for kind in Kind])
        self.totals: defaultdict[str, int] = defaultdict(int)

    def run(self) -> Opened:
        """From the first early visitor to the end of the sale."""
        first = -self.scenario.early_s if self.scenario.early else 0
        told_out_from = None
        for second in range(first, self.scenario.longest_s):
            self._this = defaultdict(float)
            self._come(second)
            if second >= 0:
                if self._house.sold == self.scenario.seats:
                    told_out_from = second if told_out_from is None else told_out_from
                    self.totals["told_sold_out"] += self._waiting.tell_sold_out()
                else:
                    self._admit(second)
                for window in range(second * _WINDOWS, (second + 1) * _WINDOWS):
                    self._run_window(window)
                self._steer(second)
            self._close(second)
            if second >= 0 and self._over():
                break
        return self._opened(told_out_from)

    def _over(self) -> bool:
        people = self._waiting
        return people.next_arrival == self.scenario.visitors and not people.waiting and not self._inside

    # ------------------------------------------------ at the edge and in the room

    def _come(self, second: int) -> None:
        scenario, this = self.scenario, self._this
        came = self._waiting.begin_second(second)
        people = self._waiting.waiting if scenario.room else self._inside
        reloads = int(self._rng.poisson(people * scenario.reloads_per_min / 60))
        polls = self._waiting.polls(second, self._to_turn(second)) if scenario.room else 0
        # A page that is loaded anew finds its place by asking, not by joining.
        this["joins"], this["polls"], this["reloads"] = came, polls + reloads, reloads
        maps = self._inside / scenario.map_every_s
        this["maps"] = maps
        this["edge"] = (came + reloads) * scenario.page_requests + polls + maps

    def _to_turn(self, second: int) -> ToTurn | None:
        """The room's own estimate: its near end decides how soon somebody asks again."""
        if not self._admits:
            return None
        per_minute = int(self._control.per_minute)

        def to_turn_s(ahead: int) -> float | None:
            estimate = self._pace.estimate(ahead, second, per_minute)
            return None if estimate is None else estimate.low_s

        return to_turn_s

    def _admit(self, second: int) -> None:
        """Let in who may come now; nobody while all that is left is in holds."""
        rate = self._control.per_minute if self.scenario.room else np.inf
        admits = not self.scenario.room or self._house.free > 0
        if admits and not self._admits:
            self._pace.begin(second)
        self._admits = admits
        if not admits:
            return
        if np.isinf(rate):
            number = self.scenario.visitors
        else:
            self._owed += rate / 60
            number = min(int(self._owed), max(0, self.scenario.total_active_users - self._inside))
            self._owed -= int(self._owed)
        who = self._waiting.admit(number, second)
        self._inside += len(who)
        self._this["admitted"] = len(who)
        if self._waiting.waiting or len(who):
            self._pace.wait(second + 1, 1.0)
        if len(who):
            self._pace.note(second + 1, len(who))
        self._this["edge"] += len(who) * (self.scenario.page_requests + 2)
        self._size[who] = 1 + self._rng.choice(
            6, len(who), p=np.array(self.scenario.wanted) / sum(self.scenario.wanted)
        )
        looks = self._rng.gamma(2.0, self.scenario.look_s / 2, len(who))
        self._later(Kind.HOLD, who, second + self._rng.random(len(who)) + looks)

    # ------------------------------------------------ one window

    def _run_window(self, window: int) -> None:
        self._window = window
        if window % max(1, round(self.scenario.map_age_s / WINDOW_S)) == 0:
            self._house.redraw()
        batches: defaultdict[Kind, list[tuple[Ints, Floats]]] = defaultdict(list)
        while self._heap and self._heap[0][0] <= window:
            _, _, kind, who, at = heappop(self._heap)
            batches[kind].append((who, at))
        found = {kind: _in_order(batches[kind]) for kind in batches}
        if Kind.END_HOLD in found:
            self._end_holds(found[Kind.END_HOLD][0])
        self._serve({kind: found[kind] for kind in (Kind.HOLD, Kind.CHECKOUT, Kind.CONFIRM) if kind in found})
        if Kind.PAY in found:
            self._pay(*found[Kind.PAY])
        if Kind.LEAVE in found:
            self._leave(found[Kind.LEAVE][0])

    def _serve(self, asks: dict[Kind, tuple[Ints, Floats]]) -> None:
        """All three kinds queue for the one writer of the event, in order of time."""
        if not asks:
            return
        kinds = np.concatenate([np.full(len(who), kind, np.int64) for kind, (who, _) in asks.items()])
        who = np.concatenate([one for one, _ in asks.values()])
        at = np.concatenate([one for _, one in asks.values()])
        order = np.argsort(at, kind="stable")
        kinds, who, at = kinds[order], who[order], at[order]
        slow = self._slower(at[0])
        work = self._work_s[kinds] * slow
        done = self._shard.serve(at, work)
        shed = np.isnan(done)
        self._this["oldest_s"] = max(
            self._this["oldest_s"], float(np.max(np.where(shed, SHED_AGE_S * 1.01, done - at - work)))
        )
        self._this["shed"] += int(shed.sum())
        self._turn_away(kinds[shed], who[shed], at[shed])
        for kind, then in (
            (Kind.HOLD, self._hold),
            (Kind.CHECKOUT, self._checked_out),
            (Kind.CONFIRM, self._confirmed),
        ):
            mine = (kinds == kind) & ~shed
            self._this[kind.name] += int((kinds == kind).sum())
            if mine.any():
                then(who[mine], at[mine], done[mine])

    def _slower(self, at_s: float) -> float:
        scenario = self.scenario
        return scenario.slower if 0 <= at_s - scenario.slow_from_s < scenario.slow_for_s else 1.0

    def _turn_away(self, kinds: Ints, who: Ints, at: Floats) -> None:
        """503 with Retry-After: most come again in a second or two, a few times; the others are lost."""
        self._sheds[who] += 1
        stays = (self._rng.random(len(who)) < _PATIENCE) & (self._sheds[who] <= _MOST_SHEDS)
        again = at + 1 + self._rng.random(len(who))
        for kind in (Kind.HOLD, Kind.CHECKOUT, Kind.CONFIRM):
            mine = (kinds == kind) & stays
            self._later(kind, who[mine], again[mine])
        lost, lost_at = who[~stays], at[~stays]
        holding = kinds[~stays] != Kind.HOLD
        self.totals["given_up"] += len(lost)
        self._later(Kind.END_HOLD, lost[holding], self._held_until[lost[holding]])
        self._later(Kind.LEAVE, lost, lost_at)

    # ------------------------------------------------ one shopper's steps, many at a time

    def _hold(self, who: Ints, at: Floats, done: Floats) -> None:
        waits = done - at + self.rates.hold_base_ms / 1_000
        self._hold_waits.append(waits)
        self._recent.append(waits)
        first, size = self._house.choose(self._size[who], self._rng)
        got = self._house.take(first, size)
        self._first[who], self._size[who] = np.where(got, first, -1), np.where(first >= 0, size, self._size[who])
        self._tries[who] += 1
        self.totals["holds"] += int(got.sum())
        self.totals["conflicts"] += int((~got & (first >= 0)).sum())
        again = who[~got & (self._tries[who] < self.scenario.hold_tries)]
        wait = np.where(self._first[again] < 0, self.scenario.map_every_s, 1.0) * self._rng.uniform(
            0.5, 1.5, len(again)
        )
        self._later(Kind.HOLD, again, self._end() + wait)
        beaten = who[~got & (self._tries[who] >= self.scenario.hold_tries)]
        self.totals["found_nothing"] += len(beaten)
        self._later(Kind.LEAVE, beaten, np.full(len(beaten), self._end()))
        self._after_hold(who[got], done[got])

    def _after_hold(self, who: Ints, at: Floats) -> None:
        scenario, number = self.scenario, len(who)
        self._held_until[who] = at + scenario.hold_ttl_s
        buys = self._rng.random(number) < scenario.buyers
        fills = np.minimum(self._rng.gamma(3.0, scenario.form_s / 3, number), scenario.hold_ttl_s - 5)
        self._later(Kind.CHECKOUT, who[buys], at[buys] + fills[buys])
        idle, from_s = who[~buys], at[~buys]
        gives_back = self._rng.random(len(idle)) < scenario.releases
        ends = np.where(gives_back, from_s + fills[~buys], from_s + scenario.hold_ttl_s)
        self.totals["expired"] += int((~gives_back).sum())
        self._later(Kind.END_HOLD, idle, ends)
        self._later(Kind.LEAVE, idle, from_s + fills[~buys])

    def _checked_out(self, who: Ints, at: Floats, done: Floats) -> None:
        del at
        self._later(Kind.PAY, who, done)

    def _pay(self, who: Ints, at: Floats) -> None:
        done = self._provider.serve(at, np.full(len(at), 1 / self.scenario.payments_per_s))
        self._this["payments"] += len(who)
        self._this["pay_wait_s"] = max(self._this["pay_wait_s"], float(np.max(done - at)))
        done = done + self._rng.gamma(4.0, self.scenario.pay_s / 4, len(who))
        declined = self._rng.random(len(who)) < self.scenario.declines
        self.totals["declined"] += int(declined.sum())
        self._later(Kind.CONFIRM, who[~declined], done[~declined])
        self._later(Kind.END_HOLD, who[declined], done[declined])
        self._later(Kind.LEAVE, who[declined], done[declined])

    def _confirmed(self, who: Ints, at: Floats, done: Floats) -> None:
        del at
        seats = int(self._size[who].sum())
        self._house.sold += seats
        self.totals["orders"] += len(who)
        self._this["orders"] += len(who)
        self._later(Kind.LEAVE, who, done)

    def _end_holds(self, who: Ints) -> None:
        self._house.give_back(self._first[who], self._size[who])

    def _leave(self, who: Ints) -> None:
        self._inside -= len(who)
        self._this["left"] += len(who)

    def _end(self) -> float:
        return (self._window + 1) * WINDOW_S

    def _later(self, kind: Kind, who: Ints, at: Floats) -> None:
        """Put people on the heap, split by window; nothing comes before the next one."""
        if not len(who):
            return
        at = np.maximum(at, self._end())
        windows = (at / WINDOW_S).astype(np.int64)
        order = np.argsort(windows, kind="stable")
        windows, who, at = windows[order], who[order], at[order]
        edges = np.flatnonzero(np.diff(windows)) + 1
        for some, people, times in zip(
            windows[np.concatenate([[0], edges])].tolist(), np.split(who, edges), np.split(at, edges), strict=True
        ):
            heappush(self._heap, (some, next(self._number), kind, people, times))

    # ------------------------------------------------ the controller, and the record

    def _steer(self, second: int) -> None:
        self._left_by_s.append((int(self._this["left"]), int(self._this["orders"])))
        minute = self._left_by_s[-60:]
        left, bought = sum(one for one, _ in minute), sum(one for _, one in minute)
        self._recent = self._recent[-_RECENT_BATCHES:]
        waits = np.concatenate(self._recent) if self._recent else np.empty(0)
        p99 = float(np.quantile(waits, 0.99)) * 1_000 if len(waits) else None
        signals = AdmissionSignals(
            queue_age_ms=max(0.0, 1_000 * self._this["oldest_s"]), hold_p99_ms=p99,
            ticketing_lag_s=self._this["pay_wait_s"], active_shoppers=float(self._inside),
            seats_free=float(self._house.free),
            departures_per_minute=left * 60 / len(minute),
            completion_share=min(1.0, bought / left) if left >= 200 and bought else None,
        )  # fmt: skip
        at = _OPENS + timedelta(seconds=second + 1)
        self._control, change = decide(self._control, self._ops, signals, at, at)
        if change is not None:
            self.changes.append(change)

    def _close(self, second: int) -> None:
        this = self._this
        self.seconds.append(Second(
            at_s=second, edge=this["edge"] + this["HOLD"] + this["CHECKOUT"] * 2 + this["orders"] * _STATUS_READS,
            joins=this["joins"], polls=this["polls"], waiting=self._waiting.waiting, inside=self._inside,
            set_per_minute=self._control.per_minute, admitted=this["admitted"], holds=this["HOLD"], shed=this["shed"],
            queue_age_ms=1_000 * max(0.0, this["oldest_s"]), payments=this["payments"], orders=this["orders"],
            maps=this["maps"], sold=self._house.sold,
        ))  # fmt: skip

    def _opened(self, told_out_from: int | None) -> Opened:
        waiting = self._waiting
        self.totals["abandoned"] = waiting.abandoned
        waits = np.concatenate(self._hold_waits) if self._hold_waits else np.empty(0)
        return Opened(
            scenario=self.scenario, rates=self.rates, seconds=self.seconds, totals=dict(self.totals),
            came_s=waiting.came_s, admitted_s=waiting.admitted_s, hold_waits_s=waits, sold_out_s=told_out_from,
            seats_sold=self._house.sold, seats_taken=int(np.count_nonzero(self._house.taken)),
            shard_busy_s=self._shard.busy_s, changes=self.changes,
        )  # fmt: skip


def _in_order(batches: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    who = np.concatenate([one for one, _ in batches])
    at = np.concatenate([one for _, one in batches])
    order = np.argsort(at, kind="stable")
    return who[order], at[order]
