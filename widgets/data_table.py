"""A table that is worked with the keyboard: arrows move, Enter opens, typing finds nothing by accident.

The model gives texts; the table lays columns out by what is asked of it and leaves those out that find no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from widgets.theme import Theme

TONE_ROLE = Qt.ItemDataRole.UserRole + 1
"""A token of the theme for the text of a cell; empty for the usual one."""
MARK_ROLE = Qt.ItemDataRole.UserRole + 2
"""A sign before the text of a cell, in the cell's tone: says without colour what the colour says."""
COPY_ROLE = Qt.ItemDataRole.UserRole + 3
"""The row as one line of text, for the clipboard."""
BOLD_ROLE = Qt.ItemDataRole.UserRole + 4
"""True for a cell that is what people look for."""
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_MARK_GAP_PX = 6


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """`least_px` is what a column needs; `stretch` shares the room that is left; a lower `rank` is kept longer."""

    least_px: int
    stretch: int = 0
    rank: int = 0


class DataTable(QTableView):
    """Whole rows are chosen, one at a time."""

    row_opened = Signal(int)
    """Enter or a double click on a row."""
    row_chosen = Signal(int)
    """Another row became the current one, whatever did it."""

    def __init__(self, theme: Theme, plans: Sequence[ColumnPlan], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plans = tuple(plans)
        self._delegate = CellDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(theme.sizes["control"])
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setHighlightSections(False)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        head.setMinimumSectionSize(0)
        self.doubleClicked.connect(self._on_double_clicked)

    @property
    def current_row(self) -> int:
        """The chosen row, -1 for none."""
        return self.currentIndex().row()

    def choose_row(self, row: int) -> None:
        """Make a row the current one and show it."""
        model = self.model()
        if 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, self._first_column()))

    def _first_column(self) -> int:
        return next((column for column in range(len(self._plans)) if not self.isColumnHidden(column)), 0)

    def fit_columns(self) -> None:
        """Share the width: columns of a low rank first, the rest goes to those that stretch."""
        room = self.viewport().width()
        shown: list[int] = []
        for column in sorted(range(len(self._plans)), key=lambda column: self._plans[column].rank):
            needed = sum(self._plans[kept].least_px for kept in shown) + self._plans[column].least_px
            if needed <= room or not shown:
                shown.append(column)
        spare = max(room - sum(self._plans[column].least_px for column in shown), 0)
        parts = sum(self._plans[column].stretch for column in shown)
        for column, plan in enumerate(self._plans):
            self.setColumnHidden(column, column not in shown)
            if column in shown:
                share = spare * plan.stretch // parts if parts else 0
                self.setColumnWidth(column, plan.least_px + share)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        if index.isValid():
            self.row_opened.emit(index.row())

    def copy_row(self) -> None:
        """The current row as text to the clipboard."""
        text = self.currentIndex().data(COPY_ROLE)
        if text:
            QGuiApplication.clipboard().setText(str(text))

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and current.row() != previous.row():
            self.row_chosen.emit(current.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and not event.isAutoRepeat() and self.currentIndex().isValid():
            self.row_opened.emit(self.current_row)
            event.accept()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_row()
            event.accept()
        elif (
            event.text() and event.text().isprintable() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            event.ignore()  # a letter is a key of the screen, never a search that jumps to another row
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()


class CellDelegate(QStyledItemDelegate):
    """Paints a cell: its sign and its text in its tone, an ellipsis where room is short, a bar at the chosen row."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, box = self._theme, QRect(option.rect)
        state = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(box, theme.color("accent_soft"))
        elif index.row() % 2:
            painter.fillRect(box, theme.color("window"))
        mirrored = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        room = box.adjusted(theme.space("small"), 0, -theme.space("small"), 0)
        tone = str(index.data(TONE_ROLE) or "")
        painter.setPen(theme.color(tone or "text"))
        text, mark, trailing = str(index.data() or ""), str(index.data(MARK_ROLE) or ""), _is_trailing(index)
        if trailing:
            text = f"{mark} {text}" if mark else text
        else:
            room = self._paint_mark(painter, room, mark, mirrored=mirrored)
        painter.setFont(theme.font("body", bold=bool(index.data(BOLD_ROLE))))
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _side(trailing=trailing, mirrored=mirrored) | Qt.AlignmentFlag.AlignVCenter, text)
        table = self.parent()
        if chosen and isinstance(table, DataTable) and table.hasFocus():
            painter.setPen(QPen(theme.color("focus"), theme.sizes["focus_ring"]))
            painter.drawLine(box.topLeft(), box.topRight())
            painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.restore()

    def _paint_mark(self, painter: QPainter, room: QRect, mark: str, *, mirrored: bool) -> QRect:
        """Draw the sign at the start of the room; what is left of it."""
        if not mark:
            return room
        painter.setFont(self._theme.font("body", bold=True))
        width = max(painter.fontMetrics().horizontalAdvance(mark), self._theme.space("medium"))
        place = QRect(room.right() + 1 - width if mirrored else room.left(), room.top(), width, room.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, mark)
        taken = width + _MARK_GAP_PX
        return room.adjusted(0, 0, -taken, 0) if mirrored else room.adjusted(taken, 0, 0, 0)


def _is_trailing(index: QModelIndex | QPersistentModelIndex) -> bool:
    asked = index.data(Qt.ItemDataRole.TextAlignmentRole)
    return asked is not None and bool(Qt.AlignmentFlag(asked) & Qt.AlignmentFlag.AlignRight)


def _side(*, trailing: bool, mirrored: bool) -> Qt.AlignmentFlag:
    """Figures that the model puts at the far side stand at the far side in either direction of writing."""
    right = trailing != mirrored
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignAbsolute
