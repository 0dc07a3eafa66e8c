"""Every figure of operations, declared once: its meaning, how parts add up, how a minute is made of seconds.

The unit stands at the end of the name: `_s`, `_ms`, `_mb`, `_share` (0 to 1), `_per_s`, `_per_min`; none: a number of
things. docs/figures.md is this table in words, the wire's `OpsFigure` its names; tests hold both to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Figure(StrEnum):
    """Names of figures."""

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
    QUEUE_AGE_MS = "queue_age_ms"
    QUEUE_WAITING = "queue_waiting"
    POOL_USE_SHARE = "pool_use_share"
    LOOP_LAG_MS = "loop_lag_ms"
    CPU_SHARE = "cpu_share"
    MEMORY_MB = "memory_mb"
    DATABASE_ANSWER_MS = "database_answer_ms"
    DATABASE_CONNECTION_SHARE = "database_connection_share"
    DATABASE_COMMITS_PER_S = "database_commits_per_s"
    DEADLOCKS_PER_MIN = "deadlocks_per_min"
    LOCK_WAITS = "lock_waits"
    LOCK_WAIT_OLDEST_S = "lock_wait_oldest_s"
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
    FEED_CLIENTS = "feed_clients"
    FEED_MESSAGES_PER_S = "feed_messages_per_s"
    FEED_LAG_P50_MS = "feed_lag_p50_ms"
    FEED_LAG_P99_MS = "feed_lag_p99_ms"
    FEED_DROPPED_PER_MIN = "feed_dropped_per_min"
    SHOPPERS_ACTIVE = "shoppers_active"
    HOLDS_MADE_PER_S = "holds_made_per_s"
    DEPARTURES_PER_MIN = "departures_per_min"
    COMPLETION_SHARE = "completion_share"
    HOLD_EXPIRY_SHARE = "hold_expiry_share"
    ORDERS_CONFIRMED_PER_MIN = "orders_confirmed_per_min"
    SEATS_FREE = "seats_free"
    SEATS_HELD = "seats_held"
    SEATS_SOLD = "seats_sold"
    ROOM_WAITING = "room_waiting"
    ROOM_AWAY = "room_away"
    ROOM_INSIDE = "room_inside"
    ROOM_WAIT_S = "room_wait_s"
    ADMISSION_SET_PER_MIN = "admission_set_per_min"
    ADMISSION_MEASURED_PER_MIN = "admission_measured_per_min"
    ADMISSION_UNSTEERED_S = "admission_unsteered_s"
    PROCESSES_SILENT = "processes_silent"


class Scope(StrEnum):
    """Of what there is such a figure, beside the whole system."""

    HOUSE = "house"
    PROCESS = "process"
    EVENT = "event"


class Roll(StrEnum):
    """How a minute's value comes from its seconds: their mean, their last one, or all latencies of the minute."""

    MEAN = "mean"
    LAST = "last"
    LATENCIES = "latencies"


@dataclass(frozen=True, slots=True)
class Declared:
    """`source`: where it is counted. `small_is_bad`: its worst is its least."""

    scope: Scope
    roll: Roll
    words: str
    source: str
    small_is_bad: bool = False


_API, _EVENT, _HOUSE = Scope.PROCESS, Scope.EVENT, Scope.HOUSE
_MEAN, _LAST, _ALL = Roll.MEAN, Roll.LAST, Roll.LATENCIES

