"""What processes leave for each other, and the second that is made of it. Stored as MessagePack: the members only grow.

Figures are numbers by the names of `booking.domain.figures`; one that is not there is not known.
"""

from __future__ import annotations

import logging
from datetime import datetime
from enum import StrEnum
from time import monotonic
from typing import TypeVar
from uuid import UUID

import msgspec

Counts = dict[int, int]
"""Latencies as bucket → count (`booking.histogram`): they add up, whatever made them."""


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all of them."""


class ProcessKind(StrEnum):
    """What a process is."""

    API = "api"
    WORKER = "worker"
    ROOM = "room"


class LaneReport(Struct, frozen=True, kw_only=True):
    """A lane: `queue_age_ms` is the worst since the last report; the counts run since the process began."""

    queue_age_ms: float
    waiting: int
    requests: int
    batches: int
    alone: int
    shed: int


class PoolReport(Struct, frozen=True, kw_only=True):
    """A pool of connections: `in_use` is the most since the last report, with those who wait for one."""

    in_use: int
    open: int
    most: int


class SeatCounts(Struct, frozen=True, kw_only=True):
    """An event's seats by what they are now; `version`: of the map they were counted on, the higher the newer."""

    version: int
    free: int
    held: int
    sold: int


class Latencies(Struct, frozen=True, kw_only=True):
    """Latencies of one stretch of time by what was asked for. Numbered, so that each is added up once."""

    number: int
    kinds: dict[str, Counts]


class ProcessReport(Struct, frozen=True, kw_only=True):
    """A process's own part. `counts` run since it began, `up_s` ago; `at_s` is its own steady time, for rates.

    `gauges` are figures as they are now, of the process (`""`) or of an event, as the room has them. `tasks`: what a
    worker does.
    """

    process_id: UUID
    kind: ProcessKind
    name: str
    host: str
    pid: int
    started_at: datetime
    at_s: float
    counts: dict[str, int]
    gauges: dict[str, float] = {}
    event_gauges: dict[int, dict[str, float]] = {}
    latencies: tuple[Latencies, ...] = ()
    lanes: dict[str, LaneReport] = {}
    pools: dict[str, PoolReport] = {}
    seats: dict[int, SeatCounts] = {}
    up_s: float | None = None
    tasks: tuple[str, ...] = ()


class HeardReport(Struct, frozen=True, kw_only=True):
    """A report and when the database got it."""

    heard_at: datetime
    report: ProcessReport


class LanePart(Struct, frozen=True, kw_only=True):
    """A lane as a person reads it; None where a rate is not known yet."""

    name: str
    queue_age_ms: float
    waiting: int
    requests_per_s: float | None = None
    batch_size: float | None = None
    alone_per_s: float | None = None
    shed_per_s: float | None = None


class PoolPart(Struct, frozen=True, kw_only=True):
    """A pool as a person reads it."""

    name: str
    in_use: int
    open: int
    most: int


class ProcessPart(Struct, frozen=True, kw_only=True):
    """One process in a second."""

    process_id: UUID
    kind: ProcessKind
    name: str
    host: str
    pid: int
    started_at: datetime
    heard_at: datetime
    silent: bool
    figures: dict[str, float]
    lanes: tuple[LanePart, ...] = ()
    pools: tuple[PoolPart, ...] = ()


class EventPart(Struct, frozen=True, kw_only=True):
    """One event in a second."""

    event_id: int
    name: str
    status: str
    figures: dict[str, float]


class UnknownPayments(Struct, frozen=True, kw_only=True):
    """Payments without an answer of one currency, `from_s` ≤ age < `up_to_s`."""

    currency: str
    from_s: int
    up_to_s: int | None
    count: int
    amount_minor: int


class ConsumerPart(Struct, frozen=True, kw_only=True):
    """A reader of the outbox, or a worker with work due."""

    name: str
    backlog: int
    oldest_s: float | None = None
    seen_s: float | None = None


class Session(Struct, frozen=True, kw_only=True):
    """A session of the database; `statement` is a kind, never a text."""

    pid: int
    backend_started_at: datetime
    application: str
    state: str
    statement: str
    transaction_started_at: datetime | None = None
    may_be_ended: bool = False


class LockWait(Struct, frozen=True, kw_only=True):
    """Who waits for whom, since when, for what. `roots`: those at the heads of the queues."""

    waiting: Session
    since: datetime
    waited_s: float
    lock: str
    blocked_by: tuple[Session, ...] = ()
    roots: tuple[int, ...] = ()
    event_id: int | None = None
    sections: tuple[str, ...] = ()


class AlarmPart(Struct, frozen=True, kw_only=True):
    """An alarm as the database has it."""

    alarm_id: UUID
    rule: str
    figure: str
    severity: str
    raised_at: datetime
    value: float
    worst: float
    raise_at: float
    clear_at: float
    cleared_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str = ""
    note: str = ""


class Second(Struct, frozen=True, kw_only=True):
    """The whole system in one second. `latencies` are that second's own, for the minute that it belongs to."""

    second: int
    measured_at: datetime
    watcher: UUID
    house: dict[str, float]
    events: dict[int, EventPart] = {}
    processes: tuple[ProcessPart, ...] = ()
    consumers: tuple[ConsumerPart, ...] = ()
    unknown_payments: tuple[UnknownPayments, ...] = ()
    lock_waits: tuple[LockWait, ...] = ()
    alarms: tuple[AlarmPart, ...] = ()
    latencies: dict[str, Counts] = {}


class Minute(Struct, frozen=True, kw_only=True):
    """A minute of the house or of an event: each figure's value for the minute, and the worst of its seconds."""

    values: dict[str, float]
    worst: dict[str, float]


S = TypeVar("S", bound=msgspec.Struct)

_TOLD_EVERY_S = 60.0
_told_at: dict[type, float] = {}
log = logging.getLogger(__name__)


def pack(value: msgspec.Struct) -> bytes:
    """As it is stored."""
    return msgspec.msgpack.encode(value)


def unpack_known(body: bytes, kind: type[S]) -> S | None:
    """What was stored; None, and a word in the log once a minute, for what another release wrote otherwise."""
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except msgspec.DecodeError as error:  # ValidationError is one
        if monotonic() - _told_at.get(kind, float("-inf")) >= _TOLD_EVERY_S:
            _told_at[kind] = monotonic()
            log.warning("figures: a %s of another release is left out: %s", kind.__name__, error)
        return None
