"""What two acts of an item need to know beside words: what becomes of the seats, and which till gives the money."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from app.i18n import _, figures
from app.screens.words import advice_for
from backend_client.wire import DeviceId, RefundWay, Till
from widgets.async_button import AsyncButton
from widgets.build import column, label, row
from widgets.choice_box import ChoiceBox
from widgets.theme import Theme


class SeatsChoice(QWidget):
    """Whether the seats of an order that is taken back return to sale."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.to_sale = QRadioButton(_("The seats go back on sale"))
        self.blocked = QRadioButton(_("The seats stay blocked"))
        _line_of(theme, self, QButtonGroup(self), self.to_sale, self.blocked)
        for button in (self.to_sale, self.blocked):
            button.clicked.connect(self.changed)

    @property
    def seats_to_sale(self) -> bool:
        """What is chosen."""
        return self.to_sale.isChecked()

    def show_choice(self, *, seats_to_sale: bool) -> None:
        """Show what was chosen before."""
        (self.to_sale if seats_to_sale else self.blocked).setChecked(True)


class TillChoice(QWidget):
    """Which till gives money back, and how; a way that there is not is not shown."""

    changed = Signal()
    reload_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._telling = False
        self.tills = ChoiceBox(theme)
        self.reload = AsyncButton(_("Load again"))
        self.trouble = label(tone="warn", wrap=True)
        self.cash = QRadioButton(_("In cash, out of its drawer"))
        self.terminal = QRadioButton(_("To the card, at its terminal"))
        self._ways = QButtonGroup(self)
        self._build(theme)
        self.tills.activated.connect(self._on_chosen)
        self.reload.action_requested.connect(self.reload_requested)
        for button in (self.cash, self.terminal):
            button.clicked.connect(self._on_chosen)

    @property
    def device_id(self) -> DeviceId | None:
        """The till that is chosen."""
        chosen = self.tills.currentData()
        return chosen if self.tills.currentIndex() >= 0 else None

    @property
    def way(self) -> RefundWay | None:
        """How it gives the money."""
        if self.cash.isChecked():
            return RefundWay.CASH
        return RefundWay.SAME if self.terminal.isChecked() else None

    def show_tills(self, tills: tuple[Till, ...], own: DeviceId | None, trouble: str) -> None:
        """Show what tills there are, this one first; the chosen one stays chosen while it is there."""
        chosen = self.device_id
        self._telling = True
        try:
            self.tills.clear()
            for till in sorted(tills, key=lambda one: (one.device_id != own, one.name.casefold())):
                here = _("this till") if till.device_id == own else ""
                self.tills.add_choice(figures().joined((till.name, here, till.staff_name)), "", till.device_id)
            self.tills.setCurrentIndex(self._place_of(chosen))
        finally:
            self._telling = False
        words = advice_for(trouble).title if trouble else "" if tills else _("Nobody is signed in at any till.")
        self.trouble.setText(words)
        self.trouble.setVisible(bool(words))

    def show_choice(self, ways: tuple[RefundWay, ...], device_id: DeviceId | None, way: RefundWay | None) -> None:
        """Show what was chosen before, and the ways that there are."""
        self._telling = True
        try:
            self.tills.setCurrentIndex(self._place_of(device_id))
            self._ways.setExclusive(False)
            for button, mine in ((self.cash, RefundWay.CASH), (self.terminal, RefundWay.SAME)):
                button.setVisible(mine in ways)
                button.setChecked(mine is way)
            self._ways.setExclusive(True)
        finally:
            self._telling = False

    def _place_of(self, device_id: DeviceId | None) -> int:
        """Where a till stands; −1: nowhere. Qt compares ids by their object, and there are several of each."""
        places = (place for place in range(self.tills.count()) if self.tills.itemData(place) == device_id)
        return next(places, -1)

    def _build(self, theme: Theme) -> None:
        said = label(_("Which till gives it"))
        said.setBuddy(self.tills)
        self.tills.setAccessibleName(said.text())
        self.tills.setPlaceholderText(_("Choose a till"))
        self.reload.setAccessibleName(figures().spoken((self.reload.text(), said.text())))
        ways = QWidget()
        _line_of(theme, ways, self._ways, self.cash, self.terminal)
        which = row(theme)
        which.addWidget(self.tills, 1)
        which.addWidget(self.reload)
        page = column(theme, gap="small", parent=self)
        page.addWidget(said)
        page.addLayout(which)
        page.addWidget(self.trouble)
        page.addWidget(ways)

    def _on_chosen(self) -> None:
        if not self._telling:
            self.changed.emit()


def _line_of(theme: Theme, parent: QWidget, group: QButtonGroup, *buttons: QRadioButton) -> None:
    line = row(theme, gap="large", parent=parent)
    for button in buttons:
        button.setAccessibleName(button.text())
        group.addButton(button)
        line.addWidget(button)
    line.addStretch(1)
