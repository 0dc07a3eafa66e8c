"""What only a person can settle: items, their evidence, what may be done, and the daily comparison (R27, R33)."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, NewType
from uuid import UUID

from msgspec import Meta, field

from backend_client.wire.after_payment import RefundWay
from backend_client.wire.base import (
    DeviceId,
    EventId,
    Instant,
    Message,
    MinorAmount,
    OperationId,
    OrderId,
    RequestMessage,
    ShortText,
)
from backend_client.wire.problems import SeatRef
from backend_client.wire.sale import EvidenceItem, Order, PaymentOperation, ResultOutcome

ItemId = NewType("ItemId", UUID)
RunId = NewType("RunId", UUID)


class ItemAction(StrEnum):
    """What a person may do with an item. None of them says that money moved when it did not: there is no "force done".

    ASK_AGAIN asks the provider now; CAPTURE, VOID and REFUND open an operation; TAKE_BACK ends an order whose capture
    was refused for good: its tickets are void, and what other payments of it took goes back; HAND_TO_TILL has a till
    give back what is owed; ATTACH says which order a stray charge belongs to; SETTLED_OUTSIDE records that it was
    settled elsewhere, with its reference; NOTE only adds words.
    """

    ASK_AGAIN = "ask-again"
    CAPTURE = "capture"
    TAKE_BACK = "take-back"
    VOID = "void"
    REFUND = "refund"
    HAND_TO_TILL = "hand-to-till"
    ATTACH = "attach"
    SETTLED_OUTSIDE = "settled-outside"
    NOTE = "note"


class ItemState(StrEnum):
    """AWAITING_APPROVAL: somebody has asked for an act above the limit, and a second person decides."""

    OPEN = "open"
    AWAITING_APPROVAL = "awaiting-approval"
    RESOLVED = "resolved"


class ReconciliationItem(Message, frozen=True, kw_only=True):
    """One item of the inbox. `kind` is kebab-case (no-result, provider-only, …); `words` is for people.

    `amount_minor` is the money that is in doubt. `version` goes along with an act, so that two people never overwrite
    each other unseen.
    """

    item_id: ItemId
    kind: str
    state: ItemState
    version: int
    opened_at: datetime
    event_id: EventId | None = None
    event_name: str = ""
    order_id: OrderId | None = None
    order_number: str = ""
    operation_id: OperationId | None = None
    provider: str = ""
    amount_minor: int = 0
    currency: str = ""
    seats: tuple[SeatRef, ...] = ()
    words: str = ""
    asked_by: str = ""
    resolved_at: datetime | None = None
    resolved_by: str = ""
    resolution: str = ""


class ItemList(Message, frozen=True, kw_only=True):
    """Oldest first; `next` goes back as `?after=` for more. `open_count` counts all open items, whatever the filter."""

    items: tuple[ReconciliationItem, ...]
    next: str = ""
    open_count: int = 0
    server_time: datetime


class TimelineKind(StrEnum):
    """Who spoke: a request of ours, an answer, a webhook, a terminal, the sale itself, a person, a comparison."""

    REQUEST = "request"
    ANSWER = "answer"
    WEBHOOK = "webhook"
    TERMINAL = "terminal"
    SALE = "sale"
    PERSON = "person"
    COMPARISON = "comparison"


class TimelineEntry(Message, frozen=True, kw_only=True):
    """One thing that happened. `title` is kebab-case (hold-made, …); `body` is the evidence, redacted."""

    at: datetime
    kind: TimelineKind
    title: str
    source: str = ""
    operation_id: OperationId | None = None
    amount_minor: int | None = None
    currency: str = ""
    body: str = ""


class AllowedAction(Message, frozen=True, kw_only=True):
    """An act that the state allows. `why_not` (kebab-case) when it is refused for now; then it cannot be done.

    `needs_outcome`: the operation has no answer yet, so SETTLED_OUTSIDE has to say which (`ItemActionRequest.outcome`).
    `ways`: how a till can give it back (HAND_TO_TILL): out of its drawer, or at its terminal.
    """

    action: ItemAction
    needs_second_person: bool = False
    most_minor: int | None = None
    why_not: str = ""
    needs_outcome: bool = False
    ways: tuple[RefundWay, ...] = ()


class ApprovalAsked(Message, frozen=True, kw_only=True):
    """An act that waits for a second person; who asked cannot approve it."""

    action: ItemAction
    asked_by: str
    asked_at: datetime
    reason: str
    amount_minor: int | None = None
    reference: str = ""
    order_id: OrderId | None = None
    may_decide: bool = False
    outcome: ResultOutcome | None = None
    seats_to_sale: bool = True
    device_id: DeviceId | None = None
    way: RefundWay | None = None


class ItemDetail(Message, frozen=True, kw_only=True):
    item: ReconciliationItem
    timeline: tuple[TimelineEntry, ...]
    actions: tuple[AllowedAction, ...]
    operations: tuple[PaymentOperation, ...] = ()
    order: Order | None = None
    approval: ApprovalAsked | None = None
    server_time: datetime


class ItemActionRequest(RequestMessage, frozen=True, kw_only=True):
    """`order_id` is for ATTACH, `reference` for SETTLED_OUTSIDE, `amount_minor` for REFUND and HAND_TO_TILL (all of it
    when None), `device_id` and `way` for HAND_TO_TILL, `seats_to_sale` (else they stay blocked) for TAKE_BACK.

    `outcome` (succeeded or declined) goes with SETTLED_OUTSIDE of an operation that has no answer yet: what became of
    it, by the word of the person and his reference (design §3).
    """

    action: ItemAction
    version: int
    reason: ShortText
    amount_minor: MinorAmount | None = None
    reference: Annotated[str, Meta(max_length=200)] = ""
    order_id: OrderId | None = None
    outcome: ResultOutcome | None = None
    seats_to_sale: bool = True
    device_id: DeviceId | None = None
    way: RefundWay | None = None


class Till(Message, frozen=True, kw_only=True):
    """A till at which somebody is signed in who may give money back: who, and since when."""

    device_id: DeviceId
    name: str
    staff_name: str = ""
    since: datetime


class TillList(Message, frozen=True, kw_only=True):
    tills: tuple[Till, ...]
    server_time: datetime


class ApprovalDecision(RequestMessage, frozen=True, kw_only=True):
    """A second person's word on what was asked (`version` as seen)."""

    approve: bool
    version: int
    reason: ShortText


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class ReconciliationRunRequest(RequestMessage, frozen=True, kw_only=True):
    """Compares one business day of one provider (a terminal protocol: its end-of-day totals) with our ledger."""

    provider: Annotated[str, Meta(min_length=1, max_length=40)]
    day: date


