"""A button that is busy while what it asked for runs: a double click, or Enter held down, asks once (P1)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from widgets.filled_button import FILLED_ROLES, paint_inset_ring

_TURN_MS = 90
_STEPS = 12
_EDGE_PX = 14


class AsyncButton(QPushButton):
    """Emits `action_requested` once and is busy from that moment, until `set_busy(False)`.

    A busy button keeps its focus and its place; it only stops listening. `role` is a look of the style sheet.
    """

    action_requested = Signal()

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._busy = False
        self._step = 0
        self._key_hint = ""
        self._turning = QTimer(self)
        self._turning.setInterval(_TURN_MS)
        self._turning.timeout.connect(self._on_turning_timeout)
        if role:
            self.setProperty("role", role)
        self.setAccessibleName(text)
        self.setAutoDefault(False)
        self.clicked.connect(self._on_clicked)

    @property
    def busy(self) -> bool:
        """True while what was asked for runs."""
        return self._busy

    def set_busy(self, busy: bool) -> None:
        """Tell the button that its action runs, or that it ended."""
        if busy == self._busy:
            return
        self._busy = busy
        if busy:
            self._turning.start()
        else:
            self._turning.stop()
        self.update()

    def set_label(self, text: str) -> None:
        """Change the text and what a screen reader says, together."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)

    def set_key_hint(self, hint: str) -> None:
        """Show the key that does the same, at the far end of the button."""
        self._key_hint = hint
        self.update()

    def _on_clicked(self) -> None:
        if not self._busy:
            self.set_busy(True)
            self.action_requested.emit()

    def _on_turning_timeout(self) -> None:
        self._step = (self._step + 1) % _STEPS
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._busy:
            event.accept()
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (self._busy or event.isAutoRepeat()) and event.key() in {
            Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter,
        }:  # fmt: skip
            event.accept()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        option = QStyleOptionButton()
        self.initStyleOption(option)
        side = min(self.height() - 20, 16)
        text_px = self.fontMetrics().horizontalAdvance(self.text())
        beside = self.width() > text_px + 2 * (side + 2 * _EDGE_PX)
        if self._busy and not beside:
            option.text = ""
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        ink = QColor(option.palette.color(QPalette.ColorRole.ButtonText))
        if self._busy:
            self._paint_turning(painter, ink, side, beside=beside)
        elif self._key_hint:
            self._paint_key_hint(painter, ink, text_px)
        if self.hasFocus() and self.property("role") in FILLED_ROLES:
            paint_inset_ring(painter, self, option.palette.color(QPalette.ColorRole.ButtonText))
        painter.end()

    def _paint_key_hint(self, painter: QPainter, ink: QColor, text_px: int) -> None:
        """At the far end, where it does not touch the text."""
        font = QFont(self.font())
        font.setPixelSize(max(self.fontInfo().pixelSize() - 3, 10))
        font.setBold(False)
        painter.setFont(font)
        hint_px = painter.fontMetrics().horizontalAdvance(self._key_hint)
        if self.width() < text_px + 2 * (hint_px + _EDGE_PX + 8):
            return
        ink.setAlphaF(0.85)
        painter.setPen(ink)
        side = Qt.AlignmentFlag.AlignLeft if self.isRightToLeft() else Qt.AlignmentFlag.AlignRight
        area = self.rect().adjusted(_EDGE_PX, 0, -_EDGE_PX, 0)
        painter.drawText(area, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, self._key_hint)

    def _paint_turning(self, painter: QPainter, ink: QColor, side: int, *, beside: bool) -> None:
        """A turning arc: beside the text where there is room, in its place otherwise."""
        left = (self.width() - side) / 2
        if beside:
            left = self.width() - side - _EDGE_PX if self.isRightToLeft() else _EDGE_PX
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(ink, 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        circle = QRectF(left, (self.height() - side) / 2, side, side)
        painter.drawArc(circle, -self._step * 360 * 16 // _STEPS, 270 * 16)
