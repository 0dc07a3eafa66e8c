"""The large mode: eight figures, how things stand, and nothing else, for a screen on the wall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_health import Health, State, is_stale, limits_kept, state_of
from app.core.ops_parts import OpsPart
from app.core.ops_series import LIVE_S
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.screens.inbox_page import event_zone
from app.screens.ops_words import MARKS, TONES, alarm_words, figure_name, state_detail, state_title, value_words
from backend_client.wire import AdmissionMode, EventStatus, OpsFigure, OpsSeverity
from widgets.big_figure import BigFigure
from widgets.build import column, label, row
from widgets.charts import ChartTable, CurveLook, Span
from widgets.elided_label import ElidedLabel
from widgets.state_line import StateLine
from widgets.theme import Theme

F = OpsFigure
_ALARM_LINES = 3
_ROOM_FOR_ALARMS_PX = 620
_OF_A_ROOM = frozenset({F.ROOM_WAITING, F.ROOM_WAIT_S, F.ADMISSION_MEASURED_PER_MIN})
_ALARMED = frozenset({Health.WARNING, Health.CRITICAL})


@dataclass(frozen=True, slots=True)
class _Tile:
    """`name` is the figure that is shown large; `alarms` are figures whose alarms it shows; `second` a value beside."""

    name: str
    title: str
    alarms: tuple[str, ...] = ()
    second: str = ""
    second_words: str = ""
    least_top: float = 10.0


class OpsWall(QWidget):
    """Reads the board; there is nothing to press."""

    def __init__(self, theme: Theme, store: ConsoleStore, steady: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._steady = steady
        self.state = StateLine(theme, "figure")
        self._event = ElidedLabel()
        self._event.setProperty("type", "title")
        self.standing = label(kind="title", tone="warn")
        self._clock = label(kind="title")
        self._hint = label(_("F11 goes back"), tone="muted")
        self._tiles = _tiles()
        self.figures = [BigFigure(theme, tile.title, _curves(tile), tile.least_top) for tile in self._tiles]
        self.alarms = [StateLine(theme, "title") for _line in range(_ALARM_LINES)]
        self._table = ChartTable()
        self._shows_old = False
        self._build(theme)

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    def show_part(self, part: OpsPart) -> None:
        """Show what changed, while it is seen."""
        if self.isVisible() and part & (OpsPart.FIGURES | OpsPart.ALARMS | OpsPart.STATE | OpsPart.CONTROL):
            self.show_all()

    def show_time(self) -> None:
        """The clock goes on, and figures grow old."""
        if not self.isVisible():
            return
        now = self._store.clock.now()
        zone = event_zone(self._store, self._board.event_id)
        told = "" if now is None else f"{figures().clock(now, zone)} {figures().zone_offset(now, zone)}"
        self._clock.setText(told)
        if is_stale(self._board, self._steady()) is not self._shows_old:
            self.show_all()  # nothing came to say so
        self._show_state()

    def show_all(self) -> None:
        """Show everything anew."""
        board = self._board
        event = board.event
        self._event.setText(_("All events") if event is None else event.name)
        self.standing.setText(self._standing_words())
        source = board.live
        self._table = ChartTable(source.times, source.columns, source.gap_s)
        end_s = float(source.times[-1]) if len(source.times) else 1.0
        span = Span(end_s - LIVE_S, end_s)
        old = self._shows_old = is_stale(board, self._steady())
        for tile, shown in zip(self._tiles, self.figures, strict=True):
            shown.tell(*self._words(tile, old=old))
            shown.show_path(self._table, span)
        self._show_state()

    def _standing_words(self) -> str:
        """That people have stopped something here: no figure says so, and none is over its limit for it."""
        event, control = self._board.event, self._board.control
        said = {EventStatus.PAUSED.value: _("Sale paused"), EventStatus.CANCELLED.value: _("Cancelled")}
        words = [] if event is None else [said.get(event.status, "")]
        room = None if control is None or control.settings.mode is not AdmissionMode.PAUSED else control.room
        if room is not None and not room.is_letting_in:
            words.append(_("Room paused"))
        return figures().joined(words)

    def _show_state(self) -> None:
        state = state_of(self._board, self._steady())
        told_below = state.alarms and self.height() >= _ROOM_FOR_ALARMS_PX
        detail = "" if told_below and state.health in _ALARMED else state_detail(state, limits_kept(self._board))
        self.state.tell(MARKS[state.health], state_title(state), detail, TONES[state.health])
        self._show_alarms(state)

    def _show_alarms(self, state: State) -> None:
        for place, line in enumerate(self.alarms):
            line.setVisible(place < len(state.alarms) and self.height() >= _ROOM_FOR_ALARMS_PX)
            if place < len(state.alarms):
                alarm = state.alarms[place]
                critical = alarm.severity is OpsSeverity.CRITICAL
                known = "" if alarm.acknowledged_at is None else _("Known to {who}").format(who=alarm.acknowledged_by)
                line.tell("✕" if critical else "▲", alarm_words(alarm), known, "danger" if critical else "warn")

    def _words(self, tile: _Tile, *, old: bool) -> tuple[str, str, str, str]:
        value = self._board.newest(tile.name)
        more = ""
        if tile.second:
            other = self._board.newest(tile.second)
            more = f"{tile.second_words}: {'–' if other is None else value_words(tile.second, other)}"
        if value is None:
            return "–", _("No room") if self._is_of_no_room(tile) else _("Not known"), "off", more
        written = value_words(tile.name, value)
        if old:
            return written, _("Old"), "off", more
        ours = [
            alarm for alarm in self._board.alarms
            if alarm.figure in tile.alarms and alarm.event_id in {None, self._board.event_id}
        ]  # fmt: skip
        if ours:
            alarm = min(ours, key=lambda one: one.figure != tile.name)  # rather of the number that stands there
            bad = any(one.severity is OpsSeverity.CRITICAL for one in ours)
            limit = _("limit {limit}").format(limit=value_words(alarm.figure, alarm.raise_at))
            # The number first: it is what is still read where the line is cut.
            named = limit if alarm.figure == tile.name else figures().joined((limit, figure_name(alarm.figure)))
            return written, _("Too high"), "bad" if bad else "trouble", named
        return written, _("Well") if self._board.rule_of(tile.name) is not None else "", "good", more

    def _is_of_no_room(self, tile: _Tile) -> bool:
        control = self._board.control
        return tile.name in _OF_A_ROOM and control is not None and control.room is None

    def _build(self, theme: Theme) -> None:
        head = row(theme, gap="large")
        head.addWidget(self._event, 1)
        head.addWidget(self.standing)
        head.addWidget(self._clock)
        grid = QGridLayout()
        grid.setSpacing(theme.space("medium"))
        for place, shown in enumerate(self.figures):
            grid.addWidget(shown, place // 4, place % 4)
        page = column(theme, margin="large", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.state)
        page.addLayout(grid, 1)
        for line in self.alarms:
            page.addWidget(line)
            line.hide()
        page.addWidget(self._hint, 0, Qt.AlignmentFlag.AlignLeading)


def _curves(tile: _Tile) -> tuple[CurveLook, ...]:
    curves = [CurveLook(tile.name, tile.title, "accent")]
    if tile.second and _same_unit(tile):
        curves.append(CurveLook(tile.second, tile.second_words, "success", "dash"))
    return tuple(curves)


def _same_unit(tile: _Tile) -> bool:
    return tile.name.rsplit("_", 1)[-1] == tile.second.rsplit("_", 1)[-1]


def _tiles() -> list[_Tile]:
    """In the language in use."""
    return [
        _Tile(F.ROOM_WAITING, _("Waiting room"), (F.ROOM_WAITING,)),
        _Tile(F.ROOM_WAIT_S, _("Wait for a turn"), (F.ROOM_WAIT_S,), least_top=30),
        _Tile(F.ADMISSION_MEASURED_PER_MIN, _("Let in a minute"), (F.ADMISSION_MEASURED_PER_MIN,),
              F.ADMISSION_SET_PER_MIN, _("Set")),
        _Tile(F.ORDERS_CONFIRMED_PER_MIN, _("Orders a minute"), (F.ORDERS_CONFIRMED_PER_MIN,)),
        _Tile(F.HOLD_P99_MS, _("Answers to holds"), (F.HOLD_P99_MS, F.QUEUE_AGE_MS, F.SHED_PER_S),
              F.HOLD_CONFLICT_SHARE, _("Conflicts"), least_top=50),
        _Tile(F.LOCK_WAITS, _("Lock waits"), (F.LOCK_WAITS, F.LOCK_WAIT_OLDEST_S), least_top=4),
        _Tile(F.PAYMENTS_UNKNOWN, _("Unclear payments"),
              (F.PAYMENTS_UNKNOWN, F.PAYMENTS_UNKNOWN_OLDEST_S, F.PAYMENT_ERROR_SHARE), F.PAYMENT_ERROR_SHARE,
              _("Fail"), least_top=4),
        _Tile(F.TICKETING_LAG_S, _("Tickets late by"), (F.TICKETING_LAG_S, F.OUTBOX_OLDEST_S, F.OUTBOX_LAG),
              F.OUTBOX_OLDEST_S, _("Messages"), least_top=5),
    ]  # fmt: skip
