"""The settings of one subject, in cards of what belongs together: name, field, what it does, what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from app.core.session import Permission
from app.core.setting_specs import SettingGroup, SettingSpec, Value
from app.core.settings_desk import Subject
from app.i18n import _
from app.screens.setting_controls import control_for
from app.screens.setting_text import Typing, standing_text
from app.screens.setting_words import (
    bounds_words,
    example_words,
    group_name,
    others_words,
    setting_name,
    setting_words,
    value_words,
)
from app.screens.words import advice_for
from widgets.build import column, frame, label, row, set_tone
from widgets.theme import Theme

_NARROW_PX = 520
"""A row narrower than this has its field under its name."""


class SettingRow(QWidget):
    """One setting; `typed` carries its key and the raw text."""

    typed = Signal(str, str)

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        self.spec = spec
        self.control = control_for(theme, spec)
        self.name = label(setting_name(spec), wrap=True)
        self.words = label(setting_words(spec), kind="caption", tone="muted", wrap=True)
        self.note = label(tone="danger", kind="caption", wrap=True)
        self._line = row(theme)
        self._line.addWidget(self.name, 1)
        self._line.addWidget(self.control)
        page = column(theme, gap="tight", parent=self)
        page.addLayout(self._line)
        page.addWidget(self.words)
        page.addWidget(self.note)
        self.words.setVisible(bool(self.words.text()))  # in its place: without a parent it would be a window
        self.note.hide()
        self.control.typed.connect(self._on_control_typed)

    def show_setting(self, subject: Subject, typing: Typing, *, may: bool, why_not: str) -> None:
        """What stands there, what was typed over it, what is wrong with that, and what somebody else did."""
        spec = self.spec
        self.control.show_text(standing_text(subject, spec))
        self.control.setEnabled(may)
        self.control.setToolTip("" if may else why_not)
        stands = {} if subject.seen is None else subject.seen.values
        example = example_words(spec, typing.values.get(spec.key, stands.get(spec.key)))
        self.words.setText(" ".join(part for part in (setting_words(spec), example) if part))
        tone, note = self._note_of(subject, typing)
        set_tone(self.note, tone)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        changed = spec.key in typing.keys
        set_tone(self.name, "accent" if changed else "")
        said = " ".join(part for part in (self.words.text(), note) if part)
        self.control.name_it(setting_name(spec), said)

    def _note_of(self, subject: Subject, typing: Typing) -> tuple[str, str]:
        code = typing.faults.get(self.spec.key)
        if code is not None:
            title = advice_for(code).title
            return "danger", f"{title}. {bounds_words(self.spec)}." if code == "setting-outside" else title
        if self.spec.key in subject.theirs and subject.seen is not None:
            words = {"before": self._said(subject.theirs), "now": self._said(subject.seen.values)}
            return "warn", _("Somebody has changed this meanwhile: {before} → {now}").format(**words)
        return "", ""

    def _said(self, values: Mapping[str, Value]) -> str:
        return value_words(self.spec, values[self.spec.key]) if self.spec.key in values else others_words()

    def _on_control_typed(self, text: str) -> None:
        self.typed.emit(self.spec.key, text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        self._line.setDirection(direction.TopToBottom if self.width() < _NARROW_PX else direction.LeftToRight)


class SettingsForm(QWidget):
    """Cards of rows. Rows are kept while the settings are the same, so that a cursor stays where it is."""

    typed = Signal(str, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._specs: tuple[SettingSpec, ...] = ()
        self.rows: dict[str, SettingRow] = {}
        self._cards: list[QFrame] = []
        self._page = column(theme, gap="medium", parent=self)
        self._page.addStretch(1)

    def show_subject(
        self, subject: Subject, typing: Typing, may: Callable[[Permission], bool], why_not: str = ""
    ) -> None:
        """Show the settings; `why_not` keeps all of them from being set."""
        specs = () if subject.seen is None else subject.seen.specs
        if specs != self._specs:
            self._build(specs)
        words = why_not or _("Your role may read this and not set it.")
        for key, shown in self.rows.items():
            shown.show_setting(subject, typing, may=may(self.rows[key].spec.needs) and not why_not, why_not=words)

    def focus_first(self) -> None:
        """Put the keyboard into the first field that can be set."""
        first = next((shown for shown in self.rows.values() if shown.control.isEnabled()), None)
        if first is not None:
            first.control.focus_first()

    def _build(self, specs: tuple[SettingSpec, ...]) -> None:
        for card in self._cards:
            card.hide()
            card.deleteLater()
        self._cards.clear()
        self.rows.clear()
        self._specs = specs
        for group in dict.fromkeys(spec.group for spec in specs):
            card = self._card(group, [spec for spec in specs if spec.group is group])
            self._page.insertWidget(len(self._cards), card)
            self._cards.append(card)

    def _card(self, group: SettingGroup, specs: list[SettingSpec]) -> QFrame:
        card = frame("card")
        inside = column(self._theme, margin="large", gap="medium", parent=card)
        inside.addWidget(label(group_name(group), kind="lead"))
        for spec in specs:
            made = SettingRow(self._theme, spec)
            made.typed.connect(self.typed)
            self.rows[spec.key] = made
            inside.addWidget(made)
        return card
