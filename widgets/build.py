"""Labels, rows and columns with the theme's distances, so that windows read as what they show."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from widgets.theme import Theme

_LONG_WORD = re.compile(r"\S{18}(?=\w\S{5})")


def leading() -> Qt.AlignmentFlag:
    """The side where lines begin. Qt goes by the letters of each text; a window has one side for all of them."""
    mirrored = QApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
    side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter


def trailing() -> Qt.AlignmentFlag:
    """The side where lines end."""
    mirrored = QApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
    side = Qt.AlignmentFlag.AlignLeft if mirrored else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter


def label(text: str = "", *, kind: str = "", tone: str = "", wrap: bool = False) -> QLabel:
    """A label; `kind` is a type role of the style sheet (caption, lead, title, display, figure)."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setAlignment(leading())
    if kind:
        made.setProperty("type", kind)
    if tone:
        made.setProperty("tone", tone)
    if wrap:
        made.setWordWrap(True)
        made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return made


def breakable(text: str) -> str:
    """The text, with places where a line may end inside of words that no line has room for: a name, an address."""
    return _LONG_WORD.sub("\\g<0>\u200b", text)


def text_field(limit: int = 0) -> QLineEdit:
    """A line for a text of people, of at most `limit` characters; it begins on the side where lines begin."""
    made = QLineEdit()
    made.setAlignment(leading())
    if limit:
        made.setMaxLength(limit)
    return made


def set_tone(widget: QWidget, tone: str) -> None:
    """Change the tone of a widget that is shown already."""
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def column(theme: Theme, *, margin: str = "", gap: str = "small", parent: QWidget | None = None) -> QVBoxLayout:
    """A vertical layout; `margin` and `gap` are names of the spacing scale."""
    made = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    _space(made, theme, margin, gap)
    return made


def row(theme: Theme, *, margin: str = "", gap: str = "small", parent: QWidget | None = None) -> QHBoxLayout:
    """A horizontal layout."""
    made = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    _space(made, theme, margin, gap)
    return made


def frame(surface: str) -> QFrame:
    """A surface of the style sheet: card, sunken or bar."""
    made = QFrame()
    made.setProperty("surface", surface)
    return made


def scrolling(content: QWidget) -> QScrollArea:
    """`content` in a frameless area that scrolls up and down only."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(content)
    content.setAutoFillBackground(False)  # `setWidget` turns it on, and what is behind would not show
    area.viewport().setAutoFillBackground(False)
    return area


def _space(layout: QBoxLayout, theme: Theme, margin: str, gap: str) -> None:
    layout.setSpacing(theme.space(gap) if gap else 0)
    layout.setContentsMargins(*[theme.space(margin) if margin else 0] * 4)
