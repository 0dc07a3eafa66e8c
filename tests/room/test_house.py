"""All rooms of a process: durable before told, codes, settings, keys; booking comes and goes (R16, R20, R21)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from booking.domain.admission_token import read, session_digest
from booking.domain.errors import (
    AuthorityAwayError,
    BusyError,
    EventNotFoundError,
    InvalidRequestError,
    RegistrationRefusedError,
    SettingsChangedError,
)
from booking.room.authority import News, Purchase, SaleState
from booking.room.event_room import Availability, Phase
from booking.room.house import AUTHORITY_AWAY_AFTER_S, House
from booking.room.log_post import AT_ONCE, MOST_KEPT, Entry, LogPost
from booking.room.settings import Queueing, Settings
from booking.room.store import Batch, Change, RoomStore
from booking.room.waiters import Waiters
from tests.room.people import EVENT, OPENS_AT, Clock, account
from tests.room.stores import StorePlace

SETTINGS = Settings(queueing=Queueing.FIFO, new_users_per_minute=60_000)
SESSION = session_digest("secret")


@dataclass
class FakeAuthority:
    """Booking, as the test says it is."""

    news: News = field(default_factory=News)
    is_away: bool = False
    heard: list[tuple[tuple[int, ...], str, set[str]]] = field(default_factory=list)
    posted: list[Entry] = field(default_factory=list)
    loses_answers: bool = False

    async def hear(
        self, events: tuple[int, ...], cursor: str, keys: Mapping[str, Ed25519PublicKey], retired: frozenset[str]
    ) -> News:
        self.heard.append((events, cursor, set(keys)))
        if self.is_away:
            raise AuthorityAwayError("away")
        return self.news

    async def post(self, entries: Sequence[Entry]) -> None:
        self.posted += entries
        if self.loses_answers:
            raise AuthorityAwayError("the answer was lost")


@dataclass
class Building:
    """A house that can be torn down and opened again."""

    place: StorePlace
    clock: Clock = field(default_factory=Clock)
    authority: FakeAuthority = field(default_factory=FakeAuthority)
    stores: list[RoomStore] = field(default_factory=list)

    async def house(self) -> House:
        """The house as the store has it; time is the test's."""
        for store in self.stores:
            await store.close()
        self.stores = [await self.place.open()]
        house = House(
            self.stores[0], await self.stores[0].load(), self.authority, clock=self.clock, since_start=self.clock
        )
        await house.prepare()
        return house


@pytest.fixture
async def building(store_place: StorePlace) -> AsyncIterator[Building]:
    building = Building(store_place)
    yield building
    for store in building.stores:
        await store.close()


async def opened(building: Building, settings: Settings = SETTINGS) -> House:
    house = await building.house()
    await house.open_room(EVENT, OPENS_AT, settings, "ops", "on sale tomorrow")
    return house


async def test_places_and_keys_survive(building: Building) -> None:
    house = await opened(building)
    numbers = [await house.join(EVENT, account(n), "") for n in range(5)]
    again = await building.house()
    assert [await again.join(EVENT, account(n), "") for n in range(5)] == numbers
    assert again.keys.signs(building.clock()) == house.keys.signs(building.clock())
    assert again.hosted(EVENT).room.facts == house.hosted(EVENT).room.facts


async def test_the_same_account_twice_at_once_is_told_when_its_place_is_durable(building: Building) -> None:
    house = await opened(building)
    await asyncio.gather(*(house.join(EVENT, account(1), "") for _ in range(20)))
    again = await building.house()
    assert len(again.hosted(EVENT).room.places) == 1


async def test_a_turn_is_signed_for_its_account_and_session(building: Building) -> None:
    house = await opened(building)
    await house.hear()
    number = await house.join(EVENT, account(1), "")
    assert await house.collect(EVENT, number, SESSION) == ("", 0.0)
    building.clock.now = OPENS_AT
    await house.hear()
    await house.tick()
    token, expires_at = await house.collect(EVENT, number, SESSION)
    admission = read(token, house.keys.published(OPENS_AT), OPENS_AT)
    assert (admission.account_id, admission.event_id) == (UUID(bytes=account(1)), EVENT)
    assert OPENS_AT < admission.expires_at == expires_at <= admission.slot_ends_at
    again = await building.house()
    token, _ = await again.collect(EVENT, number, SESSION)
    assert read(token, again.keys.published(OPENS_AT), OPENS_AT).slot_id == admission.slot_id


