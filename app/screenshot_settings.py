"""Scenes of the settings screen: an event's, changed by two people at once; the house's; this till's."""

from __future__ import annotations

from dataclasses import dataclass

from app.i18n import figures
from app.screens.settings_screen import HOUSE_TAB, TILL_TAB, SettingsScreen
from app.screenshot_ops import OpsScenes


@dataclass(slots=True)
class SettingScenes(OpsScenes):
    """See the module."""

    async def _settings(self, name: str) -> None:
        """An admin's settings: typed over, changed by somebody else meanwhile, wrong, of the house, of the till."""
        await self._sign_in(name)
        console, screen = self._open.console, self._settings_screen
        console.window.screen_requested.emit("settings")
        await self._until(lambda: bool(screen.event_page.form.rows), "the settings of the event")
        await self._rest()
        self.take("settings-event")
        rows = screen.event_page.form.rows
        rows["max_refund_by_clerk_minor"].typed.emit("max_refund_by_clerk_minor", figures().amount(35_000, "EUR"))
        rows["hold_ttl_s"].typed.emit("hold_ttl_s", "420")
        self._open.server.settings.change_behind_the_back(hold_ttl_s=240, max_per_account=4)
        console.bindings.settings.reload()
        await self._until(lambda: bool(self._subject_theirs), "what somebody else has changed")
        await self._rest()
        self.take("settings-changed-meanwhile")
        rows["max_per_card"].typed.emit("max_per_card", "0")
        await self._turn()
        self.take("settings-wrong")
        screen.show_tab(HOUSE_TAB)
        await self._until(lambda: bool(screen.house_page.form.rows), "the settings of the house")
        await self._rest()
        limit = screen.house_page.form.rows["limits_by_currency/EUR"]
        limit.typed.emit(limit.spec.key, figures().amount(15_000, "EUR"))
        await self._turn()
        self.take("settings-house")
        screen.show_tab(TILL_TAB)
        await self._rest()
        screen.till_page.form.rows["card_way"].typed.emit("card_way", "reader")
        await self._turn()
        self.take("settings-till")

    @property
    def _subject_theirs(self) -> object:
        return self._store.settings_desk.of(self._store.settings_desk.event).theirs

    @property
    def _settings_screen(self) -> SettingsScreen:
        return self._open.console.window.screens.settings
