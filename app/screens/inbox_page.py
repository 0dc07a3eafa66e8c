"""The inbox: what only a person can settle, the oldest first. Arrows move, Enter opens, `/` finds."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.inbox import Inbox, InboxPart
from app.core.inbox_filter import InboxRow, SortBy, SortOrder, arranged
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.item_table import COLUMNS, ItemCells, ItemTableModel, age_s
from app.models.place_words import grouped_seats
from app.models.provider_words import provider_name
from app.screens.inbox_filters import InboxFilters
from app.screens.item_words import item_money, item_seats, kind_name, state_mark, state_short, state_tone
from app.screens.words import Advice, advice_for
from backend_client.wire import EventId, ItemId, ItemState, ReconciliationItem
from widgets.async_button import AsyncButton
from widgets.build import column, label, row
from widgets.data_table import ColumnPlan, DataTable
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_PLANS = {
    SortBy.AGE: ColumnPlan(120, rank=0), SortBy.KIND: ColumnPlan(156, 3, rank=1),
    SortBy.AMOUNT: ColumnPlan(116, rank=2),
    SortBy.STATE: ColumnPlan(142, 1, rank=3), SortBy.SEATS: ColumnPlan(132, 2, rank=4),
    SortBy.ORDER: ColumnPlan(112, 1, rank=6), SortBy.EVENT: ColumnPlan(130, 2, rank=5),
    SortBy.PROVIDER: ColumnPlan(90, 1, rank=7),
}  # fmt: skip
_OLD_S, _VERY_OLD_S = 3_600.0, 86_400.0


def row_of(item: ReconciliationItem) -> InboxRow:
    """An item with the words that it is listed, searched and sorted by."""
    return InboxRow.of(item, kind_name(item.kind), provider_name(item.provider), grouped_seats(item.seats))


class InboxPage(QWidget):
    """Reads the inbox; what the person wishes goes out as signals."""

    item_opened = Signal(object)
    """An item id: the keyboard goes to it."""
    item_shown = Signal(object)
    """An item id: the person walks along the list while an item is open."""
    view_changed = Signal(object)
    sort_changed = Signal(object)
    resolved_wanted = Signal(bool)
    refresh_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._rows: dict[ItemId, InboxRow] = {}
        self._telling = False
        self.filters = InboxFilters(theme)
        self.model = ItemTableModel(ItemCells(self._text, self._tone, self._mark), self)
        self.table = DataTable(theme, [_PLANS[name] for name in COLUMNS])
        self.banner = StatusBanner(theme)
        self.refresh = AsyncButton(_("Load again"))
        self.export = AsyncButton(_("Save as a file…"))
        self._count = label(tone="muted")
        self._empty = label(kind="lead", tone="muted", wrap=True)
        self._pages = QStackedWidget()
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {"load-inbox": [self.refresh], "export-inbox": [self.export]}

    @property
    def shown(self) -> list[InboxRow]:
        """The items that are shown, in order."""
        return self.model.rows

    # ------------------------------------------------------------ what is shown

    def show_part(self, part: InboxPart) -> None:
        """Show what changed."""
        if InboxPart.ITEMS in part:
            self._show_items()
        if part & (InboxPart.ITEMS | InboxPart.VIEW):
            self._show_state()
        if InboxPart.DETAIL in part:
            self._follow_open_item()

    def show_time(self) -> None:
        """Ages go on."""
        if self.isVisible():
            place = COLUMNS.index(SortBy.AGE)
            left, width = self.table.columnViewportPosition(place), self.table.columnWidth(place)
            self.table.viewport().update(left, 0, width, self.table.viewport().height())
            self._show_trouble()

    def tell(self, words: Advice) -> None:
        """Say what went wrong, or well."""
        self.banner.tell(words.tone, words.title, words.detail)

    def focus_first(self) -> None:
        """Put the keyboard on the list, or on the find field when the list is empty."""
        if self.model.rowCount():
            if self.table.current_row < 0:
                self.table.choose_row(0)
            take_focus(self.table)
        else:
            self.filters.focus_find()

    def take_over(self, old: InboxPage) -> None:
        """Go on where the page before stood."""
        self.filters.above.setText(old.filters.above.text())

    def _show_items(self) -> None:
        inbox = self._inbox
        names = {event.event_id: event.name for event in self._store.events}
        rows = {}
        for item in inbox.items:
            known = self._rows.get(item.item_id)
            same = known is not None and known.item == item
            rows[item.item_id] = known if same and known is not None else row_of(item)
        self._rows = rows
        self.filters.offer(inbox.items, names, inbox.view)
        current = self._current_id()
        self._telling = True
        try:
            self.model.show_rows(arranged(rows.values(), inbox.view, inbox.order))
            self._choose(inbox.item_id or current)
        finally:
            self._telling = False

    def _choose(self, item_id: ItemId | None) -> None:
        place = self.model.row_of(item_id)
        if place >= 0 and place != self.table.current_row:
            self.table.choose_row(place)
        elif self.table.current_row < 0 and self.model.rowCount():
            self.table.choose_row(0)

    def _follow_open_item(self) -> None:
        self._telling = True
        try:
            if self._inbox.item_id is not None:
                self._choose(self._inbox.item_id)
        finally:
            self._telling = False

    def _show_state(self) -> None:
        inbox = self._inbox
        self.filters.show_view(inbox.view, resolved=inbox.shows_resolved)
        self._count.setText(self._count_words())
        self.export.setEnabled(bool(self.model.rowCount()))
        place = COLUMNS.index(inbox.order.by)
        down = Qt.SortOrder.DescendingOrder if inbox.order.descending else Qt.SortOrder.AscendingOrder
        self.table.horizontalHeader().setSortIndicator(place, down)
        self._show_trouble()
        if self.model.rowCount():
            self._pages.setCurrentWidget(self.table)
            return
        self._empty.setText(self._empty_words())
        self._pages.setCurrentWidget(self._empty)

    def _show_trouble(self) -> None:
        """A list that is not fresh says so, and from when it is."""
        inbox = self._inbox
        if not inbox.trouble:
            if self.banner.property("about") == "stale":
                self.banner.clear()
                self.banner.setProperty("about", "")
            return
        words = advice_for(inbox.trouble)
        detail = words.detail
        if inbox.as_of is not None:
            age = figures().age(age_between(inbox.as_of, self._now))
            detail = _("This list is as of {age} ago. It is read again by itself.").format(age=age)
        self.banner.tell("warn", words.title, detail)
        self.banner.setProperty("about", "stale")

    def _count_words(self) -> str:
        inbox, shown = self._inbox, self.model.rowCount()
        total = len(inbox.items)
        words = ngettext("{count} item", "{count} items", total).format(count=figures().number(total))
        if shown != total:
            words = _("{shown} of {words}").format(shown=figures().number(shown), words=words)
        waiting = inbox.waiting_count
        more = ngettext("{count} waits for a second person", "{count} wait for a second person", waiting)
        cut = _("only the oldest are listed") if inbox.is_cut else ""
        return figures().joined((words, more.format(count=figures().number(waiting)) if waiting else "", cut))

    def _empty_words(self) -> str:
        inbox = self._inbox
        if inbox.as_of is None:
            return _("The list cannot be read now.") if inbox.trouble else _("Reading the list…")
        if inbox.items:
            return _("Nothing here matches what is chosen above.")
        if inbox.shows_resolved:
            return _("Nothing has been settled by a person yet.")
        return _("Nothing waits for a person. What is unclear settles itself.")

    # ------------------------------------------------------------ cells

    def _text(self, line: InboxRow, name: SortBy) -> str:
        item = line.item
        if name is SortBy.AGE:
            return figures().age(age_s(line, self._now))
        if name is SortBy.AMOUNT:
            return item_money(item)
        if name is SortBy.SEATS:
            return item_seats(item)
        words = {
            SortBy.KIND: line.kind_words, SortBy.EVENT: item.event_name, SortBy.ORDER: item.order_number,
            SortBy.PROVIDER: line.provider_words, SortBy.STATE: state_short(item.state),
        }  # fmt: skip
        return words[name]

    def _tone(self, line: InboxRow, name: SortBy) -> str:
        if name is SortBy.STATE:
            return state_tone(line.item.state) or "text_muted"
        if name is SortBy.AGE and line.item.state is not ItemState.RESOLVED:
            waits = age_s(line, self._now)
            return "danger" if waits > _VERY_OLD_S else "warn" if waits > _OLD_S else ""
        return "" if name in {SortBy.KIND, SortBy.AMOUNT, SortBy.AGE} else "text_muted"

    def _mark(self, line: InboxRow, name: SortBy) -> str:
        if name is SortBy.STATE:
            return state_mark(line.item.state)
        if name is SortBy.AGE and self._tone(line, name) == "danger":
            return "!"
        return ""

    @property
    def _now(self) -> datetime | None:
        return self._store.clock.now()

    @property
    def _inbox(self) -> Inbox:
        return self._store.inbox

    def _current_id(self) -> ItemId | None:
        place = self.table.current_row
        return self.model.rows[place].item.item_id if 0 <= place < len(self.model.rows) else None

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Inbox"))
        head = self.table.horizontalHeader()
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        foot = row(theme, gap="medium")
        foot.addWidget(self._count, 1)
        foot.addWidget(self.export)
        foot.addWidget(self.refresh)
        page = column(theme, gap="small", parent=self)
        page.addWidget(self.filters)
        page.addWidget(self.banner)
        page.addWidget(self._pages, 1)
        page.addLayout(foot)

    def _connect(self) -> None:
        self.filters.view_changed.connect(self.view_changed)
        self.filters.list_wanted.connect(self.focus_list)
        self.filters.resolved_wanted.connect(self.resolved_wanted)
        self.table.row_opened.connect(self._on_table_row_opened)
        self.table.row_chosen.connect(self._on_table_row_chosen)
        self.table.horizontalHeader().sectionClicked.connect(self._on_section_clicked)
        self.refresh.action_requested.connect(self.refresh_requested)
        self.export.action_requested.connect(self.export_requested)

    def focus_list(self) -> None:
        """Put the keyboard on the list, if there is one."""
        if self.model.rowCount():
            self.focus_first()

    def _on_table_row_opened(self, place: int) -> None:
        if place < len(self.model.rows):
            self.item_opened.emit(self.model.rows[place].item.item_id)

    def _on_table_row_chosen(self, place: int) -> None:
        if not self._telling and self._inbox.item_id is not None and place < len(self.model.rows):
            self.item_shown.emit(self.model.rows[place].item.item_id)

    def _on_section_clicked(self, place: int) -> None:
        order = self._inbox.order
        again = order.by is COLUMNS[place]
        first_down = COLUMNS[place] in {SortBy.AMOUNT, SortBy.SEATS}
        self.sort_changed.emit(SortOrder(COLUMNS[place], not order.descending if again else first_down))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() == "/" or event.matches(QKeySequence.StandardKey.Find):
            self.filters.focus_find()
            event.accept()
        else:
            super().keyPressEvent(event)


def age_between(then: datetime, now: datetime | None) -> float:
    """Seconds from then to now; 0 while the time is not known."""
    return 0.0 if now is None else max((now - then).total_seconds(), 0.0)


def event_zone(store: ConsoleStore, event_id: EventId | None) -> str:
    """The time zone of an event's venue; UTC, which is an exact instant too, for what has no event."""
    known = {event.event_id: event.zone for event in store.events}
    if store.event is not None:
        known[store.event.event_id] = store.event.zone
    return known.get(event_id, "UTC") if event_id is not None else "UTC"
