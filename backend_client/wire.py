"""The wire: every message between the booking API and its clients, once.

JSON bodies are `msgspec` Structs; errors are `application/problem+json` (RFC 9457) as `Problem` with a stable
`code`. Money is integer minor units beside a currency (ISO 4217); instants are aware UTC (RFC 3339). Binary seat
frames live in `backend_client.seat_frames`. The wire only grows: `tests/contract/golden/` keeps one sample of every
message ever released, and each must still parse. Requirement numbers (R1…) are those of the requirements digest.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, NewType
from uuid import UUID

from msgspec import Meta, Raw, Struct

EventId = NewType("EventId", int)
HoldId = NewType("HoldId", UUID)
OrderId = NewType("OrderId", UUID)
OperationId = NewType("OperationId", UUID)
TicketId = NewType("TicketId", UUID)
PrintJobId = NewType("PrintJobId", UUID)
DeviceId = NewType("DeviceId", UUID)
AccountId = NewType("AccountId", UUID)

SeatNumber = Annotated[int, Meta(ge=0, lt=1 << 24)]
MinorAmount = Annotated[int, Meta(ge=0, le=10**12)]
Instant = Annotated[datetime, Meta(tz=True)]
"""An instant in a request: with its offset, from 2000 to 2099; others are refused (422) by the name of the field."""
ShortText = Annotated[str, Meta(min_length=1, max_length=200)]

IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
REQUEST_ID_HEADER = "X-Request-Id"
PROBLEM_MEDIA_TYPE = "application/problem+json"
SEATS_MEDIA_TYPE = "application/vnd.taquilla.seats"
MAX_SEATS_PER_HOLD = 6


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages. Unknown members are ignored: old consoles meet new servers."""


class RequestMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of request bodies. Unknown members are refused: a misspelt member must not be dropped in silence."""


# ---------------------------------------------------------------- states and codes


class Role(StrEnum):
    """Who calls (R35). The API enforces roles; the console mirrors them."""

    FAN = "fan"
    CLERK = "clerk"
    OPS = "ops"
    SUPERVISOR = "supervisor"
    ADMIN = "admin"


class EventStatus(StrEnum):
    ON_SALE = "ON_SALE"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"


class HoldStatus(StrEnum):
    HELD = "HELD"
    PAYMENT_PENDING = "PAYMENT_PENDING"
    SOLD = "SOLD"
    RELEASED = "RELEASED"
    EXPIRED = "EXPIRED"


class OrderStatus(StrEnum):
    PENDING = "PENDING"
    RECONCILING = "RECONCILING"
    CONFIRMED = "CONFIRMED"
    PARTLY_REFUNDED = "PARTLY_REFUNDED"
    REFUNDED = "REFUNDED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


class OperationKind(StrEnum):
    """What a payment operation does. `sale` books at once (ZVT); `authorize` is followed by `capture`."""

    AUTHORIZE = "authorize"
    CAPTURE = "capture"
    SALE = "sale"
    VOID = "void"
    REFUND = "refund"
    CASH = "cash"


class OperationStatus(StrEnum):
    """CREATED → SENT → SUCCEEDED | DECLINED | UNKNOWN | ACTION_REQUIRED; nothing leaves SUCCEEDED or DECLINED."""

    CREATED = "CREATED"
    SENT = "SENT"
    ACTION_REQUIRED = "ACTION_REQUIRED"
    UNKNOWN = "UNKNOWN"
    SUCCEEDED = "SUCCEEDED"
    DECLINED = "DECLINED"


class TicketStatus(StrEnum):
    ISSUED = "ISSUED"
    PRINTED = "PRINTED"
    USED = "USED"
    VOID = "VOID"


class PrintJobStatus(StrEnum):
    QUEUED = "QUEUED"
    SENT = "SENT"
    CONFIRMED = "CONFIRMED"
    UNKNOWN = "UNKNOWN"
    FAILED = "FAILED"


class Advice(StrEnum):
    """What the till tells the terminal after it reported that it succeeded; see `ResultAnswer`."""

    GOODS_ISSUED = "goods-issued"
    REVERSE = "reverse"


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
    BUSY = "busy"
    AUTHORITY_AWAY = "authority-away"
    INTERNAL = "internal"


# ---------------------------------------------------------------- errors


class FieldProblem(Message, frozen=True, kw_only=True):
    """One thing wrong with one field; `pointer` is a JSON pointer into the body, or `header:Name`, `query:name`."""

    pointer: str
    message: str


class SeatRef(Message, frozen=True, kw_only=True):
    """A seat as people name it, beside its dense index in the plan."""

    seat_no: int
    section: str = ""
    row: str = ""
    number: str = ""


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


# ---------------------------------------------------------------- staff and accounts


class LoginRequest(RequestMessage, frozen=True, kw_only=True):
    name: ShortText
    password: Annotated[str, Meta(min_length=1, max_length=1024)]
    device_id: DeviceId
    device_name: ShortText


class RefreshRequest(RequestMessage, frozen=True, kw_only=True):
    refresh_token: Annotated[str, Meta(min_length=1, max_length=1024)]
    device_id: DeviceId


class StaffSession(Message, frozen=True, kw_only=True):
    """Answer of login and refresh. `access_token` is short-lived; `refresh_token` is bound to the device, used once."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str
    staff_id: UUID
    name: str
    display_name: str
    role: Role
    device_id: DeviceId
    server_time: datetime


