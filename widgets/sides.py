"""Two parts of a screen beside each other, with a gap that can be dragged."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QSplitter

from widgets.theme import Theme


class Sides(QSplitter):
    """As `QSplitter`; no part can be dragged away, and none loses its edge where people read from the right."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setChildrenCollapsible(False)
        self.setProperty("role", "gap")
        self.setHandleWidth(theme.space("medium"))
        if QApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            # Qt mirrors its parts one pixel too far to the right.
            self.setContentsMargins(0, 0, 1, 0)
