"""Who has taken the place of a process that fell silent: nobody is missing then, and nobody has to be told for minutes.

A process that was killed cannot take its part away. What is started in its place is another process with another id,
so it is known by what it is: of the same kind (a worker: with the same tasks), on the same host, begun after the other
was heard last. Each takes one place, so two that were killed and one that came leave one missing; one that was killed
again keeps the place that it took, for whoever comes after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from booking.figures.model import HeardReport


def replaced(reports: Sequence[HeardReport], silent: Iterable[UUID]) -> frozenset[UUID]:
    """Those of the `silent` whose place another process has taken."""
    gone: dict[tuple[object, ...], list[HeardReport]] = defaultdict(list)
    wanted = frozenset(silent)
    for one in reports:
        if one.report.process_id in wanted:
            gone[_what(one)].append(one)
    found: set[UUID] = set()
    for what, waiting in gone.items():
        begun = sorted(_began_at(one) for one in reports if _what(one) == what)
        waiting.sort(key=lambda one: one.heard_at, reverse=True)
        for at in begun:  # whoever began later may have taken any place that this one may
            if waiting and waiting[-1].heard_at <= at:
                found.add(waiting.pop().report.process_id)
    return frozenset(found)


def _what(one: HeardReport) -> tuple[object, ...]:
    return one.report.kind, one.report.host, one.report.tasks


def _began_at(one: HeardReport) -> datetime:
    """By the database's time, in which it was heard: its own clock may be another."""
    up_s = one.report.up_s
    return one.report.started_at if up_s is None else one.heard_at - timedelta(seconds=up_s)
