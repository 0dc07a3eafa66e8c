"""`python -m tests.bench.feed_fanout`: changes of one map to two thousand clients of one API process (R13, S6, R41).

Real processes: PostgreSQL with its syncs on, the API, the sequencer, the clients. Fans hold seats one after another;
all clients follow the public map in binary form (4 frames a second at most). Spread: how long after the first of them a
client has a version. CPU and memory are those of the API's process. Progress goes to stderr, the result to stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import httpx
import psutil
from prometheus_client.parser import text_string_to_metric_families

from booking.services.migrate import migrate
from booking.store.database import Database
from tests.bench.feed.__main__ import _hold
from tests.bench.measuring import measured_cluster
from tests.server.box_office import make_event
from tests.server.web_process import running

SEATS = 10_000


def _allow_many_files() -> None:
    """A socket for each client, here and in the processes that are started."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _measure(clients: int, seconds: float, per_s: float) -> dict[str, object]:
    with measured_cluster() as cluster, tempfile.TemporaryDirectory() as name:
        dsn, folder = cluster.create_database("fanout"), Path(name)
        await migrate(dsn)
        db = await Database.open(dsn, application="bench", lanes=False)
        event_id = await make_event(db, seats=SEATS)
        await db.close()
        async with (
            running("serve", "--dsn", dsn, folder=folder) as api,
            running("work", "--dsn", dsn, "--only", "sequencer", folder=folder),
            httpx.AsyncClient(base_url=api.url, trust_env=False) as http,
        ):
            return await _fan_out(http, api.process.pid, event_id, clients, seconds, per_s)


async def _fan_out(
    http: httpx.AsyncClient, pid: int, event_id: int, clients: int, seconds: float, per_s: float
) -> dict[str, object]:
    crowd = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.feed_fanout.clients",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
    )  # fmt: skip
    assert crowd.stdin is not None
    assert crowd.stdout is not None
    address = urlsplit(str(http.base_url))
    plan = {
        "host": address.hostname, "port": address.port, "clients": clients,
        "path": f"/v1/events/{event_id}/seats/feed?form=binary",
    }  # fmt: skip
    began, process = perf_counter(), psutil.Process(pid)
    crowd.stdin.write((json.dumps(plan) + "\n").encode())
    assert (await crowd.stdout.readline()).strip() == b"connected"
    connected_s = perf_counter() - began
    sys.stderr.write(f"{clients} clients connected in {connected_s:.1f} s\n")
    before, began, holds = process.cpu_times(), perf_counter(), 0
    while perf_counter() - began < seconds:
        await _hold(http, event_id, holds)
        holds += 1
        await asyncio.sleep(max(0.0, began + holds / per_s - perf_counter()))
    after, took = process.cpu_times(), perf_counter() - began
    lag = await _lag_of(http)
    crowd.stdin.write(b"\n")
    seen = json.loads(await crowd.stdout.readline())
    await crowd.wait()
    cpu_s = after.user + after.system - before.user - before.system
    return {
        "clients": clients, "connected_s": round(connected_s, 2), "holds": holds, "versions": seen["versions"],
        "frames": seen["frames"], "frames_per_s": round(seen["frames"] / took), "behind": seen["behind"],
        "closed": seen["closed"], "spread_p50_ms": seen["spread_p50_ms"], "spread_p99_ms": seen["spread_p99_ms"],
        "spread_max_ms": seen["spread_max_ms"], "lag": lag, "api_cpu_share": round(cpu_s / took, 3),
        "api_cpu_us_per_frame": round(cpu_s / max(seen["frames"], 1) * 1e6, 1),
        "api_memory_mb": round(process.memory_info().rss / 2**20, 1),
    }  # fmt: skip


async def _lag_of(http: httpx.AsyncClient) -> dict[str, float]:
    """The API's own word: of all frames, the share that was handed over within so many seconds of being due."""
    families = {one.name: one for one in text_string_to_metric_families((await http.get("/metrics")).text)}
    buckets = {
        sample.labels["le"]: sample.value for sample in families["taquilla_feed_lag_seconds"].samples if sample.labels
    }
    whole = buckets["+Inf"] or 1.0
    return {bound: round(buckets[bound] / whole, 4) for bound in ("0.01", "0.05", "0.1", "0.25", "1")}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.feed_fanout")
    parser.add_argument("--clients", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--per-second", type=float, default=20, help="holds a second")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if not 1 <= chosen.clients <= 20_000:
        parser.error("--clients: from 1 to 20,000")
    if not 1 <= chosen.seconds * chosen.per_second <= SEATS:
        parser.error(f"--seconds × --per-second: from 1 to {SEATS} holds")
    _allow_many_files()
    found = asyncio.run(_measure(chosen.clients, chosen.seconds, chosen.per_second))
    if chosen.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        for name, value in found.items():
            sys.stdout.write(f"{name:22} {value}\n")
    return 0 if found["behind"] == found["closed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
