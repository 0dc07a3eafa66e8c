"""The right side of the counter: one page for each thing that a sale can be, notices, and the parked payments."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.core.notices import newest_to_hear, oldest_to_answer
from app.core.sale import Sale, SaleId, SaleState
from app.core.session import Permission
from app.core.settlement import with_paid_out
from app.core.store import Connection, ConsoleStore, Notice, NoticeCode
from app.i18n import _, figures, ngettext
from app.screens import keys
from app.screens.notice_words import answer_words, notice_words
from app.screens.outcome_page import OutcomePage
from app.screens.parked_list import ParkedList
from app.screens.paying_page import PayingPage
from app.screens.returning_page import ReturningPage
from app.screens.sale_page import SalePage
from app.screens.unknown_page import UnknownPage
from app.screens.watch_page import WatchPage
from app.screens.words import Advice, role_name
from widgets.async_button import AsyncButton
from widgets.build import column, label
from widgets.countdown import Urgency
from widgets.focus import take_focus
from widgets.panel_scroll import PanelScroll
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_Place = tuple[SaleId | None, SaleState | None]
_TIMED = frozenset({SaleState.HELD, SaleState.DECLINED, SaleState.PAYING})
_PAGES = {
    SaleState.PAYING: "paying",
    SaleState.UNKNOWN: "unknown",
    SaleState.RETURNING: "returning",
    SaleState.PAID: "outcome",
    SaleState.PRINTING: "outcome",
    SaleState.DONE: "outcome",
    SaleState.EXPIRED: "outcome",
    SaleState.ABANDONED: "sale",
}
_SAID_BY_PAGE = frozenset(
    {
        NoticeCode.HOLD_EXPIRED,
        NoticeCode.PAYMENT_DECLINED,
        NoticeCode.PAYMENT_UNKNOWN,
        NoticeCode.PRINT_FAILED,
        NoticeCode.PRINT_UNKNOWN,
        NoticeCode.CARD_REVERSED,
        NoticeCode.CHARGE_TO_RETURN,
        NoticeCode.MONEY_TO_RETURN,
        NoticeCode.HANDED_OVER,
    }
)
"""The page of the sale says these."""
_ABOUT_OTHERS = frozenset(
    {
        NoticeCode.PARKED_SALE_PAID,
        NoticeCode.PARKED_SALE_FREE,
        NoticeCode.CARD_REVERSED,
        NoticeCode.CHARGE_TO_RETURN,
        NoticeCode.TERMINAL_DIFFERS,
        NoticeCode.LEFT_UNCHARGED,
        NoticeCode.LEFT_CHARGED,
        NoticeCode.HANDED_OVER,
        NoticeCode.MONEY_TO_RETURN,
        NoticeCode.CASH_NOT_NEEDED,
    }
)
"""These are said whatever sale is at the counter; all others belong to their own sale."""
STEP_BOUND = frozenset({NoticeCode.SALE_RESUMED, NoticeCode.SEATS_LOST, NoticeCode.PRICES_CHANGED})
"""Read once the next step is taken."""


class SalePanel(QFrame):
    """Shows what the store says of the sale; its pages carry the wishes."""

    parked_chosen = Signal(object)
    """The id of a parked sale."""
    notice_read = Signal(object)

    def __init__(self, theme: Theme, store: ConsoleStore, hold_warning_s: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self._theme = theme
        self._store = store
        self._hold_warning_s = hold_warning_s
        self._shown_state: SaleState | None = None
        self._notice: Notice | None = None
        self._owed: Notice | None = None
        self._refusal_at: _Place | None = None
        self._once_back: Advice | None = None
        self.sale_page = SalePage(theme, store)
        self.paying_page = PayingPage(theme, store.clock.now_here)
        self.unknown_page = UnknownPage(theme, store.clock.now_here)
        self.returning_page = ReturningPage(theme)
        self.outcome_page = OutcomePage(theme)
        self.watch_page = WatchPage(theme)
        self.banner = StatusBanner(theme)
        self.owed = StatusBanner(theme, button_below=True)
        """Money in the clerk's hand that is a buyer's."""
        self.parked = ParkedList(theme)
        self.parked_head = label(kind="caption", tone="muted")
        self._pages = QStackedWidget()
        self._build()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        gathered: dict[str, list[AsyncButton]] = {"stop": [self.paying_page.stop], "park": [self.paying_page.park]}
        for page in (self.sale_page, self.unknown_page, self.returning_page, self.outcome_page):
            for deed, button in page.buttons.items():
                gathered.setdefault(deed, []).append(button)
        gathered.setdefault("printed-seen", []).extend([self.outcome_page.came_out, self.outcome_page.print_anew])
        return gathered

    @property
    def may_sell(self) -> bool:
        """Whether the person signed in may sell."""
        return self._store.session is not None and self._store.session.may(Permission.SELL)

    def show_sale(self) -> None:
        """Show the sale, and put the keyboard on the next step when the state has changed."""
        sale = self._store.sale
        if not self.may_sell:
            session = self._store.session
            self.watch_page.show_role("" if session is None else role_name(session.role))
            self._pages.setCurrentWidget(self.watch_page)
            self.show_counts()
            return
        state = SaleState.PICKING if sale is None else sale.state
        self._show_page(sale, state)
        self.show_time()
        self.sale_page.show_decline(sale)
        if self._refusal_at is None or self._refusal_at != self._place():
            self.forget_refusal()
        if state is not self._shown_state:
            self._shown_state = state
            self.focus_next_step()

    def show_counts(self) -> None:
        """Counts for roles that watch."""
        if self._store.seat_map is not None and not self.may_sell:
            self.watch_page.show_counts(self._store.seat_map.counts())

    def show_progress(self) -> None:
        """What the terminal says now."""
        sale = self._store.sale
        if sale is not None and sale.state is SaleState.PAYING:
            self._show_paying(sale)
        elif sale is not None and sale.state is SaleState.RETURNING:
            self._show_returning(sale)

    def _show_returning(self, sale: Sale) -> None:
        store = self._store
        order = None if sale.order is None else with_paid_out(sale.order, store.paid_out)
        here = None if store.session is None else store.session.device_id
        about = None if order is None else order.order_id
        self.returning_page.show_sale(order, here, store.progress_of(about))

    def _show_paying(self, sale: Sale) -> None:
        store = self._store
        self.paying_page.show_sale(sale, store.progress_of(sale.sale_id), stop_wished=store.stop_wished)

    def show_time(self) -> None:
        """The time that the hold has left, by the server's clock."""
        sale, event = self._store.sale, self._store.event
        left = self._store.remaining_s
        if sale is not None and sale.state is SaleState.UNKNOWN:
            self.unknown_page.show_time()
        if sale is None or event is None or sale.state not in _TIMED:
            return
        countdown = self.sale_page.countdown
        if sale.state is SaleState.PAYING:
            countdown = self.paying_page.countdown
            self.paying_page.show_time()
        if left is None:
            countdown.show_time(_("Held"), "–:––", 1.0, Urgency.CALM)
            return
        urgency = Urgency.WARNING if left <= self._hold_warning_s else Urgency.CALM
        caption = _("Held for the buyer") if urgency is Urgency.CALM else _("The hold ends soon")
        share = min(left / event.hold_ttl_s, 1.0)
        countdown.show_time(caption, figures().duration(int(left)), share, urgency)

    def show_parked(self) -> None:
        """A button for each sale that was put aside."""
        self._show_parked_head()
        self.parked.show_sales(self._store.parked, "UTC" if self._store.event is None else self._store.event.zone)

    def _show_parked_head(self) -> None:
        """How many sales wait aside, and the key that brings the first one back."""
        count = len(self._store.parked)
        self.parked_head.setVisible(count > 0)
        words = ngettext(
            "{count} sale put aside: {key} opens it", "{count} sales put aside: {key} opens the next", count
        )
        self.parked_head.setText(words.format(count=count, key=keys.BACK.sequence))

    @property
    def parked_texts(self) -> list[str]:
        """What the buttons of the parked sales say."""
        return [button.accessibleName() for button in self.parked.buttons]

    def show_notices(self) -> None:
        """The newest notice that no page says already, until it is read. Money that a clerk holds in hand for a buyer
        stands above it, whatever was refused meanwhile, until it is given back.
        """
        unsaid = tuple(notice for notice in self._store.notices if self._is_unsaid(notice))
        self._owed = oldest_to_answer(unsaid)
        if self._owed is None:
            self.owed.clear()
            self._over.hide()
        else:
            words = notice_words(self._owed)
            self._over.show()
            self.owed.tell(words.tone, words.title, words.detail, answer_words(self._owed))
        if self._refusal_at is not None:
            return
        self._notice = newest_to_hear(unsaid)
        if self._notice is None:
            self.banner.clear()
            return
        words = notice_words(self._notice)
        self.banner.tell(words.tone, words.title, words.detail, _("Close"))
        self._scroll.show_part(self.banner)

    def tell(self, words: Advice, once_back: Advice | None = None) -> None:
        """Say something that is no notice of the store: a step that was refused. It is said at this step alone.

        `once_back` is said instead as soon as the booking system answers again.
        """
        self._notice = None
        self._once_back = once_back
        self._refusal_at = self._place()
        self.banner.tell(words.tone, words.title, words.detail, _("Close"))
        self._scroll.show_part(self.banner)

    def show_connection(self) -> None:
        """That the booking system does not answer is said no longer than it is so."""
        if self._once_back is not None and self._store.connection is Connection.ONLINE:
            self.tell(self._once_back)

    def forget_refusal(self) -> None:
        """The next step has begun, or the sale is another one: what was refused is read."""
        self._refusal_at = None
        self._once_back = None
        self.show_notices()

    def _place(self) -> _Place:
        sale = self._store.sale
        return (None, None) if sale is None else (sale.sale_id, sale.state)

    def _is_unsaid(self, notice: Notice) -> bool:
        if notice.code is NoticeCode.SESSION_ONLY:
            return False  # the status strip says it
        at_counter = None if self._store.sale is None else self._store.sale.sale_id
        if notice.sale_id is None or notice.sale_id == at_counter:
            return notice.code not in _SAID_BY_PAGE
        return notice.code in _ABOUT_OTHERS

    def _show_page(self, sale: Sale | None, state: SaleState) -> None:
        page = _PAGES.get(state, "sale")
        if sale is None or page == "sale":
            self.sale_page.show_sale(None if state is SaleState.ABANDONED else sale)
            self._pages.setCurrentWidget(self.sale_page)
        elif page == "paying":
            self._show_paying(sale)
            self._pages.setCurrentWidget(self.paying_page)
        elif page == "unknown":
            zone = "UTC" if self._store.event is None else self._store.event.zone
            self.unknown_page.show_sale(sale, zone, self._store.asks.get(sale.sale_id))
            self._pages.setCurrentWidget(self.unknown_page)
        elif page == "returning":
            self._show_returning(sale)
            self._pages.setCurrentWidget(self.returning_page)
        else:
            self.outcome_page.show_sale(sale)
            self._pages.setCurrentWidget(self.outcome_page)

    def focus_again(self) -> bool:
        """Back at the counter: as `focus_next_step`, but on nothing whose Enter says that money or tickets were given
        out, because whoever comes back may still be typing.
        """
        state, came_out = self._shown_state, self.outcome_page.came_out
        tells = state is SaleState.RETURNING or (
            state is not None and _PAGES.get(state) == "outcome" and not came_out.isHidden()
        )
        return not tells and self.focus_next_step()

    def focus_next_step(self) -> bool:
        """Put the keyboard on what comes next in the sale. Returns whether it is there: what is not in front takes it
        from nobody, and a sale that is being picked has its next step on the map.
        """
        state = self._shown_state
        if not self.may_sell or state is None:
            return False
        if state in {SaleState.HELD, SaleState.DECLINED}:
            return self.sale_page.focus_next_step()
        if state is SaleState.PAYING:
            return take_focus(self.paying_page)
        if state is SaleState.UNKNOWN:
            return take_focus(self.unknown_page.park)
        if state is SaleState.RETURNING:
            return self.returning_page.focus_next_step()
        if state in {SaleState.PAID, SaleState.DONE, SaleState.EXPIRED}:
            return self.outcome_page.focus_next_step()
        return False

    def _build(self) -> None:
        theme = self._theme
        pages = (
            self.sale_page, self.paying_page, self.unknown_page, self.returning_page, self.outcome_page,
            self.watch_page,
        )  # fmt: skip
        for page in pages:
            self._pages.addWidget(page)
        inside = QWidget()
        panel = column(theme, margin="large", gap="medium", parent=inside)
        panel.addWidget(self.parked_head)
        panel.addWidget(self.parked)
        self.parked.chosen.connect(self.parked_chosen)
        self.parked_head.hide()
        panel.addWidget(self.banner)
        panel.addWidget(self._pages, 1)
        around = column(theme, gap="", parent=self)
        beside = QWidget()
        over = column(theme, margin="large", gap="", parent=beside)
        over.setContentsMargins(
            over.contentsMargins().left(), over.contentsMargins().top(), over.contentsMargins().right(), 0
        )
        over.addWidget(self.owed)
        self._over = beside
        beside.hide()
        around.addWidget(beside)
        self._scroll = PanelScroll(inside, self._least_px)
        around.addWidget(self._scroll, 1)
        self.owed.action_requested.connect(self._on_owed_action_requested)
        self.banner.action_requested.connect(self._on_banner_action_requested)

    def _least_px(self, width: int) -> int:
        """What is above the page at its full height, and the page with its lines scrolled as far as can be."""
        edge, gap = self._theme.space("large"), self._theme.space("medium")
        page = self._pages.currentWidget()
        parts = [part for part in (self.parked_head, self.parked, self.banner) if not part.isHidden()]
        inner = width - 2 * edge
        heights = [
            part.heightForWidth(inner) if part.hasHeightForWidth() else part.sizeHint().height() for part in parts
        ]
        heights.append(0 if page is None else page.minimumSizeHint().height())
        return 2 * edge + sum(heights) + gap * len(parts)

    def _on_owed_action_requested(self) -> None:
        if self._owed is not None:
            self.notice_read.emit(self._owed)

    def _on_banner_action_requested(self) -> None:
        notice, self._notice = self._notice, None
        self.banner.clear()
        self.forget_refusal()
        if notice is not None:
            self.notice_read.emit(notice)