FIGURES: Mapping[Figure, Declared] = {
    Figure.REQUESTS_PER_S: Declared(_API, _MEAN, "HTTP requests answered", "each API process"),
    Figure.FAILURES_PER_S: Declared(
        _API, _MEAN, "Requests that failed by a fault of ours or an unreachable database", "each API process"
    ),
    Figure.SHED_PER_S: Declared(_API, _MEAN, "Requests refused because too much waits (503 busy)", "each API process"),
    Figure.RATE_LIMITED_PER_S: Declared(
        _API, _MEAN, "Requests refused because one caller asks too often (429)", "each API process"
    ),
    Figure.HOLD_ATTEMPTS_PER_S: Declared(_API, _MEAN, "Attempts to hold seats or places", "each API process"),
    Figure.HOLD_CONFLICT_SHARE: Declared(
        _API, _MEAN, "Share of the hold attempts of the last 10 s that lost to somebody else", "each API process"
    ),
    Figure.HOLD_P50_MS: Declared(
        _API, _ALL, "Half of the holds of the last 5 s were answered within", "each API process"
    ),
    Figure.HOLD_P99_MS: Declared(
        _API, _ALL, "99 of 100 holds of the last 5 s were answered within", "each API process"
    ),
    Figure.CHECKOUT_P99_MS: Declared(_API, _ALL, "As hold_p99_ms, of checkouts", "each API process"),
    Figure.PAYMENT_P99_MS: Declared(
        _API, _ALL, "As hold_p99_ms, of opening payments, with the provider's answer", "each API process"
    ),
    Figure.RESULT_P99_MS: Declared(_API, _ALL, "As hold_p99_ms, of terminals' results", "each API process"),
    Figure.ORDER_P99_MS: Declared(_API, _ALL, "As hold_p99_ms, of reading orders", "each API process"),
    Figure.MAP_P99_MS: Declared(_API, _ALL, "As hold_p99_ms, of snapshots of the map", "each API process"),
    Figure.QUEUE_AGE_MS: Declared(
        _API,
        _MEAN,
        "The longest that a request has waited for its batch in the last second, over all lanes",
        "each API process",
    ),
    Figure.QUEUE_WAITING: Declared(_API, _MEAN, "Requests that wait for a batch now", "each API process"),
    Figure.POOL_USE_SHARE: Declared(
        _API,
        _MEAN,
        "Connections asked for at once in the last second, over those there may be, of the fullest pool;"
        " above 1 somebody waited",
        "each process",
    ),
    Figure.LOOP_LAG_MS: Declared(
        _API, _MEAN, "How late the process's own timers were at worst in the last second", "each process"
    ),
    Figure.CPU_SHARE: Declared(
        _API, _MEAN, "CPU time of the process over the time that passed, 1 is a core", "each process"
    ),
    Figure.MEMORY_MB: Declared(_API, _LAST, "Resident memory of the process", "each process"),
    Figure.DATABASE_ANSWER_MS: Declared(
        _API, _MEAN, "How long the process's last report took to be stored", "each process"
    ),
    Figure.DATABASE_CONNECTION_SHARE: Declared(
        _HOUSE, _MEAN, "Sessions of the database server over the most that it allows", "pg_stat_activity"
    ),
    Figure.DATABASE_COMMITS_PER_S: Declared(_HOUSE, _MEAN, "Transactions committed", "pg_stat_database"),
    Figure.DEADLOCKS_PER_MIN: Declared(_HOUSE, _MEAN, "Deadlocks of the last minute", "pg_stat_database"),
    Figure.LOCK_WAITS: Declared(_HOUSE, _MEAN, "Sessions that wait for a lock now", "pg_stat_activity"),
    Figure.LOCK_WAIT_OLDEST_S: Declared(_HOUSE, _MEAN, "Since when the longest of them waits", "pg_locks"),
    Figure.EXPIRY_BACKLOG: Declared(
        _HOUSE, _LAST, "Holds whose time is over and that nobody has tidied up (counted to 10,000)", "holds"
    ),
    Figure.EXPIRY_OLDEST_S: Declared(_HOUSE, _LAST, "Since when the time of the oldest of them is over", "holds"),
    Figure.PAYMENTS_UNKNOWN: Declared(
        _EVENT, _LAST, "Payments without an answer: UNKNOWN, or sent for 5 s", "payment_operations"
    ),
    Figure.PAYMENTS_UNKNOWN_OLDEST_S: Declared(
        _HOUSE, _LAST, "Since when the oldest of them is open", "payment_operations"
    ),
    Figure.PAYMENT_ANSWERS_PER_S: Declared(_API, _MEAN, "Answers of payment providers", "each API process and worker"),
    Figure.PAYMENT_ERROR_SHARE: Declared(
        _API,
        _MEAN,
        "Share of the providers' answers of the last 60 s that were errors or unknown; no declined card",
        "each API process and worker",
    ),
    Figure.OUTBOX_LAG: Declared(
        _HOUSE, _LAST, "Rows of the outbox that its slowest reader has not read (counted to 10,000)", "outbox"
    ),
    Figure.OUTBOX_OLDEST_S: Declared(_HOUSE, _LAST, "Age of the oldest row that a reader has not read", "outbox"),
    Figure.SEQUENCER_SILENT_S: Declared(
        _HOUSE, _LAST, "Since when the sequencer has given no sign of life", "feed_heartbeat"
    ),
    Figure.TICKETING_LAG_S: Declared(
        _HOUSE, _LAST, "Since when the oldest confirmed order waits for its tickets", "outbox"
    ),
    Figure.TICKET_DIFFERENCES: Declared(
        _HOUSE,
        _LAST,
        "Lines of confirmed orders that have no ticket, as items of reconciliation say",
        "reconciliation_items",
    ),
    Figure.ITEMS_OPEN: Declared(_HOUSE, _LAST, "Open items of reconciliation", "reconciliation_items"),
    Figure.FEED_CLIENTS: Declared(_API, _LAST, "Clients that follow maps", "each API process"),
    Figure.FEED_MESSAGES_PER_S: Declared(_API, _MEAN, "Changes of maps sent to clients", "each API process"),
    Figure.FEED_LAG_P50_MS: Declared(
        _API,
        _ALL,
        "Half of the changes of the last 5 s were handed to their client so long after they were due",
        "each API process",
    ),
    Figure.FEED_LAG_P99_MS: Declared(_API, _ALL, "As feed_lag_p50_ms, 99 of 100", "each API process"),
    Figure.FEED_DROPPED_PER_MIN: Declared(
        _API, _MEAN, "Clients cut off because they took no frames", "each API process"
    ),
    Figure.SHOPPERS_ACTIVE: Declared(_EVENT, _LAST, "Holds that are open now: people who choose or pay", "holds"),
    Figure.HOLDS_MADE_PER_S: Declared(_EVENT, _MEAN, "Holds made", "outbox"),
    Figure.DEPARTURES_PER_MIN: Declared(
        _EVENT, _MEAN, "Holds that ended in the last minute, whichever way", "outbox, holds"
    ),
    Figure.COMPLETION_SHARE: Declared(
        _EVENT, _MEAN, "Orders confirmed over holds ended, of the last minute", "outbox, holds", small_is_bad=True
    ),
    Figure.HOLD_EXPIRY_SHARE: Declared(
        _EVENT, _MEAN, "Holds that ran out over holds ended, of the last minute", "outbox, holds"
    ),
    Figure.ORDERS_CONFIRMED_PER_MIN: Declared(_EVENT, _MEAN, "Orders confirmed in the last minute", "outbox"),
    Figure.SEATS_FREE: Declared(
        _EVENT, _LAST, "Seats and places that somebody can hold now", "maps of the API, ga_tiers", small_is_bad=True
    ),
    Figure.SEATS_HELD: Declared(_EVENT, _LAST, "Seats and places in holds or being paid", "maps of the API, ga_tiers"),
    Figure.SEATS_SOLD: Declared(_EVENT, _LAST, "Seats and places sold", "maps of the API, ga_tiers"),
    Figure.ROOM_WAITING: Declared(_EVENT, _LAST, "People who wait in the room", "the room"),
    Figure.ROOM_AWAY: Declared(_EVENT, _LAST, "People whose place is kept while they are away", "the room"),
    Figure.ROOM_INSIDE: Declared(_EVENT, _LAST, "People whose turn it is", "the room"),
    Figure.ROOM_WAIT_S: Declared(_EVENT, _LAST, "How long who joins now will wait, as the room tells them", "the room"),
    Figure.ADMISSION_SET_PER_MIN: Declared(_EVENT, _LAST, "People whom the room may let in", "the room"),
    Figure.ADMISSION_MEASURED_PER_MIN: Declared(_EVENT, _MEAN, "People whom the room has let in", "the room"),
    Figure.ADMISSION_UNSTEERED_S: Declared(
        _EVENT,
        _LAST,
        "Since when no controller has steered a room as operators have set it, the longest",
        "admission_states",
    ),
    Figure.PROCESSES_SILENT: Declared(
        _HOUSE,
        _LAST,
        "Processes that have not reported for 5 s and in whose place no other was started",
        "process_figures",
    ),
}
