"""Who waits for whom in the database: the session at the front of each queue first, with what it does and where."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_health import is_stale
from app.core.ops_parts import OpsPart
from app.core.ops_waits import WaitRow, wait_rows
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.screens import ops_keys
from app.screens.ops_words import statement_words
from app.screens.words import Advice
from backend_client.wire import OpsFigure
from widgets.async_button import AsyncButton
from widgets.build import column, label, row, set_tone
from widgets.data_table import ColumnPlan, DataTable
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_PLANS = (
    ColumnPlan(120, 1, rank=0), ColumnPlan(120, 2, rank=1), ColumnPlan(90, rank=2), ColumnPlan(120, 1, rank=3),
    ColumnPlan(120, 2, rank=4), ColumnPlan(140, 2, rank=5), ColumnPlan(110, 1, rank=6),
)  # fmt: skip
_LONG_S, _VERY_LONG_S = 1.0, 5.0


class OpsBlockersPage(QWidget):
    """Reads the newest second's waits; the wish to end a session goes out as a signal."""

    end_requested = Signal(object)
    """A `WaitRow` whose blocker is meant."""

    def __init__(self, theme: Theme, store: ConsoleStore, steady: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._steady = steady
        self.rows: list[WaitRow] = []
        self.model = CellTableModel((
            CellColumn(_("Holds it up"), bold=True), CellColumn(_("Does")), CellColumn(_("Open for"), trailing=True),
            CellColumn(_("Waits")), CellColumn(_("Wants")), CellColumn(_("Where")), CellColumn(_("Kind of lock")),
        ), self)  # fmt: skip
        self.table = DataTable(theme, _PLANS)
        self.banner = StatusBanner(theme)
        self.end = AsyncButton(_("End this session…"), "danger")
        self._count = label(tone="muted")
        self._empty = label(kind="lead", tone="muted")
        self._pages = QStackedWidget()
        self._build(theme)

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def chosen(self) -> WaitRow | None:
        """The pair under the keyboard."""
        place = self.table.current_row
        return self.rows[place] if 0 <= place < len(self.rows) else None

    @property
    def may_end(self) -> bool:
        """Whether this person may end the session that is chosen."""
        session = self._store.session
        is_admin = session is not None and session.may(Permission.ADMINISTER)
        return is_admin and self.chosen is not None and self.chosen.blocker.may_be_ended

    def behind(self, row_: WaitRow) -> int:
        """How many sessions wait for the one that is meant, near or far."""
        return row_.behind

    def open_for(self, row_: WaitRow) -> str:
        """How long the blocker's transaction has been open."""
        began, now = row_.blocker.transaction_started_at, self._now
        return "" if began is None or now is None else figures().age((now - began).total_seconds())

    # ------------------------------------------------------------ what is shown

    def show_part(self, part: OpsPart) -> None:
        """Show what changed; the table only while it is seen."""
        if part & (OpsPart.FIGURES | OpsPart.STATE) and self.isVisible():
            self.show_waits()

    def show_time(self) -> None:
        """Time goes on: what is shown grows old although nothing comes to say so."""
        if self.isVisible():
            self._show_count()

    def show_waits(self) -> None:
        """The newest second's waits; the chosen pair stays chosen."""
        kept = self.chosen
        waits = () if self._board.figures is None else self._board.figures.lock_waits
        self.rows = wait_rows(waits)
        lines = []
        for place, row_ in enumerate(self.rows):
            again = place > 0 and self.rows[place - 1].blocker == row_.blocker
            lines.append(CellRow(row_.key, self._cells(row_, again=again)))
        self.model.show_rows(lines)
        if kept is not None:
            self.table.choose_row(self.model.row_of(kept.key))
        if self.table.current_row < 0 and self.rows:
            self.table.choose_row(0)
        self._pages.setCurrentWidget(self.table if self.rows else self._empty)
        self._show_count()
        self._show_end()

    def _show_count(self) -> None:
        """How many wait, and whether that is of now. Where it was not read, the database may be too busy to say."""
        board = self._board
        waits = board.waiting_sessions
        old = is_stale(board, self._steady())
        known = board.figures is not None and OpsFigure.LOCK_WAITS in board.figures.house and not old
        self._empty.setText(_("Nobody waits for a lock.") if known else _("It is not known who waits now."))
        words = ngettext("{count} session waits", "{count} sessions wait", waits)
        told = words.format(count=figures().number(waits)) if waits else ""
        self._count.setText(figures().joined((told, _("Old"))) if waits and old else told)
        set_tone(self._count, "warn" if old else "muted")

    def _cells(self, row_: WaitRow, *, again: bool) -> tuple[Cell, ...]:
        """`again`: the line above is about the same session, which is muted then."""
        now = self._now
        waited_s = 0.0 if now is None else max((now - row_.since).total_seconds(), 0.0)
        tone = "danger" if waited_s > _VERY_LONG_S else "warn" if waited_s > _LONG_S else ""
        who = figures().joined((str(row_.blocker.pid), row_.blocker.application))
        return (
            Cell(who, "text_muted" if again else "danger" if row_.is_root else "", "⊘" if row_.is_root else ""),
            Cell(statement_words(row_.blocker.statement), "text_muted" if again else ""),
            Cell(self.open_for(row_), "text_muted" if again else ""),
            Cell(f"{row_.waiting.pid}  {figures().age(waited_s)}", tone, "!" if tone == "danger" else ""),
            Cell(statement_words(row_.waiting.statement)),
            Cell(self._where(row_), "text_muted"),
            Cell(row_.lock, "text_muted"),
        )  # fmt: skip

    def _where(self, row_: WaitRow) -> str:
        names = {} if self._board.figures is None else {e.event_id: e.name for e in self._board.figures.events}
        event = "" if row_.event_id is None else names.get(row_.event_id, str(row_.event_id))
        return figures().joined((event, figures().listed(row_.sections)))

    @property
    def _now(self) -> datetime | None:
        figures_ = self._board.figures
        return None if figures_ is None else figures_.measured_at

    def _show_end(self) -> None:
        session = self._store.session
        self.end.setVisible(session is not None and session.may(Permission.ADMINISTER))
        self.end.setEnabled(self.may_end)

    def tell(self, words: Advice) -> None:
        """Say how an act went."""
        self.banner.tell(words.tone, words.title, words.detail)

    def focus_first(self) -> None:
        """Put the keyboard on the table."""
        take_focus(self.table)

    # ------------------------------------------------------------ wiring

    def _build(self, theme: Theme) -> None:
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Who waits for whom"))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        self._pages.setCurrentWidget(self._empty)
        self.end.set_key_hint(ops_keys.END.sequence)
        foot = row(theme, gap="medium")
        foot.addWidget(self._count, 1)
        foot.addWidget(self.end)
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("A session that waits for nobody and keeps others waiting stands first, with ⊘."),
                             tone="muted", wrap=True))  # fmt: skip
        page.addWidget(self.banner)
        page.addWidget(self._pages, 1)
        page.addLayout(foot)
        self.table.row_chosen.connect(self._on_table_row_chosen)
        self.table.row_opened.connect(self._on_table_row_opened)
        self.end.action_requested.connect(self._on_end_requested)

    def _on_table_row_chosen(self) -> None:
        self._show_end()

    def _on_table_row_opened(self) -> None:
        if self.end.isVisible() and self.end.isEnabled():
            self.end.click()

    def _on_end_requested(self) -> None:
        if self.chosen is not None and self.may_end:
            self.end_requested.emit(self.chosen)
        else:
            self.end.set_busy(False)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]  # a QShowEvent
        self.show_waits()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.end.isVisible() and self.end.isEnabled():
            self.end.click()
            event.accept()
        else:
            super().keyPressEvent(event)
