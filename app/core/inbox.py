"""The reconciliation inbox at this console: the list as of when, the item that is open, what is typed about it, runs.

What was read stays when the booking system goes away, with the instant it is from; it is gone when the person is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Flag, auto

from app.core.inbox_filter import InboxFilter, SortOrder
from app.core.item_changes import Difference, differences
from backend_client.wire import (
    ApprovalDecision,
    DeviceId,
    ItemAction,
    ItemActionRequest,
    ItemDetail,
    ItemId,
    ItemState,
    ReconciliationItem,
    ReconciliationRun,
    RefundWay,
    ResultOutcome,
    Till,
)

MOST_ITEMS = 10_000
"""Items that the list holds; the oldest come first, and nobody works from the end of ten thousand."""


class InboxPart(Flag):
    """What changed."""

    ITEMS = auto()
    DETAIL = auto()
    DRAFT = auto()
    VIEW = auto()
    RUNS = auto()
    TILLS = auto()


@dataclass(frozen=True, slots=True)
class ActDraft:
    """What is typed about an item and not sent. Money and order number are text: they are read when they are sent."""

    action: ItemAction | None = None
    reason: str = ""
    amount_text: str = ""
    reference: str = ""
    order_number: str = ""
    outcome: ResultOutcome | None = None
    seats_to_sale: bool = True
    device_id: DeviceId | None = None
    way: RefundWay | None = None


@dataclass(frozen=True, slots=True)
class SentAct:
    """An act, or a decision, whose answer is not known: the same goes again under the same key, and is done once."""

    request: ItemActionRequest | ApprovalDecision
    key: str


Listener = Callable[[InboxPart], None]


class Inbox:
    """See the module. Read the attributes, write through the methods; each write tells which part changed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self.view = InboxFilter()
        self.order = SortOrder()
        self._forget()

    def _forget(self) -> None:
        self.items: tuple[ReconciliationItem, ...] = ()
        self.open_count: int | None = None
        """All open items, as the API counts them; None until it was heard."""
        self.as_of: datetime | None = None
        """When the list was true; None while there is none."""
        self.trouble = ""
        """Why the list is not newer, as a code; empty when it is."""
        self.is_cut = False
        self.shows_resolved = False
        self.item_id: ItemId | None = None
        self.detail: ItemDetail | None = None
        self.detail_trouble = ""
        self.changes: tuple[Difference, ...] = ()
        """What became different while the open item was being read; until it is dismissed."""
        self.runs: tuple[ReconciliationRun, ...] = ()
        self.runs_trouble = ""
        self.runs_as_of: datetime | None = None
        self.tills: tuple[Till, ...] = ()
        """Tills to which money can be handed, as they were when somebody last wanted to."""
        self.tills_trouble = ""
        self.drafts: dict[ItemId, ActDraft] = {}
        self.sent: dict[ItemId, SentAct] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change; the answer ends it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def clear(self) -> None:
        """Nobody works here any more: nothing of what was read or typed stays for the next person."""
        self.view, self.order = InboxFilter(), SortOrder()
        self._forget()
        self._tell(InboxPart.ITEMS | InboxPart.DETAIL | InboxPart.VIEW | InboxPart.RUNS)

    # ------------------------------------------------------------ the list

    def put_items(
        self, items: tuple[ReconciliationItem, ...], open_count: int, as_of: datetime, *, is_cut: bool = False
    ) -> None:
        """The list as the API gave it just now."""
        same = (items, open_count, is_cut) == (self.items, self.open_count, self.is_cut) and not self.trouble
        self.items, self.open_count, self.as_of, self.is_cut = items, open_count, as_of, is_cut
        self.trouble = ""
        self._tell(InboxPart.VIEW if same else InboxPart.ITEMS | InboxPart.VIEW)

    def put_count(self, open_count: int) -> None:
        """How many are open, while nobody looks at the list."""
        if open_count != self.open_count:
            self.open_count = open_count
            self._tell(InboxPart.VIEW)

    def put_trouble(self, code: str) -> None:
        """The list could not be read again; what is there stays, and is as old as it is."""
        if code != self.trouble:
            self.trouble = code
            self._tell(InboxPart.VIEW)

    def look_at(self, view: InboxFilter) -> None:
        """Show other items of the list."""
        if view != self.view:
            self.view = view
            self._tell(InboxPart.VIEW | InboxPart.ITEMS)

    def sort(self, order: SortOrder) -> None:
        """Show the list in another order."""
        if order != self.order:
            self.order = order
            self._tell(InboxPart.VIEW | InboxPart.ITEMS)

    def show_resolved(self, resolved: bool) -> None:  # said by what it sets
        """Show what is settled instead of what waits; the list is read anew."""
        if resolved != self.shows_resolved:
            self.shows_resolved = resolved
            self.items, self.as_of, self.is_cut = (), None, False
            self._tell(InboxPart.VIEW | InboxPart.ITEMS)

    @property
    def waiting_count(self) -> int:
        """Items of the list that wait for a second person."""
        return sum(item.state is ItemState.AWAITING_APPROVAL for item in self.items)

    def item(self, item_id: ItemId) -> ReconciliationItem | None:
        """An item of the list; None when it is not there."""
        return next((item for item in self.items if item.item_id == item_id), None)

    # ------------------------------------------------------------ the open item

    def open(self, item_id: ItemId | None) -> None:
        """Open an item, or none; what was typed about the one before is kept with it."""
        if item_id != self.item_id:
            self.item_id = item_id
            self.detail, self.detail_trouble, self.changes = None, "", ()
            self._tell(InboxPart.DETAIL | InboxPart.DRAFT)

    def put_detail(self, detail: ItemDetail, *, own_act: bool = False) -> None:
        """The open item as it stands; an answer about another one, or from before what is shown, comes too late.

        A reading that was under way while a person acted would show the item as before the act, and offer it again.
        What differs from what was read before is kept to be shown, unless the difference is what the person just did.
        """
        if detail.item.item_id != self.item_id:
            return
        old = self.detail
        if old is not None and _age(detail) < _age(old):
            return
        if old is not None and not own_act and detail.item.version != old.item.version:
            self.changes = differences(old, detail)
        elif own_act:
            self.changes = ()
        self.detail, self.detail_trouble = detail, ""
        self.items = tuple(detail.item if item.item_id == self.item_id else item for item in self.items)
        self._tell(InboxPart.DETAIL | InboxPart.ITEMS)

    def put_detail_trouble(self, item_id: ItemId, code: str) -> None:
        """The open item could not be read; what is shown of it stays."""
        if item_id == self.item_id:
            self.detail_trouble = code
            self._tell(InboxPart.DETAIL)

    def dismiss_changes(self) -> None:
        """The person has read what changed."""
        if self.changes:
            self.changes = ()
            self._tell(InboxPart.DETAIL)

    # ------------------------------------------------------------ what is typed

    @property
    def draft(self) -> ActDraft:
        """What is typed about the open item."""
        return ActDraft() if self.item_id is None else self.drafts.get(self.item_id, ActDraft())

    def put_draft(self, draft: ActDraft) -> None:
        """Something was typed, or another act chosen."""
        if self.item_id is None or draft == self.draft:
            return
        if draft == ActDraft():
            self.drafts.pop(self.item_id, None)
        else:
            self.drafts[self.item_id] = draft
        self._tell(InboxPart.DRAFT)

    def forget_draft(self, item_id: ItemId) -> None:
        """The act was done."""
        if self.drafts.pop(item_id, None) is not None:
            self._tell(InboxPart.DRAFT)

    def key_for(
        self, item_id: ItemId, request: ItemActionRequest | ApprovalDecision, new_key: Callable[[], str]
    ) -> str:
        """The key of an act: that of the same act if its answer is not known, a new one otherwise."""
        sent = self.sent.get(item_id)
        if sent is None or sent.request != request:
            sent = self.sent[item_id] = SentAct(request, new_key())
        return sent.key

    def settle_key(self, item_id: ItemId) -> None:
        """The answer is known: the next act is another one, even when it reads the same."""
        self.sent.pop(item_id, None)

    # ------------------------------------------------------------ tills

    def put_tills(self, tills: tuple[Till, ...]) -> None:
        """Who is at work where."""
        self.tills, self.tills_trouble = tills, ""
        self._tell(InboxPart.TILLS)

    def put_tills_trouble(self, code: str) -> None:
        """That could not be read; what is known stays."""
        self.tills_trouble = code
        self._tell(InboxPart.TILLS)

    # ------------------------------------------------------------ daily comparison

    def put_runs(self, runs: tuple[ReconciliationRun, ...], as_of: datetime) -> None:
        """The comparisons, newest first."""
        self.runs, self.runs_as_of, self.runs_trouble = runs, as_of, ""
        self._tell(InboxPart.RUNS)

    def put_run(self, run: ReconciliationRun) -> None:
        """One comparison as it stands; a new one stands first."""
        known = any(kept.run_id == run.run_id for kept in self.runs)
        self.runs = tuple(run if kept.run_id == run.run_id else kept for kept in self.runs)
        if not known:
            self.runs = (run, *self.runs)
        self._tell(InboxPart.RUNS)

    def put_runs_trouble(self, code: str) -> None:
        """The comparisons could not be read."""
        self.runs_trouble = code
        self._tell(InboxPart.RUNS)

    def _tell(self, part: InboxPart) -> None:
        for listener in tuple(self._listeners):
            listener(part)


def _age(detail: ItemDetail) -> tuple[int, datetime]:
    """Orders what the booking system said of one item, the oldest first."""
    return detail.item.version, detail.server_time
