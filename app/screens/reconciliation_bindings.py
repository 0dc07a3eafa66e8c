"""The supervisor's wishes, bound: following the inbox, opening items, acts and decisions, export, daily comparisons."""

from __future__ import annotations

import logging
from datetime import date
from uuid import UUID

from PySide6.QtCore import QObject, QTimer, Signal

from app.actions.desk import Desk
from app.actions.export_inbox import export_inbox
from app.actions.follow_inbox import follow_inbox, load_inbox, load_item
from app.actions.resolve_item import act_on_item, decide_item, load_tills
from app.actions.run_reconciliation import follow_runs, load_runs, start_run
from app.bridge.deeds import Deeds
from app.core.errors import ConsoleError, NotAllowedError
from app.core.inbox import Inbox, InboxPart
from app.core.inbox_filter import InboxFilter, SortBy
from app.core.session import Permission
from app.i18n import _, figures, ngettext
from app.models.item_table import column_words
from app.screens.item_words import act_name
from app.screens.main_window import MainWindow
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.table_file import ask_where_to_save
from app.screens.words import Advice, advice_for, advice_for_error
from backend_client.errors import BookingClientError, BookingRefusedError, ForbiddenError, NotSignedInError
from backend_client.wire import ErrorCode, ItemDetail, ItemId, ItemState, Role, RunState

WALK_MS = 150
"""A pause on an item after which its evidence is read: who walks past with the arrows asks for nothing."""
_LOG = logging.getLogger(__name__)
_OF_A_PERSON = ("load-item", "load-tills", "export-inbox", "load-runs", "start-run", "follow-runs", "load-inbox")


