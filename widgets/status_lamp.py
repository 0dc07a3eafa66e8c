"""One cell of the status bar: a mark in a colour and a word. The mark's shape says as much as its colour (D10)."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.theme import Theme

_MARK_PX = 10
_GAP_PX = 6
_TOKENS = {"good": "success", "waiting": "info", "trouble": "warn", "bad": "danger", "off": "text_disabled"}


class StatusLamp(QWidget):
    """`state`: good ●, waiting ○, trouble ▲, bad ✕, off –."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state = "off"
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @property
    def state(self) -> str:
        return self._state

    @property
    def text(self) -> str:
        return self._text

    def tell(self, state: str, text: str, detail: str = "") -> None:
        """Show a state; `detail` is the tool tip."""
        if (state, text, detail) == (self._state, self._text, self.toolTip()):
            return
        longer = text != self._text
        self._state, self._text = state, text
        self.setToolTip(detail)
        self.setAccessibleName(text)
        self.setAccessibleDescription(detail)
        if longer:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("caption"))
        return QSize(_MARK_PX + _GAP_PX + metrics.horizontalAdvance(self._text) + 2, metrics.height() + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(_MARK_PX + _GAP_PX + 24, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirrored = self.isRightToLeft()
        left = self.width() - _MARK_PX - 1 if mirrored else 1
        self._paint_mark(painter, QRectF(left, (self.height() - _MARK_PX) / 2, _MARK_PX, _MARK_PX))
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color("text" if self._state in {"trouble", "bad"} else "text_muted"))
        room = self.width() - _MARK_PX - _GAP_PX
        text = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room)
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        area = QRectF(0 if mirrored else _MARK_PX + _GAP_PX, 0, room, self.height())
        painter.drawText(area, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()

    def _paint_mark(self, painter: QPainter, box: QRectF) -> None:
        colour = self._theme.color(_TOKENS[self._state])
        pen = QPen(colour, 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        inner = box.adjusted(1, 1, -1, -1)
        painter.setPen(pen if self._state in {"waiting", "bad", "off"} else Qt.PenStyle.NoPen)
        painter.setBrush(colour if self._state in {"good", "trouble"} else Qt.BrushStyle.NoBrush)
        if self._state in {"good", "waiting"}:
            painter.drawEllipse(inner)
        elif self._state == "trouble":
            painter.drawPolygon(QPolygonF([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()]))
        elif self._state == "bad":
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        else:
            painter.drawLine(QPointF(inner.left(), inner.center().y()), QPointF(inner.right(), inner.center().y()))
