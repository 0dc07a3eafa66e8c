"""Language, colours, patterns, motion: chosen in the menu, kept for the next start, and everything built anew."""

from __future__ import annotations

import logging
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.actions.desk import Desk
from app.actions.keep_settings import keep_settings
from app.bridge.deeds import Deeds
from app.core.store import Notice, NoticeCode
from app.i18n import use_language
from app.screens.looks import apply_direction, theme_of
from app.screens.main_window import MainWindow
from app.settings import LANGUAGE, MOTION, PATTERNS, THEME, Setting, Settings
from widgets.theme import Theme, apply_theme

_LOG = logging.getLogger(__name__)
Kind = TypeVar("Kind", str, int, bool)


class LookBindings(QObject):
    """Lives as long as the window. `rebuilt` when the screens are new: whoever is bound to them binds anew."""

    rebuilt = Signal()

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._settings = settings
        self._is_kept = True
        self._told = False
        window.language_chosen.connect(self._on_language_chosen)
        window.theme_chosen.connect(self._on_theme_chosen)
        window.patterns_chosen.connect(self._on_patterns_chosen)
        window.less_motion_chosen.connect(self._on_less_motion_chosen)

    def remember(self, setting: Setting[Kind], value: Kind) -> None:
        """Keep a setting for the next start. A disk that is full, or may only be read, stops nobody's work."""
        self._settings.set(setting, value, keep=False)
        self._is_kept = False
        self._deeds.start("keep-settings", self._keep)

    async def keep_now(self) -> None:
        """What is not written yet is, before the console ends."""
        if not self._is_kept:
            await self._keep()

    async def _keep(self) -> None:
        """As often as there is something new; the counter goes on while the disk takes its time."""
        while not self._is_kept:
            self._is_kept = True
            try:
                await keep_settings(self._settings)
            except OSError as error:
                _LOG.warning("the settings are not kept: %s", error)
                if not self._told:
                    self._told = True
                    self._desk.store.post(Notice(NoticeCode.SETTINGS_NOT_KEPT))

    def _on_language_chosen(self, code: str) -> None:
        language = use_language(code)
        self.remember(LANGUAGE, language.code)
        self._desk.language = language.code
        apply_direction()
        self._rebuild(self._window.theme)

    def _on_theme_chosen(self, choice: str) -> None:
        self.remember(THEME, choice)
        theme = theme_of(choice, patterned=self._window.theme.patterned)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            apply_theme(application, theme)
        self._rebuild(theme)

    def _on_patterns_chosen(self, patterned: bool) -> None:  # the signal carries what was chosen
        self.remember(PATTERNS, patterned)
        self._rebuild(self._window.theme.with_patterns(patterned))

    def _on_less_motion_chosen(self, less: bool) -> None:  # the signal carries what was chosen
        self.remember(MOTION, "less" if less else "full")
        self._window.set_less_motion(less)

    def _rebuild(self, theme: Theme) -> None:
        self._window.rebuild(theme, self._settings.get(THEME))
        self.rebuilt.emit()