async def test_registration_codes_are_for_one_account_each(building: Building) -> None:
    """R21."""
    house = await opened(building, msgspec.structs.replace(SETTINGS, registration_required=True))
    assert await house.add_codes(EVENT, ["Ab-12 34", "second-1"], "ops", "sent out") == 2
    assert await house.add_codes(EVENT, ["ab-1234", "third-11"], "ops", "more") == 3
    number = await house.join(EVENT, account(1), " AB-1234 ")
    for code in ("ab-1234", "", "no-such-code"):
        with pytest.raises(RegistrationRefusedError):
            await house.join(EVENT, account(2), code)
    again = await building.house()
    assert await again.join(EVENT, account(1), "") == number
    with pytest.raises(RegistrationRefusedError):
        await again.join(EVENT, account(2), "ab-1234")
    assert await again.join(EVENT, account(2), "second-1") == number + 1


async def test_settings_change_from_a_version_and_are_in_the_log(building: Building) -> None:
    house = await opened(building)
    wanted = msgspec.structs.replace(SETTINGS, total_active_users=9)
    after = await house.change_settings(EVENT, 1, wanted, "ops", "slower")
    assert (after.version, after.total_active_users) == (2, 9)
    with pytest.raises(SettingsChangedError):
        await house.change_settings(EVENT, 1, SETTINGS, "ops", "stale")
    with pytest.raises(InvalidRequestError) as refused:
        await house.change_settings(EVENT, 2, msgspec.structs.replace(SETTINGS, token_life_s=1), "ops", "no")
    assert [fault.pointer for fault in refused.value.fields] == ["/token_life_s"]
    change, made = await house.changes(EVENT, 10)
    assert (change.who, change.what, change.reason, made.what) == ("ops", "settings", "slower", "room-made")
    assert '"total_active_users":200' in change.was.replace(" ", "")
    assert '"total_active_users":9' in change.now
    assert (await building.house()).hosted(EVENT).room.settings == after


async def hear_and_tell(house: House) -> None:
    """What time does by itself."""
    await house.hear()
    await house.post_log()


def told(building: Building) -> list[tuple[str, str, int]]:
    """What booking was told of the log: each entry as often as it was."""
    return [(one.what, one.reason, one.event_id) for one in building.authority.posted]


async def test_booking_is_told_of_the_log_once_it_is_there_whoever_was_killed_meanwhile(building: Building) -> None:
    """R20: operators read one log. What the room's people did while booking was away comes after it, in its order."""
    building.authority.is_away = True
    house = await opened(building)
    await house.change_settings(EVENT, 1, msgspec.structs.replace(SETTINGS, paused=True), "staff:1", "a fire drill")
    await hear_and_tell(house)
    assert told(building) == []
    again = await building.house()
    await again.rotate_keys("staff:2", "the yearly one")
    building.authority.is_away = False
    await hear_and_tell(again)
    assert told(building) == [
        ("room-made", "on sale tomorrow", EVENT),
        ("settings", "a fire drill", EVENT),
        ("keys-rotated", "the yearly one", 0),
    ]
    await hear_and_tell(again)
    third = await building.house()
    await hear_and_tell(third)
    assert len(told(building)) == 3, "what booking has taken is not told again"
    assert [one.reason for one in await third.changes(EVENT, 10)] == ["a fire drill", "on sale tomorrow"]


async def test_an_entry_whose_taking_was_not_answered_is_posted_again_under_its_number(building: Building) -> None:
    house = await opened(building)
    building.authority.loses_answers = True
    await hear_and_tell(house)
    again = await building.house()
    building.authority.loses_answers = False
    await hear_and_tell(again)
    await hear_and_tell(again)
    first, second = building.authority.posted
    assert first == second


