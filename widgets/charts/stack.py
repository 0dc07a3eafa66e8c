"""Strips on one time axis: one span, one cross-hair, keys. In one column, or in two where there is room.

Keys: Up and Down go from strip to strip, Left and Right move the cross-hair from sample to sample (with Ctrl ten at a
time), Page Up and Page Down move the span, End goes back to now, Plus and Minus zoom, Esc lets the cross-hair go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from widgets.charts.series import ChartTable, Limit, Span, StripPlan
from widgets.charts.strip import ChartStrip
from widgets.charts.time_axis import TimeAxis
from widgets.focus import take_focus
from widgets.theme import Theme

TWO_COLUMNS_PX = 760
_PAGE_SHARE = 0.5
_LEAP = 10
_ZOOM = 2.0


class ChartStack(QWidget):
    """Dumb: values in, wishes out. Who shows it decides which span is shown."""

    moved = Signal(float)
    """The span is wished so many seconds later."""
    zoomed = Signal(float)
    """The span is wished so many times as long."""
    live_requested = Signal()
    cross_moved = Signal(object)
    """The instant of the cross-hair (s), or None."""
    strip_chosen = Signal(str)

    def __init__(
        self, theme: Theme, plans: Sequence[StripPlan], write_time: Callable[[float, float], str],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._table = ChartTable()
        self._span = Span(0.0, 1.0)
        self._offset_s = 0.0
        self._cross: float | None = None
        self._columns = 0
        self._current = 0
        self.strips = [ChartStrip(theme, plan) for plan in plans]
        self.axes = [TimeAxis(theme, write_time), TimeAxis(theme, write_time)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.space("large"))
        self._grid.setVerticalSpacing(0)
        for strip in self.strips:
            strip.crossed.connect(self.set_cross)
            strip.moved.connect(self.moved)
            strip.pressed.connect(self._on_strip_pressed)
            strip.key_pressed.connect(self._on_key_pressed)
        self.axes[0].resized.connect(self._show)
        self._arrange(1)
        self._choose(0)

    # ------------------------------------------------------------ what is shown

    @property
    def span(self) -> Span:
        return self._span

    @property
    def cross(self) -> float | None:
        """Where the cross-hair is."""
        return self._cross

    def strip_of(self, key: str) -> ChartStrip:
        """A strip by its key."""
        return next(strip for strip in self.strips if strip.plan.key == key)

    def show_zone(self, zone: tuple[str, ...]) -> None:
        """Whose clock the time axis has, in words, the longest first."""
        for axis in self.axes:
            axis.show_zone(zone)

    def show_data(self, table: ChartTable, span: Span, offset_s: float = 0.0) -> None:
        """Show these samples in this span; `offset_s` is how far the wall clock is ahead of UTC."""
        self._table, self._span, self._offset_s = table, span, offset_s
        self._show()

    def show_limits(self, limits: Mapping[str, tuple[Limit, ...]]) -> None:
        """Lines across strips, by key."""
        for strip in self.strips:
            strip.show_limits(limits.get(strip.plan.key, ()))

    def show_alarms(self, words: Mapping[str, str]) -> None:
        """What is the matter with a strip, by key."""
        for strip in self.strips:
            strip.show_alarm(words.get(strip.plan.key, ""))

    def show_stale(self, stale: bool) -> None:  # said by what it sets
        """The newest samples are old."""
        for strip in self.strips:
            strip.show_stale(stale)

    def set_cross(self, time_s: float | None) -> None:
        """Put the cross-hair upon the sample nearest to an instant, on all strips; None takes it away."""
        place = None if time_s is None else self._table.nearest(time_s)
        at = time_s if place is None else float(self._table.times[place])
        if at == self._cross:
            return
        self._cross = at
        for strip in self.strips:
            strip.show_cross(at)
        for axis in self.axes:
            axis.show_cross(at)
        self._tell_reader()
        self.cross_moved.emit(at)

    def focus_first(self) -> None:
        """Put the keyboard on the strip that had it."""
        take_focus(self.strips[self._current])

    def _show(self) -> None:
        ticks = self.axes[0].ticks_of(self._span, self._offset_s)
        for strip in self.strips:
            strip.show_data(self._table, self._span, ticks)
        for axis in self.axes:
            axis.show_span(self._span, ticks)
        self._tell_reader()

    def _tell_reader(self) -> None:
        """The strip under the keyboard says its values; the others when they are come to."""
        strip = self.strips[self._current]
        if strip.hasFocus():
            strip.tell_reader()

    # ------------------------------------------------------------ places

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        rows = -(-len(self.strips) // columns)
        for number, strip in enumerate(self.strips):
            self._grid.addWidget(strip, number % rows, number // rows)
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 1 if row < rows else 0)
        for number, axis in enumerate(self.axes):
            # First its place: shown without a parent it would be a window, which takes the keyboard from ours.
            self._grid.addWidget(axis, len(self.strips), min(number, columns - 1))
            axis.setVisible(number < columns)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(2 if self.width() >= TWO_COLUMNS_PX and len(self.strips) > 1 else 1)

    # ------------------------------------------------------------ keys

    def _choose(self, number: int) -> None:
        """One strip takes a place in the order of Tab: the one that was used last."""
        self._current = number
        for place, strip in enumerate(self.strips):
            strip.setFocusPolicy(Qt.FocusPolicy.StrongFocus if place == number else Qt.FocusPolicy.ClickFocus)

    def _on_strip_pressed(self) -> None:
        strip = self.sender()
        if isinstance(strip, ChartStrip):
            self._choose(self.strips.index(strip))
            strip.tell_reader()
            self.strip_chosen.emit(strip.plan.key)

    def _go_to(self, number: int) -> None:
        self._choose(min(max(number, 0), len(self.strips) - 1))
        self.strips[self._current].tell_reader()
        self.focus_first()
        self.strip_chosen.emit(self.strips[self._current].plan.key)

    def _on_key_pressed(self, event: QKeyEvent) -> None:
        leap = _LEAP if event.modifiers() & Qt.KeyboardModifier.ControlModifier else 1
        page = self._span.seconds * _PAGE_SHARE
        wishes: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Up: lambda: self._go_to(self._current - 1),
            Qt.Key.Key_Down: lambda: self._go_to(self._current + 1),
            Qt.Key.Key_Left: lambda: self._step(-leap),
            Qt.Key.Key_Right: lambda: self._step(leap),
            Qt.Key.Key_PageUp: lambda: self.moved.emit(-page),
            Qt.Key.Key_PageDown: lambda: self.moved.emit(page),
            Qt.Key.Key_End: self.live_requested.emit,
            Qt.Key.Key_Plus: lambda: self.zoomed.emit(1 / _ZOOM),
            Qt.Key.Key_Minus: lambda: self.zoomed.emit(_ZOOM),
        }
        if event.key() == Qt.Key.Key_Escape and self._cross is not None:
            self.set_cross(None)
        elif event.key() in wishes:
            wishes[event.key()]()
        else:
            return
        event.accept()

    def _step(self, samples: int) -> None:
        """Move the cross-hair along the samples; it begins at the newest one that is seen."""
        times = self._table.times
        first, last = times.searchsorted(self._span.start_s), times.searchsorted(self._span.end_s, "right")
        if first >= last:
            return
        place = last - 1 if self._cross is None else int(times.searchsorted(self._cross)) + samples
        self.set_cross(float(times[min(max(place, first), last - 1)]))
