"""`python3 run.py bench room`: joins and polls a second of one process, CPU of each, memory at 200,000 waiting.

Every store in one run, by turns, so that a busy machine slows down all of them; the last column compares with SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from time import perf_counter

from booking.web.listening import run_loop
from tests.bench.measuring import table
from tests.bench.room.crowd import KINDS, Crowd, Measured, StoreAt, crowd_at, resident_bytes, store_at

ROUNDS = 4
FILLED_AT_ONCE = 10_000


async def measure(folder: Path, kinds: Sequence[str], waiting: int, calls: int) -> None:
    """Print the table."""
    rows: dict[str, dict[str, object]] = {kind: {} for kind in kinds}
    async with AsyncExitStack() as stack:
        places = {kind: stack.enter_context(store_at(kind, folder)) for kind in kinds}
        async with AsyncExitStack() as rooms:
            crowds = {kind: await rooms.enter_async_context(crowd_at(places[kind])) for kind in kinds}
            await measure_joins(crowds, calls, rows)
            await measure_memory(crowds, calls, waiting, rows)
            await asyncio.sleep(0.5)
            await measure_polls(crowds, calls, rows)
        for kind, place in places.items():
            rows[kind]["load s"] = round(await load_s(place), 2)
    sys.stdout.write(f"{calls} joins and polls, {waiting + calls:,} waiting, best of {ROUNDS} rounds\n")
    sys.stdout.write(table(rows, "store") + "\n")
    for kind in kinds[1:]:
        sys.stdout.write(f"{kind} / {kinds[0]}: {ratios(rows[kind], rows[kinds[0]])}\n")


async def measure_joins(crowds: Mapping[str, Crowd], calls: int, rows: Mapping[str, dict[str, object]]) -> None:
    """Each join is durable before its answer."""
    each = calls // ROUNDS
    found: dict[str, list[Measured]] = {kind: [] for kind in crowds}
    for turn in range(ROUNDS):
        for kind, crowd in crowds.items():
            found[kind].append(await crowd.join(range(turn * each, (turn + 1) * each)))
    for kind, some in found.items():
        rows[kind] |= figures("join", some) | {"joins/commit": round(each * ROUNDS / sum(one.commits for one in some))}


async def measure_memory(
    crowds: Mapping[str, Crowd], first: int, waiting: int, rows: Mapping[str, dict[str, object]]
) -> None:
    """Of the room's process, and in the store. By turns here, too: what one has freed the next one takes first."""
    grown, stored = Counter[str](), {kind: crowd.at.stored_bytes() for kind, crowd in crowds.items()}
    for begin in range(first, first + waiting, FILLED_AT_ONCE):
        for kind, crowd in crowds.items():
            before = resident_bytes()
            await crowd.fill(begin, min(FILLED_AT_ONCE, first + waiting - begin))
            grown[kind] += resident_bytes() - before
    for kind, crowd in crowds.items():
        rows[kind]["bytes each"] = round(grown[kind] / waiting)
        rows[kind]["stored each"] = round((crowd.at.stored_bytes() - stored[kind]) / waiting)


async def measure_polls(crowds: Mapping[str, Crowd], calls: int, rows: Mapping[str, dict[str, object]]) -> None:
    """Nothing of a poll is stored."""
    each = calls // ROUNDS
    found: dict[str, list[Measured]] = {kind: [] for kind in crowds}
    for _ in range(ROUNDS):
        for kind, crowd in crowds.items():
            found[kind].append(await crowd.poll(range(each)))
    for kind, some in found.items():
        rows[kind] |= figures("poll", some)


def figures(name: str, rounds: Sequence[Measured]) -> dict[str, object]:
    """The best of several rounds: the most a second, the least CPU."""
    return {
        f"{name}s/s": round(max(one.per_s for one in rounds)),
        f"{name} µs": round(min(one.cpu_us for one in rounds)),
        f"{name} µs of server": round(min(one.server_us for one in rounds), 1),
    }


async def load_s(place: StoreAt) -> float:
    """Seconds until everything is read after a new start."""
    store = await place.open()
    began = perf_counter()
    await store.load()
    took = perf_counter() - began
    await store.close()
    return took


def ratios(row: Mapping[str, object], base: Mapping[str, object]) -> str:
    """How many times as much."""
    words = []
    for name, value in row.items():
        with suppress(ZeroDivisionError):
            words.append(f"{name} × {float(str(value)) / float(str(base[name])):.2f}")
    return ", ".join(words)


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="taquilla bench room", description=__doc__)
    parser.add_argument("--waiting", type=int, default=200_000)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--store", action="append", choices=KINDS, help="one of them; default: all")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="taquilla-room-") as folder:
        run_loop(measure(Path(folder), chosen.store or KINDS, chosen.waiting, chosen.calls))


if __name__ == "__main__":
    main()
