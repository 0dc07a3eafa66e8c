"""The controller of admission: once a second it looks at each event with a room, decides, and tells the room (R20).

Of all controllers one acts: the one with the lease. What is decided is stored before the room is told, with the line of
the log that says why; so whoever comes after a crash goes on from there. The room's settings have a version: it refuses
a controller that has lost its lease unawares.

It has connections of its own, because it must decide when the others wait. While the database is away it tells the
rooms that it knows to let nobody in (they stop by themselves a few seconds later), and keeps the lines of the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID, uuid4

from booking.domain.admission_causes import Cause
from booking.domain.admission_control import AdmissionChange, AdmissionMode, AdmissionSettings, AdmissionState
from booking.domain.admission_control_signals import AdmissionSignals, strains
from booking.domain.admission_desk import SetAdmission
from booking.domain.admission_steering import RoomSight, orders, step, take_over
from booking.domain.errors import BookingError
from booking.services.service_account import ServiceAccount
from booking.store import admission_queries as queries
from booking.store.connection import ANSWER_LIMITS, Record
from booking.store.database import Database
from booking.workers.admission_signals import Signals
from booking.workers.room_line import Line, RoomLine

EVERY_S = 1.0
LEASE_S = 3.0
_DATABASE_WITHIN_S = 1.5
_MOST_KEPT = 100

log = logging.getLogger(__name__)


class SignalSource(Protocol):
    """Where figures come from."""

    async def refresh(self) -> None:
        """Once a second, before events are read."""
        ...

    async def read(self, event_id: int) -> tuple[AdmissionSignals, datetime]:
        """The figures of an event, and when they were measured."""
        ...


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision whose storing was not answered. `lines`: how many of the unsaved ones went with it."""

    state: AdmissionState
    lines: int


@dataclass(slots=True)
class Steered:
    """One event as this controller knows it. `unsaved`: lines of the log that the database has not got yet.

    `doubt`: what may be stored all the same; the next look at the database tells. `refusal`: why the room did not do
    what it was told last; `obeyed_at`: when it did as decided, the last time; not while it is in a pause of its own.
    """

    event_id: int
    room: RoomSight
    settings: SetAdmission = field(default_factory=SetAdmission)
    state: AdmissionState | None = None
    words: str = ""
    cause: Cause | None = None
    signals: AdmissionSignals = field(default_factory=AdmissionSignals)
    measured_at: datetime | None = None
    unsaved: list[AdmissionChange] = field(default_factory=list)
    doubt: Doubt | None = None
    refusal: tuple[str, Cause | None] | None = None
    obeyed_at: datetime | None = None

    def with_refusal(self, room: RoomSight) -> RoomSight:
        """A room that answers, with what it has refused: else nobody would see that it does something else."""
        if self.refusal is None or not room.is_there or room.problem:
            return room
        problem, cause = self.refusal
        return replace(room, problem=problem, problem_cause=cause)

    def settle(self, stored_at: datetime | None) -> None:
        """`stored_at`: of the decision that the database has. It is the doubtful one: it counts, with its lines."""
        doubt, self.doubt = self.doubt, None
        if doubt is None or doubt.state.at is None or doubt.state.at != stored_at:
            return
        del self.unsaved[: doubt.lines]
        if self.unsaved:  # the room was stopped since: from what it was told last in the log, so that its lines join up
            self.unsaved[0] = replace(self.unsaved[0], from_per_minute=doubt.state.per_minute)
        else:
            self.state = doubt.state


async def run(db: Database) -> None:
    """Steer until cancelled, over connections of its own to the same database."""
    own = await Database.open(
        db.dsn, lanes=False, application="taquilla admission", general_size=2, sale_size=1, limits=ANSWER_LIMITS
    )
    account = ServiceAccount(own)
    line = RoomLine(account.token)
    try:
        await Controller(own, account, line, Signals(own)).run()
    finally:
        await line.close()
        await own.close()


