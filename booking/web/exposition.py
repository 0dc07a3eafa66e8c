"""`/metrics`: this process's counts and latencies, and the whole system's figures, as Prometheus reads them.

Text format 0.0.4. Counters and histograms are this process's own, for a scraper that asks each process; figures of the
whole system are the same from every one. Labels have few values, all of them ours: no account, order, card or address
is in here, and events are those that are watched, `MOST_EVENTS` at most.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate

from booking.domain.figures import FIGURES, Figure
from booking.figures.meter import FEED, Meter, RequestEnd, RequestKind
from booking.figures.model import Counts, ProcessPart, Second
from booking.figures.standing import Standing
from booking.histogram import largest_of

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_EVENTS = 50
OLD_AFTER_S = 30.0
"""Two scrapes: figures of the whole system that are older are left out, so that they end over there too."""
BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SCALES: Mapping[str, tuple[str, float]] = {
    "_ms": ("_seconds", 0.001), "_s": ("_seconds", 1.0), "_mb": ("_bytes", float(1 << 20)), "_share": ("_ratio", 1.0),
}  # fmt: skip


def exposition(meter: Meter, standing: Standing | None) -> str:
    """The whole page."""
    return "\n".join([*_requests(meter), *_latencies(meter), *_rest(meter), *_of_standing(standing), ""])


def _requests(meter: Meter) -> Iterator[str]:
    name = "taquilla_requests_total"
    yield from _head(name, "counter", "Requests answered by this process, by what was asked for and how it ended")
    for kind in RequestKind:
        for end in RequestEnd:
            yield f'{name}{{kind="{kind}",end="{end}"}} {meter.counts[f"{kind}:{end}"]}'


def _latencies(meter: Meter) -> Iterator[str]:
    name = "taquilla_request_duration_seconds"
    yield from _head(name, "histogram", "How long requests took that were not refused at the door")
    for kind in RequestKind:
        yield from _histogram(name, f'kind="{kind}"', meter.totals(kind), meter.seconds[kind])
    name = "taquilla_feed_lag_seconds"
    yield from _head(name, "histogram", "How long after they were due changes of maps were handed to clients")
    yield from _histogram(name, "", meter.totals(FEED), meter.seconds[FEED])


def _histogram(name: str, label: str, counts: Counts, total_s: float) -> Iterator[str]:
    """Cumulative buckets. A bucket of ours that a bound divides counts above it: at most 1.6 % off."""
    separator = "," if label else ""
    buckets = sorted(counts)
    upto = [0, *accumulate(counts[bucket] for bucket in buckets)]
    largest = [largest_of(bucket) for bucket in buckets]
    for bound in BOUNDS_S:
        within = upto[bisect_right(largest, bound * 1_000_000)]
        yield f'{name}_bucket{{{label}{separator}le="{bound:g}"}} {within}'
    whole = upto[-1]
    labels = f"{{{label}}}" if label else ""
    yield f'{name}_bucket{{{label}{separator}le="+Inf"}} {whole}'
    yield f"{name}_sum{labels} {_number(total_s)}"
    yield f"{name}_count{labels} {whole}"


def _rest(meter: Meter) -> Iterator[str]:
    name = "taquilla_provider_answers_total"
    yield from _head(name, "counter", "Answers of payment providers to this process")
    for end in ("done", "error"):
        yield f'{name}{{end="{end}"}} {meter.counts[f"provider:{end}"]}'
    name = "taquilla_feed_clients_dropped_total"
    yield from _head(name, "counter", "Clients of maps that were cut off because they took no frames")
    yield f"{name} {meter.counts['feed:dropped']}"


def _of_standing(standing: Standing | None) -> Iterator[str]:
    if standing is None:
        return
    yield from _head("taquilla_authority_up", "gauge", "Whether the database answered this process the last time")
    yield f"taquilla_authority_up {int(not standing.is_away)}"
    if standing.own is not None:
        yield from _own(standing.own)
    if standing.second is not None:
        yield from _house(standing.second, standing)


def _own(own: ProcessPart) -> Iterator[str]:
    for words, name, values in (
        ("The longest that a request waited for its batch in the last second", "taquilla_lane_queue_age_seconds",
         {lane.name: lane.queue_age_ms / 1000 for lane in own.lanes}),
        ("Requests that wait for a batch", "taquilla_lane_waiting", {lane.name: lane.waiting for lane in own.lanes}),
    ):  # fmt: skip
        yield from _head(name, "gauge", words)
        for lane, value in values.items():
            yield f'{name}{{lane="{lane}"}} {_number(value)}'
    for words, name, found in (
        ("Connections in use or asked for, the most of the last second", "taquilla_pool_in_use",
         {pool.name: pool.in_use for pool in own.pools}),
        ("Connections that there may be", "taquilla_pool_most", {pool.name: pool.most for pool in own.pools}),
    ):  # fmt: skip
        yield from _head(name, "gauge", words)
        for pool, count in found.items():
            yield f'{name}{{pool="{pool}"}} {count}'


def _house(second: Second, standing: Standing) -> Iterator[str]:
    """An alarm is open until somebody says otherwise; a figure is of its second."""
    name, age_s = "taquilla_figures_age_seconds", (standing.server_time() - second.measured_at).total_seconds()
    yield from _head(name, "gauge", f"Age of the whole system's figures, which are left out from {OLD_AFTER_S:g} s on")
    yield f"{name} {_number(max(0.0, age_s))}"
    if age_s < OLD_AFTER_S:
        yield from _figures(second)
    name = "taquilla_alarm"
    yield from _head(name, "gauge", "1 for each alarm that is open, as far as was heard")
    for alarm in second.alarms:
        yield f'{name}{{rule="{alarm.rule}",severity="{alarm.severity}"}} 1'


def _figures(second: Second) -> Iterator[str]:
    for figure in Figure:
        if figure in second.house:
            name, factor = _named("taquilla_house_", figure)
            yield from _head(name, "gauge", f"{FIGURES[figure].words} (whole system)")
            yield f"{name} {_number(second.house[figure] * factor)}"
    yield from _events(second)


def _events(second: Second) -> Iterator[str]:
    events = sorted(second.events.values(), key=lambda one: one.event_id)[:MOST_EVENTS]
    for figure in Figure:
        known = [one for one in events if figure in one.figures]
        if known:
            name, factor = _named("taquilla_event_", figure)
            yield from _head(name, "gauge", f"{FIGURES[figure].words} (of an event)")
            for one in known:
                yield f'{name}{{event_id="{one.event_id}"}} {_number(one.figures[figure] * factor)}'


def _named(prefix: str, figure: Figure) -> tuple[str, float]:
    """A figure's name in base units, and what its value is to be multiplied by."""
    if figure.endswith(("_per_s", "_per_min")):
        return f"{prefix}{figure}", 1.0
    for end, (base, factor) in _SCALES.items():
        if figure.endswith(end):
            return f"{prefix}{figure.removesuffix(end)}{base}", factor
    return f"{prefix}{figure}", 1.0


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(round(float(value), 9))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
