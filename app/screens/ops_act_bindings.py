"""The acts of operators, bound: admission after a look at its effect, pausing, ending a session; each with a reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.actions.desk import Desk
from app.actions.steer_admission import change_admission, preview_admission, set_admission_mode
from app.actions.steer_operations import change_event_status, end_session, read_event
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.errors import ConsoleError
from app.core.ops_board import OpsBoard
from app.core.ops_draft import AdmissionDraft, NumberTextError
from app.core.ops_waits import WaitRow
from app.i18n import _, figures
from app.screens.main_window import MainWindow
from app.screens.ops_dialogs import ActDialog, AdmissionDialog, SessionDialog
from app.screens.ops_screen import OpsScreen
from app.screens.ops_words import mode_words
from app.screens.words import Advice, advice_for_error
from backend_client.errors import BookingClientError, ForbiddenError, NotSignedInError
from backend_client.wire import (
    AdmissionMode,
    EventDetail,
    EventStatus,
    OpsEventFigures,
    OpsSessionEnded,
    OpsSessionOutcome,
)

PREVIEW_MS = 350
"""A pause in typing after which it is asked what the typed would do."""


class OpsActBindings(QObject):
    """Binds what changes something; stays when the screens are built anew."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._wanted_row: WaitRow | None = None
        self._dialog: AdmissionDialog | None = None
        self._pending: Callable[[], Awaitable[Advice | None]] | None = None
        self._act_dialog: ActDialog | None = None
        self._asked_about: OpsEventFigures | None = None
        """The event that an act is about, if any."""
        self._is_so: Callable[[], bool] | None = None
        """Whether what the act has just said is so on the board now."""
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(PREVIEW_MS)
        self._typing.timeout.connect(self._on_typing_timeout)

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        panel = self._screen.admission
        panel.draft_changed.connect(self._on_draft_changed)
        panel.undo_requested.connect(self._board.take_theirs)
        panel.keep_requested.connect(self._on_keep_requested)
        panel.review_requested.connect(self._on_review_requested)
        panel.event_pause_requested.connect(self._on_event_pause_requested)
        panel.room_pause_requested.connect(self._on_room_pause_requested)
        self._screen.blockers.end_requested.connect(self._on_end_requested)

    def stop(self) -> None:
        """The person has gone: what waited for a pause in their typing does not come any more."""
        self._typing.stop()

    def show_board(self) -> None:
        """Show in the open dialog how admission stands."""
        if self._dialog is not None:
            self._dialog.show_board()

    # ------------------------------------------------------------ admission

    def _on_draft_changed(self, draft: AdmissionDraft) -> None:
        self._board.put_draft(draft)
        self._board.put_preview(None)
        self._typing.start()

    def _on_keep_requested(self) -> None:
        self._board.keep_mine()
        self._typing.start()

    def _on_typing_timeout(self) -> None:
        if not self._board.draft.is_empty and not self._screen.admission.fault_words:
            self._deeds.cancel("preview")
            self._deeds.start("preview", self._preview)

    async def _preview(self) -> None:
        try:
            await preview_admission(self._desk)
        except (NumberTextError, ForbiddenError):
            return  # said beside the field

    def _on_review_requested(self) -> None:
        if not self._deeds.start("review-admission", self._review):
            self._screen.admission.review.set_busy(False)

    async def _review(self) -> None:
        """Show what it does and ask; the dialog stays until the answer is there."""
        board = self._board
        self._screen.admission.review.set_busy(False)
        if board.draft.is_empty or board.control is None:
            return
        if board.preview is None:
            self._on_typing_timeout()
        dialog = AdmissionDialog(self._window.theme, board, self._window)
        dialog.kept.connect(self._on_keep_requested)
        self._dialog = dialog
        try:
            await self._ask(dialog, "admission", self._set_admission, about=board.event)
        finally:
            board.put_draft(_with_reason(board.draft, dialog.reason.text()))
            self._dialog = None

    async def _set_admission(self) -> Advice | None:
        if self._dialog is not None:
            self._board.put_draft(_with_reason(self._board.draft, self._dialog.reason.text()))
        answer = await change_admission(self._desk)
        if answer is None:
            return None
        version = answer.settings.version
        self._is_so = lambda: self._board.control is not None and self._board.control.settings.version == version
        return Advice(_("Admission is set: {mode}").format(mode=mode_words(answer.settings.mode)), "", "success")

    # ------------------------------------------------------------ pausing

    def _on_event_pause_requested(self) -> None:
        if not self._deeds.start("ask-event", self._ask_event):
            self._screen.admission.pause_event.set_busy(False)

    async def _ask_event(self) -> None:
        self._screen.admission.pause_event.set_busy(False)
        watched = self._board.event
        if watched is None:
            return
        try:
            event = await read_event(self._desk, watched.event_id)
        except NotSignedInError:
            raise
        except BookingClientError as error:
            self._tell(advice_for_error(error), watched)
            return
        if not self._is_watched(event):
            return  # meanwhile the person has turned to something else: nothing is asked over that
        pause = event.status is not EventStatus.PAUSED
        dialog = self._event_dialog(event, pause=pause)

        async def act() -> Advice:
            await change_event_status(self._desk, event, dialog.reason.text(), pause=pause)
            done = _("The sale is paused: {event}") if pause else _("On sale again: {event}")
            self._is_so = lambda: self._is_paused(event) is pause
            return Advice(done.format(event=event.name), "", "success")

        await self._ask(dialog, "event-status", act, about=watched)

    def _is_paused(self, event: EventDetail) -> bool | None:
        """Whether its sale is paused, as it was told last; None: nothing is told of it now."""
        told = () if self._board.figures is None else self._board.figures.events
        return next((one.status == EventStatus.PAUSED for one in told if one.event_id == event.event_id), None)

    def _is_watched(self, event: EventDetail) -> bool:
        return self._window.screens.current is self._screen and self._board.event_id == event.event_id

    def _event_dialog(self, event: EventDetail, *, pause: bool) -> ActDialog:
        if pause:
            title, yes = _("Pause the sale of {event}?").format(event=event.name), _("Pause the sale")
            words = _("Nobody can hold seats any more, at counters neither. What is held can still be paid.")
        else:
            title, yes = _("Resume the sale of {event}?").format(event=event.name), _("Resume the sale")
            words = _("Seats can be held again at once, by everybody.")
        return ActDialog(self._window.theme, title, words, yes, self._window, danger=pause)

    def _on_room_pause_requested(self) -> None:
        if not self._deeds.start("ask-room", self._ask_room):
            self._screen.admission.pause_room.set_busy(False)

    async def _ask_room(self) -> None:
        self._screen.admission.pause_room.set_busy(False)
        control, watched = self._board.control, self._board.event
        if control is None:
            return
        name = "" if watched is None else watched.name
        settings = control.settings
        pause = settings.mode is not AdmissionMode.PAUSED
        mode = AdmissionMode.PAUSED if pause else settings.mode_before_pause
        if pause:
            title, yes = _("Pause the waiting room of {event}?").format(event=name), _("Pause the room")
            words = _("Nobody is let in from now on. Who is inside goes on shopping; who waits keeps the place.")
        else:
            title, yes = _("Resume the waiting room of {event}?").format(event=name), _("Resume the room")
            words = _("People are let in again, gently at first. Mode: {mode}").format(mode=mode_words(mode))
        dialog = ActDialog(self._window.theme, title, words, yes, self._window, danger=pause)

        async def act() -> Advice:
            await set_admission_mode(self._desk, control, mode, dialog.reason.text())
            self._is_so = lambda: self._is_room_paused() is pause
            done = _("The room is told to pause: {event}") if pause else _("The room is told to go on: {event}")
            return Advice(done.format(event=name), "", "success")

        await self._ask(dialog, "room-status", act, about=watched)

    def _is_room_paused(self) -> bool | None:
        control = self._board.control
        return None if control is None else control.settings.mode is AdmissionMode.PAUSED

    # ------------------------------------------------------------ sessions

    def _on_end_requested(self, row: WaitRow) -> None:
        self._wanted_row = row
        self._screen.blockers.end.set_busy(False)
        self._deeds.start("ask-session", self._ask_session)

    async def _ask_session(self) -> None:
        row = self._wanted_row
        if row is None:
            return
        page = self._screen.blockers
        dialog = SessionDialog(self._window.theme, row, page.behind(row), page.open_for(row), self._window)

        async def act() -> Advice:
            answer = await end_session(self._desk, row.blocker, dialog.reason.text())
            return _ended_words(answer)

        await self._ask(dialog, "end-session", act)

    # ------------------------------------------------------------ asking

    async def ask_for(self, dialog: ActDialog, deed: str, act: Callable[[], Awaitable[Advice | None]]) -> None:
        """Ask on behalf of other bindings; one question is open at a time. See `_ask`."""
        await self._ask(dialog, deed, act)

    async def _ask(
        self, dialog: ActDialog, deed: str, act: Callable[[], Awaitable[Advice | None]],
        about: OpsEventFigures | None = None,
    ) -> None:  # fmt: skip
        """Show a dialog; what it asks for runs as `deed`, and a refusal is read in it while it is there.

        `act` answers None when there was nothing to be done; then nothing is said to be done.
        """
        if self._act_dialog is not None:
            dialog.deleteLater()
            return
        self._act_dialog, self._pending, self._asked_about = dialog, act, about

        def send() -> None:
            dialog.set_busy(True)
            if not self._deeds.start(deed, self._send):
                dialog.set_busy(False)

        dialog.sent.connect(send)
        try:
            await ask(dialog)
        finally:
            self._act_dialog = None

    async def _send(self) -> None:
        dialog, act, about = self._act_dialog, self._pending, self._asked_about
        if dialog is None or act is None:
            return
        self._is_so = None
        try:
            words = await act()
        except NotSignedInError:
            dialog.reject()
            raise
        except (BookingClientError, ConsoleError, NumberTextError) as error:
            self._tell_refused(dialog, advice_for_error(error), about)
            return
        if self._act_dialog is dialog:
            dialog.set_busy(False)
            dialog.accept()
        if words is not None:
            self._tell(words, about, self._is_so)

    def _tell_refused(self, dialog: ActDialog, words: Advice, about: OpsEventFigures | None) -> None:
        if self._act_dialog is dialog:
            dialog.tell(words)
        else:
            self._tell(words, about)

    def _tell(self, words: Advice, about: OpsEventFigures | None, is_so: Callable[[], bool] | None = None) -> None:
        """Say it, and of which event; of one that is not watched any more nobody looks whether it is still so."""
        watched = about is not None and about.event_id == self._board.event_id
        self._screen.tell(words, about, is_so if watched else None)

    @property
    def _screen(self) -> OpsScreen:
        return self._window.screens.ops

    @property
    def _board(self) -> OpsBoard:
        return self._desk.store.ops


def _with_reason(draft: AdmissionDraft, reason: str) -> AdmissionDraft:
    return replace(draft, reason="" if draft.is_empty else reason)


def _ended_words(answer: OpsSessionEnded) -> Advice:
    """What became of a session."""
    named = figures().joined((str(answer.pid), answer.application))
    if answer.outcome is OpsSessionOutcome.ENDED:
        return Advice(_("The session was ended: {session}").format(session=named), "", "success")
    if answer.outcome is OpsSessionOutcome.GONE:
        return Advice(_("It holds nobody up any more: {session}").format(session=named), "", "info")
    return Advice(_("The session was told to end: {session}").format(session=named),
                  _("It is not gone yet; look again in a moment."), "info")  # fmt: skip
