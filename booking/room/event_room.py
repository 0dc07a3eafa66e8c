"""The waiting room of one event, without I/O: time comes in, what has to be stored is kept in `changed` (R16–R19).

The opening orders those who came before it (by lot, or as they came) and fixes the way of queueing. `tick` lets people
in: no faster than set, no more at once than set, nobody while it is paused, booking is away, or nothing can be bought.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.admission_token import SKEW_S
from booking.domain.errors import EventStateConflictError, QueueClosedError
from booking.room.asking import SPREAD, late_after_s, longest_s
from booking.room.estimate import Estimate, Pace
from booking.room.places import KEEPS_RANK, Places, Slot, State
from booking.room.settings import Queueing, Settings

_MOST_CREDIT_S = 2.0
_MOST_AT_ONCE = 10_000
_MOST_PASSED_OVER = 5_000
_CLOCK_STEP_S = 20.0
"""Between two ticks lies a quarter of a second: more than this is a clock that was set, or a host that slept."""


class Phase(StrEnum):
    """EARLY: people may join, nobody is let in. CLOSED: the sale is over."""

    EARLY = "early"
    OPEN = "open"
    CLOSED = "closed"


class Availability(StrEnum):
    """What is left: MAY_COME_BACK when all that is left is in holds (W7)."""

    AVAILABLE = "available"
    MAY_COME_BACK = "may-come-back"
    SOLD_OUT = "sold-out"


@dataclass(frozen=True, slots=True)
class RoomFacts:
    """What is stored of a room beside its places. `drawn`: how many places the lot has ordered."""

    event_id: int
    opens_at: float
    seed: bytes
    settings: Settings
    phase: Phase = Phase.EARLY
    drawn: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What a token may say for somebody whose turn it is."""

    slot_id: UUID
    account: bytes
    session: str
    generation: int
    expires_at: float
    slot_ends_at: float


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands for one place."""

    state: State
    ahead: int | None
    waiting: int
    estimate: Estimate | None
    slot_ends_at: float | None


class EventRoom:
    """One event's room. `changed` has the numbers whose rows are to be stored, `told` those to wake."""

    def __init__(self, facts: RoomFacts, places: Places | None = None, *, new_id: Callable[[], UUID] = uuid7) -> None:
        self.event_id, self.opens_at, self.seed = facts.event_id, facts.opens_at, facts.seed
        self.settings, self.phase, self.drawn = facts.settings, facts.phase, facts.drawn
        self.availability = Availability.AVAILABLE
        self.is_sale_paused = False
        self.places = places or Places()
        self.pace = Pace()
        self.changed: set[int] = set()
        self.told: set[int] = set()
        self.facts_changed = False
        self.all_told = False
        self._new_id = new_id
        self._credit = 0.0
        self._ticked_at: float | None = None
        self._last_tick_at: float | None = None
        self._admits = False

    # ------------------------------------------------------------ facts

    @property
    def facts(self) -> RoomFacts:
        """What is to be stored."""
        return RoomFacts(self.event_id, self.opens_at, self.seed, self.settings, self.phase, self.drawn)

    @property
    def commitment(self) -> str:
        """SHA-256 of the seed: published before the opening, so that nobody can choose the lot afterwards."""
        return hashlib.sha256(self.seed).hexdigest()

    @property
    def active(self) -> int:
        """How many slots are open, or were left so lately that a token of theirs may still be good."""
        return len(self.places.slots)

    @property
    def is_ranked(self) -> bool:
        """Whether who joins now gets a rank at once."""
        return self.phase is not Phase.EARLY or self.settings.queueing is Queueing.FIFO

    def change_settings(self, settings: Settings) -> None:
        """Other settings. The way of queueing is fixed once people have come (R17).

        Raises:
            EventStateConflictError: it would change, and somebody has a place already.
        """
        if settings.queueing is not self.settings.queueing and (len(self.places) or self.phase is not Phase.EARLY):
            raise EventStateConflictError("How this queue is ordered was told to those who are in it.")
        self.settings, self.facts_changed = settings, True

    def move_opening(self, opens_at: float) -> None:
        """Another time of opening, as long as it has not opened."""
        if self.phase is Phase.EARLY and opens_at != self.opens_at:
            self.opens_at, self.facts_changed, self.all_told = opens_at, True, True

    def set_availability(self, availability: Availability) -> None:
        """What can be bought; everybody is told at once (R19)."""
        if availability is not self.availability:
            self.availability, self.all_told = availability, True

    @property
    def is_letting_in(self) -> bool:
        """Whether people were let in at the last step of time."""
        return self._admits

    def close(self) -> None:
        """The sale is over."""
        if self.phase is not Phase.CLOSED:
            self.phase, self.facts_changed, self.all_told = Phase.CLOSED, True, True

    # ------------------------------------------------------------ visitors

    def join(self, account: bytes, now: float) -> int:
        """The place of an account: the one that it has, or a new one at the end. Returns its number.

        Raises:
            QueueClosedError: it has none, and nobody is taken any more.
        """
        number = self.places.find(account)
        if number is not None and self.places.state(number) in KEEPS_RANK:
            self.seen(number, now)
            return number
        if self.phase is Phase.CLOSED or self.availability is Availability.SOLD_OUT:
            raise QueueClosedError("The event is sold out." if self.phase is Phase.OPEN else "The sale is over.")
        if number is None:
            number = self.places.add(account, now, self.is_ranked)
        else:
            self.places.to_end(number, now, self.is_ranked)
        self.changed.add(number)
        return number

    def seen(self, number: int, now: float) -> None:
        """The visitor asks; who was away stands where he stood."""
        self.places.saw(number, now)
        if self.places.state(number) is State.AWAY:
            self._set(number, State.WAITING)

    def told_to_wait(self, number: int, now: float, seconds: float) -> None:
        """The visitor was told not to ask for so long: who keeps to it is there, also where a line is long."""
        self.places.saw(number, now + late_after_s(seconds, self.settings.away_after_s))

    def forgive(self) -> None:
        """After a new start nobody is gone who keeps to the longest that he may have been told to wait."""
        away_after_s = self.settings.away_after_s
        told_s = longest_s(self.places.waiting, away_after_s) * (1 + SPREAD)
        self.places.shift_seen(late_after_s(told_s, away_after_s))

    def standing(self, number: int, now: float) -> Standing:
        """How it stands. There is an estimate only for who waits while people are let in."""
        places = self.places
        state = places.state(number)
        waits = state in (State.WAITING, State.AWAY)
        ahead = places.ahead(number) if waits else None
        rate = self.settings.new_users_per_minute
        estimate = self.pace.estimate(ahead, now, rate) if ahead is not None and self._admits else None
        slot = places.slots.get(number)
        return Standing(state, ahead, places.waiting, estimate, slot.ends_at if slot else None)

    def collect(self, number: int, session: str, now: float, *, take_over: bool = False) -> Turn | None:
        """What the token of `session` may say; None when another session has the turn, or there is none.

        One session has it. Another one takes it over only when it says so, and then for good: tokens of an older
        generation are refused from the first use of the newer one on.
        """
        slot = self.places.slots.get(number)
        if slot is None or slot.was_left or now >= slot.ends_at:
            return None
        if slot.session != session:
            if slot.session and not take_over:
                return None
            if not slot.session:
                slot.ends_at = now + self.settings.session_duration_s
            slot.session = session
            self.places.raise_generation(number, now)
            self.changed.add(number)
        self._renew(number, slot, now)
        expires_at = min(now + self.settings.token_life_s, slot.ends_at)
        generation = self.places.generation(number)
        return Turn(slot.slot_id, self.places.account(number), session, generation, expires_at, slot.ends_at)

    def _renew(self, number: int, slot: Slot, now: float) -> None:
        lasts = self.settings.session_duration_s
        if self.settings.session_renewal and not slot.renewed and slot.ends_at - now < lasts / 2:
            slot.ends_at, slot.renewed = now + lasts, True
            self.changed.add(number)

    def leave(self, number: int, now: float) -> None:
        """Out of the line, by the visitor's own will; who has bought or left stays as he is.

        A slot that was collected stays taken for as long as its last token may be good: booking hears nothing of who
        leaves, and there must never be more inside than may be (W4).
        """
        places = self.places
        if places.state(number) not in KEEPS_RANK:
            return
        slot = places.slots.get(number)
        if slot is not None and slot.session:
            slot.was_left, slot.ends_at = True, min(slot.ends_at, now + self.settings.token_life_s)
        elif slot is not None and slot.taken_until > now:
            slot.was_left, slot.ends_at = True, slot.taken_until
        self._set(number, State.LEFT)

    def bought(self, account: bytes, slot_id: UUID) -> bool:
        """A purchase has spent the account's slot (W3): it is free at once. False: the account has no such slot."""
        number = self.places.find(account)
        slot = None if number is None else self.places.slots.get(number)
        if number is None or slot is None or slot.slot_id != slot_id:
            return False
        if self.places.state(number) in (State.ADMITTED, State.LEFT):
            self._set(number, State.BOUGHT)
        else:
            self._free(number)  # bought with a turn that was left, and stands in line again
        return True

    # ------------------------------------------------------------ time

    def tick(self, now: float, *, authority_is_there: bool = True) -> int:
        """Open, end slots, pass over who is away, let people in. Returns how many were let in."""
        self._mind_the_clock(now)
        if self.phase is Phase.EARLY and now >= self.opens_at:
            self._open(now)
        self._end_slots(now)
        if self.phase is not Phase.OPEN:
            self._admits = False
            return 0
        self._pass_over_absent(now)
        is_held_up = self.settings.paused or self.is_sale_paused or self.availability is not Availability.AVAILABLE
        admits = authority_is_there and not is_held_up
        if admits != self._admits:
            self._admits, self.all_told = admits, True
            self._ticked_at = now  # the credit stays what it was: a change of this answer lets nobody in by itself
            self.pace.begin(now)
        return self._let_in(now) if admits else 0

    def _open(self, now: float) -> None:
        if self.settings.queueing is Queueing.RANDOM:
            self.drawn = len(self.places)
            self.places.draw(self.seed, self.drawn)
        self.phase, self.facts_changed, self.all_told = Phase.OPEN, True, True
        self._ticked_at = now
        self._credit = 1.0  # the first one need not wait for a whole turn to come together

    def _mind_the_clock(self, now: float) -> None:
        """Nobody was away because the host's clock was set, or because the host slept."""
        step = 0.0 if self._last_tick_at is None else now - self._last_tick_at
        if abs(step) > _CLOCK_STEP_S:
            self.places.shift_seen(step)
        self._last_tick_at = now

    def _end_slots(self, now: float) -> None:
        """A collected slot is free once no clock can take its last token for good any more (W4)."""
        over = [
            (number, slot)
            for number, slot in self.places.slots.items()
            if now >= slot.ends_at + (2 * SKEW_S if slot.session else 0)
        ]
        for number, slot in over:
            if slot.was_left:
                self._free(number)
            else:
                self._set(number, State.OVER if slot.session else State.AWAY)

    def _free(self, number: int) -> None:
        del self.places.slots[number]
        self.changed.add(number)

    def _pass_over_absent(self, now: float) -> None:
        """Some thousands a step: a crowd that is gone all at once must not hold up those who are there."""
        for number in self.places.unseen_since(now - self.settings.away_after_s)[:_MOST_PASSED_OVER]:
            self._set(number, State.AWAY)

    def _let_in(self, now: float) -> int:
        rate = self.settings.new_users_per_minute / 60
        since, self._ticked_at = self._ticked_at, now
        passed_s = 0.0 if since is None else max(0.0, now - since)
        self._credit = min(self._credit + rate * passed_s, max(1.0, rate * _MOST_CREDIT_S))
        if self.places.line.present:
            self.pace.wait(now, passed_s)
        room = self.settings.total_active_users - self.active
        credit = int(self._credit + 1e-9) if rate > 0 else 0
        count = max(0, min(credit, room, self.places.line.present, _MOST_AT_ONCE))
        for _ in range(count):
            self._admit_next(now)
        self._credit -= count
        if count:
            self.pace.note(now, count)
        return count

    def _admit_next(self, now: float) -> None:
        number = self.places.next_in_line()
        if number is None:
            return
        left = self.places.slots.get(number)  # by somebody who came back: a token of it may still be good
        taken_until = 0.0 if left is None else max(left.ends_at + 2 * SKEW_S, left.taken_until)
        ends_at = max(now + self.settings.collect_within_s, taken_until)
        self.places.slots[number] = Slot(self._new_id(), ends_at, taken_until=taken_until)
        self._set(number, State.ADMITTED)

    def _set(self, number: int, state: State) -> None:
        self.places.set_state(number, state)
        self.changed.add(number)
        self.told.add(number)
