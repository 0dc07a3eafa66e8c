"""`python3 run.py bench settling`: confirmations offered at a fixed rate to a provider that fails now and then.

Every sale is prepared up to its payment, then each is begun at its own time, whatever became of the others: an open
loop. The payment is opened, taken to the sandbox, which is a process of its own, confirmed, and captured. One call in
a hundred goes wrong, evenly over all the sandbox's faults: lines lost and hung up before and after the thing is done,
5xx, 429, broken and slow answers. A worker process settles what is left unknown. The time to settle counts from the
intended time to the confirmation that PostgreSQL has, and to its capture. At the end the provider's ledger is compared
with ours and every invariant is checked.

It ends by itself: after the last sale it waits for the rest to settle, for at most `--drain` seconds. Exit code 1:
something was not settled, or the ledgers differ.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, time
from uuid import UUID

import uvloop

from booking.domain.errors import UnavailableError
from booking.embedded import Cluster
from booking.payments.sandbox_client import ANSWER_TIMEOUT_S, SandboxProvider
from booking.services import drive_operation
from booking.services.check_invariants import check
from booking.services.take_payment import read_operation
from booking.store.database import Database
from tests.bench.measuring import (
    cpu_s,
    measured_cluster,
    percentiles_ms,
    printed_settings,
    seed_event,
    seeded_database,
    server_cpu_s,
)
from tests.bench.payments.sales import HELD_AT_ONCE, Sale, Steps
from tests.bench.settling.faults import FaultSource
from tests.bench.settling.report import histogram, in_words
from tests.server.web_process import Running, running

RATE_PER_S, SECONDS, SHARE, DRAIN_S = 1_000.0, 60.0, 0.01, 180.0
LOOK_EVERY_S = 1.0
ANALYZED_AT = {2, 6, 15, 40}
AT_ONCE = 256
"""Payments that one API process works on; the others wait at its door, and their time runs."""
TRIES, COMES_AGAIN_S = 200, 0.5
FOUND_WRONG = 1
_SETTLED = """
SELECT o.order_id, extract(epoch FROM o.confirmed_at)::float8 AS confirmed,
       extract(epoch FROM max(p.updated_at) FILTER (WHERE p.kind = 'capture' AND p.status = 'SUCCEEDED'))::float8 AS captured,
       count(*) FILTER (WHERE p.status NOT IN ('SUCCEEDED', 'DECLINED')) AS open_ones
  FROM orders o JOIN payment_operations p USING (order_id) GROUP BY o.order_id
"""  # noqa: E501
_CONFIRMED = "SELECT count(*) AS n FROM orders WHERE status = 'CONFIRMED'"
_OPEN = "SELECT count(*) AS n FROM payment_operations WHERE status NOT IN ('SUCCEEDED', 'DECLINED')"
_TAKEN = "SELECT coalesce(sum(amount_minor), 0)::bigint AS minor FROM payment_operations WHERE kind = 'capture' AND status = 'SUCCEEDED'"  # noqa: E501


@dataclass(frozen=True, slots=True)
class Plan:
    """What is offered. `answer_timeout_s` is how long this process waits for the provider."""

    rate_per_s: float = RATE_PER_S
    seconds: float = SECONDS
    share: float = SHARE
    drain_s: float = DRAIN_S
    seed: int = 1
    answer_timeout_s: float = ANSWER_TIMEOUT_S

    @property
    def sales(self) -> int:
        return round(self.rate_per_s * self.seconds)


@dataclass
class Offering:
    """Sales on their way: when each was to begin (seconds since 1970), and what broke in this process."""

    db: Database
    provider: SandboxProvider
    intended: dict[UUID, float] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    door: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    begun: int = 0
    most_behind: int = 0
    """The most sales that were offered and not confirmed, at any look."""

    async def offer(self, sales: Sequence[Sale], rate_per_s: float) -> float:
        """Begin each at its time; how many seconds the offering took."""
        began, clock_at = perf_counter(), time()
        async with asyncio.TaskGroup() as group:
            for number, sale in enumerate(sales):
                intended = number / rate_per_s
                if (wait := began + intended - perf_counter()) > 0:
                    await asyncio.sleep(wait)
                assert sale.order_id is not None
                self.intended[sale.order_id] = clock_at + intended
                self.begun += 1
                group.create_task(self._pay(sale))
            return perf_counter() - began

    async def _pay(self, sale: Sale) -> None:
        """As the API and its buyer do it: who is turned away comes again; what stays open is the worker's."""
        async with self.door:
            for _ in range(TRIES):
                try:
                    await Steps(self.db).open_payment(sale)
                    break
                except UnavailableError as error:
                    self._count(error)
                    await asyncio.sleep(COMES_AGAIN_S * random.uniform(0.5, 1.5))
            if sale.operation_id is None:
                return
            try:
                operation = await read_operation(self.db, sale.operation_id)
                await drive_operation.take_at_once(self.db, self.provider, operation)
            except Exception as error:  # noqa: BLE001 - counted and printed; the worker settles what was opened
                self._count(error)

    def _count(self, error: Exception) -> None:
        name = str(getattr(error, "code", type(error).__name__))
        self.broken[name] = self.broken.get(name, 0) + 1

    async def watch(self) -> None:
        """Look now and then how far the confirmations are behind the offers; keep statistics as a running house has."""
        for look in itertools.count():
            if look in ANALYZED_AT:
                await self.db.fetch("ANALYZE")
            confirmed = (await self.db.fetch(_CONFIRMED))[0]["n"]
            self.most_behind = max(self.most_behind, self.begun - confirmed)
            await asyncio.sleep(LOOK_EVERY_S)

    async def drain(self, within_s: float) -> float:
        """Wait until nothing is open; how many seconds that took."""
        began = perf_counter()
        while (await self.db.fetch(_OPEN))[0]["n"] and perf_counter() - began < within_s:
            await asyncio.sleep(0.25)
        return perf_counter() - began


