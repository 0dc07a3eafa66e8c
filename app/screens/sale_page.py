"""The sale while seats are picked, held and paid for: lines, total, and what can be done now."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.sale import Sale, SaleState
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.screens import keys
from app.screens.key_list import keys_grid
from app.screens.part_words import paid_parts_words
from app.screens.seat_words import line_faces
from app.screens.trouble_words import decline_title, decline_words
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.countdown import Countdown
from widgets.focus import take_focus
from widgets.sale_line import SaleLine, SaleLineFace
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.twice_button import TwiceButton

_DENSE_FROM = 5
"""So many seats are shown in denser lines."""


class SalePage(QWidget):
    """Shown in PICKING, HOLDING, HELD and DECLINED."""

    hold_requested = Signal()
    release_requested = Signal()
    exact_cash_requested = Signal()
    cash_requested = Signal()
    card_requested = Signal()
    part_requested = Signal()
    leave_requested = Signal()
    """The buyer leaves although parts are paid: the money goes back."""
    price_type_chosen = Signal(int, int)
    drop_requested = Signal(int)

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._lines: list[SaleLine] = []
        self._dense = False
        self.countdown = Countdown(theme)
        self.decline = StatusBanner(theme)
        self._empty = QWidget()
        self._with_seats = QWidget()
        self._without_seats = label(tone="muted", wrap=True)
        self._total_caption = label(_("Total"), kind="lead")
        self.total = label(kind="display")
        self.total.setAccessibleName(_("Total"))
        self.hold = AsyncButton(role="primary")
        self.card = AsyncButton(_("Card"), role="primary")
        self.exact_cash = AsyncButton(_("Exact cash"))
        self.cash = AsyncButton(_("Cash with change"))
        self.part = AsyncButton(_("Pay a part…"))
        self.release = TwiceButton(_("Release the seats"), _("Press again to release the seats"), role="quiet")
        self.parts = label(wrap=True)
        self._lines_box = QVBoxLayout()
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {
            "hold": self.hold, "card": self.card, "exact-cash": self.exact_cash, "cash": self.cash,
            "release": self.release, "part": self.part,
        }  # fmt: skip

    @property
    def lines(self) -> tuple[SaleLine, ...]:
        """The seats of the sale, in the order of picking."""
        return tuple(self._lines)

    def show_sale(self, sale: Sale | None) -> None:
        """Show the sale; None and an empty one ask for seats."""
        picked = () if sale is None else sale.picks
        state = SaleState.PICKING if sale is None else sale.state
        held = state in {SaleState.HELD, SaleState.DECLINED}
        self.release.set_about(None if sale is None else sale.sale_id)
        self._show_lines(sale)
        self._empty.setVisible(not picked)
        plan = self._store.plan
        seats = plan is None or bool(plan.rows)
        self._with_seats.setVisible(seats)
        self._without_seats.setVisible(not seats)
        currency = self._currency(sale)
        self.total.setText(figures().money(0 if sale is None else sale.left_minor, currency) if currency else "")
        self._show_parts(sale)
        self._total_caption.setVisible(bool(picked))
        self.total.setVisible(bool(picked))
        self._keep_places(bool(picked))
        self.hold.setVisible(not held)
        self.hold.setEnabled(bool(picked))
        self.hold.set_label(_hold_words(sale))
        for button in (self.card, self.exact_cash, self.cash, self.part):
            button.setVisible(held)
        self.release.setVisible(held or (state is SaleState.HOLDING and not self.hold.busy))
        self.countdown.setVisible(held)

    def _show_parts(self, sale: Sale | None) -> None:
        """What parts have paid; then the figure is what is left, and releasing the seats gives money back."""
        paid = sale is not None and sale.paid_minor > 0
        self._total_caption.setText(_("Left to pay") if paid else _("Total"))
        self.total.setAccessibleName(self._total_caption.text())
        self.parts.setText(paid_parts_words(sale) if sale is not None and paid else "")
        self.parts.setVisible(paid)
        if paid:
            self.release.set_words(_("The buyer leaves: give the money back"), _("Press again: the money goes back"))
        else:
            self.release.set_words(_("Release the seats"), _("Press again to release the seats"))

    def show_decline(self, sale: Sale | None) -> None:
        """Say why the last card payment came to nothing, as long as the seats are held."""
        if sale is None or not sale.payable or not sale.decline_code:
            self.decline.clear()
            return
        detail = _("{why} The seats are still held: try again, another card, or cash.")
        code = sale.decline_code
        self.decline.tell("warn", decline_title(code), detail.format(why=decline_words(code)))

    def ask_by_key(self) -> None:
        """Escape was pressed once; the keyboard stays where it is."""
        is_paid = not self.parts.isHidden()
        words = _("Press Esc again: the money goes back") if is_paid else _("Press Esc again to release the seats")
        self.release.ask(words)

    def _keep_places(self, keep: bool) -> None:  # said by what it does
        """Once a seat is picked every button has a place of its own, so that none comes up under a double click."""
        for button in (self.card, self.exact_cash, self.cash, self.part, self.release):
            policy = button.sizePolicy()
            if policy.retainSizeWhenHidden() is not keep:
                policy.setRetainSizeWhenHidden(keep)
                button.setSizePolicy(policy)

    def focus_prices(self) -> None:
        """Put the keyboard on the first price type."""
        for line in self._lines:
            if line.types.isEnabled():
                take_focus(line.types, Qt.FocusReason.ShortcutFocusReason)
                return

    def focus_next_step(self) -> bool:
        """Put the keyboard on what comes next. Returns whether it can be seen."""
        return take_focus(self.card)

    def _currency(self, sale: Sale | None) -> str:
        if sale is not None:
            return sale.currency
        return "" if self._store.event is None else self._store.event.currency

    def _show_lines(self, sale: Sale | None) -> None:
        faces = line_faces(sale, self._store)
        self._dense = len(faces) >= _DENSE_FROM
        if [face.seat_no for face in faces] == [line.seat_no for line in self._lines]:
            for line, face in zip(self._lines, faces, strict=True):
                line.set_dense(self._dense)
                line.show_face(face)
            return
        kept = {line.seat_no: line for line in self._lines}
        self._lines = []
        for place, face in enumerate(faces):
            line = kept.pop(face.seat_no) if face.seat_no in kept else self._new_line(face)
            line.set_dense(self._dense)
            line.show_face(face)
            self._lines_box.removeWidget(line)
            self._lines_box.insertWidget(place, line)
            self._lines.append(line)
        for line in kept.values():
            self._lines_box.removeWidget(line)
            line.hide()
            line.deleteLater()

    def _new_line(self, face: SaleLineFace) -> SaleLine:
        line = SaleLine(self._theme, face)
        line.price_type_chosen.connect(self.price_type_chosen)
        line.drop_requested.connect(self.drop_requested)
        return line

    def _build(self) -> None:
        theme = self._theme
        for button, key in (
            (self.hold, keys.HOLD), (self.card, keys.CARD), (self.exact_cash, keys.EXACT_CASH),
            (self.cash, keys.CASH), (self.release, keys.STOP), (self.part, keys.PART),
        ):  # fmt: skip
            button.set_key_hint(key.sequence)
        for button in (self.hold, self.card):
            button.setMinimumHeight(theme.sizes["touch"])
        for button in (self.card, self.exact_cash, self.cash, self.part):
            button.set_calm()
        self._build_empty()
        content = QWidget()
        inside = column(theme, gap="small", parent=content)
        inside.addWidget(self.decline)
        inside.addWidget(self._empty)
        inside.addLayout(self._lines_box)
        inside.addWidget(self.parts)
        inside.addStretch(1)
        self._lines_box.setSpacing(0)
        total = row(theme)
        total.addWidget(self._total_caption, 0, Qt.AlignmentFlag.AlignBottom)
        total.addStretch(1)
        total.addWidget(self.total, 0, Qt.AlignmentFlag.AlignBottom)
        rule = frame("bar")
        rule.setFixedHeight(1)
        cash = row(theme)
        cash.addWidget(self.exact_cash, 1)
        cash.addWidget(self.cash, 1)
        slot = QWidget()
        slot.setFixedHeight(theme.sizes["touch"])
        in_slot = column(theme, gap="", parent=slot)
        in_slot.addWidget(self.hold)
        in_slot.addWidget(self.countdown, 0, Qt.AlignmentFlag.AlignVCenter)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(scrolling(content), 1)
        page.addWidget(rule)
        page.addLayout(total)
        page.addWidget(slot)
        page.addWidget(self.card)
        page.addLayout(cash)
        page.addWidget(self.part)
        page.addWidget(self.release)
        self.parts.hide()

    def _build_empty(self) -> None:
        """What a clerk reads before the first seat is picked."""
        theme = self._theme
        first = column(theme, gap="small", parent=self._empty)
        first.addWidget(label(_("New sale"), kind="title"))
        words = _("Click an area on the map, or press {key} there and choose. All places are without numbers.")
        self._without_seats.setText(words.format(key=keys.PLACES.sequence))
        first.addWidget(self._without_seats)
        first.addWidget(self._with_seats)
        inside = column(theme, gap="small", parent=self._with_seats)
        inside.addWidget(
            label(_("Click seats on the map, or move with the arrow keys and press Enter."), tone="muted", wrap=True)
        )
        inside.addSpacing(theme.space("small"))
        inside.addLayout(keys_grid(theme, keys.AT_A_NEW_SALE, tone="muted", wrap=True))

    def _connect(self) -> None:
        self.hold.action_requested.connect(self.hold_requested)
        self.release.meant.connect(self._on_release_meant)
        self.part.action_requested.connect(self.part_requested)
        self.card.action_requested.connect(self.card_requested)
        self.exact_cash.action_requested.connect(self.exact_cash_requested)
        self.cash.action_requested.connect(self.cash_requested)

    def _on_release_meant(self) -> None:
        sale = self._store.sale
        if sale is not None and sale.paid_minor:
            self.leave_requested.emit()
        else:
            self.release_requested.emit()


def _hold_words(sale: Sale | None) -> str:
    count = 0 if sale is None else len(sale.picks)
    if sale is None or not count:
        return _("Hold")
    if not sale.seats:
        return ngettext("Hold {count} place", "Hold {count} places", count).format(count=count)
    if not sale.place_picks:
        return ngettext("Hold {count} seat", "Hold {count} seats", count).format(count=count)
    return ngettext("Hold {count} seat or place", "Hold {count} seats and places", count).format(count=count)
