"""What the benches of the authority share: an honest server, an event to sell, CPU of processes, times, a yardstick.

CPU is read from /proc (ns on a core, per thread), so it tells what a request costs also when neighbours slow it down.
Gates compare CPU with `yardstick_s`, never with a clock on the wall.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import TypeVar

import asyncpg
import psutil

from booking.embedded import Cluster, temporary_cluster
from booking.services.migrate import migrate
from booking.store.database import Database
from tests.server.box_office import make_event

T = TypeVar("T")

SYNCED = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "256MB"}
_PRINTED = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_connections")


# ------------------------------------------------------------------ a server and something to sell


@contextmanager
def measured_cluster(**settings: str) -> Iterator[Cluster]:
    """A throw-away PostgreSQL that syncs each commit, as in production. `settings` win."""
    with temporary_cluster(settings={**SYNCED, "autovacuum_naptime": "1min", **settings}) as cluster:
        yield cluster


@asynccontextmanager
async def seeded_database(cluster: Cluster, name: str = "bench", *, lanes: bool = True) -> AsyncIterator[Database]:
    """A migrated database of the cluster, opened; dropped by the end of the cluster."""
    dsn = cluster.create_database(name)
    await migrate(dsn)
    db = await Database.open(dsn, application="bench", lanes=lanes)
    try:
        yield db
    finally:
        await db.close()


async def seed_event(db: Database, seats: int, **columns: object) -> int:
    """An event on sale with n free seats, and statistics as a running system has them. Returns its id."""
    values: dict[str, object] = {"hold_ttl_s": 900, "paying_cap": 1_000_000_000, **columns}
    event_id = await make_event(db, seats, **values)
    connection = await asyncpg.connect(db.dsn)
    try:
        await connection.execute("VACUUM (ANALYZE)")
    finally:
        await connection.close()
    return event_id


async def printed_settings(db: Database) -> dict[str, str]:
    """The server's settings that a rate depends on, to be printed beside it."""
    rows = await db.fetch("SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name", list(_PRINTED))
    return {row["name"]: row["value"] for row in rows}


# ------------------------------------------------------------------ CPU of processes


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used, all threads, its ended children not; 0 when it is gone."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except (OSError, ValueError, IndexError):
        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            return times.user + times.system
        return 0.0


def server_cpu_s(leader_pid: int) -> dict[int, float]:
    """CPU seconds of a PostgreSQL: of its leader and of each of its processes, by pid."""
    with suppress(psutil.Error):
        pids = [leader_pid, *(child.pid for child in psutil.Process(leader_pid).children())]
        return {pid: cpu_s(pid) for pid in pids}
    return {}


@dataclass(frozen=True, slots=True)
class CpuUse:
    """CPU seconds between two readings: of PostgreSQL, of the API's processes, of this process."""

    server_s: float
    api_s: float
    own_s: float

    def per_request(self, requests: int) -> dict[str, float]:
        """µs for each request; `api` is this process where it is the API itself."""
        share = 1e6 / max(1, requests)
        return {"pg": round(self.server_s * share, 1), "api": round((self.api_s or self.own_s) * share, 1)}


class CpuMeter:
    """Reads the CPU of a PostgreSQL, of API processes and of this one, since it was made.

    Processes of the server that start later count from their start; keep connections open while you measure, for
    what an ended process used is lost.
    """

    def __init__(self, server: Cluster, api_pids: Iterable[int] = ()) -> None:
        self._leader = server.pid
        self._api = tuple(api_pids)
        self._server_before = server_cpu_s(self._leader)
        self._api_before = sum(map(cpu_s, self._api))
        self._own_before = process_time()

    def read(self) -> CpuUse:
        now = server_cpu_s(self._leader)
        server = sum(used - self._server_before.get(pid, 0.0) for pid, used in now.items())
        return CpuUse(server, sum(map(cpu_s, self._api)) - self._api_before, process_time() - self._own_before)


def yardstick_s(repeats: int = 5) -> float:
    """CPU seconds of a fixed piece of work (JSON, SHA-256, dictionaries): the least of several repetitions.

    About 11 ms on the machine of the tables. A gate says "so many requests cost at most so many yardsticks".
    """
    document = {"lines": [{"seat": n, "row": chr(65 + n % 26), "amount_minor": n * 125} for n in range(60)]}
    least = float("inf")
    for _ in range(repeats):
        began = process_time()
        seen: dict[str, int] = {}
        for turn in range(160):
            text = json.dumps({**document, "turn": turn}, sort_keys=True)
            for line in json.loads(text)["lines"]:
                seen[line["row"]] = seen.get(line["row"], 0) + line["amount_minor"]
            hashlib.sha256(text.encode()).hexdigest()
        least = min(least, process_time() - began)
    return least