async def prepared(db: Database, event_id: int, count: int) -> list[Sale]:
    """Sales of one seat each, held and checked out; nothing of this is measured."""
    steps = Steps(db)
    sales = [steps.new_sale(event_id, (seat,)) for seat in range(count)]
    for step in (steps.hold, steps.check_out):
        for start in range(0, count, HELD_AT_ONCE):
            await asyncio.gather(*map(step, sales[start : start + HELD_AT_ONCE]))
    return sales


async def measure(plan: Plan) -> dict[str, object]:
    """Everything; the report's keys are in README."""
    with measured_cluster(max_connections="200") as cluster, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taquilla-settling-")))
        async with (
            seeded_database(cluster) as db,
            running("sandbox", "--slow", "1", folder=folder) as sandbox,
            running(
                "work", "--dsn", db.dsn, "--only", "payments,webhooks", "--sandbox-url", sandbox.url, folder=folder
            ) as worker,
        ):
            return await _measure(plan, cluster, db, sandbox, worker)


async def _measure(plan: Plan, cluster: Cluster, db: Database, sandbox: Running, worker: Running) -> dict[str, object]:
    _say(f"{plan.sales:,} sales are made ready")
    event_id = await seed_event(db, plan.sales, grace_s=900)
    sales = await prepared(db, event_id, plan.sales)
    faults = FaultSource(sandbox.ready["port"], share=plan.share, per_s=plan.rate_per_s, seed=plan.seed)
    provider = SandboxProvider(sandbox.url, answer_timeout_s=plan.answer_timeout_s)
    offering = Offering(db, provider)
    meter = _Meter(cluster, {"sandbox": sandbox.process.pid, "worker": worker.process.pid})
    _say(f"{plan.rate_per_s:,.0f} a second for {plan.seconds:g} s")
    watching = asyncio.create_task(offering.watch(), name="backlog")
    try:
        async with faults.running():
            offered_s = await offering.offer(sales, plan.rate_per_s)
        drained_s = await offering.drain(plan.drain_s)
    finally:
        watching.cancel()
        await provider.close()
    used = meter.read()
    _say("compared with the provider's ledger, and checked")
    report = await _report(plan, db, offering, sandbox, used)
    report |= {
        "settings": await printed_settings(db), "offered_s": round(offered_s, 2), "drained_s": round(drained_s, 2),
        "faults": await faults.fired(),
    }  # fmt: skip
    faults.close()
    return report


class _Meter:
    """CPU seconds of each process since it was made."""

    def __init__(self, cluster: Cluster, pids: dict[str, int]) -> None:
        self._cluster, self._pids = cluster, pids
        self._before = self._now()

    def _now(self) -> dict[str, float]:
        used = {name: cpu_s(pid) for name, pid in self._pids.items()}
        return used | {"postgresql": sum(server_cpu_s(self._cluster.pid).values()), "api": cpu_s_of_this()}

    def read(self) -> dict[str, float]:
        now = self._now()
        return {name: now[name] - self._before[name] for name in now}


