"""Questions before an operator's act: what it does, why it is done, and what comes of it.

A dialog stays until the booking system has answered: a refusal is read here, and what was typed is not lost.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLayout, QPushButton, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_waits import WaitRow
from app.core.refund import is_reason
from app.i18n import _, figures, ngettext
from app.screens.ops_preview_words import change_words, difference_words, waiting_words
from app.screens.ops_words import reason_words, session_state_words, statement_words, undo_words
from app.screens.words import Advice, advice_for
from backend_client.wire import AdmissionPreview, OpsSession
from widgets.answer_dialog import AnswerDialog
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, text_field
from widgets.charts.rate_path import RatePath
from widgets.facts_grid import FactsGrid
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_WIDTH_PX = 560
_LONGEST_REASON = 200
_ROOM_FOR_PATH_PX = 640


class ActDialog(AnswerDialog):
    """A title, what will happen, a reason, two answers. `sent` when the person means it."""

    sent = Signal()

    def __init__(
        self, theme: Theme, title: str, words: str, yes: str, parent: QWidget, *, danger: bool = False
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(words)
        self.needs: list[Callable[[], bool]] = []
        """What the act needs beside a reason."""
        self.banner = StatusBanner(theme)
        self.reason = text_field()
        self.reason.setMaxLength(_LONGEST_REASON)
        self.reason.setMinimumWidth(_WIDTH_PX - 2 * theme.space("wide"))  # wrapped texts are as high as this width asks
        self.reason.setAccessibleName(_("Reason"))
        self.send = AsyncButton(yes, "danger" if danger else "primary")
        self.cancel = QPushButton(_("Cancel"))
        self.cancel.setAccessibleName(self.cancel.text())
        self.send.setDefault(True)
        for button in (self.send, self.cancel):
            button.setMinimumHeight(theme.sizes["touch"])
        self.inside = column(theme, gap="small")
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.cancel)
        end.addWidget(self.send)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # see `fit`
        page.addWidget(label(title, kind="title", wrap=True))
        if words:
            page.addWidget(label(words, wrap=True))
        page.addLayout(self.inside)
        why = column(theme, gap="tight")
        why.addWidget(label(_("Why? It is kept in the log."), tone="muted"))
        why.addWidget(self.reason)
        page.addLayout(why)
        page.addWidget(self.banner)
        page.addLayout(end)
        self.setFixedWidth(_WIDTH_PX)
        self.reason.textChanged.connect(self.show_answerable)
        self.send.action_requested.connect(self.sent)
        self.cancel.clicked.connect(self.reject)
        self.show_answerable()
        take_focus(self.reason)

    @property
    def may_send(self) -> bool:
        """Whether everything is there that the act needs."""
        return is_reason(self.reason.text()) and all(is_met() for is_met in self.needs)

    def show_answerable(self) -> None:
        """The answer listens once a reason is given."""
        self.send.setEnabled(self.may_send or self.send.busy)

    def tell(self, words: Advice) -> None:
        """Say why it was not done; what was typed stays."""
        self.set_busy(False)
        self.banner.tell(words.tone, words.title, words.detail)
        self.fit()

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """The answer is waited for."""
        self.send.set_busy(busy)
        self.reason.setReadOnly(busy)
        self.cancel.setEnabled(not busy)
        self.show_answerable()

    def fit(self) -> None:
        """As high as its texts are at this width. The layout alone would keep room for them in a narrow column, and
        `adjustSize` would cut them off at two thirds of the screen.
        """
        page = self.layout()
        if page is not None and page.hasHeightForWidth():
            self.resize(self.width(), page.totalHeightForWidth(self.width()))

    def event(self, event: QEvent) -> bool:
        """What is inside has become higher or lower."""
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self.fit()
        return handled

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.send.busy:
            event.accept()
        else:
            super().keyPressEvent(event)


class AdmissionDialog(ActDialog):
    """What changes, what it would do with today's figures, and what somebody else has set meanwhile."""

    kept = Signal()
    """Go on with mine, over what somebody else has set."""

    def __init__(self, theme: Theme, board: OpsBoard, parent: QWidget) -> None:
        super().__init__(theme, _("Set admission"), "", _("Set it"), parent)
        self._board = board
        self._has_room = parent.height() >= _ROOM_FOR_PATH_PX
        self.changes = FactsGrid(theme)
        self.effect = FactsGrid(theme)
        self.path = RatePath(theme)
        self.theirs = StatusBanner(theme)
        box = frame("sunken")
        lines = column(theme, margin="medium", gap="small", parent=box)
        lines.addWidget(label(_("If all else stays as it is now"), tone="muted"))
        lines.addWidget(self.effect)
        lines.addWidget(self.path)
        for part in (self.changes, box, self.theirs):
            self.inside.addWidget(part)
        self.theirs.action_requested.connect(self.kept)
        self.needs.append(self._is_current)
        self.reason.setText(board.draft.reason)
        self.show_board()

    def _is_current(self) -> bool:
        """A change that somebody else has overtaken is read before it is sent."""
        return self._board.theirs is None and not self._board.draft.is_empty

    def show_board(self) -> None:
        """Show how it stands."""
        board = self._board
        if board.control is None:
            return
        self.changes.show_facts(
            [(name, words, "accent") for name, words in change_words(board.draft, board.control.settings)]
        )
        self.effect.show_facts(_effect_facts(board.preview, board.preview_trouble))
        preview = board.preview
        self.path.setVisible(self._has_room and preview is not None and len(preview.rates) > 1)
        if preview is not None:
            points = [(float(point.after_s), point.per_minute) for point in preview.rates]
            at_end = "" if not points else figures().age(points[-1][0])
            self.path.show_path([(0.0, board.control.per_minute), *points], _("now"), at_end, figures().rough)
        if board.theirs is None:
            self.theirs.clear()
        else:
            title = _("{who} has set admission meanwhile").format(who=board.theirs.changed_by or _("Somebody"))
            detail = figures().joined(difference_words(board.draft, board.theirs))
            self.theirs.tell("warn", title, detail, _("Go on with mine"))
        self.show_answerable()
        self.fit()


