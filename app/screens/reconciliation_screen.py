"""The supervisor's screen: the inbox with its open item beside it, and the daily comparison behind a second tab."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from app.core.inbox import Inbox, InboxPart
from app.core.store import ConsoleStore
from app.i18n import _
from app.screens.inbox_filters import is_ours
from app.screens.inbox_page import InboxPage
from app.screens.item_page import ItemPage
from app.screens.reconciliation_runs import RunsPage
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column
from widgets.sides import Sides
from widgets.theme import Theme

SIDE_BY_SIDE_PX = 1100
"""Narrower windows show the list or the item, not both."""
_LIST_SHARE = 11
_ITEM_SHARE = 13


class ReconciliationScreen(QWidget):
    """Shows the store's inbox. Everything it can be asked for is on its pages."""

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.inbox = InboxPage(theme, store)
        self.item = ItemPage(theme, store)
        self.runs = RunsPage(theme, store)
        self.tabs = QTabBar()
        self._pages = QStackedWidget()
        self._sides = Sides(theme)
        self._build(theme)
        self._unsubscribe = store.inbox.subscribe(self._on_inbox_changed)

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {**self.inbox.buttons, **self.item.buttons, **self.runs.buttons}

    @property
    def shows_runs(self) -> bool:
        """Whether the daily comparison is in front."""
        return self.tabs.currentIndex() == 1

    def show_all(self) -> None:
        """Show everything anew."""
        self._show(InboxPart.ITEMS | InboxPart.DETAIL | InboxPart.VIEW | InboxPart.RUNS)

    def show_time(self) -> None:
        """Ages go on."""
        self.inbox.show_time()
        self.item.show_time()

    def show_tab(self, place: int) -> None:
        """0 is the inbox, 1 the daily comparison."""
        self.tabs.setCurrentIndex(place)

    def set_busy(self, deed: str, *, busy: bool) -> None:
        """An act or a decision was sent, or ended."""
        if deed in {"act-on-item", "decide-item"}:
            self.item.set_busy(busy)

    def tell(self, words: Advice) -> None:
        """Say it where the person looks."""
        if self.shows_runs:
            self.runs.tell(words)
        elif self._inbox.item_id is not None:
            self.item.tell(words)
        else:
            self.inbox.tell(words)

    def focus_first(self) -> None:
        """Put the keyboard where work starts."""
        if self.shows_runs:
            self.runs.focus_first()
        else:
            self.inbox.focus_first()

    def take_over(self, old: ReconciliationScreen) -> None:
        """Go on where the screen before stood."""
        self.tabs.setCurrentIndex(old.tabs.currentIndex())
        self.inbox.take_over(old.inbox)
        old.let_go()

    def forget_person(self) -> None:
        """What was said and typed here was somebody else's."""
        self.inbox.banner.clear()
        self.inbox.filters.above.clear()
        self.runs.forget_person()

    def let_go(self) -> None:
        """Hear nothing more of the inbox: another screen is shown in this one's place."""
        self._unsubscribe()

    def _on_inbox_changed(self, part: InboxPart) -> None:
        self._show(part)

    def _show(self, part: InboxPart) -> None:
        self.inbox.show_part(part)
        self.item.show_part(part)
        if part & (InboxPart.RUNS | InboxPart.ITEMS):
            self.runs.show_runs()
        if InboxPart.DETAIL in part:
            self._share()

    def _share(self) -> None:
        """List and item beside each other, or one of them where there is no room for both."""
        is_open = self._inbox.item_id is not None
        self.inbox.setVisible(not is_open or self.width() >= SIDE_BY_SIDE_PX)

    @property
    def _inbox(self) -> Inbox:
        return self._store.inbox

    def _build(self, theme: Theme) -> None:
        self.tabs.addTab(_("Inbox"))
        self.tabs.addTab(_("Daily comparison"))
        self.tabs.setAccessibleName(_("Parts of reconciliation"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self._sides.addWidget(self.inbox)
        self._sides.addWidget(self.item)
        self._sides.setStretchFactor(0, _LIST_SHARE)
        self._sides.setStretchFactor(1, _ITEM_SHARE)
        self._sides.setSizes([_LIST_SHARE * 1_000, _ITEM_SHARE * 1_000])
        self._pages.addWidget(self._sides)
        self._pages.addWidget(self.runs)
        page = column(theme, margin="medium", gap="small", parent=self)
        page.addWidget(self.tabs)
        page.addWidget(self._pages, 1)

    def event(self, event: QEvent) -> bool:
        """Esc and Ctrl+F mean this screen while the keyboard is in it, not the sale at the counter."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()