# ------------------------------------------------------------------ load, and how long it took


@dataclass(slots=True)
class Run:
    """Latencies in seconds, the run's length, what was used, and how many requests failed, by error code."""

    latencies_s: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu: CpuUse = CpuUse(0.0, 0.0, 0.0)
    failed: Counter[str] = field(default_factory=Counter)

    def figures(self) -> dict[str, float]:
        """per_s, p50_ms, p99_ms, max_ms, µs of CPU for each request."""
        done = len(self.latencies_s)
        use = self.cpu.per_request(done)
        return {
            "done": done, "failed": sum(self.failed.values()), "per_s": round(done / self.seconds, 1),
            **percentiles_ms(self.latencies_s), "pg_us": use["pg"], "api_us": use["api"],
        }  # fmt: skip


async def closed_loop(
    cluster: Cluster,
    items: Sequence[T],
    work: Callable[[T], Awaitable[object]],
    *,
    at_once: int,
    pids: Iterable[int] = (),
) -> Run:
    """Every item once, `at_once` at a time, each next one when the one before it is answered: the highest rate."""
    run = Run()
    queue = iter(items)
    meter = CpuMeter(cluster, pids)

    async def client() -> None:
        for item in queue:
            await _timed(run, work, item, perf_counter())

    began = perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(min(at_once, len(items))):
            group.create_task(client(), name=f"client {number}")
    run.seconds, run.cpu = perf_counter() - began, meter.read()
    return run


async def open_loop(
    cluster: Cluster,
    items: Sequence[T],
    work: Callable[[T], Awaitable[object]],
    *,
    per_s: float,
    pids: Iterable[int] = (),
) -> Run:
    """Every item at its time, whatever became of the others; latency counts from the intended time."""
    run = Run()
    meter = CpuMeter(cluster, pids)
    began = perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, item in enumerate(items):
            intended = began + number / per_s
            if (wait := intended - perf_counter()) > 0:
                await asyncio.sleep(wait)
            group.create_task(_timed(run, work, item, intended), name=f"request {number}")
    run.seconds, run.cpu = perf_counter() - began, meter.read()
    return run


async def _timed(run: Run, work: Callable[[T], Awaitable[object]], item: T, since: float) -> None:
    try:
        await work(item)
    except Exception as error:  # noqa: BLE001 - counted and printed
        run.failed[getattr(error, "code", type(error).__name__)] += 1
    else:
        run.latencies_s.append(perf_counter() - since)


def percentiles_ms(latencies_s: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the longest, in ms."""
    if len(latencies_s) < 2:
        only = latencies_s[0] * 1_000 if latencies_s else 0.0
        return {"p50_ms": round(only, 2), "p99_ms": round(only, 2), "max_ms": round(only, 2)}
    cuts = quantiles(latencies_s, n=100, method="inclusive")
    longest = max(latencies_s)
    return {name: round(s * 1_000, 2) for name, s in (("p50_ms", cuts[49]), ("p99_ms", cuts[98]), ("max_ms", longest))}


@asynccontextmanager
async def wait_events(db: Database, every_s: float = 0.02) -> AsyncIterator[Counter[str]]:
    """What the server's busy sessions wait for, sampled while the block runs; "CPU" when for nothing."""
    seen: Counter[str] = Counter()
    connection = await asyncpg.connect(db.dsn)

    async def sample() -> None:
        while True:
            rows = await connection.fetch(
                "SELECT coalesce(wait_event_type || ':' || wait_event, 'CPU') AS at FROM pg_stat_activity"
                " WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
            seen.update(row["at"] for row in rows)
            await asyncio.sleep(every_s)

    sampling = asyncio.create_task(sample(), name="wait events")
    try:
        yield seen
    finally:
        sampling.cancel()
        with suppress(asyncio.CancelledError):
            await sampling
        await connection.close()


def table(rows: Mapping[str, Mapping[str, object]], title: str = "") -> str:
    """Rows of figures under the names of their columns."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = [
        [title, *columns],
        *([name, *(str(row.get(column, "")) for column in columns)] for name, row in rows.items()),
    ]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns) + 1)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(*pair, strict=True))
        )
        for pair in ((line, widths) for line in cells)
    )
