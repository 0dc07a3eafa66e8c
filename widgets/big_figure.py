"""One figure that is read across a room: its name, its value as large as there is room, a shape and a word, its path.

The shape and the word say what the colour says; a figure that is not known is a dash.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.charts.curve_layer import CurveLayer
from widgets.charts.scale import largest_of, top_of
from widgets.charts.series import ChartTable, CurveLook, Span
from widgets.theme import Theme

_LEAST_PX = 84
_VALUE_SHARE, _PATH_SHARE = 0.44, 0.24
_TONES = {"good": "success", "trouble": "warn", "bad": "danger", "off": "text_muted"}
_MARKS = {"good": "●", "trouble": "▲", "bad": "✕", "off": "–"}


class BigFigure(QWidget):
    """Dumb: told words and samples. `state` is good, trouble, bad or off."""

    def __init__(self, theme: Theme, name: str, curves: tuple[CurveLook, ...], least_top: float) -> None:
        super().__init__()
        self._theme = theme
        self.name = name
        self._curves = curves
        self._least_top = least_top
        self._layer = CurveLayer(theme)
        self._table = ChartTable()
        self._span = Span(0.0, 1.0)
        self._top = 0.0
        self.value, self.word, self.state, self.more = "–", "", "off", ""
        self.setMinimumSize(_LEAST_PX, _LEAST_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(name)

    def tell(self, value: str, word: str, state: str, more: str = "") -> None:
        """The value, a word for how it is, and a second line (a limit, another value)."""
        if (value, word, state, more) == (self.value, self.word, self.state, self.more):
            return
        self.value, self.word, self.state, self.more = value, word, state, more
        self.setAccessibleName(self.name)
        self.setAccessibleDescription(", ".join(part for part in (value, word, more) if part))
        self.update()

    def show_path(self, table: ChartTable, span: Span) -> None:
        """The samples under the value."""
        self._table, self._span = table, span
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme, painter = self._theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tone = theme.color(_TONES[self.state])
        loud = self.state in {"trouble", "bad"}
        ground = theme.color({"bad": "danger_soft", "trouble": "warn_soft"}.get(self.state, "surface"))
        painter.setPen(QPen(tone if loud else theme.color("border"), 3 if loud else 1))
        painter.setBrush(ground)
        edge = 2.0 if loud else 1.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge), 8, 8)
        inside = QRectF(self.rect()).adjusted(16, 10, -16, -10)
        name_px = max(min(inside.height() * 0.11, inside.width() * 0.07, 30.0), 12.0)
        y = self._paint_line(painter, inside, inside.top(), self.name, name_px, theme.color("text_muted"), bold=True)
        value_px = min(inside.height() * _VALUE_SHARE, 160.0)
        y = self._paint_line(painter, inside, y, self.value, value_px, theme.color("text"), bold=True)
        if self.word or self.more:
            mark = f"{_MARKS[self.state]} {self.word}" if self.word else ""
            taken = QFontMetricsF(self._font(name_px, bold=True)).horizontalAdvance(mark) + name_px
            self._paint_more(painter, QRectF(inside.left(), y, inside.width(), name_px * 1.4), name_px, taken)
            y = self._paint_line(painter, inside, y, mark, name_px, tone, bold=True)
        self._paint_path(painter, inside, y)
        painter.end()

    def _paint_line(
        self, painter: QPainter, inside: QRectF, top: float, text: str, px: float, color: QColor, *, bold: bool
    ) -> float:
        """One line, smaller when it does not fit; where the next one begins."""
        font = self._font(px, bold=bold)
        wide = QFontMetricsF(font).horizontalAdvance(text)
        if wide > inside.width():
            font = self._font(max(px * inside.width() / wide * 0.97 - 1, 11.0), bold=bold)
        height = QFontMetricsF(self._font(px, bold=bold)).height()
        painter.setFont(font)
        painter.setPen(color)
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
        box = QRectF(inside.left(), top, inside.width(), height)
        painter.drawText(box, self._near | Qt.AlignmentFlag.AlignVCenter, shown)
        return top + height

    def _paint_more(self, painter: QPainter, box: QRectF, px: float, taken: float) -> None:
        """At the far side, in what the mark and the word leave."""
        font = self._font(px, bold=False)
        painter.setFont(font)
        painter.setPen(self._theme.color("text_muted"))
        room = box.width() - taken
        shown = QFontMetricsF(font).elidedText(self.more, Qt.TextElideMode.ElideRight, room)
        far = Qt.AlignmentFlag.AlignLeft if self._mirrored else Qt.AlignmentFlag.AlignRight
        painter.drawText(box, far | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_path(self, painter: QPainter, inside: QRectF, top: float) -> None:
        plot = QRectF(inside.left(), top + 4, inside.width(), inside.bottom() - top - 4)
        if plot.height() < 16 or not len(self._table.times):
            return
        columns = [self._table.column(curve.key) for curve in self._curves]
        self._top = top_of(largest_of(*columns), self._least_top, self._top)
        size = plot.width(), plot.height()
        self._layer.draw(size, self.devicePixelRatioF(), self._table, self._span, self._curves, self._top)
        painter.drawPixmap(plot.topLeft(), self._layer.picture)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())

    def _font(self, px: float, *, bold: bool) -> QFont:
        font = self._theme.font("body", bold=bold)
        font.setPixelSize(max(round(px), 1))
        return font

    @property
    def _mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    @property
    def _near(self) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self._mirrored else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignAbsolute
