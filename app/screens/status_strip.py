"""The line at the bottom: connection, age of the map, terminal, printer, open payments, keyring, who works here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.core.session import Permission
from app.core.store import Connection, ConsoleStore
from app.i18n import _, figures, ngettext
from app.screens.words import role_name, storage_words
from widgets.build import label, row
from widgets.status_lamp import StatusLamp
from widgets.theme import Theme


class StatusStrip(QFrame):
    """Reads the store; `steady` is the clock that `feed_heard_at` was read from."""

    def __init__(
        self, theme: Theme, store: ConsoleStore, steady: Callable[[], float], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._steady = steady
        self._terminal = ("off", _("No card terminal"), "")
        self.connection = StatusLamp(theme)
        self.feed = StatusLamp(theme)
        self.terminal = StatusLamp(theme)
        self.printer = StatusLamp(theme)
        self.payments = StatusLamp(theme)
        self.cards = StatusLamp(theme)
        self.items = StatusLamp(theme)
        self.keyring = StatusLamp(theme)
        self._person = label(kind="caption", tone="muted")
        self.setObjectName("status-strip")
        self._lay_out(theme)

    def show_all(self) -> None:
        """Show everything anew."""
        self.show_connection()
        self.show_feed()
        self.show_payments()
        self.show_items()
        self.show_session()

    def show_connection(self) -> None:
        """Whether the booking system answers."""
        words = {
            Connection.UNTRIED: ("waiting", _("Connecting…")),
            Connection.ONLINE: ("good", _("Connected")),
            Connection.AWAY: ("bad", _("No connection")),
        }
        state, text = words[self._store.connection]
        self.connection.tell(state, text, _("Connection to the booking system"))

    def show_feed(self) -> None:
        """Whether the map can be believed: live or not, nothing between; how old it is stands in the tool tip."""
        store = self._store
        self.feed.setVisible(store.event is not None and store.session is not None)
        if store.map_out_of_date:
            self.feed.tell("trouble", _("Map out of date"), self._age_words())
        elif store.seat_map is None or not store.seat_map.loaded:
            self.feed.tell("waiting", _("Map loading…"), "")
        else:
            self.feed.tell("good", _("Map live"), _("Changes of seats arrive as they happen"))

    def _age_words(self) -> str:
        heard = self._store.feed_heard_at
        advice = _("Seats may have changed; a hold is checked by the booking system")
        if heard is None:
            return advice
        age_s = max(int(self._steady() - heard), 0)
        return figures().joined((_("Map {age} old").format(age=figures().duration(age_s)), advice))

    def show_terminal(self, state: str, text: str, detail: str = "") -> None:
        """What is known of the card terminal."""
        self.terminal.tell(state, text, detail)

    def show_printer(self, name: str | None) -> None:
        """The ticket printer."""
        if name is None:
            self.printer.tell("off", _("No ticket printer"), "")
        else:
            self.printer.tell("good", _("Tickets: {printer}").format(printer=name), "")

    def show_payments(self) -> None:
        """Open payments whose result is not known."""
        count = len(self._store.unknown_sales)
        self.payments.setVisible(count > 0)
        words = ngettext("{count} unclear payment", "{count} unclear payments", count).format(count=count)
        self.payments.tell("bad", words, _("Do not take these cards again"))
        followed = self._store.given_up
        self.cards.setVisible(followed > 0)
        words = ngettext("{count} card is followed", "{count} cards are followed", followed).format(count=followed)
        self.cards.tell("trouble", words, _("If it was charged after all, the terminal takes it back"))

    def show_items(self) -> None:
        """What waits for a person in the inbox, for those who may read it."""
        session, count = self._store.session, self._store.inbox.open_count or 0
        may_read = session is not None and session.may(Permission.READ_ITEMS)
        self.items.setVisible(may_read and count > 0)
        words = ngettext("{count} item waits", "{count} items wait", count).format(count=figures().number(count))
        self.items.tell("trouble", words, _("In reconciliation, for a person to settle"))

    def show_session(self) -> None:
        """Who works here, and whether the sign-in outlives the session."""
        session = self._store.session
        self._person.setText(
            "" if session is None else figures().joined((session.display_name, role_name(session.role)))
        )
        reason = "" if session is None else storage_words(session.storage)
        self.keyring.setVisible(bool(reason))
        if reason:
            self.keyring.tell(
                "trouble", _("Signed in for this session only"), _("{why} Sign in again next time.").format(why=reason)
            )

    def _lay_out(self, theme: Theme) -> None:
        line: QHBoxLayout = row(theme, gap="large", parent=self)
        line.setContentsMargins(theme.space("large"), theme.space("tight"), theme.space("large"), theme.space("tight"))
        always = (self.connection, self.feed, self.terminal, self.printer)
        for lamp in (*always, self.payments, self.cards, self.items, self.keyring):
            line.addWidget(lamp)
        line.addStretch(1)
        line.addWidget(self._person)
        for lamp in (self.feed, self.payments, self.cards, self.items, self.keyring):
            lamp.hide()
