"""`python3 run.py bench holds`: holds of three seats that all win, through the lane and over HTTP, against pgbench.

One run, one server, its settings printed. The baseline is `pgbench -M prepared` with one function call a hold: the same
function, so the same replay, limits and outbox; the best of 8, 16, 32 and 64 clients. `--growth` measures what a hold
costs as seats, history and events grow; `--mix SECONDS` runs the full mix. Progress on stderr, the table on stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import uvloop

from booking.domain.errors import BookingError
from booking.embedded import Cluster
from booking.services.check_invariants import check
from booking.store.database import Database
from tests.bench.holds import growth, over_http
from tests.bench.holds.asks import Ground, ask
from tests.bench.holds.one_call import CLIENTS, run_pgbench
from tests.bench.measuring import closed_loop, measured_cluster, printed_settings, seed_event, seeded_database, table

_CROWD, _CROWD_ROUNDS = 50, 20
_EVENTS, _LONG_EVENTS = 200, 1_000
_HISTORY, _LONG_HISTORY = 200_000, 5_000_000
_SIZES, _LONG_SIZES = (1_000, 10_000, 60_000), (1_000, 10_000, 60_000, 240_000)
_CHURN_SEATS, _SMALL = 3_000, 100


def main() -> int:
    """Measure and print. Returns the exit code: 1 when an invariant is broken afterwards."""
    chosen = _parse()
    settings = {} if chosen.sync else {"synchronous_commit": "off"}
    with measured_cluster(**settings) as cluster:
        found = uvloop.run(_measure(cluster, chosen))
    sys.stdout.write(json.dumps(found) if chosen.json else _as_text(found))
    sys.stdout.write("\n")
    return 1 if found["breaches"] else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla bench holds", description=__doc__)
    parser.add_argument("--holds", type=int, default=12_000, help="of each measurement (default: 12000)")
    parser.add_argument("--growth", action="store_true", help="what a hold costs as the house grows, instead")
    parser.add_argument("--mix", type=float, metavar="SECONDS", help="the full mix, instead")
    parser.add_argument("--share", type=float, default=1.0, help="of the full mix's rates (default: 1)")
    parser.add_argument("--long", action="store_true", help="--growth to 240,000 seats, 5 million holds, 1,000 events")
    parser.add_argument("--no-sync", dest="sync", action="store_false", help="commits do not wait for the disk")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


async def _measure(cluster: Cluster, chosen: argparse.Namespace) -> dict[str, object]:
    async with seeded_database(cluster) as db:
        found: dict[str, object] = {"settings": await printed_settings(db)}
        if chosen.growth:
            found |= await _grow(db, long=chosen.long)
        elif chosen.mix:
            found |= await _mix(cluster, db, chosen.mix, chosen.share)
        else:
            found |= await _race(cluster, db, chosen.holds)
        return {**found, "breaches": len((await check(db.dsn)).breaches)}


# ------------------------------------------------------------------ the ratios


async def _race(cluster: Cluster, db: Database, holds: int) -> dict[str, object]:
    seats = 3 * (holds * (len(CLIENTS) + 3) + 5_000)
    _say(f"an event of {seats:,} seats")
    ground = Ground(await seed_event(db, seats), seats)
    rows: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as name:
        for clients in CLIENTS:
            _say(f"pgbench, {clients} clients")
            rows[f"pgbench, {clients} clients"] = dict(await run_pgbench(db, ground, clients, holds, Path(name)))
    best = max(float(str(row["per_s"])) for row in rows.values())
    _say("the lane")
    await closed_loop(cluster, ground.asks(600), db.decide_hold, at_once=128)
    lane = await closed_loop(cluster, ground.asks(holds), db.decide_hold, at_once=256)
    rows["lane, in process"] = dict(lane.figures())
    crowd_ms = await _crowds(db, ground)
    async with over_http.serving(cluster, db) as api:
        await over_http.warm(api, ground)
        _say("over HTTP, 128 connections")
        rows["HTTP, closed loop"] = await over_http.holds_alone(api, ground, holds, connections=128)
        _say("over HTTP, 2,000/s")
        rows["HTTP, 2,000/s"] = await over_http.holds_alone(api, ground, holds, connections=400, per_s=2_000)
    http = rows["HTTP, closed loop"]
    return {
        "lane_ratio": _ratio(rows["lane, in process"]["per_s"], best),
        "http_ratio": _ratio(http["per_s"], best),
        "pgbench_per_s": best,
        "lane_per_s": rows["lane, in process"]["per_s"],
        "http_per_s": http["per_s"],
        "cpu_us": {"api": http["api_us"], "pg": http["pg_us"]},
        "crowd_of_50_ms": crowd_ms,
        "rows": rows,
    }  # fmt: skip


def _ratio(ours: object, theirs: float) -> float:
    return round(float(str(ours)) / theirs, 2)


async def _crowds(db: Database, ground: Ground) -> float:
    """Fifty buyers want one seat: ms until all have their answer, the median of some rounds; one wins each time."""
    times = []
    for first in ground.take(_CROWD_ROUNDS):
        began = perf_counter()
        verdicts = await asyncio.gather(*(db.decide_hold(ask(ground.event_id, first, 1)) for _ in range(_CROWD)))
        times.append((perf_counter() - began) * 1_000)
        assert sum(verdict.code == "" for verdict in verdicts) == 1
        assert {verdict.code for verdict in verdicts} == {"", "seats-taken"}
    return round(median(times), 2)


# ------------------------------------------------------------------ growth, and the full mix


async def _grow(db: Database, *, long: bool) -> dict[str, object]:
    rows: dict[str, dict[str, object]] = {}
    sizes = _LONG_SIZES if long else _SIZES
    event_id = 0
    for seats in sizes:
        _say(f"{seats:,} seats")
        event_id = await seed_event(db, seats)
        rows[f"{seats:,} seats"] = _row(await growth.cost_of_a_hold(db, event_id, seats))
    history, events = (_LONG_HISTORY, _LONG_EVENTS) if long else (_HISTORY, _EVENTS)
    _say(f"{history:,} holds of yesterday")
    await growth.add_history(db, event_id, history)
    rows[f"{history:,} holds before"] = _row(await growth.cost_of_a_hold(db, event_id, sizes[-1]))
    _say(f"{events:,} events")
    await growth.add_events(db, await seed_event(db, _SMALL), events)
    rows[f"{events:,} events beside"] = _row(await growth.cost_of_a_hold(db, event_id, sizes[-1]))
    _say("churn")
    small = await seed_event(db, _CHURN_SEATS)
    seconds = 3_600.0 if long else 30.0
    churned = await growth.churn(db, small, _CHURN_SEATS, holds=10**9 if long else 60_000, seconds=seconds)
    return {
        "rows": rows,
        "churn": {
            "holds": churned.holds, "seats_bytes_before": churned.before, "halfway": churned.halfway,
            "after": churned.after,
        },
    }  # fmt: skip


def _row(cost: growth.Cost) -> dict[str, object]:
    return {"pg_us": cost.pg_us, "buffers": cost.buffers}


async def _mix(cluster: Cluster, db: Database, seconds: float, share: float) -> dict[str, object]:
    seats = 3 * int(2_000 * share * seconds + 1_000)
    _say(f"an event of {seats:,} seats")
    ground = Ground(await seed_event(db, seats, max_open_holds_till=1_000), seats)
    async with over_http.serving(cluster, db) as api:
        await over_http.warm(api, ground)
        _say(f"the full mix for {seconds:g} s")
        return {"rows": await over_http.full_mix(api, ground, seconds, share)}


def _say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")


def _as_text(found: dict[str, object]) -> str:
    rows = found.pop("rows")
    assert isinstance(rows, dict)
    return "\n".join([table(rows, "holds"), "", *(f"{name}: {value}" for name, value in found.items())])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BookingError as error:
        sys.stderr.write(f"bench: {error}\n")
        sys.exit(3)
