"""The measurements of the bench: all subjects in one process, step by step beside each other.

Time is CPU time of the GUI thread, the least of several repetitions: neighbours on the same cores only ever add.
"""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from time import perf_counter, thread_time

import numpy as np
from PySide6.QtCore import QPointF

from tests.bench.seat_map.floor import Floor
from tests.bench.seat_map.plans import bowl, mixed_states
from tests.bench.seat_map.subjects import (
    BareStamps,
    GraphicsScene,
    NumpyStamps,
    PaintWatch,
    ScatterPlot,
    Seats,
    States,
    Subject,
)

CHANGES = (1, 100, 1_000, 12_000)
SUBJECTS: dict[str, Callable[[], Subject]] = {
    "numpy": NumpyStamps,
    "numpy_bare": BareStamps,
    "scene": lambda: GraphicsScene(full_updates=False),
    "scene_full": lambda: GraphicsScene(full_updates=True),
    "pyqtgraph": ScatterPlot,
}
OURS = ("numpy", "numpy_bare")
ROWS = (
    "build", "first_paint", "full_frame", "pan_frame", "middle_frame", "deep_frame",
    *(f"changes_{count}" for count in CHANGES), "hit_us",
)  # fmt: skip
OWN_ROWS = ("sweep_worst", "hover", "band_2000", "settled_frame")
"""Measured for the map alone."""
DEEP_PX, MIDDLE_PX = 28.0, 8.0
_OURS_MORE = 10  # times more repetitions of what takes a hundredth of the time
_TURN = [3 | 2 << 3, 1 | 1 << 3]

Timings = dict[str, float]


def measure_subjects(seats: int, repeats: int, floor: Floor | None) -> tuple[dict[str, Timings], Timings]:
    """Timings of every subject by row, and of the floor by row (empty without a floor)."""
    plan, states = bowl(seats), mixed_states(seats)
    with _quiet():
        stage = _Stage({name: make() for name, make in SUBJECTS.items()}, seats, repeats)
        for name, subject in stage.subjects.items():
            print(f"{name}: {seats} seats", file=sys.stderr, flush=True)
            stage.timings[name]["build"] = cpu_ms(partial(subject.build, plan, states))
            stage.timings[name]["first_paint"] = cpu_ms(subject.show)
        stage.watch()
        under = stage.frames(floor)
        stage.changes()
        stage.own()
        stage.close()
    return stage.timings, under


class _Stage:
    """Subjects that are shown at the same time, and what was measured of them."""

    def __init__(self, subjects: dict[str, Subject], seats: int, repeats: int) -> None:
        self.subjects = subjects
        self.timings: dict[str, Timings] = {name: {} for name in subjects}
        self._seats = seats
        self._repeats = repeats
        self._watches: dict[str, PaintWatch] = {}
        self._rng = np.random.default_rng(11)

    def watch(self) -> None:
        """Count the paints from now on."""
        for name, subject in self.subjects.items():
            self._watches[name] = PaintWatch()
            self._watches[name].watch(subject.widget)

    def frames(self, floor: Floor | None) -> Timings:
        """Frames at three levels; those of the floor at the same views."""
        under: Timings = {}
        ours = self.subjects["numpy"]
        assert isinstance(ours, NumpyStamps)

        def at_floor(row: str) -> None:
            if floor is not None:
                under[row] = floor.frame_ms(ours.map, self._repeats)

        middle = self._seats // 3
        at_floor("full_frame")
        self._row("full_frame", lambda subject, at: subject.zoom(1 / 1.02 if at % 2 else 1.02))
        for subject in self.subjects.values():
            subject.zoom(3.0)
            subject.settle()
        self._row("pan_frame", lambda subject, at: subject.pan(9 - 18 * (at % 2)))
        self._row("middle_frame", lambda subject, at: subject.deep(middle + at % 2, MIDDLE_PX))
        at_floor("middle_frame")
        self._row("deep_frame", lambda subject, at: subject.deep(middle + at % 2, DEEP_PX))
        at_floor("deep_frame")
        for name, subject in self.subjects.items():
            self.timings[name]["hit_us"] = hit_us(subject)
            subject.fit()
            subject.settle()
        return under

    def changes(self) -> None:
        """Changed seats of the whole plan in view; random numbers are drawn before a step is measured."""
        for count in CHANGES:
            chosen = [self._chosen(count) for _ in range(self._repeats * _OURS_MORE)]
            self._row(f"changes_{count}", lambda subject, at, chosen=chosen: subject.change(*chosen[at]))  # type: ignore[misc]

    def own(self) -> None:
        """What only the map does, or what only it is asked for."""
        ours = self.subjects["numpy"]
        assert isinstance(ours, NumpyStamps)
        timings = self.timings["numpy"]
        steps = int(math.log(ours.map.camera.max_scale / ours.map.camera.scale) / math.log(1.12))
        timings["sweep_worst"] = max(self._step("numpy", partial(ours.zoom, 1.12)) for _ in range(steps))
        ours.deep(self._seats // 3, DEEP_PX)
        ours.settle()
        timings["hover"] = min(
            self._step("numpy", partial(ours.hover, event)) for event in ours.hovers(4 * self._repeats)
        )
        ours.fit()
        ours.settle()
        timings["settled_frame"] = min(self._step("numpy", ours.map._settle) for _ in range(self._repeats * _OURS_MORE))
        timings["band_2000"] = min(self._step("numpy", ours.band) for _ in range(2 * self._repeats))

    def close(self) -> None:
        for subject in self.subjects.values():
            subject.close()

    def _row(self, row: str, step: Callable[[Subject, int], None]) -> None:
        """A step of every subject in turn, as often as there are repetitions; ours more often in each."""
        taken: dict[str, list[float]] = {name: [] for name in self.subjects}
        for at in range(self._repeats):
            for name, subject in self.subjects.items():
                more = _OURS_MORE if name in OURS else 1
                for turn in range(at * more, (at + 1) * more):
                    taken[name].append(self._step(name, partial(step, subject, turn)))
        for name, times in taken.items():
            self.timings[name][row] = min(times)

    def _step(self, name: str, step: Callable[[], None]) -> float:
        """CPU ms of a step with its paint event; a step that does not paint is an error of the bench."""
        subject, watch = self.subjects[name], self._watches[name]
        before = watch.paints

        def act() -> None:
            step()
            subject.settle()

        taken = cpu_ms(act)
        if watch.paints == before:
            raise RuntimeError(f"{subject.name} did not paint")
        return taken

    def _chosen(self, count: int) -> tuple[Seats, States]:
        if count == 1:
            # A seat in the middle of the plan, sold and freed in turn: it must change and it must paint.
            _TURN.reverse()
            return np.array([self._seats // 3], np.int64), np.array([_TURN[0]], np.uint8)
        chosen = self._rng.integers(0, self._seats, count).astype(np.int64)
        return chosen, mixed_states(count, int(self._rng.integers(1 << 30)))


@contextmanager
def _quiet() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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


def cpu_ms(step: Callable[[], object]) -> float:
    """CPU time of this thread, ms."""
    start = thread_time()
    step()
    return (thread_time() - start) * 1000
