"""The wishes of the orders' screen, bound: finding, opening, giving money back, making tickets void."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from PySide6.QtCore import QObject, QTimer, Signal

from app.actions.desk import Desk
from app.actions.find_orders import find_orders, follow_refund, load_order
from app.actions.pay_out import note_compared
from app.actions.pay_sale import CASH
from app.actions.refund_tickets import cancel_tickets, refund_tickets
from app.actions.return_money import ReturnDeclinedError, give_up_return, return_money, returns_of
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.errors import ConsoleError
from app.core.order_search import OrderDesk, OrderQuery, UntakenCash
from app.core.refund import has_pending_refund
from app.core.session import Permission
from app.devices.card_terminal import TerminalError
from app.i18n import _, figures
from app.screens.dialogs import AskDialog
from app.screens.main_window import MainWindow
from app.screens.orders_screen import OrdersScreen
from app.screens.refund_dialog import RefundDialog
from app.screens.refund_words import cancel_outcome, given_outcome, refund_outcome
from app.screens.trouble_words import decline_words
from app.screens.untaken_cash import compared_question
from app.screens.words import Advice, advice_for_error, return_words
from backend_client.errors import AnswerUnknownError, BookingClientError, NotSignedInError
from backend_client.wire import Order, OrderId, PaymentOperation, RefundAnswer, Role

ReturnAct = Callable[[Desk, Order, PaymentOperation], Awaitable[PaymentOperation]]
WALK_MS = 150
_OF_A_PERSON = ("find-orders", "more-orders", "load-order", "follow-refund", "refund", "cancel-tickets")


class OrderBindings(QObject):
    """Binds the orders of one window to one desk; stays when the screens are built anew."""

    items_wanted = Signal(str)

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._wanted = OrderQuery()
        self._dialog: RefundDialog | None = None
        self._refunds = True
        self._person: tuple[UUID, Role] | None = None
        self._walk = QTimer(self)
        self._walk.setSingleShot(True)
        self._walk.setInterval(WALK_MS)
        self._walk.timeout.connect(self._read_open_order)
        self.connect_screens()

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        screen = self._screen
        screen.search_requested.connect(self._on_search_requested)
        screen.more_requested.connect(self._on_more_requested)
        screen.order_opened.connect(self._on_order_opened)
        screen.order_shown.connect(self._on_order_shown)
        screen.page.closed.connect(self._on_order_closed)
        screen.page.reload_requested.connect(self._read_open_order)
        screen.page.refund_requested.connect(self._on_refund_requested)
        screen.page.cancel_requested.connect(self._on_cancel_requested)
        screen.page.give_requested.connect(self._on_give_requested)
        screen.page.give_up_requested.connect(self._on_give_up_requested)
        screen.page.items_wanted.connect(self.items_wanted)
        screen.untaken.compared.connect(self._on_compared)

    def show_session(self) -> None:
        """Somebody else works here, or nobody: what the one before was doing ends, their dialogs close."""
        session = self._desk.store.session
        self._screen.untaken.show_untaken()
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is None or before == self._person:
            return  # whoever has just come may have begun already
        for deed in _OF_A_PERSON:
            self._deeds.cancel(deed)
        self._walk.stop()

    def enter(self) -> None:
        """Show the orders, the newest when nothing was looked for yet."""
        self._window.screens.go_to(self._screen)
        self._screen.offer_events()
        if self._orders.as_of is None:
            self._on_search_requested(self._screen.query)

    def open(self, order_id: object) -> None:
        """Show one order, whatever is listed."""
        if isinstance(order_id, UUID):
            self._on_order_opened(OrderId(order_id))

    # ------------------------------------------------------------ finding

    def _on_search_requested(self, query: OrderQuery) -> None:
        self._wanted = query
        self._deeds.cancel("find-orders")
        self._deeds.cancel("more-orders")
        self._deeds.start("find-orders", self._find)

    async def _find(self) -> None:
        try:
            await find_orders(self._desk, self._wanted)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # told over the list

    def _on_more_requested(self) -> None:
        self._deeds.start("more-orders", self._more)

    async def _more(self) -> None:
        try:
            await find_orders(self._desk, self._orders.query, more=True)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # told over the list

    # ------------------------------------------------------------ one order

    def _on_order_opened(self, order_id: OrderId) -> None:
        self._show(order_id)
        self._read_open_order()
        self._screen.page.focus_first()

    def _on_order_shown(self, order_id: OrderId) -> None:
        self._show(order_id)
        self._walk.start()

    def _show(self, order_id: OrderId) -> None:
        if order_id != self._orders.order_id:
            self._screen.page.clear_outcome()
            self._deeds.cancel("follow-refund")
        self._orders.open(order_id)

    def _on_order_closed(self) -> None:
        self._walk.stop()
        self._deeds.cancel("load-order")
        self._deeds.cancel("follow-refund")
        self._orders.open(None)
        self._screen.focus_list()

    def _read_open_order(self) -> None:
        self._deeds.cancel("load-order")
        if self._orders.order_id is not None:
            self._deeds.start("load-order", self._load_order)

    async def _load_order(self) -> None:
        order_id = self._orders.order_id
        if order_id is None:
            return
        try:
            await load_order(self._desk, order_id)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # told with the order
        self._follow_if_pending()

    def _follow_if_pending(self) -> None:
        detail = self._orders.detail
        if detail is not None and has_pending_refund(detail.order):
            self._deeds.start("follow-refund", self._follow)

    async def _follow(self) -> None:
        if self._orders.order_id is not None:
            await follow_refund(self._desk, self._orders.order_id)

    # ------------------------------------------------------------ money back, tickets void

    def _on_refund_requested(self) -> None:
        if not self._deeds.start("refund", self._ask_refund):
            self._screen.page.refund.set_busy(False)

    def _on_cancel_requested(self) -> None:
        if not self._deeds.start("cancel-tickets", self._ask_cancel):
            self._screen.page.cancel.set_busy(False)

    async def _ask_refund(self) -> None:
        await self._ask(refund=True)

    async def _ask_cancel(self) -> None:
        await self._ask(refund=False)

    async def _ask(self, *, refund: bool) -> None:
        detail, session = self._orders.detail, self._desk.store.session
        if detail is None or session is None or self._dialog is not None:
            return
        may_exceed = session.may(Permission.RECONCILE)
        dialog = RefundDialog(self._window.theme, detail, self._window, refund=refund, may_exceed=may_exceed)
        dialog.sent.connect(self._on_dialog_sent)
        self._dialog, self._refunds = dialog, refund
        try:
            await ask(dialog)
        finally:
            self._dialog = None

    def _on_dialog_sent(self) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        if self._deeds.start("send-refund", self._send):
            dialog.set_busy(True)
        else:
            dialog.set_busy(False)

    async def _send(self) -> None:
        """Send what is chosen; the dialog stays open, and says why, when it was not done."""
        dialog = self._dialog
        if dialog is None:
            return
        refund, detail, choice, person = self._refunds, dialog.detail, dialog.choice, self._person
        try:
            answer = await (refund_tickets if refund else cancel_tickets)(self._desk, detail, choice)
        except NotSignedInError:
            raise
        except (BookingClientError, ConsoleError) as error:
            if person == self._person:
                self._tell_refused(dialog, error)
            return
        if person == self._person:
            self._tell_done(dialog, answer, refund=refund)

    def _tell_refused(self, dialog: RefundDialog, error: BookingClientError | ConsoleError) -> None:
        """In the dialog while it is there. An unknown answer is told so: the same again is done once."""
        words = advice_for_error(error)
        if self._dialog is not dialog:
            self._tell(dialog.detail.order.order_id, words)
            return
        dialog.set_busy(False)
        detail = self._orders.detail
        if detail is not None and not isinstance(error, AnswerUnknownError):
            dialog.show_order(detail)
        dialog.tell(words)

    def _tell_done(self, dialog: RefundDialog, answer: RefundAnswer, *, refund: bool) -> None:
        if self._dialog is dialog:
            dialog.set_busy(False)
            dialog.accept()
        if self._desk.store.session is None:
            return
        self._tell(answer.order.order_id, refund_outcome(answer) if refund else cancel_outcome(answer))
        self._give_own(answer)
        self._follow_if_pending()

    def _give_own(self, answer: RefundAnswer) -> None:
        """The clerk has just said so: the terminal is next. Only for what this refund opened, and never for cash.

        What else of the order waits here, a clerk must do or say by its own button.
        """
        own = {one.operation_id for one in answer.refunds if one.provider != CASH}
        mine = next((one for one in returns_of(self._desk, answer.order) if one.operation_id in own), None)
        if mine is not None:
            self._give_back(answer.order, mine)

    # ------------------------------------------------------------ at this till

    def _on_give_requested(self) -> None:
        """What the button names, and nothing else: for cash the word itself is the deed."""
        detail, offered = self._orders.detail, self._screen.page.offered
        if detail is None or offered is None or not self._give_back(detail.order, offered):
            self._screen.page.give.set_busy(False)

    def _give_back(self, order: Order, operation: PaymentOperation) -> bool:
        async def deed() -> None:
            await self._return(return_money, order, operation)

        return self._deeds.start("return-money", deed)

    def _on_give_up_requested(self) -> None:
        detail, offered = self._orders.detail, self._screen.page.offered
        if detail is None or offered is None or not self._give_up(detail.order, offered):
            self._screen.page.give_up.set_busy(False)

    def _give_up(self, order: Order, operation: PaymentOperation) -> bool:
        async def deed() -> None:
            await self._return(give_up_return, order, operation)

        return self._deeds.start("give-up-return", deed)

    async def _return(self, act: ReturnAct, order: Order, operation: PaymentOperation) -> None:
        """Have the terminal give it back, say that it was paid out, or leave it to a supervisor; tell how it went."""
        try:
            done = await act(self._desk, order, operation)
        except NotSignedInError:
            raise
        except ReturnDeclinedError as error:
            words = Advice(_("The money was not given back"), decline_words(error.decline_code), "danger")
            self._tell(order.order_id, words)
        except (BookingClientError, ConsoleError, TerminalError) as error:
            self._tell(order.order_id, return_words(error))
        else:
            self._tell(order.order_id, given_outcome(done))
        self._read_open_order()

    def _on_compared(self, untaken: UntakenCash) -> None:
        async def deed() -> None:
            words = compared_question(untaken)
            dialog = AskDialog(self._window.theme, words, _("It is compared"), _("Not yet"), self._window)
            if await ask(dialog):
                await note_compared(self._desk, untaken.operation_id)

        if not self._deeds.start("cash-compared", deed):
            self._screen.untaken.settle.set_busy(False)

    def _tell(self, order_id: OrderId, words: Advice) -> None:
        """Say it with the order, or over the list and with its number when another one is open by now."""
        if self._orders.order_id == order_id:
            self._screen.page.tell(words)
            return
        numbers = [order.number for order in self._orders.found if order.order_id == order_id]
        self._screen.banner.tell(words.tone, figures().joined((*numbers, words.title)), words.detail)

    @property
    def _screen(self) -> OrdersScreen:
        return self._window.screens.orders

    @property
    def _orders(self) -> OrderDesk:
        return self._desk.store.orders
