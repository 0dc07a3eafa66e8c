"""A field that finds while one types: what may be meant stands below it, arrows choose, Enter takes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from widgets.build import leading
from widgets.focus import take_focus
from widgets.theme import Theme

_ROWS_SHOWN = 8
_ROW_PX = 34
_LIST_PX = 400
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS_SHOWN, Qt.Key.Key_PageUp: -_ROWS_SHOWN}


class FindBox(QLineEdit):
    """The list lies over `over`, so that it neither moves what is below nor takes the keyboard from the field."""

    search_requested = Signal(str)
    """What is typed now."""
    found = Signal(int)
    """The place in the list that was taken."""
    closed = Signal()
    """The person wants back to where they were."""

    def __init__(self, theme: Theme, over: QWidget, name: str, key: str) -> None:
        super().__init__()
        self._over = over
        self._can_take = False
        self.setPlaceholderText(f"{name} ({key})")
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({key})")
        self.setAlignment(leading())
        self.setMaxLength(80)
        self.list = QListWidget(over)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setAccessibleName(name)
        self.list.hide()
        self.textEdited.connect(self._on_text_edited)
        self.list.clicked.connect(self._on_list_clicked)
        self.installEventFilter(self)
        self._gap = theme.space("tight")

    @property
    def results(self) -> tuple[str, ...]:
        """What the open list says."""
        if self.list.isHidden():
            return ()
        return tuple(self.list.item(place).text() for place in range(self.list.count()))

    def begin(self) -> None:
        """Put the keyboard here, with what was typed before ready to be typed over."""
        take_focus(self, Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def show_results(self, results: Sequence[str], nothing: str) -> None:
        """What may be meant; `nothing` is said where nothing is."""
        self.list.clear()
        self._can_take = bool(results)
        for text in results:
            self.list.addItem(text)
        if not results:
            item = QListWidgetItem(nothing)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self.list.setCurrentRow(0 if results else -1)
        self._place_list()
        self.list.show()
        self.list.raise_()
        self._tell_current()

    def close_list(self) -> None:
        """Nothing is being looked for."""
        self.list.hide()

    def _place_list(self) -> None:
        width = min(max(_LIST_PX, self.width()), self._over.width() - 2 * self._gap)
        below = self.mapTo(self._over, QPoint(0, self.height() + self._gap))
        left = below.x() if self.isRightToLeft() else below.x() + self.width() - width
        left = min(max(left, self._gap), self._over.width() - width - self._gap)
        rows = min(max(self.list.count(), 1), _ROWS_SHOWN)
        height = rows * max(_ROW_PX, self.list.sizeHintForRow(0)) + 4
        self.list.setGeometry(left, below.y(), width, min(height, self._over.height() - below.y() - self._gap))

    def _step(self, by: int) -> None:
        if self._can_take:
            count = self.list.count()
            self.list.setCurrentRow(min(max(self.list.currentRow() + by, 0), count - 1))
            self._tell_current()

    def _tell_current(self) -> None:
        item = self.list.currentItem()
        self.setAccessibleDescription(item.text() if self._can_take else "")

    def _take(self) -> None:
        row = self.list.currentRow()
        if not self.list.isHidden() and self._can_take and row >= 0:
            self.close_list()
            self.clear()
            self.found.emit(row)

    def _on_text_edited(self, text: str) -> None:
        if text.strip():
            self.search_requested.emit(text)
        else:
            self.close_list()

    def _on_list_clicked(self, index: QModelIndex) -> None:
        self.list.setCurrentRow(index.row())
        self._take()

    # ------------------------------------------------------------------ Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the list; Escape is kept from the window, where it would let the picks go."""
        if watched is self and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and self._press(event.key()):
                return True
        if watched is self and event.type() == QEvent.Type.FocusOut:
            self.close_list()
        return super().eventFilter(watched, event)

    def _press(self, key: int) -> bool:
        if key in _STEPS:
            self._step(_STEPS[Qt.Key(key)])
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._take()
        elif key == Qt.Key.Key_Escape:
            self.close_list()
            self.closed.emit()
        else:
            return False
        return True
