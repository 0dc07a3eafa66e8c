"""What operators see of the whole system once a second, and its history (R32, R42): `WS /v1/ops/feed`.

A figure is a number under a name of `OpsFigure`, with its unit at the end of the name; one that is not there is not
known. What each means and where it comes from: docs/figures.md.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from backend_client.wire.base import EventId, Message
from backend_client.wire.ops_alarms import OpsAlarm


class OpsFigure(StrEnum):
    """Every figure. A newer server may send others: they are ignored. Shares run from 0 to 1."""

    # requests
    REQUESTS_PER_S = "requests_per_s"
    FAILURES_PER_S = "failures_per_s"
    SHED_PER_S = "shed_per_s"
    RATE_LIMITED_PER_S = "rate_limited_per_s"
    HOLD_ATTEMPTS_PER_S = "hold_attempts_per_s"
    HOLD_CONFLICT_SHARE = "hold_conflict_share"
    HOLD_P50_MS = "hold_p50_ms"
    HOLD_P99_MS = "hold_p99_ms"
    CHECKOUT_P99_MS = "checkout_p99_ms"
    PAYMENT_P99_MS = "payment_p99_ms"
    RESULT_P99_MS = "result_p99_ms"
    ORDER_P99_MS = "order_p99_ms"
    MAP_P99_MS = "map_p99_ms"
    # what waits inside
    QUEUE_AGE_MS = "queue_age_ms"
    QUEUE_WAITING = "queue_waiting"
    POOL_USE_SHARE = "pool_use_share"
    LOOP_LAG_MS = "loop_lag_ms"
    CPU_SHARE = "cpu_share"
    MEMORY_MB = "memory_mb"
    # the database
    DATABASE_ANSWER_MS = "database_answer_ms"
    DATABASE_CONNECTION_SHARE = "database_connection_share"
    DATABASE_COMMITS_PER_S = "database_commits_per_s"
    DEADLOCKS_PER_MIN = "deadlocks_per_min"
    LOCK_WAITS = "lock_waits"
    LOCK_WAIT_OLDEST_S = "lock_wait_oldest_s"
    # after the sale
    EXPIRY_BACKLOG = "expiry_backlog"
    EXPIRY_OLDEST_S = "expiry_oldest_s"
    PAYMENTS_UNKNOWN = "payments_unknown"
    PAYMENTS_UNKNOWN_OLDEST_S = "payments_unknown_oldest_s"
    PAYMENT_ANSWERS_PER_S = "payment_answers_per_s"
    PAYMENT_ERROR_SHARE = "payment_error_share"
    OUTBOX_LAG = "outbox_lag"
    OUTBOX_OLDEST_S = "outbox_oldest_s"
    SEQUENCER_SILENT_S = "sequencer_silent_s"
    TICKETING_LAG_S = "ticketing_lag_s"
    TICKET_DIFFERENCES = "ticket_differences"
    ITEMS_OPEN = "items_open"
    # the feed of seats
    FEED_CLIENTS = "feed_clients"
    FEED_MESSAGES_PER_S = "feed_messages_per_s"
    FEED_LAG_P50_MS = "feed_lag_p50_ms"
    FEED_LAG_P99_MS = "feed_lag_p99_ms"
    FEED_DROPPED_PER_MIN = "feed_dropped_per_min"
    # the sale
    SHOPPERS_ACTIVE = "shoppers_active"
    HOLDS_MADE_PER_S = "holds_made_per_s"
    DEPARTURES_PER_MIN = "departures_per_min"
    COMPLETION_SHARE = "completion_share"
    HOLD_EXPIRY_SHARE = "hold_expiry_share"
    ORDERS_CONFIRMED_PER_MIN = "orders_confirmed_per_min"
    SEATS_FREE = "seats_free"
    SEATS_HELD = "seats_held"
    SEATS_SOLD = "seats_sold"
    # the waiting room
    ROOM_WAITING = "room_waiting"
    ROOM_AWAY = "room_away"
    ROOM_INSIDE = "room_inside"
    ROOM_WAIT_S = "room_wait_s"
    ADMISSION_SET_PER_MIN = "admission_set_per_min"
    ADMISSION_MEASURED_PER_MIN = "admission_measured_per_min"
    ADMISSION_UNSTEERED_S = "admission_unsteered_s"
    # the processes
    PROCESSES_SILENT = "processes_silent"


class OpsProcessKind(StrEnum):
    """What a process is."""

    API = "api"
    WORKER = "worker"
    ROOM = "room"


class OpsLane(Message, frozen=True, kw_only=True):
    """A lane of one process: requests that wait, since when the oldest does (the worst of the last second)."""

    name: str
    queue_age_ms: float
    waiting: int
    requests_per_s: float | None = None
    batch_size: float | None = None
    alone_per_s: float | None = None
    shed_per_s: float | None = None


class OpsPool(Message, frozen=True, kw_only=True):
    """A pool of connections: `in_use` is the most of the last second, and counts those who wait for one as well."""

    name: str
    in_use: int
    open: int
    most: int


class OpsProcess(Message, frozen=True, kw_only=True):
    """One process's own part. `silent`: it has not reported for 5 seconds, its figures are its last ones."""

    process_id: UUID
    kind: OpsProcessKind
    name: str
    host: str
    pid: int
    started_at: datetime
    heard_at: datetime
    silent: bool = False
    figures: dict[str, float]
    lanes: tuple[OpsLane, ...] = ()
    pools: tuple[OpsPool, ...] = ()


