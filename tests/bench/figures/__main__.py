"""`python -m tests.bench.figures`: what it costs to tell and to add up the figures of the whole system, once a second.

One database with open holds, a map of 60,000 seats and an outbox that moves; one process that adds up and some that
only report. CPU: of the task in its process, and of PostgreSQL's sessions that it asks. Each second is made at once, so
that its cost shows and not the idleness between. Progress goes to stderr, the table or JSON to stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from statistics import median
from time import perf_counter, process_time

import psutil

from booking.figures.collector import Collector
from booking.figures.meter import Meter, RequestEnd, RequestKind
from booking.figures.model import ProcessKind, SeatCounts, pack
from booking.figures.watch import Watch, open_for_figures
from booking.store.database import Database
from booking.web.ops_board import OpsBoard
from tests.bench.measuring import measured_cluster, seed_event, seeded_database

SEATS = 60_000


def _busy(meter: Meter, requests: int) -> float:
    """Count as many requests as a busy second has; how many µs one took."""
    used = process_time()
    for number in range(requests):
        meter.request(RequestKind.HOLD, RequestEnd.DONE, 0.001 + number % 97 / 1000)
    return (process_time() - used) / requests * 1e6


async def _seed(db: Database, event_id: int, holds: int) -> None:
    await db.fetch(
        "INSERT INTO holds (hold_id, event_id, principal, channel, seats, price_version, expires_at, idem_key, digest,"
        " created_at) SELECT gen_random_uuid(), $1, 'account:' || n, 'online', ARRAY[n], 1,"
        " booking_now() + interval '600 s', n::text, '\\x00', booking_now() FROM generate_series(0, $2 - 1) AS n",
        event_id, holds,
    )  # fmt: skip


async def _move(db: Database, event_id: int, rows: int) -> None:
    """As many changes as a busy second has."""
    await db.fetch(
        "INSERT INTO outbox (event_id, type, aggregate_id, created_at)"
        " SELECT $1, 'seats-held', h.hold_id, booking_now() FROM (SELECT hold_id FROM holds LIMIT $2) h",
        event_id, rows,
    )  # fmt: skip


def _sessions_cpu(pids: set[int]) -> float:
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return sum(one.user + one.system for one in times)


async def measure(*, holds: int, rate: int, others: int, seconds: int) -> dict[str, float]:
    """What each part of a second costs, with so many open holds, changes a second, and processes that report."""
    with measured_cluster() as cluster:
        async with seeded_database(cluster, lanes=False) as db:
            event_id = await seed_event(db, SEATS)
            await _seed(db, event_id, min(holds, SEATS))
            await db.fetch("INSERT INTO feed_heartbeat VALUES (true, booking_now() + interval '1 day')")
            await db.fetch("INSERT INTO consumer_offsets VALUES ('sequencer', '3:3:'), ('ticket-issuer', '3:3:')")
            await db.fetch("ANALYZE")
            links = [await open_for_figures(db.dsn, f"bench {n}") for n in range(others + 1)]
            try:
                return await _seconds(db, links, event_id, rate, seconds)
            finally:
                for link in links:
                    await link.close()


async def _seconds(db: Database, links: list[Database], event_id: int, rate: int, seconds: int) -> dict[str, float]:
    seats = {event_id: SeatCounts(version=1, free=SEATS, held=0, sold=0)}
    watches = [
        Watch(link, Collector(ProcessKind.API, Meter(), db=link, seats=lambda: seats), may_watch=number == 0)
        for number, link in enumerate(links)
    ]
    for watch in watches:
        await watch.once()
    rows = await db.fetch("SELECT pid, application_name LIKE 'bench 0%' AS adds FROM pg_stat_activity"
                          " WHERE application_name LIKE 'bench % figures'")  # fmt: skip
    adding, telling = ({row["pid"] for row in rows if row["adds"] is adds} for adds in (True, False))
    added, told, counted, walls, database = [], [], [], [], []
    board = OpsBoard(watches[0].standing)
    for _ in range(seconds):
        await db.fetch("UPDATE consumer_offsets SET snap = pg_current_snapshot()")
        await _move(db, event_id, rate)
        counted += [_busy(watch.meter, rate) for watch in watches]
        before = _sessions_cpu(adding)
        used, began = process_time(), perf_counter()
        await watches[0].once()
        added.append(process_time() - used)
        walls.append(perf_counter() - began)
        database.append(_sessions_cpu(adding) - before)
        for watch in watches[1:]:
            used = process_time()
            await watch.once()
            told.append(process_time() - used)
    used = process_time()
    frame = board.frame
    framed = process_time() - used
    second = watches[0].standing.second
    assert second is not None
    return {
        "count_us": round(min(counted), 2), "add_up_cpu_ms": round(median(added) * 1e3, 2),
        "add_up_database_cpu_ms": round(sum(database) / len(database) * 1e3, 2),
        "add_up_wall_ms": round(median(walls) * 1e3, 1), "report_cpu_ms": round(median(told) * 1e3, 2),
        "report_database_cpu_ms": round(_sessions_cpu(telling) / max(1, len(told)) * 1e3, 2),
        "frame_cpu_ms": round(framed * 1e3, 2), "frame_kb": round(len(frame) / 1024, 1),
        "second_kb": round(len(pack(second)) / 1024, 1), "figures": len(second.house),
    }  # fmt: skip


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.figures")
    parser.add_argument("--holds", type=int, default=10_000, help="open holds")
    parser.add_argument("--per-second", type=int, default=2_000, help="holds counted and changes committed a second")
    parser.add_argument("--processes", type=int, default=3, help="processes beside the one that adds up")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    for name in ("holds", "per_second", "processes", "seconds"):
        if not 1 <= getattr(chosen, name) <= SEATS:
            parser.error(f"--{name.replace('_', '-')}: from 1 to {SEATS}")
    found = asyncio.run(
        measure(holds=chosen.holds, rate=chosen.per_second, others=chosen.processes, seconds=chosen.seconds)
    )
    if chosen.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        for name, value in found.items():
            sys.stdout.write(f"{name:26} {value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
