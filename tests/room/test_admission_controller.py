"""The controller: one acts, restarts do not jump, what is silent lets nobody in, all is in the log (R20)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from backend_client import wire
from booking.domain.admission_causes import Cause
from booking.domain.admission_control import AdmissionChange, AdmissionMode, AdmissionReason, AdmissionWhy
from booking.domain.admission_control_signals import AdmissionSignals
from booking.domain.admission_steering import RoomSight
from booking.domain.caller import Role
from booking.domain.errors import AuthorityAwayError
from booking.services.service_account import ServiceAccount
from booking.services.sign_in import create_account
from booking.sql import query
from booking.store import admission_queries
from booking.store.database import Database
from booking.workers.admission_worker import Controller
from booking.workers.room_line import RoomLine
from tests.room.room_process import Room, Visitor, room_running
from tests.server.box_office import Clock, make_event
from tests.server.web_api import Api, api_over, problem

CALM = AdmissionSignals(queue_age_ms=5.0, hold_p99_ms=20.0, lock_waits=0.0)
STRAINED = replace(CALM, lock_waits=20.0)
URL = "http://room.test"


@dataclass
class FakeRoom:
    """A room as a line reaches it; `told` has every order."""

    sight: RoomSight = field(
        default_factory=lambda: RoomSight(
            url=URL, is_there=True, new_users_per_minute=120, total_active_users=200, version=1, waiting=500, active=10
        )
    )
    is_silent: bool = False
    refuses: bool = False
    told: list[Mapping[str, int | bool]] = field(default_factory=list)

    async def look(self, _url: str, _event_id: int, before: RoomSight | None) -> RoomSight:
        known = before or RoomSight(url=URL)
        if self.is_silent:
            return replace(known, is_there=False, problem="silent")
        return replace(self.sight, pause_told=known.pause_told and self.sight.is_paused)

    async def tell(self, room: RoomSight, _event_id: int, orders: Mapping[str, int | bool], _reason: str) -> RoomSight:
        assert room.version == self.sight.version
        if self.refuses:
            return replace(
                room, problem="it answered 403", problem_cause=Cause("room-refused", numbers={"status": 403.0})
            )
        self.told.append(orders)
        names = {"paused": "is_paused"}
        changed = {names.get(name, name): value for name, value in orders.items()}
        self.sight = replace(self.sight, version=room.version + 1, **changed)  # type: ignore[arg-type]
        return replace(self.sight, pause_told=bool(orders.get("paused", room.pause_told)))

    @property
    def rate(self) -> int:
        return self.sight.new_users_per_minute


class Told:
    """Figures that the test names."""

    def __init__(self, db: Database) -> None:
        self.db, self.signals = db, CALM
        self.is_old = False

    async def refresh(self) -> None:
        """Nothing to be read."""

    async def read(self, _event_id: int) -> tuple[AdmissionSignals, datetime]:
        row = await self.db.fetchrow("SELECT booking_now() - make_interval(secs => $1) AS at", 60.0 * self.is_old)
        assert row is not None
        return self.signals, row["at"]


@dataclass
class Desk:
    """One event with a room, an operator, and controllers whose seconds the test counts."""

    api: Api
    event: int
    ops: str
    clock: Clock
    room: FakeRoom
    figures: Told

    def controller(self) -> Controller:
        return Controller(self.api.db, ServiceAccount(self.api.db), self.room, self.figures)

    async def set(self, **change: object) -> None:
        version = (await self.read()).settings.version
        body = {"expected_version": version, "reason": "test", **change}
        done = await self.api.call("PUT", f"/v1/events/{self.event}/admission", body, token=self.ops)
        assert done.status_code == 200, done.text

    async def read(self) -> wire.AdmissionControl:
        answer = await self.api.call("GET", f"/v1/events/{self.event}/admission", token=self.ops)
        return msgspec.json.decode(answer.content, type=wire.AdmissionControl)

    async def changes(self) -> list[wire.AdmissionChange]:
        """Oldest first."""
        answer = await self.api.call("GET", f"/v1/events/{self.event}/admission/changes?limit=500", token=self.ops)
        return list(reversed(msgspec.json.decode(answer.content, type=wire.AdmissionChangeList).changes))

    async def seconds(self, controller: Controller, count: int) -> None:
        for _ in range(count):
            await self.clock.move(seconds=1)
            await controller.once()

    async def unsteered_s(self) -> float | None:
        """What the alarm about rooms that nobody steers looks at."""
        found = {row["event_id"]: row["unsteered_s"] for row in await self.api.db.fetch(query("read_unsteered"))}
        return found.get(self.event)


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


async def test_figures_that_stopped_coming_let_nobody_in(desk: Desk) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic")
    await desk.seconds(controller, 5)
    desk.figures.is_old = True
    await desk.seconds(controller, 1)
    assert desk.room.rate == 0
    assert (await desk.read()).reason is wire.AdmissionReason.FIGURES_MISSING


async def test_while_the_database_is_away_the_room_is_stopped_and_the_log_catches_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 10)

    async def silent(*_: object) -> tuple[datetime, bool]:
        raise TimeoutError

    with monkeypatch.context() as away:
        away.setattr(admission_queries, "lead", silent)
        await controller.once()
        assert desk.room.rate == 0
        await controller.once()
    await desk.seconds(controller, 1)
    assert any(one.reason is wire.AdmissionReason.AUTHORITY_AWAY for one in await desk.changes())
    rates = [desk.room.rate]
    for _ in range(8):
        await desk.seconds(controller, 1)
        rates.append(desk.room.rate)
    assert rates == sorted(rates)
    assert rates[1] < 50


async def test_a_fault_with_one_room_keeps_no_other_from_being_stopped(
    desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await make_event(database)
    await admission_queries.announce_rooms(database, [other], "http://other.test")
    look = desk.room.look

    async def faulty(url: str, event_id: int, before: RoomSight | None) -> RoomSight:
        if event_id == other:
            raise ZeroDivisionError
        await asyncio.sleep(0)  # the fault comes first
        return await look(url, event_id, before)

    async def silent(*_: object) -> tuple[datetime, bool]:
        raise TimeoutError

    monkeypatch.setattr(desk.room, "look", faulty)
    await desk.set(mode="automatic", cap_per_minute=1_000)
    controller = desk.controller()
    await desk.seconds(controller, 5)
    assert desk.room.rate > 0
    known, broken = controller.events[desk.event], controller.events[other]
    broken.state, broken.measured_at = known.state, known.measured_at  # as if it had been steered before
    controller.events = {other: broken, desk.event: known}
    monkeypatch.setattr(admission_queries, "lead", silent)
    await controller.once()
    assert desk.room.rate == 0


async def test_who_was_cut_off_and_meets_another_leaders_setting_leaves_the_room_to_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 10)

    async def silent(*_: object) -> tuple[datetime, bool]:
        raise TimeoutError

    with monkeypatch.context() as away:
        away.setattr(admission_queries, "lead", silent)
        await controller.once()
        assert desk.room.rate == 0
        seen = desk.room.sight
        desk.room.sight = replace(seen, version=seen.version + 1, new_users_per_minute=100)
        for _ in range(3):
            await controller.once()
    assert desk.room.rate == 100


async def test_two_controllers_at_once_decide_one_after_the_other(desk: Desk) -> None:
    """W: whichever leads decides; together they make one unbroken log."""
    await desk.set(mode="automatic", cap_per_minute=1_000)
    pair = [desk.controller(), desk.controller()]
    for _ in range(15):
        await desk.clock.move(seconds=1)
        await asyncio.gather(*(one.once() for one in pair))
    assert [one.leads for one in pair].count(True) == 1
    steps = [one for one in await desk.changes() if one.by == "controller"]
    assert len(steps) > 1
    assert all(a.to_per_minute == b.from_per_minute for a, b in itertools.pairwise(steps))


async def test_what_is_stored_without_an_answer_is_told_once_and_its_lines_join_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is lost while it falls, while it rises, and before the room is stopped because nobody answers."""
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 20)
    keep_state = admission_queries.keep_state

    async def unanswered(*args: Any) -> bool:
        await keep_state(*args)
        raise AuthorityAwayError("the connection was lost")

    async def silent(*_: object) -> tuple[datetime, bool]:
        raise TimeoutError

    async def one_second(*, then_silent: bool = False) -> None:
        with monkeypatch.context() as away:
            away.setattr(admission_queries, "keep_state", unanswered)
            await desk.seconds(controller, 1)
            if then_silent:
                away.setattr(admission_queries, "lead", silent)
                await controller.once()

    desk.figures.signals = STRAINED
    await desk.seconds(controller, 1)
    before = (await desk.read()).per_minute
    await one_second()
    assert (await desk.read()).per_minute < before, "it was stored"
    await desk.seconds(controller, 2)
    desk.figures.signals = CALM
    await desk.seconds(controller, 6)
    await one_second()
    await desk.seconds(controller, 2)
    await one_second(then_silent=True)
    assert desk.room.rate == 0
    await desk.seconds(controller, 3)
    steps = [one for one in await desk.changes() if one.by == "controller"]
    assert len({one.at for one in steps}) == len(steps)
    assert all(a.to_per_minute == b.from_per_minute for a, b in itertools.pairwise(steps))
    assert wire.AdmissionReason.AUTHORITY_AWAY in {one.reason for one in steps}


