"""A button filled with a colour, and the ring that shows that it has the keyboard.

No one colour stands out from the fill and from the ground both, in light and in dark. So the ring is drawn inside, in
the fill's own ink.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QPushButton, QWidget

_INSET_PX = 4.0
_RING_PX = 2.0
_RADIUS_PX = 3.0
FILLED_ROLES = frozenset({"primary", "danger"})


class FilledButton(QPushButton):
    """`role` is `primary` or `danger`."""

    def __init__(self, text: str, role: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("role", role)
        self.setAccessibleName(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            paint_inset_ring(painter, self, self.palette().color(QPalette.ColorRole.ButtonText))
            painter.end()


def paint_inset_ring(painter: QPainter, button: QPushButton, ink: QColor) -> None:
    """Draw the ring of a filled button that has the keyboard."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(ink, _RING_PX))
    inset = _INSET_PX
    painter.drawRoundedRect(QRectF(button.rect()).adjusted(inset, inset, -inset, -inset), _RADIUS_PX, _RADIUS_PX)
    painter.restore()
