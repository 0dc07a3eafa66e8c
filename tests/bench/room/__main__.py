"""`python3 run.py bench room`: joins and polls a second of one process, CPU of each, memory at 200,000 waiting."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from booking.web.listening import run_loop
from tests.bench.room.crowd import Measured, crowd_at, resident_bytes


async def measure(folder: Path, waiting: int, calls: int) -> None:
    """Print the table."""
    async with crowd_at(folder) as crowd:
        joins = await crowd.join(range(calls))
        show("joins, each durable before its answer", joins)
        before = resident_bytes()
        await crowd.fill(calls, waiting)
        grown = resident_bytes() - before
        await asyncio.sleep(0.5)
        show(f"polls, {waiting + calls:,} waiting", await crowd.poll(range(calls)))
        sys.stdout.write(f"memory of a waiting visitor       {grown / waiting:8.0f} bytes\n")


def show(name: str, measured: Measured) -> None:
    """One line."""
    sys.stdout.write(
        f"{name:<40} {measured.per_s:8.0f} /s  {measured.cpu_us:6.0f} µs CPU  "
        f"{measured.calls} calls, {measured.commits} commits\n"
    )


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="taquilla bench room", description=__doc__)
    parser.add_argument("--waiting", type=int, default=200_000)
    parser.add_argument("--calls", type=int, default=20_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="taquilla-room-") as folder:
        run_loop(measure(Path(folder), chosen.waiting, chosen.calls))


if __name__ == "__main__":
    main()