def cpu_s_of_this() -> float:
    """CPU seconds of this process, which does the API's part and offers."""
    from time import process_time

    return process_time()


async def _report(
    plan: Plan, db: Database, offering: Offering, sandbox: Running, used: dict[str, float]
) -> dict[str, object]:
    rows = await db.fetch(_SETTLED)
    confirmed = [row["confirmed"] - offering.intended[row["order_id"]] for row in rows if row["confirmed"] is not None]
    captured = [row["captured"] - offering.intended[row["order_id"]] for row in rows if row["captured"] is not None]
    last = max((row["confirmed"] for row in rows if row["confirmed"] is not None), default=0.0)
    length = last - min(offering.intended.values())
    charges, there = await _there(sandbox)
    here = (await db.fetch(_TAKEN))[0]["minor"]
    breaches = [f"{one.rule}: {one.detail}" for one in (await check(db.dsn)).breaches]
    return {
        "offered": plan.sales, "offered_per_s": plan.rate_per_s, "confirmed": len(confirmed), "captured": len(captured),
        "unsettled": sum(row["open_ones"] for row in rows) + plan.sales - len(rows),
        "sustained_per_s": round(len(confirmed) / max(length, 1e-9), 1),
        "most_behind": offering.most_behind,
        "confirm": {**percentiles_ms(confirmed), "histogram_ms": histogram(confirmed)},
        "capture": {**percentiles_ms(captured), "histogram_ms": histogram(captured)},
        "cpu_us_each": {name: round(1e6 * seconds / max(1, len(confirmed)), 1) for name, seconds in used.items()},
        "charges_there": charges, "minor_there": there, "minor_here": here, "breaches": breaches,
        "broken": offering.broken,
    }  # fmt: skip


async def _there(sandbox: Running) -> tuple[int, int]:
    """(charges that took money, what they took) by the provider's own ledger."""
    import httpx

    async with httpx.AsyncClient(base_url=sandbox.url, timeout=60) as http:
        charges = (await http.get("/control/ledger")).json()["charges"]
    taken = [charge["captured"] for charge in charges if charge["captured"]]
    return len(taken), sum(taken)


def is_settled(report: dict[str, object]) -> bool:
    """Whether all that was offered is settled, once, and both ledgers agree."""
    return (
        report["unsettled"] == 0
        and report["confirmed"] == report["captured"] == report["offered"] == report["charges_there"]
        and report["minor_there"] == report["minor_here"]
        and report["breaches"] == []
    )


def as_words(report: dict[str, object]) -> str:
    """The report as people read it."""
    told = dict(report)
    parts = []
    for name in ("confirm", "capture"):
        figures = told.pop(name)
        assert isinstance(figures, dict)
        counts = figures.pop("histogram_ms")
        parts.append(in_words(counts, f"{name}, from the intended time: {figures}"))
    lines = [f"{name}: {value}" for name, value in told.items()]
    return "\n\n".join(["\n".join(lines), *parts, "all settled" if is_settled(report) else "NOT all settled"])


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="run.py bench settling", description="Time to settle, with faults.")
    parser.add_argument("--rate", type=float, default=RATE_PER_S, metavar="N", help="confirmations offered a second")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="for how long (at most 600)")
    parser.add_argument("--faults", type=float, default=SHARE, metavar="SHARE", help="of the calls, 0 to 0.5")
    parser.add_argument("--drain", type=float, default=DRAIN_S, metavar="S", help="how long the rest may take")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the faults")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    if not (1 <= chosen.rate <= 10_000 and 0 < chosen.seconds <= 600 and 1 <= chosen.rate * chosen.seconds <= 120_000):
        parser.error("--rate from 1 to 10,000, --seconds up to 600, and at most 120,000 sales in all")
    if not (0 <= chosen.faults <= 0.5 and 0 < chosen.drain <= 900):
        parser.error("--faults from 0 to 0.5, --drain up to 900")
    plan = Plan(chosen.rate, chosen.seconds, chosen.faults, chosen.drain, chosen.seed)
    report = uvloop.run(measure(plan))
    sys.stdout.write((json.dumps(report) if chosen.json else as_words(report)) + "\n")
    return 0 if is_settled(report) else FOUND_WRONG


if __name__ == "__main__":
    sys.exit(main())
