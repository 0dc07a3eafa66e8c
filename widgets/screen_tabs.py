"""The screens of a person, side by side in the menu bar: where one is, and where one may go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QToolButton, QWidget

from widgets.build import row
from widgets.theme import Theme


@dataclass(frozen=True, slots=True)
class ScreenTab:
    """`code` comes back when it is chosen; `count` stands behind the words when it is not 0."""

    code: str
    words: str
    hint: str
    count: str = ""


class ScreenTabs(QWidget):
    """The keyboard goes here by the screens' keys and the menu, so the tabs take no place in the order of Tab."""

    screen_chosen = Signal(str)
    resized = Signal()
    """The tabs need more room, or less: a menu bar does not ask by itself."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edge_px = theme.space("medium")
        self._line = row(theme, gap="hair", parent=self)
        self._line.setContentsMargins(theme.space("small"), 0, theme.space("small"), 0)
        self._buttons: dict[str, _Tab] = {}

    @property
    def shown(self) -> list[str]:
        """Codes of the tabs, in order."""
        return list(self._buttons)

    @property
    def current(self) -> str:
        """The code of the tab that is marked; empty for none."""
        return next((code for code, button in self._buttons.items() if button.isChecked()), "")

    def show_tabs(self, tabs: Sequence[ScreenTab], current: str) -> None:
        """Show these tabs and mark one."""
        if [tab.code for tab in tabs] != self.shown:
            for button in self._buttons.values():
                button.hide()
                button.deleteLater()
            self._buttons = {tab.code: self._add(tab.code) for tab in tabs}
        for tab in tabs:
            button = self._buttons[tab.code]
            button.tell(tab)
            button.setChecked(tab.code == current)
        self.setVisible(bool(tabs))
        before = self.width()
        self.adjustSize()
        if self.width() != before:
            self.resized.emit()

    def _add(self, code: str) -> _Tab:
        button = _Tab(code, self._edge_px)
        button.chosen.connect(self.screen_chosen)
        self._line.addWidget(button)
        return button


class _Tab(QToolButton):
    chosen = Signal(str)

    def __init__(self, code: str, edge_px: int) -> None:
        super().__init__()
        self._code = code
        self._edge_px = edge_px
        self.setCheckable(True)
        self.setProperty("role", "tab")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self._on_clicked)

    def tell(self, tab: ScreenTab) -> None:
        """Words, count and key."""
        text = f"{tab.words} ({tab.count})" if tab.count else tab.words
        self.setToolTip(f"{tab.words}  {tab.hint}")
        if text == self.text():
            return
        self.setText(text)
        self.setAccessibleName(text)
        bold = QFont(self.font())
        bold.setBold(True)
        self.setMinimumWidth(QFontMetrics(bold).horizontalAdvance(text) + 2 * self._edge_px)

    def _on_clicked(self) -> None:
        self.setChecked(not self.isChecked())  # whoever shows the screen marks the tab
        self.chosen.emit(self._code)
