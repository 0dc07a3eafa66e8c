"""Steps of something that runs: dots on a line, the present one filled, words below."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.theme import Theme

_DOT_PX = 12
_GAP_PX = 6


class Steps(QWidget):
    """`names` of the steps, first to last."""

    def __init__(self, theme: Theme, names: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._names = names
        self._step = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_step(0)

    @property
    def step(self) -> int:
        """Index of the present step."""
        return self._step

    def show_step(self, step: int) -> None:
        """The step that runs now."""
        self._step = max(0, min(step, len(self._names) - 1))
        self.setAccessibleName(self._names[self._step])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _DOT_PX + _GAP_PX + QFontMetrics(self._theme.font("caption")).height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font("caption"))
        cell = self.width() / len(self._names)
        middle = _DOT_PX / 2 + 1
        for index, name in enumerate(self._names):
            place = len(self._names) - 1 - index if self.isRightToLeft() else index
            centre = QPointF((place + 0.5) * cell, middle)
            if index:
                self._paint_link(painter, centre, cell, done=index <= self._step)
            self._paint_dot(painter, centre, index)
            painter.setPen(self._theme.color("text" if index == self._step else "text_muted"))
            text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(cell) - 4)
            area = QRectF(place * cell, _DOT_PX + _GAP_PX, cell, self.height() - _DOT_PX - _GAP_PX)
            painter.drawText(area, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, text)
        painter.end()

    def _paint_link(self, painter: QPainter, centre: QPointF, cell: float, *, done: bool) -> None:
        side = 1 if self.isRightToLeft() else -1
        painter.setPen(QPen(self._theme.color("accent" if done else "border"), 2))
        start = centre + QPointF(side * (cell - _DOT_PX / 2 - 3), 0)
        painter.drawLine(start, centre + QPointF(side * (_DOT_PX / 2 + 3), 0))

    def _paint_dot(self, painter: QPainter, centre: QPointF, index: int) -> None:
        reached = index <= self._step
        painter.setPen(QPen(self._theme.color("accent" if reached else "border_strong"), 2))
        painter.setBrush(self._theme.color("accent") if reached else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, _DOT_PX / 2 - 1, _DOT_PX / 2 - 1)
