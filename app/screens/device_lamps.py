"""The lamps of the card terminal and the ticket printer, kept true."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.actions.desk import CardWay, Desk
from app.bridge.deeds import Deeds
from app.devices.card_terminal import Readiness, TerminalError
from app.i18n import _
from app.screens.main_window import MainWindow
from app.screens.trouble_words import print_trouble_words
from app.screens.words import advice_for


class DeviceLamps(QObject):
    """Asks the devices of a desk and tells the status strip."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds

    def look(self) -> None:
        """Ask the devices anew, and show what they say."""
        self.show_printer()
        if self._desk.card_way is CardWay.READER:
            self._window.screens.strip.show_terminal("good", _("Card reader of the server"), "")
        elif self._desk.terminal is None:
            self._window.screens.strip.show_terminal("off", _("No card terminal"))
        else:
            self._deeds.start("look-at-terminal", self._look_at_terminal)

    def look_if_free(self) -> None:
        """The same, unless the terminal is at work: what it does then says enough."""
        if not self._desk.charging and not self._desk.terminal_turn.locked():
            self.look()

    def show_printer(self) -> None:
        """The printer's lamp; a warning from a job that failed until one ends well."""
        printer, trouble, strip = self._desk.printer, self._desk.printer_trouble, self._window.screens.strip
        strip.show_printer(None if printer is None else printer.name)
        if printer is not None and trouble:
            words = _("Tickets: {printer} failed").format(printer=printer.name)
            strip.printer.tell("trouble", words, print_trouble_words(trouble))

    async def _look_at_terminal(self) -> None:
        try:
            status = await self._desk.need_terminal().status()
        except TerminalError as error:
            words = advice_for(error.code)
            self._window.screens.strip.show_terminal("bad", _("Terminal away"), f"{words.title}. {words.detail}")
            return
        if status.readiness is Readiness.READY:
            self._window.screens.strip.show_terminal("good", _("Terminal ready"), status.detail)
        else:
            self._window.screens.strip.show_terminal("trouble", _("Terminal not ready"), status.detail)