async def test_lines_that_are_stored_again_are_there_once(desk: Desk) -> None:
    """The call is repeated when a connection is lost, whether or not it had been done."""
    controller = desk.controller()
    await desk.set(mode="automatic", cap_per_minute=1_000)
    await desk.seconds(controller, 1)
    why = AdmissionWhy(AdmissionReason.STRAIN, "holds are slow")
    line = AdmissionChange(await desk.clock.now(), "controller", AdmissionMode.AUTOMATIC, 100.0, 60.0, why)
    known = len(await desk.changes())
    row = await admission_queries.read_admission(desk.api.db, desk.event)
    assert row is not None
    columns = ("per_minute", "reason", "words", "decided_at", "measured_at")
    state = {name: row[name] for name in columns} | {
        name: msgspec.json.decode(row[name]) for name in ("law", "figures", "room")
    }
    for _ in range(2):
        assert await admission_queries.keep_state(desk.api.db, controller.holder, desk.event, state, [line])
    assert len(await desk.changes()) == known + 1


async def test_what_the_log_is_asked_for_has_bounds(desk: Desk) -> None:
    for question in ("after=3000000000", "after=-1", "after=x", "limit=3000000000", "limit=0", "limit=501"):
        answer = await desk.api.call("GET", f"/v1/events/{desk.event}/admission/changes?{question}", token=desk.ops)
        name = question.partition("=")[0]
        assert [one.pointer for one in problem(answer, wire.ErrorCode.INVALID_REQUEST).fields] == [f"query:{name}"]
    found = await desk.api.call("GET", f"/v1/events/{desk.event}/admission/changes?after=2147483647", token=desk.ops)
    assert found.status_code == 200


