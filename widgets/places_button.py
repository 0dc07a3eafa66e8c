"""A button for places without numbers: one kind is taken at once, of several a menu asks which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget


@dataclass(frozen=True, slots=True)
class PlacesChoice:
    """One kind of places: its number, its name, and what is said of it in the menu."""

    number: int
    name: str
    detail: str
    enabled: bool


class PlacesButton(QToolButton):
    """`chosen` carries the number of a choice."""

    chosen = Signal(int)

    def __init__(self, name: str, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._choices: tuple[PlacesChoice, ...] = ()
        self.menu_of_choices = QMenu(self)
        self.setProperty("role", "bar")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(f"{name} ({key})")
        self.clicked.connect(self.choose)
        self.show_choices(())

    @property
    def choices(self) -> tuple[PlacesChoice, ...]:
        """What can be chosen from."""
        return self._choices

    def show_choices(self, choices: Sequence[PlacesChoice]) -> None:
        """The kinds of places there are now; an open menu shows it too, and keeps what is marked."""
        self._choices = tuple(choices)
        lone = self._choices[0] if len(self._choices) == 1 else None
        self.setText(self._name if lone is None else lone.name)
        self.setAccessibleName(self._name if lone is None else f"{lone.name}, {lone.detail}")
        if [action.data() for action in self.menu_of_choices.actions()] != [one.number for one in self._choices]:
            self.menu_of_choices.clear()
            for choice in self._choices:
                action = QAction(self.menu_of_choices)
                action.setData(choice.number)
                action.triggered.connect(self._on_action_triggered)
                self.menu_of_choices.addAction(action)
        for action, choice in zip(self.menu_of_choices.actions(), self._choices, strict=True):
            action.setText(f"{choice.name.replace('&', '&&')}\t{choice.detail}")
            action.setEnabled(choice.enabled)

    def choose(self) -> None:
        """Choose the only kind, or ask which with the keyboard on the first."""
        if not self.isEnabled() or not self._choices:
            return
        if len(self._choices) == 1:
            self.chosen.emit(self._choices[0].number)
            return
        first = next((action for action in self.menu_of_choices.actions() if action.isEnabled()), None)
        if first is not None:
            self.menu_of_choices.setActiveAction(first)
        self.menu_of_choices.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _on_action_triggered(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.chosen.emit(int(action.data()))
