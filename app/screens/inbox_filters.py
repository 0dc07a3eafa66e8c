"""The bar over the inbox: find, kind, event, provider, from which amount on; what is chosen is always seen."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.core.inbox_filter import InboxFilter
from app.i18n import MoneyTextError, _, figures
from app.models.provider_words import provider_name
from app.screens.item_words import kind_name
from backend_client.wire import EventId, ReconciliationItem
from widgets.build import label, leading
from widgets.choice_box import ChoiceBox
from widgets.flow_layout import FlowLayout
from widgets.focus import take_focus
from widgets.theme import Theme

_FIND_PX, _FIND_MOST_PX, _AMOUNT_PX, _BOX_PX = 204, 400, 96, 124
OPEN, WAITING, RESOLVED = "open", "waiting", "resolved"
SCOPES = (OPEN, WAITING, RESOLVED)
_HUNDREDTHS = "EUR"
"""A currency of two decimals: the amount is compared in whole units, whatever the currency of an item."""


def is_ours(event: QKeyEvent) -> bool:
    """Keys that the window has shortcuts for, and that these screens use in their own way."""
    return event.key() == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Find)


class FindEdit(QLineEdit):
    """Arrow down and Enter leave for the list; Esc empties, and leaves when it is empty."""

    list_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.list_wanted.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Escape:
            self.list_wanted.emit()
        else:
            super().keyPressEvent(event)


class InboxFilters(QWidget):
    """Emits the whole filter whenever a part of it changes."""

    view_changed = Signal(object)
    resolved_wanted = Signal(bool)
    """What is settled instead of what waits."""
    list_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._telling = False
        self.finder = FindEdit()
        self.scope = ChoiceBox(theme)
        self.kind = ChoiceBox(theme)
        self.event_box = ChoiceBox(theme)
        self.provider = ChoiceBox(theme)
        self.above = QLineEdit()
        self.fault = label(_("This is not an amount"), tone="danger")
        self.clear = QPushButton(_("Show all"))
        self._build(theme)
        self._connect()

    @property
    def view(self) -> InboxFilter:
        """What is chosen. An amount that cannot be read filters nothing, and its field says so."""
        event_id = self.event_box.currentData()
        return InboxFilter(
            text=self.finder.text().strip(),
            kind=str(self.kind.currentData() or ""),
            event_id=None if event_id is None else EventId(int(event_id)),
            provider=str(self.provider.currentData() or ""),
            above=self._above(),
            waiting_only=self.scope.currentData() == WAITING,
        )

    def show_view(self, view: InboxFilter, *, resolved: bool = False) -> None:
        """Show what is chosen; tells nobody."""
        self._telling = True
        try:
            if view.text != self.finder.text().strip():
                self.finder.setText(view.text)
            for box, value in ((self.kind, view.kind), (self.event_box, view.event_id), (self.provider, view.provider)):
                place = box.findData(value) if value else 0
                box.setCurrentIndex(max(place, 0))
            if view.above != self._above():
                self.above.setText("" if view.above is None else f"{view.above.normalize():f}")
            self.scope.setCurrentIndex(SCOPES.index(RESOLVED if resolved else WAITING if view.waiting_only else OPEN))
            self.clear.setVisible(not view.is_empty)
        finally:
            self._telling = False

    def offer(self, items: Iterable[ReconciliationItem], names: dict[EventId, str], view: InboxFilter) -> None:
        """Offer the kinds, events and providers that there are, and those that are chosen now."""
        found = tuple(items)
        kinds = {item.kind for item in found} | ({view.kind} if view.kind else set())
        providers = {item.provider for item in found if item.provider} | ({view.provider} if view.provider else set())
        events = {item.event_id: item.event_name for item in found if item.event_id is not None}
        events |= {event_id: names.get(event_id, name) for event_id, name in events.items()}
        self._telling = True
        try:
            _fill(self.kind, _("Every kind"), sorted((kind_name(kind), kind) for kind in kinds))
            _fill(self.event_box, _("Every event"), sorted((name or str(key), key) for key, name in events.items()))
            _fill(self.provider, _("Every provider"), _named(providers))
        finally:
            self._telling = False
        self.show_view(view, resolved=self.scope.currentData() == RESOLVED)

    def focus_find(self) -> None:
        """Put the keyboard on the find field."""
        take_focus(self.finder, Qt.FocusReason.ShortcutFocusReason)
        self.finder.selectAll()

    def _above(self) -> Decimal | None:
        text = self.above.text().strip()
        if not text:
            return None
        try:
            return Decimal(figures().parse_money(text, _HUNDREDTHS)).scaleb(-2)
        except MoneyTextError:
            return None

    def _build(self, theme: Theme) -> None:
        self.finder.setPlaceholderText(_("Find: order, seat, reference  ( / )"))
        self.above.setPlaceholderText(_("Above"))
        names = (
            (self.scope, _("Which items"), _BOX_PX), (self.finder, _("Find in the inbox"), _FIND_PX),
            (self.kind, _("Kind"), _BOX_PX),
            (self.event_box, _("Event"), _BOX_PX), (self.provider, _("Provider"), _BOX_PX),
            (self.above, _("Only amounts above"), _AMOUNT_PX),
        )  # fmt: skip
        line = FlowLayout(self, theme.space("small"))
        line.setContentsMargins(0, 0, 0, 0)
        for words, code in zip((_("What waits"), _("For a second person"), _("What is settled")), SCOPES, strict=True):
            self.scope.addItem(words, code)
        for part, name, width in names:
            part.setAccessibleName(name)
            part.setToolTip(name)
            part.setMinimumWidth(width)
            part.setProperty("role", "bar")
            line.addWidget(part)
        self.finder.setMaximumWidth(_FIND_MOST_PX)
        self.above.setMaximumWidth(self.above.sizeHint().width())
        for edit in (self.finder, self.above):
            edit.setAlignment(leading())
            edit.setClearButtonEnabled(True)
        self.clear.setAccessibleName(self.clear.text())
        self.clear.setProperty("role", "quiet")
        self.clear.hide()
        self.fault.hide()
        line.addWidget(self.fault)
        line.addWidget(self.clear)

    def _connect(self) -> None:
        self.finder.textChanged.connect(self._on_part_changed)
        self.finder.list_wanted.connect(self.list_wanted)
        self.above.textChanged.connect(self._on_part_changed)
        self.above.returnPressed.connect(self.list_wanted)
        for box in (self.kind, self.event_box, self.provider):
            box.currentIndexChanged.connect(self._on_part_changed)
        self.scope.activated.connect(self._on_scope_activated)
        self.clear.clicked.connect(self._on_clear_clicked)

    def _on_part_changed(self) -> None:
        if not self._telling:
            self.fault.setVisible(bool(self.above.text().strip()) and self._above() is None)
            self.view_changed.emit(self.view)

    def _on_scope_activated(self) -> None:
        self.resolved_wanted.emit(self.scope.currentData() == RESOLVED)
        self.view_changed.emit(self.view)

    def _on_clear_clicked(self) -> None:
        self.show_view(InboxFilter(), resolved=self.scope.currentData() == RESOLVED)
        self.above.clear()
        self.view_changed.emit(InboxFilter())
        self.list_wanted.emit()


def _named(providers: Iterable[str]) -> list[tuple[str, object]]:
    return sorted((provider_name(code), code) for code in providers)


def _fill(box: ChoiceBox, everything: str, choices: list[tuple[str, object]]) -> None:
    """Offer the choices; a box that offers them already is left alone, with its open list."""
    wanted = [(everything, None), *choices]
    if [(box.itemText(place), box.itemData(place)) for place in range(box.count())] == wanted:
        return
    chosen = box.currentData()
    box.clear()
    for words, data in wanted:
        box.addItem(words, data)
    box.setCurrentIndex(max(box.findData(chosen), 0) if chosen is not None else 0)
