"""Errors: `application/problem+json` with a stable code, and what names a field or a seat in it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import field

from backend_client.wire.base import Message


class ErrorCode(StrEnum):
    """Stable codes of `Problem`. Clients branch on these, never on text."""

    INVALID_REQUEST = "invalid-request"
    NOT_FOUND = "not-found"
    METHOD_NOT_ALLOWED = "method-not-allowed"
    BODY_TOO_LARGE = "body-too-large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type"
    NOT_SIGNED_IN = "not-signed-in"
    TOKEN_EXPIRED = "token-expired"
    WRONG_CREDENTIALS = "wrong-credentials"
    TOO_MANY_ATTEMPTS = "too-many-attempts"
    FORBIDDEN = "forbidden"
    KEY_MISSING = "key-missing"
    KEY_REUSED = "key-reused"
    KEY_IN_PROGRESS = "key-in-progress"
    EVENT_NOT_FOUND = "event-not-found"
    EVENT_NOT_ON_SALE = "event-not-on-sale"
    SEAT_UNKNOWN = "seat-unknown"
    SEATS_TAKEN = "seats-taken"
    ACCOUNT_LIMIT = "account-limit"
    OPEN_HOLD_EXISTS = "open-hold-exists"
    HOLD_NOT_FOUND = "hold-not-found"
    HOLD_EXPIRED = "hold-expired"
    HOLD_NOT_OPEN = "hold-not-open"
    TOO_LITTLE_TIME = "too-little-time"
    PAYING_CAP_REACHED = "paying-cap-reached"
    PRICE_UNKNOWN = "price-unknown"
    PRICE_CHANGED = "price-changed"
    ORDER_NOT_FOUND = "order-not-found"
    ORDER_NOT_PAYABLE = "order-not-payable"
    ORDER_NOT_CANCELLABLE = "order-not-cancellable"
    PAYMENT_RUNNING = "payment-running"
    AMOUNT_MISMATCH = "amount-mismatch"
    TENDERED_TOO_LITTLE = "tendered-too-little"
    OPERATION_NOT_FOUND = "operation-not-found"
    OPERATION_NOT_YOURS = "operation-not-yours"
    RESULT_CONFLICT = "result-conflict"
    PRINT_JOB_NOT_FOUND = "print-job-not-found"
    PRINT_JOB_CONFLICT = "print-job-conflict"
    TICKET_NOT_FOUND = "ticket-not-found"
    SEAT_ORPHANED = "seat-orphaned"
    NO_BLOCK_LEFT = "no-block-left"
    TIER_UNKNOWN = "tier-unknown"
    TIER_SOLD_OUT = "tier-sold-out"
    TIER_IN_HOLDS = "tier-in-holds"
    CARD_LIMIT = "card-limit"
    ACCESS_CODE_REFUSED = "access-code-refused"
    RATE_LIMITED = "rate-limited"
    HOUSE_HOLD_NOT_FOUND = "house-hold-not-found"
    SETTINGS_CHANGED = "settings-changed"
    EVENT_STATE_CONFLICT = "event-state-conflict"
    PLAN_CONFLICT = "plan-conflict"
    PLAN_CHANGED = "plan-changed"
    CAPACITY_TOO_SMALL = "capacity-too-small"
    EVENT_HAS_NO_ROOM = "event-has-no-room"
    REFUND_TOO_MUCH = "refund-too-much"
    TICKET_NOT_REFUNDABLE = "ticket-not-refundable"
    ITEM_NOT_FOUND = "item-not-found"
    ITEM_CHANGED = "item-changed"
    ACTION_NOT_ALLOWED = "action-not-allowed"
    SECOND_PERSON_NEEDED = "second-person-needed"
    RUN_NOT_FOUND = "run-not-found"
    ALARM_NOT_FOUND = "alarm-not-found"
    UNKNOWN_EXPONENT = "unknown-exponent"
    INEXACT_AMOUNT = "inexact-amount"
    WEBHOOK_REFUSED = "webhook-refused"
    ADMISSION_REQUIRED = "admission-required"
    ADMISSION_REFUSED = "admission-refused"
    REGISTRATION_REFUSED = "registration-refused"
    BOT_CHECK_FAILED = "bot-check-failed"
    PLACE_NOT_FOUND = "place-not-found"
    QUEUE_CLOSED = "queue-closed"
    BUSY = "busy"
    AUTHORITY_AWAY = "authority-away"
    INTERNAL = "internal"


class FieldProblem(Message, frozen=True, kw_only=True):
    """One thing wrong with one field; `pointer` is a JSON pointer into the body, or `header:Name`, `query:name`.

    Of a seating plan, `says` is the stable name of the sentence and `values` are what stands in it.
    """

    pointer: str
    message: str
    says: str = ""
    values: dict[str, str | int | float] = field(default_factory=dict)


class SeatRef(Message, frozen=True, kw_only=True):
    """A seat as people name it, beside its dense index in the plan.

    `row_kind` says that `row` is none but a `table` or a `booth` (`PlanTable.kind`); empty for a row.
    """

    seat_no: int
    section: str = ""
    row: str = ""
    number: str = ""
    row_kind: str = ""


class Problem(Message, frozen=True, kw_only=True):
    """RFC 9457 problem details.

    `seats` names the seats that were lost, all of them (or those that would be left single: `seat-orphaned`); `offer`
    is the nearest block that could be held instead, as of the answer, promised to nobody.
    """

    type: str
    title: str
    status: int
    code: ErrorCode
    detail: str = ""
    request_id: str = ""
    fields: tuple[FieldProblem, ...] = ()
    seats: tuple[SeatRef, ...] = ()
    retry_after_s: int | None = None
    offer: tuple[SeatRef, ...] = ()


class Health(Message, frozen=True, kw_only=True):
    status: str
    detail: str = ""
