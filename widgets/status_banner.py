"""A calm strip that says what is the matter and what to do; it can carry one button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.announce import announce
from widgets.build import breakable, label
from widgets.theme import Theme

_MARKS = {"info": "ℹ", "success": "✓", "warn": "!", "danger": "✕"}  # a mark beside the colour (D10)
_URGENT = frozenset({"warn", "danger"})


class StatusBanner(QFrame):
    """Hidden until told something. `tone` is info, success, warn or danger; a mark says it without colour.

    `button_below`: for one whose button says more than a word, so that the text keeps the width.
    """

    action_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, button_below: bool = False) -> None:
        super().__init__(parent)
        self._button_below = button_below
        self._mark = QLabel()
        self._words = "", ""
        self._title = label()
        self._detail = label()
        self._button = QPushButton()
        self._button.clicked.connect(self.action_requested)
        self._build(theme)
        self.hide()

    @property
    def title(self) -> str:
        return self._words[0]

    @property
    def detail(self) -> str:
        return self._words[1]

    def tell(self, tone: str, title: str, detail: str = "", action: str = "") -> None:
        """Show the strip; empty texts take no room. What is new is said to who listens, once."""
        is_new = self.isHidden() or (title, detail) != self._words
        self._mark.setText(_MARKS[tone])
        self._words = title, detail
        self._title.setText(breakable(title))
        self._detail.setText(breakable(detail))
        self._detail.setVisible(bool(detail))
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._button.setVisible(bool(action))
        # A button is higher than a line of words, which stands in the middle beside it.
        beside = Qt.AlignmentFlag.AlignVCenter if action and not detail else Qt.AlignmentFlag.AlignTop
        self._row.setAlignment(self._mark, beside)
        self.setAccessibleName(title)
        self.setAccessibleDescription(detail)
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self._mark.setProperty("tone", tone)
            for part in (self, self._mark):
                part.style().unpolish(part)
                part.style().polish(part)
        self.show()
        if is_new and self.isVisible():
            announce(self, "\n".join(part for part in (title, detail) if part), urgent=tone in _URGENT)

    def clear(self) -> None:
        """Nothing is the matter."""
        self.hide()

    def _build(self, theme: Theme) -> None:
        for part in (self._title, self._detail):
            part.setWordWrap(True)
        self._title.setFont(theme.font("body", bold=True))
        self._mark.setFont(theme.font("lead", bold=True))
        self._mark.setFixedWidth(theme.space("wide"))
        self._mark.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.space("hair"))
        words.addWidget(self._title)
        words.addWidget(self._detail)
        row: QBoxLayout = QHBoxLayout(self)
        self._row = row
        row.setContentsMargins(*[theme.space("medium")] * 4)
        row.setSpacing(theme.space("small"))
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        if self._button_below:
            words.addSpacing(theme.space("tight"))
            words.addWidget(self._button)
        else:
            row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignVCenter)
