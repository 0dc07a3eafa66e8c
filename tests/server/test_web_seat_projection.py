"""The projection and its publisher, without a database: S1, S2, S5 and G3 on the server's side."""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest

from backend_client import wire
from backend_client.feed_protocol import FeedState, SeatFeedProtocol, SnapshotWanted
from backend_client.seat_frames import Layout, decode_delta, decode_snapshot
from booking.web import seat_projection
from booking.web.feed_publisher import FeedPublisher
from booking.web.seat_projection import Batch, FeedGapError, SeatProjection, encode_text

SEATS = 10
HELD_BY_TILL, PAYING_BY_TILL, SOLD_AT_TILL, BLOCKED = 0b1001, 0b1010, 0b1011, 4


def projection(version: int = 100) -> SeatProjection:
    return SeatProjection(
        event_id=7,
        plan_version=1,
        epoch=1,
        version=version,
        states=np.zeros(SEATS, np.uint8),
        seat_versions=np.zeros(SEATS, np.uint32),
    )


def batch(version: int, *changes: tuple[int, int, int]) -> Batch:
    """`changes` are (seat, state, seat version)."""
    return Batch(
        version,
        np.array([seat << 8 | state for seat, state, _ in changes], np.uint32),
        np.array([seat_version for _, _, seat_version in changes], np.uint32),
    )


def test_a_body_of_the_feed_is_read_as_pairs() -> None:
    body = np.array([[3 << 8 | 4, 1], [5 << 8 | 4, 2]], "<u4").tobytes()

    read = Batch.from_body(101, body)

    assert (read.words >> 8).tolist() == [3, 5]
    assert read.seat_versions.tolist() == [1, 2]


def test_changes_show_in_both_layouts() -> None:
    seats = projection()
    seats.apply(batch(101, (1, HELD_BY_TILL, 1), (2, PAYING_BY_TILL, 1), (3, SOLD_AT_TILL, 1), (4, BLOCKED, 1)))
    assert seats.states(Layout.STAFF).tolist()[:5] == [0, HELD_BY_TILL, PAYING_BY_TILL, SOLD_AT_TILL, BLOCKED]
    assert seats.states(Layout.PUBLIC).tolist()[:5] == [0, 1, 1, 2, 3]


def test_of_two_changes_to_one_seat_in_a_batch_the_last_one_stays() -> None:
    seats = projection()
    seats.apply(batch(101, (1, HELD_BY_TILL, 1), (1, 0, 2), (1, SOLD_AT_TILL, 3)))
    assert seats.states(Layout.STAFF)[1] == SOLD_AT_TILL


def test_a_change_that_the_first_reading_had_already_is_not_undone_by_an_older_one() -> None:
    seats = projection()
    seats.apply(batch(101, (1, SOLD_AT_TILL, 5)))
    seats.apply(batch(102, (1, HELD_BY_TILL, 4)))
    assert seats.states(Layout.STAFF)[1] == SOLD_AT_TILL


@pytest.mark.parametrize("version", [100, 102, 99])
def test_s2_a_gap_or_a_repetition_is_refused_and_changes_nothing(version: int) -> None:
    seats = projection()
    with pytest.raises(FeedGapError):
        seats.apply(batch(version, (1, BLOCKED, 1)))
    assert (seats.version, int(seats.states(Layout.STAFF).sum())) == (100, 0)


def test_a_seat_that_the_plan_has_not_is_refused() -> None:
    with pytest.raises(FeedGapError):
        projection().apply(batch(101, (SEATS, BLOCKED, 1)))


def test_changes_since_are_merged_with_the_last_state_of_each_seat() -> None:
    seats = projection()
    seats.apply(batch(101, (1, HELD_BY_TILL, 1)))
    seats.apply(batch(102, (2, HELD_BY_TILL, 1)))
    seats.apply(batch(103, (1, 0, 2)))

    delta = seats.changes_since(101, Layout.STAFF)

    assert (delta.from_version, delta.to_version) == (101, 103)
    assert dict(zip(delta.seats.tolist(), delta.states.tolist(), strict=True)) == {1: 0, 2: HELD_BY_TILL}
    public = seats.changes_since(100, Layout.PUBLIC)
    assert dict(zip(public.seats.tolist(), public.states.tolist(), strict=True)) == {1: 0, 2: 1}


def test_a_hold_that_ended_by_its_time_alone_is_free_at_its_own_version_and_no_older_word_undoes_that() -> None:
    seats = projection()
    seats.apply(batch(101, (1, HELD_BY_TILL, 1), (2, HELD_BY_TILL, 1)))
    seats.apply(batch(102, (1, 0, 1)))
    seats.apply(batch(103, (1, HELD_BY_TILL, 1), (2, 0, 0)))
    assert seats.states(Layout.STAFF)[1:3].tolist() == [0, HELD_BY_TILL]
    seats.apply(batch(104, (1, PAYING_BY_TILL, 2)))
    assert seats.states(Layout.STAFF)[1] == PAYING_BY_TILL