class ReconciliationBindings(QObject):
    """Binds the reconciliation screen of one window to one desk; stays when the screens are built anew."""

    order_wanted = Signal(object)

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._walk = QTimer(self)
        self._walk.setSingleShot(True)
        self._walk.setInterval(WALK_MS)
        self._walk.timeout.connect(self._read_open_item)
        self._approves = False
        self._person: tuple[UUID, Role] | None = None
        self._wanted_run = ("", date.min)
        desk.store.inbox.subscribe(self._on_inbox_changed)
        self.connect_screens()

    def connect_screens(self) -> None:
        """Bind the screens that were built just now."""
        screen = self._screen
        page, item, runs = screen.inbox, screen.item, screen.runs
        page.item_opened.connect(self._on_item_opened)
        page.item_shown.connect(self._on_item_shown)
        page.view_changed.connect(self._inbox.look_at)
        page.sort_changed.connect(self._inbox.sort)
        page.resolved_wanted.connect(self._on_resolved_wanted)
        page.refresh_requested.connect(self._on_refresh_requested)
        page.export_requested.connect(self._on_export_requested)
        item.closed.connect(self._on_item_closed)
        item.order_wanted.connect(self.order_wanted)
        item.reload_requested.connect(self._read_open_item)
        item.changes_read.connect(self._inbox.dismiss_changes)
        item.form.draft_changed.connect(self._inbox.put_draft)
        item.form.act_requested.connect(self._on_act_requested)
        item.form.tills.reload_requested.connect(self._on_tills_wanted)
        item.form.tills_wanted.connect(self._on_tills_wanted)
        item.approval.decided.connect(self._on_decided)
        runs.run_requested.connect(self._on_run_requested)
        runs.refresh_requested.connect(self._on_runs_refresh_requested)
        runs.items_wanted.connect(self._on_items_wanted)
        screen.tabs.currentChanged.connect(self._on_tab_changed)

    def show_session(self) -> None:
        """Somebody else works here, or nobody: what the one before did ends, what this one may read is followed."""
        session = self._desk.store.session
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is not None and before != self._person:
            for deed in (*_OF_A_PERSON, "follow-inbox"):
                self._deeds.cancel(deed)
            self._walk.stop()
        self._start_following()

    def _start_following(self) -> None:
        session = self._desk.store.session
        if session is not None and session.may(Permission.READ_ITEMS):
            self._deeds.start("follow-inbox", self._follow)

    def enter(self) -> None:
        """Show the inbox, as fresh as can be."""
        self._window.screens.go_to(self._screen)
        self._desk.inbox_wake.set()
        self._start_following()
        if self._screen.shows_runs:
            self._deeds.start("load-runs", self._load_runs)

    def find(self, words: str) -> None:
        """Show what waits about these words."""
        self._screen.show_tab(0)
        self._inbox.show_resolved(False)
        self._inbox.open(None)
        self._inbox.look_at(InboxFilter(text=words))

    # ------------------------------------------------------------ the list

    async def _follow(self) -> None:
        try:
            await follow_inbox(self._desk, self._is_looked_at)
        except NotAllowedError:
            return  # the person has gone meanwhile
        except ForbiddenError as error:
            self._inbox.put_trouble(error.code)

    def _is_looked_at(self) -> bool:
        return self._window.screens.current is self._screen and not self._window.isMinimized()

    def _on_refresh_requested(self) -> None:
        self._deeds.start("load-inbox", self._load)

    async def _load(self) -> None:
        try:
            await load_inbox(self._desk)
        except NotSignedInError:
            raise
        except BookingClientError as error:
            self._inbox.put_trouble(error.code)

    def _on_resolved_wanted(self, resolved: bool) -> None:  # the signal carries what was chosen
        self._inbox.show_resolved(resolved)
        self._deeds.cancel("load-inbox")
        self._deeds.start("load-inbox", self._load)

    def _on_inbox_changed(self, part: InboxPart) -> None:
        if part & (InboxPart.ITEMS | InboxPart.VIEW):
            self._window.screens.strip.show_items()
            self._window.show_tabs()

    # ------------------------------------------------------------ the open item

    def _on_item_opened(self, item_id: ItemId) -> None:
        self._inbox.open(item_id)
        self._screen.item.banner.clear()
        self._read_open_item()
        self._screen.item.focus_first()

    def _on_item_shown(self, item_id: ItemId) -> None:
        self._inbox.open(item_id)
        self._screen.item.banner.clear()
        self._walk.start()

    def _on_item_closed(self) -> None:
        self._walk.stop()
        self._deeds.cancel("load-item")
        self._inbox.open(None)
        self._screen.inbox.focus_first()

    def _read_open_item(self) -> None:
        self._deeds.cancel("load-item")
        if self._inbox.item_id is not None:
            self._deeds.start("load-item", self._load_open_item)

    async def _load_open_item(self) -> None:
        if self._inbox.item_id is None:
            return
        try:
            await load_item(self._desk, self._inbox.item_id)
        except NotSignedInError:
            raise
        except BookingClientError:
            return  # told with the item

    # ------------------------------------------------------------ acts

    def _on_act_requested(self) -> None:
        if not self._deeds.start("act-on-item", self._act):
            self._screen.item.form.do.set_busy(False)

    async def _act(self) -> None:
        detail, draft, person = self._inbox.detail, self._inbox.draft, self._person
        if detail is None or draft.action is None:
            return
        title = act_name(draft.action)
        try:
            answer = await act_on_item(self._desk, detail, draft, self._screen.item.form.amount_minor)
        except NotSignedInError:
            raise
        except (BookingClientError, ConsoleError) as error:
            self._tell(detail.item.item_id, _refused(error), person)
            return
        self._tell(detail.item.item_id, _done(title, answer), person)

    def _on_tills_wanted(self) -> None:
        """Which tills there are is read each time that somebody wants to hand money to one."""
        self._deeds.start("load-tills", self._load_tills)

    async def _load_tills(self) -> None:
        await load_tills(self._desk)

    def _on_decided(self, approve: bool) -> None:  # the signal carries the decision
        self._approves = approve
        if not self._deeds.start("decide-item", self._decide):
            for button in (self._screen.item.approval.approve, self._screen.item.approval.refuse):
                button.set_busy(False)

    async def _decide(self) -> None:
        detail, person = self._inbox.detail, self._person
        if detail is None or detail.approval is None:
            return
        title, approve = act_name(detail.approval.action), self._approves
        try:
            answer = await decide_item(self._desk, detail, self._screen.item.approval.reason.text(), approve=approve)
        except NotSignedInError:
            raise
        except (BookingClientError, ConsoleError) as error:
            self._tell(detail.item.item_id, _refused(error), person)
            return
        said = _done(title, answer) if approve else Advice(_("Not done: {act}").format(act=title), "", "info")
        self._tell(detail.item.item_id, said, person)

    def _tell(self, item_id: ItemId, words: Advice, person: tuple[UUID, Role] | None) -> None:
        """Say it to who asked for it: with the item, or over the list when another one is open by now."""
        if person != self._person:
            return
        if self._inbox.item_id == item_id:
            self._screen.item.tell(words)
        else:
            self._screen.inbox.tell(words)

    # ------------------------------------------------------------ export

    def _on_export_requested(self) -> None:
        self._deeds.start("export-inbox", self._export)

    async def _export(self) -> None:
        rows, as_of = tuple(self._screen.inbox.shown), self._inbox.as_of
        path = await ask_where_to_save(self._window, "reconciliation.csv")
        if path is None:
            return
        try:
            await export_inbox(path, csv_heads(), rows, as_of)
        except OSError as error:
            _LOG.warning("not written: %s", error)
            self._screen.inbox.tell(advice_for("file-not-written"))
            return
        words = ngettext("{count} item is in {name}", "{count} items are in {name}", len(rows))
        told = words.format(count=figures().number(len(rows)), name=path.name)
        self._screen.inbox.tell(Advice(told, "", "success"))

    # ------------------------------------------------------------ daily comparison

    def _on_tab_changed(self, place: int) -> None:
        if place == 1:
            self._deeds.start("load-runs", self._load_runs)
        else:
            self._desk.inbox_wake.set()
        self._screen.focus_first()

    def _on_runs_refresh_requested(self) -> None:
        self._deeds.start("load-runs", self._load_runs)

    async def _load_runs(self) -> None:
        try:
            await load_runs(self._desk)
        except NotSignedInError:
            raise
        except (BookingClientError, NotAllowedError):
            return  # told over the list
        self._follow_running()

    def _on_run_requested(self, provider: str, day: date) -> None:
        self._wanted_run = (provider, day)
        self._deeds.start("start-run", self._start_run)

    async def _start_run(self) -> None:
        provider, day = self._wanted_run
        if not provider:
            self._screen.runs.tell(Advice(_("Which provider?"), _("Choose one from the list.")))
            return
        try:
            await start_run(self._desk, provider, day)
        except NotSignedInError:
            raise
        except (BookingClientError, ConsoleError) as error:
            self._screen.runs.tell(advice_for_error(error))
            return
        self._screen.runs.banner.clear()
        self._screen.runs.table.choose_row(0)
        self._follow_running()

    def _follow_running(self) -> None:
        if any(run.state is RunState.RUNNING for run in self._inbox.runs):
            self._deeds.start("follow-runs", self._follow_runs)

    async def _follow_runs(self) -> None:
        try:
            await follow_runs(self._desk)
        except NotSignedInError:
            raise
        except BookingClientError as error:
            self._inbox.put_runs_trouble(error.code)

    def _on_items_wanted(self, kind: str, provider: str) -> None:
        self._screen.show_tab(0)
        self._inbox.show_resolved(False)
        self._inbox.look_at(InboxFilter(kind=kind, provider=provider))
        self._screen.inbox.focus_first()

    @property
    def _screen(self) -> ReconciliationScreen:
        return self._window.screens.reconciliation

    @property
    def _inbox(self) -> Inbox:
        return self._desk.store.inbox


