"""What lies over the seats from afar, hatching and labels: put over them once a view, then kept up pixel by pixel.

A new view is painted straight away, seats first and the rest over them, for most views of a zoom are never changed.
With the first changed seat a second picture is made, seats and veil in one; from then on a change mixes only its own
pixels with the veil, and a paint is one copy, however many labels lie over the map.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, QSize
from PySide6.QtGui import QImage, QPainter

from widgets.seat_map.canvas import Canvas, Words
from widgets.seat_map.plan import Indices

_MOST_PIXELS = 100_000
"""More changed pixels than this cost more one by one than the whole picture."""
_ODD, _EVEN, _HALF = np.uint32(0xFF00FF), np.uint32(0xFF00), np.uint32(0x800080)


class Veil:
    """`draw` paints all that lies over the seats in a rectangle (logical px)."""

    def __init__(self, draw: Callable[[QPainter, QRect, float], None]) -> None:
        self._draw = draw
        self._layer: Canvas | None = None
        self._front: Canvas | None = None
        self._drawn = False  # the layer shows what `draw` would paint
        self._mixed = False  # the front shows the seats and the layer

    def lift(self) -> None:
        """Another view."""
        self._drawn = self._mixed = False

    def rest(self) -> None:
        """Changes have come to rest: give the memory of both pictures back."""
        self.lift()
        self._layer = self._front = None

    def spoil(self) -> None:
        """The same view, but something in the veil looks otherwise."""
        self._drawn = False
        self._mixed = False

    def follow(self, canvas: Canvas, written: Indices, dpr: float) -> None:
        """Pixels of the seats' picture were written: places in its memory."""
        if not (self._drawn and self._mixed) or len(written) > _MOST_PIXELS:
            self._mix_all(canvas, dpr)
        elif self._front is not None and self._layer is not None:
            veil = self._layer.memory.take(written)
            self._front.memory[written] = over(veil, canvas.memory.take(written))

    def paint(self, painter: QPainter, canvas: Canvas, clip: QRect, dpr: float) -> None:
        """Seats and veil in the clip (logical px)."""
        if self._mixed and self._front is not None:
            self._front.copy_to(painter, dpr)
            return
        canvas.copy_to(painter, dpr)
        self._draw(painter, clip, dpr)

    def _mix_all(self, canvas: Canvas, dpr: float) -> None:
        layer, front = self._layer, self._front
        if layer is None or front is None or not layer.fits(canvas):
            layer = self._layer = canvas.twin(QImage.Format.Format_ARGB32_Premultiplied)
            front = self._front = canvas.twin(QImage.Format.Format_RGB32)
            self._drawn = False
        if not self._drawn:
            self._draw_layer(layer, dpr)
        np.copyto(front.memory, canvas.memory)
        painter = QPainter(front.image)
        painter.drawImage(QPointF(0, 0), layer.image)
        painter.end()
        self._mixed = True

    def _draw_layer(self, layer: Canvas, dpr: float) -> None:
        layer.memory.fill(0)
        size = QSize(layer.width_px, layer.height_px) / dpr
        painter = layer.painter(dpr)
        self._draw(painter, QRect(QPoint(), size + QSize(1, 1)), dpr)
        painter.end()
        self._drawn = True


def over(veil: Words, seats: Words) -> Words:
    """Premultiplied pixels over opaque ones, to the last bit as Qt mixes them."""
    rest = np.uint32(255) - (veil >> np.uint32(24))
    odd = (seats & _ODD) * rest
    odd = (odd + (odd >> np.uint32(8) & _ODD) + _HALF) >> np.uint32(8) & _ODD
    even = (seats >> np.uint32(8) & np.uint32(0xFF)) * rest
    even = (even + (even >> np.uint32(8)) + np.uint32(0x80)) & _EVEN
    mixed: Words = veil + (odd | even) | np.uint32(0xFF000000)
    return mixed