class ReconciliationRun(Message, frozen=True, kw_only=True):
    """`differences` by kind; each is an item. `read` of `expected` entries: progress, `expected` 0 when not known."""

    run_id: RunId
    provider: str
    day: date
    state: RunState
    read: int = 0
    expected: int = 0
    matched: int = 0
    differences: dict[str, int] = field(default_factory=dict)
    opened_items: int = 0
    started_at: datetime
    ended_at: datetime | None = None
    started_by: str = ""
    detail: str = ""


class ReconciliationRunList(Message, frozen=True, kw_only=True):
    runs: tuple[ReconciliationRun, ...]
    server_time: datetime


class TerminalTotal(RequestMessage, frozen=True, kw_only=True):
    """What a terminal counted of one card scheme; `scheme` as the terminal names it, `other` for the rest."""

    scheme: Annotated[str, Meta(min_length=1, max_length=40)]
    count: Annotated[int, Meta(ge=0, le=1_000_000)]
    amount_minor: MinorAmount


class TerminalTotalsReport(RequestMessage, frozen=True, kw_only=True):
    """A terminal's end of day (ZVT 06 50), reported by its till. The receipts' numbers bound what it covers."""

    terminal_id: ShortText
    provider: Annotated[str, Meta(min_length=1, max_length=40)]
    closed_at: Instant
    currency: Annotated[str, Meta(min_length=3, max_length=3)]
    total_minor: MinorAmount
    totals: Annotated[tuple[TerminalTotal, ...], Meta(max_length=20)] = ()
    first_receipt: int | None = None
    last_receipt: int | None = None
    evidence: Annotated[tuple[EvidenceItem, ...], Meta(max_length=50)] = ()


class TerminalTotals(Message, frozen=True, kw_only=True):
    """How the terminal's total compares with what the booking system has of it since the end of day before."""

    totals_id: UUID
    terminal_id: str
    device_id: DeviceId
    closed_at: datetime
    currency: str
    total_minor: int
    ours_minor: int
    difference_minor: int
    item_id: ItemId | None = None


class ReconciliationSettings(Message, frozen=True, kw_only=True):
    """How items are dealt with. `version` goes along with a change.

    An act of more than `second_person_above_minor` (or what `limits_by_currency` says of its currency; None: never)
    needs a second person. A day, in `zone`, is compared from `run_at_hour` of the next one on. A provider that is
    silent about an operation for `unknown_after_s` seconds makes it an item.
    """

    version: int
    second_person_above_minor: int | None
    limits_by_currency: dict[str, int | None] = field(default_factory=dict)
    run_at_hour: int
    zone: str
    unknown_after_s: int
    server_time: datetime


class ReconciliationSettingsChange(RequestMessage, frozen=True, kw_only=True):
    """All settings anew, made from `expected_version`."""

    expected_version: int
    second_person_above_minor: MinorAmount | None
    limits_by_currency: Annotated[dict[str, MinorAmount | None], Meta(max_length=200)] = field(default_factory=dict)
    run_at_hour: Annotated[int, Meta(ge=0, le=23)]
    zone: Annotated[str, Meta(min_length=1, max_length=60)]
    unknown_after_s: Annotated[int, Meta(ge=60, le=86_400)]
    reason: ShortText
