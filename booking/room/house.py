"""All rooms of this process: every change is in the store before anybody is told of it, and time goes on by itself."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic, time
from typing import Final
from uuid import UUID

import msgspec

from booking.domain.admission_token import Admission
from booking.domain.errors import (
    AuthorityAwayError,
    BookingError,
    BusyError,
    EventNotFoundError,
    RegistrationRefusedError,
    SettingsChangedError,
)
from booking.room.authority import Authority, News
from booking.room.event_room import EventRoom, RoomFacts
from booking.room.key_ring import KeyRing
from booking.room.log_post import NOTE, LogPost
from booking.room.places import Places
from booking.room.settings import Settings, check_settings
from booking.room.store import Batch, Change, CodeUse, RoomStore, Stored, StoredRoom, StoreFailedError
from booking.room.waiters import Waiters

TICK_S: Final = 0.25
AUTHORITY_AWAY_AFTER_S: Final = 5.0
_HEAR_EVERY_S = 0.5
_HEARS_WITHIN_S = 4.0
_STARTED_AGAIN = "The waiting room is being started again. Your place is kept."

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Hosted:
    """One room with its codes and those who wait for its news."""

    room: EventRoom
    codes: dict[bytes, bytes | None] = field(default_factory=dict)
    waiters: Waiters = field(default_factory=Waiters)
    being_stored: int = 0


class House:
    """The rooms, their keys and their store. Used from one event loop."""

    def __init__(
        self, store: RoomStore, stored: Stored, authority: Authority | None = None, *,
        clock: Callable[[], float] = time, since_start: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        """`clock` is the host's, seconds since 1970; `since_start` is one that nobody can set."""
        self._store, self._authority, self._clock, self._since_start = store, authority, clock, since_start
        self.keys = KeyRing(stored.keys)
        self.rooms = {one.facts.event_id: _restored(one, clock()) for one in stored.rooms}
        self.account_keys: Mapping[UUID, bytes] = _account_keys(stored.notes.get("account-keys", b"{}"))
        self._cursor = stored.notes.get("cursor", b"").decode()
        self._post = LogPost(stored.notes.get(NOTE, b""))
        self._heard_at: float | None = None
        self._hearing = asyncio.Lock()
        self.failed = asyncio.Event()
        self._stopped = False
        self._tasks: list[asyncio.Task[None]] = []

    # ------------------------------------------------------------ life

    async def prepare(self) -> None:
        """Make what a new house needs: a key to sign with."""
        if not self.keys:
            await self._store.write(Batch(keys=self.keys.rotate(self.now())))

    def start(self) -> None:
        """From now on time goes on."""
        self._tasks = [asyncio.create_task(self._run(), name="room-time")]
        if self._authority is not None:
            self._tasks.append(asyncio.create_task(self._listen(), name="room-authority"))
            self._tasks.append(asyncio.create_task(self._post_logs(), name="room-log"))

    async def stop(self) -> None:
        """Time stops; everybody who waits is answered as it stands."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        self._stopped = True
        for hosted in self.rooms.values():
            hosted.waiters.end()
        await self._store.close()

    def now(self) -> float:
        """Seconds since 1970, of this host."""
        return self._clock()

    @property
    def authority_is_there(self) -> bool:
        """Whether booking was heard lately; a house that listens to nobody is its own master."""
        if self._authority is None:
            return True
        return self._heard_at is not None and self._since_start() - self._heard_at < AUTHORITY_AWAY_AFTER_S

    def hosted(self, event_id: int) -> Hosted:
        """The room of an event.

        Raises:
            EventNotFoundError: there is none.
        """
        found = self.rooms.get(event_id)
        if found is None:
            raise EventNotFoundError("This event has no waiting room.")
        return found

    # ------------------------------------------------------------ visitors

    async def join(self, event_id: int, account: bytes, code: str) -> int:
        """An account's place, durable. Returns its number.

        Raises:
            RegistrationRefusedError: the room asks for a code, and this one is unknown or another account's.
            QueueClosedError, EventNotFoundError: as they say.
        """
        hosted = self.hosted(event_id)
        room = hosted.room
        uses = self._use_code(hosted, account, code) if room.settings.registration_required else []
        number = room.join(account, self.now())
        for use in uses:
            hosted.codes[use.digest] = account
        await self._keep(hosted, uses=uses)
        return number

    def _use_code(self, hosted: Hosted, account: bytes, code: str) -> list[CodeUse]:
        if hosted.room.places.find(account) is not None:
            return []
        digest = code_digest(code)
        if digest not in hosted.codes or hosted.codes[digest] not in (None, account):
            raise RegistrationRefusedError("This code is not one of this queue, or somebody has used it.")
        return [CodeUse(hosted.room.event_id, digest, account)]

    async def leave(self, event_id: int, number: int) -> None:
        """Out of the line."""
        hosted = self.hosted(event_id)
        hosted.room.leave(number, self.now())
        await self._keep(hosted)

    async def collect(self, event_id: int, number: int, session: str, *, take_over: bool = False) -> tuple[str, float]:
        """The admission token of somebody whose turn it is, and when it ends; empty when it is not this session's turn.

        `session` is `session_digest` of the session's secret. What the token promises is durable before it is given.
        """
        hosted = self.hosted(event_id)
        room, now = hosted.room, self.now()
        turn = room.collect(number, session, now, take_over=take_over)
        if turn is None or int(turn.expires_at) <= int(now):
            return "", 0.0
        await self._keep(hosted)
        admission = Admission(
            slot_id=turn.slot_id,
            event_id=event_id,
            account_id=UUID(bytes=turn.account),
            session=turn.session,
            generation=turn.generation,
            not_before=int(now),
            expires_at=int(turn.expires_at),
            slot_ends_at=int(turn.slot_ends_at),
            single_purchase=room.settings.revoke_after_purchase,
        )
        return self.keys.sign(admission, now), float(admission.expires_at)

    # ------------------------------------------------------------ operators

    async def open_room(self, event_id: int, opens_at: float, settings: Settings, who: str, reason: str) -> Hosted:
        """A room for an event; the one that it has, if it has one."""
        found = self.rooms.get(event_id)
        if found is not None:
            return found
        check_settings(settings)
        facts = RoomFacts(event_id, opens_at, secrets.token_bytes(32), settings)
        hosted = self.rooms[event_id] = Hosted(EventRoom(facts))
        hosted.room.facts_changed = True
        made = Change(self.now(), who, event_id, "room-made", "", _text(settings), reason)
        await self._keep(hosted, changes=[made])
        return hosted

    async def change_settings(self, event_id: int, expected: int, wanted: Settings, who: str, reason: str) -> Settings:
        """Other settings, made from version `expected`; in the log with who, from, to, why (R20).

        Raises:
            SettingsChangedError: somebody else has changed them since.
            InvalidRequestError, EventStateConflictError, EventNotFoundError: as they say.
        """
        hosted = self.hosted(event_id)
        before = hosted.room.settings
        if before.version != expected:
            raise SettingsChangedError("The room was changed meanwhile. Read it again and decide anew.")
        after = msgspec.structs.replace(wanted, version=expected + 1)
        check_settings(after)
        hosted.room.change_settings(after)
        change = Change(self.now(), who, event_id, "settings", _text(before), _text(after), reason)
        await self._keep(hosted, changes=[change])
        return after

    async def add_codes(self, event_id: int, codes: list[str], who: str, reason: str) -> int:
        """Registration codes, each for one account. Returns how many the queue has; known ones stay as they are."""
        hosted = self.hosted(event_id)
        fresh = {code_digest(code) for code in codes} - hosted.codes.keys()
        hosted.codes |= dict.fromkeys(fresh)
        change = Change(self.now(), who, event_id, "codes-added", "", str(len(fresh)), reason)
        await self._keep(hosted, changes=[change], codes=[(event_id, digest) for digest in fresh])
        return len(hosted.codes)

    async def rotate_keys(self, who: str, reason: str, *, at_once: bool = False) -> None:
        """A new signing key. `at_once` retires the others now: tokens that are out are refused."""
        rows = self.keys.rotate(self.now(), at_once=at_once)
        change = Change(self.now(), who, 0, "keys-rotated", "", rows[0].key_id, reason)
        await self._write(Batch(keys=rows, changes=[change]))

    async def changes(self, event_id: int, limit: int) -> list[Change]:
        """The newest entries of the room's log."""
        return await self._store.changes(event_id, limit)

    # ------------------------------------------------------------ time

    async def tick(self) -> None:
        """One step of time for every room."""
        now, is_there = self.now(), self.authority_is_there
        for hosted in list(self.rooms.values()):
            hosted.room.tick(now, authority_is_there=is_there)
            await self._keep(hosted)

    async def hear(self) -> None:
        """Listen to booking once. When it is away, the rooms go on, and let nobody in.

        One at a time: news that was read earlier must not be taken later.
        """
        if self._authority is None:
            return
        async with self._hearing:
            await self._hear(self._authority)

    async def _hear(self, authority: Authority) -> None:
        published, retired = self.keys.published(self.now()), self.keys.retired(self.now())
        try:
            async with asyncio.timeout(_HEARS_WITHIN_S):
                news = await authority.hear(tuple(self.rooms), self._cursor, published, retired)
        except (AuthorityAwayError, TimeoutError) as error:
            log.debug("booking is away: %s", error)
            return
        self._heard_at = self._since_start()
        await self._take(news)

    async def post_log(self) -> None:
        """Operators read one log, booking's: what the room has in its own goes there, sooner or later, once.

        Nobody waits for it: a log that takes nothing must not make booking look away.
        """
        entries = self._post.due()
        if self._authority is None or not entries or not self.authority_is_there:
            return
        try:
            async with asyncio.timeout(_HEARS_WITHIN_S):
                await self._authority.post(entries)
        except (AuthorityAwayError, TimeoutError) as error:
            log.debug("the log is posted later: %s", error)
            return
        self._post.taken([one.entry_id for one in entries])
        await self._write(Batch(notes=[self._post.note()]))

    async def _take(self, news: News) -> None:
        for purchase in news.purchases:
            hosted = self.rooms.get(purchase.event_id)
            if hosted is not None and hosted.room.bought(purchase.account, purchase.slot_id):
                await self._keep(hosted)
        for sale in news.sales:
            hosted = self.rooms.get(sale.event_id)
            if hosted is None:
                continue
            hosted.room.move_opening(sale.opens_at)
            hosted.room.set_availability(sale.availability)
            hosted.room.is_sale_paused = sale.is_paused
            if sale.is_over:
                hosted.room.close()
            await self._keep(hosted)
        notes = []
        if news.account_keys and news.account_keys != self.account_keys:
            self.account_keys = news.account_keys
            named = {str(key): secret.hex() for key, secret in news.account_keys.items()}
            notes.append(("account-keys", msgspec.json.encode(named)))
        if news.cursor != self._cursor:
            self._cursor = news.cursor
            notes.append(("cursor", news.cursor.encode()))
        if notes:
            await self._write(Batch(notes=notes))

    async def _run(self) -> None:
        while not self.failed.is_set():
            await self._step(self.tick)
            await asyncio.sleep(TICK_S)

    async def _listen(self) -> None:
        while not self.failed.is_set():
            await self._step(self.hear)
            await asyncio.sleep(_HEAR_EVERY_S)

    async def _post_logs(self) -> None:
        while not self.failed.is_set():
            await self._step(self.post_log)
            await asyncio.sleep(_HEAR_EVERY_S)

    async def _step(self, step: Callable[[], Coroutine[None, None, None]]) -> None:
        """A fault in one step must not stop the time of all rooms; one of the store ends the house."""
        try:
            await step()
        except BookingError:
            log.warning("the room could not go on for a moment", exc_info=True)
        except Exception:
            log.exception("the room has a fault")

    # ------------------------------------------------------------ keeping

    async def _keep(
        self, hosted: Hosted, *, changes: Sequence[Change] = (), uses: Sequence[CodeUse] = (),
        codes: Sequence[tuple[int, bytes]] = (),
    ) -> None:  # fmt: skip
        """Store what the room has changed, then tell whom it concerns. Nothing awaits between change and batch."""
        room = hosted.room
        numbers, told, all_told = room.changed, room.told, room.all_told
        facts = room.facts if room.facts_changed or changes else None
        room.changed, room.told, room.all_told, room.facts_changed = set(), set(), False, False
        if not (numbers or facts or uses or codes or hosted.being_stored):
            if all_told:
                hosted.waiters.tell(None)
            return
        rows = [room.places.row(number) for number in sorted(numbers)]
        hosted.being_stored += 1
        try:
            # Without a change of its own this waits for those that are under way: they may be what is to be told.
            await self._write(Batch(facts, room.event_id, rows, changes, codes, uses))
        finally:
            hosted.being_stored -= 1
        hosted.waiters.tell(None if all_told else told)

    async def _write(self, batch: Batch) -> None:
        if self._stopped:
            raise BusyError(_STARTED_AGAIN, retry_after_s=5)
        posted: list[UUID] = []
        if batch.changes and self._authority is not None:
            posted = self._post.put(batch.changes)
            batch.notes = [*batch.notes, self._post.note()]
        try:
            await self._store.write(batch)
            self._post.kept(posted)
        except StoreFailedError as error:
            log.critical("the store has failed, so the room ends: %s", error)
            self.failed.set()
            raise BusyError(_STARTED_AGAIN, retry_after_s=5) from None


def _restored(stored: StoredRoom, now: float) -> Hosted:
    places = Places()
    places.restore(stored.places, stored.facts.seed, stored.facts.drawn, now)
    room = EventRoom(stored.facts, places)
    room.forgive()
    return Hosted(room, stored.codes)


def _account_keys(raw: bytes) -> Mapping[UUID, bytes]:
    return {UUID(key): bytes.fromhex(secret) for key, secret in msgspec.json.decode(raw, type=dict[str, str]).items()}


def _text(settings: Settings) -> str:
    return msgspec.json.encode(settings).decode()


def code_digest(code: str) -> bytes:
    """A registration code as it is kept: upper and lower case and blanks are the same."""
    return hashlib.sha256(b"registration code " + "".join(code.split()).lower().encode()).digest()
