"""`python -m tests.bench.soak --minutes 60`: an hour of changes on one console; memory and the loop's gaps as a table.

Progress goes to stderr, the table or JSON to stdout. Exit code 1: memory grew, or the map was wrong at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.bridge.loop import close, new_loop
from tests.bench.soak.figures import EDGES_MS, Growth, Sample, growth
from tests.bench.soak.soak import Pace, Soak, Told
from widgets.theme import Theme, apply_theme

GROWN_RSS_MB, GROWN_OBJECTS, GROWN_WIDGETS = 12.0, 3_000, 20
_ROWS = 12


def main(arguments: list[str] | None = None) -> int:
    """Run the soak; 0 when nothing grew and the map was right."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--changes", type=int, default=15_000, help="changes of seats a minute")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    app = QApplication.instance() or QApplication([])
    if not isinstance(app, QApplication):
        raise TypeError("the soak needs windows")
    apply_theme(app, Theme.light())
    told = run(app, 60 * options.minutes, Pace(options.changes // 60, sample_s=max(1.0, options.minutes)))
    grown = growth(told.samples)
    if options.json:
        print(json.dumps({**asdict(told), "grown": asdict(grown), "edges_ms": EDGES_MS}, indent=2))
    else:
        print("\n".join(table(told, grown)))
    return 0 if is_flat(grown) and told.wrong == 0 else 1


def run(app: QApplication, seconds: float, pace: Pace) -> Told:
    """One soak on a loop of its own."""
    loop = new_loop(app)
    asyncio.set_event_loop(loop)
    try:
        with tempfile.TemporaryDirectory() as folder:

            async def soak() -> Told:
                return await Soak(Path(folder), pace).run(seconds)

            told: Told = loop.run_until_complete(soak())
            return told
    finally:
        close(loop)


def is_flat(grown: Growth) -> bool:
    """Whether what grew is noise."""
    return grown.rss_mb <= GROWN_RSS_MB and grown.objects <= GROWN_OBJECTS and grown.widgets <= GROWN_WIDGETS


def table(told: Told, grown: Growth) -> list[str]:
    """Memory over time, what happened, and the loop's gaps."""
    step = max(1, len(told.samples) // _ROWS)
    return [
        " ".join(
            (
                f"{told.seconds / 60:.1f} min: {told.changes:,} changes of seats,",
                f"{60 * told.changes / told.seconds:,.0f} a minute; seats shown wrong at the end: {told.wrong}",
            )
        ),
        *([f"did not come to rest: {told.stuck}"] if told.stuck else []),
        f"{told.zooms} zooms, {told.picks} picks, {told.cuts} cut links, {told.resyncs} resyncs",
        f"{told.switches} show switches, {told.rebuilds} times all screens anew",
        "",
        "    min     RSS MB    objects   widgets",
        *(_row(one) for one in told.samples[::step]),
        f"  grown  {grown.rss_mb:9.1f}  {grown.objects:9,.0f} {grown.widgets:9,.0f}   (second quarter → last, medians)",
        "",
        "the loop came late by",
        *told.gaps.lines(),
        "",
        "the loop came late by, while another show was opened or all screens were built anew",
        *told.opening_gaps.lines(),
    ]


def _row(one: Sample) -> str:
    return f"{one.at_s / 60:7.2f}  {one.rss_mb:9.1f}  {one.objects:9,} {one.widgets:9,}"


if __name__ == "__main__":
    sys.exit(main())
