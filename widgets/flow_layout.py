"""A layout that puts widgets beside each other and begins a new line when there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines run in the widget's direction of writing; what expands (a field to find in) takes the rest of its line."""

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
        y = area.top()
        for line in self._lines(area.width()):
            height = max(item.sizeHint().height() for item in line)
            if place:
                self._place(line, area, y)
            y += height + self._gap_px
        return max(y - self._gap_px, area.top()) - rect.top() + margins.bottom()

    def _lines(self, room: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        x = 0
        for item in self._items:
            if item.isEmpty():
                continue
            width = item.sizeHint().width()
            if not lines or x + width > room:
                lines.append([])
                x = 0
            lines[-1].append(item)
            x += width + self._gap_px
        return lines

    def _place(self, line: list[QLayoutItem], area: QRect, y: int) -> None:
        parent = self.parentWidget()
        mirrored = parent is not None and parent.isRightToLeft()
        x = 0
        for item, width in zip(line, self._widths(line, area.width()), strict=True):
            left = area.right() + 1 - x - width if mirrored else area.left() + x
            item.setGeometry(QRect(QPoint(left, y), QSize(width, item.sizeHint().height())))
            x += width + self._gap_px

    def _widths(self, line: list[QLayoutItem], room: int) -> list[int]:
        """Each one's own width; what is left of the line goes to those that expand, as far as they may grow."""
        widths = [item.sizeHint().width() for item in line]
        spare = room - sum(widths) - self._gap_px * (len(line) - 1)
        growing = [n for n, item in enumerate(line) if item.expandingDirections() & Qt.Orientation.Horizontal]
        for left, n in zip(range(len(growing), 0, -1), growing, strict=True):
            grown = max(0, min(spare // left, line[n].maximumSize().width() - widths[n]))
            widths[n] += grown
            spare -= grown
        return widths
