"""What lies over the seats from afar, hatching and labels, kept as one layer while neither of them changes.

A new view is painted once and straight away, for most views of a zoom are never painted again. From the second paint on
(changed seats, the pointer) the layer is copied: one blend, however many labels lie in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap, QRegion

from widgets.seat_map.camera import Camera

_STRAIGHT_FROM_PX = 90_000


class Veil:
    """A layer as large as the widget; `draw` paints all that lies in a rectangle. Logical px."""

    def __init__(self, draw: Callable[[QPainter, QRect, float], None]) -> None:
        self._draw = draw
        self._size = QSize()
        self._layer: QPixmap | None = None
        self._fresh = True

    def place(self, camera: Camera) -> None:
        """Another view."""
        self._size = QSize(math.ceil(camera.width), math.ceil(camera.height))
        self._layer = None
        self._fresh = True

    def spoil(self) -> None:
        """The same view, but something in it looks otherwise."""
        self._layer = None

    def paint(self, painter: QPainter, clip: QRegion, dpr: float) -> None:
        """Paint what lies in the clip."""
        whole = clip.boundingRect()
        if self._fresh and clip.rectCount() == 1 and whole.width() * whole.height() > _STRAIGHT_FROM_PX:
            self._fresh = False
            self._draw(painter, whole, dpr)
            return
        if self._layer is None or self._layer.devicePixelRatio() != dpr:
            self._layer = self._drawn(dpr)
        painter.drawPixmap(QPointF(0, 0), self._layer)

    def _drawn(self, dpr: float) -> QPixmap:
        layer = QPixmap(self._size * dpr)
        layer.setDevicePixelRatio(dpr)
        layer.fill(Qt.GlobalColor.transparent)
        painter = QPainter(layer)
        self._draw(painter, QRect(0, 0, self._size.width(), self._size.height()), dpr)
        painter.end()
        return layer
