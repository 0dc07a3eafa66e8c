"""A column of parts that takes the room there is, and scrolls once that is less than its parts need at least."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

_AROUND_PX = 24


class PanelScroll(QScrollArea):
    """`least_px(width)` says how high `content` must be at that width, so that nothing in it lies on another. `content`
    has a margin at the side that is as wide as a scroll bar.

    Qt's own resizable area takes the height that the parts would like: a list inside that scrolls by itself would push
    the buttons below it out of sight, long before that is needed.
    """

    def __init__(self, content: QWidget, least_px: Callable[[int], int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = content
        self._least_px = least_px
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        content.installEventFilter(self)
        self.horizontalScrollBar().valueChanged.connect(self._on_sideways)

    def fit(self) -> None:
        """Give the content its size: as high as this area, or as high as its parts need. The bar lies on its margin."""
        needed = self._least_px(self.width())
        is_low = needed > self.height()
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOn if is_low else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self._content.resize(self.width(), max(self.height(), needed))

    def show_part(self, part: QWidget) -> None:
        """Scroll so far that `part` can be seen, where it stands by now."""
        self.fit()
        layout = self._content.layout()
        if layout is not None:
            layout.activate()
        self.ensureWidgetVisible(part, 0, _AROUND_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def _on_sideways(self, value: int) -> None:
        """Never: what lies under the bar is margin."""
        if value:
            self.horizontalScrollBar().setValue(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().eventFilter(watched, event)
