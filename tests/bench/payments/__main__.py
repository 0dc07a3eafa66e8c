"""`python3 run.py bench payments`: checkout, payment, confirmation, order status: through lanes, and as one call each.

Both on one PostgreSQL that syncs each commit, in turns, in rounds as large as an event's cap of seats being paid lets
them be; before the rounds each has warmed its sessions up. Lanes and one call each run at their highest rate with so
many buyers at once; `open` offers the target rates at intended times, latency from those. CPU is read from /proc, µs
for each request of PostgreSQL (all its processes) and of the API's part (this process, with the client's few µs).

`--http` measures the same steps through one API process on loopback; its API µs are that process's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import uvloop

from booking.embedded import Cluster
from booking.store.database import Database
from tests.bench.measuring import (
    CpuUse,
    Run,
    closed_loop,
    measured_cluster,
    open_loop,
    printed_settings,
    seed_event,
    seeded_database,
    table,
    wait_events,
    yardstick_s,
)
from tests.bench.payments.http_steps import http_steps
from tests.bench.payments.one_call import one_call_each
from tests.bench.payments.sales import SEATS_EACH, Sale, SaleSteps, Steps, held_sales

AT_ONCE = 128
ROUND = 320  # sales; their seats stay well below the cap of seats being paid
CAP = 2_000
WARM = 64
TARGET_PER_S = {"checkout": 3_000.0, "payment": 3_000.0, "confirm": 3_000.0, "order-status": 15_000.0}
READS_EACH = 6
NEEDS = {"checkout": "hold_id", "payment": "order_id", "confirm": "operation_id", "order-status": "order_id"}

Step = Callable[[Sale], Awaitable[None]]
Figures = dict[str, dict[str, float]]


@dataclass
class Bench:
    """One server, one event, and how many rounds each subject has."""

    cluster: Cluster
    event_id: int
    rounds: int
    next_seat: int = 0

    async def sales(self, steps: SaleSteps, count: int) -> Sequence[Sale]:
        """New sales with their holds."""
        first, self.next_seat = self.next_seat, self.next_seat + count * SEATS_EACH
        return await held_sales(steps, self.event_id, count, first)

    async def closed(self, steps: SaleSteps, pids: tuple[int, ...] = ()) -> Figures:
        """All steps at their highest rate, one after the other."""
        await self._round(steps, {}, WARM, pids)
        runs: dict[str, Run] = {name: Run() for name in TARGET_PER_S}
        for _ in range(self.rounds):
            await self._round(steps, runs, ROUND, pids)
        return {name: run.figures() for name, run in runs.items()}

    async def _round(self, steps: SaleSteps, runs: dict[str, Run], size: int, pids: tuple[int, ...]) -> None:
        sales = await self.sales(steps, size)
        for name, step in _steps_of(steps).items():
            items = list(sales) * (READS_EACH if name == "order-status" else 1)
            part = await closed_loop(self.cluster, items, step, at_once=AT_ONCE, pids=pids)
            if name in runs:
                runs[name] = _sum(runs[name], part)

    async def open(self, steps: SaleSteps) -> Figures:
        """All steps at the rates of the design, for as long as a round lasts."""
        figures: Figures = {}
        sales = await self.sales(steps, 2 * ROUND)
        for name, step in _steps_of(steps).items():
            able = [sale for sale in sales if getattr(sale, NEEDS[name]) is not None]  # not shed before
            items = able * (READS_EACH if name == "order-status" else 1)
            figures[name] = (await open_loop(self.cluster, items, step, per_s=TARGET_PER_S[name])).figures()
        return figures


def _steps_of(steps: SaleSteps) -> dict[str, Step]:
    return {
        "checkout": steps.check_out,
        "payment": steps.open_payment,
        "confirm": steps.confirm,
        "order-status": steps.read_order,
    }


def _sum(one: Run, other: Run) -> Run:
    cpu = CpuUse(
        one.cpu.server_s + other.cpu.server_s, one.cpu.api_s + other.cpu.api_s, one.cpu.own_s + other.cpu.own_s
    )
    return Run(one.latencies_s + other.latencies_s, one.seconds + other.seconds, cpu, one.failed + other.failed)


async def measure(rounds: int, *, http: bool) -> dict[str, object]:
    """All subjects. Keys: settings, yardstick_ms, lanes, one_call, ratios, open, waits, and http if asked for."""
    with measured_cluster() as cluster:
        async with seeded_database(cluster) as lanes, one_call_each(lanes.dsn) as alone:
            bench = Bench(cluster, await _seed(lanes, rounds), rounds)
            yardsticks = [yardstick_s()]
            _say(f"{rounds} rounds of {ROUND} sales of {SEATS_EACH} seats, {AT_ONCE} at once: lanes")
            async with wait_events(lanes) as waits:
                by_lanes = await bench.closed(Steps(lanes))
            yardsticks.append(yardstick_s())
            _say("one call each")
            async with wait_events(lanes) as waits_alone:
                by_calls = await bench.closed(Steps(alone))
            yardsticks.append(yardstick_s())
            _say("lanes at the target rates")
            report: dict[str, object] = {
                "settings": await printed_settings(lanes),
                "yardstick_ms": [round(one * 1_000, 2) for one in yardsticks],
                "lanes": by_lanes,
                "one_call": by_calls,
                "ratios": {name: _ratios(by_lanes[name], by_calls[name]) for name in by_lanes},
                "open": await bench.open(Steps(lanes)),
                "waits": {"lanes": dict(waits.most_common(5)), "one_call": dict(waits_alone.most_common(5))},
            }
            if http:
                _say("through HTTP")
                async with http_steps(lanes) as (steps, pid):
                    report["http"] = await bench.closed(steps, (pid,))
            return report


async def _seed(db: Database, rounds: int) -> int:
    seats = (3 * (WARM + rounds * ROUND) + 2 * ROUND) * SEATS_EACH
    return await seed_event(db, seats, paying_cap=CAP, max_open_holds_till=seats)


def _ratios(lanes: dict[str, float], calls: dict[str, float]) -> dict[str, float]:
    return {
        "rate": round(lanes["per_s"] / calls["per_s"], 2),
        "pg_cpu": round(calls["pg_us"] / lanes["pg_us"], 2),
        "api_cpu": round(calls["api_us"] / lanes["api_us"], 2),
    }


def as_table(report: dict[str, object]) -> str:
    """The report as people read it."""
    parts = [f"settings: {report['settings']}", f"yardstick, CPU ms: {report['yardstick_ms']}"]
    for name in ("lanes", "one_call", "ratios", "open", "http"):
        rows = report.get(name)
        if isinstance(rows, dict):
            parts.append(table(rows, name.replace("_", " ")))
    parts.append(f"busy sessions wait for: {report['waits']}")
    return "\n\n".join(parts)


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="run.py bench payments")
    parser.add_argument("--rounds", type=int, default=3, help=f"of {ROUND} sales for each subject (1–20)")
    parser.add_argument("--http", action="store_true", help="the same steps through an API process as well")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    if not 1 <= chosen.rounds <= 20:
        parser.error("--rounds: from 1 to 20")
    report = uvloop.run(measure(chosen.rounds, http=chosen.http))
    sys.stdout.write((json.dumps(report) if chosen.json else as_table(report)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
