"""The daily comparison: start one for a provider and a day, watch it, and go from its differences to their items."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QProgressBar, QPushButton, QStackedWidget, QWidget

from app.core.inbox import Inbox
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures, marked, ngettext
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.models.provider_words import provider_and_code, provider_name
from app.screens.inbox_page import age_between
from app.screens.item_words import kind_name, person
from app.screens.words import Advice, advice_for
from backend_client.wire import ReconciliationRun, RunId, RunState
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row
from widgets.choice_box import ChoiceBox
from widgets.data_table import ColumnPlan, DataTable
from widgets.day_edit import DayEdit
from widgets.facts_grid import FactsGrid
from widgets.flow_layout import FlowLayout
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

PROVIDERS: Final = ("sandbox", "stripe", "stripe-terminal", "zvt")
"""Offered from the start; whatever else is known from items and runs is added."""
_BOX_PX: Final = 160
_STATES: Final = {
    RunState.RUNNING: (marked("running"), "accent_text", "○"),
    RunState.DONE: (marked("done"), "success", "✓"),
    RunState.FAILED: (marked("did not work"), "danger", "✕"),
}
_PLANS = (
    ColumnPlan(110, 1, 0), ColumnPlan(100, 1, 1), ColumnPlan(120, 1, 2), ColumnPlan(110, 1, 3),
    ColumnPlan(120, 1, 4), ColumnPlan(160, 2, 5),
)  # fmt: skip


class RunsPage(QWidget):
    """Reads the inbox's runs; `run_requested` carries provider and day."""

    run_requested = Signal(str, object)
    items_wanted = Signal(str, str)
    """A kind and a provider: show their items."""
    refresh_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self.provider = ChoiceBox(theme)
        self.day = DayEdit()
        self.fault = label(_("This is not a day that is over or begun"), tone="danger")
        self.start = AsyncButton(_("Compare"), "primary")
        self.refresh = AsyncButton(_("Load again"))
        self.banner = StatusBanner(theme)
        columns = (
            CellColumn(_("Day"), bold=True), CellColumn(_("Provider")), CellColumn(_("State")),
            CellColumn(_("Agree"), trailing=True), CellColumn(_("Differ"), trailing=True), CellColumn(_("Started")),
        )  # fmt: skip
        self.model = CellTableModel(columns, self)
        self.table = DataTable(theme, _PLANS)
        self.progress = QProgressBar()
        self.facts = FactsGrid(theme)
        self.kinds: list[_KindButton] = []
        self._card = frame("card")
        self._kind_line = QWidget()
        self._flow = FlowLayout(self._kind_line, theme.space("small"))
        self._flow.setContentsMargins(0, 0, 0, 0)
        self._empty = label(kind="lead", tone="muted", wrap=True)
        self._pages = QStackedWidget()
        self._may_start = False
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {"start-run": [self.start], "load-runs": [self.refresh]}

    @property
    def chosen(self) -> ReconciliationRun | None:
        """The comparison whose differences are shown."""
        place = self.table.current_row
        return self._inbox.runs[place] if 0 <= place < len(self._inbox.runs) else None

    def show_runs(self) -> None:
        """Show the comparisons as they stand."""
        runs = self._inbox.runs
        chosen = self.chosen
        key: RunId | None = None if chosen is None else chosen.run_id
        self.model.show_rows([self._row(run) for run in runs])
        self.table.choose_row(max(self.model.row_of(key), 0))
        self._offer_providers()
        session = self._store.session
        self._may_start = session is not None and session.may(Permission.RECONCILE)
        self.start.setEnabled(self._may_start and self.day.day is not None)
        self.start.setToolTip("" if self._may_start else _("Your role may read this and not act."))
        self._show_trouble()
        if runs:
            self._pages.setCurrentWidget(self.table)
        else:
            unread = self._inbox.runs_as_of is None
            self._empty.setText(_("Reading the list…") if unread else _("No day has been compared yet."))
            self._pages.setCurrentWidget(self._empty)
        self._show_chosen()

    def tell(self, words: Advice) -> None:
        """Say what went wrong."""
        self.banner.tell(words.tone, words.title, words.detail)
        self.banner.setProperty("about", "")

    def forget_person(self) -> None:
        """What was said and typed here was somebody else's."""
        self.banner.clear()
        self.provider.clear()
        self.day.clear()
        self.show_runs()

    def focus_first(self) -> None:
        """Put the keyboard where one begins."""
        take_focus(self.provider)

    def _show_trouble(self) -> None:
        trouble = self._inbox.runs_trouble
        if trouble:
            words = advice_for(trouble)
            detail = words.detail
            if self._inbox.runs_as_of is not None:
                age = figures().age(age_between(self._inbox.runs_as_of, self._store.clock.now()))
                detail = _("This list is as of {age} ago. It is read again by itself.").format(age=age)
            self.banner.tell("warn", words.title, detail)
            self.banner.setProperty("about", "stale")
        elif self.banner.property("about") == "stale":
            self.banner.clear()

    def _row(self, run: ReconciliationRun) -> CellRow:
        words, tone, mark = _STATES[run.state]
        found = sum(run.differences.values())
        started = figures().joined((figures().date_time(run.started_at, "UTC"), person(run.started_by)))
        done = run.state is RunState.DONE
        return CellRow(
            run.run_id,
            (
                Cell(run.day.isoformat()),
                Cell(provider_name(run.provider), tip=provider_and_code(run.provider)),
                Cell(_(words), tone, mark),
                Cell(figures().number(run.matched)),
                Cell(figures().number(found), "warn" if found else "success" if done else "", "!" if found else ""),
                Cell(started, "text_muted"),
            ),
        )

    def _show_chosen(self) -> None:
        run = self.chosen
        self._card.setVisible(run is not None)
        if run is None:
            return
        running = run.state is RunState.RUNNING
        self.progress.setVisible(running)
        self.progress.setRange(0, run.expected)
        self.progress.setValue(min(run.read, run.expected))
        shown = figures()
        read = shown.number(run.read)
        if run.expected:
            read = _("{read} of {expected}").format(read=read, expected=shown.number(run.expected))
        items = ngettext("{count} new item", "{count} new items", run.opened_items)
        took = "" if run.ended_at is None else shown.age((run.ended_at - run.started_at).total_seconds())
        self.facts.show_facts([
            (_("Entries read"), read),
            (_("Agree"), shown.number(run.matched)),
            (_("Opened"), items.format(count=shown.number(run.opened_items))),
            (_("It took"), took),
            (_("What went wrong"), run.detail if run.state is RunState.FAILED else "", "danger"),
        ])  # fmt: skip
        self._show_kinds(run)

    def _show_kinds(self, run: ReconciliationRun) -> None:
        wanted = [(kind, count) for kind, count in sorted(run.differences.items()) if count]
        while len(self.kinds) < len(wanted):
            button = _KindButton()
            button.chosen.connect(self._on_kind_chosen)
            self._flow.addWidget(button)
            self.kinds.append(button)
        for place, button in enumerate(self.kinds):
            button.setVisible(place < len(wanted))
            if place < len(wanted):
                kind, count = wanted[place]
                button.tell(kind, figures().joined((kind_name(kind), figures().number(count))))

    def _offer_providers(self) -> None:
        known = {*PROVIDERS, *(run.provider for run in self._inbox.runs)}
        known |= {item.provider for item in self._inbox.items if item.provider}
        chosen = self.provider.currentData()
        wanted = sorted((provider_name(code), code) for code in known)
        box = self.provider
        if [(box.itemText(place), box.itemData(place)) for place in range(box.count())] != wanted:
            box.clear()
            for place, (name, code) in enumerate(wanted):
                box.addItem(name, code)
                box.setItemData(place, provider_and_code(code), Qt.ItemDataRole.ToolTipRole)
            box.setMinimumWidth(max(_BOX_PX, *(box.width_of(name) for name, _code in wanted)))
            box.setCurrentIndex(max(box.findData(chosen), 0))
        now = self._store.clock.now()
        if now is not None:
            self.day.latest = (now + timedelta(hours=14)).date()  # somewhere it is that day already
            if not self.day.text():
                self.day.set_day((now - timedelta(days=1)).date())

    @property
    def _inbox(self) -> Inbox:
        return self._store.inbox

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        self.provider.setAccessibleName(_("Provider"))
        self.provider.setMinimumWidth(_BOX_PX)
        self.provider.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.day.setAccessibleName(_("Business day"))
        self.day.setPlaceholderText("2026-11-30")
        self.day.setFixedWidth(124)
        self.fault.hide()
        self.progress.setAccessibleName(_("Progress"))
        self.progress.setTextVisible(False)
        self.progress.setMaximumHeight(theme.space("small"))
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Comparisons"))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        words = _(
            "Compares what a provider lists for a day with orders, tickets and shifts. Each difference is an item."
        )
        top = row(theme, gap="small")
        for part in (label(_("Provider")), self.provider, label(_("Day")), self.day, self.start, self.refresh):
            top.addWidget(part)
        top.addWidget(self.fault)
        top.addStretch(1)
        inside = column(theme, margin="medium", gap="small", parent=self._card)
        inside.addWidget(self.progress)
        inside.addWidget(self.facts)
        inside.addWidget(self._kind_line)
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(words, tone="muted", wrap=True))
        page.addLayout(top)
        page.addWidget(self.banner)
        page.addWidget(self._pages, 1)
        page.addWidget(self._card)

    def _connect(self) -> None:
        self.start.action_requested.connect(self._on_start_requested)
        self.day.day_changed.connect(self._on_day_changed)
        self.refresh.action_requested.connect(self.refresh_requested)
        self.table.row_chosen.connect(self._show_chosen)

    def _on_start_requested(self) -> None:
        day = self.day.day
        if day is not None:
            self.run_requested.emit(str(self.provider.currentData() or ""), day)

    def _on_day_changed(self) -> None:
        known = self.day.day is not None
        self.fault.setVisible(not known)
        self.start.setEnabled(known and self._may_start)

    def _on_kind_chosen(self, kind: str) -> None:
        run = self.chosen
        if run is not None:
            self.items_wanted.emit(kind, run.provider)


class _KindButton(QPushButton):
    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._kind = ""
        self.setAutoDefault(False)
        self.clicked.connect(self._on_clicked)

    def tell(self, kind: str, words: str) -> None:
        """Which kind it stands for."""
        self._kind = kind
        self.setText(words)
        self.setAccessibleName(words)
        self.setToolTip(_("Show these items"))

    def _on_clicked(self) -> None:
        self.chosen.emit(self._kind)