class OpsEventFigures(Message, frozen=True, kw_only=True):
    """One event's part: what is sold, held and free, who shops, who waits in its room."""

    event_id: EventId
    name: str
    status: str
    figures: dict[str, float]


class OpsUnknownPayments(Message, frozen=True, kw_only=True):
    """Payments without an answer, of one currency and age: `from_s` ≤ age < `up_to_s` (None: no upper end)."""

    currency: str
    from_s: int
    up_to_s: int | None
    count: int
    amount_minor: int


class OpsConsumer(Message, frozen=True, kw_only=True):
    """A reader of the outbox, or a worker with work due: how much (it stops counting at 10,000), how old."""

    name: str
    backlog: int
    oldest_s: float | None = None
    seen_s: float | None = None


class OpsSession(Message, frozen=True, kw_only=True):
    """A session of the database. `statement` is a kind (`hold`, `checkout`, …, `other`), never its text.

    `pid` and `backend_started_at` together name it for good. `may_be_ended`: it is of our own role.
    """

    pid: int
    backend_started_at: datetime
    application: str
    state: str
    statement: str
    transaction_started_at: datetime | None = None
    may_be_ended: bool = False


class OpsLockWait(Message, frozen=True, kw_only=True):
    """Who waits for whom, since when, for what. `event_id` and `sections` are there when seats are waited for.

    A session of `blocked_by` that waits for nobody itself is where a queue begins (`root`).
    """

    waiting: OpsSession
    since: datetime
    waited_s: float
    lock: str
    blocked_by: tuple[OpsSession, ...] = ()
    roots: tuple[int, ...] = ()
    event_id: EventId | None = None
    sections: tuple[str, ...] = ()


class OpsFigures(Message, frozen=True, kw_only=True, tag="figures", tag_field="type"):
    """One second of the whole system: a whole statement, the newest on a link counts.

    `second` rises with each measurement. While `authority_away`, `house` and `events` are those of `measured_at`, and
    `processes` has the answering process alone as it is now. `lock_waits_total` counts also what the list leaves out.
    """

    second: int
    measured_at: datetime
    server_time: datetime
    authority_heard_at: datetime | None
    authority_away: bool = False
    house: dict[str, float]
    events: tuple[OpsEventFigures, ...] = ()
    processes: tuple[OpsProcess, ...] = ()
    consumers: tuple[OpsConsumer, ...] = ()
    unknown_payments: tuple[OpsUnknownPayments, ...] = ()
    lock_waits: tuple[OpsLockWait, ...] = ()
    alarms: tuple[OpsAlarm, ...] = ()


class OpsHello(Message, frozen=True, kw_only=True, tag="hello", tag_field="type"):
    """First frame of the feed: which process answers, and how often a statement comes."""

    process_id: UUID
    server_time: datetime
    every_s: float = 1.0


OpsText = OpsHello | OpsFigures
OPS_LATE_S = 5.0
"""A console calls its figures out of date when no frame came for so long, or `authority_away` says so."""


class OpsHistory(Message, frozen=True, kw_only=True):
    """`GET /v1/ops/history?step=second|minute&from=&until=&event_id=&names=a,b`: series by name, parallel to `at`.

    `step_s` 1: the last 15 minutes as measured. 60: each minute's value (counts a second as their mean, latencies of
    the whole minute, the rest its last) with the minute's worst in `peaks`. None where a figure was not known.
    """

    step_s: int
    at: tuple[datetime, ...]
    event_id: EventId | None = None
    series: dict[str, tuple[float | None, ...]]
    peaks: dict[str, tuple[float | None, ...]]


class OpsLockWaitList(Message, frozen=True, kw_only=True):
    """`GET /v1/ops/lock-waits`: read just now, not a second ago. `total` counts also what the list leaves out."""

    read_at: datetime
    total: int
    lock_waits: tuple[OpsLockWait, ...] = ()
