"""A box to tick whose frame and tick have the theme's colours; the style's own are lost on a dark ground."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from widgets.theme import Theme

_BOX_PX = 18
_GAP_PX = 8
_EDGE_PX = 4
_RADIUS_PX = 4


class TickBox(QCheckBox):
    """As `QCheckBox`, with a dash for what only some have."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self.setAccessibleName(text)
        # A check box asks for all of its text at least; this one shortens it where there is less room.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def hitButton(self, pos: object) -> bool:
        """The whole line listens."""
        del pos
        return True

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().size(0, self.text())
        return QSize(2 * _EDGE_PX + _BOX_PX + _GAP_PX + text.width(), max(_BOX_PX, text.height()) + 2 * _EDGE_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(_BOX_PX + 2 * _EDGE_PX, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme, painter = self._theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirrored = self.isRightToLeft()
        left = self.width() - _EDGE_PX - _BOX_PX if mirrored else _EDGE_PX
        box = QRectF(left, (self.height() - _BOX_PX) / 2, _BOX_PX, _BOX_PX)
        is_on = self.checkState() is not Qt.CheckState.Unchecked
        frame = "text_disabled" if not self.isEnabled() else "accent" if is_on else "border_strong"
        painter.setPen(QPen(theme.color(frame), 1.4))
        painter.setBrush(theme.color("accent" if is_on and self.isEnabled() else "surface"))
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), _RADIUS_PX, _RADIUS_PX)
        if is_on:
            self._paint_tick(painter, box)
        painter.setPen(theme.color("text" if self.isEnabled() else "text_disabled"))
        room = self.rect().adjusted(_BOX_PX + _EDGE_PX + _GAP_PX, 0, -_EDGE_PX, 0)
        if mirrored:
            room = self.rect().adjusted(_EDGE_PX, 0, -_BOX_PX - _EDGE_PX - _GAP_PX, 0)
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, text)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("focus"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), _RADIUS_PX, _RADIUS_PX)
        painter.end()

    def _paint_tick(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(self._theme.color("on_accent" if self.isEnabled() else "text_disabled"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        middle = box.center()
        if self.checkState() is Qt.CheckState.PartiallyChecked:
            painter.drawLine(middle + QPointF(-4, 0), middle + QPointF(4, 0))
            return
        painter.drawPolyline(
            QPolygonF([middle + QPointF(-4, 0), middle + QPointF(-1, 3.5), middle + QPointF(4.5, -3.5)])
        )
