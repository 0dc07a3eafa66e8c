"""The items of the inbox for a table: rows come, go and change one by one, and the place of the person stays."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core.inbox_filter import InboxRow, SortBy
from app.i18n import _
from app.models.provider_words import provider_and_code
from backend_client.wire import ItemId
from widgets.data_table import BOLD_ROLE, COPY_ROLE, MARK_ROLE, TONE_ROLE

_LOG = logging.getLogger(__name__)
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
COLUMNS = (
    SortBy.AGE, SortBy.KIND, SortBy.AMOUNT, SortBy.SEATS, SortBy.EVENT, SortBy.ORDER, SortBy.PROVIDER, SortBy.STATE,
)  # fmt: skip
_FIGURES = frozenset({SortBy.AMOUNT})
_MOST_STEPS = 400
"""More single changes than this cost more than showing the list anew."""


class ItemCells:
    """Words for the cells; `text(row, column)`, `tone(row, column)` and `mark(row, column)` are asked when drawn."""

    def __init__(
        self,
        text: Callable[[InboxRow, SortBy], str],
        tone: Callable[[InboxRow, SortBy], str],
        mark: Callable[[InboxRow, SortBy], str],
    ) -> None:
        self.text, self.tone, self.mark = text, tone, mark


def column_words(column: SortBy) -> str:
    """The head of a column."""
    return {
        SortBy.AGE: _("Waits"), SortBy.KIND: _("What happened"), SortBy.AMOUNT: _("Amount"), SortBy.SEATS: _("Seats"),
        SortBy.EVENT: _("Event"), SortBy.ORDER: _("Order"), SortBy.PROVIDER: _("Provider"), SortBy.STATE: _("State"),
    }[column]  # fmt: skip


class ItemTableModel(QAbstractTableModel):
    """Shows rows in the order given. Cells are worded when they are drawn, so that 5,000 rows cost what 30 do."""

    def __init__(self, cells: ItemCells, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cells = cells
        self._rows: list[InboxRow] = []

    @property
    def rows(self) -> list[InboxRow]:
        """What is shown, in order."""
        return self._rows

    def row_of(self, item_id: ItemId | None) -> int:
        """The row of an item, -1 when it is not shown."""
        return next((place for place, row in enumerate(self._rows) if row.item.item_id == item_id), -1)

    def show_rows(self, rows: list[InboxRow]) -> None:
        """Show these rows: what is gone is taken out, what is new put in, what changed is told."""
        old = [row.item.item_id for row in self._rows]
        new = [row.item.item_id for row in rows]
        if old != new and not self._step(old, new, rows):
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        before, self._rows = self._rows, rows
        changed = [place for place, row in enumerate(rows) if row is not before[place] and row != before[place]]
        for place in changed:
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(COLUMNS) - 1))

    def _step(self, old: list[ItemId], new: list[ItemId], rows: list[InboxRow]) -> bool:
        """From the old order to the new by single rows; False when the order of what stays differs, or it is much."""
        kept, wanted = set(old) & set(new), set(new) - set(old)
        if [one for one in old if one in kept] != [one for one in new if one in kept]:
            return False
        if len(old) - len(kept) + len(wanted) > _MOST_STEPS:
            return False
        for place in range(len(self._rows) - 1, -1, -1):
            if old[place] not in kept:
                self.beginRemoveRows(QModelIndex(), place, place)
                self._rows = [*self._rows[:place], *self._rows[place + 1 :]]
                self.endRemoveRows()
        for place, item_id in enumerate(new):
            if item_id in wanted:
                self.beginInsertRows(QModelIndex(), place, place)
                self._rows = [*self._rows[:place], rows[place], *self._rows[place:]]
                self.endInsertRows()
        return True

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return column_words(COLUMNS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(COLUMNS[section])
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        try:
            if not index.isValid() or index.row() >= len(self._rows):
                return None
            return self._value(self._rows[index.row()], COLUMNS[index.column()], role)
        except Exception:  # noqa: BLE001  # it would be lost inside Qt, once for each repaint
            _LOG.exception("item row %s", index.row())
            return None

    def _value(self, row: InboxRow, column: SortBy, role: int) -> object:
        if role == Qt.ItemDataRole.ToolTipRole and column is SortBy.PROVIDER:
            return provider_and_code(row.item.provider)
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole}:
            return self._cells.text(row, column)
        if role == TONE_ROLE:
            return self._cells.tone(row, column)
        if role == MARK_ROLE:
            return self._cells.mark(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == BOLD_ROLE:
            return column is SortBy.AMOUNT
        if role in {Qt.ItemDataRole.AccessibleTextRole, COPY_ROLE}:
            mark = "\t" if role == COPY_ROLE else ", "
            return mark.join(text for name in COLUMNS if (text := self._cells.text(row, name)))
        return None


def _alignment(column: SortBy) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _FIGURES else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def age_s(row: InboxRow, now: datetime | None) -> float:
    """Seconds since an item was opened: until now, or until it was settled."""
    end = row.item.resolved_at or now or row.item.opened_at
    return max((end - row.item.opened_at).total_seconds(), 0.0)
