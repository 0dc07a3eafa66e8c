"""The seat feed without sockets (S1, S2, S5, S7, R13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
import msgspec
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from backend_client.feed_protocol import (
    TRANSITIONS,
    Confirmed,
    DeltaTaken,
    FeedEvent,
    FeedState,
    LinkRefused,
    Position,
    SeatFeedProtocol,
    ServerTimeHeard,
    Signal,
    SnapshotTaken,
    SnapshotWanted,
    StateChanged,
    TiersTaken,
)
from backend_client.seat_frames import Delta, Layout, Snapshot, encode_delta
from backend_client.wire import EventId, FeedBeat, FeedDelta, FeedHello, FeedResync, FeedTiers, TierCount

EVENT = EventId(5)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
SEATS = 8


def text(message: msgspec.Struct) -> str:
    return msgspec.json.encode(message).decode()


def hello(version: int, *, epoch: int = 1, event_id: int = EVENT, late_s: float | None = None) -> str:
    at = sequenced(late_s)
    return text(FeedHello(event_id=EventId(event_id), epoch=epoch, version=version, server_time=NOW, sequenced_at=at))


def beat(version: int, *, epoch: int = 1, late_s: float | None = None) -> str:
    return text(FeedBeat(epoch=epoch, version=version, server_time=NOW, sequenced_at=sequenced(late_s)))


def sequenced(late_s: float | None) -> datetime | None:
    return None if late_s is None else NOW - timedelta(seconds=late_s)


def delta(first: int, last: int, *, epoch: int = 1, event_id: int = EVENT, seat: int = 0, state: int = 3) -> bytes:
    seats, states = np.array([seat], np.uint32), np.array([state], np.uint8)
    return encode_delta(Delta(event_id, epoch, first, last, Layout.STAFF, seats, states))


def snapshot(version: int, *, epoch: int = 1, event_id: int = EVENT) -> Snapshot:
    return Snapshot(event_id, 1, epoch, version, Layout.STAFF, np.zeros(SEATS, np.uint8))


def taken(events: list[FeedEvent]) -> list[int]:
    """Versions of the deltas that were taken."""
    return [event.delta.to_version for event in events if isinstance(event, DeltaTaken)]


def wanted(events: list[FeedEvent]) -> list[SnapshotWanted]:
    return [event for event in events if isinstance(event, SnapshotWanted)]


def state_of(protocol: SeatFeedProtocol) -> FeedState:
    """Read anew: a type checker believes that a state, once compared, stays."""
    return protocol.state


def live_at(version: int) -> SeatFeedProtocol:
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    [request] = wanted(protocol.receive(hello(version)))
    protocol.receive_snapshot(request.request_no, snapshot(version))
    assert state_of(protocol) is FeedState.LIVE
    return protocol


def test_join_drops_what_the_snapshot_holds_and_applies_the_rest_in_order() -> None:
    """S1: deltas 100…106 buffered, snapshot 104 → 105 and 106 applied."""
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    events = protocol.receive(hello(99))
    [request] = wanted(events)
    for version in range(100, 107):
        assert protocol.receive(delta(version - 1, version)) == []
    after = protocol.receive_snapshot(request.request_no, snapshot(104))
    assert taken(after) == [105, 106]
    assert isinstance(after[0], SnapshotTaken)
    assert after[-1] == StateChanged(FeedState.LIVE)
    assert protocol.position == Position(1, 106)


def test_gap_asks_for_one_snapshot_and_is_never_applied() -> None:
    """S2: 481846, then 481848."""
    protocol = live_at(481845)
    assert taken(protocol.receive(delta(481845, 481846))) == [481846]
    events = protocol.receive(delta(481847, 481848))
    assert taken(events) == []
    [request] = wanted(events)
    assert state_of(protocol) is FeedState.BUFFERING
    more = protocol.receive(delta(481848, 481849))
    assert wanted(more) == []
    after = protocol.receive_snapshot(request.request_no, snapshot(481848))
    assert taken(after) == [481849]
    assert state_of(protocol) is FeedState.LIVE


def test_snapshot_that_lags_behind_the_feed_is_asked_for_again() -> None:
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    [request] = wanted(protocol.receive(hello(10)))
    protocol.receive(delta(10, 11))
    [again] = wanted(protocol.receive_snapshot(request.request_no, snapshot(8)))
    assert again.retry
    assert protocol.position is None
    protocol.receive_snapshot(again.request_no, snapshot(10))
    assert protocol.position == Position(1, 11)


def test_snapshot_before_the_hello_version_is_not_live_yet() -> None:
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    [request] = wanted(protocol.receive(hello(10)))
    events = protocol.receive_snapshot(request.request_no, snapshot(9))
    assert state_of(protocol) is FeedState.BUFFERING
    assert len(wanted(events)) == 1


def test_new_epoch_starts_anew() -> None:
    protocol = live_at(50)
    [request] = wanted(protocol.receive(delta(2, 3, epoch=2)))
    old = protocol.receive_snapshot(request.request_no, snapshot(60, epoch=1))
    assert not any(isinstance(event, SnapshotTaken) for event in old)
    [again] = wanted(old)
    protocol.receive_snapshot(again.request_no, snapshot(3, epoch=2))
    assert protocol.position == Position(2, 3)
    assert state_of(protocol) is FeedState.LIVE


def test_resync_and_a_beat_ahead_ask_for_a_snapshot() -> None:
    protocol = live_at(5)
    assert len(wanted(protocol.receive(text(FeedResync(epoch=1, version=9))))) == 1
    protocol = live_at(5)
    assert protocol.receive(beat(5)) == [Confirmed()]
    assert len(wanted(protocol.receive(beat(6)))) == 1


def test_frames_of_another_event_are_ignored() -> None:
    """S7."""
    protocol = live_at(5)
    assert protocol.receive(delta(5, 6, event_id=EVENT + 1)) == []
    assert protocol.position == Position(1, 5)
    [request] = wanted(protocol.receive(text(FeedResync(epoch=1, version=9))))
    assert protocol.receive_snapshot(request.request_no, snapshot(9, event_id=EVENT + 1)) == []
    [refused] = dialled().receive(hello(1, event_id=EVENT + 1))
    assert isinstance(refused, LinkRefused)


def dialled() -> SeatFeedProtocol:
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    return protocol


def test_closed_feed_ignores_everything_in_flight() -> None:
    """S7: A → B → A quickly."""
    protocol = dialled()
    [request] = wanted(protocol.receive(hello(5)))
    protocol.close()
    assert protocol.receive(delta(5, 6)) == []
    assert protocol.receive_snapshot(request.request_no, snapshot(6)) == []
    assert protocol.position is None


def test_reconnect_continues_from_the_position() -> None:
    """S5: the link was cut while three seats changed."""
    protocol = live_at(5)
    assert protocol.lose_link() == [StateChanged(FeedState.STALE)]
    protocol.dial()
    events = protocol.receive(hello(8))
    assert wanted(events) == []
    assert state_of(protocol) is FeedState.CATCHING_UP
    assert taken(protocol.receive(delta(5, 7))) == [7]
    assert state_of(protocol) is FeedState.CATCHING_UP
    assert taken(protocol.receive(delta(7, 8))) == [8]
    assert state_of(protocol) is FeedState.LIVE


def test_reconnect_without_changes_is_live_at_once_and_beats_catch_up_claims() -> None:
    protocol = live_at(5)
    protocol.lose_link()
    protocol.dial()
    assert protocol.receive(hello(5))[-1] == StateChanged(FeedState.LIVE)
    protocol.lose_link()
    protocol.dial()
    protocol.receive(hello(9))
    assert len(wanted(protocol.receive(beat(9)))) == 1


def test_fallback_snapshots_serve_a_map_without_a_link() -> None:
    """R15; one request at a time, newer only."""
    protocol = live_at(5)
    protocol.lose_link()
    [request] = wanted(protocol.want_fallback())
    assert protocol.want_fallback() == []
    assert any(isinstance(e, SnapshotTaken) for e in protocol.receive_snapshot(request.request_no, snapshot(7)))
    [request] = wanted(protocol.want_fallback())
    assert protocol.receive_snapshot(request.request_no, snapshot(6)) == []
    assert state_of(protocol) is FeedState.STALE
    [request] = wanted(protocol.want_fallback())
    assert protocol.fail_snapshot(request.request_no) == []


def test_hello_tells_the_time() -> None:
    assert ServerTimeHeard(NOW) in dialled().receive(hello(1))


def test_a_frame_of_a_type_from_after_this_program_is_ignored() -> None:
    """The wire grows: a server may say more than this console knows, and its link is good all the same."""
    protocol = live_at(3)
    assert protocol.receive('{"type":"of-tomorrow","what":[1]}') == []
    assert protocol.receive(beat(3)) == [Confirmed()]


@pytest.mark.parametrize("state", [FeedState.LIVE, FeedState.BUFFERING])
def test_counts_of_tiers_are_taken_as_they_come(state: FeedState) -> None:
    """They are whole statements: they wait for no snapshot, and move nothing of the seats."""
    protocol = live_at(3)
    if state is FeedState.BUFFERING:
        protocol.receive(text(FeedResync(epoch=1, version=9)))
    counts = (TierCount(tier_id=1, available=3, capacity=9),)
    assert protocol.receive(text(FeedTiers(tiers=counts, server_time=NOW))) == [TiersTaken(EVENT, counts)]
    assert state_of(protocol) is state


@pytest.mark.parametrize(
    "frame", [b"TQSD", b"\x00" * 40, "{", "{}", '{"type":1}', '{"type":"beat"}', beat(3), delta(1, 2)]
)
def test_peer_that_breaks_the_protocol_is_dropped(frame: bytes | str) -> None:
    [event] = dialled().receive(frame)
    assert isinstance(event, LinkRefused)


def test_json_deltas_carry_public_states() -> None:
    protocol = live_at(5)
    good = FeedDelta(epoch=1, from_version=5, to_version=6, changes=((2, 1), (3, 2)))
    [event] = protocol.receive(text(good))
    assert isinstance(event, DeltaTaken)
    assert event.delta.layout is Layout.PUBLIC
    assert event.delta.seats.tolist() == [2, 3]
    bad = FeedDelta(epoch=1, from_version=6, to_version=7, changes=((2, 9),))
    [refused] = protocol.receive(text(bad))
    assert isinstance(refused, LinkRefused)


def test_every_signal_and_state_stands_in_the_table() -> None:
    assert {signal for _, signal in TRANSITIONS} == set(Signal)
    assert {state for state, _ in TRANSITIONS} | set(TRANSITIONS.values()) == set(FeedState)


def test_map_is_out_of_date_while_the_server_numbers_no_changes_though_the_link_is_good() -> None:
    """The sequencer is stopped: beats come, changes do not."""
    protocol = live_at(4)
    assert protocol.receive(beat(4, late_s=4.9)) == [Confirmed()]
    assert protocol.receive(beat(4, late_s=5.1)) == [StateChanged(FeedState.LAGGING)]
    assert protocol.receive(beat(4, late_s=90.0)) == []
    assert protocol.receive(beat(4, late_s=0.4)) == [StateChanged(FeedState.LIVE)]


def test_change_that_comes_after_all_ends_the_lag() -> None:
    protocol = live_at(4)
    protocol.receive(beat(4, late_s=9.0))
    events = protocol.receive(delta(4, 5))
    assert taken(events) == [5]
    assert events[-1] == StateChanged(FeedState.LIVE)


def test_console_that_joins_while_nothing_is_numbered_does_not_show_a_live_map() -> None:
    protocol = SeatFeedProtocol(EVENT)
    protocol.dial()
    [request] = wanted(protocol.receive(hello(3, late_s=60.0)))
    protocol.receive_snapshot(request.request_no, snapshot(3))
    assert state_of(protocol) is FeedState.LAGGING
    protocol.lose_link()
    protocol.dial()
    protocol.receive(hello(3, late_s=70.0))
    assert state_of(protocol) is FeedState.LAGGING


def test_server_that_does_not_tell_when_it_numbered_is_trusted() -> None:
    assert live_at(4).receive(beat(4)) == [Confirmed()]


def test_gap_is_mended_while_nothing_is_numbered_too() -> None:
    protocol = live_at(4)
    protocol.receive(beat(4, late_s=9.0))
    [request] = wanted(protocol.receive(beat(6, late_s=9.0)))
    protocol.receive_snapshot(request.request_no, snapshot(6))
    assert state_of(protocol) is FeedState.LAGGING
    assert protocol.position == Position(1, 6)


def test_link_whose_token_ran_out_is_made_anew_without_a_stale_map() -> None:
    protocol = live_at(4)
    assert protocol.dial() == [StateChanged(FeedState.CONNECTING)]
    assert protocol.receive(hello(4))[-1] == StateChanged(FeedState.LIVE)


class LossyFeed(RuleBasedStateMachine):
    """A server whose truth moves, and a link that drops, lags, repeats and answers late in any order.

    Whatever happens: no gap is applied, one snapshot request is outstanding, and LIVE means equal to what was sent.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epoch, self.version = 1, 0
        self.truth = np.zeros(SEATS, np.uint8)
        self.history: dict[tuple[int, int], np.ndarray[tuple[int], np.dtype[np.uint8]]] = {(1, 0): self.truth.copy()}
        self.ring: list[bytes] = []
        self.spans: list[tuple[int, int]] = []
        self.protocol = SeatFeedProtocol(EVENT)
        self.map = np.zeros(SEATS, np.uint8)
        self.linked = False
        self.wire: list[bytes | str] = []
        self.requests: list[int] = []
        self.answers: list[tuple[int, Snapshot]] = []

    def consume(self, events: list[FeedEvent]) -> None:
        for event in events:
            if isinstance(event, SnapshotWanted):
                self.requests.append(event.request_no)
            elif isinstance(event, SnapshotTaken):
                self.map = event.snapshot.states.copy()
                self.at = (event.snapshot.epoch, event.snapshot.version)
            elif isinstance(event, DeltaTaken):
                assert event.delta.epoch == self.at[0], "a delta of another epoch"
                assert event.delta.from_version <= self.at[1], "a gap was applied"
                self.map[event.delta.seats] = event.delta.states
                self.at = (event.delta.epoch, event.delta.to_version)
            elif isinstance(event, LinkRefused):
                self.drop()

    def drop(self) -> None:
        self.linked = False
        self.wire.clear()
        self.consume(self.protocol.lose_link())

    @rule(seat=st.integers(0, SEATS - 1), state=st.integers(0, 4), width=st.integers(1, 3))
    def change(self, seat: int, state: int, width: int) -> None:
        first = self.version
        self.version += width
        self.truth[seat] = state
        self.history[self.epoch, self.version] = self.truth.copy()
        frame = delta(first, self.version, epoch=self.epoch, seat=seat, state=state)
        self.ring.append(frame)
        self.spans.append((first, self.version))
        if self.linked:
            self.wire.append(frame)

    @rule()
    def fail_over(self) -> None:
        self.epoch += 1
        self.ring.clear()
        self.spans.clear()
        self.history[self.epoch, self.version] = self.truth.copy()
        if self.linked:
            self.wire.append(text(FeedResync(epoch=self.epoch, version=self.version)))

    @precondition(lambda self: not self.linked)
    @rule()
    def link(self) -> None:
        self.consume(self.protocol.dial())
        position = self.protocol.position
        self.linked = True
        self.wire = [hello(self.version, epoch=self.epoch)]
        if position is not None and position.epoch == self.epoch:
            reach = [first for first, _ in self.spans]
            if position.version < self.version and (not reach or position.version not in reach):
                self.wire.append(text(FeedResync(epoch=self.epoch, version=self.version)))
            else:
                self.wire += [f for f, (_, last) in zip(self.ring, self.spans, strict=True) if last > position.version]

    @precondition(lambda self: self.linked)
    @rule()
    def cut(self) -> None:
        self.drop()

    @precondition(lambda self: self.linked)
    @rule(lost=st.booleans())
    def deliver(self, lost: bool) -> None:
        """One frame arrives; `lost` lets the server forget to send one, which must be noticed."""
        if self.wire:
            frame = self.wire.pop(0)
            if not (lost and isinstance(frame, bytes)):
                self.consume(self.protocol.receive(frame))

    @precondition(lambda self: self.linked and self.ring)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        if self.protocol.state is not FeedState.CONNECTING:
            self.consume(self.protocol.receive(data.draw(st.sampled_from(self.ring))))

    @precondition(lambda self: self.requests)
    @rule(old=st.booleans())
    def take_snapshot(self, old: bool) -> None:
        """The API reads a snapshot for the request, perhaps from a replica that lags."""
        versions = sorted(self.history)
        epoch, version = versions[-2] if old and len(versions) > 1 else versions[-1]
        states = self.history[epoch, version].copy()
        self.answers.append((self.requests.pop(0), Snapshot(EVENT, 1, epoch, version, Layout.STAFF, states)))

    @precondition(lambda self: self.answers)
    @rule(lost=st.booleans())
    def answer(self, lost: bool) -> None:
        request_no, found = self.answers.pop(0)
        events = self.protocol.fail_snapshot(request_no) if lost else self.protocol.receive_snapshot(request_no, found)
        self.consume(events)

    @precondition(lambda self: self.protocol.state is FeedState.STALE)
    @rule()
    def fall_back(self) -> None:
        self.consume(self.protocol.want_fallback())

    @invariant()
    def one_request_at_a_time(self) -> None:
        assert len(self.requests) + len(self.answers) <= 1

    @invariant()
    def map_is_a_state_that_the_server_had(self) -> None:
        position = self.protocol.position
        if position is not None:
            assert np.array_equal(self.map, self.history[position.epoch, position.version])

    def teardown(self) -> None:
        """Left alone on a good link, the map ends equal to the server's truth."""
        for _ in range(50):
            if not self.linked:
                self.link()
            while self.wire and self.linked:
                self.deliver(lost=False)
            if self.linked:
                self.consume(self.protocol.receive(beat(self.version, epoch=self.epoch)))
            while self.requests or self.answers:
                if self.requests:
                    self.take_snapshot(old=False)
                self.answer(lost=False)
            if self.protocol.state is FeedState.LIVE:
                break
        assert state_of(self.protocol) is FeedState.LIVE
        assert np.array_equal(self.map, self.truth)


LossyFeed.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestLossyFeed = LossyFeed.TestCase
