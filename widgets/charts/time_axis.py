"""The time axis under a column of strips: round instants, the cross-hair's own instant, what the right edge is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.charts.scale import time_ticks
from widgets.charts.series import Span
from widgets.charts.strip import HEAD_PX, SCALE_PX
from widgets.theme import Theme

_TICK_PX = 70
_EDGE_PX = 6


class TimeAxis(QWidget):
    """`write_time(seconds, span_seconds)` words an instant, to the second when the span is 0."""

    resized = Signal()
    """Other instants have room now."""

    def __init__(self, theme: Theme, write_time: Callable[[float, float], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._write_time = write_time
        self._span = Span(0.0, 1.0)
        self._ticks: tuple[float, ...] = ()
        self._cross: float | None = None
        self._zone: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def ticks_of(self, span: Span, offset_s: float) -> tuple[float, ...]:
        """Instants that have room under strips as wide as this one."""
        return tuple(time_ticks(span.start_s, span.end_s, max(int(self._plot_px // _TICK_PX), 2), offset_s))

    def show_span(self, span: Span, ticks: tuple[float, ...]) -> None:
        """Show these instants."""
        self._span, self._ticks = span, ticks
        self.update()

    def show_cross(self, time_s: float | None) -> None:
        """Say where the cross-hair is."""
        if time_s != self._cross:
            self._cross = time_s
            self.update()

    def show_zone(self, zone: tuple[str, ...]) -> None:
        """Say whose clock it is, before the instants: the first of these words that has room, the last one cut."""
        if zone != self._zone:
            self._zone = zone
            self.setToolTip(zone[0] if zone else "")
            self.update()

    @property
    def zone_words(self) -> str:
        """What stands before the instants."""
        return self._zone_within(HEAD_PX - 2 * _EDGE_PX)

    def _zone_within(self, room_px: int) -> str:
        metrics = QFontMetrics(self._theme.font("caption"))
        fitting = (words for words in self._zone if metrics.horizontalAdvance(words) <= room_px)
        last = self._zone[-1] if self._zone else ""
        return next(fitting, metrics.elidedText(last, Qt.TextElideMode.ElideRight, max(room_px, 0)))

    def _zone_box(self, height: float, taken: QRectF | None) -> QRectF:
        """Where the zone stands: beside the plot, and beside the cross-hair's own instant."""
        left = self.width() - HEAD_PX + _EDGE_PX if self._mirrored else _EDGE_PX
        box = QRectF(left, 0.0, HEAD_PX - 2 * _EDGE_PX, height)
        if taken is not None and self._mirrored:
            box.setLeft(max(box.left(), taken.right() + 2 * _EDGE_PX))
        elif taken is not None:
            box.setRight(min(box.right(), taken.left() - 2 * _EDGE_PX))
        return box

    @property
    def _mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    @property
    def _plot_px(self) -> float:
        return max(float(self.width() - HEAD_PX - SCALE_PX), 1.0)

    def _x_of(self, time_s: float) -> float:
        left = SCALE_PX if self._mirrored else HEAD_PX
        return left + (time_s - self._span.start_s) / max(self._span.seconds, 1e-9) * self._plot_px

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def sizeHint(self) -> QSize:
        return QSize(420, QFontMetrics(self._theme.font("caption")).height() + self._theme.space("tight"))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color("text_muted"))
        taken = self._cross_box()
        room = self._zone_box(float(painter.fontMetrics().height()), taken)
        leading = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, leading, self._zone_within(int(room.width())))
        for tick in self._ticks:
            box = self._box(tick)
            if taken is None or not box.adjusted(-4, 0, 4, 0).intersects(taken):
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._write_time(tick, self._span.seconds))
        if taken is not None and self._cross is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("text"))
            painter.drawRoundedRect(taken.adjusted(-4, 0, 4, 0), 3, 3)
            painter.setPen(self._theme.color("surface"))
            painter.drawText(taken, Qt.AlignmentFlag.AlignCenter, self._write_time(self._cross, 0.0))
        painter.end()

    def _cross_box(self) -> QRectF | None:
        return None if self._cross is None else self._box(self._cross)

    def _box(self, time_s: float) -> QRectF:
        """Where an instant's words stand; kept inside the widget."""
        exact = 0.0 if time_s == self._cross else self._span.seconds
        metrics = QFontMetrics(self._theme.font("caption"))
        width = float(metrics.horizontalAdvance(self._write_time(time_s, exact)) + 2)
        left = min(max(self._x_of(time_s) - width / 2, 4.0), self.width() - width - 4.0)
        return QRectF(left, 0.0, width, float(metrics.height()))
