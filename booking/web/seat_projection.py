"""What this process knows of one event's seats: states and versions in memory, without I/O (R13, R14).

A projection starts from one consistent reading (states, seat versions, feed version) and moves by feed batches whose
versions are dense. The reading may already hold changes that the sequencer had not numbered yet, so each change
carries its seat's own version and the newer one wins. A hold that ends by its time alone leaves its seat at the hold's
version: of two changes with one version "free" wins. Batches are passed on to clients as they came, because another
process may have given the snapshot.

`changes_since` merges any stretch of recent batches into one delta. Its stretch need not start where a client's
snapshot stands: states are absolute, so a delta with `from_version <= mine < to_version` may be applied whole.
"""

from __future__ import annotations

import gzip
from collections import deque
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from backend_client import wire
from backend_client.seat_frames import (
    STATUS_MASK,
    Delta,
    Layout,
    Snapshot,
    States,
    encode_delta,
    encode_snapshot,
    to_public,
)

RING_BATCHES = 4096
RING_CHANGES = 262_144
FREE = np.uint32(0)  # available, held by nobody
_GZIP_LEVEL = 1  # 110 µs for 60,000 seats; level 6 takes eight times as long for 12 % fewer bytes

Words = npt.NDArray[np.uint32]


class FeedGapError(Exception):
    """A batch does not follow the one before, or names a seat the plan has not: the projection must be read anew."""

    code = "feed-gap"


@dataclass(frozen=True, slots=True)
class Batch:
    """One version of the feed: `words` are `seat_no << 8 | staff byte`, `seat_versions` belong to them one by one."""

    version: int
    words: Words
    seat_versions: Words

    @classmethod
    def from_body(cls, version: int, body: bytes) -> Batch:
        """Read the interleaved little-endian u32 pairs of `seat_feed.body`."""
        pairs = np.frombuffer(body, "<u4").reshape(-1, 2)
        return cls(version, pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32))


@dataclass(frozen=True, slots=True)
class PackedSnapshot:
    """A snapshot ready to be sent: its entity tag, and its bytes plain and gzipped."""

    etag: str
    plain: bytes
    gzipped: bytes


class SeatProjection:
    """The seats of one event at `(epoch, version)`."""

    def __init__(
        self, *, event_id: int, plan_version: int, epoch: int, version: int, states: States, seat_versions: Words
    ) -> None:
        self.event_id = event_id
        self.plan_version = plan_version
        self.epoch = epoch
        self.version = version
        self._states = states
        self._seat_versions = seat_versions
        self._ring: deque[Batch] = deque()
        self._ring_changes = 0
        self._packed: dict[Layout, PackedSnapshot] = {}
        self._frames: dict[tuple[int, int, Layout, bool], bytes] = {}

    @property
    def seat_count(self) -> int:
        return len(self._states)

    def states(self, layout: Layout) -> States:
        """A copy of all states in the layout asked for."""
        return to_public(self._states) if layout is Layout.PUBLIC else self._states.copy()

    def count_statuses(self) -> list[int]:
        """How many seats are in each of the eight statuses that a staff byte can tell."""
        counts: list[int] = np.bincount(self._states & STATUS_MASK, minlength=8).tolist()
        return counts

    def apply(self, batch: Batch) -> None:
        """Move to the next version.

        Raises:
            FeedGapError: `batch.version` is not the next one, or a seat is out of range; nothing has changed then.
        """
        if batch.version != self.version + 1:
            raise FeedGapError(f"event {self.event_id}: version {batch.version} after {self.version}")
        seats = batch.words >> np.uint32(8)
        if len(seats) and int(seats.max()) >= len(self._states):
            raise FeedGapError(f"event {self.event_id}: seat {int(seats.max())} of {len(self._states)}")
        known = self._seat_versions[seats]
        ended = (batch.seat_versions == known) & ((batch.words & np.uint32(0xFF)) == FREE)
        newer = (batch.seat_versions > known) | ended
        # A seat may change twice in a batch; of repeated indices numpy keeps the last, which is the newest.
        self._states[seats[newer]] = (batch.words[newer] & np.uint32(0xFF)).astype(np.uint8)
        self._seat_versions[seats[newer]] = batch.seat_versions[newer]
        self.version = batch.version
        self._packed.clear()
        self._frames.clear()
        self._remember(batch)

    def _remember(self, batch: Batch) -> None:
        self._ring.append(batch)
        self._ring_changes += len(batch.words)
        while len(self._ring) > RING_BATCHES or (self._ring_changes > RING_CHANGES and len(self._ring) > 1):
            self._ring_changes -= len(self._ring.popleft().words)

    def reaches_back_to(self, version: int) -> bool:
        """Whether the ring can take a client from `version` to now."""
        oldest = self._ring[0].version - 1 if self._ring else self.version
        return oldest <= version <= self.version

    def changes_since(self, since: int, layout: Layout) -> Delta:
        """All changes after `since`, each seat once with its last state.

        Raises:
            FeedGapError: the ring does not reach back that far (or `since` is ahead of this process).
        """
        if not self.reaches_back_to(since):
            raise FeedGapError(f"event {self.event_id}: the ring does not reach back to {since}")
        skip = len(self._ring) - (self.version - since)
        recent = [batch.words for index, batch in enumerate(self._ring) if index >= skip]
        words = np.concatenate(recent) if recent else np.empty(0, np.uint32)
        backwards = words[::-1]
        seats, last = np.unique(backwards >> np.uint32(8), return_index=True)
        states = (backwards[last] & np.uint32(0xFF)).astype(np.uint8)
        if layout is Layout.PUBLIC:
            states = to_public(states)
        return Delta(self.event_id, self.epoch, since, self.version, layout, seats.astype(np.uint32), states)

    def frame_since(self, since: int, layout: Layout, *, binary: bool) -> bytes:
        """`changes_since`, encoded; encoded once for all clients that stand at the same version."""
        key = (since, self.version, layout, binary)
        frame = self._frames.get(key)
        if frame is None:
            delta = self.changes_since(since, layout)
            frame = self._frames[key] = encode_delta(delta) if binary else _json_delta(delta)
        return frame

    def packed(self, layout: Layout) -> PackedSnapshot:
        """The snapshot at this version; packed and gzipped once a version and layout."""
        packed = self._packed.get(layout)
        if packed is None:
            plain = encode_snapshot(
                Snapshot(self.event_id, self.plan_version, self.epoch, self.version, layout, self.states(layout))
            )
            etag = f'"{self.epoch}-{self.version}-{layout.name.lower()}"'
            packed = self._packed[layout] = PackedSnapshot(etag, plain, gzip.compress(plain, _GZIP_LEVEL, mtime=0))
        return packed


def _json_delta(delta: Delta) -> bytes:
    changes = tuple(zip(delta.seats.tolist(), delta.states.tolist(), strict=True))
    return encode_text(
        wire.FeedDelta(epoch=delta.epoch, from_version=delta.from_version, to_version=delta.to_version, changes=changes)
    )


def encode_text(frame: wire.FeedText) -> bytes:
    """A text frame of the feed as UTF-8 JSON."""
    return msgspec.json.encode(frame)
