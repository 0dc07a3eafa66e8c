"""How much is left in each section, seen from afar: the less, the closer the hatching over it, and the warmer.

A section with plenty of free seats shows its seats and nothing else. The closeness of the lines tells the same as their
colour, for eyes to which colours look alike; a section without a free seat is crossed out.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap

from widgets.seat_map.bed_polygons import BedPolygons
from widgets.seat_map.beds import Bed
from widgets.seat_map.camera import Camera
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Indices


class Heat(IntEnum):
    """Steps by the share of a section's seats that are free."""

    PLENTY = 0
    LITTLE = 1
    FEW = 2
    NONE = 3


_BELOW = ((0.35, Heat.LITTLE), (0.1, Heat.FEW))
# Distance of the lines in px, alpha, colour of the map.
_LOOKS = {
    Heat.LITTLE: (10, 150, "stale"),
    Heat.FEW: (4, 215, "lost"),
    Heat.NONE: (8, 235, "sold_ink"),
}


def heat_of(free: npt.NDArray[np.integer], seats: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Step of each section from its free seats and all its seats; a section without seats has plenty."""
    share = free / np.maximum(seats, 1)
    steps = np.full(len(free), Heat.PLENTY, np.uint8)
    for below, step in _BELOW:
        steps[share < below] = step
    steps[free == 0] = Heat.NONE
    steps[seats == 0] = Heat.PLENTY
    return steps


def heat_brush(palette: MapPalette, step: Heat, dpr: float) -> QBrush:
    """Hatching of a step; a legend explains it with the same strokes."""
    apart, alpha, token = _LOOKS[step]
    side = round(apart * dpr)
    tile = QPixmap(side, side)
    tile.fill(Qt.GlobalColor.transparent)
    color = QColor(palette.token(token))
    color.setAlpha(alpha)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.4 * dpr))
    for shift in (-side, 0, side):
        painter.drawLine(QLineF(shift, side, shift + side, 0))
        if step is Heat.NONE:
            painter.drawLine(QLineF(shift, 0, shift + side, side))
    painter.end()
    tile.setDevicePixelRatio(dpr)
    return QBrush(tile)


class SectionHeat:
    """The hatching over the sections of one plan. Logical px."""

    def __init__(
        self, beds: tuple[Bed, ...], far_beds: BedPolygons, seats: npt.NDArray[np.integer], palette: MapPalette
    ) -> None:
        self._palette = palette
        self._seats = seats
        self._far_beds = far_beds
        self._section = np.array([bed.section for bed in beds], np.intp)
        edges = [(bed.bounds.left, bed.bounds.top, bed.bounds.right, bed.bounds.bottom) for bed in beds]
        self._edges = np.array(edges, np.float64).reshape(-1, 4)
        self._steps = np.full(len(seats), Heat.PLENTY, np.uint8)
        self._hatched: list[tuple[Heat, Indices]] = []
        self._brushes: dict[tuple[Heat, float], QBrush] = {}
        self._boxes = np.empty((0, 4))
        self._origin = QPointF()
        self._scale = 1.0

    def step_of(self, section: int) -> Heat:
        """How much is left in a section."""
        return Heat(int(self._steps[section]))

    def place(self, camera: Camera) -> None:
        """Where the sections are now."""
        left, top = camera.to_px(0.0, 0.0)
        # Whole pixels: a texture that is moved by a part of one is drawn many times slower.
        self._origin = QPointF(round(left), round(top))
        self._scale = camera.scale
        self._boxes = self._edges * camera.scale + np.array([left, top, left, top])

    def set_counts(self, free: npt.NDArray[np.integer]) -> list[QRect]:
        """New numbers of free seats by section; rectangles to paint again."""
        before, self._steps = self._steps, heat_of(free, self._seats)
        changed = np.flatnonzero((before != self._steps)[self._section])
        steps = self._steps[self._section]
        hatched = ((step, np.flatnonzero(steps == step)) for step in (Heat.LITTLE, Heat.FEW, Heat.NONE))
        self._hatched = [(step, beds) for step, beds in hatched if len(beds)]
        return [_rect(self._boxes[at]) for at in changed.tolist()] if len(self._boxes) else []

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Hatch what lies in the clip."""
        if not self._hatched:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrushOrigin(self._origin)
        for step, beds in self._hatched:
            left, top, right, bottom = self._boxes[beds].T
            seen = (left <= clip.right() + 1) & (right >= clip.left())
            seen &= (top <= clip.bottom() + 1) & (bottom >= clip.top())
            if seen.any():
                painter.setBrush(self._brush(step, dpr))
                for polygon in self._far_beds.polygons(beds[seen], self._scale, self._origin.x(), self._origin.y()):
                    painter.drawPolygon(polygon)
        painter.restore()

    def _brush(self, step: Heat, dpr: float) -> QBrush:
        found = self._brushes.get((step, dpr))
        if found is None:
            found = self._brushes[step, dpr] = heat_brush(self._palette, step, dpr)
        return found


def _rect(box: npt.NDArray[np.float64]) -> QRect:
    left, top = int(np.floor(box[0])) - 1, int(np.floor(box[1])) - 1
    return QRect(left, top, int(np.ceil(box[2])) + 2 - left, int(np.ceil(box[3])) + 2 - top)
