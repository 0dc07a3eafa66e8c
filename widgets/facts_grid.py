"""Facts, one line each: a muted caption at the start, the value beside it; values can be selected and copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from widgets.build import label, set_tone
from widgets.first_lines import level
from widgets.theme import Theme

_TEXT = Qt.TextInteractionFlag.TextSelectableByMouse
_TOP = Qt.AlignmentFlag.AlignTop


class FactsGrid(QWidget):
    """Shows (caption, value) or (caption, value, tone); labels are kept and only their texts change."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.space("large"))
        self._grid.setVerticalSpacing(theme.space("tight"))
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, facts: Sequence[tuple[str, str] | tuple[str, str, str]]) -> None:
        """Show these facts; those without a value are left out."""
        kept = [(fact[0], fact[1], fact[2] if len(fact) == 3 else "") for fact in facts if fact[1]]
        while len(self._lines) < len(kept):
            self._add_line()
        for place, (caption, value) in enumerate(self._lines):
            used = place < len(kept)
            caption.setVisible(used)
            value.setVisible(used)
            if used:
                caption.setText(kept[place][0])
                value.setText(kept[place][1])
                value.setAccessibleName(f"{kept[place][0]}: {kept[place][1]}")
                set_tone(value, kept[place][2])
                level(caption, value)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is shown."""
        return [(caption.text(), value.text()) for caption, value in self._lines if not value.isHidden()]

    def _add_line(self) -> None:
        caption, value = label(tone="muted"), label(wrap=True)
        value.setTextInteractionFlags(_TEXT)
        value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        line = len(self._lines)
        self._grid.addWidget(caption, line, 0, _TOP)
        self._grid.addWidget(value, line, 1, _TOP)
        self._lines.append((caption, value))
