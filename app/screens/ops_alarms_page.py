"""Alarms: what is over its limit, since when, who knows; then those that ended, and the limits, to be changed here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_health import is_stale
from app.core.ops_parts import OpsPart
from app.core.rule_draft import MEMBERS
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.screens import ops_keys
from app.screens.inbox_page import event_zone
from app.screens.ops_rule_words import level_words, sign_of
from app.screens.ops_times import times_words
from app.screens.ops_words import delay_words, exact_words, figure_name, severity_mark, severity_words, value_words
from app.screens.words import Advice, advice_for
from backend_client.wire import OpsAlarm, OpsAlarmRule, OpsSeverity
from widgets.async_button import AsyncButton
from widgets.build import column, label, row
from widgets.data_table import ColumnPlan, DataTable
from widgets.elided_label import ElidedLabel
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.tick_box import TickBox

_PLANS = (
    ColumnPlan(110, rank=0), ColumnPlan(190, 3, rank=1), ColumnPlan(100, rank=2), ColumnPlan(100, rank=3),
    ColumnPlan(100, rank=5), ColumnPlan(150, 1, rank=4), ColumnPlan(150, 2, rank=6),
)  # fmt: skip
_RULE_PLANS = (
    ColumnPlan(190, 3, rank=0), ColumnPlan(110, rank=1), ColumnPlan(120, rank=2), ColumnPlan(110, rank=3),
    ColumnPlan(120, rank=4), ColumnPlan(110, 1, rank=5),
)  # fmt: skip
_SHARE = (3, 2)


class OpsAlarmsPage(QWidget):
    """Reads the board; wishes go out as signals."""

    acknowledge_requested = Signal(object)
    """The id of an alarm."""
    sound_wanted = Signal(bool)
    limit_requested = Signal(str)
    """The name of a rule whose limit is to be another one."""

    def __init__(self, theme: Theme, store: ConsoleStore, steady: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._steady = steady
        self.model = CellTableModel((
            CellColumn(_("State")), CellColumn(_("What"), bold=True), CellColumn(_("Now"), trailing=True),
            CellColumn(_("Limit"), trailing=True), CellColumn(_("Worst"), trailing=True), CellColumn(_("Since")),
            CellColumn(_("Known to")),
        ), self)  # fmt: skip
        self.rules = CellTableModel((
            CellColumn(_("Limit of"), bold=True), CellColumn(_("Alarm from"), trailing=True),
            CellColumn(_("for so long"), trailing=True), CellColumn(_("Over below"), trailing=True),
            CellColumn(_("How loud")), CellColumn(_("Default")),
        ), self)  # fmt: skip
        self.table, self.rule_table = DataTable(theme, _PLANS), DataTable(theme, _RULE_PLANS)
        self.banner = StatusBanner(theme)
        self.acknowledge = AsyncButton(_("I know of it"), "primary")
        self.change = AsyncButton(_("Change the limit…"))
        self.sound = TickBox(theme, _("A sound for new alarms"))
        self._calm = label(_("Every figure keeps its limit."), tone="success")
        self._trouble = label(tone="warn", wrap=True)
        self.clock_words = ElidedLabel()
        self.clock_words.setProperty("tone", "muted")
        self._build(theme)

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def chosen(self) -> OpsAlarm | None:
        """The open alarm under the keyboard."""
        place = self.table.current_row
        keys_ = self.model.keys
        key = keys_[place] if 0 <= place < len(keys_) else None
        return self._board.alarm(key) if isinstance(key, UUID) else None

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {"acknowledge": [self.acknowledge], "set-limit": [self.change]}

    @property
    def rule(self) -> OpsAlarmRule | None:
        """The limit under the keyboard."""
        place, keys_ = self.rule_table.current_row, self.rules.keys
        return self._board.rule(str(keys_[place])) if 0 <= place < len(keys_) else None

    # ------------------------------------------------------------ what is shown

    def show_time(self) -> None:
        """Time goes on: that all is calm is not said of figures that have grown old."""
        board = self._board
        self._calm.setVisible(not board.alarms and not is_stale(board, self._steady()))

    def show_part(self, part: OpsPart) -> None:
        """Show what changed, while it is seen."""
        if not self.isVisible():
            return
        if part & OpsPart.ALARMS or (part & OpsPart.FIGURES and self._board.alarms):
            self.show_alarms()
        elif part & (OpsPart.FIGURES | OpsPart.STATE):
            self.show_time()

    def show_alarms(self) -> None:
        """Open alarms, unseen and critical ones first, then those that ended, the newest first."""
        board = self._board
        kept = self.chosen
        opened = sorted(board.alarms, key=_order)
        past = [alarm for alarm in board.past_alarms if board.alarm(alarm.alarm_id) is None]
        self.model.show_rows([CellRow(alarm.alarm_id, self._cells(alarm)) for alarm in (*opened, *past)])
        if kept is not None:
            self.table.choose_row(self.model.row_of(kept.alarm_id))
        if self.table.current_row < 0 and opened:
            self.table.choose_row(0)
        self.rules.show_rows([CellRow(rule.rule, _rule_cells(rule)) for rule in board.rules])
        if self.rule_table.current_row < 0 and board.rules:
            self.rule_table.choose_row(0)
        self.clock_words.setText(times_words(self._store, board.event_id))
        self.show_time()
        self._trouble.setVisible(bool(board.alarms_trouble))
        if board.alarms_trouble:
            self._trouble.setText(advice_for(board.alarms_trouble).title)
        self._show_buttons()

    def _cells(self, alarm: OpsAlarm) -> tuple[Cell, ...]:
        is_open = alarm.cleared_at is None
        tone = ("danger" if alarm.severity is OpsSeverity.CRITICAL else "warn") if is_open else "text_muted"
        state = severity_words(alarm.severity) if is_open else _("Over")
        event = {} if self._board.figures is None else {e.event_id: e.name for e in self._board.figures.events}
        where = "" if alarm.event_id is None else event.get(alarm.event_id, str(alarm.event_id))
        known = "" if alarm.acknowledged_at is None else figures().joined((alarm.acknowledged_by, alarm.note))
        return (
            Cell(state, tone, severity_mark(alarm.severity) if is_open else "–"),
            Cell(figures().joined((figure_name(alarm.figure), where)), "" if is_open else "text_muted"),
            Cell(self._now_words(alarm) if is_open else "", tone if is_open else ""),
            Cell(value_words(alarm.figure, alarm.raise_at), "text_muted"),
            Cell(value_words(alarm.figure, alarm.worst), "text_muted"),
            Cell(self._since(alarm)),
            Cell(known or (_("Nobody yet") if is_open else ""), "" if known else "warn"),
        )  # fmt: skip

    def _now_words(self, alarm: OpsAlarm) -> str:
        value = self._board.value_now(alarm)
        return "–" if value is None else value_words(alarm.figure, value)

    def _since(self, alarm: OpsAlarm) -> str:
        zone, at = event_zone(self._store, self._board.event_id), figures().clock
        began = at(alarm.raised_at, zone)
        if alarm.cleared_at is not None:
            lasted = (alarm.cleared_at - alarm.raised_at).total_seconds()
            return figures().joined((began, _("for {time}").format(time=figures().age(lasted))))
        now = self._now
        age = "" if now is None else figures().age((now - alarm.raised_at).total_seconds())
        return figures().joined((began, age))

    @property
    def _now(self) -> datetime | None:
        figures_ = self._board.figures
        return None if figures_ is None else figures_.server_time

    def _show_buttons(self) -> None:
        alarm = self.chosen
        self.acknowledge.setEnabled(alarm is not None and alarm.acknowledged_at is None)
        session = self._store.session
        may = session is not None and session.may(Permission.SET_LIMITS)
        self.change.setEnabled(may and self.rule is not None)
        self.change.setToolTip("" if may else _("Your role may read this and not set it."))

    def tell(self, words: Advice) -> None:
        """Say how an act went."""
        self.banner.tell(words.tone, words.title, words.detail)

    def show_sound(self, on: bool) -> None:  # said by what it shows
        """Whether new alarms are heard."""
        self.sound.setChecked(on)

    def focus_first(self) -> None:
        """Put the keyboard on the table."""
        take_focus(self.table)

    # ------------------------------------------------------------ wiring

    def _build(self, theme: Theme) -> None:
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Alarms"))
        self.rule_table.setModel(self.rules)
        self.rule_table.setAccessibleName(_("Limits"))
        self.acknowledge.set_key_hint(ops_keys.ACKNOWLEDGE.sequence)
        self.change.set_key_hint(ops_keys.LIMIT.sequence)
        head = row(theme, gap="medium")
        head.addWidget(self._calm)
        head.addWidget(self._trouble)
        head.addWidget(self.clock_words, 1)
        head.addWidget(self.sound)
        head.addWidget(self.acknowledge)
        page = column(theme, gap="small", parent=self)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addWidget(self.table, _SHARE[0])
        limits = row(theme, gap="medium")
        limits.addWidget(label(_("Limits"), kind="lead"))
        limits.addStretch(1)
        limits.addWidget(self.change)
        page.addLayout(limits)
        page.addWidget(self.rule_table, _SHARE[1])
        self.table.row_chosen.connect(self._on_table_row_chosen)
        self.table.row_opened.connect(self._on_table_row_opened)
        self.acknowledge.action_requested.connect(self._on_acknowledge_requested)
        self.sound.clicked.connect(self.sound_wanted)
        self.rule_table.row_chosen.connect(self._show_buttons)
        self.rule_table.row_opened.connect(self._on_rule_opened)
        self.change.action_requested.connect(self._on_change_requested)

    def _on_table_row_chosen(self) -> None:
        """The limit of an alarm that somebody goes to is the one that the key changes."""
        alarm = self.chosen
        if alarm is not None and self.table.hasFocus():
            self.rule_table.choose_row(self.rules.row_of(alarm.rule))
        self._show_buttons()

    def _on_rule_opened(self) -> None:
        if self.change.isEnabled():
            self.change.click()
        else:
            self.tell(advice_for("not-allowed"))

    def _on_change_requested(self) -> None:
        rule = self.rule
        if rule is None:
            self.change.set_busy(False)
        else:
            self.limit_requested.emit(rule.rule)

    def _on_table_row_opened(self) -> None:
        if self.acknowledge.isEnabled():
            self.acknowledge.click()

    def _on_acknowledge_requested(self) -> None:
        alarm = self.chosen
        if alarm is None or alarm.acknowledged_at is not None:
            self.acknowledge.set_busy(False)
        else:
            self.acknowledge_requested.emit(alarm.alarm_id)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]  # a QShowEvent
        self.show_alarms()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)


def _order(alarm: OpsAlarm) -> tuple[bool, bool, float]:
    return alarm.acknowledged_at is not None, alarm.severity is not OpsSeverity.CRITICAL, -alarm.raised_at.timestamp()


def _rule_cells(rule: OpsAlarmRule) -> tuple[Cell, ...]:
    off = "" if rule.enabled else "text_muted"
    loud = severity_words(rule.severity) if rule.enabled else _("Off")
    standard = rule.standard
    own = "–" if standard is None else level_words(rule, "raise_at", standard.raise_at, standard.raise_after_s)
    is_own = standard is not None and all(getattr(rule, name) == getattr(standard, name) for name in MEMBERS)
    return (
        Cell(figure_name(rule.figure), off),
        Cell(f"{sign_of(rule, 'raise_at')} {exact_words(rule.figure, rule.raise_at)}", off),
        Cell(delay_words(rule.raise_after_s), off or "text_muted"),
        Cell(f"{sign_of(rule, 'clear_at')} {exact_words(rule.figure, rule.clear_at)}", off or "text_muted"),
        Cell(loud, off, severity_mark(rule.severity) if rule.enabled else "–"),
        Cell(own, "text_muted") if is_own or standard is None else Cell(own, "accent", "≠"),
    )
