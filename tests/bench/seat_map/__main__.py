"""`python -m tests.bench.seat_map`: the seat map against QGraphicsScene, pyqtgraph and a loop in C (design §8).

Time is CPU time of the GUI thread in ms, the least of several repetitions, all subjects in one process and in turn.
Memory, and the frame at two pixels for each of the screen's, are measured in processes of their own. `numpy` is the
product's map; `numpy_bare` is the same without the beds, names, counts and hatching that the others do not draw.
Progress goes to stderr, the tables or JSON to stdout.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from functools import partial

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import numpy as np
import psutil
from PySide6.QtWidgets import QApplication

from tests.bench.seat_map.floor import compiled_floor
from tests.bench.seat_map.measure import (
    OWN_ROWS,
    ROWS,
    SUBJECTS,
    Timings,
    cpu_ms,
    measure_subjects,
)
from tests.bench.seat_map.plans import bowl, mixed_states
from tests.bench.seat_map.subjects import SIZE, NumpyStamps, Subject

SEATS = (60_000, 120_000)
_NO_COMPILER = "no C compiler was found: the floor is left out"


def main(arguments: list[str] | None = None) -> int:
    """Run the bench; 0 when it ran."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.seat_map", description=__doc__)
    parser.add_argument("--seats", type=int, nargs="+", default=list(SEATS), help="one table for each number")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--memory-of", choices=SUBJECTS, help=argparse.SUPPRESS)
    parser.add_argument("--frame-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    app = QApplication.instance() or QApplication([])
    if options.memory_of:
        print(memory_mb(SUBJECTS[options.memory_of](), options.seats[0]))
    elif options.frame_only:
        print(frame_ms(options.seats[0], options.repeats))
    else:
        reports = [measure_all(seats, options.repeats) for seats in options.seats]
        # The first size stands at the top, where scripts have always found it.
        print(json.dumps({**reports[0], "sizes": reports}, indent=2) if options.json else _tables(reports))
    del app
    return 0


def _tables(reports: list[dict[str, object]]) -> str:
    return "\n\n".join(as_table(report) for report in reports)


def measure_all(seats: int, repeats: int) -> dict[str, object]:
    """All subjects and their ratios, at one size of plan."""
    floor = compiled_floor()
    measured, under = measure_subjects(seats, repeats, floor)
    for name in measured:
        measured[name]["memory_mb"] = float(_in_own_process("--memory-of", name, "--seats", str(seats)))
    measured["numpy"]["dpr2_frame"] = float(
        _in_own_process("--frame-only", "--seats", str(seats), "--repeats", str(repeats), scale="2")
    )
    return {"seats": seats, "size": SIZE, "ratios": ratios(measured, under), "ms": measured, "floor_ms": under}


def frame_ms(seats: int, repeats: int) -> float:
    """Least CPU ms of a zoom frame of the whole map, at the pixel ratio of this process."""
    subject = NumpyStamps()
    subject.build(bowl(seats), mixed_states(seats))
    subject.show()
    taken = []
    for at in range(4 * repeats):
        subject.zoom(1 / 1.02 if at % 2 else 1.02)
        taken.append(cpu_ms(subject.settle))
    subject.close()
    return min(taken)


def memory_mb(subject: Subject, seats: int) -> float:
    """Growth of this process from before the build to after a paint, a zoom, changed seats and a rest, MB."""
    plan, states = bowl(seats), mixed_states(seats)
    NumpyStamps().build(bowl(100), mixed_states(100))
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    subject.build(plan, states)
    subject.show()
    subject.zoom(1.05)
    subject.settle()
    subject.change(np.arange(100, dtype=np.int64), mixed_states(100, 3))
    subject.settle()
    subject.rest()
    return (process.memory_info().rss - before) / 1e6


def _in_own_process(*arguments: str, scale: str = "") -> str:
    command = [sys.executable, "-m", "tests.bench.seat_map", *arguments]
    own = {**os.environ, "QT_SCALE_FACTOR": scale} if scale else None
    return subprocess.run(command, check=True, capture_output=True, text=True, env=own).stdout


def ratios(measured: dict[str, Timings], under: Timings) -> dict[str, float]:
    """How many times more work the baselines take; the faster mode of QGraphicsScene counts.

    `bare_…` are those of the map without what the baselines do not draw; `frame_vs_floor` and `deep_vs_floor` are how
    many times more the map takes than a loop in C.
    """
    plot = measured["pyqtgraph"]

    def scene(row: str) -> float:
        return min(measured["scene"][row], measured["scene_full"][row])

    found: Timings = {}
    for name, of in (("", measured["numpy"]), ("bare_", measured["numpy_bare"])):
        found |= {
            f"{name}frame_vs_pyqtgraph": plot["full_frame"] / of["full_frame"],
            f"{name}frame_vs_graphicsscene": scene("full_frame") / of["full_frame"],
            f"{name}changes_vs_pyqtgraph": plot["changes_1000"] / of["changes_1000"],
            f"{name}changes_vs_graphicsscene": scene("changes_1000") / of["changes_1000"],
            f"{name}changes_12000_vs_pyqtgraph": plot["changes_12000"] / of["changes_12000"],
            f"{name}memory_vs_graphicsscene": scene("memory_mb") / of["memory_mb"],
        }
        found |= {
            f"{name}{row.removesuffix('_frame').replace('full', 'frame')}_vs_floor": of[row] / under[row]
            for row in under
        }
    return {name: round(ratio, 1) for name, ratio in found.items()}


def as_table(report: dict[str, object]) -> str:
    """Markdown, for README."""
    measured, under, found = report["ms"], report["floor_ms"], report["ratios"]
    assert isinstance(measured, dict)
    assert isinstance(under, dict)
    assert isinstance(found, dict)
    columns = {**measured, "C floor": under}
    cell = partial(_cell, columns)
    lines = [f"| {report['seats']} seats, CPU ms | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(cell(row)) + " |" for row in (*ROWS, *OWN_ROWS, "dpr2_frame", "memory_mb")]
    lines += ["", *(f"{name}: {ratio}" for name, ratio in found.items())]
    return "\n".join(lines if under else [*lines, _NO_COMPILER])


def _cell(columns: dict[str, Timings], row: str) -> list[str]:
    return [f"{of[row]:.2f}" if row in of else "" for of in columns.values()]


if __name__ == "__main__":
    sys.exit(main())
