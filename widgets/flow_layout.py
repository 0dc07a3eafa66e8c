"""A layout that puts widgets beside each other and begins a new line when there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines run in the widget's direction of writing."""

    def __init__(self, parent: QWidget, gap_px: int) -> None:
        super().__init__(parent)
        self._gap_px = gap_px
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._lay_out(QRect(0, 0, width, 0), place=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._lay_out(rect, place=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _lay_out(self, rect: QRect, *, place: bool) -> int:
        """Height that is needed; moves the widgets when `place`."""
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        parent = self.parentWidget()
        mirrored = parent is not None and parent.isRightToLeft()
        x, y, line = 0, area.top(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x and x + size.width() > area.width():
                x, y, line = 0, y + line + self._gap_px, 0
            if place:
                left = area.right() + 1 - x - size.width() if mirrored else area.left() + x
                item.setGeometry(QRect(QPoint(left, y), size))
            x += size.width() + self._gap_px
            line = max(line, size.height())
        return y + line - rect.top() + margins.bottom()
