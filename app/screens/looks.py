"""The look of the whole program: colours, the direction of writing, how much moves."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStyle

from app.i18n import current_language
from widgets.theme import Theme, load_theme


def theme_of(choice: str, *, patterned: bool = False) -> Theme:
    """The theme of a choice, with patterns beside the colours of price categories where they are wanted."""
    return _plain_theme_of(choice).with_patterns(patterned)


def _plain_theme_of(choice: str) -> Theme:
    """`light`, `dark`, or `system`: what the desktop reports, light where it reports nothing."""
    if choice in {"light", "dark"}:
        return load_theme(choice)
    scheme = QApplication.styleHints().colorScheme()
    return load_theme("dark" if scheme is Qt.ColorScheme.Dark else "light")


def wants_less_motion(choice: str) -> bool:
    """`less`, `full`, or `system`: less where the desktop has animations turned off."""
    if choice in {"less", "full"}:
        return choice == "less"
    return QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) == 0


def apply_direction() -> None:
    """Lay everything out in the direction of the language in use."""
    direction = Qt.LayoutDirection.RightToLeft if current_language().right_to_left else Qt.LayoutDirection.LeftToRight
    QApplication.setLayoutDirection(direction)