async def test_what_the_controller_sets_is_in_bookings_log_already(building: Building) -> None:
    house = await opened(building)
    await house.change_settings(
        EVENT, 1, msgspec.structs.replace(SETTINGS, new_users_per_minute=9), "controller", "strain"
    )
    await hear_and_tell(house)
    assert [one.what for one in building.authority.posted] == ["room-made"]


async def test_what_is_not_in_the_store_is_told_nobody(building: Building, monkeypatch: pytest.MonkeyPatch) -> None:
    house = await opened(building)
    await hear_and_tell(house)
    write, goes_on = building.stores[-1].write, asyncio.Event()

    async def slow(batch: Batch) -> None:
        if batch.changes:
            await goes_on.wait()
        await write(batch)

    monkeypatch.setattr(building.stores[-1], "write", slow)
    changing = asyncio.create_task(house.rotate_keys("staff:2", "the yearly one"))
    await asyncio.sleep(0)
    await hear_and_tell(house)
    assert len(told(building)) == 1
    goes_on.set()
    await changing
    await hear_and_tell(house)
    assert len(told(building)) == 2


def test_a_long_log_is_posted_in_parts_and_has_an_end() -> None:
    post = LogPost()
    change = Change(OPENS_AT, "staff:1", EVENT, "settings", "", "", "again and again")
    post.kept(post.put([change] * (MOST_KEPT + 5)))
    first = post.due()
    assert len(first) == AT_ONCE
    post.taken([one.entry_id for one in first])
    assert len(LogPost(post.note()[1]).due()) == AT_ONCE
    assert len(msgspec.json.decode(post.note()[1])) == MOST_KEPT - AT_ONCE


