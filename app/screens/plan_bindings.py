"""The plan editor's wishes, bound: in and out of it, opening, saving, events, and the draft that is kept."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, QTimer

from app.actions.desk import Desk
from app.actions.load_plan import begin_plan, load_plans, load_venues, open_plan, recall_draft
from app.actions.save_plan import keep_draft, put_event_on_plan, refresh_events, save_plan
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.errors import PlanFileError
from app.core.session import Permission
from app.i18n import _, figures, ngettext
from app.models.place_words import seat_names
from app.screens.dialogs import AskDialog
from app.screens.main_window import MainWindow
from app.screens.plan_dialogs import EventsOnPlanDialog, NewPlanDialog, OpenPlanDialog, PlanKeysDialog
from app.screens.plan_editor import PlanEditorScreen
from app.screens.plan_files import PlanFiles
from app.screens.words import Advice, advice_for
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import ErrorCode, PlanEvent, SavedPlan, Venue

_KEEP_MS = 800
_FAULTS_SHOWN = 4
_SEATS_TOLD = 8
_LOG = logging.getLogger(__name__)


class PlanBindings(QObject):
    """Binds the editor of one window to one desk. Screens are built anew at a language switch; this stays."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._recalled = False
        self._wanted_venue: Venue | None = None
        self._dialog: OpenPlanDialog | None = None
        self._came_from_counter = False
        self._keep = QTimer(self)
        self._keep.setSingleShot(True)
        self._keep.setInterval(_KEEP_MS)
        self._keep.timeout.connect(self._on_keep_timeout)
        self._files = PlanFiles(window, desk, deeds, self._may_replace)
        desk.store.plan_work.subscribe(self._on_work_changed)
        window.plans_requested.connect(self._on_plans_requested)
        self.connect_screens()

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        editor = self._editor
        editor.back_requested.connect(self._on_back_requested)
        editor.save_requested.connect(self._on_save_requested)
        editor.new_requested.connect(self._on_new_requested)
        editor.open_requested.connect(self._on_open_requested)
        editor.events_requested.connect(self._on_events_requested)
        editor.keys_requested.connect(self._on_keys_requested)
        self._files.connect_screens()

    async def offer(self) -> None:
        """Say that there is a draft that was not saved, to somebody who may go on with it."""
        session, drafts = self._desk.store.session, self._desk.plan_drafts
        if session is None or drafts is None or not session.may(Permission.DRAW_PLANS) or self._recalled:
            return
        if await drafts.read() is not None:
            self._window.screens.events.tell(advice_for("plan-kept"))

    async def may_close(self) -> bool:
        """Keep what is not saved before the console ends; ask when it would be lost."""
        self._keep.stop()
        if await self._is_kept():
            return True
        words = Advice(
            _("This plan is not saved"),
            _("It cannot be kept either: the disk is full or may not be written."),
            "danger",
        )
        return await ask(AskDialog(self._window.theme, words, _("Close the console"), _("Stay here"), self._window))

    async def keep_now(self) -> None:
        """Keep what is not saved, before the console ends."""
        self._keep.stop()
        await self._keep_draft()

    @property
    def _editor(self) -> PlanEditorScreen:
        return self._window.screens.plans

    @property
    def _is_here(self) -> bool:
        """Whether the editor is in front: nothing is asked over what somebody has turned to meanwhile."""
        return self._window.screens.current is self._editor

    # ------------------------------------------------------------ in and out

    def _on_plans_requested(self) -> None:
        session = self._desk.store.session
        if session is not None and session.may(Permission.DRAW_PLANS):
            self._deeds.start("plans", self._enter)

    async def _enter(self) -> None:
        screens = self._window.screens
        if screens.current is self._editor:
            return
        self._came_from_counter = screens.current is screens.counter
        screens.go_to(self._editor)
        if not self._recalled:
            self._recalled = True
            await self._recall()

    async def _recall(self) -> None:
        """The draft that was not saved the last time is offered again."""
        try:
            found = await recall_draft(self._desk)
        except PlanFileError as error:
            _LOG.warning("the kept draft cannot be read: %s", error)
            self._editor.tell(advice_for("plan-draft-damaged"))
            return
        if found:
            self._editor.tell(advice_for("plan-recalled"))

    def _on_back_requested(self) -> None:
        self._deeds.start("leave-plans", self._leave)

    async def _leave(self) -> None:
        await self._keep_draft()
        screens = self._window.screens
        screens.go_to(screens.counter if self._came_from_counter and self._desk.store.event else screens.events)

    async def _may_replace(self) -> bool:
        """Ask before a draft that is not saved gives way to another."""
        if not self._desk.store.plan_work.is_changed:
            return True
        words = Advice(
            _("This plan is not saved"), _("What was drawn since it was saved is lost if you go on."), "danger"
        )
        return await ask(AskDialog(self._window.theme, words, _("Go on without it"), _("Stay here"), self._window))

    def _on_keys_requested(self) -> None:
        self._deeds.start("plan-keys", self._show_keys)

    async def _show_keys(self) -> None:
        await ask(PlanKeysDialog(self._window.theme, self._window))

    # ------------------------------------------------------------ plans

    def _on_new_requested(self) -> None:
        self._deeds.start("new-plan", self._new_plan)

    async def _new_plan(self) -> None:
        if not await self._may_replace():
            return
        venues = await load_venues(self._desk)
        if not self._is_here:
            return
        dialog = NewPlanDialog(self._window.theme, venues, self._window)
        if await ask(dialog):
            color = self._window.theme.categories[0].lower()
            names = _("Section {number}"), _("Category {number}")
            one = figures().number(1)
            section, category = (name.format(number=one) for name in names)
            begin_plan(self._desk, dialog.chosen_venue, dialog.name.text().strip(), section, category, color)
            self._editor.banner.clear()
            self._editor.focus_first()

    def _on_open_requested(self) -> None:
        self._deeds.start("open-plan", self._open_plan)

    async def _open_plan(self) -> None:
        if not await self._may_replace():
            return
        venues = await load_venues(self._desk)
        if not self._is_here:
            return
        dialog = OpenPlanDialog(self._window.theme, venues, self._window)
        dialog.venue_chosen.connect(self._on_venue_chosen)
        self._dialog = dialog
        self._on_venue_chosen(dialog.chosen_venue)
        try:
            accepted = await ask(dialog)
            venue, chosen = dialog.chosen_venue, dialog.chosen
        finally:
            self._dialog = None
        if accepted and venue is not None and chosen is not None:
            await open_plan(self._desk, venue, *chosen)
            self._editor.banner.clear()
            self._editor.canvas.fit()
            self._editor.focus_first()

    def _on_venue_chosen(self, venue: object) -> None:
        if isinstance(venue, Venue):
            self._wanted_venue = venue
            self._deeds.cancel("load-plans")
            self._deeds.start("load-plans", self._load_plans)

    async def _load_plans(self) -> None:
        if self._wanted_venue is None:
            return
        try:
            plans = await load_plans(self._desk, self._wanted_venue.venue_id)
        except BookingClientError:
            if self._dialog is not None:
                self._dialog.reject()
            raise
        if self._dialog is not None and self._dialog.chosen_venue == plans.venue:
            self._dialog.show_plans(plans)

    def _on_save_requested(self) -> None:
        self._deeds.start("save-plan", self._save_plan)

    async def _save_plan(self) -> None:
        try:
            saved = await save_plan(self._desk)
        except BookingRefusedError as error:
            if error.problem.code is not ErrorCode.INVALID_REQUEST:
                raise
            found = [f"{field.pointer}: {field.message}" for field in error.problem.fields]
            more = "" if len(found) <= _FAULTS_SHOWN else " …"
            detail = "\n".join(found[:_FAULTS_SHOWN]) + more
            self._editor.tell(Advice(_("The booking system does not take this plan"), detail, "danger"))
            self._editor.focus_refusals()
            return
        self._tell_saved(saved)

    def _tell_saved(self, saved: SavedPlan) -> None:
        version = figures().number(saved.version)
        title = _("Saved as version {version}").format(version=version)
        if not saved.is_new:
            title = _("This plan is version {version} already").format(version=version)
        others = len(self._events_elsewhere)
        if not others:
            self._editor.tell(Advice(title, "", "success"))
            return
        detail = ngettext(
            "{count} event is on another version.", "{count} events are on other versions.", others
        ).format(count=figures().number(others))
        self._editor.tell_saved(Advice(title, detail, "success"), _("Put events on it…"))

    # ------------------------------------------------------------ events

    @property
    def _events_elsewhere(self) -> tuple[PlanEvent, ...]:
        origin = self._desk.store.plan_work.origin
        return tuple(event for event in origin.events if event.plan_version != origin.version)

    def _on_events_requested(self) -> None:
        self._deeds.start("put-events", self._put_events)

    async def _put_events(self) -> None:
        version = self._desk.store.plan_work.origin.version
        dialog = EventsOnPlanDialog(self._window.theme, self._events_elsewhere, version, self._window)
        if not await ask(dialog):
            return
        await self._put_each(dialog.chosen, version, dialog.reason.text().strip())
        await refresh_events(self._desk)

    async def _put_each(self, events: tuple[PlanEvent, ...], version: int, reason: str) -> None:
        """One after the other; the first that has seats in the way ends it, and its seats are shown (I4)."""
        moved = 0
        for place, event in enumerate(events):
            try:
                await put_event_on_plan(self._desk, event, version, reason)
            except BookingRefusedError as error:
                if error.problem.code is not ErrorCode.PLAN_CONFLICT:
                    raise
                title = _("{event} stays on its version: seats are in the way").format(event=event.name)
                parts = [seat_names(error.seats[:_SEATS_TOLD])]
                if moved:
                    parts.append(_moved_words(moved))
                if untried := len(events) - place - 1:
                    words = ngettext("{count} more was not tried", "{count} more were not tried", untried)
                    parts.append(words.format(count=figures().number(untried)))
                self._editor.tell(Advice(title, figures().joined(parts), "danger"))
                self._editor.canvas.reveal()
                self._editor.focus_refusals()
                return
            moved += 1
        self._editor.tell(Advice(_moved_words(moved), "", "success"))

    # ------------------------------------------------------------ what is not saved

    def _on_work_changed(self) -> None:
        self._keep.start()

    def _on_keep_timeout(self) -> None:
        if not self._deeds.start("keep-plan", self._keep_draft):
            self._keep.start()

    async def _keep_draft(self) -> None:
        await self._is_kept()

    async def _is_kept(self) -> bool:
        """Keep what is not saved; False, and said, when the disk does not take it."""
        if not self._recalled:
            return True  # what is kept has not been looked at yet
        try:
            await keep_draft(self._desk)
        except OSError as error:
            _LOG.warning("the draft is not kept: %s", error)
            self._editor.tell(advice_for("plan-draft-not-kept"))
            return False
        return True


def _moved_words(moved: int) -> str:
    words = ngettext("{count} event is on this version now", "{count} events are on this version now", moved)
    return words.format(count=figures().number(moved))
