"""How much time a hold has left: figures, and a bar that shrinks. It shows what it is told and keeps no clock."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.theme import Theme

_BAR_PX = 4
_GAP_PX = 6


class Urgency(StrEnum):
    """How the time left is shown; words say it too, not colour only (D10)."""

    CALM = "calm"
    WARNING = "warning"
    OVER = "over"


_TOKENS = {Urgency.CALM: "text", Urgency.WARNING: "warn", Urgency.OVER: "danger"}
_BAR_TOKENS = {Urgency.CALM: "accent", Urgency.WARNING: "warn", Urgency.OVER: "danger"}


class Countdown(QWidget):
    """`caption` at the start, `figures` at the end, a bar of `share` (0–1) below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._caption = ""
        self._figures = ""
        self._share = 1.0
        self._urgency = Urgency.CALM
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def urgency(self) -> Urgency:
        return self._urgency

    @property
    def figures(self) -> str:
        return self._figures

    def show_time(self, caption: str, figures: str, share: float, urgency: Urgency) -> None:
        """Show the time left; cheap when nothing changed."""
        shown = (caption, figures, round(share, 3), urgency)
        if shown == (self._caption, self._figures, self._share, self._urgency):
            return
        if urgency is not self._urgency or caption != self._caption:
            self.setAccessibleName(caption)
        self._caption, self._figures, self._share, self._urgency = shown
        self.setAccessibleDescription(figures)
        self.update()

    def sizeHint(self) -> QSize:
        height = QFontMetrics(self._theme.font("title", bold=True)).height()
        return QSize(200, height + _GAP_PX + _BAR_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text = self.rect().adjusted(0, 0, 0, -_BAR_PX - _GAP_PX)
        painter.setFont(self._theme.font("title", bold=True))
        painter.setPen(self._theme.color(_TOKENS[self._urgency]))
        width = painter.fontMetrics().horizontalAdvance(self._figures)
        end = Qt.AlignmentFlag.AlignLeft if self.isRightToLeft() else Qt.AlignmentFlag.AlignRight
        start = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(text, end | middle, self._figures)
        painter.setFont(self._theme.font("body"))
        painter.setPen(self._theme.color("text_muted" if self._urgency is Urgency.CALM else _TOKENS[self._urgency]))
        room = text.width() - width - 12
        caption = painter.fontMetrics().elidedText(self._caption, Qt.TextElideMode.ElideRight, room)
        painter.drawText(text, start | middle, caption)
        self._paint_bar(painter)
        painter.end()

    def _paint_bar(self, painter: QPainter) -> None:
        bar = QRectF(0, self.height() - _BAR_PX, self.width(), _BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("surface_sunken"))
        painter.drawRoundedRect(bar, _BAR_PX / 2, _BAR_PX / 2)
        left = bar.width() * self._share
        if left > 0:
            x = bar.width() - left if self.isRightToLeft() else 0
            painter.setBrush(self._theme.color(_BAR_TOKENS[self._urgency]))
            painter.drawRoundedRect(QRectF(x, bar.top(), left, _BAR_PX), _BAR_PX / 2, _BAR_PX / 2)
