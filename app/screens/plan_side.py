"""The side of the plan editor: the page of what is chosen, what was refused, what is not right."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from app.core.plan_faults import SHOWN_AT_MOST, PlanFault
from app.core.plan_work import PlanWork
from app.i18n import _, figures, ngettext
from app.screens.plan_page import PlanPage
from app.screens.plan_refusals import RefusalList
from app.screens.plan_seats_page import SeatsPage
from app.screens.plan_shape_page import ShapePage
from app.screens.plan_words import fault_words
from widgets.build import column, frame, label, scrolling
from widgets.focus import take_focus
from widgets.theme import Theme

_SIDE_PX = 316
_FAULTS_PX = 128
_FAULT_LINE_PX = 42
_ROOMY_PX = 560


class PlanSide(QFrame):
    """Shows what the work says; `fault_chosen` leads to what a line of the list is about."""

    fault_chosen = Signal(object)
    """A `PlanFault`."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self._theme = theme
        self._work = work
        self._found: tuple[PlanFault, ...] = ()
        self.plan_page = PlanPage(theme, work)
        self.seats_page = SeatsPage(theme, work)
        self.shape_page = ShapePage(theme, work)
        self.refusals = RefusalList(theme, work)
        self.faults = QListWidget()
        self._fault_title = label(kind="lead", wrap=True)
        self._pages = QStackedWidget()
        self._build()
        self.faults.itemClicked.connect(self._on_item_chosen)
        self.faults.itemActivated.connect(self._on_item_chosen)

    def show_work(self) -> None:
        """Show the page of what is chosen, as it is now."""
        selection = self._work.selection
        page: PlanPage | SeatsPage | ShapePage = self.plan_page
        if selection.rows or selection.seats:
            page = self.seats_page
        elif selection.shapes:
            page = self.shape_page
        page.show_work()
        self._pages.setCurrentIndex([self.plan_page, self.seats_page, self.shape_page].index(page))
        self.refusals.show_work()

    def focus_page(self) -> None:
        """Put the keyboard on the words of what is chosen."""
        if self._work.selection.rows or self._work.selection.seats:
            self.seats_page.focus_first()
        elif self._work.selection.shapes:
            self.shape_page.focus_first()
        else:
            take_focus(self.plan_page.name)

    def show_faults(self, found: tuple[PlanFault, ...]) -> None:
        """List them; the list keeps its place while nothing of it changes."""
        count = len(found)
        words = ngettext("{count} thing to put right", "{count} things to put right", count)
        self._fault_title.setText(words.format(count=figures().number(count)) if found else _("Nothing to put right"))
        self.faults.setVisible(bool(found))
        if found == self._found and self.faults.count() == min(count, SHOWN_AT_MOST):
            return
        self._found = found
        self.faults.clear()
        for fault in found[:SHOWN_AT_MOST]:
            item = QListWidgetItem(("! " if fault.is_warning else "✕ ") + fault_words(fault))
            item.setToolTip(item.text())
            self.faults.addItem(item)
        self._fit_faults()

    def _build(self) -> None:
        theme = self._theme
        for one in (self.plan_page, self.seats_page, self.shape_page):
            holder = QWidget()
            inner = column(theme, margin="medium", parent=holder)
            inner.addWidget(one)
            self._pages.addWidget(scrolling(holder))
        self.faults.setAccessibleName(_("Things to put right"))
        self.faults.setWordWrap(True)
        inside = column(theme, gap="small", parent=self)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self._pages, 1)
        rule = frame("bar")
        rule.setFixedHeight(1)
        inside.addWidget(rule)
        below = column(theme, gap="tight")
        edge = theme.space("medium")
        below.setContentsMargins(edge, 0, edge, edge)
        below.addWidget(self.refusals)
        below.addWidget(self._fault_title)
        below.addWidget(self.faults)
        inside.addLayout(below)
        self.setFixedWidth(_SIDE_PX)

    def _fit_faults(self) -> None:
        """As high as its lines, and no higher than there is room for."""
        most = _FAULTS_PX if self.height() > _ROOMY_PX else _FAULTS_PX * 2 // 3
        self.faults.setFixedHeight(min(most, _FAULT_LINE_PX * max(self.faults.count(), 1) + 4))

    def _on_item_chosen(self, item: QListWidgetItem) -> None:
        self.fault_chosen.emit(self._found[self.faults.row(item)])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_faults()