def test_the_ring_forgets_what_is_old_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_projection, "RING_BATCHES", 3)
    seats = projection()
    for version in range(101, 106):
        seats.apply(batch(version, (version - 100, BLOCKED, 1)))

    assert [seats.reaches_back_to(version) for version in (101, 102, 105, 106)] == [False, True, True, False]
    assert seats.changes_since(102, Layout.STAFF).seats.tolist() == [3, 4, 5]
    with pytest.raises(FeedGapError):
        seats.changes_since(101, Layout.STAFF)


def test_a_snapshot_is_packed_once_a_version_and_its_tag_names_epoch_version_and_layout() -> None:
    seats = projection()
    first = seats.packed(Layout.PUBLIC)
    assert seats.packed(Layout.PUBLIC) is first
    assert first.etag == '"1-100-public"'
    assert seats.packed(Layout.STAFF).etag == '"1-100-staff"'

    seats.apply(batch(101, (9, SOLD_AT_TILL, 1)))

    second = seats.packed(Layout.PUBLIC)
    assert second.etag == '"1-101-public"'
    assert gzip.decompress(second.gzipped) == second.plain
    snapshot = decode_snapshot(second.plain)
    assert (snapshot.event_id, snapshot.epoch, snapshot.version) == (7, 1, 101)
    assert snapshot.states.tolist() == [0] * 9 + [2]


def test_a_frame_is_encoded_once_for_all_that_stand_at_one_version() -> None:
    seats = projection()
    seats.apply(batch(101, (1, SOLD_AT_TILL, 1)))
    frame = seats.frame_since(100, Layout.STAFF, binary=True)
    assert seats.frame_since(100, Layout.STAFF, binary=True) is frame
    assert decode_delta(frame).states.tolist() == [SOLD_AT_TILL]
    text = msgspec.json.decode(seats.frame_since(100, Layout.PUBLIC, binary=False), type=wire.FeedDelta)
    assert text.changes == ((1, 2),)


def test_s1_a_client_joins_a_snapshot_that_stands_inside_a_coalesced_delta() -> None:
    """Deltas 100…106 in two batches, the snapshot at 104: the map is right, and live."""
    seats = projection()
    client = SeatFeedProtocol(wire.EventId(7))
    client.dial()
    hello = wire.FeedHello(event_id=wire.EventId(7), epoch=1, version=100, server_time=wire_time())
    (wanted,) = [event for event in client.receive(encode_text(hello).decode()) if isinstance(event, SnapshotWanted)]
    for version in range(101, 105):
        seats.apply(batch(version, (version - 100, SOLD_AT_TILL, 1)))
    snapshot = decode_snapshot(seats.packed(Layout.STAFF).plain)
    for version in (105, 106):
        seats.apply(batch(version, (version - 100, SOLD_AT_TILL, 1)))
    client.receive(seats.frame_since(100, Layout.STAFF, binary=True))

    client.receive_snapshot(wanted.request_no, snapshot)

    assert client.state is FeedState.LIVE
    assert client.position is not None
    assert client.position.version == 106


def wire_time() -> datetime:
    return datetime(2026, 11, 30, tzinfo=UTC)


class Counter:
    version = 0


async def test_the_first_change_shows_at_once_and_the_next_ones_together() -> None:
    now = Counter()
    publisher = FeedPublisher(0.05, lambda: now.version)
    shown: list[int] = []
    for now.version in range(1, 6):
        publisher.changed()
        shown.append(publisher.shown)
    assert shown == [1, 1, 1, 1, 1]
    assert await publisher.wait_moved(2.0)
    assert publisher.shown == 5
    assert not await publisher.wait_moved(0.06)


async def test_at_most_twenty_batches_a_second_are_shown() -> None:
    now = Counter()
    publisher = FeedPublisher(0.05, lambda: now.version)
    loop = asyncio.get_running_loop()
    started_at = loop.time()
    batches = 0
    while batches < 6:
        now.version += 1
        publisher.changed()
        batches += await publisher.wait_moved(0.005)
    assert loop.time() - started_at >= 0.05 * 5


async def test_a_restart_wakes_everybody_at_once() -> None:
    publisher = FeedPublisher(60.0, lambda: 1)
    publisher.changed()
    publisher.changed()
    waiting = asyncio.create_task(publisher.wait_moved(5.0))
    await asyncio.sleep(0)
    publisher.restarted()
    assert await waiting
    publisher.close()