def csv_heads() -> tuple[str, ...]:
    """Words over the columns of the file, in the language in use."""
    return (
        _("Item"), _("Kind"), column_words(SortBy.KIND), column_words(SortBy.STATE), _("Waits since"),
        _("Waits (seconds)"), column_words(SortBy.EVENT), column_words(SortBy.ORDER), column_words(SortBy.PROVIDER),
        _("Payment"), column_words(SortBy.AMOUNT), _("Currency"), column_words(SortBy.SEATS), _("Asked by"),
        _("Settled"), _("Reason"),
    )  # fmt: skip


def _done(title: str, detail: ItemDetail) -> Advice:
    """How an act went, as the item stands after it: what was only asked for is not called done."""
    if detail.item.state is ItemState.AWAITING_APPROVAL:
        return Advice(
            _("A second person is asked: {act}").format(act=title), _("Nothing is done before they approve."), "info"
        )
    if detail.item.state is ItemState.RESOLVED:
        return Advice(_("Settled: {act}").format(act=title), "", "success")
    return Advice(
        _("Begun: {act}").format(act=title), _("The item stays until the answer is there; it is told here."), "info"
    )


def _refused(error: BookingClientError | ConsoleError) -> Advice:
    """Why an act was not done; which field was wrong, where the booking system names one."""
    if isinstance(error, BookingRefusedError) and error.problem.code is ErrorCode.INVALID_REQUEST:
        fields = ", ".join(field.pointer.strip("/").replace("_", " ") for field in error.problem.fields)
        return Advice(_("Something is missing or wrong"), fields, "warn")
    return advice_for_error(error)
