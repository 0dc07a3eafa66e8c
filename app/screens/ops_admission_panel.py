"""Admission of the watched event: set beside measured, and what an operator types to set it otherwise.

What is typed stays over polls, other screens and other people's changes; nothing is sent before the dialog that says
what it would do.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLineEdit, QRadioButton, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_draft import NUMBERS, NumberTextError, numbers_of
from app.core.ops_parts import OpsPart
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.screens import ops_keys
from app.screens.ops_cause_words import cause_words
from app.screens.ops_preview_words import difference_words, number_name, preview_words
from app.screens.ops_words import mode_words, reason_words
from app.screens.words import advice_for
from backend_client.wire import AdmissionControl, AdmissionMode, AdmissionReason, AdmissionSettings, EventStatus
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, set_tone
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_BAR_PX = 14
_MODES = (AdmissionMode.AUTOMATIC, AdmissionMode.MANUAL)


class OpsAdmissionPanel(QWidget):
    """Reads the board; what is typed and wished goes out as signals."""

    draft_changed = Signal(object)
    """An `AdmissionDraft`."""
    review_requested = Signal()
    undo_requested = Signal()
    keep_requested = Signal()
    event_pause_requested = Signal()
    """Pause the sale of the event, or resume it."""
    room_pause_requested = Signal()
    """Pause the room, or resume it."""

    def __init__(self, theme: Theme, store: ConsoleStore) -> None:
        super().__init__()
        self._theme = theme
        self._store = store
        self._telling = False
        self.set_rate, self.measured_rate = label(kind="display"), label(kind="display")
        self._reason = label(tone="muted", wrap=True)
        self._inside = label(tone="muted", wrap=True)
        self._group = QButtonGroup(self)
        self.modes = {mode: QRadioButton(mode_words(mode)) for mode in _MODES}
        self.fields = {name: QLineEdit() for name in NUMBERS}
        self._units = {name: label(tone="muted") for name in NUMBERS}
        self.fault = label(tone="danger", wrap=True)
        self.theirs = StatusBanner(theme)
        self.keep = AsyncButton(_("Go on with mine"))
        self.effect = label(wrap=True)
        self.review = AsyncButton(_("See what it does…"), "primary")
        self.undo = AsyncButton(_("Take back what is typed"), "quiet")
        self.pause_event = AsyncButton(_("Pause the sale…"))
        self.pause_room = AsyncButton(_("Pause the room…"))
        self._event_state = label(wrap=True)
        self._room_state = label(wrap=True)
        self._trouble = label(tone="warn", wrap=True)
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {"admission": [self.review], "event-status": [self.pause_event], "room-status": [self.pause_room]}

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def may_change(self) -> bool:
        """Whether the role may set anything, as far as the console knows."""
        session = self._store.session
        return session is not None and session.may(Permission.TUNE_ADMISSION)

    @property
    def has_no_room(self) -> bool:
        """Whether there is no room to be paused, as far as is known; one that is set to be paused may be resumed."""
        control = self._board.control
        return control is not None and control.room is None and control.settings.mode is not AdmissionMode.PAUSED

    # ------------------------------------------------------------ what is shown

    def show_part(self, part: OpsPart) -> None:
        """Show what changed."""
        if part & (OpsPart.CONTROL | OpsPart.DRAFT | OpsPart.PREVIEW | OpsPart.FIGURES):
            self._show_rates()
        if part & (OpsPart.CONTROL | OpsPart.DRAFT | OpsPart.PREVIEW):
            self._show_form()
        if part & (OpsPart.CONTROL | OpsPart.FIGURES):
            self._show_states()

    def _show_rates(self) -> None:
        control = self._board.control
        if control is None:
            for shown in (self.set_rate, self.measured_rate):
                shown.setText("–")
            self._reason.setText(_("Reading…") if not self._board.control_trouble else "")
            self._inside.setText("")
        else:
            measured = None if control.room is None else control.room.let_in_per_minute
            self.set_rate.setText(figures().rough(control.per_minute))
            self.measured_rate.setText("–" if measured is None else figures().rough(measured))
            self._reason.setText(self._reason_words(control))
            self._inside.setText(self._inside_words(control))
        for shown, name in ((self.set_rate, _("Set")), (self.measured_rate, _("Measured"))):
            shown.setAccessibleName(_("{name}: {value} a minute").format(name=name, value=shown.text()))
        self._trouble.setVisible(bool(self._board.control_trouble))
        if self._board.control_trouble:
            self._trouble.setText(advice_for(self._board.control_trouble).title)

    def _reason_words(self, control: AdmissionControl) -> str:
        if control.room is None:
            return no_room_words()
        if not control.is_steered and (control.settings.mode is not AdmissionMode.PAUSED or _lets_in(control)):
            return _("No controller is at work: the room keeps its rate.")
        if control.cause is None:
            return reason_words(control.reason)
        # A code that is newer than this console is in English.
        words = cause_words(control.cause, control.words or reason_words(control.reason))
        return _("Lowered: {why}").format(why=words) if control.reason is AdmissionReason.STRAIN else words

    def _inside_words(self, control: AdmissionControl) -> str:
        room = control.room
        if room is None:
            return ""
        inside = _("{count} of {most} inside").format(
            count=figures().number(room.active), most=figures().number(room.total_active_users)
        )
        return figures().joined((inside, _("{count} waiting").format(count=figures().number(room.waiting))))

    def _show_form(self) -> None:
        control, draft = self._board.control, self._board.draft
        self._telling = True
        try:
            known = control is not None and self.may_change
            for part in (*self.fields.values(), *self.modes.values()):
                part.setEnabled(known)
            if control is None:
                self._empty()
            else:
                self._fill(control.settings)
        finally:
            self._telling = False
        self.review.setEnabled(known and not draft.is_empty and not self.fault_words and self._board.theirs is None)
        self.undo.setVisible(not draft.is_empty)
        self.fault.setText(self.fault_words)
        self.fault.setVisible(bool(self.fault_words))
        self._show_theirs()
        self._show_effect()

    def _empty(self) -> None:
        """Nothing is known of this event: what stood here was another's, or somebody else's."""
        self._group.setExclusive(False)
        for button in self.modes.values():
            button.setChecked(False)
        self._group.setExclusive(True)
        for name, field in self.fields.items():
            field.clear()
            set_tone(self._units[name], "muted")
            self._units[name].setText(_per(name))

    def _fill(self, settings: AdmissionSettings) -> None:
        draft = self._board.draft
        mode = draft.mode or (settings.mode_before_pause if settings.mode is AdmissionMode.PAUSED else settings.mode)
        if mode in self.modes:
            self.modes[mode].setChecked(True)
        for name, field in self.fields.items():
            typed = draft.text(name)
            text = str(getattr(settings, name)) if typed is None else typed
            if field.text() != text:
                field.setText(text)
            set_tone(self._units[name], "muted" if typed is None else "accent")
            was = figures().number(getattr(settings, name))
            self._units[name].setText(_per(name) if typed is None else _("was {value}").format(value=was))

    @property
    def fault_words(self) -> str:
        """Why what is typed cannot be set; empty when it can."""
        if self._board.control is None:
            return ""
        try:
            numbers_of(self._board.draft, self._board.control.settings)
        except NumberTextError as error:
            return _("{name}: a whole number from {least} to {most}").format(
                name=number_name(error.name), least=figures().number(error.least), most=figures().number(error.most)
            )
        return ""

    def _show_theirs(self) -> None:
        """Somebody else was faster: what they set, beside what is typed here, which stays."""
        board = self._board
        self.keep.setVisible(board.theirs is not None)
        if board.theirs is None or board.control is None:
            self.theirs.clear()
            return
        title = _("{who} has set admission meanwhile").format(who=board.theirs.changed_by or _("Somebody"))
        detail = figures().joined(difference_words(board.draft, board.theirs))
        self.theirs.tell("warn", title, detail)

    def _show_effect(self) -> None:
        board = self._board
        words = ""
        if not board.draft.is_empty and not self.fault_words:
            if board.preview is not None:
                words = preview_words(board.preview)
            elif board.preview_trouble:
                words = advice_for(board.preview_trouble).title
            else:
                words = _("Asking what it would do…")
        self.effect.setText(words)
        self.effect.setVisible(bool(words))

    def _show_states(self) -> None:
        board = self._board
        event, control = board.event, board.control
        paused = event is not None and event.status == EventStatus.PAUSED
        shown: dict[str, str] = {
            EventStatus.ON_SALE: _("On sale"), EventStatus.PAUSED: _("Sale paused"),
            EventStatus.CANCELLED: _("Cancelled"),
        }  # fmt: skip
        self._event_state.setText("–" if event is None else shown.get(event.status, event.status))
        set_tone(self._event_state, "warn" if paused else "")
        self.pause_event.set_label(_("Resume the sale…") if paused else _("Pause the sale…"))
        self.pause_event.setEnabled(
            event is not None and event.status in {EventStatus.ON_SALE, EventStatus.PAUSED} and self.may_change
        )
        stopped = control is not None and control.settings.mode is AdmissionMode.PAUSED
        self._room_state.setText(self._room_words(control))
        set_tone(self._room_state, "warn" if stopped or (control is not None and _is_in_trouble(control)) else "")
        self.pause_room.set_label(_("Resume the room…") if stopped else _("Pause the room…"))
        self.pause_room.setEnabled(control is not None and self.may_change and not self.has_no_room)
        self.pause_room.setToolTip(no_room_words() if self.has_no_room else "")
        self.pause_room.setAccessibleDescription(self.pause_room.toolTip())

    def _room_words(self, control: AdmissionControl | None) -> str:
        if control is None:
            return "–"
        if control.room is None:
            return _("No room")
        if control.settings.mode is AdmissionMode.PAUSED and not _lets_in(control):
            return _("Paused: nobody is let in")
        cause = control.room.problem_cause
        why = "" if cause is None else cause_words(cause, control.room.problem)
        if not control.room.is_there:
            return figures().joined((_("The room does not answer"), why))
        if control.room.problem:
            return figures().joined((_("The room does not do as it is told"), why))
        return _("Letting people in") if control.room.is_letting_in else _("Nobody is let in now")

    def focus_first(self) -> None:
        """Put the keyboard where a rate is typed."""
        field = self.fields["manual_per_minute" if self.modes[AdmissionMode.MANUAL].isChecked() else "cap_per_minute"]
        take_focus(field, Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

    # ------------------------------------------------------------ what is typed

    def _on_field_edited(self) -> None:
        control = self._board.control
        if self._telling or control is None:
            return
        name = next(name for name, field in self.fields.items() if field is self.sender())
        self.draft_changed.emit(self._board.draft.with_text(name, self.fields[name].text(), control.settings))

    def _on_mode_clicked(self) -> None:
        control = self._board.control
        if self._telling or control is None:
            return
        mode = next(mode for mode, button in self.modes.items() if button is self.sender())
        self.draft_changed.emit(self._board.draft.with_mode(mode, control.settings))

    def _on_review_requested(self) -> None:
        self.review_requested.emit()

    def _on_keep_requested(self) -> None:
        self.keep.set_busy(False)
        self.keep_requested.emit()

    def _on_undo_requested(self) -> None:
        self.undo.set_busy(False)
        self.undo_requested.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if enter and self.review.isEnabled():
            self.review.click()
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and not self._board.draft.is_empty:
            self.undo_requested.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        page = column(theme, gap="small", parent=self)
        # Room for the bar of the area that it scrolls in.
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        page.setContentsMargins(_BAR_PX if mirrored else 0, 0, 0 if mirrored else _BAR_PX, 0)
        page.addWidget(label(_("Admission"), kind="lead"))
        page.addLayout(self._build_rates())
        for part in (self._reason, self._inside, self._trouble):
            page.addWidget(part)
        page.addWidget(self._build_form())
        page.addWidget(self._build_states())
        page.addStretch(1)
        self._trouble.hide()

    def _build_rates(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.space("large"))
        grid.setVerticalSpacing(0)
        for place, (shown, words) in enumerate(
            ((self.set_rate, _("Set, a minute")), (self.measured_rate, _("Measured, a minute")))
        ):
            grid.addWidget(label(words, kind="caption", tone="muted"), 0, place)
            grid.addWidget(shown, 1, place)
            grid.setColumnStretch(place, 1)
        return grid

    def _build_form(self) -> QWidget:
        theme = self._theme
        box = frame("sunken")
        inside = column(theme, margin="medium", gap="small", parent=box)
        beside = row(theme, gap="large")
        for button in self.modes.values():
            button.setAccessibleName(_("Mode: {mode}").format(mode=button.text()))
            self._group.addButton(button)
            beside.addWidget(button)
        beside.addStretch(1)
        inside.addLayout(beside)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.space("small"))
        grid.setVerticalSpacing(theme.space("tight"))
        grid.setColumnStretch(0, 1)
        for line, (name, field) in enumerate(self.fields.items()):
            field.setAccessibleName(number_name(name))
            field.setProperty("role", "bar")
            field.setMaxLength(12)
            field.setFixedWidth(78)
            grid.addWidget(label(number_name(name)), line, 0)
            grid.addWidget(field, line, 1)
            grid.addWidget(self._units[name], line, 2)
        grid.setColumnMinimumWidth(2, 66)
        inside.addLayout(grid)
        for part in (self.fault, self.theirs, self.keep, self.effect):
            inside.addWidget(part)
            part.hide()
        self.review.set_key_hint(ops_keys.REVIEW.sequence)
        inside.addWidget(self.review)
        inside.addWidget(self.undo)
        self.undo.hide()
        return box

    def _build_states(self) -> QWidget:
        theme = self._theme
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.space("small"))
        grid.setVerticalSpacing(theme.space("small"))
        grid.setColumnStretch(1, 1)
        lines = (
            (_("Event"), self._event_state, self.pause_event, ops_keys.EVENT),
            (_("Room"), self._room_state, self.pause_room, ops_keys.ROOM),
        )
        for line, (words, state, button, key) in enumerate(lines):
            button.set_key_hint(key.sequence)
            grid.addWidget(label(words, tone="muted"), line, 0)
            grid.addWidget(state, line, 1)
            grid.addWidget(button, line, 2)
        return box

    def _connect(self) -> None:
        for field in self.fields.values():
            field.textEdited.connect(self._on_field_edited)
        for button in self.modes.values():
            button.clicked.connect(self._on_mode_clicked)
        self.review.action_requested.connect(self._on_review_requested)
        self.undo.action_requested.connect(self._on_undo_requested)
        self.keep.action_requested.connect(self._on_keep_requested)
        self.pause_event.action_requested.connect(self.event_pause_requested)
        self.pause_room.action_requested.connect(self.room_pause_requested)


def no_room_words() -> str:
    """Why nothing here would hold anybody up."""
    return _("This event has no waiting room. To stop fans, pause the sale.")


def _lets_in(control: AdmissionControl) -> bool:
    """Whether the room let people in when it was seen last: a pause is one once the room has made it."""
    return control.room is not None and control.room.is_letting_in


def _is_in_trouble(control: AdmissionControl) -> bool:
    return control.room is not None and (not control.room.is_there or bool(control.room.problem))


def _per(name: str) -> str:
    return _("people") if name == "total_active_users" else _("a minute")