class Me(Message, frozen=True, kw_only=True):
    principal: str
    role: Role
    display_name: str = ""
    server_time: datetime


class AccountSession(Message, frozen=True, kw_only=True):
    """A fan's account and its token (made by `POST /v1/accounts`)."""

    account_id: AccountId
    access_token: str
    access_expires_at: datetime
    server_time: datetime


# ---------------------------------------------------------------- events, plans, prices


class EventSummary(Message, frozen=True, kw_only=True):
    event_id: EventId
    name: str
    venue_name: str
    starts_at: datetime
    zone: str
    currency: str
    status: EventStatus
    sale_opens_at: datetime
    plan_id: UUID
    plan_version: int
    seat_count: int


class EventList(Message, frozen=True, kw_only=True):
    events: tuple[EventSummary, ...]
    server_time: datetime


class PriceCategory(Message, frozen=True, kw_only=True):
    """`category_no` is the index of the category in the plan."""

    category_no: int
    name: str
    color: str


class PriceType(Message, frozen=True, kw_only=True):
    """Adult, child, … ; `price_type_id` is stable within the event."""

    price_type_id: int
    name: str


class Price(Message, frozen=True, kw_only=True):
    category_no: int
    price_type_id: int
    amount_minor: int


class OrphanRule(StrEnum):
    """Whether a hold may leave one free seat between taken ones: never, only where it cannot be helped, or always."""

    STRICT = "strict"
    LENIENT = "lenient"
    OFF = "off"


class Tier(Message, frozen=True, kw_only=True):
    """A general-admission tier: places without numbers (R11). `available` is as of the answer, never below zero.

    `in_holds` are places that may come back; `overbooked` is by how much more was sold than a lowered capacity holds.
    """

    tier_id: int
    name: str
    category_no: int
    capacity: int
    available: int
    in_holds: int
    sold: int
    overbooked: int = 0


class TierList(Message, frozen=True, kw_only=True):
    event_id: EventId
    tiers: tuple[Tier, ...]
    server_time: datetime


class EventDetail(EventSummary, frozen=True, kw_only=True):
    """An event with all a seller needs; prices are those of `price_version`."""

    hold_ttl_s: int
    grace_s: int
    max_per_account: int
    price_version: int
    categories: tuple[PriceCategory, ...]
    price_types: tuple[PriceType, ...]
    prices: tuple[Price, ...]
    server_time: datetime
    tiers: tuple[Tier, ...] = ()
    orphan_rule: OrphanRule = OrphanRule.OFF
    settings_version: int = 1


