"""The operators' wishes, bound: following the figures, admission, pausing, ending sessions, alarms, the log."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from uuid import UUID

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.actions.desk import Desk
from app.actions.follow_ops import fill_seconds, follow_ops, load_alarms, load_minutes, watch_alarms
from app.actions.steer_admission import follow_admission
from app.actions.steer_operations import (
    acknowledge_alarm,
    export_log,
    load_log,
)
from app.bridge.deeds import Deeds
from app.core.errors import ConsoleError, NotAllowedError
from app.core.ops_board import OpsBoard
from app.core.ops_parts import LogFilter, OpsPart
from app.core.session import Permission
from app.i18n import _, figures, ngettext
from app.screens.main_window import MainWindow
from app.screens.ops_act_bindings import OpsActBindings
from app.screens.ops_cause_words import worded
from app.screens.ops_rule_bindings import RuleBindings
from app.screens.ops_screen import LOG, OpsScreen
from app.screens.ops_words import action_words
from app.screens.table_file import ask_where_to_save
from app.screens.words import Advice, advice_for, advice_for_error
from backend_client.errors import BookingClientError, ForbiddenError, NotSignedInError
from backend_client.feed import Dial
from backend_client.wire import (
    EventId,
    Role,
)

HISTORY_MS = 200
AGAIN_MS = 10_000
"""A pause after which a history that could not be read is read again."""
_LOG = logging.getLogger(__name__)
_OF_A_PERSON = (
    "follow-ops", "follow-admission", "watch-alarms", "load-alarms", "load-minutes", "fill-seconds", "preview",
    "review-admission", "ask-event", "ask-room", "ask-session",  # what asks first: its dialog closes with it
    "admission", "event-status", "room-status", "end-session", "acknowledge", "load-log", "more-log", "export-log",
)  # fmt: skip
_KNOWN = (BookingClientError, ConsoleError)


class OpsBindings(QObject):
    """Binds the operators' screen of one window to one desk; stays when the screens are built anew."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds, dial: Dial) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._dial = dial
        self._person: tuple[UUID, Role] | None = None
        self._sound = False
        self._heard: set[UUID] = set()
        self._wanted_alarm: UUID | None = None
        self.acts = OpsActBindings(window, desk, deeds)
        self.limits = RuleBindings(window, desk, deeds, self.acts)
        self._moving = self._timer(HISTORY_MS)
        self._moving.timeout.connect(self._on_moving_timeout)
        self._again = self._timer(AGAIN_MS)
        self._again.timeout.connect(self._on_again_timeout)
        self._log_subject = desk.store.ops.log_subject
        desk.store.ops.subscribe(self._on_board_changed)
        self.connect_screens()

    def _timer(self, ms: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(ms)
        return timer

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        screen = self._screen
        self._window.screens.shown.connect(self._on_screen_shown)
        screen.event_chosen.connect(self._on_event_chosen)
        screen.live.view_wanted.connect(self._board.look_at)
        screen.tabs.currentChanged.connect(self._on_tab_changed)
        self.acts.connect_screens()
        self.limits.connect_screens()
        screen.alarms.acknowledge_requested.connect(self._on_acknowledge_requested)
        screen.alarms.sound_wanted.connect(self._on_sound_wanted)
        screen.alarms.show_sound(self._sound)
        screen.log.filter_wanted.connect(self._on_filter_wanted)
        screen.log.more_requested.connect(self._on_more_requested)
        screen.log.refresh_requested.connect(self._on_refresh_requested)
        screen.log.export_requested.connect(self._on_export_requested)

    # ------------------------------------------------------------ who looks

    def show_session(self) -> None:
        """Somebody else works here, or nobody: what the one before followed ends, what this one may see is watched."""
        session = self._desk.store.session
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is not None and before != self._person:
            for deed in _OF_A_PERSON:
                self._deeds.cancel(deed)
            self.acts.stop()
            self._moving.stop()
            self._again.stop()
            self._heard.clear()
        self.limits.show_session()
        if session is not None and session.may(Permission.SEE_OPS):
            self._deeds.start("watch-alarms", self._watch)

    def enter(self) -> None:
        """Show the figures."""
        self._window.screens.go_to(self._screen)
        self._follow()
        self._screen.show_all()

    def _follow(self) -> None:
        if not self._may_follow():
            return
        self._deeds.start("follow-ops", self._follow_feed)
        self._deeds.start("follow-admission", self._follow_admission)
        self._deeds.start("load-alarms", self._load_alarms)
        if self._screen.page == LOG:
            self._on_refresh_requested()

    def _on_screen_shown(self) -> None:
        """The feed is followed while it is looked at, or listened to; nobody else pays for it."""
        if self._is_looked_at():
            self._follow()
        elif not self._sound:
            for deed in ("follow-ops", "follow-admission"):
                self._deeds.cancel(deed)

    def _is_looked_at(self) -> bool:
        return self._window.screens.current is self._screen

    def _may_follow(self) -> bool:
        session = self._desk.store.session
        return session is not None and session.may(Permission.SEE_OPS)

    async def _follow_feed(self) -> None:
        await self._quietly(lambda: follow_ops(self._desk, self._dial))

    async def _follow_admission(self) -> None:
        await self._quietly(lambda: follow_admission(self._desk))

    async def _watch(self) -> None:
        await self._quietly(lambda: watch_alarms(self._desk, self._is_followed))

    def _is_followed(self) -> bool:
        return self._deeds.is_running("follow-ops")

    async def _load_alarms(self) -> None:
        await self._quietly(lambda: load_alarms(self._desk))

    async def _quietly(self, act: Callable[[], Awaitable[None]]) -> None:
        """What ends because the person has gone, or may not any more, is told on the screen alone."""
        try:
            await act()
        except NotAllowedError:
            return
        except ForbiddenError as error:
            self._board.put_alarms_trouble(error.code)

    # ------------------------------------------------------------ what changes

    def _on_board_changed(self, part: OpsPart) -> None:
        if OpsPart.ALARMS in part:
            self._window.show_tabs()
            self._sound_new()
        if part & (OpsPart.CONTROL | OpsPart.DRAFT | OpsPart.PREVIEW):
            self.acts.show_board()
        if part & (OpsPart.VIEW | OpsPart.FIGURES) and not self._moving.isActive() and self._needs_minutes():
            self._moving.start()
        if OpsPart.HISTORY in part and self._board.history_trouble:
            self._again.start()
        if self._log_subject != self._board.log_subject:
            self._log_subject = self._board.log_subject
            self._read_log_anew()

    def _sound_new(self) -> None:
        """One sound for alarms that were not there before, if the person wants one."""
        unseen = {alarm.alarm_id for alarm in self._board.unseen_alarms}
        fresh = unseen - self._heard
        self._heard = unseen
        if fresh and self._sound:
            QApplication.beep()

    def _needs_minutes(self) -> bool:
        board, live = self._board, self._screen.live
        if not self._is_looked_at() or self._deeds.is_running("load-minutes") or board.history_trouble:
            return False
        span = live.span
        return not live.shows_seconds and not board.minutes.covers(board.event_id, span.start_s, span.end_s)

    def _on_moving_timeout(self) -> None:
        if self._needs_minutes():
            self._deeds.start("load-minutes", self._load_minutes)

    def _on_again_timeout(self) -> None:
        """The trouble stays on the screen until an answer is there."""
        if self._board.history_trouble and self._is_looked_at():
            if self._screen.live.shows_seconds:
                self._deeds.start("fill-seconds", self._fill)
            else:
                self._deeds.start("load-minutes", self._load_minutes)

    async def _load_minutes(self) -> None:
        span = self._screen.live.span
        await load_minutes(self._desk, span.start_s, span.end_s)

    def _on_event_chosen(self, event_id: EventId) -> None:
        self._board.choose_event(event_id)
        for deed, act in (("follow-admission", self._follow_admission), ("fill-seconds", self._fill)):
            self._deeds.cancel(deed)
            self._deeds.start(deed, act)

    async def _fill(self) -> None:
        await self._quietly(lambda: fill_seconds(self._desk))

    def _on_tab_changed(self, place: int) -> None:
        if place == LOG:
            self._on_refresh_requested()
        else:
            self._deeds.start("load-alarms", self._load_alarms)
        self._screen.focus_first()

    # ------------------------------------------------------------ alarms

    def _on_acknowledge_requested(self, alarm_id: UUID) -> None:
        self._wanted_alarm = alarm_id
        if not self._deeds.start("acknowledge", self._acknowledge):
            self._screen.alarms.acknowledge.set_busy(False)

    async def _acknowledge(self) -> None:
        if self._wanted_alarm is None:
            return
        try:
            await acknowledge_alarm(self._desk, self._wanted_alarm)
        except NotSignedInError:
            raise
        except _KNOWN as error:
            self._screen.alarms.tell(advice_for_error(error))
            return
        self._screen.alarms.banner.clear()

    def _on_sound_wanted(self, on: bool) -> None:  # the signal carries what was chosen
        self._sound = on
        if on:
            QApplication.beep()

    # ------------------------------------------------------------ the log

    def _on_filter_wanted(self, wanted: LogFilter) -> None:
        self._board.filter_log(wanted)

    def _read_log_anew(self) -> None:
        """Other entries are wanted: what is on its way answers nothing any more."""
        for deed in ("load-log", "more-log"):
            self._deeds.cancel(deed)
        if self._may_follow() and self._is_looked_at() and self._screen.page == LOG:
            self._on_refresh_requested()

    def _on_refresh_requested(self) -> None:
        self._deeds.start("load-log", self._load_log)

    async def _load_log(self) -> None:
        await self._quietly(lambda: load_log(self._desk))

    def _on_more_requested(self) -> None:
        self._deeds.start("more-log", self._load_more)

    async def _load_more(self) -> None:
        await self._quietly(lambda: load_log(self._desk, more=True))

    def _on_export_requested(self) -> None:
        self._deeds.start("export-log", self._export)

    async def _export(self) -> None:
        rows = [(worded(entry), action_words(entry)) for entry in self._screen.log.shown]
        path = await ask_where_to_save(self._window, "operations.csv")
        if path is None:
            return
        try:
            await export_log(path, log_heads(), rows)
        except OSError as error:
            _LOG.warning("not written: %s", error)
            self._screen.log.tell(advice_for("file-not-written"))
            return
        words = ngettext("{count} entry is in {name}", "{count} entries are in {name}", len(rows))
        told = words.format(count=figures().number(len(rows)), name=path.name)
        self._screen.log.tell(Advice(told, "", "success"))

    @property
    def _screen(self) -> OpsScreen:
        return self._window.screens.ops

    @property
    def _board(self) -> OpsBoard:
        return self._desk.store.ops


def log_heads() -> tuple[str, ...]:
    """Words over the columns of the file, in the language in use."""
    return (
        _("Entry"), _("When"), _("Kind"), _("Code"), _("What happened"), _("Who"), _("Subject"), _("Event"),
        _("From → to"), _("Why"),
    )  # fmt: skip