@asynccontextmanager
async def with_room(database: Database, dsn: str, folder: Path) -> AsyncIterator[tuple[Api, Visitor, int]]:
    event = await make_event(database, 40, admission=True)
    async with api_over(database) as api, room_running(folder, "--dsn", dsn) as room:
        staff = Visitor(room.client, await api.staff(Role.OPS))
        opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
        assert (await staff.call("PUT", f"/v1/rooms/{event}", opening)).status_code == 201
        yield api, staff, event


async def figures_of(staff: Visitor, event: int) -> wire.RoomFigures:
    answer = await staff.call("GET", f"/v1/rooms/{event}")
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=wire.RoomFigures)


async def test_a_room_that_is_killed_and_started_elsewhere_is_found_and_set_again(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """Its settings are durable, its address is new: the controller follows it."""
    folder = tmp_path / "data"
    account = ServiceAccount(database)
    line = RoomLine(account.token)
    controller = Controller(database, account, line, Told(database))
    event = await make_event(database, 40, admission=True)
    async with api_over(database) as api:
        ops = await api.staff(Role.OPS)

        async def steered(room: Room, version: int, rate: int) -> None:
            body = {"expected_version": version, "reason": "test", "mode": "manual", "manual_per_minute": rate}
            assert (await api.call("PUT", f"/v1/events/{event}/admission", body, token=ops)).status_code == 200
            async with asyncio.timeout(20):
                staff = Visitor(room.client, ops)
                while (await figures_of(staff, event)).settings.new_users_per_minute != rate:
                    await controller.once()
                    await asyncio.sleep(0.1)

        async with room_running(folder, "--dsn", dsn) as room:
            opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
            await Visitor(room.client, ops).call("PUT", f"/v1/rooms/{event}", opening)
            await steered(room, 0, 90)
            first = room.process.url
        await controller.once()
        assert not controller.events[event].room.is_there
        async with room_running(folder, "--dsn", dsn) as room:
            assert room.process.url != first
            await steered(room, 1, 40)
    await line.close()


@pytest.mark.parametrize("url", ["http://wait.example.org", "http://10.0.0.7:8080"])
async def test_a_token_goes_nowhere_in_the_clear(url: str) -> None:
    asked: list[httpx.Request] = []

    def hear(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(500)

    line = RoomLine(lambda: "a token", transport=httpx.MockTransport(hear))
    seen = await line.look(url, 1, None)
    assert (asked, seen.is_there) == ([], False)
    assert "neither https" in seen.problem
    refused = await line.look("https://wait.example.org", 1, None)
    assert (len(asked), refused.problem) == (1, "it answered 500")
    assert seen.problem_cause == Cause("room-address-open")
    assert refused.problem_cause == Cause("room-refused", numbers={"status": 500.0})
    await line.close()


async def test_it_finds_a_real_room_and_sets_it_with_a_token_of_its_own(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """`admission_worker.run` as the worker process runs it: the room makes itself known, and logs who set it."""
    from booking.workers import admission_worker

    async with with_room(database, dsn, tmp_path / "data") as (api, staff, event):
        await create_account(database)
        ops = await api.staff(Role.OPS)
        body = {"expected_version": 0, "reason": "test", "mode": "manual", "manual_per_minute": 90}
        assert (await api.call("PUT", f"/v1/events/{event}/admission", body, token=ops)).status_code == 200
        steering = asyncio.create_task(admission_worker.run(database), name="controller")
        try:
            async with asyncio.timeout(20):
                log: list[wire.RoomChange] = []
                while not any(one.who == "controller" for one in log):
                    await asyncio.sleep(0.1)
                    answer = await staff.call("GET", f"/v1/rooms/{event}/changes")
                    log = list(msgspec.json.decode(answer.content, type=wire.RoomChangeList).changes)
        finally:
            steering.cancel()
            await asyncio.gather(steering, return_exceptions=True)
    rooms = await database.fetch(query("list_admission_rooms"))
    assert [row["event_id"] for row in rooms] == [event]
