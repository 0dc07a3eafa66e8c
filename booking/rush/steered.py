"""How the steering went: what the room was told and when, out of the log, beside what fans and seats saw of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from booking.rush.conductor import Second
from booking.store.database import Database

_BEFORE_S = 15.0
_OVER_S = 15
_SETTLED_AFTER_S = 10.0
_WITHIN_P99 = 300.0


@dataclass(frozen=True, slots=True)
class RateTold:
    """The room's rate from `at_s` on (seconds of the run), new users a minute, and why."""

    at_s: float
    per_minute: float
    reason: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """One run's steering. None where there was no slowness, or nothing of the kind.

    `half_after_s`: from the slowness until the rate told was half of what it had been. `overshoot`: the highest rate
    told after it over the one before, less 1; `let_in_overshoot` the same of people really let in, over 15 seconds.
    `hold_p99_*` in ms: of the middle second of each stretch; `recovered_after_s`: from its end until p99 stays good.
    `fan_…`: what fans bought, without the till, which sells as long as the run lasts.
    """

    rates: tuple[RateTold, ...]
    before_per_minute: float | None = None
    lowest_per_minute: float | None = None
    half_after_s: float | None = None
    overshoot: float | None = None
    let_in_overshoot: float | None = None
    hold_p99_before_ms: float | None = None
    hold_p99_during_ms: float | None = None
    hold_p99_after_ms: float | None = None
    recovered_after_s: float | None = None
    tickets: int = 0
    orders: int = 0
    fan_tickets: int = 0
    fan_orders: int = 0


async def read_steering(
    db: Database, event_id: int, starts_at: float, seconds: Sequence[Second], slow: tuple[float, float] | None
) -> Steered:
    """Out of the database's log and what the senders counted. `slow`: from, until, seconds of the run."""
    rows = await db.fetch(
        "SELECT at, from_per_minute, to_per_minute, reason, words FROM admission_changes"
        " WHERE event_id = $1 AND principal = 'controller' ORDER BY change_no",
        event_id,
    )
    rates = tuple(
        RateTold(_at(row["at"], starts_at), row["to_per_minute"], row["reason"], row["words"]) for row in rows
    )
    if rates and rates[0].at_s > 0:
        rates = (RateTold(0.0, rows[0]["from_per_minute"], "set-by-ops", "as the room was set"), *rates)
    sold = await db.fetch(
        "SELECT count(*) AS tickets, count(DISTINCT o.order_id) AS orders,"
        " count(*) FILTER (WHERE o.principal LIKE 'account:%') AS fan_tickets,"
        " count(DISTINCT o.order_id) FILTER (WHERE o.principal LIKE 'account:%') AS fan_orders FROM orders o"
        " JOIN order_seats l ON l.order_id = o.order_id WHERE o.event_id = $1 AND o.status = 'CONFIRMED' AND l.valid",
        event_id,
    )
    counts = dict(sold[0])
    if slow is None:
        return Steered(rates=rates, **counts)
    return around(rates, seconds, *slow, counts)


def around(
    rates: tuple[RateTold, ...], seconds: Sequence[Second], begins: float, ends: float, counts: dict[str, int]
) -> Steered:
    """What happened around a slowness from `begins` to `ends`, seconds of the run; `counts`: tickets and orders."""
    before = rate_at(rates, begins)
    during = [one for one in rates if begins <= one.at_s]
    half = next((one.at_s - begins for one in during if one.per_minute <= before / 2), None)
    after = [one.per_minute for one in rates if one.at_s >= ends] or [rate_at(rates, ends)]
    let_in = [let_in_per_minute(seconds, at) for at in range(len(seconds))]
    usual = max(before, 1e-9)
    return Steered(
        rates=rates, before_per_minute=before, half_after_s=half, overshoot=max(after) / usual - 1,
        lowest_per_minute=min([one.per_minute for one in during if one.at_s < ends + 3] or [before]),
        let_in_overshoot=max(let_in[int(ends) + _OVER_S :] or [0.0]) / usual - 1,
        hold_p99_before_ms=_p99(seconds, begins - _BEFORE_S, begins),
        hold_p99_during_ms=_p99(seconds, begins, ends),
        hold_p99_after_ms=_p99(seconds, ends + _SETTLED_AFTER_S, float(len(seconds))),
        recovered_after_s=_recovered(seconds, ends), **counts,
    )  # fmt: skip


def rate_at(rates: Sequence[RateTold], at_s: float) -> float:
    """The rate in force at an instant."""
    return next((one.per_minute for one in reversed(rates) if one.at_s <= at_s), 0.0)


def let_in_per_minute(seconds: Sequence[Second], at: int) -> float:
    """Of the fifteen seconds up to this one."""
    part = seconds[max(0, at - _OVER_S + 1) : at + 1]
    return 60 * sum(one.admitted for one in part) / _OVER_S


def _p99(seconds: Sequence[Second], begins: float, ends: float) -> float | None:
    """The median of the seconds' p99: what most seconds were like."""
    known = sorted(one.hold_p99_ms for one in seconds if begins <= one.at_s < ends and one.hold_p99_ms > 0)
    return known[len(known) // 2] if known else None


def _recovered(seconds: Sequence[Second], ends: float) -> float | None:
    """From the end of the slowness until three seconds in a row are within what buyers were promised.

    A second in which no hold was answered says nothing, neither good nor bad.
    """
    good: list[float] = []
    for one in seconds:
        if one.at_s < ends or one.hold_p99_ms <= 0:
            continue
        good = [*good, one.at_s] if one.hold_p99_ms <= _WITHIN_P99 else []
        if len(good) == 3:
            return max(good[0] - ends, 0.0)
    return None


def _at(instant: datetime, starts_at: float) -> float:
    return round(instant.timestamp() - starts_at, 2)
