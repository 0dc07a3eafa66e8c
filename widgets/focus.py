"""Who gets the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def take_focus(widget: QWidget, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> bool:
    """Put the keyboard on `widget`, if it can be seen (or will be, once its window is shown). Returns whether.

    Qt gives the keyboard to hidden widgets of the window, too. A step that ends while another page is in front would
    take away what is typed there, and the next Enter would press a button that nobody sees.
    """
    if not widget.isVisibleTo(widget.window()):
        return False
    widget.setFocus(reason)
    return True
