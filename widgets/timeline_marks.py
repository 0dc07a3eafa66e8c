"""The signs of a timeline, drawn: who spoke is told by a shape, and its colour only repeats it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

MARKS = ("request", "answer", "webhook", "terminal", "sale", "person", "comparison")


def paint_mark(painter: QPainter, mark: str, box: QRectF, ink: QColor, ground: QColor) -> None:
    """A round sign of `mark` in `box`; an unknown mark is a plain dot."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(ink, 1.4))
    painter.setBrush(ground)
    painter.drawEllipse(box)
    pen = QPen(ink, 1.7)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.translate(box.center())
    painter.scale(box.width() / 20, box.height() / 20)
    _DRAWN.get(mark, _dot)(painter)
    painter.restore()


def _arrow(painter: QPainter, start: QPointF, end: QPointF) -> None:
    painter.drawLine(start, end)
    back = start - end
    length = max((back.x() ** 2 + back.y() ** 2) ** 0.5, 1.0)
    along = QPointF(back.x() / length, back.y() / length) * 3.6
    across = QPointF(-along.y(), along.x())
    painter.drawLine(end, end + along + across)
    painter.drawLine(end, end + along - across)


def _request(painter: QPainter) -> None:
    _arrow(painter, QPointF(-5, 0), QPointF(5, 0))


def _answer(painter: QPainter) -> None:
    _arrow(painter, QPointF(5, 0), QPointF(-5, 0))


def _webhook(painter: QPainter) -> None:
    _arrow(painter, QPointF(0, -6), QPointF(0, 2))
    painter.drawPolyline([QPointF(-5, 1), QPointF(-5, 5), QPointF(5, 5), QPointF(5, 1)])


def _terminal(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(-4, -6, 8, 12), 1.5, 1.5)
    painter.drawRect(QRectF(-2, -4, 4, 3))
    for x in (-2, 0, 2):
        for y in (2, 4):
            painter.drawPoint(QPointF(x, y))


def _sale(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(-6, -4, 12, 8), 1.5, 1.5)
    painter.drawLine(QPointF(2, -4), QPointF(2, -1))
    painter.drawLine(QPointF(2, 1.5), QPointF(2, 4))


def _person(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(0, -3), 2.6, 2.6)
    painter.drawArc(QRectF(-5, 1, 10, 10), 20 * 16, 140 * 16)


def _comparison(painter: QPainter) -> None:
    painter.drawLine(QPointF(-4, -2), QPointF(4, -2))
    painter.drawLine(QPointF(-4, 2), QPointF(4, 2))
    painter.drawLine(QPointF(-2.5, 5.5), QPointF(2.5, -5.5))


def _dot(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(0, 0), 1.5, 1.5)


_DRAWN = {
    "request": _request,
    "answer": _answer,
    "webhook": _webhook,
    "terminal": _terminal,
    "sale": _sale,
    "person": _person,
    "comparison": _comparison,
}