def _effect_facts(preview: AdmissionPreview | None, trouble: str) -> list[tuple[str, str]]:
    if preview is None:
        return [(_("Effect"), advice_for(trouble).title if trouble else _("Asking what it would do…"))]
    last = preview.rates[-1] if preview.rates else None
    rate = preview.per_minute if last is None else last.per_minute
    inside = "" if preview.shoppers_inside is None else figures().rough(preview.shoppers_inside)
    return [
        (_("Let in"), _("{rate} a minute, {most} at most").format(
            rate=figures().rough(rate), most=figures().rough(preview.at_most_per_minute))),
        (_("Waiting room"), waiting_words(preview)),
        (_("Inside then"), inside),
        (_("Why"), reason_words(preview.reason)),
    ]  # fmt: skip


class SessionDialog(ActDialog):
    """Ending a session of the database: whose it is, what it has open, who waits for it, what is undone.

    Besides the reason its number is asked for, which nobody types by accident.
    """

    def __init__(self, theme: Theme, row_: WaitRow, behind: int, open_for: str, parent: QWidget) -> None:
        session = row_.blocker
        words = _(
            "The database undoes what this session has not committed. Whoever asked for it gets an error and may try "
            "again; nothing that was sold is lost."
        )
        super().__init__(theme, _("End this session?"), words, _("End the session"), parent, danger=True)
        self._pid = str(session.pid)
        self.number = text_field()
        self.number.setMaxLength(12)
        self.number.setAccessibleName(_("Number of the session"))
        self.facts = FactsGrid(theme)
        self.facts.show_facts(_session_facts(session, behind, open_for))
        self.inside.addWidget(self.facts)
        typed = column(theme, gap="tight")
        typed.addWidget(label(_("Type its number, {number}").format(number=self._pid), tone="muted"))
        typed.addWidget(self.number)
        self.inside.addLayout(typed)
        self.number.textChanged.connect(self.show_answerable)
        self.needs.append(self._is_meant)
        self.setTabOrder(self.number, self.reason)
        take_focus(self.number)
        self.show_answerable()

    def _is_meant(self) -> bool:
        return self.number.text().strip() == self._pid


def _session_facts(session: OpsSession, behind: int, open_for: str) -> list[tuple[str, str]]:
    waiting = ngettext("{count} session waits for it", "{count} sessions wait for it", behind)
    return [
        (_("Session"), figures().joined((str(session.pid), session.application))),
        (_("Does"), statement_words(session.statement)),
        (_("State"), session_state_words(session.state)),
        (_("Open for"), open_for),
        (_("Behind it"), waiting.format(count=figures().number(behind))),
        (_("Undone"), undo_words(session.statement)),
    ]
