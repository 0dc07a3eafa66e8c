"""The limits of alarms, bound: read while they are looked at, changed after a look at what that would do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from PySide6.QtCore import QObject

from app.actions.alarm_rules import follow_rules, read_last_change, read_quarter, set_rule
from app.actions.desk import Desk
from app.bridge.deeds import Deeds
from app.core.errors import NotAllowedError
from app.core.ops_board import OpsBoard
from app.core.ops_health import is_stale
from app.core.ops_parts import OpsPart
from app.core.session import Permission
from app.i18n import _
from app.screens.main_window import MainWindow
from app.screens.ops_act_bindings import OpsActBindings
from app.screens.ops_rule_dialog import RuleDialog
from app.screens.ops_screen import OpsScreen
from app.screens.ops_words import figure_name
from app.screens.words import Advice
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    BookingRefusedError,
    ForbiddenError,
    NotSignedInError,
)
from backend_client.steady_time import steady_seconds
from backend_client.wire import Role

_OF_A_PERSON = ("follow-limits", "ask-limit", "set-limit", "try-limit", "who-set-limit")


class RuleBindings(QObject):
    """Binds the limits of one window to one desk; stays when the screens are built anew."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds, acts: OpsActBindings) -> None:
        super().__init__(window)
        self._window, self._desk, self._deeds, self._acts = window, desk, deeds, acts
        self._person: tuple[UUID, Role] | None = None
        self._wanted = ""
        self._dialog: RuleDialog | None = None
        desk.store.ops.subscribe(self._on_board_changed)

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        self._window.screens.shown.connect(self._on_screen_shown)
        self._screen.alarms.limit_requested.connect(self._on_limit_requested)

    def show_session(self) -> None:
        """Somebody else works here, or nobody: what the one before was asked or sent is over."""
        session = self._desk.store.session
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is not None and before != self._person:
            for deed in _OF_A_PERSON:
                self._deeds.cancel(deed)
        self._on_screen_shown()

    def _on_screen_shown(self) -> None:
        """Limits are read while they are looked at: another operator may set them as well."""
        session = self._desk.store.session
        may_see = session is not None and session.may(Permission.SEE_OPS)
        if may_see and self._window.screens.current is self._screen:
            self._deeds.start("follow-limits", self._follow)
        else:
            self._deeds.cancel("follow-limits")

    async def _follow(self) -> None:
        await self._quietly(partial(follow_rules, self._desk))

    async def _quietly(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except NotAllowedError:
            return
        except ForbiddenError as error:
            self._board.put_alarms_trouble(error.code)

    def _on_board_changed(self, part: OpsPart) -> None:
        if self._dialog is not None and part & (OpsPart.ALARMS | OpsPart.FIGURES | OpsPart.STATE):
            self._dialog.show_board()

    # ------------------------------------------------------------ asking

    def _on_limit_requested(self, rule: str) -> None:
        self._wanted = rule
        self._screen.alarms.change.set_busy(False)
        self._deeds.start("ask-limit", self._ask)

    async def _ask(self) -> None:
        """Show what it is and what another one would do; the dialog stays until the answer is there."""
        rule = self._board.rule(self._wanted)
        if rule is None:
            return
        dialog = RuleDialog(self._window.theme, self._board, rule, self._is_stale, self._window)
        dialog.who_wanted.connect(self._on_who_wanted)
        self._dialog = dialog
        self._deeds.start("try-limit", self._try)
        try:
            await self._acts.ask_for(dialog, "set-limit", self._set)
        finally:
            self._dialog = None
            for deed in ("try-limit", "who-set-limit"):
                self._deeds.cancel(deed)

    def _is_stale(self) -> bool:
        return is_stale(self._board, steady_seconds())

    async def _try(self) -> None:
        """Read what the limit is tried on."""
        dialog = self._dialog
        if dialog is None:
            return
        try:
            table, trouble = await read_quarter(self._desk, dialog.draft.base.figure), ""
        except NotSignedInError:
            raise
        except BookingClientError as error:
            table, trouble = None, error.code
        if self._dialog is dialog:
            dialog.show_quarter(table, trouble)

    def _on_who_wanted(self) -> None:
        self._deeds.cancel("who-set-limit")
        self._deeds.start("who-set-limit", self._find_who)

    async def _find_who(self) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        try:
            entry = await read_last_change(self._desk, dialog.draft.base.rule)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # "somebody" stands there
        if self._dialog is dialog:
            dialog.show_who(entry)

    async def _set(self) -> Advice | None:
        dialog = self._dialog
        change = None if dialog is None else dialog.change
        if dialog is None or change is None:
            return None
        figure = figure_name(dialog.draft.base.figure)
        try:
            answer = await set_rule(self._desk, dialog.draft.base.rule, change)
        except AnswerUnknownError:
            if self._dialog is dialog:
                dialog.wait_for(change)
            raise
        except BookingRefusedError as error:
            if self._dialog is dialog and error.is_word:
                dialog.wait_for(None)
                dialog.show_refused(error.problem.fields)
            raise
        told = _("The limit is set: {figure}").format(figure=figure)
        if answer.version > change.expected_version + 1:
            return Advice(told, _("Somebody has set it once more meanwhile."), "info")
        return Advice(told, "", "success")

    @property
    def _screen(self) -> OpsScreen:
        return self._window.screens.ops

    @property
    def _board(self) -> OpsBoard:
        return self._desk.store.ops
