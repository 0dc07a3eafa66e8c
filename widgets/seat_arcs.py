"""A quiet backdrop: rows of seats around a stage, as a hall shows from above."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from widgets.theme import Theme

_ROWS = 16
_SEAT_PX = 26.0
_FIRST_ROW_PX = 300.0


def paint_seat_arcs(widget: QWidget, theme: Theme) -> None:
    """Paint the backdrop over the whole of `widget`; the stage is below its lower edge."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(widget.rect(), theme.color("window"))
    painter.setPen(Qt.PenStyle.NoPen)
    centre = QPointF(widget.width() / 2, widget.height() + _FIRST_ROW_PX / 2)
    for number in range(_ROWS):
        radius = _FIRST_ROW_PX + number * _SEAT_PX * 1.9
        colour = theme.color("accent" if number % 7 == 3 else "border_strong")
        colour.setAlphaF(0.07 + 0.012 * (_ROWS - number))
        painter.setBrush(colour)
        step = _SEAT_PX * 1.5 / radius
        seats = int(math.pi / step / 2)
        for seat in range(-seats, seats + 1):
            angle = seat * step
            if abs(math.sin(angle * 3)) < 0.045:
                continue
            place = centre + QPointF(math.sin(angle) * radius, -math.cos(angle) * radius)
            painter.drawEllipse(place, _SEAT_PX / 2.6, _SEAT_PX / 2.6)
    painter.end()
