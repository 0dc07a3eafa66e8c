"""The controller: one acts, restarts do not jump, what is silent lets nobody in, all is in the log (R20)."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import msgspec
import pytest

from backend_client import wire
from booking.domain.admission_steering import RoomSight
from booking.domain.caller import Role
from booking.store import admission_queries
from booking.store.database import Database
from tests.room.controller_desk import STRAINED, URL, Desk, FakeRoom, Told
from tests.server.box_office import Clock, make_event
from tests.server.web_api import api_over


@pytest.fixture
async def desk(database: Database, clock: Clock) -> AsyncIterator[Desk]:
    event = await make_event(database)
    await admission_queries.announce_rooms(database, [event], URL)
    await clock.stand_at(await clock.now())  # seconds are the test's alone, however slow the machine is
    async with api_over(database) as api:
        yield Desk(api, event, await api.staff(Role.OPS), clock, FakeRoom(), Told(database))


async def test_a_room_that_nobody_has_set_is_looked_at_and_left_alone(desk: Desk) -> None:
    controller = desk.controller()
    await desk.seconds(controller, 3)
    seen = await desk.read()
    assert desk.room.told == []
    assert (seen.settings.version, seen.settings.manual_per_minute, seen.per_minute) == (0, 120, 120.0)
    assert seen.room is not None
    assert (seen.room.waiting, seen.room.is_there, seen.is_steered) == (500, True, False)


async def test_it_rises_to_the_cap_falls_under_strain_and_says_why(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000, total_active_users=5_000)
    await desk.seconds(controller, 20)
    calm = desk.room.rate
    desk.figures.signals = STRAINED
    await desk.seconds(controller, 5)
    assert 900 <= calm <= 1_000
    assert desk.room.rate <= calm / 2
    assert desk.room.sight.total_active_users == 5_000
    seen = await desk.read()
    assert (seen.reason, seen.is_steered) == (wire.AdmissionReason.STRAIN, True)
    assert seen.figures is not None
    assert seen.figures.strains["lock_waits"] == 2.5
    changes = await desk.changes()
    assert [one.change_no for one in changes] == list(range(1, len(changes) + 1))
    last = changes[-1]
    assert (last.by, last.reason) == ("controller", wire.AdmissionReason.STRAIN)
    assert (last.numbers["lock_waits"], last.numbers["limit"]) == (20.0, 8.0)
    cause = wire.Cause(code="over-limit", figure="lock_waits", numbers={"value": 20.0, "limit": 8.0, "strain": 2.5})
    assert (last.cause, last.words) == (cause, "lock_waits is 20, its limit 8")
    assert (seen.cause, seen.words) == (cause, last.words), "what is shown beside the rate is why it is so"
    assert [one.cause for one in changes if one.by != "controller"] == [None], "a person's own words"
    log = await desk.api.call("GET", f"/v1/ops/log?kind=admission&event_id={desk.event}", token=desk.ops)
    steered = next(one for one in msgspec.json.decode(log.content, type=wire.OpsLog).entries if one.who == "controller")
    assert (steered.cause, steered.reason) == (cause, last.words)
    rates = [one for one in changes if one.by == "controller"]
    assert all(before.to_per_minute == after.from_per_minute for before, after in itertools.pairwise(rates))
    assert round(last.to_per_minute) == desk.room.rate


async def test_a_controller_started_anew_goes_on_without_a_jump(desk: Desk) -> None:
    await desk.set(mode="automatic", cap_per_minute=1_000)
    first = desk.controller()
    await desk.seconds(first, 20)
    before, good = desk.room.rate, (await desk.read()).good_per_minute
    second = desk.controller()
    await desk.seconds(second, 2)
    assert (first.leads, second.leads) == (True, False)
    await desk.clock.move(seconds=10)  # the first one is gone, its lease ends
    await desk.seconds(second, 1)
    assert desk.room.rate == pytest.approx(before, rel=0.05)
    assert (await desk.read()).good_per_minute == pytest.approx(good, rel=0.05)
    await desk.seconds(first, 1)
    assert (first.leads, second.leads) == (False, True)


async def test_a_room_that_was_slowed_meanwhile_is_not_jumped_back_up(desk: Desk) -> None:
    """It lost its store, or somebody set it: the controller comes up from there as after a strain."""
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 20)
    desk.room.sight = replace(desk.room.sight, new_users_per_minute=60, version=40)
    rates = []
    for _ in range(6):
        await desk.seconds(controller, 1)
        rates.append(desk.room.rate)
    assert rates[0] <= 75
    assert all(after <= 1.26 * before for before, after in itertools.pairwise(rates))
    assert rates[-1] > rates[0]


async def test_a_silent_room_is_told_when_it_is_back_and_never_higher_than_it_was(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 20)
    before, told = desk.room.rate, len(desk.room.told)
    desk.room.is_silent = True
    await desk.seconds(controller, 10)
    seen = await desk.read()
    assert len(desk.room.told) == told
    assert seen.room is not None
    assert (seen.room.is_there, seen.room.problem) == (False, "silent")
    assert seen.per_minute <= before + 1
    desk.figures.signals = STRAINED
    await desk.seconds(controller, 4)
    desk.room.is_silent = False
    await desk.seconds(controller, 1)
    assert desk.room.rate <= before / 2


async def test_a_room_that_lives_and_cannot_be_reached_is_steered_by_nobody(desk: Desk) -> None:
    """The controller decides each second and nobody does it: that is for operators to know."""
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 5)
    assert await desk.unsteered_s() == 1, "it did as decided in the second before"
    desk.room.is_silent = True
    await desk.seconds(controller, 20)
    assert await desk.unsteered_s() == 20
    await desk.clock.move(seconds=5)
    other = desk.controller()
    await desk.seconds(other, 1)
    assert other.leads
    assert await desk.unsteered_s() == 26, "another controller that does not reach it changes nothing"
    desk.room.is_silent = False
    await desk.seconds(other, 2)
    assert await desk.unsteered_s() == 1


async def test_a_room_that_was_never_reached_is_steered_by_nobody_since_it_was_set(desk: Desk) -> None:
    controller = desk.controller()
    desk.room.is_silent = True
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 20)
    assert await desk.unsteered_s() == 20


async def test_a_room_that_has_ended_needs_nobody(desk: Desk) -> None:
    """One that lives leaves its address every half a minute; nobody is let in by one that does not."""
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    desk.room.is_silent = True
    await desk.seconds(controller, 60)
    await desk.clock.move(seconds=40)
    await desk.seconds(controller, 1)
    unsteered_s = await desk.unsteered_s()
    assert unsteered_s is not None
    assert unsteered_s <= 1


async def test_a_room_that_has_died_is_an_alarm_for_as_long_as_fans_need_it(desk: Desk) -> None:
    """The controller goes on deciding, which opens no door: the alarm must not end by itself after 90 s."""
    await desk.api.db.fetch("UPDATE events SET admission = true WHERE event_id = $1", desk.event)
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 5)
    desk.room.is_silent = True
    await desk.clock.move(seconds=200)
    await desk.seconds(controller, 5)
    assert await desk.unsteered_s() == 205
    for ended in ("status = 'PAUSED'", "admission = false", "sale_opens_at = starts_at"):
        await desk.api.db.fetch(f"UPDATE events SET {ended} WHERE event_id = $1", desk.event)
        unsteered_s = await desk.unsteered_s()
        assert unsteered_s is not None
        assert unsteered_s <= 1, ended
        await desk.api.db.fetch(
            "UPDATE events SET status = 'ON_SALE', admission = true, sale_opens_at = booking_now() WHERE event_id = $1",
            desk.event,
        )
        assert await desk.unsteered_s() == 205
    await desk.set(mode="paused")
    await desk.seconds(controller, 1)
    unsteered_s = await desk.unsteered_s()
    assert unsteered_s is None or unsteered_s <= 1


async def test_what_a_room_refuses_is_seen_and_an_alarm_until_it_does_it(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 20)
    desk.room.refuses = True
    desk.figures.signals = STRAINED
    await desk.seconds(controller, 12)
    seen = await desk.read()
    assert seen.room is not None
    assert seen.per_minute < seen.room.new_users_per_minute
    assert (seen.room.is_there, seen.room.problem) == (True, "it answered 403")
    assert len([one for one in caplog.records if "403" in one.getMessage()]) == 1, "not each second anew"
    unsteered_s = await desk.unsteered_s()
    assert unsteered_s is not None
    assert unsteered_s >= 10
    desk.room.refuses = False
    await desk.seconds(controller, 2)
    seen = await desk.read()
    assert seen.room is not None
    assert (seen.room.problem, await desk.unsteered_s()) == ("", 1)


async def test_a_pause_that_the_room_refuses_needs_somebody(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 3)
    await desk.set(mode="paused")
    desk.room.refuses = True
    await desk.seconds(controller, 12)
    assert await desk.unsteered_s() == 12
    desk.room.refuses = False
    await desk.seconds(controller, 2)
    assert await desk.unsteered_s() is None


async def test_paused_is_zero_at_once_and_the_rooms_own_pause_is_left_alone(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="manual", manual_per_minute=100)
    desk.room.sight = replace(desk.room.sight, is_paused=True)
    await desk.seconds(controller, 3)
    assert desk.room.sight.is_paused
    desk.room.sight = replace(desk.room.sight, is_paused=False)
    await desk.set(mode="paused")
    await desk.seconds(controller, 1)
    assert (desk.room.rate, desk.room.sight.is_paused) == (0, True)
    await desk.set(mode="manual")
    await desk.seconds(controller, 1)
    assert not desk.room.sight.is_paused
    assert desk.room.rate < 20
    await desk.seconds(controller, 30)
    assert desk.room.rate == 100


async def test_a_pause_is_ended_in_a_room_that_was_away_when_the_controller_was_started_anew(desk: Desk) -> None:
    """A host begins again, and the worker is up before the room: it knows from the store what the room was told."""
    await desk.set(mode="manual", manual_per_minute=100)
    first = desk.controller()
    await desk.seconds(first, 3)
    await desk.set(mode="paused")
    await desk.seconds(first, 3)
    assert desk.room.told[-1]["paused"]
    desk.room.is_silent = True
    await desk.clock.move(seconds=10)
    second = desk.controller()
    await desk.seconds(second, 3)
    assert second.leads
    assert await desk.unsteered_s() is None, "the pause was carried out: an absent room needs nobody"
    desk.room.is_silent = False
    await desk.seconds(second, 3)
    await desk.set(mode="manual")
    await desk.seconds(second, 2)
    assert not desk.room.sight.is_paused
    assert await desk.unsteered_s() == 1


async def test_a_pause_whose_answer_was_lost_is_ended_by_whoever_leads(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.set(mode="manual", manual_per_minute=100)
    first = desk.controller()
    await desk.seconds(first, 3)
    tell = desk.room.tell

    async def lost(room: RoomSight, event_id: int, orders: Mapping[str, int | bool], reason: str) -> RoomSight:
        await tell(room, event_id, orders, reason)
        return replace(room, is_there=False, problem="silent")

    await desk.set(mode="paused")
    with monkeypatch.context() as patch:
        patch.setattr(desk.room, "tell", lost)
        await desk.seconds(first, 1)
    assert desk.room.told[-1]["paused"]
    await desk.clock.move(seconds=10)  # killed there
    second = desk.controller()
    await desk.seconds(second, 2)
    await desk.set(mode="manual")
    await desk.seconds(second, 1)
    assert not desk.room.sight.is_paused


async def test_a_room_in_a_pause_of_its_own_does_not_do_what_was_set_and_operators_hear_it(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="manual", manual_per_minute=100)
    await desk.seconds(controller, 3)
    desk.room.sight = replace(desk.room.sight, is_paused=True)
    told = len(desk.room.told)
    await desk.seconds(controller, 12)
    assert len(desk.room.told) == told, "it is left alone"
    assert await desk.unsteered_s() == 12
    desk.room.sight = replace(desk.room.sight, is_paused=False)
    await desk.seconds(controller, 2)
    assert await desk.unsteered_s() == 1
