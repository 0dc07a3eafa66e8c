"""A table that is worked with the keyboard: arrows move, Enter opens, typing finds nothing by accident.

The model gives texts; the table lays columns out by what is asked of it and leaves those out that find no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
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
_MEASURED_ROWS = 40
"""Rows that are measured for the width of their columns: what a screen shows, and a little."""
_CALM_MS = 250
_MOST_OF_THE_ROOM = 0.4
"""One column's long text takes no more than this share before the others have theirs."""


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """`least_px` is what a column needs to be of use; `stretch` shares the room that nobody's texts need; a lower
    `rank` is kept longer and has its texts whole first.
    """

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
        self._wanted = [0] * len(self._plans)
        self._measuring = QTimer(self)
        self._measuring.setSingleShot(True)
        self._measuring.timeout.connect(self._measure)
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
        """Share the width: columns of a low rank first, then what their texts need, the rest to those that stretch."""
        room = self.viewport().width()
        by_rank = sorted(range(len(self._plans)), key=lambda column: self._plans[column].rank)
        least = [max(plan.least_px, self._head_px(column)) for column, plan in enumerate(self._plans)]
        shown: list[int] = []
        for column in by_rank:
            if sum(least[kept] for kept in shown) + least[column] <= room or not shown:
                shown.append(column)
        widths = self._widths(shown, least, room)
        for column in range(len(self._plans)):
            self.setColumnHidden(column, column not in widths)
            if column in widths:
                self.setColumnWidth(column, widths[column])

    def _widths(self, shown: Sequence[int], least: Sequence[int], room: int) -> dict[int, int]:
        """Widths of the columns that are shown, by rank. A column with short texts lends its room to one with long."""
        most = int(room * _MOST_OF_THE_ROOM)
        widths = {column: min(least[column], self._wanted[column] or least[column]) for column in shown}
        widths = {column: max(width, self._head_px(column)) for column, width in widths.items()}
        spare = max(room - sum(widths.values()), 0)
        for column in shown:
            more = min(max(min(self._wanted[column], most) - widths[column], 0), spare)
            widths[column] += more
            spare -= more
        parts = sum(self._plans[column].stretch for column in shown)
        for column in shown if parts else ():
            widths[column] += spare * self._plans[column].stretch // parts
        return widths

    def _head_px(self, column: int) -> int:
        """What the title of a column needs; nothing while there is no model."""
        return max(self.horizontalHeader().sectionSizeHint(column), 0)

    def _measure(self) -> None:
        """See what the texts of the first rows need. A column that was wide once stays so: nothing jumps about."""
        model = self.model()
        rows = min(model.rowCount(), _MEASURED_ROWS)
        if not rows:
            return
        for column in range(len(self._plans)):
            widest = max(self._delegate.width_of(model.index(row, column)) for row in range(rows))
            self._wanted[column] = max(self._wanted[column], widest)
        self.fit_columns()

    def _on_rows_changed(self) -> None:
        if self.model().rowCount():
            self._measuring.start(0)

    def _on_cells_changed(self) -> None:
        if not self._measuring.isActive():
            self._measuring.start(_CALM_MS)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        if index.isValid():
            self.row_opened.emit(index.row())

    def copy_row(self) -> None:
        """The current row as text to the clipboard."""
        text = self.currentIndex().data(COPY_ROLE)
        if text:
            QGuiApplication.clipboard().setText(str(text))

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        if model is not None:
            model.modelReset.connect(self._on_rows_changed)
            model.rowsInserted.connect(self._on_rows_changed)
            model.dataChanged.connect(self._on_cells_changed)

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

    def width_of(self, index: QModelIndex) -> int:
        """What a cell needs to show all of its text, in px."""
        text, mark = str(index.data() or ""), str(index.data(MARK_ROLE) or "")
        needed = 2 * self._theme.space("small") + 2
        if mark and _is_trailing(index):
            text = f"{mark} {text}"
        elif mark:
            width = QFontMetrics(self._theme.font("body", bold=True)).horizontalAdvance(mark)
            needed += max(width, self._theme.space("medium")) + _MARK_GAP_PX
        font = self._theme.font("body", bold=bool(index.data(BOLD_ROLE)))
        return needed + QFontMetrics(font).horizontalAdvance(text)

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
