"""What goes on now, and what went on: charts on one time axis, and the bar that moves along it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_health import is_stale, state_of
from app.core.ops_parts import OpsPart, OpsView
from app.core.ops_series import LIVE_S, MOST_MINUTES_S, SampleTable
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.i18n.figures import zone_of
from app.screens.inbox_page import event_zone
from app.screens.ops_strips import limits_of, strip_of, strip_plans
from app.screens.ops_words import alarm_words, clock_words
from app.screens.words import advice_for
from widgets.build import column, label, row, scrolling
from widgets.charts import ChartStack, ChartTable, Span
from widgets.charts.stack import TWO_COLUMNS_PX
from widgets.elided_label import ElidedLabel
from widgets.theme import Theme

SPANS_S = (900, 3_600, 21_600, 86_400)
_LATE_S = 3.0
"""A second is no older while the next ones come: a process that does not add up itself shows it half a second later."""
_ROW_PX = 70
_NARROW_PX = 620


class OpsLivePage(QWidget):
    """Reads the board; where in time somebody wants to look goes out as a signal."""

    view_wanted = Signal(object)
    """An `OpsView`."""

    def __init__(self, theme: Theme, store: ConsoleStore, steady: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._steady = steady
        self.charts = ChartStack(theme, strip_plans(), self._write_time)
        self.charts.setAccessibleName(_("Charts"))
        self.spans: list[QToolButton] = []
        self.earlier, self.later, self.now = QToolButton(), QToolButton(), QToolButton()
        self._when = ElidedLabel()
        self._when.setProperty("tone", "muted")
        self._trouble = label(tone="warn")
        self._aged_at = 0
        self._tables: tuple[SampleTable | None, ChartTable] = (None, ChartTable())
        self._build(theme)
        self._connect()

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def _zone(self) -> str:
        return event_zone(self._store, self._board.event_id)

    # ------------------------------------------------------------ what is shown

    def show_part(self, part: OpsPart) -> None:
        """Show what changed; charts only while they are seen."""
        if part & (OpsPart.ALARMS | OpsPart.CONTROL) or (part & OpsPart.FIGURES and self._board.alarms):
            self._show_limits()
        if part & (OpsPart.FIGURES | OpsPart.VIEW | OpsPart.HISTORY | OpsPart.STATE):
            self._show_charts()
        if part & (OpsPart.VIEW | OpsPart.HISTORY):
            self._show_bar()

    def show_time(self) -> None:
        """Time goes on, whether figures come or not: what is missing shows as a gap that grows."""
        board = self._board
        second = int(self._steady())
        if self.isVisible() and board.view.is_live and second != self._aged_at and is_stale(board, second):
            self._aged_at = second
            self._show_charts()

    @property
    def now_s(self) -> float:
        """The instant at the right edge while it follows: the newest second's, and later once none comes any more."""
        board = self._board
        age_s = board.age_s(self._steady())
        if board.figures is None or age_s is None:
            now = self._store.clock.now() or datetime.now(UTC)
            return now.timestamp()
        return board.figures.measured_at.timestamp() + (age_s if age_s > _LATE_S else 0.0)

    @property
    def span(self) -> Span:
        """What the charts show."""
        view = self._board.view
        end_s = self.now_s if view.end_s is None else view.end_s
        return Span(end_s - view.seconds, end_s)

    def _show_charts(self) -> None:
        if not self.isVisible():
            return
        board, span = self._board, self.span
        edge, zone = datetime.fromtimestamp(span.end_s, UTC), self._zone
        offset = edge.astimezone(zone_of(zone)).utcoffset()
        self.charts.show_zone((figures().zone(edge, zone), figures().zone_offset(edge, zone)))
        self.charts.show_stale(board.view.is_live and is_stale(board, self._steady()))
        self.charts.show_data(self._table, span, 0.0 if offset is None else offset.total_seconds())

    @property
    def _table(self) -> ChartTable:
        """Seconds while they reach so far back, minutes otherwise; the same table as before when it is the same."""
        board = self._board
        source = board.live if self.shows_seconds else board.minutes.table
        if source is not self._tables[0]:
            self._tables = source, ChartTable(source.times, source.columns, source.gap_s)
        return self._tables[1]

    @property
    def shows_seconds(self) -> bool:
        """Whether seconds reach as far back as what is shown; minutes are shown otherwise."""
        span = self.span
        return span.seconds <= LIVE_S and span.end_s > self.now_s - LIVE_S / 2

    def _show_limits(self) -> None:
        board = self._board
        self.charts.show_limits(limits_of(board))
        alarms = state_of(board, self._steady()).alarms
        of_event = [alarm for alarm in alarms if alarm.event_id in {None, board.event_id}]
        self.charts.show_alarms({strip_of(alarm.figure): alarm_words(alarm) for alarm in reversed(of_event)})

    def _show_bar(self) -> None:
        board, view, span = self._board, self._board.view, self.span
        for button, seconds in zip(self.spans, SPANS_S, strict=True):
            button.setChecked(seconds == view.seconds)
        self.now.setChecked(view.is_live)
        self.later.setEnabled(not view.is_live)
        if view.is_live:
            words = _("Live, each second") if self.shows_seconds else _("Up to now, each minute")
        else:
            each = _("each second") if self.shows_seconds else _("each minute")
            words = figures().joined((self._edge_words(span), each))
        self._when.setText(words)
        self._trouble.setVisible(bool(board.history_trouble))
        if board.history_trouble:
            words = advice_for(board.history_trouble).title
            self._trouble.setText(_("History: {trouble}").format(trouble=words))

    def _edge_words(self, span: Span) -> str:
        """`Nov 30, 04:54 to 10:54`; both days where they differ."""
        zone = self._zone
        first, last = (datetime.fromtimestamp(at, UTC) for at in (span.start_s, span.end_s))
        days = [figures().day(at, zone) for at in (first, last)]
        times = [figures().clock(at, zone)[:5] for at in (first, last)]
        start = f"{days[0]} {times[0]}"
        end = times[1] if days[0] == days[1] else f"{days[1]} {times[1]}"
        return _("{start} to {end}").format(start=start, end=end)

    def _write_time(self, seconds: float, span_s: float) -> str:
        return clock_words(seconds, span_s, self._zone)

    def focus_first(self) -> None:
        """Put the keyboard on the charts."""
        self.charts.focus_first()

    # ------------------------------------------------------------ moving in time

    def move_by(self, seconds: float) -> None:
        """Look so much later; at now it follows again."""
        view = self._board.view
        end_s = (self.now_s if view.end_s is None else view.end_s) + seconds
        self.view_wanted.emit(OpsView(view.seconds, None if end_s >= self.now_s - 1.0 else end_s))

    def zoom(self, times: float) -> None:
        """Look at so many times as much."""
        view = self._board.view
        self.view_wanted.emit(OpsView(min(max(view.seconds * times, 60.0), float(MOST_MINUTES_S)), view.end_s))

    def go_live(self) -> None:
        """Back to now."""
        self.view_wanted.emit(OpsView(self._board.view.seconds, None))

    def _on_span_clicked(self) -> None:
        seconds = next(one for button, one in zip(self.spans, SPANS_S, strict=True) if button is self.sender())
        self.view_wanted.emit(OpsView(float(seconds), self._board.view.end_s))
        self._show_bar()

    def _on_earlier_clicked(self) -> None:
        self.move_by(-self._board.view.seconds / 2)

    def _on_later_clicked(self) -> None:
        self.move_by(self._board.view.seconds / 2)

    def _on_now_clicked(self) -> None:
        self.go_live()
        self._show_bar()

    # ------------------------------------------------------------ wiring

    def _build(self, theme: Theme) -> None:
        bar = row(theme, gap="small")
        group = QButtonGroup(self)
        self._show_words = label(_("Show"), tone="muted")
        bar.addWidget(self._show_words)
        for seconds in SPANS_S:
            button = QToolButton()
            button.setText(figures().age(seconds))
            button.setAccessibleName(_("Show {span}").format(span=figures().age(seconds)))
            button.setCheckable(True)
            button.setProperty("role", "digit")
            bold = QFontMetrics(theme.font("body", bold=True))  # as it is once it is chosen
            button.setMinimumWidth(bold.horizontalAdvance(button.text()) + theme.space("medium"))
            group.addButton(button)
            self.spans.append(button)
            bar.addWidget(button)
        for button, words, name in (
            (self.earlier, _("Earlier"), "PgUp"), (self.later, _("Later"), "PgDn"), (self.now, _("Now"), "End"),
        ):  # fmt: skip
            button.setText(words)
            button.setAccessibleName(words)
            button.setToolTip(f"{words}  {name}")
            button.setProperty("role", "bar")
            bar.addWidget(button)
        self.now.setCheckable(True)
        bar.addWidget(self._when, 1)
        bar.addWidget(self._trouble)
        self._trouble.hide()
        self._area = scrolling(self.charts)
        page = column(theme, gap="small", parent=self)
        page.addWidget(self._area, 1)
        page.addLayout(bar)

    def _connect(self) -> None:
        for button in self.spans:
            button.clicked.connect(self._on_span_clicked)
        self.earlier.clicked.connect(self._on_earlier_clicked)
        self.later.clicked.connect(self._on_later_clicked)
        self.now.clicked.connect(self._on_now_clicked)
        self.charts.moved.connect(self.move_by)
        self.charts.zoomed.connect(self.zoom)
        self.charts.live_requested.connect(self.go_live)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]  # a QShowEvent
        self._show_limits()
        self._show_charts()
        self._show_bar()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words.setVisible(self.width() >= _NARROW_PX)
        columns = 2 if self.width() >= TWO_COLUMNS_PX else 1
        self.charts.setMinimumHeight(-(-len(self.charts.strips) // columns) * _ROW_PX + 20)
        self._area.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if columns == 2 and self.height() > self.charts.minimumHeight() + 50
            else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )  # fmt: skip
