"""A table of worded cells for lists of a few hundred rows: orders, tickets, comparisons. Rows are known by a key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from widgets.data_table import BOLD_ROLE, COPY_ROLE, MARK_ROLE, TONE_ROLE

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class Cell:
    """`tone` is a token of the theme, `mark` a sign before the text; `tip` is told of it where that is more than it."""

    text: str
    tone: str = ""
    mark: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class CellRow:
    """`key` says which thing the row is about."""

    key: Hashable
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class CellColumn:
    """`trailing`: figures, at the far side; `bold`: what people look for."""

    words: str
    trailing: bool = False
    bold: bool = False


class CellTableModel(QAbstractTableModel):
    """Shows rows in the order given; a changed row changes alone when the keys stay."""

    def __init__(self, columns: Sequence[CellColumn], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._rows: tuple[CellRow, ...] = ()

    @property
    def keys(self) -> list[Hashable]:
        """The keys of the rows, in order."""
        return [row.key for row in self._rows]

    @property
    def lines(self) -> tuple[CellRow, ...]:
        """What is shown."""
        return self._rows

    def row_of(self, key: Hashable) -> int:
        """The row of a key, -1 when it is not shown."""
        return next((place for place, row in enumerate(self._rows) if row.key == key), -1)

    def show_rows(self, rows: Sequence[CellRow]) -> None:
        """Show these rows; added ones at the end and changed ones leave the others in peace."""
        old, new = self._rows, tuple(rows)
        old_keys, new_keys = self.keys, [row.key for row in new]
        if new_keys[: len(old_keys)] != old_keys:
            self.beginResetModel()
            self._rows = new
            self.endResetModel()
            return
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self._rows = (*old, *new[len(old) :])
            self.endInsertRows()
        self._rows = new
        for place, row in enumerate(old):
            if row != new[place]:
                self.dataChanged.emit(self.index(place, 0), self.index(place, len(self._columns) - 1))

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].words
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], index.column()
        cell = row.cells[column]
        values: dict[int, object] = {
            Qt.ItemDataRole.DisplayRole: cell.text,
            Qt.ItemDataRole.ToolTipRole: cell.tip or cell.text,
            Qt.ItemDataRole.TextAlignmentRole: self._alignment(column),
            TONE_ROLE: cell.tone,
            MARK_ROLE: cell.mark,
            BOLD_ROLE: self._columns[column].bold,
        }
        if role in {Qt.ItemDataRole.AccessibleTextRole, COPY_ROLE}:
            return ("\t" if role == COPY_ROLE else ", ").join(cell.text for cell in row.cells if cell.text)
        return values.get(role)

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self._columns[column].trailing else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
