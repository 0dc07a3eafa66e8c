"""Which tickets' money goes back, by which way, what becomes of the seats, and why; or which tickets become void.

The dialog stays until the booking system has answered: a refusal is read here, and what was chosen is not lost.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from app.core.refund import (
    RefundChoice,
    RefundFault,
    cancellable_tickets,
    chosen_minor,
    is_reason,
    needs_second_person,
    refund_faults,
    refundable_tickets,
)
from app.i18n import _, figures, ngettext
from app.models.place_words import seat_name
from app.screens.order_words import ticket_status
from app.screens.refund_words import charge_line, fault_words, limit_words, why_not_refundable
from app.screens.words import Advice
from backend_client.wire import OperationKind, RefundableOrder, RefundableTicket, RefundWay, TicketId, TicketStatus
from widgets.answer_dialog import AnswerDialog
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling, text_field
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.tick_box import TickBox

_WIDTH_PX = 600
_LIST_PX = 190
_AROUND_PX = 240
"""Title, a refusal, the sum and the buttons: what stays while the middle of a small window scrolls."""
_LEAST_PX = 160


class RefundDialog(AnswerDialog):
    """`refund` False makes tickets void without money. `sent` when the person has decided; `choice` is what.

    Enter outside of a button sends nothing.
    """

    sent = Signal()

    def __init__(
        self, theme: Theme, detail: RefundableOrder, parent: QWidget, *, refund: bool, may_exceed: bool
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._refund = refund
        self._may_exceed = may_exceed
        self.detail = detail
        self._choice = RefundChoice(seats_to_sale=True)
        self._room_px = parent.height()
        self.tickets: list[_TicketBox] = []
        self.all_button = QPushButton(_("All"))
        self.none_button = QPushButton(_("None"))
        self.same = QRadioButton(self._same_words())
        self.cash = QRadioButton(_("In cash, out of the drawer"))
        self.to_sale = QRadioButton(_("The seats go back on sale"))
        self.blocked = QRadioButton(_("The seats stay blocked"))
        self.reason = text_field()
        self.total = label(kind="display")
        self.limit = label(tone="muted", wrap=True)
        self.fault = label(tone="danger", wrap=True)
        self.banner = StatusBanner(theme)
        self.send = AsyncButton("", "danger" if not refund else "primary")
        self.cancel = QPushButton(_("Cancel"))
        self._ways, self._seats = QButtonGroup(self), QButtonGroup(self)
        self._build()
        self._connect()
        self._show_choice()
        first = next((box for box in self.tickets if box.isEnabled()), None)
        take_focus(self.reason if first is None else first)

    @property
    def choice(self) -> RefundChoice:
        """What is chosen now."""
        return self._choice

    def show_order(self, detail: RefundableOrder) -> None:
        """The order is another by now: what can still be chosen stays chosen."""
        self.detail = detail
        known = {one.ticket.ticket_id: one for one in detail.tickets}
        for box in self.tickets:
            one = known.get(box.ticket_id)
            if one is not None:
                box.tell(self._words(one), can_be_chosen=self._can_choose(one))
        allowed = {box.ticket_id for box in self.tickets if box.isEnabled()}
        self._choice = replace(self._choice, tickets=self._choice.tickets & allowed)
        self._show_choice()

    def tell(self, words: Advice) -> None:
        """Say why it did not work; everything stays as it was chosen."""
        self.banner.tell(words.tone, words.title, words.detail)

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """The answer is waited for: nothing may change meanwhile, and the dialog stays."""
        self.send.set_busy(busy)
        for part in (
            *self.tickets,
            self.all_button,
            self.none_button,
            self.same,
            self.cash,
            self.to_sale,
            self.blocked,
        ):
            part.setEnabled(not busy and (not isinstance(part, _TicketBox) or part.can_be_chosen))
        self.reason.setReadOnly(busy)
        self.cancel.setEnabled(not busy)
        if not busy:
            self._show_choice()

    # ------------------------------------------------------------ what is shown

    def _show_choice(self) -> None:
        choice, detail = self._choice, self.detail
        for box in self.tickets:
            box.setChecked(box.ticket_id in choice.tickets)
        amount = chosen_minor(detail, choice)
        count = len(choice.tickets)
        money = figures().money(amount, detail.order.currency)
        tickets = ngettext("{count} ticket", "{count} tickets", count).format(count=figures().number(count))
        self.total.setText(money if self._refund else tickets)
        self.total.setAccessibleName(figures().spoken((tickets, money) if self._refund else (tickets,)))
        words = (
            _("Give {amount} back").format(amount=money)
            if self._refund
            else _("Make {tickets} void").format(tickets=tickets)
        )
        self.send.set_label(words)
        exceeds = self._refund and needs_second_person(detail, amount)
        self.limit.setText(
            limit_words(detail) if self._refund else _("No money goes back: giving money back is another act.")
        )
        self.limit.setVisible(bool(self.limit.text()))
        self.limit.setProperty("tone", "warn" if exceeds else "muted")
        self.limit.style().unpolish(self.limit)
        self.limit.style().polish(self.limit)
        faults = self._faults()
        stops = bool(faults) or (exceeds and not self._may_exceed)
        if not self.send.busy:
            self.send.setEnabled(not stops)
        told = [fault for fault in faults if fault is RefundFault.TOO_MUCH]
        self.fault.setText("\n".join(fault_words(fault) for fault in told))
        self.fault.setVisible(bool(told))
        self.send.setToolTip("\n".join(fault_words(fault) for fault in faults))

    def _faults(self) -> tuple[RefundFault, ...]:
        if self._refund:
            return refund_faults(self.detail, self._choice)
        found = [] if self._choice.tickets else [RefundFault.NO_TICKETS]
        return tuple(found if is_reason(self._choice.reason) else [*found, RefundFault.NO_REASON])

    def _can_choose(self, one: RefundableTicket) -> bool:
        if self._refund:
            return not one.why_not
        return one.ticket in cancellable_tickets(self.detail)

    def _words(self, one: RefundableTicket) -> str:
        ticket = one.ticket
        money = figures().money(ticket.amount_minor, ticket.currency)
        why = why_not_refundable(one.why_not) if self._refund else ""
        status = "" if ticket.status is TicketStatus.ISSUED else ticket_status(ticket.status)[0]
        return figures().joined((seat_name(ticket.seat), ticket.price_type_name, money, why or status))

    def _same_words(self) -> str:
        kinds = {charge.kind for charge in self.detail.charges}
        if self._all_in_cash:
            return _("In cash, as it was paid")
        return _("Back to where it came from") if OperationKind.CASH in kinds else _("Back to the card")

    @property
    def _all_in_cash(self) -> bool:
        return {charge.kind for charge in self.detail.charges} == {OperationKind.CASH}

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme, order = self._theme, self.detail.order
        title = _("Give money back: order {number}") if self._refund else _("Make tickets void: order {number}")
        self.setWindowTitle(title.format(number=order.number))
        self.setAccessibleName(self.windowTitle())
        page = column(theme, margin="wide", gap="small", parent=self)
        page.addWidget(label(self.windowTitle(), kind="title", wrap=True))
        page.addWidget(self.banner)
        inner = QWidget()
        inside = column(theme, gap="small", parent=inner)
        head = row(theme)
        head.addWidget(label(_("Tickets"), kind="lead"), 1)
        for button in (self.all_button, self.none_button):
            button.setProperty("role", "quiet")
            button.setAccessibleName(figures().spoken((button.text(), _("Tickets"))))
            head.addWidget(button)
        inside.addLayout(head)
        inside.addWidget(self._ticket_list())
        if self._refund:
            for charge in self.detail.charges:
                inside.addWidget(label(charge_line(charge, order.currency), kind="caption", tone="muted", wrap=True))
            inside.addLayout(self._pair(self._ways, self.same, self.cash))
            self.cash.setVisible(not self._all_in_cash)  # it would be the same drawer under another name
        inside.addLayout(self._pair(self._seats, self.to_sale, self.blocked))
        said = label(_("Reason"))
        said.setBuddy(self.reason)
        self.reason.setAccessibleName(_("Reason"))
        self.reason.setPlaceholderText(_("Why, for whoever reads the audit"))
        self.reason.setMaxLength(200)
        for part in (said, self.reason, self.limit, self.fault):
            inside.addWidget(part)
        area = scrolling(inner)
        needed = inner.sizeHint().height() + 2 * theme.space("large")
        self._area = area
        area.setMinimumHeight(min(needed, max(self._room_px - _AROUND_PX, _LEAST_PX)))
        page.addWidget(area, 1)
        page.addLayout(self._end_row())
        self.setMinimumWidth(_WIDTH_PX)

    def _end_row(self) -> QHBoxLayout:
        end = row(self._theme)
        end.addWidget(self.total, 1)
        end.addWidget(self.cancel)
        end.addWidget(self.send)
        self.cancel.setAccessibleName(self.cancel.text())
        for button in (self.cancel, self.send):
            button.setMinimumHeight(self._theme.sizes["touch"])
        return end

    def _ticket_list(self) -> QWidget:
        card = frame("card")
        inner = QWidget()
        inside = column(self._theme, gap="tight", parent=inner)
        for one in self.detail.tickets:
            box = _TicketBox(self._theme, one.ticket.ticket_id)
            box.tell(self._words(one), can_be_chosen=self._can_choose(one))
            box.chosen.connect(self._on_ticket_chosen)
            inside.addWidget(box)
            self.tickets.append(box)
        inside.addStretch(1)
        outer = column(self._theme, margin="small", parent=card)
        area = scrolling(inner)
        outer.addWidget(area)
        needed = inner.sizeHint().height() + 2 * self._theme.space("small") + 4
        card.setFixedHeight(min(_LIST_PX, needed))
        return card

    def _pair(self, group: QButtonGroup, first: QRadioButton, second: QRadioButton) -> QHBoxLayout:
        line = row(self._theme, gap="large")
        for button in (first, second):
            button.setAccessibleName(button.text())
            group.addButton(button)
            line.addWidget(button)
        line.addStretch(1)
        first.setChecked(True)
        return line

    def _connect(self) -> None:
        self.all_button.clicked.connect(self._on_all_clicked)
        self.none_button.clicked.connect(self._on_none_clicked)
        self._ways.buttonClicked.connect(self._on_way_clicked)
        self._seats.buttonClicked.connect(self._on_seats_clicked)
        self.reason.textChanged.connect(self._on_reason_changed)
        self.reason.returnPressed.connect(self._on_return_pressed)
        self.send.action_requested.connect(self.sent)
        self.cancel.clicked.connect(self.reject)

    def _on_ticket_chosen(self, ticket_id: TicketId, chosen: bool) -> None:  # the signal carries what was chosen
        self._choice = self._choice.with_ticket(ticket_id, chosen)
        self._show_choice()

    def _on_all_clicked(self) -> None:
        offered = (
            {one.ticket.ticket_id for one in refundable_tickets(self.detail)}
            if self._refund
            else {ticket.ticket_id for ticket in cancellable_tickets(self.detail)}
        )
        self._choice = replace(self._choice, tickets=frozenset(offered))
        self._show_choice()

    def _on_none_clicked(self) -> None:
        self._choice = replace(self._choice, tickets=frozenset())
        self._show_choice()

    def _on_way_clicked(self) -> None:
        self._choice = replace(self._choice, way=RefundWay.CASH if self.cash.isChecked() else RefundWay.SAME)
        self._show_choice()

    def _on_seats_clicked(self) -> None:
        self._choice = replace(self._choice, seats_to_sale=self.to_sale.isChecked())

    def _on_reason_changed(self, text: str) -> None:
        self._choice = replace(self._choice, reason=text)
        self._show_choice()

    def _on_return_pressed(self) -> None:
        """Enter in the reason goes on to the button, and never sends by itself."""
        if self.send.isEnabled():
            take_focus(self.send, Qt.FocusReason.TabFocusReason)

    def reject(self) -> None:
        """Close, unless the answer is being waited for: somebody must read it."""
        if not self.send.busy:
            super().reject()

    def focusNextPrevChild(self, forward: bool) -> bool:  # Qt's own signature
        """Tab shows the whole of what it goes to."""
        moved = super().focusNextPrevChild(forward)
        focused = QApplication.focusWidget()
        if focused is not None and self._area.isAncestorOf(focused):
            self._area.ensureWidgetVisible(focused)
        return moved


class _TicketBox(TickBox):
    """A ticket that can be chosen, or why it cannot."""

    chosen = Signal(object, bool)

    def __init__(self, theme: Theme, ticket_id: TicketId) -> None:
        super().__init__(theme, "")
        self.ticket_id = ticket_id
        self.can_be_chosen = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._on_clicked)

    def tell(self, words: str, *, can_be_chosen: bool) -> None:
        """How the ticket stands."""
        self.can_be_chosen = can_be_chosen
        self.setEnabled(can_be_chosen)
        self.setText(words)
        self.setToolTip(words)
        self.setAccessibleName(words)

    def _on_clicked(self, chosen: bool) -> None:  # the signal carries what was chosen
        self.chosen.emit(self.ticket_id, chosen)
