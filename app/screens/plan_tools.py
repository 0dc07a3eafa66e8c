"""The tools above the drawing: what the next gesture draws, and the way back and forth."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from app.core.plan_draft import History
from app.i18n import _
from app.screens.plan_words import TOOL_WORDS
from widgets.flow_layout import FlowLayout
from widgets.plan_canvas import Tool
from widgets.theme import Theme


class PlanTools(QWidget):
    """Buttons with their keys in the tips; one tool is pressed."""

    tool_chosen = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    fit_requested = Signal()
    duplicate_requested = Signal()
    removal_requested = Signal()
    neighbours_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tools: dict[Tool, QToolButton] = {}
        self._group = QButtonGroup(self)
        flow = FlowLayout(self, theme.space("tight"))
        flow.setContentsMargins(0, 0, 0, 0)
        for tool, (words, key) in TOOL_WORDS.items():
            button = _button(_(words), key)
            button.setCheckable(True)
            self._group.addButton(button)
            self.tools[tool] = button
            flow.addWidget(button)
        self.undo = _button(_("Undo"), "Ctrl+Z")
        self.redo = _button(_("Redo"), "Ctrl+Shift+Z")
        self.duplicate = _button(_("Duplicate"), "Ctrl+D")
        self.remove = _button(_("Delete"), "Del")
        self.fit = _button(_("Whole hall"), "0")
        self.neighbours = _button(_("Neighbours"), "N")
        self.neighbours.setCheckable(True)
        for button in (self.undo, self.redo, self.duplicate, self.remove, self.fit, self.neighbours):
            flow.addWidget(button)
        self.tools[Tool.CHOOSE].setChecked(True)
        self._group.buttonClicked.connect(self._on_tool_clicked)
        self.undo.clicked.connect(self.undo_requested)
        self.redo.clicked.connect(self.redo_requested)
        self.duplicate.clicked.connect(self.duplicate_requested)
        self.remove.clicked.connect(self.removal_requested)
        self.fit.clicked.connect(self.fit_requested)
        self.neighbours.toggled.connect(self.neighbours_toggled)

    def show_history(self, history: History, *, can_copy: bool, can_remove: bool) -> None:
        """What can be done now."""
        self.undo.setEnabled(history.can_undo)
        self.redo.setEnabled(history.can_redo)
        self.duplicate.setEnabled(can_copy)
        self.remove.setEnabled(can_remove)

    def show_tool(self, tool: Tool) -> None:
        """Which tool is in hand."""
        self.tools[tool].setChecked(True)

    def _on_tool_clicked(self, button: QToolButton) -> None:
        for tool, one in self.tools.items():
            if one is button:
                self.tool_chosen.emit(tool)


def _button(words: str, key: str) -> QToolButton:
    made = QToolButton()
    made.setText(words)
    made.setAccessibleName(words)
    shown = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    made.setToolTip(f"{words} ({shown})")
    return made
