"""Minutes out of seconds: what is kept of a sale for ever, or as long as its event is (R42)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from booking.domain.figures import FIGURES, Figure, Roll
from booking.figures.model import Minute, Second
from booking.figures.sums import merged, quantiles_of

HOUSE = 0
"""The event number under which the whole system's minutes are kept."""


def minute_of(seconds: Sequence[Second]) -> dict[int, Minute]:
    """The minute that these seconds make, by event; empty without a second."""
    if not seconds:
        return {}
    latencies = quantiles_of(merged(second.latencies for second in seconds))
    found = {HOUSE: _minute([second.house for second in seconds], latencies)}
    events = {event_id for second in seconds for event_id in second.events}
    for event_id in events:
        parts = [second.events[event_id].figures for second in seconds if event_id in second.events]
        found[event_id] = _minute(parts, {})
    return found


def _minute(parts: Sequence[Mapping[str, float]], latencies: Mapping[str, float]) -> Minute:
    names = {name for part in parts for name in part}
    series = {name: [part[name] for part in parts if name in part] for name in names}
    values = {name: _value(name, found, latencies) for name, found in series.items()}
    return Minute(values=values, worst={name: _worst(name, found) for name, found in series.items()})


def _value(name: str, found: Sequence[float], latencies: Mapping[str, float]) -> float:
    roll = _roll_of(name)
    if roll is Roll.LATENCIES and name in latencies:
        return latencies[name]
    return found[-1] if roll is Roll.LAST else sum(found) / len(found)


def _worst(name: str, found: Iterable[float]) -> float:
    declared = FIGURES.get(Figure(name)) if name in _NAMES else None
    return min(found) if declared is not None and declared.small_is_bad else max(found)


def _roll_of(name: str) -> Roll:
    """A figure of another release is a mean: seconds outlive the program that wrote them."""
    return FIGURES[Figure(name)].roll if name in _NAMES else Roll.MEAN


_NAMES = frozenset(Figure)
