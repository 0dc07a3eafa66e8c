"""The curves of one strip as a picture that is kept: drawn when there is something new, copied otherwise."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from widgets.charts.polylines import dashes, polygon_of, runs, stepped, thinned
from widgets.charts.series import ChartTable, CurveLook, Floats, Span
from widgets.theme import Theme

_LINE_PX = 1.6
_DOT_EVERY_PX, _DOT_PX = 6.0, 2.0
_ALONE_PX = 3.0
_FILL_ALPHA = 38


class CurveLayer:
    """Draws the curves of a table on a transparent picture of `width` × `height` logical px."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._picture = QPixmap()
        self._dpr = 1.0

    @property
    def picture(self) -> QPixmap:
        return self._picture

    def draw(
        self, size: tuple[float, float], dpr: float, table: ChartTable, span: Span, curves: tuple[CurveLook, ...],
        top: float,
    ) -> None:  # fmt: skip
        """Draw anew; `top` is the value at the upper edge, 0 lies on the lower one."""
        width, height = max(round(size[0] * dpr), 1), max(round(size[1] * dpr), 1)
        if self._picture.width() != width or self._picture.height() != height:
            self._picture = QPixmap(width, height)
        self._picture.setDevicePixelRatio(1.0)
        self._picture.fill(Qt.GlobalColor.transparent)
        self._dpr = dpr
        first, last = np.searchsorted(table.times, (span.start_s, span.end_s))
        seen = slice(max(int(first) - 1, 0), int(last) + 1)
        times = table.times[seen]
        if len(times):
            painter = QPainter(self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            x = (times - span.start_s) * (width / max(span.seconds, 1e-9))
            for curve in curves:
                values = table.column(curve.key)[seen]
                y = (height - 1.0) - np.clip(values / max(top, 1e-9), 0.0, 1.02) * (height - 2.0 * dpr)
                for run in runs(times, values, table.gap_s):
                    self._paint_run(painter, curve, x[run], y[run], height)
            painter.end()
        self._picture.setDevicePixelRatio(dpr)

    def _paint_run(self, painter: QPainter, curve: CurveLook, x: Floats, y: Floats, height: int) -> None:
        color = self._theme.color(curve.tone)
        if len(x) == 1:
            self._paint_dot(painter, color, x[0], y[0], _ALONE_PX)
            return
        x, y = stepped(x, y) if curve.line == "step" else thinned(x, y)
        if curve.filled:
            self._paint_ground(painter, color, x, y, height)
        if curve.line == "dots":
            self._paint_dots(painter, color, x, y)
            return
        lines = dashes(x / self._dpr, y / self._dpr) if curve.line == "dash" else [polygon_of(x, y)]
        scale = self._dpr if curve.line == "dash" else 1.0
        self._paint_lines(painter, color, lines, scale)

    def _paint_lines(self, painter: QPainter, color: QColor, lines: list[QPolygonF], scale: float) -> None:
        """Thin lines beside each other: see `polylines`."""
        pen = QPen(color, 1.0)
        pen.setCosmetic(True)
        painter.setPen(pen)
        thick = _LINE_PX * self._dpr
        count = max(math.ceil(thick), 1)
        for number in range(count):
            aside = (number - (count - 1) / 2) * (thick / count)
            painter.save()
            painter.translate(0.5, aside + 0.5)
            painter.scale(scale, scale)
            for line in lines:
                painter.drawPolyline(line)
            painter.restore()

    def _paint_ground(self, painter: QPainter, color: QColor, x: Floats, y: Floats, height: int) -> None:
        tint = QColor(color)
        tint.setAlpha(_FILL_ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tint)
        ends = np.concatenate((x, (x[-1], x[0]))), np.concatenate((y, (float(height), float(height))))
        painter.drawPolygon(polygon_of(*ends))

    def _paint_dots(self, painter: QPainter, color: QColor, x: Floats, y: Floats) -> None:
        """On a grid of their own, so that they stand still while the line grows."""
        step, side = _DOT_EVERY_PX * self._dpr, _DOT_PX * self._dpr
        places = np.arange(math.ceil(x[0] / step) * step, x[-1] + 1e-6, step)
        heights = np.interp(places, x, y)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRects([
            QRectF(left - side / 2, middle - side / 2, side, side)
            for left, middle in zip(places.tolist(), heights.tolist(), strict=True)
        ])  # fmt: skip

    def _paint_dot(self, painter: QPainter, color: QColor, x: float, y: float, side: float) -> None:
        """A sample with nothing beside it is a dot: a line would claim more."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(x, y), side / 2 * self._dpr, side / 2 * self._dpr)
