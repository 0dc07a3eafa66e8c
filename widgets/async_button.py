"""A button that is busy while what it asked for runs: a double click, or Enter held down, asks once (P1).

A button that has just come up where another one was is not meant by the second half of a double click: with
`set_calm` it listens to the mouse and to Enter only after a moment. Shortcuts and `click()` are always meant.
"""

from __future__ import annotations

from time import monotonic
from typing import Final

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from widgets.filled_button import FILLED_ROLES, paint_inset_ring
from widgets.key_gate import PRESSING_KEYS, keyboard

_TURN_MS = 90
_STEPS = 12
_EDGE_PX = 14
_HINT_GAP_PX = 8
CALM_S: Final = 0.5
"""Longer than the time between the two halves of a double click."""


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
        self._calm_s = 0.0
        self._shown_at = float("-inf")
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

    def set_calm(self, calm_s: float = CALM_S) -> None:
        """Ignore the mouse and Enter for so long after the button came up."""
        self._calm_s = calm_s

    @property
    def listens(self) -> bool:
        """False while busy, and for a moment after a calm button came up."""
        return not self._busy and monotonic() - self._shown_at >= self._calm_s

    def set_label(self, text: str) -> None:
        """Change the text and what a screen reader says, together."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)

    def set_key_hint(self, hint: str) -> None:
        """Show the key that does the same, at the far end of the button."""
        self._key_hint = hint
        self.updateGeometry()
        self.update()

    def _on_clicked(self) -> None:
        if not self._busy:
            self.set_busy(True)
            self.action_requested.emit()

    def _on_turning_timeout(self) -> None:
        self._step = (self._step + 1) % _STEPS
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the text and the key's name beside it."""
        hint = super().sizeHint()
        if not self._key_hint:
            return hint
        return QSize(hint.width() + self._hint_px() + _HINT_GAP_PX, hint.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.listens:
            super().mousePressEvent(event)
        else:
            event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.listens:
            super().mouseDoubleClickEvent(event)
        else:
            event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in PRESSING_KEYS:
            super().keyPressEvent(event)
            return
        if keyboard.press(repeats=event.isAutoRepeat()) and self.listens:
            self.click()
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() not in PRESSING_KEYS:
            super().keyReleaseEvent(event)
            return
        if not event.isAutoRepeat():
            keyboard.release()
        event.accept()

    def showEvent(self, event: QShowEvent) -> None:
        if not event.spontaneous():
            self._shown_at = monotonic()
        super().showEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        option = QStyleOptionButton()
        self.initStyleOption(option)
        side = min(self.height() - 20, 16)
        text_px = self.fontMetrics().horizontalAdvance(self.text())
        beside = self.width() > text_px + 2 * (side + 2 * _EDGE_PX)
        moved = not self._busy and bool(self._key_hint) and not self._fits_centred(text_px)
        if moved or (self._busy and not beside):
            option.text = ""
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        if moved:
            self._paint_moved_text(painter, QColor(option.palette.color(QPalette.ColorRole.ButtonText)))
        ink = QColor(option.palette.color(QPalette.ColorRole.ButtonText))
        if self._busy:
            self._paint_turning(painter, ink, side, beside=beside)
        elif self._key_hint:
            self._paint_key_hint(painter, ink)
        if self.hasFocus() and self.property("role") in FILLED_ROLES:
            paint_inset_ring(painter, self, option.palette.color(QPalette.ColorRole.ButtonText))
        painter.end()

    def _hint_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(self.fontInfo().pixelSize() - 3, 10))
        font.setBold(False)
        return font

    def _hint_px(self) -> int:
        return QFontMetrics(self._hint_font()).horizontalAdvance(self._key_hint)

    def _fits_centred(self, text_px: int) -> bool:
        return self.width() >= text_px + 2 * (self._hint_px() + _EDGE_PX + _HINT_GAP_PX)

    def _text_area(self) -> QRect:
        """Where the text goes when the middle of the button is too narrow for it and the key's name."""
        taken = self._hint_px() + _EDGE_PX + _HINT_GAP_PX
        near = _HINT_GAP_PX
        if self.isRightToLeft():
            return self.rect().adjusted(taken, 0, -near, 0)
        return self.rect().adjusted(near, 0, -taken, 0)

    def _paint_moved_text(self, painter: QPainter, ink: QColor) -> None:
        """Beside the key's name; a text that is still too long ends in an ellipsis."""
        area = self._text_area()
        painter.setPen(ink)
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_key_hint(self, painter: QPainter, ink: QColor) -> None:
        """At the far end, where it does not touch the text."""
        painter.setFont(self._hint_font())
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
