"""The type of a database connection, and the limits that each kind of work runs under (design §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

Record: TypeAlias = asyncpg.Record
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"


# How much longer than the server's own limit a client waits before it takes the server for gone.
_CLIENT_SLACK_S = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """How long one session may wait for a lock, run a statement, idle in a transaction, keep one open.

    The server keeps them; `statement_s` and `transaction_s` say when a client stops believing that it will.
    """

    lock_ms: int
    statement_ms: int
    idle_in_transaction_ms: int
    transaction_ms: int

    @property
    def statement_s(self) -> float:
        """After so many seconds the server must have ended a statement by itself."""
        return self.statement_ms / 1_000 + _CLIENT_SLACK_S

    @property
    def transaction_s(self) -> float:
        """After so many seconds the server must have ended a transaction by itself."""
        return self.transaction_ms / 1_000 + _CLIENT_SLACK_S

    def settings(self) -> dict[str, str]:
        """As PostgreSQL settings."""
        return {
            "lock_timeout": str(self.lock_ms),
            "statement_timeout": str(self.statement_ms),
            "idle_in_transaction_session_timeout": str(self.idle_in_transaction_ms),
            "transaction_timeout": str(self.transaction_ms),
        }


# A lane carries many buyers: it waits for nobody. What it skips goes the slow path, alone.
LANE_LIMITS = Limits(lock_ms=250, statement_ms=1_000, idle_in_transaction_ms=2_000, transaction_ms=5_000)
# One sale that may wait for a lock, and is answered within 2 s whatever happens (B21).
SALE_LIMITS = Limits(lock_ms=1_000, statement_ms=1_500, idle_in_transaction_ms=2_000, transaction_ms=5_000)
# Whatever else somebody at the other end of an HTTP call waits for.
ANSWER_LIMITS = Limits(lock_ms=1_000, statement_ms=1_500, idle_in_transaction_ms=2_000, transaction_ms=2_000)
# Workers' batches, set-up.
GENERAL_LIMITS = Limits(lock_ms=2_000, statement_ms=10_000, idle_in_transaction_ms=5_000, transaction_ms=15_000)
# Imports, migrations, reports, checks.
JOB_LIMITS = Limits(lock_ms=10_000, statement_ms=300_000, idle_in_transaction_ms=60_000, transaction_ms=600_000)

# jit costs more than it gives on short statements; UTC keeps text and casts the same everywhere.
SESSION_SETTINGS = {
    "timezone": "UTC",
    "jit": "off",
    "default_transaction_isolation": "read committed",
    "client_min_messages": "warning",
}


def session_settings(limits: Limits, application: str) -> dict[str, str]:
    """What a new session is started with."""
    return {**SESSION_SETTINGS, **limits.settings(), "application_name": application}
