"""What a run is: the traffic, its bounds, and where it goes; handed to each sender as JSON."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from booking import crowd

LARGEST_RATE_PER_S = 20_000.0
LONGEST_S = 600.0
MOST_REQUESTS = 5_000_000
MOST_SEATS = 240_000
MOST_PROCESSES = 8
MOST_CONNECTIONS = 4_000
MOST_ACCOUNTS = 200_000
MOST_OPEN = 50_000
"""Requests that one sender has under way or waiting for a connection at once; more fail unsent, memory is bounded."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """What the crowd does. Rates are per second, shares from 0 to 1.

    `groups` is the share of arrivals that are friends who want overlapping seats; `double_clicks` of holds that are
    sent twice under one key; `buyers` of winners that check out and pay; `releases` of the others that give the seats
    back; `patience` of clients that do as Retry-After says, the others try no more. With `fans` so many people come
    through a waiting room, at `rate`, each once: `look_s` is how long they look at the map, `form_s` at the form:
    least, most, most often.
    """

    rate: float
    maps_per_s: float
    seconds: float
    shape: str
    skew: float
    groups: float = 0.1
    double_clicks: float = 0.05
    buyers: float = 0.5
    releases: float = crowd.RELEASES
    patience: float = 0.7
    declines: float = crowd.DECLINES
    fans: int = 0
    look_s: tuple[float, float, float] = (2.0, 15.0, 5.0)
    form_s: tuple[float, float, float] = (2.0, 12.0, 5.0)

    def shared_by(self, processes: int) -> Traffic:
        """The part of one of several senders."""
        return msgspec.structs.replace(self, rate=self.rate / processes, maps_per_s=self.maps_per_s / processes)

    @property
    def arrivals_last_s(self) -> float:
        """How long people go on coming."""
        return self.fans / self.rate if self.fans else self.seconds


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """An API's address."""

    host: str
    port: int
    tls: bool

    @property
    def named(self) -> str:
        """As it stands in a Host header."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.named}"

    @classmethod
    def of_url(cls, url: str) -> Server:
        """Read `http[s]://host[:port]`.

        Raises:
            ValueError: it is something else.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("an address like http://127.0.0.1:8080 is needed")
        if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
            raise ValueError("the address of a server has no path and no user")
        tls = parts.scheme == "https"
        return cls(host=parts.hostname, port=parts.port or (443 if tls else 80), tls=tls)


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """The event that is rushed: one price for each seat in seat order, minor units of `price_type_id`."""

    event_id: int
    prices: tuple[int, ...]
    price_type_id: int


class SenderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one sender process. `starts_at` is seconds of the wall clock: all senders begin together.

    With a `room` its `fans` are those from number `first_fan` on: who somebody is depends on the number and seed alone.
    """

    server: Server
    sale: Sale
    traffic: Traffic
    tokens: tuple[str, ...]
    connections: int
    most_requests: int
    drain_s: float
    timeout_s: float
    seed: int
    starts_at: float
    room: Server | None = None
    first_fan: int = 0
    fans: int = 0
    seed_of_fans: int = 0
