"""What the map says of itself beside its tree: the seat under the keyboard as the widget's description."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QWidget


def describe(widget: QWidget, text: str) -> None:
    """Keep what the keyboard is on readable as the widget's description."""
    if text:
        widget.setAccessibleDescription(text)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged))
