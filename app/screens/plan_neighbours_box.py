"""Who sits beside whom in the chosen rows, as it is derived, and its correction: aisles opened and closed, order."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.plan_draft import DraftRow, Selection
from app.core.plan_neighbours import aisles_of, close_aisles, open_aisle, order_along, parts_of
from app.core.plan_work import PlanWork
from app.i18n import _, figures, ngettext
from app.screens.plan_fields import plain_button
from widgets.build import column, label
from widgets.theme import Theme


class NeighboursBox(QWidget):
    """Edits the work directly."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._work = work
        self._rows: list[DraftRow] = []
        self.words = label(tone="muted", wrap=True)
        self.open = plain_button(_("Aisle before this seat"))
        self.close_up = plain_button(_("Close the aisles"))
        self.order = plain_button(_("Order as they stand"))
        self.order.setToolTip(_("Neighbours are those who stand one after the other in the row"))
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("Neighbours"), kind="lead"))
        for widget in (self.words, self.open, self.close_up, self.order):
            page.addWidget(widget)
        self.open.clicked.connect(self._on_open_clicked)
        self.close_up.clicked.connect(self._on_close_up_clicked)
        self.order.clicked.connect(self._on_order_clicked)

    def show_work(self) -> None:
        """Show the parts of the chosen rows, or of the row of the one chosen seat."""
        draft, selection = self._work.draft, self._work.selection
        self._rows = _rows_of(draft.rows, selection)
        aisles = aisles_of(draft)
        divided = [one for one in self._rows if one.row_id in aisles]
        self.setVisible(any(one.table is None and len(one.seats) > 1 for one in self._rows))
        place = _place_of(self._rows, selection)
        self.open.setVisible(place > 0 and place not in aisles.get(self._rows[0].row_id, ()))
        self.close_up.setVisible(bool(divided))
        self.order.setVisible(bool(selection.rows))
        self.words.setText(self._told(divided, aisles))

    def _told(self, divided: list[DraftRow], aisles: dict[int, tuple[int, ...]]) -> str:
        if not divided:
            return _("All seats of a row sit side by side.")
        if len(self._rows) > 1:
            count = len(divided)
            words = ngettext("{count} of these rows has an aisle.", "{count} of these rows have aisles.", count)
            return words.format(count=figures().number(count))
        parts = parts_of(divided[0], aisles[divided[0].row_id])
        shown = " + ".join(figures().number(part) for part in parts)
        return _("Side by side: {parts}").format(parts=shown)

    def _on_open_clicked(self) -> None:
        guid = next(iter(self._work.selection.seats), "")
        self._work.edit(open_aisle(self._work.draft, guid))

    def _on_close_up_clicked(self) -> None:
        self._work.edit(close_aisles(self._work.draft, [one.row_id for one in self._rows]))

    def _on_order_clicked(self) -> None:
        self._work.edit(order_along(self._work.draft, self._work.selection.rows))


def _rows_of(rows: tuple[DraftRow, ...], selection: Selection) -> list[DraftRow]:
    """The chosen rows; of a single seat its row."""
    if len(selection.seats) != 1:
        return [one for one in rows if one.row_id in selection.rows]
    guid = next(iter(selection.seats))
    return [one for one in rows if one.row_id in selection.rows or any(seat.guid == guid for seat in one.seats)]


def _place_of(rows: list[DraftRow], selection: Selection) -> int:
    """The place of the one chosen seat in its row; 0 when it is not one seat of one row."""
    if len(rows) != 1 or len(selection.seats) != 1 or selection.rows or rows[0].table is not None:
        return 0
    guid = next(iter(selection.seats))
    return next(place for place, seat in enumerate(rows[0].seats) if seat.guid == guid)
