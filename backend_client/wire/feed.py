"""The text frames of the seat feed; binary frames live in `backend_client.seat_frames`."""

from __future__ import annotations

from datetime import datetime

from backend_client.wire.base import EventId, Message


class FeedHello(Message, frozen=True, kw_only=True, tag="hello", tag_field="type"):
    """First frame on a feed: where the server stands, and when changes were last known to be numbered."""

    event_id: EventId
    epoch: int
    version: int
    server_time: datetime
    sequenced_at: datetime | None = None


class FeedBeat(Message, frozen=True, kw_only=True, tag="beat", tag_field="type"):
    """Sent when nothing changed for `FEED_BEAT_S`, so that a silent link is noticed (G3).

    Much older than `server_time`, `sequenced_at` says that changes would not come, though the link is good.
    """

    epoch: int
    version: int
    server_time: datetime
    sequenced_at: datetime | None = None


class FeedResync(Message, frozen=True, kw_only=True, tag="resync", tag_field="type"):
    """The server cannot continue from where the client stands: load the snapshot again."""

    epoch: int
    version: int


class FeedDelta(Message, frozen=True, kw_only=True, tag="delta", tag_field="type"):
    """JSON form of a delta: `changes` is (seat_no, state) pairs; versions are dense (R13)."""

    epoch: int
    from_version: int
    to_version: int
    changes: tuple[tuple[int, int], ...]


class TierCount(Message, frozen=True, kw_only=True):
    """How many places of a tier are left, of how many; as `Tier` counts them."""

    tier_id: int
    available: int
    capacity: int


class FeedTiers(Message, frozen=True, kw_only=True, tag="tiers", tag_field="type"):
    """What is left of every general-admission tier (R11): a whole statement; the newest on a link counts.

    Sent to those alone who ask for it (`tiers=true`): after the hello, after a resync, and when a count has changed.
    """

    tiers: tuple[TierCount, ...]
    server_time: datetime


FeedText = FeedHello | FeedBeat | FeedResync | FeedDelta | FeedTiers
FEED_BEAT_S = 2.0
FEED_LATE_S = 5.0
"""A map is out of date when no change has been numbered for so long, changes or none."""
FEED_TOKEN_EXPIRED = 4401
"""Close code of a feed whose access token has run out: dial again with a fresh one, continuing from the position."""
