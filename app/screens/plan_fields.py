"""Fields of the plan editor: a caption above a control, numbers, and what all its pages have."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.i18n import _
from widgets.build import column, label, leading
from widgets.choice_box import ChoiceBox
from widgets.theme import Theme

SEVERAL = -1
"""What a choice says while the chosen things differ."""


class NumberField(QLineEdit):
    """A number within bounds, typed or stepped with ↑ and ↓. What cannot be read gives way to the number before."""

    value_changed = Signal()

    def __init__(self, least: float, most: float, step: float = 1.0, decimals: int = 0) -> None:
        super().__init__()
        self._least, self._most, self._step, self._decimals = least, most, step, decimals
        self._value = least
        self.setAlignment(leading())
        self.setMaxLength(12)
        self.editingFinished.connect(self._on_editing_finished)
        self.set_value(least)

    @property
    def value(self) -> float:
        """The number that was typed to the end."""
        return self._value

    @property
    def count(self) -> int:
        """The number as a whole one."""
        return int(self._value)

    def set_value(self, value: float) -> None:
        """Show a number, without telling anybody."""
        self._value = round(min(max(value, self._least), self._most), self._decimals)
        shown = f"{self._value:.{self._decimals}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        if self.text() != shown:
            self.setText(shown)

    def _take(self, value: float) -> None:
        before = self._value
        self.set_value(value)
        if self._value != before:
            self.value_changed.emit()

    def _on_editing_finished(self) -> None:
        self._take(_number_of(self.text(), self._value))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows step, and count at once."""
        way = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if not way:
            super().keyPressEvent(event)
            return
        self._take(_number_of(self.text(), self._value) + way * self._step)
        event.accept()


def _number_of(text: str, otherwise: float) -> float:
    """A number with a point or a comma, in any script's digits."""
    try:
        value = float(text.strip().replace(",", ".").replace("\u066b", ".").replace("\u2212", "-"))
    except ValueError:
        return otherwise
    return value if math.isfinite(value) else otherwise


def captioned(theme: Theme, caption: str, control: QWidget) -> QVBoxLayout:
    """The caption above the control; a screen reader reads them together."""
    made = column(theme, gap="hair")
    words = label(caption, kind="caption", tone="muted", wrap=True)
    words.setBuddy(control)
    control.setAccessibleName(caption)
    made.addWidget(words)
    made.addWidget(control)
    made.addStretch(1)
    return made


def caption_of(control: QWidget, caption: str) -> None:
    """Another caption for a control that has one."""
    control.setAccessibleName(caption)
    page = control.parentWidget()
    for words in () if page is None else page.findChildren(QLabel):
        if words.buddy() is control:
            words.setText(caption)


def fill_choices(box: ChoiceBox, choices: list[tuple[str, int]], chosen: set[int]) -> None:
    """Choices, and the one that all of the chosen have; several of them are named so (`SEVERAL`)."""
    box.blockSignals(True)
    box.clear()
    if len(chosen) > 1:
        box.add_choice(_("Several"), "", SEVERAL)
    for name, number in choices:
        box.add_choice(name, "", number)
    box.setCurrentIndex(0 if len(chosen) > 1 else max(box.findData(next(iter(chosen), 0)), 0))
    box.blockSignals(False)


def small_button(sign: str, words: str) -> QToolButton:
    """A button of one sign; the words are spoken, and shown in its tip."""
    made = QToolButton()
    made.setText(sign)
    made.setAccessibleName(words)
    made.setToolTip(words)
    return made


def as_it_is(text: str) -> str:
    """Text that reads from left to right in any language: pointers, words of a machine."""
    return f"\u2066{text}\u2069"


def emptied(box: QVBoxLayout) -> None:
    """Take everything out of a column."""
    while box.count():
        item = box.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def plain_button(text: str) -> QPushButton:
    """A button of a page; Enter elsewhere does not press it."""
    made = QPushButton(text)
    made.setAccessibleName(text)
    made.setAutoDefault(False)
    return made


def show_layout(layout: QBoxLayout, *, shown: bool) -> None:
    """Show or hide every control of a small layout."""
    for place in range(layout.count()):
        item = layout.itemAt(place)
        widget = None if item is None else item.widget()
        inner = None if item is None else item.layout()
        if widget is not None:
            widget.setVisible(shown)
        elif isinstance(inner, QBoxLayout):
            show_layout(inner, shown=shown)