class EventSettings(Message, frozen=True, kw_only=True):
    """What operators set per event. `version` rises with each change: a change names the version it was made from."""

    event_id: EventId
    version: int
    hold_ttl_s: int
    grace_s: int
    max_per_account: int
    max_per_card: int
    max_open_holds_till: int
    paying_cap: int
    orphan_rule: OrphanRule


class EventSettingsChange(RequestMessage, frozen=True, kw_only=True):
    """Members left out stay as they are."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    hold_ttl_s: Annotated[int, Meta(ge=1, le=900)] | None = None
    grace_s: Annotated[int, Meta(ge=0, le=900)] | None = None
    max_per_account: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    max_per_card: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    max_open_holds_till: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    paying_cap: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    orphan_rule: OrphanRule | None = None


class EventStatusChange(RequestMessage, frozen=True, kw_only=True):
    """Pause, resume or cancel an event: `POST /v1/events/{id}/pause|resume|cancel`."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText


class PlanChange(RequestMessage, frozen=True, kw_only=True):
    """Put an event on another version of its plan. With `dry_run` nothing changes and the report says what would."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    plan_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    dry_run: bool = False


class PlanChangeReport(Message, frozen=True, kw_only=True):
    """Seats are matched by guid (I4). `relabelled` keep their sale under a new name."""

    event_id: EventId
    plan_version: int
    applied: bool
    kept: int
    added: int
    removed: int
    relabelled: tuple[SeatRef, ...] = ()


class Venue(Message, frozen=True, kw_only=True):
    """A place that has seating plans; `zone` is its IANA time zone."""

    venue_id: UUID
    name: str
    zone: str


class VenueList(Message, frozen=True, kw_only=True):
    """All venues, by name."""

    venues: tuple[Venue, ...]
    server_time: datetime


class PlanVersion(Message, frozen=True, kw_only=True):
    """One version of a plan; it never changes."""

    version: int
    seat_count: int
    created_at: datetime


class PlanEvent(Message, frozen=True, kw_only=True):
    """An event on some version of a plan. `settings_version` is what a change of its plan names (`PlanChange`)."""

    event_id: EventId
    name: str
    starts_at: datetime
    zone: str
    status: EventStatus
    plan_version: int
    settings_version: int


class VenuePlan(Message, frozen=True, kw_only=True):
    """A plan with its versions, newest first, and the events on any of them, by their start."""

    plan_id: UUID
    name: str
    versions: tuple[PlanVersion, ...]
    events: tuple[PlanEvent, ...] = ()


class VenuePlanList(Message, frozen=True, kw_only=True):
    """The plans of a venue, by name."""

    venue: Venue
    plans: tuple[VenuePlan, ...]
    server_time: datetime


class PlanUpload(RequestMessage, frozen=True, kw_only=True):
    """A seating plan in our own format (docs/seating-plan-format.md), as the newest version of the plan of its name.

    `expected_version` is the newest version that its author knew of, 0 for a plan that is new; a plan that somebody
    else has changed meanwhile is refused (`plan-changed`). Without it nothing is compared.
    """

    plan: Raw
    expected_version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None


class SavedPlan(Message, frozen=True, kw_only=True):
    """Where a plan was stored. `is_new` is false when this very plan was there already: nothing was stored.

    `warnings` point into the body as the fields of a problem do.
    """

    plan_id: UUID
    version: int
    is_new: bool
    seat_count: int
    warnings: tuple[FieldProblem, ...] = ()


class TierChange(RequestMessage, frozen=True, kw_only=True):
    """A new capacity. Below what is sold or held it is refused, unless the overbooking is accepted by name (B7)."""

    capacity: Annotated[int, Meta(ge=0, le=10_000_000)]
    reason: ShortText
    accept_overbooking: bool = False


class AccessCodeRequest(RequestMessage, frozen=True, kw_only=True):
    """A code that raises the ticket limit of the account that uses it (B17). Upper and lower case are the same."""

    code: Annotated[str, Meta(min_length=4, max_length=60)]
    max_per_account: Annotated[int, Meta(ge=1, le=10_000)]
    max_uses: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    valid_until: Instant | None = None


class AccessCode(Message, frozen=True, kw_only=True):
    event_id: EventId
    code: str
    max_per_account: int
    uses: int
    max_uses: int | None = None
    valid_until: datetime | None = None


class AccessCodeList(Message, frozen=True, kw_only=True):
    event_id: EventId
    access_codes: tuple[AccessCode, ...]
    server_time: datetime


class HouseHoldKind(StrEnum):
    """For whom the house keeps seats back."""

    PROMOTER = "promoter"
    ARTIST = "artist"
    TECHNICAL = "technical"
    ACCESSIBLE = "accessible"
    PRESS = "press"
    SPONSOR = "sponsor"
    OTHER = "other"


class HouseHoldRequest(RequestMessage, frozen=True, kw_only=True):
    """Keeps free seats back, all or nothing; they return to sale at `release_at` by themselves."""

    kind: HouseHoldKind
    reason: ShortText
    seats: Annotated[tuple[SeatNumber, ...], Meta(min_length=1, max_length=2_000)]
    release_at: Instant | None = None


class HouseHold(Message, frozen=True, kw_only=True):
    """`seats` are those that it still keeps."""

    house_hold_id: UUID
    event_id: EventId
    kind: HouseHoldKind
    reason: str
    seats: tuple[SeatRef, ...]
    release_at: datetime | None
    created_at: datetime
    created_by: str
    released_at: datetime | None = None


class HouseHoldList(Message, frozen=True, kw_only=True):
    event_id: EventId
    house_holds: tuple[HouseHold, ...]
    server_time: datetime


class HouseHoldRelease(RequestMessage, frozen=True, kw_only=True):
    """Gives seats of a house hold back to sale; all of them when none are named."""

    reason: ShortText
    seats: Annotated[tuple[SeatNumber, ...], Meta(max_length=2_000)] = ()


class SeatStatus(StrEnum):
    """How a seat stands at the time of the answer; what was held beyond its deadline is AVAILABLE (R5)."""

    AVAILABLE = "AVAILABLE"
    HELD = "HELD"
    PAYING = "PAYING"
    SOLD = "SOLD"
    BLOCKED = "BLOCKED"


class SeatActorKind(StrEnum):
    """Who has a seat, or did something to it."""

    TILL = "till"
    FAN = "fan"
    HOUSE = "house"


class SeatActor(Message, frozen=True, kw_only=True):
    """`name` is a person's, `till` the device's. A fan has a `short_id` only, the same within an event."""

    kind: SeatActorKind
    name: str = ""
    till: str = ""
    short_id: str = ""


class SeatPrice(Message, frozen=True, kw_only=True):
    price_type_id: int
    name: str
    amount_minor: int


class SeatHouseHold(Message, frozen=True, kw_only=True):
    """For whom the house keeps a seat back, why, and until when (None: until it is released)."""

    house_hold_id: UUID
    kind: HouseHoldKind
    reason: str
    release_at: datetime | None = None
    created_at: datetime
    created_by: str


class SeatHistoryItem(Message, frozen=True, kw_only=True):
    """One thing that happened to a seat; members are filled where the kind has use for them.

    `kind` is an open set (held, released, expired, paying, payment-declined, payment-voided, order-cancelled,
    order-expired, sold, refunded, ticket-issued, printed, print-failed, print-unclear, used, kept-back, given-back,
    plan-changed): show one that you do not know by its `reason`, or leave it out. `by` is None where it was the booking
    system itself, or where nobody wrote down who it was.
    """

    at: datetime
    kind: str
    by: SeatActor | None = None
    hold_id: HoldId | None = None
    order_id: OrderId | None = None
    order_number: str = ""
    amount_minor: int | None = None
    price_type_name: str = ""
    reason: str = ""
    house_kind: HouseHoldKind | None = None
    until: datetime | None = None


class SeatDetail(Message, frozen=True, kw_only=True):
    """One seat, for staff: how it stands, what it costs, and everything that it has been through, oldest first.

    `held_by`, `since`, `until`, the hold and the order are those of `status`; `until` is the deadline of a hold, or
    when the house gives the seat back. `amount_minor` and `price_type_name` are those of the order's line. `prices` are
    those that a buyer pays now, or that its hold has locked. `history_complete` is false when its oldest items are left
    out.
    """

    event_id: EventId
    seat: SeatRef
    category_no: int
    category_name: str
    currency: str
    prices: tuple[SeatPrice, ...]
    flags: int
    status: SeatStatus
    printed: bool = False
    used: bool = False
    held_by: SeatActor | None = None
    since: datetime | None = None
    until: datetime | None = None
    hold_id: HoldId | None = None
    order_id: OrderId | None = None
    order_number: str = ""
    order_status: OrderStatus | None = None
    amount_minor: int | None = None
    price_type_name: str = ""
    ticket_status: TicketStatus | None = None
    house_hold: SeatHouseHold | None = None
    history: tuple[SeatHistoryItem, ...]
    history_complete: bool = True
    server_time: datetime


class PlanSection(Message, frozen=True, kw_only=True):
    """`floor_no` indexes `Plan.floors`; 0 in plans without floors."""

    name: str
    label_x: float
    label_y: float
    floor_no: int = 0


class PlanRow(Message, frozen=True, kw_only=True):
    """`section_no` indexes `Plan.sections`; seats of a row are contiguous in seat order and adjacent in that order.

    `row_text` and `seat_text` name the row and its seats in running text where the plan says more than the labels;
    `%s` in them stands for the label and the number.
    """

    section_no: int
    label: str
    first_seat: int
    seat_count: int
    label_position: str = ""
    row_text: str = ""
    seat_text: str = ""


class PlanArea(Message, frozen=True, kw_only=True):
    """A shape of the plan that holds no seat. `points` is x0, y0, x1, y1, … for polygons; sizes in plan units."""

    shape: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    points: tuple[float, ...] = ()
    rotation: float = 0.0
    color: str = ""
    border_color: str = ""
    text: str = ""
    text_x: float = 0.0
    text_y: float = 0.0
    text_size: float = 0.0
    text_color: str = ""
    floor_no: int = 0


class PlanPoint(Message, frozen=True, kw_only=True):
    """A point in plan units."""

    x: float
    y: float


class PlanFloor(Message, frozen=True, kw_only=True):
    """One of several levels that are drawn over each other and shown one at a time."""

    name: str


class PlanTable(Message, frozen=True, kw_only=True):
    """What stands in the middle of the seats of row `row_no`: a table, or the booth that is sold as one seat.

    `x`, `y` is its middle; `shape` is circle or rectangle; `rotation` in degrees, clockwise about the middle.
    `whole`: the source sells it as a whole; here its seats are sold one by one.
    """

    row_no: int
    kind: str
    shape: str
    x: float
    y: float
    width: float
    height: float
    rotation: float = 0.0
    whole: bool = False


class PlanStanding(Message, frozen=True, kw_only=True):
    """A general-admission area: `name` is that of its tier in events made from the plan, `area` where it is drawn."""

    name: str
    capacity: int
    category_no: int
    area: PlanArea


class PlanPicture(Message, frozen=True, kw_only=True):
    """A picture under the plan, filling the rectangle: `image` is the file itself (PNG or JPEG, base64 in JSON)."""

    media_type: str
    image: bytes
    x: float
    y: float
    width: float
    height: float
    opacity: float = 1.0
    floor_no: int = 0


class PlanView(Message, frozen=True, kw_only=True):
    """What people see from a seat: an image for the seats of these `guids`, or, without any, for a whole section.

    `image` is the file itself (base64 in JSON), of the type that `media_type` names; it is never fetched from anywhere.
    """

    media_type: str
    image: bytes
    section: str = ""
    guids: tuple[str, ...] = ()


class PlanSeats(Message, frozen=True, kw_only=True):
    """Columns over all seats; the index is `seat_no`. `flags`: 1 accessible, 2 companion, 4 restricted view."""

    guid: tuple[str, ...]
    number: tuple[str, ...]
    row_no: tuple[int, ...]
    category_no: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    flags: tuple[int, ...]


class Plan(Message, frozen=True, kw_only=True):
    """A seating plan: static geometry, immutable by (plan_id, version), cacheable for ever (R13).

    `focal_point` is where people look when somebody said so; without it the stage is found among the texts of `areas`.
    """

    plan_id: UUID
    version: int
    name: str
    width: float
    height: float
    seat_radius: float
    categories: tuple[PriceCategory, ...]
    sections: tuple[PlanSection, ...]
    rows: tuple[PlanRow, ...]
    areas: tuple[PlanArea, ...]
    seats: PlanSeats
    focal_point: PlanPoint | None = None
    floors: tuple[PlanFloor, ...] = ()
    tables: tuple[PlanTable, ...] = ()
    standing: tuple[PlanStanding, ...] = ()
    views: tuple[PlanView, ...] = ()
    pictures: tuple[PlanPicture, ...] = ()


# ---------------------------------------------------------------- sale


class BestAvailable(RequestMessage, frozen=True, kw_only=True):
    """`count` seats beside each other (order in the row, never printed numbers), as near to the focal point as can be.

    `categories` and `sections` (indexes in the plan) narrow the choice; `accessible` of the seats are accessible
    places, the rest of such a block companion seats.
    """

    count: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]
    categories: Annotated[tuple[Annotated[int, Meta(ge=0, le=10_000)], ...], Meta(max_length=100)] = ()
    sections: Annotated[tuple[Annotated[int, Meta(ge=0, le=100_000)], ...], Meta(max_length=100)] = ()
    accessible: Annotated[int, Meta(ge=0, le=MAX_SEATS_PER_HOLD)] = 0


class TierQuantity(RequestMessage, frozen=True, kw_only=True):
    tier_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    quantity: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]


class HoldRequest(RequestMessage, frozen=True, kw_only=True):
    """1–6 places, all or nothing (R3): distinct seats or a best-available request, and general-admission places.

    `access_code` raises the account's limit. `house_hold_id` lets staff take seats that the house keeps back.
    """

    seats: Annotated[tuple[SeatNumber, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    best_available: BestAvailable | None = None
    tiers: Annotated[tuple[TierQuantity, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    access_code: Annotated[str, Meta(max_length=60)] = ""
    house_hold_id: UUID | None = None


class HeldPlaces(Message, frozen=True, kw_only=True):
    """Places of a general-admission tier that a hold has."""

    tier_id: int
    name: str
    category_no: int
    quantity: int


class Hold(Message, frozen=True, kw_only=True):
    """`status` is as of `server_time`: a hold past its deadline reads EXPIRED, swept or not (R4, R5)."""

    hold_id: HoldId
    event_id: EventId
    status: HoldStatus
    seats: tuple[SeatRef, ...]
    expires_at: datetime
    grace_used: bool
    order_id: OrderId | None = None
    created_at: datetime
    server_time: datetime
    places: tuple[HeldPlaces, ...] = ()


class CheckoutLine(RequestMessage, frozen=True, kw_only=True):
    seat_no: SeatNumber
    price_type_id: Annotated[int, Meta(ge=0, le=1_000_000)]


class CheckoutPlaces(RequestMessage, frozen=True, kw_only=True):
    """Places of a tier at one price type."""

    tier_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    price_type_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    quantity: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]


class CheckoutRequest(RequestMessage, frozen=True, kw_only=True):
    """A price type for each seat and place of the hold.

    `shown_total_minor` is what the buyer was shown; it is compared with the server's own total, never believed.
    """

    lines: Annotated[tuple[CheckoutLine, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    shown_total_minor: MinorAmount
    places: Annotated[tuple[CheckoutPlaces, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()


class OrderLine(Message, frozen=True, kw_only=True):
    seat: SeatRef
    price_type_id: int
    price_type_name: str
    amount_minor: int


class OrderPlaces(Message, frozen=True, kw_only=True):
    """General-admission places of an order at one price type; `amount_minor` is that of all of them together."""

    tier_id: int
    tier_name: str
    price_type_id: int
    price_type_name: str
    quantity: int
    amount_minor: int


class PaymentOperation(Message, frozen=True, kw_only=True):
    """`next_action` is what the buyer must do (3-D Secure and the like) when status is ACTION_REQUIRED."""

    operation_id: OperationId
    order_id: OrderId
    part: int
    kind: OperationKind
    status: OperationStatus
    provider: str
    amount_minor: int
    currency: str
    device_id: DeviceId | None = None
    provider_ref: str = ""
    decline_code: str = ""
    next_action: str = ""
    tendered_minor: int | None = None
    change_minor: int | None = None
    created_at: datetime
    updated_at: datetime


class Order(Message, frozen=True, kw_only=True):
    """`number` is what people read; `pay_until` the deadline of its hold, None once settled."""

    order_id: OrderId
    event_id: EventId
    number: str
    status: OrderStatus
    amount_minor: int
    currency: str
    price_version: int
    lines: tuple[OrderLine, ...]
    hold_ids: tuple[HoldId, ...]
    operations: tuple[PaymentOperation, ...]
    pay_until: datetime | None
    created_at: datetime
    server_time: datetime
    places: tuple[OrderPlaces, ...] = ()


class PaymentRequest(RequestMessage, frozen=True, kw_only=True):
    """Pays `amount_minor` of an order.

    `kind` is cash (with `tendered_minor`), sale (`provider` names the terminal protocol; the caller's device drives the
    terminal and reports), or authorize (`provider` names the provider; `payment_method` is its reference of the card,
    never a card number).
    """

    kind: OperationKind
    provider: Annotated[str, Meta(min_length=1, max_length=40)]
    amount_minor: MinorAmount
    tendered_minor: MinorAmount | None = None
    payment_method: Annotated[str, Meta(max_length=200)] = ""


class PaymentAnswer(Message, frozen=True, kw_only=True):
    operation: PaymentOperation
    order: Order


class ResultOutcome(StrEnum):
    SUCCEEDED = "succeeded"
    DECLINED = "declined"
    UNKNOWN = "unknown"


class EvidenceItem(RequestMessage, frozen=True, kw_only=True):
    """One step that a device saw. Card numbers and track data never travel; what does is masked, not stored (R43)."""

    at: Instant
    direction: Annotated[str, Meta(max_length=20)]
    body: Annotated[str, Meta(max_length=4000)]


class ResultReport(RequestMessage, frozen=True, kw_only=True):
    """What a terminal said about an operation of kind `sale`; only the device that opened it may report it.

    Operations of every other kind are decided by their provider, or by the drawer: `operation-not-yours`. A till that
    was advised to reverse reports `declined` once the terminal has taken the sale back: that is recorded beside the
    sale, and is no conflict.
    """

    outcome: ResultOutcome
    amount_minor: MinorAmount
    provider_ref: Annotated[str, Meta(max_length=200)] = ""
    decline_code: Annotated[str, Meta(max_length=100)] = ""
    card_brand: Annotated[str, Meta(max_length=60)] = ""
    evidence: Annotated[tuple[EvidenceItem, ...], Meta(max_length=200)] = ()


class ResultAnswer(Message, frozen=True, kw_only=True):
    """`advice` answers a report `succeeded`, and no other: goods-issued, or reverse what was booked.

    After `unknown` and `declined` it reads `reverse` unless the order is paid by this operation: no goods are issued. A
    till must reverse nothing because of it: what a terminal may not have booked is never taken back on a guess (R24).
    """

    operation: PaymentOperation
    order: Order
    advice: Advice


class CancelRequest(RequestMessage, frozen=True, kw_only=True):
    """Cancels a PENDING order. `keep_seats` returns the seats to the hold while time is left, else they are freed."""

    reason: ShortText
    keep_seats: bool


# ---------------------------------------------------------------- after the sale


class Ticket(Message, frozen=True, kw_only=True):
    """`code` is what the QR says; it is not guessable (80 random bits or more).

    A general-admission ticket has a `tier_id`; its `seat` names the tier as its section and has the number -1.
    """

    ticket_id: TicketId
    order_id: OrderId
    seat: SeatRef
    price_type_name: str
    amount_minor: int
    currency: str
    code: str
    status: TicketStatus
    tier_id: int | None = None


class TicketList(Message, frozen=True, kw_only=True):
    """`complete` is false while the issuer is still behind the confirmation (R28)."""

    order_id: OrderId
    complete: bool
    tickets: tuple[Ticket, ...]


class PrintJobRequest(RequestMessage, frozen=True, kw_only=True):
    ticket_ids: Annotated[tuple[TicketId, ...], Meta(min_length=1, max_length=100)]
    printer: ShortText


class PrintJobReport(RequestMessage, frozen=True, kw_only=True):
    status: PrintJobStatus
    detail: Annotated[str, Meta(max_length=500)] = ""


class PrintJob(Message, frozen=True, kw_only=True):
    print_job_id: PrintJobId
    order_id: OrderId
    ticket_ids: tuple[TicketId, ...]
    printer: str
    status: PrintJobStatus
    detail: str = ""
    created_at: datetime


# ---------------------------------------------------------------- seat feed (text frames)


class FeedHello(Message, frozen=True, kw_only=True, tag="hello", tag_field="type"):
    """First frame on a feed: where the server stands, and when changes were last known to be numbered."""

    event_id: EventId
    epoch: int
    version: int
    server_time: datetime
    sequenced_at: datetime | None = None


class FeedBeat(Message, frozen=True, kw_only=True, tag="beat", tag_field="type"):
    """Sent when nothing changed for `FEED_BEAT_S`, so that a silent link is noticed (G3).

    Much older than `server_time`, `sequenced_at` says that changes would not come, though the link is good.
    """

    epoch: int
    version: int
    server_time: datetime
    sequenced_at: datetime | None = None


class FeedResync(Message, frozen=True, kw_only=True, tag="resync", tag_field="type"):
    """The server cannot continue from where the client stands: load the snapshot again."""

    epoch: int
    version: int


class FeedDelta(Message, frozen=True, kw_only=True, tag="delta", tag_field="type"):
    """JSON form of a delta: `changes` is (seat_no, state) pairs; versions are dense (R13)."""

    epoch: int
    from_version: int
    to_version: int
    changes: tuple[tuple[int, int], ...]


FeedText = FeedHello | FeedBeat | FeedResync | FeedDelta
FEED_BEAT_S = 2.0
FEED_LATE_S = 5.0
"""A map is out of date when no change has been numbered for so long, changes or none."""
FEED_TOKEN_EXPIRED = 4401
"""Close code of a feed whose access token has run out: dial again with a fresh one, continuing from the position."""


class Health(Message, frozen=True, kw_only=True):
    status: str
    detail: str = ""
