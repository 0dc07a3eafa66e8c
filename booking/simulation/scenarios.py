"""Who comes, when, how they behave, and what the sale can bear; with presets for the three documents' figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from booking.simulation.rates import number

FIFO, RANDOM_THEN_FIFO = "fifo", "random-then-fifo"
MOST_VISITORS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One opening. Times in seconds from the opening, shares from 0 to 1.

    Visitors: `early` of them come in the `early_s` before the opening, `burst` right after it (exponential with mean
    `burst_s`), the rest evenly until `arrive_s`. A page is `page_requests` at the edge. Who waits asks for the place as
    often as the room says (`away_after_s` and `collect_within_s` are its settings), reloads the page `reloads_per_min`
    times a minute and loses patience (log-normal, median `patience_s`). Without a room (`room` False) everybody is let
    in and reloads the map `reloads_per_min` times.

    Shoppers look for `look_s` on average, reload the map every `map_every_s`, want 1 to 6 seats (`wanted`), by Zipf's
    exponent `skew` over what a map that is up to `map_age_s` old shows free; `buyers` of those with a hold buy after
    `form_s`; the others give back (`releases`) or let the hold end after `hold_ttl_s`. `payments_per_s` is what the
    provider takes, `pay_s` how long one takes, `declines` how many it declines.
    """

    name: str
    source: str
    visitors: int
    seats: int
    arrive_s: int = 300
    early: float = 0.35
    early_s: int = 1_800
    burst: float = 0.2
    burst_s: float = 20.0
    page_requests: float = 4.0
    away_after_s: float = 120.0
    collect_within_s: float = 60.0
    reloads_per_min: float = 0.1
    patience_s: float = 2_400.0
    policy: str = RANDOM_THEN_FIFO
    room: bool = True
    cap_per_minute: float = 2_000.0
    total_active_users: int = 20_000
    look_s: float = 60.0
    map_every_s: float = 5.0
    map_age_s: float = 1.5
    wanted: tuple[float, float, float, float, float, float] = (0.10, 0.45, 0.15, 0.20, 0.04, 0.06)
    skew: float = 0.8
    hold_tries: int = 4
    buyers: float = 0.6
    releases: float = 0.3
    form_s: float = 60.0
    hold_ttl_s: float = 300.0
    payments_per_s: float = 1_000.0
    pay_s: float = 3.0
    declines: float = 0.05
    events: int = 1
    longest_s: int = 7_200
    edge_told_per_s: float = 0.0
    slow_from_s: int = 0
    slow_for_s: int = 0
    slower: float = 1.0

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name}: from {least:,g} to {most:,g}, not {getattr(self, name)!r}")
        if self.early + self.burst > 1:
            raise ValueError("burst: early and burst together are more than everybody")
        if self.policy not in {FIFO, RANDOM_THEN_FIFO}:
            raise ValueError(f"policy: {FIFO} or {RANDOM_THEN_FIFO}, not {self.policy!r}")
        if min(self.wanted) < 0 or abs(sum(self.wanted) - 1) > 0.001:
            raise ValueError("wanted: six shares that add up to 1 are needed")


_SHARE = (0.0, 1.0)
_BOUNDS: dict[str, tuple[float, float]] = {
    "visitors": (1, MOST_VISITORS), "seats": (6, 240_000), "arrive_s": (1, 86_400), "early": _SHARE, "burst": _SHARE,
    "collect_within_s": (10, 600), "early_s": (1, 86_400), "burst_s": (0.1, 3_600), "page_requests": (0, 100),
    "away_after_s": (30, 3_600),
    "reloads_per_min": (0, 60), "patience_s": (1, 86_400), "cap_per_minute": (1, 600_000),
    "total_active_users": (1, 10**7), "look_s": (1, 3_600),
    "map_every_s": (0.5, 600), "map_age_s": (0, 60), "skew": (0, 0.99), "hold_tries": (1, 20),
    "buyers": _SHARE, "releases": _SHARE, "form_s": (1, 3_600), "hold_ttl_s": (10, 3_600), "payments_per_s": (0.1, 1e6),
    "pay_s": (0, 600), "declines": _SHARE, "events": (1, 10_000), "longest_s": (10, 86_400),
    "edge_told_per_s": (0, 1e9), "slow_from_s": (0, 86_400), "slow_for_s": (0, 86_400), "slower": (1, 1_000),
}  # fmt: skip

PRESETS = {
    "two-million": Scenario(
        name="two-million", source="the Japanese document: 2,000,000 in five minutes, 50,000 requests/s at the edge, "
        "50,000 seats, 2,000 holds/s, 1,000 authorizations/s, five minutes of hold",
        visitors=2_000_000, seats=50_000, burst=0.1, burst_s=30.0, page_requests=2.0, cap_per_minute=30_000.0,
        total_active_users=60_000, reloads_per_min=0.05, edge_told_per_s=50_000.0,
    ),
    "stadium": Scenario(
        name="stadium", source="the Arabic document: a million at the opening, 60,000 seats, 2,000 let in a minute, "
        "five minutes at the map, reloaded every five seconds, two holds, 2.5 tickets, 60 % buy",
        visitors=1_000_000, seats=60_000, early=0.5, burst=0.4, cap_per_minute=2_000.0, look_s=240.0, form_s=60.0,
        hold_ttl_s=600.0, wanted=(0.15, 0.45, 0.15, 0.20, 0.03, 0.02), total_active_users=15_000,
    ),
    "ordinary-day": Scenario(
        name="ordinary-day", source="the Portuguese document: 2,000,000 map reads and 50,000 holds a day, twenty "
        "times the mean at the peak: 463 reads/s and 11.6 holds/s for five minutes, all to one event: the worst case",
        visitors=3_470, seats=20_000, room=False, early=0.0, burst=0.2, burst_s=5.0, look_s=200.0,
        cap_per_minute=600_000.0, map_every_s=5.0, page_requests=4.0, longest_s=1_800,
    ),
}  # fmt: skip


def scenario_of(document: object, base: Scenario) -> Scenario:
    """A scenario from a parsed JSON object whose members are fields of Scenario; what it leaves out is as in `base`.

    Raises:
        ValueError: a member is unknown, of another kind or out of bounds. Names the field.
    """
    if not isinstance(document, dict):
        raise ValueError("scenario: an object is needed")  # noqa: TRY004 - a fault of the file
    known = {one.name: one for one in fields(Scenario)}
    changes: dict[str, object] = {}
    for name, value in document.items():
        if name not in known:
            raise ValueError(f"{name}: there is no such setting of a scenario")
        changes[name] = _read(document, name, value, getattr(base, name))
    return replace(base, **changes)  # type: ignore[arg-type]


def _read(document: Mapping[str, object], name: str, value: object, usual: object) -> object:
    if isinstance(usual, bool | str):
        if not isinstance(value, type(usual)):
            raise ValueError(f"{name}: {type(usual).__name__} is needed, not {value!r}")  # noqa: TRY004
        return value
    if isinstance(usual, tuple):
        if not isinstance(value, list):
            raise ValueError(f"{name}: a list is needed")  # noqa: TRY004
        if len(value) != len(usual):
            raise ValueError(f"{name}: {len(usual)} numbers are needed")
        return tuple(number({name: one}, name) for one in value)
    read = number(document, name)
    if isinstance(usual, int):
        if read != int(read):
            raise ValueError(f"{name}: a whole number is needed, not {value!r}")
        return int(read)
    return read
