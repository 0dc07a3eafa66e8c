"""What would be changed, said before it is: from what to what, why, and the button that is pressed twice."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.refund import is_reason
from app.core.setting_specs import Value
from app.core.settings_desk import Subject
from app.i18n import _, figures, ngettext
from app.screens import keys
from app.screens.setting_text import Typing
from app.screens.setting_words import change_words, others_words, setting_name, value_words
from widgets.async_button import AsyncButton
from widgets.build import column, label, leading
from widgets.facts_grid import FactsGrid
from widgets.focus import take_focus
from widgets.theme import Theme
from widgets.twice_button import TwiceButton

_LONGEST = 200


class ChangeCard(QWidget):
    """Shows the changes of a subject; the settings themselves are the form's."""

    reason_typed = Signal(str)
    save_requested = Signal()
    put_back_requested = Signal()
    undo_requested = Signal()

    def __init__(self, theme: Theme, *, needs_reason: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._needs_reason = needs_reason
        self.changes = FactsGrid(theme)
        self.nothing = label(_("Nothing is changed."), tone="muted", wrap=True)
        self.fault = label(tone="danger", wrap=True)
        self.reason = QLineEdit()
        self.save = TwiceButton(_("Save"), _("Save"), "primary")
        self.put_back = AsyncButton(_("Leave everything as it is"))
        self.undo = AsyncButton(_("Take the last change back"), "quiet")
        self.missing = label(_("Say why."), tone="muted", kind="caption")
        self._caption = label(_("Reason"))
        self._may_save = False
        self._build(theme)

    @property
    def buttons(self) -> list[AsyncButton]:
        """Busy while a change is sent."""
        return [self.save]

    def show_subject(self, subject: Subject, typing: Typing, *, may_set: bool) -> None:
        """Show what would be changed."""
        changes = _changes(subject, typing)
        self.changes.show_facts(changes)
        self.changes.setVisible(bool(changes))
        self.nothing.setVisible(not changes)
        wrong = [] if subject.seen is None else [
            setting_name(spec) for spec in subject.seen.specs if spec.key in typing.faults
        ]  # fmt: skip
        self.fault.setText(_("Not right yet: {names}").format(names=figures().names(wrong)) if wrong else "")
        self.fault.setVisible(bool(wrong))
        if self.reason.text() != subject.reason:
            self.reason.setText(subject.reason)
        asked = self._needs_reason and bool(changes)
        said = not self._needs_reason or is_reason(subject.reason)
        for part in (self._caption, self.reason):
            part.setVisible(asked)
        self.missing.setVisible(asked and not said)
        self.save.setVisible(may_set)
        self.put_back.setVisible(may_set and bool(subject.typed))
        self.undo.setVisible(may_set and bool(subject.changed) and not subject.typed)
        self._may_save = bool(changes) and not wrong and said
        self.save.setEnabled(self._may_save)
        count = len(changes)
        question = ngettext("Change {count} setting for everybody?", "Change {count} settings for everybody?", count)
        if not self._needs_reason:
            question = ngettext("Change {count} setting here?", "Change {count} settings here?", count)
        self.save.set_about((id(subject), tuple(changes)))
        self.save.set_words(_("Save"), question.format(count=figures().number(count)))

    def press_save(self) -> None:
        """As a press of the button, by a key."""
        if self.save.isVisible() and self._may_save and self.save.listens:
            self.save.click()

    def _build(self, theme: Theme) -> None:
        page = column(theme, margin="large", gap="small", parent=self)
        page.addWidget(label(_("What will change"), kind="lead"))
        self.reason.setAccessibleName(_("Reason"))
        self.reason.setPlaceholderText(_("Why, for whoever reads the audit"))
        self.reason.setMaxLength(_LONGEST)
        self.reason.setAlignment(leading())
        self._caption.setBuddy(self.reason)
        self.save.set_key_hint(keys.SAVE_SETTINGS.sequence)
        for part in (self.nothing, self.changes, self.fault, self._caption, self.reason, self.missing, self.save,
                     self.put_back, self.undo):  # fmt: skip
            page.addWidget(part)
        page.addStretch(1)
        self.reason.textEdited.connect(self.reason_typed)
        self.reason.returnPressed.connect(self._on_return_pressed)
        self.save.meant.connect(self.save_requested)
        self.put_back.action_requested.connect(self._on_put_back)
        self.undo.action_requested.connect(self._on_undo)

    def _on_return_pressed(self) -> None:
        """Enter in the field goes on to the button, and never saves by itself."""
        if self.save.isEnabled():
            take_focus(self.save, Qt.FocusReason.TabFocusReason)

    def _on_put_back(self) -> None:
        self.put_back.set_busy(False)
        self.put_back_requested.emit()

    def _on_undo(self) -> None:
        self.undo.set_busy(False)
        self.undo_requested.emit()


def _changes(subject: Subject, typing: Typing) -> list[tuple[str, str]]:
    """Name, and from what to what."""
    if subject.seen is None:
        return []
    lines = []
    for spec in subject.seen.specs:
        if spec.key not in typing.keys:
            continue
        stands = subject.seen.values
        before = value_words(spec, stands[spec.key]) if spec.key in stands else others_words()
        wanted: Value = typing.values.get(spec.key)
        after = others_words() if spec.key in typing.dropped else value_words(spec, wanted)
        lines.append((setting_name(spec), change_words(before, after)))
    return lines
