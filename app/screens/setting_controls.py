"""The fields of settings: one for each kind. All of them speak raw text, as a person types it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.setting_specs import LIMIT_OF, SettingKind, SettingSpec
from app.i18n import _
from app.screens.setting_text import NEVER, NO, OTHERS, YES
from app.screens.setting_words import choice_words, others_words, setting_name, unit_words
from widgets.build import label, row
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme
from widgets.tick_box import TickBox

_NUMBER_PX, _TEXT_PX, _CHOICE_PX = 120, 220, 220
_FIELD_PX = 396
"""Fields begin below each other; units and second fields have room in it."""
_ABOVE = "above"


class _Control(QWidget):
    """`typed` carries the raw text, of a person's act alone.

    Each kind has `text`, what the field says; `show_text`, which emits nothing and leaves the cursor where it is if the
    text is the same; `name_it` for screen readers; `focus_first`.
    """

    typed = Signal(str)


class EntryControl(_Control):
    """A line to type into, with its unit."""

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setMaxLength(80)
        self.edit.setFixedWidth(_TEXT_PX if spec.kind is SettingKind.TEXT else _NUMBER_PX)
        side = Qt.AlignmentFlag.AlignLeft if spec.kind is SettingKind.TEXT else Qt.AlignmentFlag.AlignRight
        # Figures and addresses are read from left to right in every script.
        self.edit.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)
        line = row(theme, parent=self)
        line.addWidget(self.edit)
        unit = unit_words(spec)
        if unit:
            line.addWidget(label(unit, tone="muted"))
        line.addStretch(1)
        self.edit.textEdited.connect(self.typed)

    @property
    def text(self) -> str:
        return self.edit.text()

    def show_text(self, text: str) -> None:
        if self.edit.text() != text:
            self.edit.setText(text)

    def name_it(self, name: str, words: str) -> None:
        self.edit.setAccessibleName(name)
        self.edit.setAccessibleDescription(words)

    def focus_first(self) -> None:
        take_focus(self.edit)


class ChoiceControl(_Control):
    """One of a few."""

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        self.box = ChoiceBox(theme)
        for choice in spec.choices:
            self.box.addItem(choice_words(spec, choice), choice)
        self.box.setMinimumWidth(_CHOICE_PX)
        line = row(theme, parent=self)
        line.addWidget(self.box)
        line.addStretch(1)
        self.box.activated.connect(self._on_activated)

    @property
    def text(self) -> str:
        return str(self.box.currentData())

    def show_text(self, text: str) -> None:
        place = self.box.findData(text)
        if place != self.box.currentIndex():
            self.box.setCurrentIndex(place)

    def name_it(self, name: str, words: str) -> None:
        self.box.setAccessibleName(name)
        self.box.setAccessibleDescription(words)

    def focus_first(self) -> None:
        take_focus(self.box)

    def _on_activated(self) -> None:
        self.typed.emit(self.text)


class FlagControl(_Control):
    """Yes or no."""

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        del spec
        self.tick = TickBox(theme, _("yes"))
        line = row(theme, parent=self)
        line.addWidget(self.tick)
        line.addStretch(1)
        self.tick.clicked.connect(self._on_clicked)

    @property
    def text(self) -> str:
        return YES if self.tick.isChecked() else NO

    def show_text(self, text: str) -> None:
        self.tick.setChecked(text == YES)

    def name_it(self, name: str, words: str) -> None:
        self.tick.setAccessibleName(name)
        self.tick.setAccessibleDescription(words)

    def focus_first(self) -> None:
        take_focus(self.tick)

    def _on_clicked(self) -> None:
        self.typed.emit(self.text)


class LimitControl(_Control):
    """Above an amount, or never; of a currency also: as all others."""

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        self.mode = ChoiceBox(theme)
        self.entry = EntryControl(theme, spec)
        if spec.key.startswith(LIMIT_OF):
            self.mode.addItem(others_words(), OTHERS)
        self.mode.addItem(_("above"), _ABOVE)
        self.mode.addItem(_("never"), NEVER)
        self.mode.setMinimumWidth(_NUMBER_PX)
        line = row(theme, parent=self)
        line.addWidget(self.mode)
        line.addWidget(self.entry)
        self.mode.activated.connect(self._on_activated)
        self.entry.typed.connect(self.typed)

    @property
    def text(self) -> str:
        mode = str(self.mode.currentData())
        return self.entry.text if mode == _ABOVE else mode

    def show_text(self, text: str) -> None:
        mode = text if text in {NEVER, OTHERS} else _ABOVE
        self.mode.setCurrentIndex(self.mode.findData(mode))
        self.entry.setEnabled(mode == _ABOVE)
        if mode == _ABOVE:
            self.entry.show_text(text)
        else:
            self.entry.show_text("")

    def name_it(self, name: str, words: str) -> None:
        self.mode.setAccessibleName(name)
        self.mode.setAccessibleDescription(words)
        self.entry.name_it(name, words)

    def focus_first(self) -> None:
        take_focus(self.mode)

    def _on_activated(self) -> None:
        above = str(self.mode.currentData()) == _ABOVE
        self.entry.setEnabled(above)
        if above:
            self.entry.focus_first()
        self.typed.emit(self.text)


SettingControl = EntryControl | ChoiceControl | FlagControl | LimitControl

_KINDS: dict[SettingKind, type[SettingControl]] = {
    SettingKind.CHOICE: ChoiceControl,
    SettingKind.FLAG: FlagControl,
    SettingKind.LIMIT: LimitControl,
}


def control_for(theme: Theme, spec: SettingSpec) -> SettingControl:
    """The field of a setting, with what a screen reader says of it left to the row."""
    made = _KINDS.get(spec.kind, EntryControl)(theme, spec)
    made.setMinimumWidth(_FIELD_PX)
    made.name_it(setting_name(spec), "")
    return made
