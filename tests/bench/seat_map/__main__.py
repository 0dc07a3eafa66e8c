"""`python -m tests.bench.seat_map`: the seat map against QGraphicsScene and pyqtgraph, in one run (design §8).

Time is CPU time of the GUI thread in ms, the median of several repetitions, subjects interleaved; memory is measured in
a process of its own for each subject. Progress goes to stderr, the table or JSON to stdout.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, thread_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import numpy as np
import psutil
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from tests.bench.seat_map.plans import bowl, mixed_states
from tests.bench.seat_map.subjects import SIZE, GraphicsScene, NumpyStamps, PaintWatch, ScatterPlot, Subject
from widgets.seat_map import SeatMapPlan

CHANGES = (1, 100, 1_000, 12_000)
SUBJECTS: dict[str, Callable[[], Subject]] = {
    "numpy": NumpyStamps,
    "scene": lambda: GraphicsScene(full_updates=False),
    "scene_full": lambda: GraphicsScene(full_updates=True),
    "pyqtgraph": ScatterPlot,
}
ROWS = (
    "build",
    "first_paint",
    "full_frame",
    "pan_frame",
    "deep_frame",
    *(f"changes_{count}" for count in CHANGES),
    "hit_us",
    "memory_mb",
)

Timings = dict[str, float]
_RNG = np.random.default_rng(11)
_TURN = [3 | 2 << 3, 1 | 1 << 3]


def main(arguments: list[str] | None = None) -> int:
    """Run the bench; 0 when it ran."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.seat_map", description=__doc__)
    parser.add_argument("--seats", type=int, default=60_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--memory-of", choices=SUBJECTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    app = QApplication.instance() or QApplication([])
    if options.memory_of:
        print(memory_mb(SUBJECTS[options.memory_of](), options.seats))
        return 0
    report = measure_all(options.seats, options.repeats)
    print(json.dumps(report, indent=2) if options.json else as_table(report))
    del app
    return 0


def measure_all(seats: int, repeats: int) -> dict[str, object]:
    """All subjects, one after the other in this process, and their ratios."""
    plan, states = bowl(seats), mixed_states(seats)
    measured: dict[str, Timings] = {}
    for name, make in SUBJECTS.items():
        print(f"{name}: {seats} seats", file=sys.stderr, flush=True)
        measured[name] = measure(make(), plan, states, repeats)
        measured[name]["memory_mb"] = memory_in_own_process(name, seats)
    return {"seats": seats, "size": SIZE, "ratios": ratios(measured), "ms": measured}


def measure(
    subject: Subject, plan: SeatMapPlan, states: np.ndarray[tuple[int], np.dtype[np.uint8]], repeats: int
) -> Timings:
    """One subject's timings."""
    gc.collect()
    gc.disable()
    try:
        timings: Timings = {"build": cpu_ms(lambda: subject.build(plan, states))}
        timings["first_paint"] = cpu_ms(subject.show)
        watch = PaintWatch()
        watch.watch(subject.widget)
        frame = Frames(subject, watch)
        steps = 2 * repeats
        timings["full_frame"] = median(frame.of(partial(subject.zoom, _in_and_out(at))) for at in range(steps))
        subject.zoom(3.0)
        subject.settle()
        timings["pan_frame"] = median(frame.of(partial(subject.pan, 9 - 18 * (at % 2))) for at in range(steps))
        middle = len(states) // 3
        deep = [partial(subject.deep, middle + at % 2, 28.0) for at in range(steps)]
        timings["deep_frame"] = median(frame.of(step) for step in deep)
        timings["hit_us"] = hit_us(subject)
        subject.fit()
        subject.settle()
        for count in CHANGES:
            timings[f"changes_{count}"] = median(
                frame.of(change_of(subject, len(states), count)) for _ in range(repeats)
            )
    finally:
        gc.enable()
        subject.close()
    return timings


def _in_and_out(at: int) -> float:
    return 1 / 1.02 if at % 2 else 1.02


class Frames:
    """Measures steps that must paint."""

    def __init__(self, subject: Subject, watch: PaintWatch) -> None:
        self._subject = subject
        self._watch = watch

    def of(self, step: Callable[[], None]) -> float:
        """CPU ms of a step with its paint event; 0 paints is an error of the bench."""
        before = self._watch.paints

        def act() -> None:
            step()
            self._subject.settle()

        taken = cpu_ms(act)
        if self._watch.paints == before:
            raise RuntimeError(f"{self._subject.name} did not paint")
        return taken


def change_of(subject: Subject, seats: int, count: int) -> Callable[[], None]:
    """A step that changes some seats; random numbers are drawn before it is measured."""
    chosen = _RNG.integers(0, seats, count).astype(np.int64)
    if count == 1:
        # A seat in the middle of the plan, sold and freed in turn: it must change and it must paint.
        chosen[0] = seats // 3
        states = np.array([_TURN[0]], np.uint8)
        _TURN.reverse()
    else:
        states = mixed_states(count, int(_RNG.integers(1 << 30)))
    return lambda: subject.change(chosen, states)


def hit_us(subject: Subject) -> float:
    """Median wall µs of a hit test near the middle of the window."""
    rng = np.random.default_rng(4)
    points = [QPointF(float(x), float(y)) for x, y in rng.uniform((300, 200), (1300, 800), (60, 2))]
    taken = []
    for point in points:
        start = perf_counter()
        subject.hit(point)
        taken.append((perf_counter() - start) * 1e6)
    return median(taken)


def cpu_ms(step: Callable[[], None]) -> float:
    """CPU time of this thread, ms."""
    start = thread_time()
    step()
    return (thread_time() - start) * 1000


def memory_mb(subject: Subject, seats: int) -> float:
    """Growth of this process from before the build to after the first paint and one zoom, MB."""
    plan, states = bowl(seats), mixed_states(seats)
    NumpyStamps().build(bowl(100), mixed_states(100))
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    subject.build(plan, states)
    subject.show()
    subject.zoom(1.05)
    subject.settle()
    return (process.memory_info().rss - before) / 1e6


def memory_in_own_process(name: str, seats: int) -> float:
    command = [sys.executable, "-m", "tests.bench.seat_map", "--memory-of", name, "--seats", str(seats)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ratios(measured: dict[str, Timings]) -> dict[str, float]:
    """How many times more work the baselines take; the faster mode of QGraphicsScene counts."""
    ours, plot = measured["numpy"], measured["pyqtgraph"]

    def scene(row: str) -> float:
        return min(measured["scene"][row], measured["scene_full"][row])

    found = {
        "frame_vs_pyqtgraph": plot["full_frame"] / ours["full_frame"],
        "frame_vs_graphicsscene": scene("full_frame") / ours["full_frame"],
        "changes_vs_pyqtgraph": plot["changes_1000"] / ours["changes_1000"],
        "changes_vs_graphicsscene": scene("changes_1000") / ours["changes_1000"],
        "changes_12000_vs_pyqtgraph": plot["changes_12000"] / ours["changes_12000"],
        "memory_vs_graphicsscene": scene("memory_mb") / ours["memory_mb"],
    }
    return {name: round(ratio, 1) for name, ratio in found.items()}


def as_table(report: dict[str, object]) -> str:
    """Markdown, for README."""
    measured = report["ms"]
    assert isinstance(measured, dict)
    lines = [f"| {report['seats']} seats, CPU ms | " + " | ".join(measured) + " |", "|---" * (len(measured) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(f"{measured[name][row]:.2f}" for name in measured) + " |" for row in ROWS]
    lines.append("")
    found = report["ratios"]
    assert isinstance(found, dict)
    lines += [f"{name}: {ratio}" for name, ratio in found.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
