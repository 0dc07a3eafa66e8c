"""Who gets the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from widgets.panel_scroll import PanelScroll


def take_focus(widget: QWidget, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> bool:
    """Put the keyboard on `widget`, unless it or what it lies in is hidden. Returns whether it is there.

    Qt gives the keyboard to hidden widgets of the window, too. A step that ends while another page is in front would
    take away what is typed there, and the next Enter would press a button that nobody sees.
    """
    part: QWidget | None = widget
    around: list[PanelScroll] = []
    while part is not None and not part.isWindow():
        if _is_put_away(part):
            return False
        part = part.parentWidget()
        if isinstance(part, PanelScroll):
            around.append(part)
    widget.setFocus(reason)
    for panel in around:
        panel.show_part(widget)
    return True


def _is_put_away(part: QWidget) -> bool:
    """Hidden by somebody, and not because it was made just now and is shown in the next turn of the loop."""
    return part.isHidden() and part.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