class Controller:
    """See the module. From one event loop."""

    def __init__(self, db: Database, account: ServiceAccount, line: Line, signals: SignalSource) -> None:
        self._db, self._account, self._line, self._signals = db, account, line, signals
        self.holder: UUID = uuid4()
        self.leads = False
        self.events: dict[int, Steered] = {}
        self._heard_at: tuple[datetime, float] | None = None
        self._is_silent = False

    async def run(self) -> None:
        """Second after second, until cancelled; then the lease is given back."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        try:
            while True:
                await self.once()
                due = max(due + EVERY_S, loop.time())
                await asyncio.sleep(due - loop.time())
        finally:
            if self.leads:
                await self._resign()

    async def once(self) -> None:
        """One second of all events."""
        try:
            async with asyncio.timeout(_DATABASE_WITHIN_S):
                now = await self._lead()
        except (BookingError, TimeoutError) as error:
            await self._without_authority(error)
            return
        if self.leads:
            await self._each(lambda one: self._steer(one, now))

    async def _each(self, act: Callable[[Steered], Awaitable[None]]) -> None:
        """All events at once: a fault with one of them must not stop the others."""
        results = await asyncio.gather(*(act(one) for one in list(self.events.values())), return_exceptions=True)
        for result in results:
            if isinstance(result, BookingError):
                log.warning("an event was not steered this second: %s", result.code)
            elif isinstance(result, Exception):
                log.error("admission of an event could not be steered", exc_info=result)

    # ------------------------------------------------------------ who leads, and what

    async def _lead(self) -> datetime:
        """Renew the lease; whoever leads anew reads where the last one stopped. Returns the authority's time."""
        led = self.leads
        now, self.leads = await queries.lead(self._db, self.holder, LEASE_S)
        self._heard_at, self._is_silent = (now, asyncio.get_running_loop().time()), False
        if not self.leads:
            self.events.clear()
            return now
        if not led:
            log.info("admission: this controller leads now")
        await self._account.learn_key()
        await self._signals.refresh()
        rooms = await queries.list_rooms(self._db)
        self.events = {event_id: self._known(event_id, url) for event_id, url in rooms.items()}
        return now

    def _known(self, event_id: int, url: str) -> Steered:
        known = self.events.get(event_id)
        if known is None:
            return Steered(event_id, RoomSight(url=url))
        if known.room.url != url:
            known.room = RoomSight(url=url)
        return known

    async def _resign(self) -> None:
        try:
            async with asyncio.timeout(_DATABASE_WITHIN_S):
                await queries.resign(self._db, self.holder)
        except (BookingError, TimeoutError):
            log.debug("the lease ends by itself")

    # ------------------------------------------------------------ one event

    async def _steer(self, one: Steered, now: datetime) -> None:
        row, room = await self._look(one)
        if row is None:
            return
        one.settle(row["decided_at"])
        before, one.room, one.settings = one.room, one.with_refusal(room), queries.settings_of(row)
        await self._read_signals(one, now)
        settings = one.settings.for_the_law()
        known = one.state or queries.state_of(row)
        if one.settings.version == 0 or (known is None and not room.is_there):
            await self._look_on(one, now)
            return
        if one.state is None or room.new_users_per_minute < before.new_users_per_minute:
            # New to it, or somebody else has slowed the room, or it has lost its store: no jump back up.
            one.state = take_over(known, settings, room)
        await self._decide(one, settings, now)

    async def _look(self, one: Steered) -> tuple[Record | None, RoomSight]:
        """What is stored of an event, and its room as it is now.

        A controller that is new to it goes on from the room as the last one saw it: a room that is away just then may
        come back in the pause that it was told, which nobody else would end.
        """
        if one.state is not None:
            return await asyncio.gather(
                queries.read_admission(self._db, one.event_id), self._line.look(one.room.url, one.event_id, one.room)
            )
        row = await queries.read_admission(self._db, one.event_id)
        stored = None if row is None else queries.room_of(row)
        if stored is not None:
            one.obeyed_at = one.obeyed_at or stored.obeyed_at
        if stored is not None and stored.url == one.room.url:
            one.room = stored
        return row, await self._line.look(one.room.url, one.event_id, one.room)

    async def _read_signals(self, one: Steered, now: datetime) -> None:
        """Figures that do not come in time stay the last ones, and grow old."""
        try:
            async with asyncio.timeout(_DATABASE_WITHIN_S):
                one.signals, one.measured_at = await self._signals.read(one.event_id)
        except (BookingError, TimeoutError) as error:
            log.warning("figures of event %s: %s", one.event_id, str(error) or "not in time")
            one.measured_at = one.measured_at or now - timedelta(days=1)
        if one.room.is_there:
            one.signals = replace(one.signals, active_shoppers=float(one.room.active))

    async def _look_on(self, one: Steered, now: datetime) -> None:
        """Nobody has set anything, or the room was never seen: it does as it was set, and operators see it."""
        one.state, one.words, one.cause = None, "", None
        shown = take_over(None, one.settings.for_the_law(), one.room)
        await self._keep(one, shown, now)

    async def _decide(self, one: Steered, settings: AdmissionSettings, now: datetime) -> None:
        if one.state is None or one.measured_at is None:
            return
        state, why, change = step(one.state, settings, one.signals, one.measured_at, one.room, now)
        one.words, one.cause = why.words, why.cause
        if one.room.is_there and orders(state, settings, one.room).get("paused"):
            # Stored before it is told: its answer may be lost.
            one.room = replace(one.room, pause_told=True)
        # What cannot be stored was not decided; what was not answered may be stored: the next second looks first.
        one.doubt = Doubt(state, len(one.unsaved))
        is_kept = await self._keep(one, state, now, one.unsaved if change is None else [*one.unsaved, change])
        one.doubt = None
        if not is_kept:  # another one leads: should this one again, it begins where that one stopped
            self.leads, one.state = False, None
            return
        one.state = state
        one.unsaved.clear()
        await self._tell(one, settings, now)

    async def _keep(
        self, one: Steered, state: AdmissionState, now: datetime, lines: Sequence[AdmissionChange] = ()
    ) -> bool:
        return await queries.keep_state(self._db, self.holder, one.event_id, _as_stored(one, state, now), lines)

    async def _tell(self, one: Steered, settings: AdmissionSettings, now: datetime) -> None:
        if one.state is None or not one.room.is_there:
            return
        told, before, one.refusal = orders(one.state, settings, one.room), one.refusal, None
        if told:
            one.room = await self._line.tell(one.room, one.event_id, told, f"{one.state.reason}: {one.words}")
            if one.room.problem:
                one.refusal = one.room.problem, one.room.problem_cause
                if one.refusal != before:  # not each second anew
                    log.warning("room of event %s: %s", one.event_id, one.room.problem)
                return
        if settings.mode is AdmissionMode.PAUSED or not one.room.is_paused:  # a pause of its own is not what was set
            one.obeyed_at = now

    # ------------------------------------------------------------ without the authority

    async def _without_authority(self, error: BaseException) -> None:
        """The database is silent: who leads tells the rooms to let nobody in, once each; nobody else can lead now."""
        if not self._is_silent:
            log.warning("admission: %s", str(error) or "the database is silent")
        self._is_silent = True
        if self._heard_at is None or not self.leads:
            return
        heard, at = self._heard_at
        now = heard + timedelta(seconds=asyncio.get_running_loop().time() - at)
        await self._each(lambda one: self._stop(one, now))

    async def _stop(self, one: Steered, now: datetime) -> None:
        if one.state is None or one.measured_at is None:
            return
        settings = one.settings.for_the_law()
        away = replace(one.signals, authority_away=True)
        version = one.room.version
        one.room = await self._line.look(one.room.url, one.event_id, one.room)
        one.state, why, change = step(one.state, settings, away, one.measured_at, one.room, now)
        one.words, one.cause = why.words, why.cause
        if change is not None and len(one.unsaved) < _MOST_KEPT:
            one.unsaved.append(change)
        if one.room.version != version:  # another controller reaches the database, and leads
            self.leads = False
            return
        await self._tell(one, settings, now)


def _as_stored(one: Steered, state: AdmissionState, now: datetime) -> Mapping[str, Any]:
    measured_at = one.measured_at or now
    limits = one.settings.targets
    figures = {name: getattr(one.signals, name) for name in AdmissionSignals.__dataclass_fields__}
    figures.pop("authority_away")
    figures |= {"measured_at": measured_at, "strains": dict(strains(one.signals, limits))}
    return {
        "per_minute": state.per_minute, "law": state.law, "reason": state.reason, "words": one.words,
        "cause": one.cause, "decided_at": now, "measured_at": measured_at, "figures": figures,
        "room": replace(one.room, obeyed_at=one.obeyed_at),
    }  # fmt: skip
