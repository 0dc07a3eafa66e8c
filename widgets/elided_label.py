"""A label that is cut with an ellipsis rather than clipped, and then tells the whole text as its tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class ElidedLabel(QLabel):
    """One line of plain text that gives way when room is short."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._tip = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    @property
    def is_elided(self) -> bool:
        """True while the text does not fit."""
        return self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()

    def _show_tip(self) -> None:
        whole = self.text() if self.is_elided else ""
        super().setToolTip("\n".join(part for part in (whole, self._tip) if part))

    def setText(self, text: str) -> None:
        super().setText(text)
        self._show_tip()

    def setToolTip(self, tip: str) -> None:
        """What is said besides; the whole text stands above it while it does not fit."""
        self._tip = tip
        self._show_tip()

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 4, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_tip()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        area = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width())
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        painter.drawText(area, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