async def test_a_log_that_takes_nothing_keeps_nobody_from_hearing(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An insert there that waits for a lock: booking is heard all the same, and people are let in."""
    house = await opened(building)
    posting, goes_on, write = asyncio.Event(), asyncio.Event(), building.authority.post

    async def stuck(entries: Sequence[Entry]) -> None:
        posting.set()
        await goes_on.wait()
        await write(entries)

    monkeypatch.setattr(building.authority, "post", stuck)
    monkeypatch.setattr("booking.room.house._HEAR_EVERY_S", 0.01)
    house.start()
    async with asyncio.timeout(60):
        await posting.wait()
        heard = len(building.authority.heard)
        while len(building.authority.heard) < heard + 3:
            await asyncio.sleep(0.01)
        assert told(building) == []
        goes_on.set()
        while not told(building):
            await asyncio.sleep(0.01)
    await house.stop()


async def test_nobody_is_let_in_while_booking_is_away_and_joining_goes_on(building: Building) -> None:
    """R16, R20."""
    house = await opened(building)
    building.authority.is_away = True
    building.clock.now = OPENS_AT
    await house.hear()
    await house.join(EVENT, account(1), "")
    await house.tick()
    building.clock.move(1)
    await house.tick()
    assert (house.authority_is_there, house.hosted(EVENT).room.active) == (False, 0)
    building.authority.is_away = False
    await house.hear()
    await house.tick()
    assert (house.authority_is_there, house.hosted(EVENT).room.active) == (True, 1)
    await house.join(EVENT, account(2), "")
    building.clock.move(AUTHORITY_AWAY_AFTER_S)
    await house.tick()
    assert (house.authority_is_there, house.hosted(EVENT).room.active) == (False, 1)


async def test_a_clock_that_is_set_back_makes_no_authority_that_is_there(building: Building) -> None:
    """R20: what was heard grows old by a clock that nobody sets."""
    since_start = Clock()
    building.clock.now = OPENS_AT
    await building.house()
    store = building.stores[0]
    house = House(store, await store.load(), building.authority, clock=building.clock, since_start=since_start)
    await house.hear()
    assert house.authority_is_there
    building.clock.move(-120)
    since_start.move(AUTHORITY_AWAY_AFTER_S)
    assert not house.authority_is_there


async def test_news_that_was_asked_for_twice_at_once_is_taken_in_its_order(building: Building) -> None:
    house = await opened(building)
    asked: list[str] = []
    hear = building.authority.hear

    async def slow(*words: Any) -> News:
        asked.append("begins")
        await asyncio.sleep(0)
        news = await hear(*words)
        asked.append("ends")
        return news

    building.authority.hear = slow  # type: ignore[method-assign, assignment]
    await asyncio.gather(house.hear(), house.hear())
    assert asked == ["begins", "ends"] * 2


async def test_news_of_booking_free_slots_and_tell_what_is_left(building: Building) -> None:
    """W3, W7, R19."""
    house = await opened(building)
    number = await house.join(EVENT, account(1), "")
    building.clock.now = OPENS_AT
    await house.hear()
    await house.tick()
    token, _ = await house.collect(EVENT, number, SESSION)
    slot_id = read(token, house.keys.published(OPENS_AT), OPENS_AT).slot_id
    room, waiter = house.hosted(EVENT).room, house.hosted(EVENT).waiters.wait_for(99)
    building.authority.news = News(
        purchases=(Purchase(EVENT, account(1), slot_id), Purchase(EVENT + 1, account(1), slot_id)),
        sales=(SaleState(EVENT, OPENS_AT, False, Availability.MAY_COME_BACK),),
        account_keys={UUID(int=3): b"secret"},
        cursor="17",
    )
    await house.hear()
    assert (room.active, room.availability, waiter.done()) == (0, Availability.MAY_COME_BACK, True)
    assert house.account_keys == {UUID(int=3): b"secret"}
    building.authority.news = News(sales=(SaleState(EVENT, OPENS_AT, True, Availability.SOLD_OUT),), cursor="18")
    await house.hear()
    assert (room.phase, building.authority.heard[-1][1]) == (Phase.CLOSED, "17")
    again = await building.house()
    assert again.account_keys == {UUID(int=3): b"secret"}
    await again.hear()
    assert building.authority.heard[-1][1] == "18"


async def test_a_store_that_fails_ends_the_house(building: Building) -> None:
    house = await opened(building)
    with pytest.raises(BusyError):
        await house._write(Batch(notes=[("name", None)]))  # type: ignore[list-item]
    assert house.failed.is_set()
    with pytest.raises(BusyError):
        await house.join(EVENT, account(1), "")


async def test_after_the_end_everybody_is_answered_at_once(building: Building) -> None:
    """Nobody hangs on a store that has closed: neither who comes then, nor who is woken by the end."""
    house = await opened(building)
    house.start()
    await house.join(EVENT, account(1), "")
    number = house.hosted(EVENT).room.places.find(account(1))
    assert number is not None
    woken = house.hosted(EVENT).waiters.wait_for(number)

    async def waits() -> None:
        await woken
        await house.leave(EVENT, number)

    waiting = asyncio.create_task(waits())
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await house.stop()
        with pytest.raises(BusyError):
            await house.join(EVENT, account(2), "")
        with pytest.raises(BusyError):
            await waiting
    assert not house.failed.is_set(), "it has ended, not failed"


async def test_who_asks_while_the_house_is_being_closed_waits_for_nothing(building: Building) -> None:
    """Nobody will tell him any news."""
    house = await opened(building)
    await house.join(EVENT, account(1), "")
    await house.stop()
    waiters = house.hosted(EVENT).waiters
    async with asyncio.timeout(60):
        await waiters.wait_for(0)
    assert len(waiters) == 0


def test_who_waits_is_counted_however_often_he_is_told_or_goes() -> None:
    async def counted() -> list[int]:
        waiters, counts = Waiters(), []
        one, other, third = waiters.wait_for(1), waiters.wait_for(1), waiters.wait_for(2)
        counts.append(len(waiters))
        waiters.forget(1, one)
        waiters.forget(1, one)
        counts.append(len(waiters))
        waiters.tell({1, 5})
        waiters.forget(1, other)
        counts.append(len(waiters))
        waiters.tell(None)
        waiters.forget(2, third)
        return [*counts, len(waiters)]

    assert asyncio.run(counted()) == [3, 2, 1, 0]


async def test_an_event_without_a_room_has_none(building: Building) -> None:
    house = await building.house()
    with pytest.raises(EventNotFoundError):
        await house.join(EVENT, account(1), "")
