"""The log of operations: who set what, when, from what to what, and why. Filtered, and saved as a file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_parts import LogFilter, OpsPart
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.screens.inbox_page import event_zone
from app.screens.ops_cause_words import cause_words
from app.screens.ops_times import times_words
from app.screens.ops_words import action_words, change_words, figure_of, kind_words, subject_words, who_words
from app.screens.words import Advice, advice_for
from backend_client.wire import OpsLogEntry, OpsLogKind
from widgets.async_button import AsyncButton
from widgets.build import column, label, row, text_field
from widgets.choice_box import ChoiceBox
from widgets.data_table import ColumnPlan, DataTable
from widgets.elided_label import ElidedLabel
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.tick_box import TickBox

_PLANS = (
    ColumnPlan(170, rank=0), ColumnPlan(110, 1, rank=4), ColumnPlan(170, 2, rank=1), ColumnPlan(130, 1, rank=2),
    ColumnPlan(190, 3, rank=3), ColumnPlan(170, 3, rank=5),
)  # fmt: skip


class OpsLogPage(QWidget):
    """Reads the board; wishes go out as signals."""

    filter_wanted = Signal(object)
    """A `LogFilter`."""
    more_requested = Signal()
    refresh_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore) -> None:
        super().__init__()
        self._store = store
        self.shown: list[OpsLogEntry] = []
        self._waits = False
        """Whether the keyboard goes to the table as soon as something is in it."""
        self.finder = text_field()
        self.kind = ChoiceBox(theme)
        self.event_only = TickBox(theme, _("Only this event"))
        self.model = CellTableModel((
            CellColumn(_("When")), CellColumn(_("About")), CellColumn(_("What happened"), bold=True),
            CellColumn(_("Who")), CellColumn(_("From → to")), CellColumn(_("Why")),
        ), self)  # fmt: skip
        self.table = DataTable(theme, _PLANS)
        self.banner = StatusBanner(theme)
        self.more = AsyncButton(_("Older ones"))
        self.refresh = AsyncButton(_("Load again"))
        self.export = AsyncButton(_("Save as a file…"))
        self._count = label(tone="muted")
        self.clock_words = ElidedLabel()
        self.clock_words.setProperty("tone", "muted")
        self._empty = label(kind="lead", tone="muted", wrap=True)
        self._pages = QStackedWidget()
        self._build(theme)

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {"load-log": [self.refresh], "more-log": [self.more], "export-log": [self.export]}

    # ------------------------------------------------------------ what is shown

    def show_part(self, part: OpsPart) -> None:
        """Show what changed, while it is seen."""
        if part & OpsPart.LOG and self.isVisible():
            self.show_log()

    def show_log(self) -> None:
        """The entries that pass the filter, newest first, and the filter that they pass."""
        board = self._board
        self._show_filter(board.log_filter)
        zone = event_zone(self._store, board.event_id)
        lines = [(entry, _cells(entry, zone, board)) for entry in board.log]
        kept = [(entry, cells) for entry, cells in lines if board.log_filter.passes(_searched(entry, cells))]
        self.shown = [entry for entry, _line in kept]
        self.model.show_rows([CellRow(entry.entry_id, cells) for entry, cells in kept])
        if self.table.current_row < 0 and kept:
            self.table.choose_row(0)
        self.more.setVisible(board.log_next is not None)
        self.export.setEnabled(bool(kept))
        self._count.setText(self._count_words(len(kept)))
        self.clock_words.setText(times_words(self._store, board.event_id))
        self._show_trouble()
        self._empty.setText(self._empty_words())
        self._pages.setCurrentWidget(self.table if kept else self._empty)
        if kept and self._waits and self.refresh.hasFocus():
            self.focus_first()

    def _show_filter(self, shown: LogFilter) -> None:
        """What is chosen is the board's: it outlives another language, and not the person."""
        for field in (self.finder, self.kind, self.event_only):
            field.blockSignals(True)
        if self.finder.text() != shown.text:
            self.finder.setText(shown.text)
        self.kind.setCurrentIndex(max(self.kind.findData("" if shown.kind is None else shown.kind.value), 0))
        self.event_only.setChecked(shown.event_only)
        for field in (self.finder, self.kind, self.event_only):
            field.blockSignals(False)

    def _count_words(self, shown: int) -> str:
        total = len(self._board.log)
        words = ngettext("{count} entry", "{count} entries", total).format(count=figures().number(total))
        return words if shown == total else _("{shown} of {words}").format(shown=figures().number(shown), words=words)

    def _empty_words(self) -> str:
        if self._board.log_as_of is None and not self._board.log:
            return _("The log cannot be read now.") if self._board.log_trouble else _("Reading the log…")
        return _("Nothing here matches what is chosen above.") if self._board.log else _("Nothing was changed yet.")

    def _show_trouble(self) -> None:
        trouble = self._board.log_trouble
        if trouble:
            words = advice_for(trouble)
            self.banner.tell("warn", words.title, words.detail)
        else:
            self.banner.clear()

    def tell(self, words: Advice) -> None:
        """Say how an act went."""
        self.banner.tell(words.tone, words.title, words.detail)

    def focus_first(self) -> None:
        """Put the keyboard on the table, once there is one: letters and figures are keys there, and no text."""
        self._waits = not self.shown
        take_focus(self.refresh if self._waits else self.table)

    # ------------------------------------------------------------ wiring

    def _build(self, theme: Theme) -> None:
        self.finder.setPlaceholderText(_("Find: a name, a value, a reason"))
        self.finder.setAccessibleName(_("Find in the log"))
        self.finder.setClearButtonEnabled(True)
        self.kind.setAccessibleName(_("About"))
        self.kind.addItem(_("About everything"), "")
        for kind in OpsLogKind:
            self.kind.addItem(kind_words(kind), kind.value)
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Event log"))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        head, foot = row(theme, gap="medium"), row(theme, gap="medium")
        head.addWidget(self.finder, 1)
        head.addWidget(self.kind)
        head.addWidget(self.event_only)
        foot.addWidget(self._count)
        foot.addWidget(self.clock_words, 1)
        for button in (self.more, self.export, self.refresh):
            foot.addWidget(button)
        page = column(theme, gap="small", parent=self)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addWidget(self._pages, 1)
        page.addLayout(foot)
        self.finder.textChanged.connect(self._on_filter_changed)
        self.kind.currentIndexChanged.connect(self._on_filter_changed)
        self.kind.picked.connect(self.focus_first)
        self.event_only.clicked.connect(self._on_filter_changed)
        self.more.action_requested.connect(self.more_requested)
        self.refresh.action_requested.connect(self.refresh_requested)
        self.export.action_requested.connect(self.export_requested)

    def _on_filter_changed(self) -> None:
        kind = self.kind.currentData()
        self.filter_wanted.emit(
            LogFilter(OpsLogKind(kind) if kind else None, self.event_only.isChecked(), self.finder.text())
        )

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]  # a QShowEvent
        self.show_log()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() == "/" or event.matches(QKeySequence.StandardKey.Find):
            take_focus(self.finder, Qt.FocusReason.ShortcutFocusReason)
            self.finder.selectAll()
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and self.finder.hasFocus():
            self.finder.clear()
            self.focus_first()
            event.accept()
        elif event.key() == Qt.Key.Key_Down and self.finder.hasFocus():
            self.focus_first()
            event.accept()
        else:
            super().keyPressEvent(event)


def _cells(entry: OpsLogEntry, zone: str, board: OpsBoard) -> tuple[Cell, ...]:
    figure = figure_of(entry, board.rules)
    events = {} if board.figures is None else {event.event_id: event.name for event in board.figures.events}
    changes = figures().joined(change_words(change, figure) for change in entry.changes)
    when = figures().joined((figures().day(entry.at, zone), figures().clock(entry.at, zone)))
    return (
        Cell(when, "text_muted"), Cell(kind_words(entry.kind), "text_muted"),
        Cell(figures().joined((action_words(entry), subject_words(entry, board.rules, events)))),
        Cell(who_words(entry.who)), Cell(changes), Cell(cause_words(entry.cause, entry.reason), "text_muted"),
    )  # fmt: skip


def _searched(entry: OpsLogEntry, cells: tuple[Cell, ...]) -> str:
    return " ".join((*(cell.text for cell in cells), entry.action)).casefold()
