"""Who has taken the place of a process that fell silent: nobody is missing then, and nobody has to be told for minutes.

A process that was killed cannot take its part away. What is started in its place is another process with another id,
so it is known by what it is: of the same kind (a worker: with the same tasks; a waiting room: with the other's events,
and perhaps others), on the same host, begun after the other was heard last. Each takes one place, so two that were
killed and one that came leave one missing; one that was killed again keeps the place that it took, for whoever comes
after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from booking.figures.model import HeardReport, ProcessKind


def replaced(reports: Sequence[HeardReport], silent: Iterable[UUID]) -> frozenset[UUID]:
    """Those of the `silent` whose place another process has taken."""
    gone: dict[tuple[object, ...], list[HeardReport]] = defaultdict(list)
    wanted = frozenset(silent)
    for one in reports:
        if one.report.process_id in wanted:
            gone[_what(one)].append(one)
    found: set[UUID] = set()
    for what, waiting in gone.items():
        begun = sorted((one for one in reports if _what(one) == what), key=_began_at)
        waiting.sort(key=lambda one: one.heard_at)
        for newer in begun:  # whoever began later may have taken any place that this one may
            taken = next((one for one in waiting if _takes_over(newer, one)), None)
            if taken is not None:
                waiting.remove(taken)
                found.add(taken.report.process_id)
    return frozenset(found)


def _what(one: HeardReport) -> tuple[object, ...]:
    return one.report.kind, one.report.host, one.report.tasks


def _takes_over(newer: HeardReport, gone: HeardReport) -> bool:
    """A room that is started again finds its events in its store: what has others is another room."""
    is_all_there = gone.report.kind is not ProcessKind.ROOM or (
        gone.report.event_gauges.keys() <= newer.report.event_gauges.keys()
    )
    return is_all_there and gone.heard_at <= _began_at(newer)


def _began_at(one: HeardReport) -> datetime:
    """By the database's time, in which it was heard: its own clock may be another."""
    up_s = one.report.up_s
    return one.report.started_at if up_s is None else one.heard_at - timedelta(seconds=up_s)
