"""How a sale ended: paid and printing, done with change, or over without tickets."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.sale import Sale, SaleState
from app.i18n import _, figures, ngettext
from app.screens import keys
from app.screens.notice_words import end_words
from app.screens.part_words import all_parts_words
from app.screens.trouble_words import print_trouble_words
from backend_client.wire import PrintJobStatus
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling, set_tone
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme


class OutcomePage(QWidget):
    """Shown in PAID, PRINTING, DONE, EXPIRED and ABANDONED."""

    print_requested = Signal()
    next_requested = Signal()
    park_requested = Signal()
    """The tickets are printed later; the sale stays in sight."""
    path_wanted = Signal(str)
    """The tickets' file, or the folder that it lies in, is to be shown by the desktop."""
    printed_seen = Signal(bool)
    """The clerk looked at the printer: the tickets of an unclear print job came out, or did not."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = label(kind="title", wrap=True)
        self.banner = StatusBanner(theme)
        self._number_caption = label(_("Order"), kind="caption", tone="muted")
        self.number = label(kind="title")
        self._change_caption = label(_("Change for the buyer"), kind="lead")
        self.change = label(kind="figure")
        self._paid = label(tone="muted", wrap=True)
        self.printing = label(kind="lead", wrap=True)
        self._location = ""
        self.open_file = QPushButton(_("Open the PDF"))
        self.open_folder = QPushButton(_("Show the folder"))
        self._files = QWidget()
        self.print_again = AsyncButton(_("Print the tickets"), role="primary")
        self.came_out = AsyncButton(_("The tickets came out"))
        self.print_anew = AsyncButton(_("Nothing came out: print again"))
        self.next = AsyncButton(_("Next customer"), role="primary")
        self.later = AsyncButton(_("Print later, serve the next one"))
        self._change_card = frame("sunken")
        self._build(theme)
        self._connect()

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"print": self.print_again, "finish": self.next, "park": self.later}

    def show_sale(self, sale: Sale) -> None:
        """Show the outcome."""
        if sale.state in {SaleState.EXPIRED, SaleState.ABANDONED}:
            self._show_end(sale)
        else:
            self._show_paid(sale)
        self._show_buttons(sale)

    def focus_next_step(self) -> bool:
        """Put the keyboard on what comes next. Returns whether it can be seen."""
        for button in (self.came_out, self.print_again, self.next):
            if not button.isHidden() and button.isEnabled():
                return take_focus(button)
        return False

    def _show_end(self, sale: Sale) -> None:
        words = end_words(sale.end_reason)
        self.title.setText(_("No tickets were sold"))
        set_tone(self.title, "")
        self.banner.tell(words.tone, words.title, words.detail)
        for part in (self.number, self._number_caption, self._change_card, self._paid, self.printing, self._files):
            part.hide()

    def _show_paid(self, sale: Sale) -> None:
        self.title.setText("✓ " + _("Paid"))
        set_tone(self.title, "success")
        self.number.setText("" if sale.order is None else sale.order.number)
        self.number.setAccessibleName(_("Order {number}").format(number=self.number.text()))
        for part in (self.number, self._number_caption, self._paid, self.printing):
            part.show()
        change = None if sale.payment is None else sale.payment.change_minor
        self._change_card.setVisible(bool(change))
        self.change.setText("" if change is None else figures().money(change, sale.currency))
        self.change.setAccessibleName(f"{self._change_caption.text()}: {self.change.text()}")
        self._paid.setText(_paid_words(sale))
        self._show_printing(sale)

    def _show_printing(self, sale: Sale) -> None:
        job = sale.print_job
        count = len(sale.picks) if job is None else len(job.ticket_ids)
        self._location = "" if job is None else job.location
        self._files.setVisible(PurePath(self._location).is_absolute())
        self.open_file.setToolTip(PurePath(self._location).name)
        self.open_folder.setToolTip(str(PurePath(self._location).parent))
        self.banner.clear()
        if sale.print_unclear:
            self.printing.setText(_("Tickets may have been printed"))
            self.banner.tell("warn", _("Look at the printer"), _("They are never printed a second time by themselves."))
        elif sale.state is SaleState.PRINTING:
            self.printing.setText(_("The tickets are being printed…"))
        elif sale.state is SaleState.DONE and job is not None:
            words = ngettext("{count} ticket is printed", "{count} tickets are printed", count)
            self.printing.setText("✓ " + words.format(count=count))
        elif sale.state is SaleState.DONE:
            self.printing.setText(_("The tickets are void: there is nothing to print"))
        elif job is not None and job.status is PrintJobStatus.FAILED:
            self.printing.setText(_("The tickets were not printed"))
            self.banner.tell("warn", _("The sale is paid and safe"), print_trouble_words(job.reason))
        else:
            self.printing.setText(_("The tickets are not printed yet"))

    def _show_buttons(self, sale: Sale) -> None:
        waits_for_print = sale.state is SaleState.PAID
        self.print_again.setVisible(waits_for_print and not sale.print_unclear)
        self.came_out.setVisible(sale.print_unclear)
        self.print_anew.setVisible(sale.print_unclear)
        self.next.setVisible(sale.ended)
        self.later.setVisible(waits_for_print)

    def _build(self, theme: Theme) -> None:
        inside_change = column(theme, margin="large", gap="hair", parent=self._change_card)
        inside_change.addWidget(self._change_caption)
        inside_change.addWidget(self.change)
        files = row(theme, parent=self._files)
        for show in (self.open_file, self.open_folder):
            show.setAccessibleName(show.text())
            show.setAutoDefault(False)
            files.addWidget(show, 1)
        content = QWidget()
        inside = column(theme, gap="medium", parent=content)
        inside.addWidget(self.title)
        number = column(theme, gap="")
        number.addWidget(self._number_caption)
        number.addWidget(self.number)
        inside.addLayout(number)
        inside.addWidget(self._change_card)
        inside.addWidget(self._paid)
        inside.addWidget(self.printing)
        inside.addWidget(self._files)
        inside.addWidget(self.banner)
        inside.addStretch(1)
        page = column(theme, gap="small", parent=self)
        page.addWidget(scrolling(content), 1)
        for button in (self.print_again, self.came_out, self.print_anew, self.next, self.later):
            page.addWidget(button)
            button.set_calm()
        self.later.set_key_hint(keys.PARK.sequence)
        for button in (self.print_again, self.next):
            button.set_key_hint(keys.NEXT.sequence)
            button.setMinimumHeight(theme.sizes["touch"])

    def _connect(self) -> None:
        self.print_again.action_requested.connect(self.print_requested)
        self.next.action_requested.connect(self.next_requested)
        self.later.action_requested.connect(self.park_requested)
        self.open_file.clicked.connect(self._on_open_file_clicked)
        self.open_folder.clicked.connect(self._on_open_folder_clicked)
        self.came_out.action_requested.connect(self._on_came_out_requested)
        self.print_anew.action_requested.connect(self._on_print_anew_requested)

    def _on_open_file_clicked(self) -> None:
        self.path_wanted.emit(self._location)

    def _on_open_folder_clicked(self) -> None:
        self.path_wanted.emit(str(PurePath(self._location).parent))

    def _on_came_out_requested(self) -> None:
        self.printed_seen.emit(True)

    def _on_print_anew_requested(self) -> None:
        self.printed_seen.emit(False)


def _paid_words(sale: Sale) -> str:
    total = figures().money(sale.total_minor, sale.currency)
    if parts := all_parts_words(sale):
        return parts
    if sale.payment is None:
        return total
    if sale.payment.tendered_minor is not None and not sale.payment.change_minor:
        return _("{total} in cash, exactly").format(total=total)
    if sale.payment.tendered_minor is not None:
        tendered = figures().money(sale.payment.tendered_minor, sale.currency)
        return _("{total} in cash; {tendered} was handed over").format(total=total, tendered=tendered)
    return _("{total} by card").format(total=total)
