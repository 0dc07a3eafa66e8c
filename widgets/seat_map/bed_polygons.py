"""The beds of a plan seen from afar: hundreds of small outlines, filled as fast as Qt fills them.

A transform of the painter costs more than the filling of an outline this small, and so do outlines whose corners are
not whole pixels. So numpy moves all corners at once, and each polygon is filled from them in one copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import numpy.typing as npt
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPolygon, QPolygonF

_FEW_CORNERS_BELOW_PX = 4.0
"""Distance of seats: below it every other corner of an outline is left out, less than a pixel away from the line."""
_FARTHEST_PX = 1e6

# Memory of an address with a length, writable; the stubs know only the address.
_open_memory = cast("Callable[[object, int, bool], memoryview[int]]", shiboken6.VoidPtr)


class FarBeds:
    """Outlines that all have the same even number of corners; plan units."""

    def __init__(self, outlines: list[QPolygonF], pitch: float) -> None:
        self._pitch = pitch
        corners = outlines[0].size() if outlines else 0
        self._points: npt.NDArray[np.float64] = np.empty((len(outlines), corners, 2))
        for at, outline in enumerate(outlines):
            self._points[at] = np.frombuffer(_open_memory(outline.data(), 16 * corners, False)).reshape(-1, 2)
        self._whole, self._thin = _Polygons(len(outlines), corners), _Polygons(len(outlines), corners // 2)

    def paint(self, painter: QPainter, seen: npt.NDArray[np.intp], color: QColor) -> None:
        """Fill these outlines without soft edges."""
        move = painter.worldTransform()
        scale = move.m11()
        few = self._pitch * scale < _FEW_CORNERS_BELOW_PX
        points = self._points[seen, ::2] if few else self._points[seen]
        px = (points * scale + (move.dx() + 0.5, move.dy() + 0.5)).clip(-_FARTHEST_PX, _FARTHEST_PX)
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        draw = painter.drawPolygon
        for polygon in (self._thin if few else self._whole).filled(np.floor(px).astype(np.int32)):
            draw(polygon)
        painter.restore()


class _Polygons:
    """Polygons that are kept, and the memory of their corners."""

    def __init__(self, count: int, corners: int) -> None:
        self._bytes = 8 * corners
        self._polygons = [_empty(corners) for _ in range(count)]
        self._memories = [memoryview(_open_memory(polygon.data(), self._bytes, True)) for polygon in self._polygons]

    def filled(self, corners: npt.NDArray[np.int32]) -> list[QPolygon]:
        """As many polygons as there are outlines in (outlines, corners, 2) px, with these corners."""
        raw = memoryview(corners.tobytes())
        step = self._bytes
        for at, memory in enumerate(self._memories[: len(corners)]):
            memory[:] = raw[at * step : (at + 1) * step]
        return self._polygons[: len(corners)]


def _empty(corners: int) -> QPolygon:
    polygon = QPolygon()
    polygon.resize(corners)
    return polygon
