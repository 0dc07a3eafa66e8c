"""Orders: look one up by number, seat, ticket code or buyer; the order that is open stands beside the list."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from app.core.order_search import OrderDesk, OrderPart, OrderQuery
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.screens.inbox_filters import FindEdit, is_ours
from app.screens.inbox_page import age_between, event_zone
from app.screens.order_page import OrderPage
from app.screens.order_words import order_mark, order_status, order_token
from app.screens.untaken_cash import UntakenBanner
from app.screens.words import Advice, advice_for
from backend_client.wire import EventId, OrderSummary
from widgets.async_button import AsyncButton
from widgets.build import column, label, leading, row
from widgets.choice_box import ChoiceBox
from widgets.data_table import ColumnPlan, DataTable
from widgets.focus import take_focus
from widgets.sides import Sides
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

SIDE_BY_SIDE_PX = 1100
_LIST_SHARE, _ORDER_SHARE = 9_000, 11_000
_EVENT_PX = 130
TYPING_MS = 250
"""A pause in typing after which it is looked for."""
_PLANS = (
    ColumnPlan(112, 1, 0), ColumnPlan(120, 1, 1), ColumnPlan(90, 0, 2), ColumnPlan(110, 2, 4), ColumnPlan(130, 2, 3),
    ColumnPlan(128, 1, 5), ColumnPlan(196, 1, 6), ColumnPlan(64, 0, 7),
)  # fmt: skip


class OrdersScreen(QWidget):
    """Reads the orders of the store; wishes go out as signals."""

    search_requested = Signal(object)
    """An `OrderQuery`."""
    more_requested = Signal()
    order_opened = Signal(object)
    order_shown = Signal(object)

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._telling = False
        self.finder = FindEdit()
        self.event_box = ChoiceBox(theme)
        self.search = AsyncButton(_("Find"))
        self.more = AsyncButton(_("Show more"))
        self.banner = StatusBanner(theme)
        self.returns = StatusBanner(theme)
        self.untaken = UntakenBanner(theme, store)
        columns = (
            CellColumn(_("Order"), bold=True), CellColumn(_("State")), CellColumn(_("Amount"), trailing=True),
            CellColumn(_("Seats")), CellColumn(_("Event")), CellColumn(_("Buyer or counter")), CellColumn(_("Made")),
            CellColumn(_("Items"), trailing=True),
        )  # fmt: skip
        self.model = CellTableModel(columns, self)
        self.table = DataTable(theme, _PLANS)
        self.page = OrderPage(theme, store)
        self._count = label(tone="muted")
        self._empty = label(kind="lead", tone="muted", wrap=True)
        self._pages = QStackedWidget()
        self._list = QWidget()
        self._sides = Sides(theme)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._build()
        self._connect()
        self._unsubscribe = store.orders.subscribe(self._on_orders_changed)

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        own = {"find-orders": [self.search], "more-orders": [self.more], "cash-compared": [self.untaken.settle]}
        return {**own, **self.page.buttons}

    @property
    def query(self) -> OrderQuery:
        """What is to be looked for."""
        event_id = self.event_box.currentData()
        return OrderQuery(self.finder.text().strip(), None if event_id is None else EventId(int(event_id)))

    def offer_events(self) -> None:
        """Offer the events; the one that is open at the counter is chosen first."""
        offered = [(event.name, event.event_id) for event in self._store.events]
        now = [
            (self.event_box.itemText(place), self.event_box.itemData(place)) for place in range(self.event_box.count())
        ]
        if now[1:] == offered:
            return
        chosen = self.event_box.currentData() if now else None
        if not now and self._store.event is not None:
            chosen = self._store.event.event_id
        self._telling = True
        self.event_box.clear()
        self.event_box.addItem(_("Every event"), None)
        for name, event_id in offered:
            self.event_box.addItem(name, event_id)
        self.event_box.setCurrentIndex(max(self.event_box.findData(chosen), 0) if chosen is not None else 0)
        self._telling = False

    def show_all(self) -> None:
        """Show everything anew."""
        self._on_orders_changed(OrderPart.FOUND | OrderPart.DETAIL | OrderPart.RETURNS | OrderPart.UNTAKEN)

    def show_time(self) -> None:
        """How old the list is, while it cannot be read again."""
        if self.isVisible() and self._orders.trouble:
            self._show_trouble()

    def tell(self, words: Advice) -> None:
        """Say it where the person looks."""
        if self._orders.order_id is not None:
            self.page.tell(words)
        else:
            self.banner.tell(words.tone, words.title, words.detail)

    def focus_first(self) -> None:
        """Put the keyboard on the find field."""
        take_focus(self.finder, Qt.FocusReason.ShortcutFocusReason)
        self.finder.selectAll()

    def focus_list(self) -> None:
        """Put the keyboard on what was found, or on the find field when that is nothing."""
        if self.model.rowCount():
            take_focus(self.table)
        else:
            self.focus_first()

    def take_over(self, old: OrdersScreen) -> None:
        """Go on where the screen before stood."""
        self.offer_events()
        self._telling = True
        self.finder.setText(old.finder.text())
        self.event_box.setCurrentIndex(max(old.event_box.currentIndex(), 0))
        self._telling = False
        self.page.tabs.setCurrentIndex(old.page.tabs.currentIndex())
        old.let_go()

    def forget_person(self) -> None:
        """What was typed, and not looked for yet, is not looked for in the name of the next person.

        The events are offered when they enter: the one that is open then is chosen first.
        """
        self._typing.stop()
        self._telling = True
        self.finder.clear()
        self.event_box.clear()
        self._telling = False
        self.banner.clear()

    def let_go(self) -> None:
        """Hear nothing more of the orders: another screen is shown in this one's place."""
        self._unsubscribe()
        self._typing.stop()

    def _on_orders_changed(self, part: OrderPart) -> None:
        if OrderPart.FOUND in part:
            self._show_found()
        if part & (OrderPart.DETAIL | OrderPart.FOUND):
            self.page.show_order()
        if OrderPart.DETAIL in part:
            self._share()
        if OrderPart.RETURNS in part:
            self._show_returns()
        self.untaken.show_change(part)

    def _show_found(self) -> None:
        orders = self._orders
        if not orders.query.words and not self._typing.isActive() and orders.as_of is None and self.finder.text():
            self._telling = True
            self.finder.clear()  # somebody else works here now
            self._telling = False
        chosen = orders.order_id if orders.order_id is not None else self._current_key()
        self._telling = True
        try:
            self.model.show_rows([self._row(order) for order in orders.found])
            place = self.model.row_of(chosen)
            if orders.found:
                self.table.choose_row(max(place, 0))
        finally:
            self._telling = False
        count = ngettext("{count} order", "{count} orders", len(orders.found))
        words = count.format(count=figures().number(len(orders.found)))
        self._count.setText(figures().joined((words, _("there are more") if orders.next else "")))
        self._count.setVisible(bool(orders.found))
        self.more.setVisible(bool(orders.next))
        self._show_trouble()
        if orders.found:
            self._pages.setCurrentWidget(self.table)
            return
        self._empty.setText(self._empty_words())
        self._pages.setCurrentWidget(self._empty)

    def _show_returns(self) -> None:
        waiting = self._orders.returns
        if not waiting:
            self.returns.clear()
            return
        words = ngettext(
            "{count} order: money has to be given back at this till",
            "{count} orders: money has to be given back at this till",
            len(waiting),
        )
        numbers = figures().names([order.number for order in waiting])
        self.returns.tell("warn", words.format(count=figures().number(len(waiting))), numbers, _("Open the order"))

    def _on_returns_wanted(self) -> None:
        if self._orders.returns:
            self.order_opened.emit(self._orders.returns[0].order_id)

    def _show_trouble(self) -> None:
        orders = self._orders
        if not orders.trouble:
            self.banner.clear()
            return
        words = advice_for(orders.trouble)
        detail = words.detail
        if orders.as_of is not None:
            age = figures().age(age_between(orders.as_of, self._store.clock.now()))
            detail = _("What is listed is as of {age} ago.").format(age=age)
        self.banner.tell("warn", words.title, detail)

    def _empty_words(self) -> str:
        orders = self._orders
        if orders.as_of is None:
            if orders.trouble:
                return _("The list cannot be read now.")
            return _("Type the number of an order, a seat, the code of a ticket or the name of a buyer.")
        if not orders.query.words:
            return _("There are no orders yet.")
        if orders.query.event_id is None:
            return _("No order has this number or ticket code. For a seat or a buyer, choose the event first.")
        return _("No order has this number, ticket code, seat or buyer.")

    def _row(self, order: OrderSummary) -> CellRow:
        shown, zone = figures(), event_zone(self._store, order.event_id)
        seats = shown.joined((shown.number(len(order.seats)), shown.listed(order.seats))) if order.seats else ""
        return CellRow(
            order.order_id,
            (
                Cell(order.number),
                Cell(order_status(order.status)[0], order_token(order.status), order_mark(order.status)),
                Cell(shown.money(order.amount_minor, order.currency)),
                Cell(seats, "text_muted"),
                Cell(order.event_name, "text_muted"),
                Cell(order.buyer, "text_muted"),
                Cell(shown.date_time(order.created_at, zone), "text_muted"),
                Cell(shown.number(order.open_items) if order.open_items else "", "danger"),
            ),
        )

    def _share(self) -> None:
        is_open = self._orders.order_id is not None
        self._list.setVisible(not is_open or self.width() >= SIDE_BY_SIDE_PX)

    def _current_key(self) -> object:
        place = self.table.current_row
        keys = self.model.keys
        return keys[place] if 0 <= place < len(keys) else None

    @property
    def _orders(self) -> OrderDesk:
        return self._store.orders

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        self.finder.setPlaceholderText(_("Number, seat, ticket code or buyer  ( / )"))
        self.finder.setAccessibleName(_("Find orders"))
        self.finder.setClearButtonEnabled(True)
        self.finder.setAlignment(leading())
        self.finder.setMaxLength(80)
        self.event_box.setAccessibleName(_("Event"))
        self.event_box.setToolTip(_("Event"))
        self.event_box.setMinimumWidth(_EVENT_PX)
        self.event_box.setMaximumWidth(_EVENT_PX * 2)
        self.event_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.offer_events()
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Orders"))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        top = row(theme)
        top.addWidget(self.finder, 2)
        top.addWidget(self.event_box, 1)
        top.addWidget(self.search)
        foot = row(theme)
        foot.addWidget(self._count, 1)
        foot.addWidget(self.more)
        side = column(theme, gap="small", parent=self._list)
        side.addLayout(top)
        side.addWidget(self.untaken)
        side.addWidget(self.returns)
        side.addWidget(self.banner)
        side.addWidget(self._pages, 1)
        side.addLayout(foot)
        self._sides.addWidget(self._list)
        self._sides.addWidget(self.page)
        self._sides.setStretchFactor(0, 1)
        self._sides.setStretchFactor(1, 1)
        self._sides.setSizes([_LIST_SHARE, _ORDER_SHARE])
        page = column(theme, margin="medium", gap="small", parent=self)
        page.addWidget(self._sides, 1)

    def _connect(self) -> None:
        self.returns.action_requested.connect(self._on_returns_wanted)
        self.untaken.order_wanted.connect(self.order_opened)
        self.finder.textChanged.connect(self._on_find_changed)
        self.event_box.currentIndexChanged.connect(self._on_find_changed)
        self.finder.list_wanted.connect(self._on_list_wanted)
        self._typing.timeout.connect(self._on_typing_timeout)
        self.search.action_requested.connect(self._on_typing_timeout)
        self.more.action_requested.connect(self.more_requested)
        self.table.row_opened.connect(self._on_row_opened)
        self.table.row_chosen.connect(self._on_row_chosen)

    def _on_find_changed(self) -> None:
        if not self._telling:
            self._typing.start()

    def _on_typing_timeout(self) -> None:
        self._typing.stop()
        self.search_requested.emit(self.query)

    def _on_list_wanted(self) -> None:
        """Enter looks at once; the arrow goes to what is found."""
        if self._typing.isActive():
            self._on_typing_timeout()
        else:
            self.focus_list()

    def _on_row_opened(self, place: int) -> None:
        self.order_opened.emit(self.model.keys[place])

    def _on_row_chosen(self, place: int) -> None:
        if not self._telling and self._orders.order_id is not None:
            self.order_shown.emit(self.model.keys[place])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() == "/" or event.matches(QKeySequence.StandardKey.Find):
            self.focus_first()
            event.accept()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Esc and Ctrl+F mean this screen while the keyboard is in it, not the sale at the counter."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()
