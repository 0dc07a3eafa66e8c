"""The controller when figures, rooms or the database fail it, and two at once: nothing twice, nothing lost (R20)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
import pytest

from backend_client import wire
from booking.domain.admission_control import AdmissionChange, AdmissionMode, AdmissionReason, AdmissionWhy
from booking.domain.admission_steering import RoomSight
from booking.domain.caller import Role
from booking.domain.errors import AuthorityAwayError
from booking.store import admission_queries
from booking.store.database import Database
from tests.room.controller_desk import CALM, STRAINED, URL, Desk, FakeRoom, Told
from tests.server.box_office import Clock, make_event
from tests.server.web_api import api_over, problem


@pytest.fixture
async def desk(database: Database, clock: Clock) -> AsyncIterator[Desk]:
    event = await make_event(database)
    await admission_queries.announce_rooms(database, [event], URL)
    await clock.stand_at(await clock.now())  # seconds are the test's alone, however slow the machine is
    async with api_over(database) as api:
        yield Desk(api, event, await api.staff(Role.OPS), clock, FakeRoom(), Told(database))


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
