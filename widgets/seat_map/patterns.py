"""A pattern for each price category, for people to whom colours look alike: what a hatching is on a printed map.

Patterns are drawn into the body of a seat in a lighter or darker tone of its own colour, on the side away from the ink
of its number, so that they never make a number harder to read.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

LEAST_CONTRAST = 1.3
_LINE_SHARE = 0.17
_WHITE, _BLACK = QColor("white"), QColor("black")


def paint_pattern(painter: QPainter, body: QPainterPath, category_no: int, tone: QColor, size: float) -> None:
    """Draw a category's pattern inside the body of a seat of `size` px; the first category is plain."""
    draw = _PATTERNS[category_no % len(_PATTERNS)]
    if draw is None:
        return
    painter.save()
    painter.setClipPath(body, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(tone, max(1.4, size * _LINE_SHARE), Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    painter.setBrush(tone)
    draw(painter, size)
    painter.restore()


def tone_beside(fill: QColor, ink: QColor, luminance: Callable[[QColor], float]) -> QColor:
    """A tone of the fill away from the ink; towards it where that side has no room left."""
    away, towards = (_WHITE, _BLACK) if luminance(ink) < luminance(fill) else (_BLACK, _WHITE)
    for target, share in ((away, 0.5), (away, 0.8), (away, 1.0), (towards, 0.25)):
        tone = _between(fill, target, share)
        high, low = sorted((luminance(tone) + 0.05, luminance(fill) + 0.05), reverse=True)
        if high / low >= LEAST_CONTRAST:
            return tone
    return _between(fill, towards, 0.4)


def _between(one: QColor, other: QColor, share: float) -> QColor:
    def mixed(a: int, b: int) -> int:
        return round(a + (b - a) * share)

    return QColor(
        mixed(one.red(), other.red()), mixed(one.green(), other.green()), mixed(one.blue(), other.blue())
    )  # fmt: skip


def _bars(*ends: tuple[float, float, float, float]) -> Callable[[QPainter, float], None]:
    """Lines between points given in shares of the size."""

    def draw(painter: QPainter, size: float) -> None:
        for x0, y0, x1, y1 in ends:
            painter.drawLine(QPointF(x0 * size, y0 * size), QPointF(x1 * size, y1 * size))

    return draw


def _rim(painter: QPainter, size: float) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = size * 0.16
    painter.drawEllipse(QRectF(inset, inset, size - 2 * inset, size - 2 * inset))


def _halves(painter: QPainter, size: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawRect(QRectF(0, size * 0.5, size, size * 0.5))


_PATTERNS: tuple[Callable[[QPainter, float], None] | None, ...] = (
    None,
    _bars((0.0, 0.5, 1.0, 0.5)),
    _bars((0.5, 0.0, 0.5, 1.0)),
    _bars((0.0, 0.6, 0.6, 0.0), (0.4, 1.0, 1.0, 0.4)),
    _bars((0.4, 0.0, 1.0, 0.6), (0.0, 0.4, 0.6, 1.0)),
    _rim,
    _bars((0.0, 0.5, 1.0, 0.5), (0.5, 0.0, 0.5, 1.0)),
    _halves,
)
PATTERN_COUNT = len(_PATTERNS)
