"""`python3 run.py bench ops-charts [--json]`: a second of the operators' charts against plain pyqtgraph."""

from __future__ import annotations

import argparse
import json
import os
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

from PySide6.QtWidgets import QApplication

from tests.bench.measuring import table
from tests.bench.ops_charts.measure import SAMPLES, SIZE, growth, measure


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="taquilla bench ops-charts", description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures for other programs")
    parser.add_argument("--repeats", type=int, default=30, help="seconds that are measured (30)")
    chosen = parser.parse_args(arguments)
    application = QApplication.instance() or QApplication(sys.argv[:1])
    cost, grown = measure(chosen.repeats), growth()
    del application
    if chosen.json:
        sys.stdout.write(json.dumps({**cost.figures(), "eight_hours": grown}) + "\n")
        return 0
    rows: dict[str, dict[str, object]] = {
        "a second of the console's page": {"ms": cost.page_ms, "of a core": f"{cost.page_ms / 10:.2f} %"},
        "  of it the charts": {"ms": cost.charts_ms},
        "pyqtgraph, setData of all": {"ms": cost.pyqtgraph_ms, "of a core": f"{cost.pyqtgraph_ms / 10:.2f} %"},
        "cross-hair to another second": {"ms": cost.cross_ms},
        "window one px wider": {"ms": cost.resize_ms},
    }
    sys.stdout.write(
        f"{cost.curves} curves of {SAMPLES} samples, {SIZE[0]} × {SIZE[1]} px, CPU of the interface's thread\n"
    )
    sys.stdout.write(table(rows) + f"\nratio {cost.ratio:.1f}; eight hours of samples: {grown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
