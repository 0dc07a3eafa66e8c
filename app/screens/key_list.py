"""Keys and what they do, one line each: in the list that F1 shows, and where a new sale waits for its first seat."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from app.i18n import _
from app.screens.keys import Key
from widgets.build import label
from widgets.first_lines import level
from widgets.theme import Theme

LIST_PX = 990
"""Width of the whole list in three columns: it fits beside the edges of a small window."""
_CAP_PX = 72


def keys_grid(theme: Theme, table: Sequence[Key], *, tone: str = "", wrap: bool = False) -> QGridLayout:
    """Key at the start, its words beside it; `wrap` for narrow places."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.space("medium" if wrap else "wide"))
    grid.setVerticalSpacing(theme.space("tight"))
    grid.setColumnStretch(1, 1)
    top = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop
    for line, key in enumerate(table):
        cap, words = _key_cap(theme, _(key.sequence), tone), label(_(key.words), tone=tone, wrap=wrap)
        level(cap, words)
        grid.addWidget(cap, line, 0, top)
        grid.addWidget(words, line, 1)
    return grid


def _key_cap(theme: Theme, sequence: str, tone: str) -> QLabel:
    cap = label(sequence, tone=tone)
    cap.setFont(theme.font("body", bold=True))
    cap.setMinimumWidth(max(_CAP_PX, cap.sizeHint().width()))
    return cap
