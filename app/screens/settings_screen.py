"""The settings: of one event, of the whole house, of this till. Read by whoever may; set by whom each names."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from app.core.settings_desk import HOUSE, TILL
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.screens import keys
from app.screens.inbox_filters import is_ours
from app.screens.settings_page import SettingsPage
from app.screens.words import Advice
from backend_client.wire import EventId, EventStatus, EventSummary
from widgets.async_button import AsyncButton
from widgets.build import column, label, row
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme

EVENT_TAB, HOUSE_TAB, TILL_TAB = range(3)
_CHOICE_PX = 420


class SettingsScreen(QWidget):
    """Shows the store's settings. Everything it can be asked for is on its pages."""

    event_chosen = Signal(int)
    tab_changed = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.tabs = QTabBar()
        self.choice = ChoiceBox(theme)
        top = QWidget()
        line = row(theme, parent=top)
        caption = label(_("Event"))
        caption.setBuddy(self.choice)
        line.addWidget(caption)
        line.addWidget(self.choice)
        line.addStretch(1)
        desk = store.settings_desk
        self.event_page = SettingsPage(
            theme, store, lambda: desk.event, _("What counts for this event, for everybody and at once."),
            why_not=self._why_not_event, top=top,
        )  # fmt: skip
        self.house_page = SettingsPage(
            theme, store, lambda: HOUSE, _("What counts for all events and all tills."),
        )  # fmt: skip
        self.till_page = SettingsPage(
            theme, store, lambda: TILL, _("What counts at this till alone. It is kept on this computer."),
            needs_reason=False,
        )  # fmt: skip
        self.till_page.reload.hide()
        self._pages = QStackedWidget()
        self._build(theme)
        self._unsubscribe = desk.subscribe(self._on_settings_changed)

    @property
    def pages(self) -> tuple[SettingsPage, ...]:
        """All pages, in the order of their tabs."""
        return self.event_page, self.house_page, self.till_page

    @property
    def page(self) -> SettingsPage:
        """The page in front."""
        return self.pages[self.tabs.currentIndex()]

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {
            "save-settings": [button for page in self.pages for button in page.card.buttons],
            "load-settings": [page.reload for page in self.pages],
        }

    def show_all(self) -> None:
        """Show everything anew."""
        self._show_events()
        for page in self.pages:
            page.show_subject()

    def show_events(self) -> None:
        """The events on offer are others, or one of them is in another state."""
        self._show_events()
        self.event_page.show_subject()

    def show_tab(self, place: int) -> None:
        """Go to a page."""
        self.tabs.setCurrentIndex(place)

    def tell(self, words: Advice) -> None:
        """Say it where the person looks."""
        self.page.tell(words)

    def focus_first(self) -> None:
        """Put the keyboard where work starts."""
        if self.page is self.event_page:
            take_focus(self.choice)
        else:
            self.page.focus_first()

    def take_over(self, old: SettingsScreen) -> None:
        """Go on where the screen before stood; what is typed is the store's."""
        self.tabs.setCurrentIndex(old.tabs.currentIndex())
        old.let_go()

    def forget_person(self) -> None:
        """What was said here was said to somebody else."""
        for page in self.pages:
            page.banner.clear()

    def let_go(self) -> None:
        """Hear nothing more: another screen is shown in this one's place."""
        self._unsubscribe()

    def _on_settings_changed(self, name: str) -> None:
        for page in self.pages:
            if page.is_about(name):
                page.show_subject()
        self._choose_shown()

    def _show_events(self) -> None:
        wanted = [(event.event_id, _event_words(event)) for event in self._store.events]
        has = [(self.choice.itemData(place), self.choice.itemText(place)) for place in range(self.choice.count())]
        if has != wanted:
            self.choice.clear()
            for event_id, words in wanted:
                self.choice.addItem(words, event_id)
        self._choose_shown()

    def _choose_shown(self) -> None:
        place = self.choice.findData(self._store.settings_desk.event_id)
        if place != self.choice.currentIndex():
            self.choice.setCurrentIndex(place)

    def _why_not_event(self) -> str:
        event_id = self._store.settings_desk.event_id
        event = next((event for event in self._store.events if event.event_id == event_id), None)
        if event is not None and event.status is EventStatus.CANCELLED:
            return _("This event is cancelled: nothing of it can be set any more.")
        return ""

    def _on_choice_activated(self, place: int) -> None:
        self.event_chosen.emit(EventId(self.choice.itemData(place)))

    def _on_save_key(self) -> None:
        self.page.card.press_save()

    def _on_tab_changed(self, place: int) -> None:
        self._pages.setCurrentIndex(place)
        self.tab_changed.emit()

    def _build(self, theme: Theme) -> None:
        for words in (_("Event"), _("Whole house"), _("This till")):
            self.tabs.addTab(words)
        self.tabs.setAccessibleName(_("Parts of the settings"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.choice.setAccessibleName(_("Event"))
        self.choice.setMinimumWidth(_CHOICE_PX)
        self.choice.activated.connect(self._on_choice_activated)
        for part in self.pages:
            self._pages.addWidget(part)
        saving = QShortcut(QKeySequence(keys.SAVE_SETTINGS.sequence), self)
        saving.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        saving.activated.connect(self._on_save_key)
        page = column(theme, margin="medium", gap="small", parent=self)
        page.addWidget(self.tabs)
        page.addWidget(self._pages, 1)

    def event(self, event: QEvent) -> bool:
        """Esc means this screen while the keyboard is in it, not the sale at the counter."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_ours(event):
            event.accept()
            return True
        return super().event(event)


def _event_words(event: EventSummary) -> str:
    return figures().joined((event.name, figures().date(event.starts_at, event.zone)))
