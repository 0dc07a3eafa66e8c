"""The part of a report that is about fans who came through a waiting room, and how it was steered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from booking.charts import Line, time_chart
from booking.rush.conductor import Run
from booking.rush.counter import CounterSales
from booking.rush.steered import Steered, let_in_per_minute, rate_at


def as_json(run: Run, steered: Steered, till: CounterSales) -> dict[str, object]:
    """What became of the fans, how long they waited, what the room was told, and each second."""
    waits = {f"p{round(100 * share)}_s": round(run.waits.quantile_ms(share) / 1000, 1) for share in (0.5, 0.9, 0.99)}
    return {
        "fans": dict(run.counts),
        "waits": waits,
        "admission": asdict(steered),
        "till": asdict(till),
        "timeline": [
            {"at_s": one.at_s, "admitted": one.admitted, "confirmed": one.confirmed, "shed": one.shed,
             "hold_p50_ms": one.hold_p50_ms, "hold_p99_ms": one.hold_p99_ms}
            for one in run.seconds
        ],
    }  # fmt: skip


def as_words(run: Run, steered: Steered, till: CounterSales) -> list[str]:
    """The same in a few lines."""
    fates = ", ".join(f"{name} {count:,}" for name, count in sorted(run.counts.items()))
    p50, p99 = (run.waits.quantile_ms(share) / 1000 for share in (0.5, 0.99))
    to_fans = f"{steered.fan_tickets:,} tickets to fans in {steered.fan_orders:,} orders"
    by_till = f"{till.tickets:,} in {till.orders:,}, refused {till.refused}, the slowest took {till.worst_s:.1f} s"
    words = [f"fans: {fates}; waited p50 {p50:.0f} s, p99 {p99:.0f} s", f"sold: {to_fans}; the {till.by} {by_till}"]
    return words if steered.before_per_minute is None else [*words, *_around_slowness(steered)]


def _around_slowness(steered: Steered) -> list[str]:
    half = "never" if steered.half_after_s is None else f"after {steered.half_after_s:.1f} s"
    back = "never" if steered.recovered_after_s is None else f"{steered.recovered_after_s:.0f} s after it"
    rates = f"{steered.before_per_minute:.0f} a minute before, halved {half}, lowest {steered.lowest_per_minute:.0f}"
    over = f"{100 * (steered.overshoot or 0):+.0f} % (let in {100 * (steered.let_in_overshoot or 0):+.0f} %)"
    p99 = [
        "-" if value is None else f"{value:.0f}"
        for value in (steered.hold_p99_before_ms, steered.hold_p99_during_ms, steered.hold_p99_after_ms)
    ]
    return [
        f"admission: {rates}; on the way back {over}",
        f"hold p99 {p99[0]} before, {p99[1]} during, {p99[2]} ms after; within 300 ms {back}",
    ]


def charts(run: Run, steered: Steered) -> list[str]:
    """Set beside measured, and what holds took, on one time axis."""
    seconds = range(len(run.seconds))
    told: Sequence[tuple[float, float]] = [(at, rate_at(steered.rates, at)) for at in seconds]
    let_in: Sequence[tuple[float, float]] = [(at, let_in_per_minute(run.seconds, at)) for at in seconds]
    p99 = [(one.at_s, one.hold_p99_ms) for one in run.seconds if one.hold_p99_ms > 0]
    return [
        time_chart("Let in a minute: told and done", "a minute", [Line("told", told), Line("let in", let_in)]),
        time_chart("Holds of fans", "ms", [Line("p99", p99)], logarithmic=True),
    ]
