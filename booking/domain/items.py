"""What only a person can settle: items, their evidence, comparisons. Field names equal the wire's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NewType
from uuid import UUID

from booking.domain.item_actions import ItemAction
from booking.domain.model import Evidence, Order, PaymentOperation, ResultOutcome, SeatRef
from booking.domain.money_back import RefundWay

ItemId = NewType("ItemId", UUID)
RunId = NewType("RunId", UUID)

BY_ITSELF: Final = "authority"
"""Who ended an item whose cause was gone, and who starts the comparison of each day."""


class ItemState(StrEnum):
    OPEN = "open"
    AWAITING_APPROVAL = "awaiting-approval"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class ReconciliationItem:
    """See the wire's message of this name."""

    item_id: ItemId
    kind: str
    state: ItemState
    version: int
    opened_at: datetime
    event_id: int | None
    event_name: str
    order_id: UUID | None
    order_number: str
    operation_id: UUID | None
    provider: str
    amount_minor: int
    currency: str
    seats: tuple[SeatRef, ...]
    words: str
    asked_by: str
    resolved_at: datetime | None
    resolved_by: str
    resolution: str


@dataclass(frozen=True, slots=True)
class ItemList:
    items: tuple[ReconciliationItem, ...]
    next: str
    open_count: int
    server_time: datetime


class StateFilter(StrEnum):
    """UNSETTLED: open or awaiting approval, which is what a list shows unless asked for something else."""

    UNSETTLED = ""
    OPEN = "open"
    AWAITING_APPROVAL = "awaiting-approval"
    RESOLVED = "resolved"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items. `q`: an order's number or its beginning, a provider's reference, the id of an order or operation."""

    state: StateFilter = StateFilter.UNSETTLED
    kind: str = ""
    event_id: int | None = None
    provider: str = ""
    min_minor: int | None = None
    q: str = ""


class TimelineKind(StrEnum):
    REQUEST = "request"
    ANSWER = "answer"
    WEBHOOK = "webhook"
    TERMINAL = "terminal"
    SALE = "sale"
    PERSON = "person"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    at: datetime
    kind: TimelineKind
    title: str
    source: str
    operation_id: UUID | None
    amount_minor: int | None
    currency: str
    body: str


@dataclass(frozen=True, slots=True)
class AllowedAction:
    action: ItemAction
    needs_second_person: bool
    most_minor: int | None
    why_not: str
    needs_outcome: bool
    ways: tuple[RefundWay, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    action: ItemAction
    asked_by: str
    asked_at: datetime
    reason: str
    amount_minor: int | None
    reference: str
    order_id: UUID | None
    may_decide: bool
    outcome: ResultOutcome | None
    seats_to_sale: bool = True
    device_id: UUID | None = None
    way: RefundWay | None = None


@dataclass(frozen=True, slots=True)
class ItemDetail:
    item: ReconciliationItem
    timeline: tuple[TimelineEntry, ...]
    actions: tuple[AllowedAction, ...]
    operations: tuple[PaymentOperation, ...]
    order: Order | None
    approval: ApprovalAsked | None
    server_time: datetime


@dataclass(frozen=True, slots=True)
class ItemWish:
    """An act that somebody wants of an item, from the version that he saw."""

    action: ItemAction
    version: int
    reason: str
    amount_minor: int | None = None
    reference: str = ""
    order_id: UUID | None = None
    outcome: ResultOutcome | None = None
    seats_to_sale: bool = True
    device_id: UUID | None = None
    way: RefundWay | None = None


@dataclass(frozen=True, slots=True)
class Till:
    """A till with somebody at work who may give money back."""

    device_id: UUID
    name: str
    staff_name: str
    since: datetime


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReconciliationRun:
    run_id: RunId
    provider: str
    day: date
    state: RunState
    read: int
    expected: int
    matched: int
    differences: Mapping[str, int]
    opened_items: int
    started_at: datetime
    ended_at: datetime | None
    started_by: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReconciliationRunList:
    runs: tuple[ReconciliationRun, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that a comparison found. `subject` names it: the same in every run."""

    kind: str
    subject: str
    event_id: int | None
    order_id: UUID | None
    operation_id: UUID | None
    amount_minor: int
    currency: str
    detail: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TerminalTotal:
    scheme: str
    count: int
    amount_minor: int


@dataclass(frozen=True, slots=True)
class TotalsReport:
    """A terminal's end of day, as its till tells it."""

    terminal_id: str
    provider: str
    closed_at: datetime
    currency: str
    total_minor: int
    totals: tuple[TerminalTotal, ...] = ()
    first_receipt: int | None = None
    last_receipt: int | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class TerminalTotals:
    totals_id: UUID
    terminal_id: str
    device_id: UUID
    closed_at: datetime
    currency: str
    total_minor: int
    ours_minor: int
    difference_minor: int
    item_id: UUID | None


@dataclass(frozen=True, slots=True)
class ReconciliationSettings:
    """See the wire's message of this name."""

    version: int
    second_person_above_minor: int | None
    run_at_hour: int
    zone: str
    unknown_after_s: int
    server_time: datetime
    limits_by_currency: Mapping[str, int | None] = field(default_factory=dict)
