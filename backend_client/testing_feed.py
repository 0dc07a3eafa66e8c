"""The feeds of `FakeBookingServer`: links that tests cut, beats that come late, and what operators follow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import msgspec

from backend_client.seat_frames import encode_delta
from backend_client.testing_house import House
from backend_client.testing_ops import OpsDesk
from backend_client.wire import (
    FeedBeat,
    FeedHello,
    FeedResync,
    FeedTiers,
    TierCount,
)


class FakeFeedLink:
    """One client's end of the seat feed."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.open = True
        self.wants_tiers = False
        self.tiers_told: tuple[TierCount, ...] = ()

    def put(self, frame: str | bytes) -> None:
        """The server sends a frame."""
        self._frames.put_nowait(frame)

    def cut(self) -> None:
        """The link is lost."""
        self.open = False
        self._frames.put_nowait(None)

    async def recv(self) -> str | bytes:
        """The next frame."""
        frame = await self._frames.get()
        if frame is None:
            raise ConnectionResetError("the link was cut")
        return frame

    async def close(self) -> None:
        """The client hangs up."""
        self.open = False


@dataclass(slots=True)
class FeedSide:
    """What a server keeps of its feeds. `house` holds the rules and the state."""

    house: House = field(default_factory=House)
    feed_reachable: bool = True
    sequencer_late_s: float = 0.0
    """How long ago the feed says that changes were last numbered."""
    ops: OpsDesk = field(init=False)
    _links: list[FakeFeedLink] = field(default_factory=list)
    _ops_links: list[FakeFeedLink] = field(default_factory=list)
    _sent_deltas: int = 0

    async def dial(self, address: str, _headers: dict[str, str]) -> FakeFeedLink:
        """For `SeatFeed(dial=…)`: says hello, continues from the client's position if it can."""
        if not self.feed_reachable:
            raise ConnectionRefusedError("the feed is away")
        if "/ops/feed" in address:
            return self._open_ops()
        self.push_deltas()
        link = FakeFeedLink()
        house = self.house
        query = parse_qs(urlsplit(address).query)
        link.put(_text(FeedHello(
            event_id=house.event_id, epoch=house.epoch, version=house.version, server_time=house.now(),
            sequenced_at=self._sequenced_at(),
        )))  # fmt: skip
        if "since" in query and int(query["epoch"][0]) == house.epoch:
            missed = [delta for delta in house.deltas if delta.to_version > int(query["since"][0])]
            for delta in missed:
                link.put(encode_delta(delta))
        link.wants_tiers = query.get("tiers") == ["true"]
        self._links.append(link)
        self._push_tiers(link)
        return link

    def _open_ops(self) -> FakeFeedLink:
        link = FakeFeedLink()
        for text in self.ops.greet():
            link.put(text)
        self._ops_links.append(link)
        return link

    def _send_ops(self, text: str) -> None:
        for link in self._ops_links:
            if link.open:
                link.put(text)

    def push_deltas(self) -> None:
        """Send what changed to every open link; `set_seats` by hand needs it."""
        fresh, self._sent_deltas = self.house.deltas[self._sent_deltas :], len(self.house.deltas)
        for link in self.open_links:
            for delta in fresh:
                link.put(encode_delta(delta))
            self._push_tiers(link)

    def _push_tiers(self, link: FakeFeedLink) -> None:
        """What is left of the tiers, where that is asked for and new."""
        told = tuple(
            TierCount(tier_id=tier.tier_id, available=tier.available, capacity=tier.capacity)
            for tier in self.house.tiers
        )
        if link.wants_tiers and told != link.tiers_told:
            link.tiers_told = told
            link.put(_text(FeedTiers(tiers=told, server_time=self.house.now())))

    def beat(self) -> None:
        """Send a beat to every open link."""
        house = self.house
        frame = FeedBeat(
            epoch=house.epoch, version=house.version, server_time=house.now(), sequenced_at=self._sequenced_at()
        )
        for link in self.open_links:
            link.put(_text(frame))

    def _sequenced_at(self) -> datetime:
        return self.house.now() - timedelta(seconds=self.sequencer_late_s)

    def ask_resync(self) -> None:
        """Tell every open link that it must load the snapshot again."""
        for link in self.open_links:
            link.put(_text(FeedResync(epoch=self.house.epoch, version=self.house.version)))
            link.tiers_told = ()
            self._push_tiers(link)

    def cut_feeds(self) -> None:
        """Every link is lost."""
        for link in self.open_links:
            link.cut()

    def cut_ops_feeds(self) -> None:
        """Every link of operators is lost."""
        for link in self._ops_links:
            link.cut()

    @property
    def open_links(self) -> list[FakeFeedLink]:
        """Links that stand."""
        return [link for link in self._links if link.open]


def _text(message: msgspec.Struct) -> str:
    return msgspec.json.encode(message).decode()
