"""What the map says of itself beside its tree: the seat under the keyboard as the widget's description."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QWidget


def describe(widget: QWidget, text: str) -> None:
    """Keep what the keyboard is on readable as the widget's description."""
    if text:
        widget.setAccessibleDescription(text)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged))


def announce(widget: QWidget, text: str) -> None:
    """Have a screen reader say the text now: what happened without the keyboard having moved."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
