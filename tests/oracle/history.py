"""A history in progress: the model, the real box office, the clock, and what has been asked so far.

`perform` sends one request to both sides and compares the answers; `perform_pair` sends two at once, and the answers
and the database must be those of one of the two serial orders (linearizability of pairs).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from booking.services.check_invariants import check_connection
from tests.oracle.compare import Comparison, Ids
from tests.oracle.model import BoxOffice
from tests.oracle.real_office import RealOffice, Snapshot, Told
from tests.oracle.records import Answer, Person, Rules
from tests.oracle.requests import KEYED, Request, apply

FANS = (Person("Ana"), Person("Bob"), Person("Cid"))
TILLS = (Person("till 1", at_till=True), Person("till 2", at_till=True))
SUPERVISOR = Person("supervisor", at_till=True, is_supervisor=True)
PEOPLE = (*FANS, *TILLS, SUPERVISOR)
CONFIRMS = ("checkout", "pay", "report", "provider")
OWN_CLOCK = "clock-is-the-servers"


class DisagreementError(AssertionError):
    """The model and the real box office say different things, or an invariant is broken."""

    def __init__(self, caught_by: str, differences: list[str], story: list[str]) -> None:
        lines = [f"{caught_by}: " + "; ".join(differences[:8]), "after:", *(f"    {line}" for line in story)]
        super().__init__("\n".join(lines))
        self.caught_by = caught_by
        self.differences = differences
        self.story = story


@dataclass
class Tally:
    """What a run went through."""

    steps: int = 0
    histories: int = 0
    pairs: int = 0
    confirms_at_the_instant: Counter[str] = field(default_factory=Counter)
    replays_after_expiry: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.histories} histories, {self.steps} requests, {self.pairs} pairs at once;"
            f" confirms on the exact instant: {_counted(self.confirms_at_the_instant)};"
            f" replays after expiry: {_counted(self.replays_after_expiry)};"
            f" answers: {dict(self.codes.most_common())}"
        )


def _counted(counter: Counter[str]) -> str:
    return f"{counter.total()} {dict(counter.most_common())}"


class History:
    """One event from its first request to its last."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        office: RealOffice,
        tally: Tally,
        rules: Rules,
        *,
        label: str,
        caught: list[DisagreementError],
    ) -> None:
        self.loop = loop
        self.office = office
        self.tally = tally
        self.model = BoxOffice(rules)
        self.now = 0
        self.label = label
        self.caught = caught
        self.named = 0
        self.asked: list[Request] = []
        self.story: list[str] = [str(rules)]
        self.is_broken = False
        loop.run_until_complete(office.begin(rules))
        tally.histories += 1

    def new_name(self, what: str) -> str:
        """A name for what the next request may make; also its key, which no other history has used."""
        self.named += 1
        return f"{what} {self.named}"

    def key_of(self, name: str) -> str:
        """A fresh key."""
        return f"{self.label}-{name.replace(' ', '-')}"

    def stand_at(self, instant: int) -> None:
        """Time never runs back."""
        if instant > self.now:
            self.now = instant
            self.story.append(f"it is {instant / 1e6:.6f} s")
            self.loop.run_until_complete(self.office.stand_at(instant))

    def set_event_state(self, state: str) -> None:
        """Paused and resumed, or cancelled for good."""
        if self.model.event_state != "CANCELLED":
            self.model.event_state = state
            self.story.append(f"the event is {state}")
            self.loop.run_until_complete(self.office.set_event_state(state))

    def perform(self, ask: Request, process: int = 0) -> Answer:
        """One request on both sides.

        Raises:
            DisagreementError: the answers differ.
        """
        self.story.append(f"{ask} [{process}]")
        expected = apply(self.model, ask, self.now)
        told = self.loop.run_until_complete(self.office.ask(ask, process))
        self._learn_follow_ups(self.model, self.office.ids)
        found = self._comparison(self.model, self.office.ids).answer(ask, expected, told)
        if found:
            self._disagree("answer", found)
        self._note(ask, expected)
        return expected

    def perform_pair(self, first: Request, second: Request) -> None:
        """Two requests at once, to two processes: as if one had come after the other.

        Raises:
            DisagreementError: no serial order gives these answers and this database.
        """

        async def both() -> tuple[Told, Told]:
            return await asyncio.gather(self.office.ask(first, 0), self.office.ask(second, 1))

        self.story.append(f"at once: {first} | {second}")
        told = self.loop.run_until_complete(both())
        real = self.loop.run_until_complete(self.office.snapshot())
        found: list[str] = []
        for asks, answers in (((first, second), told), ((second, first), told[::-1])):
            ids = dict(self.office.ids)
            model = self.model.copy()
            differences, expected = self._serial(model, ids, asks, answers, real)
            if not differences:
                self.model, self.office.ids = model, ids
                for ask, answer in zip(asks, expected, strict=True):
                    self._note(ask, answer)
                self.tally.pairs += 1
                return
            found += [f"if {asks[0].who.name}'s {asks[0].call} came first: {words}" for words in differences[:3]]
        self._disagree("pair", found)

    def _serial(
        self, model: BoxOffice, ids: Ids, asks: tuple[Request, ...], answers: tuple[Told, ...], real: Snapshot
    ) -> tuple[list[str], list[Answer]]:
        """What speaks against this order. The first answer may show its order as it stood before or after the second
        request: it is read when the first one is done."""
        first = apply(model, asks[0], self.now)
        between, ids_between = model.copy(), dict(ids)
        second = apply(model, asks[1], self.now)
        self._learn_follow_ups(model, ids)
        if second.or_else and answers[1].code == second.or_else:
            second = Answer(second.or_else)  # it looked at the seats before the first one took them
        swept = first.count + second.count
        if asks[0].call == asks[1].call == "sweep" and answers[0].count + answers[1].count == swept:
            # Two sweepers share what is due: each leaves what the other one has in hand.
            first, second = Answer(count=answers[0].count), Answer(count=answers[1].count)
        differences = self._comparison(model, ids).answer(asks[1], second, answers[1])
        late = self._comparison(model, dict(ids)).answer(asks[0], first, answers[0])
        if late:
            early = self._comparison(between, ids_between)
            self._learn_follow_ups(between, ids_between)
            differences += early.answer(asks[0], first, answers[0]) and late
            ids |= ids_between
        else:
            self._comparison(model, ids).answer(asks[0], first, answers[0])
        return differences or self._comparison(model, ids).state(real), [first, second]

    def check_state(self) -> None:
        """Compare every seat, hold, order and payment.

        Raises:
            DisagreementError: with all differences.
        """
        real = self.loop.run_until_complete(self.office.snapshot())
        found = self._comparison(self.model, self.office.ids).state(real)
        if found:
            self._disagree("state", found)

    def check_invariants(self) -> None:
        """Run the checker (R39).

        Raises:
            DisagreementError: with the rules that are broken.
        """

        async def breaches() -> list[str]:
            async with self.office.databases[0].general.trip(60) as connection:
                report = await check_connection(connection)
            return [f"{each.rule}: {each.detail}" for each in report.breaches if each.rule != OWN_CLOCK]

        found = self.loop.run_until_complete(breaches())
        if found:
            self._disagree("checker", found)

    def _comparison(self, model: BoxOffice, ids: Ids) -> Comparison:
        return Comparison(model, self.now, ids, self.office.instant, self.office.principals)

    def _learn_follow_ups(self, model: BoxOffice, ids: Ids) -> None:
        for name, operation in model.operations.items():
            if operation.parent is not None and name not in ids and operation.parent in ids:
                real = self.loop.run_until_complete(self.office.follow_up(ids[operation.parent], operation.kind))
                if real is not None:
                    ids[name] = real

    def _disagree(self, caught_by: str, found: list[str]) -> None:
        self.is_broken = True
        self.caught.append(DisagreementError(caught_by, found, self.story))
        raise self.caught[-1]

    def _note(self, ask: Request, answer: Answer) -> None:
        self.tally.steps += 1
        self.tally.codes[answer.code or "done"] += 1
        if ask.call in KEYED:
            self.asked.append(ask)
        until = self._deadline_of(ask, answer)
        if until is None:
            return
        if ask.call in CONFIRMS and self.now == until:
            self.tally.confirms_at_the_instant[ask.call] += 1
        if answer.replayed and self.now >= until:
            self.tally.replays_after_expiry[ask.call] += 1

    def _deadline_of(self, ask: Request, answer: Answer) -> int | None:
        name = ask.subject or answer.made
        if name in self.model.operations:
            name = self.model.operations[name].order
        if name in self.model.orders:
            name = self.model.orders[name].hold
        return self.model.holds[name].until if name in self.model.holds else None
