"""The state machine: Hypothesis chooses requests, the history sends each to the model and to the real box office.

Every number that is drawn is an index, taken modulo what there is: so a failing history shrinks to few and small numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.oracle.history import FANS, PEOPLE, SUPERVISOR, TILLS, History
from tests.oracle.model import OPEN, RUNNING, SECOND, Person, Rules
from tests.oracle.requests import NOBODY, Request

PRICES = {1: 4_000, 2: 1_500}
UNKNOWN_PRICE_TYPE = 3
INDEX = st.integers(0, 11)
CALLS = ("hold", "hold", "hold", "checkout", "pay", "report", "provider", "cancel", "release", "again", "sweep")
PROCESS = st.integers(0, 1)
# Microseconds around a deadline; the last moment at which a payment may begin is ten seconds before it.
AROUND = (0, 0, 0, 0, 0, 0, -1, 1, -10 * SECOND, -10 * SECOND + 1)


@dataclass(frozen=True)
class Choice:
    """Three indices, for a request to choose by."""

    a: int
    b: int
    c: int


CHOICE = st.builds(Choice, INDEX, INDEX, INDEX)


class OracleMachine(RuleBasedStateMachine):
    """Give it `begin`, which makes the history of each example, and `finish`, which looks at its end."""

    begin: ClassVar[Callable[[Rules], History]]
    finish: ClassVar[Callable[[History], None]]
    history: History

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
        self._perform(self._checkout(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def pay(self, choice: Choice, process: int) -> None:
        self._perform(self._pay(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def report(self, choice: Choice, process: int) -> None:
        self._perform(self._report(choice), process)

    @rule(choice=CHOICE, process=PROCESS)
    def provider_says(self, choice: Choice, process: int) -> None:
        self._perform(self._provider(choice), process)

    @rule(choice=CHOICE)
    def send(self, choice: Choice) -> None:
        self._perform(self._send(choice))

    @rule(choice=CHOICE, process=PROCESS)
    def cancel(self, choice: Choice, process: int) -> None:
        self._perform(self._cancel(choice), process)

    @rule(choice=CHOICE)
    def release(self, choice: Choice) -> None:
        self._perform(self._release(choice))

    @rule(choice=CHOICE)
    def read(self, choice: Choice) -> None:
        if choice.c % 2 and self.history.model.orders:
            order = self._newest(list(self.history.model.orders), choice.a)
            owner = self.history.model.orders[order].owner
            self._perform(Request("read-order", _somebody(owner, choice.b), order))
        elif self.history.model.holds:
            hold = self._newest(list(self.history.model.holds), choice.a)
            self._perform(Request("read-hold", _somebody(self.history.model.holds[hold].owner, choice.b), hold))

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
        ahead = [name for name, hold in self.history.model.holds.items() if hold.state in OPEN and hold.until > self.history.now]
        if ahead:
            self._meet_deadline(ahead[choice.a % len(ahead)], choice, around, process)

    @rule(choice=CHOICE, around=st.sampled_from(AROUND), process=PROCESS, stage=st.integers(0, 4))
    def sale_at_the_deadline(self, choice: Choice, around: int, process: int, stage: int) -> None:
        """A new sale, taken some steps on, then its deadline."""
        ask = self._hold_of_free_seats(choice)
        if ask is None or self.history.perform(ask, process).code:
            return
        for _ in range(stage):
            step = self._next_step_of(ask.name, replace(choice, c=(3, 5, 1, 3)[choice.b % 4]))
            self._perform(step, process)
        self._meet_deadline(ask.name, choice, around, process)

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
            seats = history.model.holds[name].seats
            self._perform(Request("hold", who, key=history.key_of(fresh), name=fresh, seats=seats), process)

    @rule(state=st.sampled_from(("ON_SALE", "ON_SALE", "PAUSED", "ON_SALE", "CANCELLED")), rarely=st.integers(0, 4))
    def event_state(self, state: str, rarely: int) -> None:
        if rarely == 0 or state == "ON_SALE":
            self.history.set_event_state(state)

    # ------------------------------------------------------------ at once

    @rule(one=st.sampled_from(CALLS), other=st.sampled_from(CALLS), first=CHOICE, second=CHOICE)
    def at_once(self, one: str, other: str, first: Choice, second: Choice) -> None:
        self._perform_pair(self._choose(one, first), self._choose(other, second))

    @rule(choice=CHOICE)
    def two_holds_of_one_fan(self, choice: Choice) -> None:
        """His limits bind both: one is refused, whichever is later (R8)."""
        fan = FANS[choice.a % len(FANS)]
        count = len(self.history.model.seats)
        asks = []
        for seat in (choice.b % count, (choice.b + 1) % count):
            fresh = self.history.new_name("hold")
            asks.append(Request("hold", fan, key=self.history.key_of(fresh), name=fresh, seats=(seat,)))
        self._perform_pair(*asks)

    # ------------------------------------------------------------ choosing

    def _perform(self, ask: Request | None, process: int = 0) -> None:
        if ask is not None:
            self.history.perform(ask, process)

    def _perform_pair(self, one: Request | None, other: Request | None) -> None:
        if one is not None and other is not None:
            self.history.perform_pair(one, other)

    def _choose(self, call: str, choice: Choice) -> Request | None:
        if call == "sweep":
            return Request("sweep", NOBODY)
        chooser: Callable[[Choice], Request | None] = getattr(self, f"_{call}")
        return chooser(choice)

    def _hold(self, choice: Choice) -> Request:
        count = len(self.history.model.seats)
        wanted = (1, 2, 1, 3, 2, 1, 4, 2, 5, 6, 2, 3)[choice.c]
        seats = tuple((choice.b + step) % count for step in range(min(wanted, count)))
        if choice == Choice(choice.a, 11, 11):
            seats = (*seats[:2], count)  # a seat that there is not
        elif choice == Choice(choice.a, 10, 11):
            seats = (seats[0], seats[0])
        name = self.history.new_name("hold")
        return Request("hold", PEOPLE[choice.a % len(PEOPLE)], key=self.history.key_of(name), name=name, seats=seats)

    def _hold_of_free_seats(self, choice: Choice) -> Request | None:
        """Of somebody who has no hold: very likely granted."""
        model = self.history.model
        free = [number for number, seat in model.seats.items() if seat.state == "AVAILABLE"]
        busy = {hold.owner for hold in model.holds.values() if hold.state in OPEN}
        idle = [person for person in PEOPLE if person not in busy]
        if not free or not idle:
            return None
        name = self.history.new_name("hold")
        seats = tuple(free[: 1 + choice.c % 2])
        return Request("hold", idle[choice.a % len(idle)], key=self.history.key_of(name), name=name, seats=seats)

    def _checkout(self, choice: Choice) -> Request | None:
        holds = self.history.model.holds
        name = self._preferred(list(holds), choice, lambda each: holds[each].state == "HELD")
        if name is None:
            return None
        kinds = [1 + (choice.c + step) % 2 for step in range(len(holds[name].seats))]
        lines = tuple(zip(holds[name].seats, kinds, strict=True))
        shown = sum(PRICES[kind] for kind in kinds)
        match choice.c:
            case 9:
                shown -= 1
            case 10 if len(lines) > 1:
                lines, shown = lines[1:], shown - PRICES[kinds[0]]
            case 11:
                lines = ((lines[0][0], UNKNOWN_PRICE_TYPE), *lines[1:])
        fresh = self.history.new_name("order")
        return Request(
            "checkout", _somebody(holds[name].owner, choice.b), name, self.history.key_of(fresh), fresh, lines=lines,
            amount=shown,
        )  # fmt: skip

    def _pay(self, choice: Choice) -> Request | None:
        orders = self.history.model.orders
        name = self._preferred(list(orders), choice, lambda each: orders[each].state == "PENDING")
        if name is None:
            return None
        who = _somebody(orders[name].owner, choice.b)
        kind = ("authorize", "sale", "cash")[choice.c % 3] if who.at_till or choice.c > 9 else "authorize"
        amount = orders[name].amount + (choice.c == 6)
        tendered = amount + (50, 0, -1)[choice.b % 3] if kind == "cash" and choice.c != 11 else None
        fresh = self.history.new_name("payment")
        return Request(
            "pay", who, name, self.history.key_of(fresh), fresh, kind=kind, amount=amount, tendered=tendered
        )

    def _report(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        sales = [name for name, operation in operations.items() if operation.kind == "sale"]
        name = self._preferred(sales or list(operations), choice, lambda each: operations[each].state in RUNNING)
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("report"))
        return replace(self._result(name, choice), call="report", who=_somebody(operations[name].payer, choice.b), key=key)

    def _provider(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        online = [name for name, operation in operations.items() if operation.kind not in ("sale", "cash")]
        name = self._preferred(online or list(operations), choice, lambda each: operations[each].state in RUNNING)
        if name is None:
            return None
        source = "supervisor:oracle" if choice.b == 11 else "provider:sandbox"
        return replace(self._result(name, choice), call="provider", kind=source)

    def _result(self, name: str, choice: Choice) -> Request:
        outcome = ("succeeded", "declined", "succeeded", "unknown", "succeeded", "declined")[choice.c % 6]
        amount = self.history.model.operations[name].amount + (choice.c == 10)
        return Request("", NOBODY, name, outcome=outcome, amount=amount, ref=f"ref-{choice.a}" if choice.b % 2 else "")

    def _send(self, choice: Choice) -> Request | None:
        operations = self.history.model.operations
        name = self._preferred(list(operations), choice, lambda each: operations[each].state == "CREATED")
        return None if name is None else Request("send", NOBODY, name)

    def _cancel(self, choice: Choice) -> Request | None:
        orders = self.history.model.orders
        name = self._preferred(list(orders), choice, lambda each: orders[each].state == "PENDING")
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("cancel"))
        who = _somebody(orders[name].owner, choice.b)
        return Request("cancel", who, name, key, keep_seats=choice.c % 2 == 0)

    def _release(self, choice: Choice) -> Request | None:
        holds = self.history.model.holds
        name = self._preferred(list(holds), choice, lambda each: holds[each].state == "HELD")
        if name is None:
            return None
        key = self.history.key_of(self.history.new_name("release"))
        return Request("release", _somebody(holds[name].owner, choice.b), name, key)

    def _again(self, choice: Choice) -> Request | None:
        asked = self.history.asked
        return asked[-1 - (choice.a * 12 + choice.b) % len(asked)] if asked else None

    def _next_step_of(self, hold_name: str, choice: Choice) -> Request | None:
        """What its owner would do next with a hold."""
        model = self.history.model
        hold = model.holds[hold_name]
        if hold.order is None:
            return self._checkout_of(hold_name)
        running = [
            name for name, operation in model.operations.items()
            if operation.order == hold.order and operation.state in RUNNING and operation.kind in ("sale", "authorize")
        ]  # fmt: skip
        if not running:
            order = model.orders[hold.order]
            fresh = self.history.new_name("payment")
            kind = ("cash", "sale")[choice.c % 2] if hold.owner.at_till else "authorize"
            return Request(
                "pay", hold.owner, hold.order, self.history.key_of(fresh), fresh, kind=kind, amount=order.amount,
                tendered=order.amount if kind == "cash" else None,
            )  # fmt: skip
        operation = model.operations[running[0]]
        result = self._result(running[0], choice)
        if operation.kind == "sale":
            key = self.history.key_of(self.history.new_name("report"))
            return replace(result, call="report", who=operation.payer, key=key)
        return replace(result, call="provider", kind="provider:sandbox")

    def _checkout_of(self, hold_name: str) -> Request:
        hold = self.history.model.holds[hold_name]
        fresh = self.history.new_name("order")
        return Request(
            "checkout", hold.owner, hold_name, self.history.key_of(fresh), fresh,
            lines=tuple((seat, 1) for seat in hold.seats), amount=PRICES[1] * len(hold.seats),
        )  # fmt: skip

    def _preferred(self, names: list[str], choice: Choice, is_likely: Callable[[str], bool]) -> str | None:
        """Mostly one with which something can still happen, sometimes any."""
        likely = [name for name in names if is_likely(name)]
        among = likely if likely and choice.a < 9 else names
        return self._newest(among, choice.a) if among else None

    @staticmethod
    def _newest(names: list[str], index: int) -> str:
        return names[-1 - index % len(names)]


def _somebody(owner: Person, index: int) -> Person:
    """Mostly the owner; sometimes a supervisor, or somebody whom it does not concern."""
    return {10: SUPERVISOR, 11: TILLS[0] if owner is not TILLS[0] else FANS[0]}.get(index, owner)
