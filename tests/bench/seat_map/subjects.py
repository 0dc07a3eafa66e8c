"""Three ways to show the same seats, behind one small interface, so that one run compares them in one process.

All are given the same plan, states and window size. The baselines are favoured: pyqtgraph draws no labels, beds or
shapes, and QGraphicsScene is measured in its faster view mode for each kind of work.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QMouseEvent
from PySide6.QtWidgets import QApplication, QGraphicsEllipseItem, QGraphicsScene, QGraphicsView, QWidget

from widgets.seat_map import SeatMapPlan, SeatMapWidget
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.seat_bits import LOOK_OF_STATE, Look
from widgets.theme import Theme

SIZE = (1600, 1000)
BAND_SEATS = 2_000
States = npt.NDArray[np.uint8]
Seats = npt.NDArray[np.int64]


class Subject(ABC):
    """One way to draw a plan. Work is posted; `settle` runs the event loop until the picture is up to date."""

    name: str
    widget: QWidget

    @abstractmethod
    def build(self, plan: SeatMapPlan, states: States) -> None:
        """Make everything from the columns, without painting."""

    @abstractmethod
    def zoom(self, factor: float) -> None:
        """One zoom step about the middle."""

    @abstractmethod
    def pan(self, dx: float) -> None:
        """Move sideways, px."""

    @abstractmethod
    def deep(self, seat_no: int, seat_px: float) -> None:
        """Centre a seat at a size of seats."""

    @abstractmethod
    def fit(self) -> None:
        """The whole plan."""

    @abstractmethod
    def change(self, seats: Seats, states: States) -> None:
        """Apply changes."""

    @abstractmethod
    def hit(self, point: QPointF) -> int:
        """Seat at a point of the widget."""

    def settle(self) -> None:
        QApplication.sendPostedEvents()
        QApplication.processEvents()

    def rest(self) -> None:
        """Nothing has changed for a while."""
        self.settle()

    def show(self) -> None:
        self.widget.resize(*SIZE)
        self.widget.show()
        self.settle()

    def close(self) -> None:
        self.widget.close()
        self.widget.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QApplication.processEvents()


class NumpyStamps(Subject):
    """The product's map, with beds, names, shapes, numbers and overlays."""

    name = "numpy stamps"

    def build(self, plan: SeatMapPlan, states: States) -> None:
        self.map = SeatMapWidget(Theme.light())
        self.widget = self.map
        self.map.set_plan(plan)
        self.map.set_states(states)

    def zoom(self, factor: float) -> None:
        self.map.zoom(factor)

    def pan(self, dx: float) -> None:
        self.map.camera.pan(dx, 0)
        self.map._change_view()

    def deep(self, seat_no: int, seat_px: float) -> None:
        self.map.camera.look_at(*self.map.scene.position(seat_no), seat_px / self.map.scene.seat_diameter)
        self.map._change_view()

    def fit(self) -> None:
        self.map.fit()

    def change(self, seats: Seats, states: States) -> None:
        self.map.apply_changes(seats, states)
        self.map._flush_timer.stop()
        self.map._flush()  # without the pause that gathers more changes

    def hit(self, point: QPointF) -> int:
        return self.map.seat_at(point)

    def rest(self) -> None:
        self.map._settle()
        self.settle()

    def hovers(self, count: int) -> list[QMouseEvent]:
        """So many moves of the pointer to the next seat; four seats of its row are shown from now on."""
        plan, grid = self.map.plan, self.map.scene.grid

        def block_of(seat_no: int) -> range:
            row = plan.seats_of_row(int(plan.row_no[seat_no]))
            first = max(row.start, min(seat_no, row.stop - 4))
            return range(first, min(first + 4, row.stop))

        self.map.set_block_of(block_of)
        view = self.map.camera.view().grown(-grid.pitch)
        near = grid.seats_in(view.left, view.top, view.right, view.bottom)
        away = np.hypot(plan.x[near] - (view.left + view.right) / 2, plan.y[near] - (view.top + view.bottom) / 2)
        near = near[np.argsort(away, kind="stable")[:20]]
        points = [QPointF(self.map.seat_rect(int(near[at % len(near)])).center()) for at in range(count)]
        return [
            QMouseEvent(
                QEvent.Type.MouseMove, point, self.map.mapToGlobal(point), Qt.MouseButton.NoButton,
                Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            ) for point in points
        ]  # fmt: skip

    def hover(self, event: QMouseEvent) -> None:
        """The pointer moves."""
        QCoreApplication.sendEvent(self.map, event)

    def band(self) -> None:
        """A rubber band about some 2,000 seats is drawn and let go."""
        half = 0.5 * math.sqrt(BAND_SEATS / max(1, len(self.map.plan.x)))
        bounds, (x, y) = self.map.scene.bounds, self.map.scene.position(len(self.map.plan.x) // 3)
        wide, high = bounds.width * half, bounds.height * half
        (left, top), (right, low) = self.map.camera.to_px(x - wide, y - high), self.map.camera.to_px(x + wide, y + high)
        self.map._set_band(QRectF(QPointF(left, top), QPointF(right, low)))
        self.map._emit_selectable(self.map.scene.grid.seats_in(x - wide, y - high, x + wide, y + high))


class BareStamps(NumpyStamps):
    """The same map without what the others do not draw: beds, names, counts, hatching. Only its seats are measured."""

    name = "bare stamps"

    def build(self, plan: SeatMapPlan, states: States) -> None:
        super().build(plan, states)
        scene = self.map.scene
        for part, method in (
            (scene.renderer._ground, "_paint_beds"), (scene._sections, "place"), (scene._sections, "paint"),
            (scene.heat, "place"), (scene.heat, "paint"), (scene._row_labels_of(), "place"),
            (scene._row_labels_of(), "paint"), (scene.renderer._numbers, "draw"),
        ):  # fmt: skip
            setattr(part, method, _nothing)


def _nothing(*_args: object, **_named: object) -> None:
    """Draw nothing."""


def fills(plan: SeatMapPlan) -> list[list[QBrush]]:
    """Brush of each look and category, the same colours for all."""
    palette = MapPalette.of(Theme.light(), plan)
    return [[QBrush(palette.small(look, category)) for category in range(len(plan.category_name))] for look in Look]


class GraphicsScene(Subject):
    """QGraphicsScene with one ellipse item a seat, antialiasing off."""

    name = "QGraphicsScene"

    def __init__(self, *, full_updates: bool) -> None:
        self._full_updates = full_updates

    def build(self, plan: SeatMapPlan, states: States) -> None:
        self._plan, self._brushes = plan, fills(plan)
        self._scene = QGraphicsScene()
        self._view = QGraphicsView(self._scene)
        self.widget = self._view
        if self._full_updates:
            self._view.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        radius = 0.4 * float(np.hypot(*(plan.x[1] - plan.x[0], plan.y[1] - plan.y[0])))
        self.radius = radius
        self._items: list[QGraphicsEllipseItem] = []
        columns = zip(
            plan.x.tolist(), plan.y.tolist(), LOOK_OF_STATE[states].tolist(), plan.category.tolist(), strict=True
        )
        for x, y, look, category in columns:
            item = QGraphicsEllipseItem(-radius, -radius, 2 * radius, 2 * radius)
            item.setPos(x, y)
            item.setPen(Qt.PenStyle.NoPen)
            item.setBrush(self._brushes[look][category])
            self._scene.addItem(item)
            self._items.append(item)

    def show(self) -> None:
        self.widget.resize(*SIZE)
        self.fit()
        super().show()

    def fit(self) -> None:
        self._view.fitInView(self._scene.itemsBoundingRect(), Qt.AspectRatioMode.KeepAspectRatio)

    def zoom(self, factor: float) -> None:
        self._view.scale(factor, factor)

    def pan(self, dx: float) -> None:
        bar = self._view.horizontalScrollBar()
        bar.setValue(bar.value() - int(dx))

    def deep(self, seat_no: int, seat_px: float) -> None:
        scale = seat_px / (2 * self.radius)
        self._view.resetTransform()
        self._view.scale(scale, scale)
        self._view.centerOn(float(self._plan.x[seat_no]), float(self._plan.y[seat_no]))

    def change(self, seats: Seats, states: States) -> None:
        for seat, look in zip(seats.tolist(), LOOK_OF_STATE[states].tolist(), strict=True):
            self._items[seat].setBrush(self._brushes[look][int(self._plan.category[seat])])

    def hit(self, point: QPointF) -> int:
        return -1 if self._view.itemAt(point.toPoint()) is None else 1


class ScatterPlot(Subject):
    """pyqtgraph's ScatterPlotItem, points scaled with the view, colours through its public setBrush."""

    name = "pyqtgraph"

    def build(self, plan: SeatMapPlan, states: States) -> None:
        self._plan, self._brushes = plan, fills(plan)
        self._states = states.copy()
        self._graphics = pg.GraphicsView()
        self._box = pg.ViewBox(enableMenu=False, invertY=True)
        self._graphics.setCentralItem(self._box)
        self._box.setAspectLocked(lock=True)
        self.widget = self._graphics
        self._plot = pg.ScatterPlotItem(
            x=plan.x.astype(float), y=plan.y.astype(float), size=3, pen=None, brush=self._all_brushes(), pxMode=True
        )
        self._box.addItem(self._plot)
        self._whole = QRectF(float(plan.x.min()), float(plan.y.min()), float(np.ptp(plan.x)), float(np.ptp(plan.y)))
        self.fit()

    def _all_brushes(self) -> list[QBrush]:
        looks = LOOK_OF_STATE[self._states].tolist()
        return [
            self._brushes[look][category] for look, category in zip(looks, self._plan.category.tolist(), strict=True)
        ]

    def fit(self) -> None:
        self._plot.setSize(3)
        self._box.setRange(self._whole, padding=0.02, disableAutoRange=True)

    def zoom(self, factor: float) -> None:
        self._box.scaleBy((1 / factor, 1 / factor))

    def pan(self, dx: float) -> None:
        pixel = self._box.viewPixelSize()[0]
        self._box.translateBy(x=-dx * pixel)

    def deep(self, seat_no: int, seat_px: float) -> None:
        self._plot.setSize(seat_px)
        pitch = float(np.hypot(*(self._plan.x[1] - self._plan.x[0], self._plan.y[1] - self._plan.y[0])))
        width = SIZE[0] / (seat_px / 0.8) * pitch
        x, y = float(self._plan.x[seat_no]), float(self._plan.y[seat_no])
        height = width * SIZE[1] / SIZE[0]
        self._box.setRange(QRectF(x - width / 2, y - height / 2, width, height), padding=0, disableAutoRange=True)

    def change(self, seats: Seats, states: States) -> None:
        self._states[seats] = states
        self._plot.setBrush(self._all_brushes())

    def hit(self, point: QPointF) -> int:
        found = self._plot.pointsAt(self._box.mapSceneToView(point))
        return int(found[0].index()) if len(found) else -1


class PaintWatch(QObject):
    """Counts paint events of a widget and of its children: a measured step must have painted."""

    def __init__(self) -> None:
        super().__init__()
        self.paints = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  # Qt's name
        self.paints += event.type() == QEvent.Type.Paint
        return super().eventFilter(watched, event)

    def watch(self, widget: QWidget) -> None:
        for part in (widget, *widget.findChildren(QWidget)):
            part.installEventFilter(self)
