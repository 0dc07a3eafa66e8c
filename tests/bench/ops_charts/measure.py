"""One message a second on charts of a quarter of an hour: ours as the console shows them, and plain `setData`.

Both have the same curves of 900 samples in as many plots in a window of the same size. What is counted is CPU of the
interface's thread from the message's samples to the painted window, the least of several seconds: neighbours on the
same cores only ever add.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import thread_time
from typing import Any

from PySide6.QtWidgets import QApplication

from app.core.hold_clock import ServerClock
from app.core.ops_board import OpsBoard
from app.core.ops_parts import OpsPart, OpsView
from app.core.store import ConsoleStore
from app.screens.ops_live_page import OpsLivePage
from app.screens.ops_strips import strip_plans
from app.showcase_ops import play_evening
from backend_client.steady_time import steady_seconds
from backend_client.testing import FakeBookingServer
from backend_client.wire import OpsFigures
from widgets.theme import Theme, apply_theme

SIZE = (900, 640)
SAMPLES = 900


@dataclass(frozen=True, slots=True)
class Cost:
    """ms of CPU: a second of the console's page, of its charts alone, of plain pyqtgraph; moving the cross-hair."""

    curves: int
    page_ms: float
    charts_ms: float
    pyqtgraph_ms: float
    cross_ms: float
    resize_ms: float

    @property
    def ratio(self) -> float:
        """How many times pyqtgraph costs what the whole page does."""
        return self.pyqtgraph_ms / self.page_ms

    def figures(self) -> dict[str, float]:
        """For `--json`."""
        return {**asdict(self), "ratio": round(self.ratio, 2)}


def evening(seconds: int = SAMPLES) -> list[OpsFigures]:
    """Statements of an evening, one a second."""
    server = FakeBookingServer()
    play_evening(server, seconds=seconds, trouble_at=200)
    return server.ops.told


def measure(repeats: int = 12) -> Cost:
    """Measure all three, turn by turn."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    apply_theme(application, Theme.light())
    told = evening(SAMPLES + 3 * repeats)
    plans = strip_plans()
    curves = [curve.key for plan in plans for curve in plan.curves]
    page, board = _page(told[: len(told) - 2 * repeats])
    charts = page.charts
    plots = _Plots([[curve.key for curve in plan.curves] for plan in plans])
    for widget in (page, plots.window):
        widget.resize(*SIZE)
        widget.show()
    application.processEvents()
    rest = iter(told[len(told) - 2 * repeats :])
    costs: dict[str, list[float]] = {"page": [], "charts": [], "pyqtgraph": [], "cross": [], "resize": []}
    gc.disable()
    try:
        for turn in range(repeats):
            figures = next(rest)
            costs["page"].append(_cpu_ms(partial(_second, page, board, figures), application))
            table = page._table  # the same samples for both
            span = page.span.moved(0.001 * turn)
            costs["charts"].append(_cpu_ms(partial(charts.show_data, table, span), application))
            columns = {key: table.column(key) for key in curves}
            times = table.times
            costs["pyqtgraph"].append(_cpu_ms(partial(plots.show, times, columns), application))
            at = float(times[-20 - turn])
            costs["cross"].append(_cpu_ms(partial(charts.set_cross, at), application))
            charts.set_cross(None)
            application.processEvents()
            page.resize(SIZE[0] + turn % 2, SIZE[1])
            costs["resize"].append(_cpu_ms(lambda: None, application))
    finally:
        gc.enable()
        page.hide()
        plots.window.hide()
        page.deleteLater()
        plots.window.deleteLater()
    least = {name: round(min(found), 3) for name, found in costs.items()}
    return Cost(len(curves), least["page"], least["charts"], least["pyqtgraph"], least["cross"], least["resize"])


def _page(told: list[OpsFigures]) -> tuple[OpsLivePage, OpsBoard]:
    store = ConsoleStore(ServerClock(steady_seconds))
    board = store.ops
    for figures in told:
        board.put_figures(figures, steady_seconds())
    board.choose_event(told[0].events[0].event_id)
    board.look_at(OpsView())
    page = OpsLivePage(Theme.light(), store, steady_seconds)
    return page, board


def _second(page: OpsLivePage, board: OpsBoard, figures: OpsFigures) -> None:
    board.put_figures(figures, steady_seconds())
    page.show_part(OpsPart.FIGURES | OpsPart.STATE)


def _cpu_ms(act: Callable[[], object], application: QApplication) -> float:
    began = thread_time()
    act()
    application.processEvents()
    return (thread_time() - began) * 1_000


class _Plots:
    """Plain pyqtgraph: as many plots and curves, linked in time, pens one px wide, no antialiasing: its fast way."""

    def __init__(self, groups: list[list[str]]) -> None:
        import pyqtgraph as pg

        self.window: Any = pg.GraphicsLayoutWidget()
        self._curves: dict[str, Any] = {}
        first = None
        rows = -(-len(groups) // 2)
        for number, group in enumerate(groups):
            plot = self.window.addPlot(row=number % rows, col=number // rows)
            plot.setXLink(first) if first is not None else None
            first = first or plot
            for place, key in enumerate(group):
                self._curves[key] = plot.plot(pen=pg.mkPen(pg.intColor(place), width=1), connect="finite")

    def show(self, times: Any, columns: dict[str, Any]) -> None:
        """`setData` of all curves."""
        for key, curve in self._curves.items():
            curve.setData(times, columns[key])


def growth(minutes: int = 480) -> dict[str, float]:
    """Eight hours of samples: what the rings keep, and the memory of the process before and after (D4)."""
    import psutil

    store = ConsoleStore(ServerClock(steady_seconds))
    told = evening(60)
    board, own = store.ops, psutil.Process()
    names = len(told[0].house)
    before = 0.0
    for second in range(minutes * 60):
        like = told[second % len(told)]
        board.house.push(float(second), like.house)
        if second == 3_600:
            gc.collect()
            before = own.memory_info().rss / 2**20
    gc.collect()
    return {"names": names, "samples": len(board.house), "grown_mb": round(own.memory_info().rss / 2**20 - before, 1)}
