"""The wishes of the settings screen, bound: reading, typing, saving, taking back; and the settings of this till."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from PySide6.QtCore import QObject, Signal

from app.actions.change_settings import (
    load_event_settings,
    load_house_settings,
    save_event_settings,
    save_house_settings,
)
from app.actions.desk import CardWay, Desk
from app.actions.keep_settings import set_and_keep
from app.bridge.deeds import Deeds
from app.core.errors import ConsoleError
from app.core.session import Permission, require
from app.core.setting_specs import Value, till_specs
from app.core.settings_desk import HOUSE, TILL, Seen, SettingsDesk, subject_of
from app.i18n import _, figures
from app.screens.main_window import MainWindow
from app.screens.setting_text import OTHERS, read_typed, write_setting
from app.screens.settings_page import SettingsPage
from app.screens.settings_screen import SettingsScreen
from app.screens.words import Advice, advice_for, advice_for_error
from app.settings import (
    ALL_SETTINGS,
    CARD_WAY,
    HAND_OVER_AFTER_S,
    LAST_EVENT,
    Settings,
)
from backend_client.errors import BookingClientError, NotSignedInError
from backend_client.wire import EventId, Role

_LOG = logging.getLogger(__name__)
_OF_A_PERSON = ("load-settings", "save-settings")


class SettingsBindings(QObject):
    """Binds the settings screen of one window to one desk; stays when the screens are built anew."""

    till_changed = Signal()
    """How cards are taken here is another way now."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._settings = settings
        self._saving: tuple[str, EventId | None] = ("", None)
        """What is saved: the subject, and the event if it is one."""
        self._person: tuple[UUID, Role] | None = None
        self.connect_screens()

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        screen = self._screen
        screen.event_chosen.connect(self._on_event_chosen)
        screen.tab_changed.connect(self._on_tab_changed)
        for page in screen.pages:
            page.reload.action_requested.connect(self.reload)
            page.form.typed.connect(self._on_typed)
            page.card.reason_typed.connect(self._on_reason_typed)
            page.card.save_requested.connect(self._on_save_requested)
            page.card.put_back_requested.connect(self._on_put_back_requested)
            page.card.undo_requested.connect(self._on_undo_requested)

    def show_session(self) -> None:
        """Somebody else works here, or nobody: what the one before began ends."""
        session = self._desk.store.session
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is not None and before != self._person:
            for deed in _OF_A_PERSON:
                self._deeds.cancel(deed)

    def enter(self) -> None:
        """Show the settings, read anew, beginning with the event that is worked on."""
        if self._sets.event_id is None:
            chosen = self._first_event()
            if chosen is not None:
                self._sets.choose_event(chosen)
        self._put_till()
        self._screen.show_all()
        self._window.screens.go_to(self._screen)
        self.reload()

    def _first_event(self) -> EventId | None:
        store = self._desk.store
        known = [event.event_id for event in store.events]
        wanted = [store.event.event_id] if store.event is not None else []
        wanted.append(EventId(self._settings.get(LAST_EVENT)))
        return next((event_id for event_id in (*wanted, *known) if event_id in known), None)

    # ------------------------------------------------------------ reading

    def reload(self) -> None:
        """Read what is shown once more."""
        self._deeds.cancel("load-settings")
        self._deeds.start("load-settings", self._load_shown)

    async def _load_shown(self) -> None:
        page, event_id = self._screen.page, self._sets.event_id
        try:
            if page.is_about(HOUSE):
                await load_house_settings(self._desk)
            elif not page.is_about(TILL) and event_id is not None:
                await load_event_settings(self._desk, event_id)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # told over the settings

    def _on_event_chosen(self, event_id: int) -> None:
        self._sets.choose_event(EventId(event_id))
        self._screen.page.banner.clear()
        self.reload()

    def _on_tab_changed(self) -> None:
        self.reload()
        self._screen.focus_first()

    # ------------------------------------------------------------ typing

    def _on_typed(self, key: str, text: str) -> None:
        self._sets.type(self._shown, key, text)

    def _on_reason_typed(self, reason: str) -> None:
        self._sets.put_reason(self._shown, reason)

    def _on_put_back_requested(self) -> None:
        self._screen.page.banner.clear()
        self._sets.put_back(self._shown)

    def _on_undo_requested(self) -> None:
        """Type what stood there before our last change; it is saved like any other change, from what is seen now."""
        name = self._shown
        subject = self._sets.of(name)
        if subject.seen is None:
            return
        self._screen.page.banner.clear()
        for spec in subject.seen.specs:
            if spec.key in subject.changed:
                has = spec.key in subject.before
                self._sets.type(name, spec.key, write_setting(spec, subject.before[spec.key]) if has else OTHERS)
        self._sets.put_reason(name, _("Taken back"))

    # ------------------------------------------------------------ saving

    def _on_save_requested(self) -> None:
        self._saving = self._shown, self._sets.event_id
        if not self._deeds.start("save-settings", self._save):
            self._screen.page.card.save.set_busy(False)

    async def _save(self) -> None:
        name, event_id = self._saving
        typing = read_typed(self._sets.of(name))
        if not typing.keys or typing.faults:
            return
        self._page_of(name).banner.clear()
        try:
            if name == TILL:
                await self._save_till(typing.values)
            elif name == HOUSE:
                await save_house_settings(self._desk, typing.values, typing.dropped)
            elif event_id is not None:
                await save_event_settings(self._desk, event_id, typing.values)
        except NotSignedInError:
            raise
        except (BookingClientError, ConsoleError) as error:
            self._tell(name, advice_for_error(error))
            return
        except OSError as error:
            _LOG.warning("settings are not kept: %s", error)
            self._tell(name, advice_for("file-not-written"))
            return
        self._tell(name, Advice(_("Saved"), self._done_words(name), "success"))

    def _done_words(self, name: str) -> str:
        seen = self._sets.of(name).seen
        if name != TILL or seen is None:
            return _("It counts from now on.")
        later = any(spec.later for spec in seen.specs if spec.key in self._sets.of(name).changed)
        return _("Some of it counts from the next start of the console.") if later else _("It counts from now on.")

    def _tell(self, name: str, words: Advice) -> None:
        """Say it on the page that it is about. Where another event is looked at by now, the words name theirs."""
        page = self._page_of(name)
        if not page.is_about(name):
            told = (event.name for event in self._desk.store.events if subject_of(event.event_id) == name)
            words = replace(words, title=figures().joined((next(told, ""), words.title)))
        page.tell(words)

    def _page_of(self, name: str) -> SettingsPage:
        """The page that shows a subject; that of events for one that is not looked at any more."""
        return next((page for page in self._screen.pages if page.is_about(name)), self._screen.event_page)

    # ------------------------------------------------------------ this till

    def _put_till(self) -> None:
        self._sets.put_seen(TILL, self._till_now())

    def _till_now(self) -> Seen:
        specs = till_specs()
        wanted = {spec.key for spec in specs}
        values = {one.key: self._settings.value_of(one) for one in ALL_SETTINGS if one.key in wanted}
        return Seen(specs, values, 0)

    async def _save_till(self, values: Mapping[str, Value]) -> None:
        """All of it or nothing; what can count at once does.

        Raises:
            NotAllowedError: the role may not.
            OSError: the file cannot be written; everything counts as before.
        """
        session = require(self._desk.store.session, Permission.SET_TILL)
        given = {key: value for key, value in values.items() if value is not None}
        await set_and_keep(self._settings, {one: given[one.key] for one in ALL_SETTINGS if one.key in given})
        _LOG.info("%s has set %s", session.name, dict(values))
        self._desk.card_way = CardWay(self._settings.get(CARD_WAY))
        self._desk.patience = replace(self._desk.patience, hand_over_s=self._settings.get(HAND_OVER_AFTER_S))
        self._sets.note_done(TILL, self._till_now(), frozenset(values))
        self.till_changed.emit()

    @property
    def _shown(self) -> str:
        page = self._screen.page
        return next(name for name in (HOUSE, TILL, self._sets.event) if page.is_about(name))

    @property
    def _screen(self) -> SettingsScreen:
        return self._window.screens.settings

    @property
    def _sets(self) -> SettingsDesk:
        return self._desk.store.settings_desk
