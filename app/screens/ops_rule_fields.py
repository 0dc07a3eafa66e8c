"""The fields of one limit: two levels with their times, how loud, on or off; old beside new, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

from app.core.rule_draft import DELAYS, LEVELS, RuleDraft, RuleReading
from app.i18n import _, figures
from app.screens.ops_rule_words import fault_words, member_name, member_words, sign_of, unit_of
from app.screens.ops_words import severity_words
from backend_client.wire import OpsAlarmRule, OpsSeverity
from widgets.build import label, row, set_tone
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme
from widgets.tick_box import TickBox

_LEVEL_PX, _DELAY_PX, _LONGEST = 84, 60, 24
_LINES = (("raise_at", "raise_after_s"), ("clear_at", "clear_after_s"))


class RuleFields(QWidget):
    """Shows a draft; what a person types goes out as it is."""

    typed = Signal(str, str)
    """A number's name and its text."""
    severity_chosen = Signal(object)
    enabled_chosen = Signal(bool)

    def __init__(self, theme: Theme, rule: OpsAlarmRule) -> None:
        super().__init__()
        self.edits = {name: _edit(_LEVEL_PX if name in LEVELS else _DELAY_PX) for name in (*LEVELS, *DELAYS)}
        self.severity = ChoiceBox(theme)
        self.enabled = TickBox(theme, _("On"))
        self.notes = {name: label(kind="caption", wrap=True) for name in (*LEVELS, "severity")}
        self._names = {name: label(member_name(rule, name)) for name in (*LEVELS, "severity")}
        self._spoken = _spoken_names(rule)
        for severity in OpsSeverity:
            self.severity.addItem(severity_words(severity), severity.value)
        self._build(theme, rule)
        for edit in self.edits.values():
            edit.textEdited.connect(self._on_edited)
        self.severity.activated.connect(self._on_severity_activated)
        self.enabled.clicked.connect(self.enabled_chosen)

    @property
    def order(self) -> tuple[QWidget, ...]:
        """The fields in the order in which the keyboard goes through them."""
        lines = [self.edits[name] for line in _LINES for name in line]
        return (*lines, self.severity, self.enabled)

    def show_draft(self, draft: RuleDraft, reading: RuleReading, refused: Mapping[str, str]) -> None:
        """Show what is typed, what it was, and why it cannot be sent; `refused` are the booking system's words."""
        for name, edit in self.edits.items():
            if edit.text() != draft.text(name):
                edit.setText(draft.text(name))
        severity = draft.base.severity if draft.severity is None else draft.severity
        self.severity.setCurrentIndex(self.severity.findData(severity.value))
        self.enabled.setChecked(draft.base.enabled if draft.enabled is None else draft.enabled)
        for first, second in (*_LINES, ("severity", "enabled")):
            self._show_note(draft.base, reading, refused, (first, second))

    def _show_note(
        self, base: OpsAlarmRule, reading: RuleReading, refused: Mapping[str, str], pair: tuple[str, str]
    ) -> None:
        wrong = {name: fault_words(base, reading.faults[name]) for name in pair if name in reading.faults}
        wrong |= {name: words for name, words in refused.items() if name in pair and name not in wrong}
        was = [member_words(base, name, getattr(base, name)) for name in pair if name in reading.values]
        before = _("was {value}").format(value=figures().listed(was)) if was else ""
        note = self.notes[pair[0]]
        note.setText(figures().joined((*dict.fromkeys(wrong.values()), before)))
        note.setVisible(bool(note.text()))
        set_tone(note, "danger" if wrong else "accent")
        set_tone(self._names[pair[0]], "accent" if was else "")
        for name in pair:
            widget = self.edits.get(name) or (self.severity if name == "severity" else self.enabled)
            widget.setAccessibleName(self._spoken[name])
            changed = name in reading.values
            value = member_words(base, name, getattr(base, name))
            old = _("was {value}").format(value=value) if changed else ""
            widget.setAccessibleDescription(figures().spoken((wrong.get(name, ""), old)))

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """Nothing is typed while an answer is waited for."""
        for edit in self.edits.values():
            edit.setReadOnly(busy)
        self.severity.setEnabled(not busy)
        self.enabled.setEnabled(not busy)

    def focus_first(self) -> None:
        """Put the keyboard on the level that raises the alarm."""
        take_focus(self.edits["raise_at"])
        self.edits["raise_at"].selectAll()

    def _build(self, theme: Theme, rule: OpsAlarmRule) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.space("small"))
        grid.setVerticalSpacing(theme.space("tight"))
        grid.setColumnStretch(6, 1)
        for line, (level, delay) in enumerate(_LINES):
            parts: tuple[QWidget, ...] = (
                self._names[level], label(sign_of(rule, level), tone="muted"), self.edits[level],
                label(unit_of(rule.figure), tone="muted"), _between(), self.edits[delay],
                label(_("seconds"), tone="muted"),
            )  # fmt: skip
            for place, part in enumerate(parts):
                grid.addWidget(part, 2 * line, place)
            grid.addWidget(self.notes[level], 2 * line + 1, 2, 1, 5)
        loud = row(theme, gap="large")
        loud.addWidget(self.severity)
        loud.addWidget(self.enabled)
        loud.addStretch(1)
        grid.addWidget(self._names["severity"], 4, 0)
        grid.addLayout(loud, 4, 2, 1, 5)
        grid.addWidget(self.notes["severity"], 5, 2, 1, 5)

    def _on_edited(self, text: str) -> None:
        name = next(name for name, edit in self.edits.items() if edit is self.sender())
        self.typed.emit(name, text)

    def _on_severity_activated(self) -> None:
        self.severity_chosen.emit(OpsSeverity(str(self.severity.currentData())))


def _edit(width_px: int) -> QLineEdit:
    made = QLineEdit()
    made.setMaxLength(_LONGEST)
    made.setFixedWidth(width_px)
    # Figures are read from left to right in every script.
    side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
    made.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
    return made


def _between() -> QLabel:
    return label(_("for"), tone="muted")


def _spoken_names(rule: OpsAlarmRule) -> dict[str, str]:
    """What a screen reader calls each field: name, side, unit."""
    unit, names = unit_of(rule.figure), {name: member_name(rule, name) for name in (*LEVELS, *DELAYS)}
    spoken = {name: figures().spoken((names[name], sign_of(rule, name), unit)) for name in LEVELS}
    for level, delay in _LINES:
        spoken[delay] = figures().spoken((names[level], _("for so long"), _("seconds")))
    return {**spoken, "severity": member_name(rule, "severity"), "enabled": _("On")}
