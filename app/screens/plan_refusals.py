"""What the booking system refused, as a list that leads to each thing: seats in the way (I4), faults of a plan (I3)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from app.core.plan_work import PlanWork
from app.i18n import _, figures, ngettext
from app.models.place_words import seat_name
from app.screens.plan_fields import plain_button
from app.screens.plan_finding_words import finding_words
from backend_client.wire import SeatRef
from widgets.build import column, label
from widgets.focus import take_focus
from widgets.theme import Theme

_SHOWN = 200
_LINE_PX, _LINES = 42, 3


class RefusalList(QWidget):
    """Shows what the work says; hidden while nothing was refused."""

    entry_chosen = Signal(int)
    """The place of an entry in `work.taken`, or in `work.refused` when there is nothing in the way."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._work = work
        self._shown: tuple[object, ...] = ()
        self.title = label(kind="lead", wrap=True)
        self.entries = QListWidget()
        self.restore = plain_button(_("Put the lost seats back"))
        self.close_list: QPushButton = plain_button(_("Close the list"))
        self.entries.setWordWrap(True)
        self.entries.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = column(theme, gap="tight", parent=self)
        page.addWidget(self.title)
        page.addWidget(self.entries)
        page.addWidget(self.restore)
        page.addWidget(self.close_list)
        self.entries.itemClicked.connect(self._on_item_chosen)
        self.entries.itemActivated.connect(self._on_item_chosen)
        self.restore.clicked.connect(self._on_restore_clicked)
        self.close_list.clicked.connect(self._on_close_clicked)
        self.show_work()

    def show_work(self) -> None:
        """Show what is in the way, else what was refused of the plan itself."""
        work = self._work
        lost = {id(seat) for seat in work.lost_taken}
        shown: tuple[object, ...] = (work.taken, frozenset(lost), work.refused)
        if shown == self._shown:
            return
        self._shown = shown
        self.setVisible(bool(work.taken or work.refused))
        self.restore.setVisible(work.may_restore_taken)
        texts = [self._taken_words(seat.ref, is_lost=id(seat) in lost) for seat in work.taken]
        count = len(work.taken or work.refused)
        words = ngettext("{count} seat is in the way", "{count} seats are in the way", count)
        if not work.taken:
            texts = [finding_words(one.says, one.values, one.words) for one in work.refused]
            words = ngettext("{count} thing was refused", "{count} things were refused", count)
        self.title.setText(words.format(count=figures().number(count)))
        self.entries.setAccessibleName(self.title.text())
        self.entries.clear()
        for text in texts[:_SHOWN]:
            item = QListWidgetItem(text)
            item.setToolTip(text)
            self.entries.addItem(item)
        self.entries.setFixedHeight(_LINE_PX * max(min(self.entries.count(), _LINES), 1) + 4)

    @staticmethod
    def _taken_words(ref: SeatRef, *, is_lost: bool) -> str:
        name = seat_name(ref)
        return _("{seat} (not in this plan)").format(seat=name) if is_lost else name

    def focus_first(self) -> None:
        """Put the keyboard on the list."""
        self.entries.setCurrentRow(0)
        take_focus(self.entries)

    def _on_item_chosen(self, item: QListWidgetItem) -> None:
        self.entry_chosen.emit(self.entries.row(item))

    def _on_restore_clicked(self) -> None:
        self._work.restore_taken()

    def _on_close_clicked(self) -> None:
        self._work.forget_refusals()
