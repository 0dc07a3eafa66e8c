"""The seat feed without I/O: frames and snapshots in, events out (R13, S1, S2, S5, S7). One object per shown event.

The theory. A map is a snapshot at version V plus every delta after V, in order. The server numbers deltas densely
within an epoch. So the client joins the feed, buffers, asks for a snapshot, drops what the snapshot contains, and
applies the rest in order. A gap, or another epoch, means that something was missed: then the map is stale until one
new snapshot came. Never more than one snapshot request is outstanding. After a lost link the client asks the server to
continue from its version; if the server cannot, it says `resync`.

    CLOSED ──open──▶ CONNECTING ──hello──▶ BUFFERING ──snapshot fits──▶ LIVE
                         ▲  └─hello continues──▶ CATCHING_UP ──caught up──▶ LIVE
                         │                            │                     │
                         └──dial── STALE ◀──link lost─┴──────(any)──────────┘     gap, epoch, resync: ▶ BUFFERING
                                                                LIVE ──late──▶ LAGGING ──on time──▶ LIVE

Counts of general-admission tiers come as whole statements beside all this: they have no versions, and what they say is
so whatever the state. Frames of a type that this program does not know are ignored: servers are newer than consoles.

Only in LIVE does the map show all that happened. A good link is not enough: the server also says when its changes were
last numbered, and when that is long ago they do not come (LAGGING).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec
import numpy as np

from backend_client.seat_frames import (
    Delta,
    FrameError,
    Layout,
    PublicState,
    SeatNumbers,
    Snapshot,
    States,
    decode_delta,
)
from backend_client.wire import (
    FEED_LATE_S,
    EventId,
    FeedBeat,
    FeedDelta,
    FeedHello,
    FeedResync,
    FeedText,
    FeedTiers,
    TierCount,
)


class FeedState(StrEnum):
    CLOSED = "closed"
    CONNECTING = "connecting"
    CATCHING_UP = "catching-up"
    BUFFERING = "buffering"
    LIVE = "live"
    LAGGING = "lagging"
    STALE = "stale"


class Signal(StrEnum):
    """What moves the state."""

    DIAL = "dial"
    HELLO_FRESH = "hello-fresh"
    HELLO_BEHIND = "hello-behind"
    HELLO_CURRENT = "hello-current"
    MISSED = "missed"
    CAUGHT_UP = "caught-up"
    LATE = "late"
    ON_TIME = "on-time"
    RENEW = "renew"
    LINK_LOST = "link-lost"
    CLOSE = "close"


_S, _T = FeedState, Signal
_LINKED = (_S.CONNECTING, _S.CATCHING_UP, _S.BUFFERING, _S.LIVE, _S.LAGGING)

TRANSITIONS: Mapping[tuple[FeedState, Signal], FeedState] = {
    (_S.CLOSED, _T.DIAL): _S.CONNECTING,
    (_S.STALE, _T.DIAL): _S.CONNECTING,
    (_S.CONNECTING, _T.HELLO_FRESH): _S.BUFFERING,
    (_S.CONNECTING, _T.HELLO_BEHIND): _S.CATCHING_UP,
    (_S.CONNECTING, _T.HELLO_CURRENT): _S.LIVE,
    (_S.CATCHING_UP, _T.CAUGHT_UP): _S.LIVE,
    (_S.CATCHING_UP, _T.MISSED): _S.BUFFERING,
    (_S.BUFFERING, _T.CAUGHT_UP): _S.LIVE,
    (_S.BUFFERING, _T.MISSED): _S.BUFFERING,
    (_S.LIVE, _T.MISSED): _S.BUFFERING,
    (_S.LIVE, _T.LATE): _S.LAGGING,
    (_S.LAGGING, _T.ON_TIME): _S.LIVE,
    (_S.LAGGING, _T.MISSED): _S.BUFFERING,
    **{(state, _T.RENEW): _S.CONNECTING for state in _LINKED},
    **{(state, _T.LINK_LOST): _S.STALE for state in _LINKED},
    **{(state, _T.CLOSE): _S.CLOSED for state in (*_LINKED, _S.STALE)},
}


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: FeedState


@dataclass(frozen=True, slots=True)
class SnapshotWanted:
    """Ask the API for a snapshot and hand it to `receive_snapshot` with this number; never two at a time.

    `retry` is true when the last answer did not help (it lagged behind the feed): wait a little first.
    """

    request_no: int
    retry: bool


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class DeltaTaken:
    delta: Delta


@dataclass(frozen=True, slots=True)
class ServerTimeHeard:
    """The server's clock, on its hello: read after the dialling began and before the frame came."""

    server_time: datetime


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The map shows all that happened until now, though nothing new came."""


@dataclass(frozen=True, slots=True)
class TiersTaken:
    """What is left of every general-admission tier of this event."""

    event_id: EventId
    tiers: tuple[TierCount, ...]


@dataclass(frozen=True, slots=True)
class LinkRefused:
    """The peer broke the protocol: drop the link and dial again later."""

    reason: str


FeedEvent = (
    StateChanged | SnapshotWanted | SnapshotTaken | DeltaTaken | TiersTaken | ServerTimeHeard | Confirmed | LinkRefused
)


class _Frame(msgspec.Struct):
    """What every text frame has."""

    type: str


_Text = FeedHello | FeedBeat | FeedResync | FeedDelta | FeedTiers
_decoder = msgspec.json.Decoder(FeedText)
_frame_decoder = msgspec.json.Decoder(_Frame)
_KNOWN_TYPES = frozenset(kind.__struct_config__.tag for kind in (FeedHello, FeedBeat, FeedResync, FeedDelta, FeedTiers))


@dataclass(frozen=True, slots=True)
class Position:
    """Where the map stands: all deltas up to `version` of `epoch` are in it."""

    epoch: int
    version: int


class SeatFeedProtocol:
    """See the module. Every input returns the events it caused, in order."""

    def __init__(self, event_id: EventId) -> None:
        self.event_id = event_id
        self.state = FeedState.CLOSED
        self.position: Position | None = None
        self._feed: Position | None = None
        """How far the server's feed is known to be."""
        self._late = False
        """The server's changes were last numbered too long ago for the map to be right."""
        self._buffer: list[Delta] = []
        self._request_no = 0
        self._outstanding = False

    # ------------------------------------------------------------ the link

    def dial(self) -> list[FeedEvent]:
        """A connection is being made, perhaps in place of a good one.

        `position` goes into its address, so that the server may continue from there.
        """
        self._buffer.clear()
        self._feed = None
        return self._move(Signal.RENEW if self.state in _LINKED else Signal.DIAL)

    def lose_link(self) -> list[FeedEvent]:
        """The connection ended, or was silent for too long."""
        self._buffer.clear()
        return self._move(Signal.LINK_LOST) if (self.state, Signal.LINK_LOST) in TRANSITIONS else []

    def close(self) -> list[FeedEvent]:
        """The event is no longer shown; frames still in flight are ignored from now on (S7)."""
        self._buffer.clear()
        self._outstanding = False
        self._request_no += 1
        return self._move(Signal.CLOSE) if (self.state, Signal.CLOSE) in TRANSITIONS else []

    def receive(self, frame: bytes | str) -> list[FeedEvent]:
        """A frame of the link: binary deltas as bytes, messages as text."""
        if self.state not in _LINKED:
            return []
        return self._judged(self._take(frame))

    def _take(self, frame: bytes | str) -> list[FeedEvent]:
        try:
            message = decode_delta(frame) if isinstance(frame, bytes) else self._parse(frame)
        except (FrameError, msgspec.DecodeError) as error:
            return [LinkRefused(str(error))]
        if message is None:
            return []
        if isinstance(message, FeedHello):
            return self._take_hello(message)
        if self.state is FeedState.CONNECTING:
            return [LinkRefused("the first frame is no hello")]
        if isinstance(message, FeedTiers):
            return [TiersTaken(self.event_id, message.tiers)]
        if isinstance(message, FeedBeat):
            self._late = _is_late(message)
            return self._take_claim(Position(message.epoch, message.version))
        if isinstance(message, FeedResync):
            self._feed = Position(message.epoch, message.version)
            return self._miss()
        return self._take_delta(message)

    def _parse(self, text: str) -> FeedHello | FeedBeat | FeedResync | FeedTiers | Delta | None:
        """A frame; None for one of a type from after this program."""
        if _frame_decoder.decode(text).type not in _KNOWN_TYPES:
            return None
        message: _Text = _decoder.decode(text)
        return _delta_of_json(message, self.event_id) if isinstance(message, FeedDelta) else message

    # ------------------------------------------------------------ what the server says

    def _take_hello(self, hello: FeedHello) -> list[FeedEvent]:
        if self.state is not FeedState.CONNECTING or hello.event_id != self.event_id:
            return [LinkRefused("hello out of turn, or for another event")]
        self._feed = Position(hello.epoch, hello.version)
        self._late = _is_late(hello)
        heard: list[FeedEvent] = [ServerTimeHeard(hello.server_time)]
        if self.position is None or self.position.epoch != hello.epoch:
            return [*heard, *self._move(Signal.HELLO_FRESH), *self._want_snapshot(retry=False)]
        if self.position.version < hello.version:
            return [*heard, *self._move(Signal.HELLO_BEHIND)]
        return [*heard, *self._move(Signal.HELLO_CURRENT)]

    def _take_claim(self, claim: Position) -> list[FeedEvent]:
        """A beat: on this link all deltas up to `claim` have been sent."""
        if self.state is FeedState.BUFFERING:
            if self._feed is None or self._feed.epoch != claim.epoch:
                self._buffer.clear()
            self._claim(claim)
            return []
        self._claim(claim)
        position = self.position
        if position is None or position.epoch != claim.epoch or position.version < claim.version:
            return self._miss()
        if self.state is FeedState.LIVE and not self._late:
            return [Confirmed()]
        return self._catch_up()

    def _judged(self, events: list[FeedEvent]) -> list[FeedEvent]:
        """From LIVE to LAGGING and back, as the last frame says; nobody is told LIVE in passing."""
        if self.state is FeedState.LIVE and self._late:
            rest = [event for event in events if event != StateChanged(FeedState.LIVE)]
            return [*rest, *self._move(Signal.LATE)]
        if self.state is FeedState.LAGGING and not self._late:
            return [*events, *self._move(Signal.ON_TIME)]
        return events

    def _take_delta(self, delta: Delta) -> list[FeedEvent]:
        if delta.event_id != self.event_id:
            return []
        self._claim(Position(delta.epoch, delta.to_version))
        self._late = False  # it has just been numbered
        if self.state is FeedState.BUFFERING:
            if self._buffer and self._buffer[-1].epoch != delta.epoch:
                self._buffer.clear()
            self._buffer.append(delta)
            return []
        if not self._follows(delta):
            missed = self._miss()
            self._buffer.append(delta)
            return missed
        return [*self._apply(delta), *self._catch_up()]

    def _claim(self, claim: Position) -> None:
        """The server has got so far; within an epoch it never goes back."""
        if self._feed is None or claim.epoch != self._feed.epoch or claim.version > self._feed.version:
            self._feed = claim

    def _follows(self, delta: Delta) -> bool:
        position = self.position
        return position is not None and position.epoch == delta.epoch and delta.from_version <= position.version

    def _apply(self, delta: Delta) -> list[FeedEvent]:
        """Take a delta that follows. States are absolute, so one that overlaps the position is taken whole."""
        position = self.position
        if position is None or delta.to_version <= position.version:
            return []
        self.position = Position(delta.epoch, delta.to_version)
        return [DeltaTaken(delta)]

    def _catch_up(self) -> list[FeedEvent]:
        """LIVE, once the position has reached what the server claimed."""
        if self.state is not FeedState.CATCHING_UP or self._feed is None or self.position is None:
            return []
        return self._move(Signal.CAUGHT_UP) if self.position.version >= self._feed.version else []

    # ------------------------------------------------------------ snapshots

    def receive_snapshot(self, request_no: int, snapshot: Snapshot) -> list[FeedEvent]:
        """The snapshot that `SnapshotWanted` asked for; late ones and those of another event are ignored."""
        if request_no != self._request_no or not self._outstanding or snapshot.event_id != self.event_id:
            return []
        self._outstanding = False
        if self.state is not FeedState.BUFFERING or self._feed is None:
            return self._take_outside(snapshot)
        rest = self._rest_after(snapshot)
        if rest is None:
            return self._want_snapshot(retry=True)
        self.position = Position(snapshot.epoch, snapshot.version)
        events: list[FeedEvent] = [SnapshotTaken(snapshot)]
        for delta in rest:
            events += self._apply(delta)
        self._buffer.clear()
        if self.position.version < self._feed.version:
            return [*events, *self._want_snapshot(retry=True)]
        return self._judged([*events, *self._move(Signal.CAUGHT_UP)])

    def fail_snapshot(self, request_no: int) -> list[FeedEvent]:
        """No snapshot came for this request; another is wanted while it is still needed."""
        if request_no != self._request_no or not self._outstanding:
            return []
        self._outstanding = False
        return self._want_snapshot(retry=True) if self.state is FeedState.BUFFERING else []

    def want_fallback(self) -> list[FeedEvent]:
        """While there is no link: ask for a snapshot now and then, so that the map is old rather than wrong (R15)."""
        return self._want_snapshot(retry=False) if self.state is FeedState.STALE else []

    def _take_outside(self, snapshot: Snapshot) -> list[FeedEvent]:
        """A snapshot that came without a link or while it is being made: newer is better than older."""
        if self.state is FeedState.CLOSED:
            return []
        old = self.position
        if self.state in (FeedState.LIVE, FeedState.LAGGING, FeedState.CATCHING_UP):
            return []
        if old is not None and (snapshot.epoch, snapshot.version) <= (old.epoch, old.version):
            return []
        self.position = Position(snapshot.epoch, snapshot.version)
        return [SnapshotTaken(snapshot)]

    def _rest_after(self, snapshot: Snapshot) -> list[Delta] | None:
        """Buffered deltas that the snapshot lacks (S1); None when it does not reach them or is of another epoch."""
        if self._feed is None or snapshot.epoch != self._feed.epoch:
            return None
        rest = [delta for delta in self._buffer if delta.to_version > snapshot.version]
        version = snapshot.version
        for delta in rest:
            if delta.from_version > version:
                return None
            version = delta.to_version
        return rest

    def _miss(self) -> list[FeedEvent]:
        self._buffer.clear()
        return [*self._move(Signal.MISSED), *self._want_snapshot(retry=False)]

    def _want_snapshot(self, *, retry: bool) -> list[FeedEvent]:
        if self._outstanding:
            return []
        self._outstanding = True
        self._request_no += 1
        return [SnapshotWanted(self._request_no, retry)]

    def _move(self, signal: Signal) -> list[FeedEvent]:
        before, self.state = self.state, TRANSITIONS[self.state, signal]
        return [] if self.state is before else [StateChanged(self.state)]


def _is_late(message: FeedHello | FeedBeat) -> bool:
    """Whether the changes were last numbered too long ago; a server from before this was said is trusted."""
    if message.sequenced_at is None:
        return False
    return (message.server_time - message.sequenced_at).total_seconds() > FEED_LATE_S


def _delta_of_json(message: FeedDelta, event_id: EventId) -> Delta:
    """The JSON form carries public states and no event id: the link is the event's."""
    try:
        seats: SeatNumbers = np.array([seat for seat, _ in message.changes], np.uint32)
        states: States = np.array([PublicState(state) for _, state in message.changes], np.uint8)
    except (OverflowError, ValueError) as error:
        raise FrameError(f"a change that is none: {error}") from error
    return Delta(event_id, message.epoch, message.from_version, message.to_version, Layout.PUBLIC, seats, states)
