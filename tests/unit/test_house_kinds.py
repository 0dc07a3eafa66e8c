"""For whom the house keeps seats back, brought to the map (R9): read once for many changes, right after each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.actions.follow_house_seats import tells_of_house_seats
from app.actions.follow_seats import follow_seats
from app.actions.show_event import open_event
from app.core.store import Change
from app.screens.house_words import house_kind
from app.screens.map_words import SeatWords
from backend_client.feed_protocol import DeltaTaken, FeedState, SnapshotTaken
from backend_client.seat_frames import Delta, HolderKind, Layout, Snapshot, StaffStatus, staff_state
from backend_client.testing import Fault
from backend_client.wire import EventId, HouseHoldKind
from tests.unit.counter import Counter, make_counter, open_journal, until
from widgets.seat_map.seat_bits import HouseKind

KEPT = staff_state(StaffStatus.BLOCKED, HolderKind.HOUSE)


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    made.server.house.keep_back(HouseHoldKind.PRESS, 4, 5)
    await made.open()
    task = asyncio.create_task(follow_seats(made.desk, dial=made.server.dial), name="follow")
    await until(lambda: made.desk.store.feed_state is FeedState.LIVE)
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await made.desk.client.close()
    await journal.close()


def readings(counter: Counter) -> int:
    return sum(call.path.endswith("/house-holds") for call in counter.server.calls)


def kinds(counter: Counter) -> dict[int, HouseHoldKind]:
    return dict(counter.desk.store.house_kinds)


async def test_kinds_are_read_with_the_first_snapshot_and_after_every_change(counter: Counter) -> None:
    await until(lambda: kinds(counter) == {4: HouseHoldKind.PRESS, 5: HouseHoldKind.PRESS})
    counter.server.house.keep_back(HouseHoldKind.ARTIST, 7)
    counter.server.push_deltas()
    await until(lambda: kinds(counter).get(7) is HouseHoldKind.ARTIST)
    words = SeatWords(counter.desk.store)
    assert words.state(7) == "held for the house, Artist"
    assert words.spoken(5).endswith("held for the house, Press")


async def test_a_seat_that_goes_from_one_hold_to_another_at_once_is_told_anew(counter: Counter) -> None:
    """A delta may show only the last state: BLOCKED before and after, and yet for somebody else."""
    await until(lambda: len(kinds(counter)) == 2)
    counter.server.house.keep_back(HouseHoldKind.SPONSOR, 4)
    counter.server.push_deltas()
    await until(lambda: kinds(counter) == {4: HouseHoldKind.SPONSOR, 5: HouseHoldKind.PRESS})


async def test_many_changes_are_one_reading_and_sales_are_none(counter: Counter) -> None:
    await until(lambda: len(kinds(counter)) == 2)
    before = readings(counter)
    for seat in range(10, 40):
        counter.server.house.keep_back(HouseHoldKind.OTHER, seat)
    counter.server.push_deltas()
    await until(lambda: len(kinds(counter)) == 32)
    assert readings(counter) - before <= 3
    quiet = readings(counter)
    for seat in (41, 42, 43):
        counter.server.sell_elsewhere(seat)
    await asyncio.sleep(0.03)
    assert readings(counter) == quiet


async def test_a_released_seat_says_nothing_of_the_house(counter: Counter) -> None:
    await until(lambda: len(kinds(counter)) == 2)
    counter.server.house.set_seats((4,), staff_state(StaffStatus.AVAILABLE, HolderKind.NONE))
    counter.server.push_deltas()
    seat_map = counter.desk.store.seat_map
    await until(lambda: seat_map is not None and seat_map.is_pickable(4))
    assert SeatWords(counter.desk.store).state(4) == "free"


async def test_a_reading_that_fails_is_made_again_and_the_old_kinds_stay(counter: Counter) -> None:
    await until(lambda: len(kinds(counter)) == 2)
    counter.server.fail(Fault.UNREACHABLE, "/house-holds", times=9)
    counter.server.house.keep_back(HouseHoldKind.ARTIST, 9)
    counter.server.push_deltas()
    await until(lambda: kinds(counter).get(9) is HouseHoldKind.ARTIST)
    assert kinds(counter)[4] is HouseHoldKind.PRESS


async def test_answers_about_another_event_are_ignored_and_a_show_switch_forgets(counter: Counter) -> None:
    """S7."""
    await until(lambda: len(kinds(counter)) == 2)
    told: list[Change] = []
    counter.desk.store.subscribe(told.append)
    counter.server.house.event_id = EventId(counter.server.house.event_id + 1)
    counter.desk.store.put_house_holds(counter.server.house.list_house_holds())
    assert told == []
    await open_event(counter.desk, counter.server.house.event_id)
    assert kinds(counter) == {}


@pytest.mark.parametrize(
    ("state", "layout", "told"),
    [
        (KEPT, Layout.STAFF, True),
        (staff_state(StaffStatus.BLOCKED, HolderKind.NONE), Layout.STAFF, False),
        (staff_state(StaffStatus.HELD, HolderKind.TILL), Layout.STAFF, False),
        (3, Layout.PUBLIC, False),
    ],
)
def test_only_seats_of_the_house_ask_for_a_reading(state: int, layout: Layout, told: bool) -> None:
    states, seats = np.array([0, state], np.uint8), np.array([0, 1], np.uint32)
    assert tells_of_house_seats(SnapshotTaken(Snapshot(1, 1, 1, 1, layout, states))) is told
    assert tells_of_house_seats(DeltaTaken(Delta(1, 1, 1, 2, layout, seats, states))) is told
    assert not tells_of_house_seats(DeltaTaken(Delta(1, 1, 1, 2, layout, seats[:0], states[:0])))


def test_every_kind_of_the_wire_is_one_of_the_map() -> None:
    """In the same order, so that a newer wire fails here and not at a counter."""
    assert [house_kind(kind) for kind in HouseHoldKind] == list(HouseKind)[1:]
