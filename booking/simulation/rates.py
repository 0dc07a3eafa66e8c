"""What one process, one core, one shard can do: measured figures, each with where it comes from.

A file is JSON: `{"hold_per_s": 7160, …}` with the names below, or what `bench holds --json` prints, or a rush report;
what a file does not say keeps its default. The defaults are the README's table (two shared cores, PostgreSQL 18.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite

README = "README, bench on two shared cores"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates per second of one process or shard; CPU of the API in µs a request; `sources` by field name.

    The shard's five kinds of work share one writer: each takes `1 / rate` of its second.
    """

    edge_per_s: float = 20_000.0
    room_joins_per_s: float = 2_000.0
    room_polls_per_s: float = 8_000.0
    hold_per_s: float = 7_160.0
    checkout_per_s: float = 2_356.0
    payment_per_s: float = 2_863.0
    confirm_per_s: float = 2_075.0
    status_per_s: float = 12_236.0
    hold_api_us: float = 233.0
    checkout_api_us: float = 275.0
    status_api_us: float = 64.0
    map_api_us: float = 35.0
    hold_base_ms: float = 9.0
    headroom: float = 0.6
    sources: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "sources" and not (isfinite(value) and value > 0):
                raise ValueError(f"{one.name}: a number above 0 is needed, not {value}")
        if self.headroom > 1:
            raise ValueError("headroom: a share above 0 and up to 1 is needed")

    def source(self, name: str) -> str:
        """Where a figure comes from, in a few words."""
        return (self.sources or {}).get(name) or SOURCES[name]


SOURCES = {
    "edge_per_s": "one core that serves files and 304s at 28 to 50 µs each (granian), not a CDN's figure",
    "room_joins_per_s": "bench room: 2,304 within the process, each durable, less what HTTP takes",
    "room_polls_per_s": "bench room: 14,217 within the process, a little more than half of it over HTTP",
    "hold_per_s": f"{README}: the hold lane",
    "checkout_per_s": "bench payments, lanes",
    "payment_per_s": "bench payments, lanes",
    "confirm_per_s": "bench payments, lanes",
    "status_per_s": "bench payments, lanes",
    "hold_api_us": f"{README}: a hold over HTTP",
    "checkout_api_us": "bench payments --http",
    "status_api_us": "measured before the project: order status, Starlette on granian",
    "map_api_us": "measured before the project: packed map, Starlette on granian",
    "hold_base_ms": f"{README}: a hold at 20 a second",
    "headroom": "the share of what was measured that is planned with",
}
_NAMES = frozenset(SOURCES)


def rates_of(document: object, name: str, base: Rates | None = None) -> Rates:
    """Rates from a parsed JSON document; `name` is written beside each figure that it gave.

    Raises:
        ValueError: it is none of the three kinds, or a figure in it is no number above 0. Names the field.
    """
    base = base or Rates()
    if not isinstance(document, dict):
        raise ValueError("rates: an object is needed")  # noqa: TRY004 - a fault of the file
    if "lane_per_s" in document:
        found = _of_bench(document)
    elif "cpu_s" in document and "kinds" in document:
        found = _of_rush(document)
    else:
        unknown = sorted(set(document) - _NAMES)
        if unknown:
            raise ValueError(f"{unknown[0]}: there is no such rate; known are {', '.join(sorted(_NAMES))}")
        found = {key: number(document, key) for key in document}
    told = {**(base.sources or {}), **dict.fromkeys(found, name)}
    return replace(base, **found, sources=told)


def _of_bench(document: Mapping[str, object]) -> dict[str, float]:
    """`bench holds --json`: the lane's rate, and the API's CPU of a hold over HTTP."""
    found = {"hold_per_s": number(document, "lane_per_s")}
    cpu = document.get("cpu_us")
    if isinstance(cpu, dict) and "api" in cpu:
        found["hold_api_us"] = number(cpu, "api")
    return found


def _of_rush(document: Mapping[str, object]) -> dict[str, float]:
    """A rush report says the API's CPU for all requests together, and the hold's median."""
    found: dict[str, float] = {}
    cpu, kinds, done = document["cpu_s"], document["kinds"], document.get("done")
    if isinstance(cpu, dict) and "API" in cpu and done:
        at_api = number(document, "done") - _done_at_the_room(kinds)
        found["hold_api_us"] = found["checkout_api_us"] = 1e6 * number(cpu, "API") / max(at_api, 1.0)
    at_room = _done_at_the_room(kinds)
    if isinstance(cpu, dict) and cpu.get("room") and at_room:
        # What the room's process could do with a whole core, joins and polls alike.
        found |= dict.fromkeys(("room_joins_per_s", "room_polls_per_s"), at_room / number(cpu, "room"))
    hold = kinds.get("hold") if isinstance(kinds, dict) else None
    if isinstance(hold, dict) and hold.get("p50_ms"):
        found["hold_base_ms"] = number(hold, "p50_ms")
    return found


def _done_at_the_room(kinds: object) -> float:
    """Calls of a rush report that the waiting room answered, not the API."""
    if not isinstance(kinds, dict):
        return 0.0
    return sum(number(kind, "done") for name in ("join", "poll", "leave") if isinstance(kind := kinds.get(name), dict))


def number(document: Mapping[str, object], name: str) -> float:
    """A number of a JSON object.

    Raises:
        ValueError: it is missing or something else. Names the field.
    """
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{name}: a number is needed, not {value!r}")
    return float(value)
