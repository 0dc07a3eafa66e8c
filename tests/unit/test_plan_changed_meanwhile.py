"""A plan that is changed while an event is read: plan and seats are of one version, and the map goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from app.actions.follow_seats import _reload
from app.actions.show_event import open_event
from backend_client.seat_frames import Snapshot
from backend_client.wire import EventId
from tests.unit.counter import Counter


class Changing:
    """Seats of the next version of the plan, one fewer, for the first `times` readings."""

    def __init__(self, counter: Counter, times: int, *, version: int = 1) -> None:
        self.readings = 0
        self._times, self._step = times, version
        self._read = counter.desk.client.seat_snapshot

    async def __call__(self, event_id: EventId) -> Snapshot:
        self.readings += 1
        snapshot = await self._read(event_id)
        if self.readings > self._times:
            return snapshot
        return replace(snapshot, plan_version=snapshot.plan_version + self._step, states=snapshot.states[:-1])


async def test_plan_and_seats_of_two_versions_are_read_again(counter: Counter) -> None:
    desk, event_id = counter.desk, counter.server.house.event_id
    changing = Changing(counter, 1)
    desk.client.seat_snapshot = changing  # type: ignore[method-assign]
    await open_event(desk, event_id)
    assert changing.readings == 2
    assert desk.store.seat_map is not None
    assert desk.store.seat_map.revision > 0


async def test_seats_of_another_version_are_never_laid_on_this_plan(counter: Counter) -> None:
    desk, event_id = counter.desk, counter.server.house.event_id
    desk.client.seat_snapshot = Changing(counter, 100)  # type: ignore[method-assign]
    await open_event(desk, event_id)
    assert desk.store.plan is not None
    assert desk.store.seat_map is not None
    assert desk.store.seat_map.seat_count == len(desk.store.plan.seats.guid)


@pytest.mark.parametrize("version", [0, 1], ids=["of the same version", "of the next"])
async def test_the_map_goes_on_once_plan_and_seats_fit_again(counter: Counter, version: int) -> None:
    desk, event_id = counter.desk, counter.server.house.event_id
    changing = Changing(counter, 1, version=version)
    desk.client.seat_snapshot = changing  # type: ignore[method-assign]
    await asyncio.wait_for(_reload(desk, event_id), 30)
    assert changing.readings == 2
