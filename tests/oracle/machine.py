"""The state machine: Hypothesis chooses requests, the history sends each to the model and to the real box office.

Every number that is drawn is an index: see `choosing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.oracle.choosing import PRICES, Choice, Chooser, somebody
from tests.oracle.history import FANS, PEOPLE, History
from tests.oracle.records import OPEN, SECOND, Rules
from tests.oracle.requests import NOBODY, Request

INDEX = st.integers(0, 11)
CALLS = (
    "hold",
    "hold",
    "hold",
    "checkout",
    "pay",
    "instead",
    "report",
    "provider",
    "cancel",
    "release",
    "again",
    "sweep",
)
PROCESS = st.integers(0, 1)
# Microseconds around a deadline; the last moment at which a payment may begin is ten seconds before it.
AROUND = (0, 0, 0, 0, 0, 0, -1, 1, -10 * SECOND, -10 * SECOND + 1)


CHOICE = st.builds(Choice, INDEX, INDEX, INDEX)


class OracleMachine(Chooser, RuleBasedStateMachine):
    """Give it `begin`, which makes the history of each example, and `finish`, which looks at its end."""

    begin: ClassVar[Callable[[Rules], History]]
    finish: ClassVar[Callable[[History], None]]

    @initialize(
        seats=st.integers(4, 12), ttl=st.sampled_from((20, 60)), grace=st.sampled_from((0, 5, 30)),
        limit=st.sampled_from((2, 4, 6)), parked=st.integers(1, 3), cap=st.sampled_from((4, 8, 20)),
    )  # fmt: skip
    def open_sale(self, seats: int, ttl: int, grace: int, limit: int, parked: int, cap: int) -> None:
        rules = Rules(seats, PRICES, ttl, grace, limit, parked, cap)
        self.history = type(self).begin(rules)

    def teardown(self) -> None:
        """Compare the end, unless the history is known to be wrong already."""
        if hasattr(self, "history") and not self.history.is_broken:
            self.history.check_state()
            type(self).finish(self.history)

    # ------------------------------------------------------------ one request

    @rule(choice=CHOICE, process=PROCESS)
    def hold(self, choice: Choice, process: int) -> None:
        self._perform(self._hold(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def check_out(self, choice: Choice, process: int) -> None:
        self._prepare("checkout", choice)
        self._perform(self._checkout(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def pay(self, choice: Choice, process: int) -> None:
        self._prepare("pay", choice)
        self._perform(self._pay(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def pay_instead(self, choice: Choice, process: int) -> None:
        self._prepare("instead", choice)
        self._perform(self._instead(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def report(self, choice: Choice, process: int) -> None:
        self._prepare("report", choice)
        self._perform(self._report(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def provider_says(self, choice: Choice, process: int) -> None:
        self._prepare("provider", choice)
        self._perform(self._provider(choice), process)

    @rule(choice=CHOICE)
    def send(self, choice: Choice) -> None:
        self._prepare("send", choice)
        self._perform(self._send(choice))

    @rule(choice=CHOICE, process=PROCESS)
    def cancel(self, choice: Choice, process: int) -> None:
        self._prepare("cancel", choice)
        self._perform(self._cancel(choice), process)

    @rule(choice=CHOICE)
    def release(self, choice: Choice) -> None:
        self._prepare("release", choice)
        self._perform(self._release(choice))

    @rule(choice=CHOICE)
    def read(self, choice: Choice) -> None:
        if choice.c % 2 and self.history.model.orders:
            order = self._newest(list(self.history.model.orders), choice.a)
            owner = self.history.model.orders[order].owner
            self._perform(Request("read-order", somebody(owner, choice.b), order))
        elif self.history.model.holds:
            hold = self._newest(list(self.history.model.holds), choice.a)
            self._perform(Request("read-hold", somebody(self.history.model.holds[hold].owner, choice.b), hold))

    @rule()
    def sweep(self) -> None:
        self._perform(Request("sweep", NOBODY))

    # ------------------------------------------------------------ keys

    @rule(choice=CHOICE, process=PROCESS)
    def again(self, choice: Choice, process: int) -> None:
        """A request that was sent before, to the letter."""
        self._perform(self._again(choice), process)

    @rule(choice=CHOICE)
    def key_with_another_body(self, choice: Choice) -> None:
        earlier = self._again(choice)
        if earlier is not None:
            seats = tuple(reversed(earlier.seats)) if len(earlier.seats) > 1 else (0, 1)
            self._perform(replace(earlier, seats=seats, amount=earlier.amount + 1, keep_seats=not earlier.keep_seats))

    @rule(choice=CHOICE)
    def key_of_somebody_else(self, choice: Choice) -> None:
        """Our keys belong to their caller: for another one it is a new key."""
        earlier = self._again(choice)
        if earlier is not None:
            other = PEOPLE[(PEOPLE.index(earlier.who) + 1 + choice.c) % len(PEOPLE)]
            self._perform(replace(earlier, who=other, name=self.history.new_name(earlier.call)))

    # ------------------------------------------------------------ time

    @rule(micros=st.sampled_from((1, SECOND, 7 * SECOND, 31 * SECOND)))
    def time_passes(self, micros: int) -> None:
        self.history.stand_at(self.history.now + micros)

    @rule(choice=CHOICE, around=st.sampled_from(AROUND), process=PROCESS)
    def at_the_deadline(self, choice: Choice, around: int, process: int) -> None:
        """Just before, on, or just after the deadline of some hold: go on with its sale."""
        ahead = [
            name
            for name, hold in self.history.model.holds.items()
            if hold.state in OPEN and hold.until > self.history.now
        ]
        if ahead:
            self._meet_deadline(ahead[choice.a % len(ahead)], choice, around, process)

    @rule(choice=CHOICE, around=st.sampled_from(AROUND), process=PROCESS, stage=st.integers(0, 4))
    def sale_at_the_deadline(self, choice: Choice, around: int, process: int, stage: int) -> None:
        """A new sale, taken some steps on, then its deadline."""
        name = self._begin_sale(choice, stage, process=process)
        if name is not None:
            self._meet_deadline(name, choice, around, process)

    def _meet_deadline(self, name: str, choice: Choice, around: int, process: int) -> None:
        """Then the next step, everything about it once more, and somebody else who wants its seats."""
        history = self.history
        history.stand_at(history.model.holds[name].until + around)
        self._perform(self._next_step_of(name, choice), process)
        about = {name, history.model.holds[name].order}
        for ask in [ask for ask in history.asked if ask.name in about or ask.subject in about]:
            self._perform(ask, 1 - process)
        if choice.b % 3 == 0:
            who, fresh = PEOPLE[choice.c % len(PEOPLE)], history.new_name("hold")
            old = history.model.holds[name]
            self._perform(Request("hold", who, key=history.key_of(fresh), name=fresh, seats=old.seats), process)
            # The old hold ends after its successor was made: by its owner, or by the sweeper.
            key = history.key_of(history.new_name("release"))
            self._perform(Request("release", old.owner, name, key) if choice.a % 2 else Request("sweep", NOBODY))

    @rule(state=st.sampled_from(("ON_SALE", "ON_SALE", "PAUSED", "ON_SALE", "CANCELLED")), rarely=st.integers(0, 4))
    def event_state(self, state: str, rarely: int) -> None:
        if rarely == 0 or state == "ON_SALE":
            self.history.set_event_state(state)

    # ------------------------------------------------------------ at once

    @rule(one=st.sampled_from(CALLS), other=st.sampled_from(CALLS), first=CHOICE, second=CHOICE)
    def at_once(self, one: str, other: str, first: Choice, second: Choice) -> None:
        self._prepare(one, first)
        self._prepare(other, second)
        self._perform_pair(self._choose(one, first), self._choose(other, second))

    @rule(choice=CHOICE)
    def two_holds_of_one_fan(self, choice: Choice) -> None:
        """His limits bind both: one is refused, whichever is later (R8)."""
        earlier = self._hold_of_free_seats(choice, FANS)
        free = self._free_seats()
        if earlier is None or len(free) < 2 or self.history.perform(earlier).code:
            return
        self._perform(
            Request("release", earlier.who, earlier.name, self.history.key_of(self.history.new_name("release")))
        )
        asks = []
        for seat in free[:2]:
            fresh = self.history.new_name("hold")
            asks.append(Request("hold", earlier.who, key=self.history.key_of(fresh), name=fresh, seats=(seat,)))
        self._perform_pair(*asks)
