"""The map for people who listen: one widget with a role, and the seat under the keyboard spoken as it changes."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str) -> None:
    """Have a screen reader say the text now, and keep it readable as the widget's description."""
    if not text:
        return
    widget.setAccessibleDescription(text)
    if not QAccessible.isActive():
        return
    QAccessible.updateAccessibility(QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged))
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
