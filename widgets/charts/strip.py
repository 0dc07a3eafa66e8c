"""One strip: name and values at the side where lines begin, the plot beside them, its scale at the far side.

The values are those at the cross-hair, or the newest. What is not known is a dash, never a zero.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.charts.curve_layer import CurveLayer
from widgets.charts.marks import paint_dashes, paint_key
from widgets.charts.scale import largest_of, top_of
from widgets.charts.series import ChartTable, CurveLook, Floats, Limit, Span, StripPlan
from widgets.theme import Theme

HEAD_PX = 158
"""Room for names and values."""
SCALE_PX = 52
"""Room for the scale."""
_LEAST_PX = 54
_LIMIT_SHARE = 0.92
_KEY_PX = 16
_WHEEL_SHARE = 0.1
_EDGE_PX = 6
_OLD_GAPS = 3
UNKNOWN = "–"


class ChartStrip(QWidget):
    """Dumb: told a table, a span, limits and where the cross-hair is. Wishes of the hand go out as signals."""

    crossed = Signal(object)
    """The cross-hair is wished at this instant (s), or nowhere (None)."""
    moved = Signal(float)
    """The hand moves the span by so many seconds: back is below 0."""
    pressed = Signal()
    key_pressed = Signal(object)

    def __init__(self, theme: Theme, plan: StripPlan, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.plan = plan
        self._layer = CurveLayer(theme)
        self._fonts = theme.font("caption"), theme.font("caption", bold=True), theme.font("body", bold=True)
        self._metrics = tuple(QFontMetrics(font) for font in self._fonts)
        self._place: tuple[object, QRectF] = (None, QRectF())
        self._written_ticks: tuple[float, tuple[str, ...]] = (-1.0, ())
        self._table = ChartTable()
        self._span = Span(0.0, 1.0)
        self._limits: tuple[Limit, ...] = ()
        self._ticks: tuple[float, ...] = ()
        self._cross: float | None = None
        self._top = 0.0
        self._drawn: tuple[object, ...] = ()
        self._held_x: float | None = None
        self._stale = False
        self._alarm = ""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(plan.title)

    # ------------------------------------------------------------ what is shown

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        return self._top

    @property
    def values(self) -> dict[str, float | None]:
        """What stands beside the names: at the cross-hair, or the newest."""
        return {curve.key: self._value(curve) for curve in self.plan.curves}

    @property
    def spoken(self) -> str:
        """The strip for the ear: values and limits."""
        parts = [f"{curve.words}: {self._written(self._value(curve))}" for curve in self.plan.curves]
        parts += [f"{limit.words}: {self.plan.write(limit.value)}" for limit in self._limits]
        return ", ".join(([self._alarm] if self._alarm else []) + parts)

    def show_data(self, table: ChartTable, span: Span, ticks: tuple[float, ...]) -> None:
        """Show these samples in this span; `ticks` are instants for the upright lines."""
        self._table, self._span, self._ticks = table, span, ticks
        self.update()

    def show_limits(self, limits: tuple[Limit, ...]) -> None:
        """Lines across the strip."""
        if limits != self._limits:
            self._limits = limits
            self.update()

    def show_cross(self, time_s: float | None) -> None:
        """Where the cross-hair is."""
        if time_s != self._cross:
            self._cross = time_s
            self.update()

    def show_stale(self, stale: bool) -> None:  # said by what it sets
        """The newest sample is old: nothing in the head says "now" any more."""
        if stale != self._stale:
            self._stale = stale
            self.update()

    def show_alarm(self, words: str) -> None:
        """Say that something is over its limit; empty when nothing is."""
        if words != self._alarm:
            self._alarm = words
            self.update()

    def tell_reader(self) -> None:
        """Say the values to a screen reader."""
        spoken = self.spoken
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)

    # ------------------------------------------------------------ geometry

    @property
    def plot(self) -> QRectF:
        """Where the curves are."""
        stamp = self.width(), self.height(), self._mirrored
        if self._place[0] != stamp:
            left, right = (SCALE_PX, HEAD_PX) if self._mirrored else (HEAD_PX, SCALE_PX)
            gap = float(self._theme.space("tight"))
            room = max(self.width() - left - right, 1.0), max(self.height() - 2 * gap, 1.0)
            self._place = stamp, QRectF(left, gap, *room)
        return self._place[1]

    @property
    def _mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def x_of(self, time_s: float) -> float:
        """Instant → px."""
        plot = self.plot
        return plot.left() + (time_s - self._span.start_s) / max(self._span.seconds, 1e-9) * plot.width()

    def time_at(self, x: float) -> float:
        """Px → instant, kept inside the span."""
        plot = self.plot
        share = min(max((x - plot.left()) / plot.width(), 0.0), 1.0)
        return self._span.start_s + share * self._span.seconds

    def _y_of(self, value: float) -> float:
        plot = self.plot
        return plot.bottom() - min(max(value / max(self._top, 1e-9), 0.0), 1.02) * (plot.height() - 2.0)

    # ------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        self._fit_scale()
        painter = QPainter(self)
        self._paint_ground(painter)
        self._paint_curves(painter)
        self._paint_limits(painter)
        self._paint_cross(painter)
        self._paint_head(painter)
        self._paint_scale(painter)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.color("focus"), self._theme.sizes["focus_ring"]))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()

    def _fit_scale(self) -> None:
        first, last = self._seen
        columns = [self._table.column(curve.key)[first:last] for curve in self.plan.curves]
        largest = max([largest_of(*columns), *(limit.value / _LIMIT_SHARE for limit in self._limits_in_reach(columns))])
        self._top = top_of(largest, self.plan.least_top, self._top, is_time=self.plan.is_time)

    def _limits_in_reach(self, columns: list[Floats]) -> list[Limit]:
        """A limit far above everything that happens would flatten the curves; it is told in words then."""
        largest = largest_of(*columns)
        room = max(largest, self.plan.least_top)
        return [limit for limit in self._limits if limit.value <= room * 4]

    @property
    def _seen(self) -> tuple[int, int]:
        first, last = self._table.times.searchsorted((self._span.start_s, self._span.end_s))
        return max(int(first) - 1, 0), int(last) + 1

    def _paint_ground(self, painter: QPainter) -> None:
        theme, plot = self._theme, self.plot
        painter.fillRect(plot, theme.color("surface"))
        line = QColor(theme.color("border"))
        for tick in self._ticks:
            x = float(round(self.x_of(tick)))
            if plot.left() < x < plot.right():
                painter.fillRect(QRectF(x, plot.top(), 1, plot.height()), line)
        line.setAlpha(130)
        painter.fillRect(QRectF(plot.left(), round(plot.center().y()), plot.width(), 1), line)
        edge = theme.color("danger") if self._alarm else theme.color("border_strong")
        thick = 2 if self._alarm else 1
        painter.fillRect(QRectF(plot.left(), round(plot.bottom()), plot.width(), thick), edge)

    def _paint_curves(self, painter: QPainter) -> None:
        plot, dpr = self.plot, self.devicePixelRatioF()
        stamp = (self._table, self._span, self._top, plot.size().toTuple(), dpr)
        if stamp != self._drawn:
            size = plot.width(), plot.height()
            self._layer.draw(size, dpr, self._table, self._span, self.plan.curves, self._top)
        self._drawn = stamp
        if self._stale:
            painter.setOpacity(0.55)
        painter.drawPixmap(plot.topLeft(), self._layer.picture)
        painter.setOpacity(1.0)

    def limit_boxes(self) -> list[tuple[Limit, str, QRectF]]:
        """Limits in the picture, their words, and where these stand: beside each other if they are close."""
        plot, metrics = self.plot, self._metrics[0]
        boxes: list[tuple[Limit, str, QRectF]] = []
        for limit in self._limits:
            if limit.value > self._top:
                continue
            y = float(round(self._y_of(limit.value)))
            words = metrics.elidedText(limit.words, Qt.TextElideMode.ElideRight, int(plot.width() / 2))
            width, height = metrics.horizontalAdvance(words) + 6, metrics.height()
            top = y + 1 if y - height < plot.top() else y - height
            box = QRectF(plot.left(), top, width, height)  # over the oldest samples, in every language
            for _limit, _words, other in boxes:
                if box.intersects(other):
                    box.moveLeft(other.right() + 4)
            boxes.append((limit, words, box))
        return boxes

    def _paint_limits(self, painter: QPainter) -> None:
        painter.setFont(self._fonts[0])
        ground = QColor(self._theme.color("surface"))
        ground.setAlpha(205)
        for limit, words, box in self.limit_boxes():
            color = self._theme.color("danger" if limit.alarms else "text_muted")
            paint_dashes(painter, self.plot, float(round(self._y_of(limit.value))), color)
            painter.setPen(color)
            painter.fillRect(box, ground)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_cross(self, painter: QPainter) -> None:
        if self._cross is None or not self._span.start_s <= self._cross <= self._span.end_s:
            return
        plot, x = self.plot, self.x_of(self._cross)
        painter.fillRect(QRectF(round(x), plot.top(), 1, plot.height()), self._theme.color("text"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for curve in self.plan.curves:
            value = self._value(curve)
            if value is not None:
                painter.setPen(QPen(self._theme.color("surface"), 1.5))
                painter.setBrush(self._theme.color(curve.tone))
                painter.drawEllipse(QPointF(x, self._y_of(value)), 3.5, 3.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_head(self, painter: QPainter) -> None:
        theme = self._theme
        width = HEAD_PX - theme.space("small") - _EDGE_PX
        left = self.width() - HEAD_PX + theme.space("small") if self._mirrored else _EDGE_PX
        font, title_font, bold = self._fonts
        side = Qt.AlignmentFlag.AlignRight if self._mirrored else Qt.AlignmentFlag.AlignLeft
        flags = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        metrics = self._metrics[1]
        y = float(theme.space("tight"))
        painter.setFont(title_font)
        painter.setPen(theme.color("danger") if self._alarm else theme.color("text"))
        title = f"▲ {self.plan.title}" if self._alarm else self.plan.title
        painter.drawText(QRectF(left, y, width, metrics.height()), flags,
                         metrics.elidedText(title, Qt.TextElideMode.ElideRight, width))  # fmt: skip
        y += metrics.height() + 1
        line = min(float(self._metrics[2].height()), (self.height() - y) / max(len(self.plan.curves), 1))
        for curve in self.plan.curves:
            self._paint_entry(painter, curve, QRectF(left, y, width, line), (font, bold))
            y += line

    def _paint_entry(self, painter: QPainter, curve: CurveLook, box: QRectF, fonts: tuple[QFont, QFont]) -> None:
        """The key of a curve, its name and its value."""
        theme = self._theme
        font, bold = fonts
        key = QRectF(box.right() - _KEY_PX if self._mirrored else box.left(), box.top(), _KEY_PX, box.height())
        paint_key(painter, theme, curve, key)
        value = self._written(self._value(curve))
        painter.setFont(bold)
        value_px = self._metrics[2].horizontalAdvance(value)
        near, far = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        if self._mirrored:
            near, far = far, near
        absolute = Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.color("text_muted" if self._stale and self._cross is None else "text"))
        painter.drawText(box, far | absolute, value)
        room = box.width() - _KEY_PX - value_px - 12
        if self._mirrored:
            words_box = QRectF(box.right() - _KEY_PX - 6 - room, box.top(), room, box.height())
        else:
            words_box = QRectF(box.left() + _KEY_PX + 6, box.top(), room, box.height())
        if len(self.plan.curves) == 1:
            return  # the title names it
        painter.setFont(font)
        painter.setPen(theme.color("text_muted"))
        words = self._metrics[0].elidedText(curve.words, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(words_box, near | absolute, words)

    def _paint_scale(self, painter: QPainter) -> None:
        theme, plot = self._theme, self.plot
        painter.setFont(self._fonts[0])
        painter.setPen(theme.color("text_muted"))
        if self._written_ticks[0] != self._top:
            ticks = tuple(self.plan.write_tick(value) for value in (self._top, self._top / 2, 0.0))
            self._written_ticks = self._top, ticks
        upper, middle, lower = self._written_ticks[1]
        left = 0.0 if self._mirrored else plot.right() + theme.space("tight")
        side = Qt.AlignmentFlag.AlignRight if self._mirrored else Qt.AlignmentFlag.AlignLeft
        width = SCALE_PX - theme.space("tight")
        height = self._metrics[0].height()
        flags = side | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(QRectF(left, plot.top() - 2, width, height), flags, upper)
        if plot.height() > 3 * height:
            painter.drawText(QRectF(left, plot.center().y() - height / 2, width, height), flags, middle)
        painter.drawText(QRectF(left, plot.bottom() - height + 2, width, height), flags, lower)

    def _value(self, curve: CurveLook) -> float | None:
        if self._cross is not None:
            return self._table.at(curve.key, self._cross)
        place = int(self._table.times.searchsorted(self._span.end_s + 1e-6)) - 1
        if place < 0:
            return None
        is_old = self._span.end_s - self._table.times[place] > _OLD_GAPS * self._table.gap_s
        if is_old and not self._stale:
            return None
        value = float(self._table.column(curve.key)[place])
        return None if np.isnan(value) else value

    def _written(self, value: float | None) -> str:
        return UNKNOWN if value is None else self.plan.write(value)

    # ------------------------------------------------------------ the hand

    def sizeHint(self) -> QSize:
        return QSize(420, 72)

    def minimumSizeHint(self) -> QSize:
        heights = (
            QFontMetrics(self._theme.font("caption")).height()
            + len(self.plan.curves) * QFontMetrics(self._theme.font("body")).height()
        )
        return QSize(HEAD_PX + SCALE_PX + 90, max(_LEAST_PX, heights - 4))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._held_x is not None and event.buttons() & Qt.MouseButton.LeftButton:
            if abs(x - self._held_x) >= 1.0:
                self.moved.emit((self._held_x - x) / self.plot.width() * self._span.seconds)
                self._held_x = x
            return
        inside = self.plot.adjusted(-2, 0, 2, 0).contains(event.position())
        self.crossed.emit(self.time_at(x) if inside else None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._held_x = event.position().x() if self.plot.contains(event.position()) else None
        self.pressed.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self._held_x = None

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.crossed.emit(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or turned.x():
            self.moved.emit(-(turned.x() or turned.y()) / 120 * _WHEEL_SHARE * self._span.seconds)
            event.accept()
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self.key_pressed.emit(event)
        if not event.isAccepted():
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update()
