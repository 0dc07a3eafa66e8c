"""Small marks of charts, of rectangles: Qt's own lines go through its stroker, which costs more than all the rest."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from widgets.charts.series import CurveLook
from widgets.theme import Theme

_DASH_PX, _PAUSE_PX = 6, 3


def paint_dashes(painter: QPainter, plot: QRectF, y: float, color: QColor) -> None:
    """A dashed line across a plot."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    left, right = int(plot.left()), int(plot.right())
    painter.drawRects([QRect(x, int(y), min(_DASH_PX, right - x), 1) for x in range(left, right, _DASH_PX + _PAUSE_PX)])


def paint_key(painter: QPainter, theme: Theme, curve: CurveLook, box: QRectF) -> None:
    """A short piece of the curve as it is drawn: its colour and its kind of line."""
    color, y, left = theme.color(curve.tone), round(box.center().y()) - 1, round(box.left())
    wide = round(box.width())
    pieces = {
        "solid": ((0, 0, wide, 2),),
        "dash": ((0, 0, 6, 2), (10, 0, wide - 10, 2)),
        "dots": tuple((at, 0, 2, 2) for at in range(0, wide - 1, 4)),
        "step": ((0, 3, wide // 2, 2), (wide // 2 - 1, -2, 2, 7), (wide // 2, -2, wide - wide // 2, 2)),
    }
    for x, down, width, height in pieces[curve.line]:
        painter.fillRect(QRect(left + x, y + down, width, height), color)
