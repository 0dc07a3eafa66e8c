"""First lines of labels beside each other, upon one line, whatever fonts their letters come from."""

from __future__ import annotations

from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QLabel


def level(*beside: QLabel) -> None:
    """Give labels that are aligned at their tops the room above that puts their first lines upon one."""
    ascents = [first_ascent(one) for one in beside]
    for one, ascent in zip(beside, ascents, strict=True):
        one.setContentsMargins(0, round(max(ascents) - ascent), 0, 0)


def first_ascent(one: QLabel) -> float:
    """How far the first line of a label reaches up, px: letters that the font lacks come from taller ones."""
    one.ensurePolished()
    layout = QTextLayout(one.text(), one.font())
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    return line.ascent() if line.isValid() else 0.0
