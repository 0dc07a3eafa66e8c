"""Look for what must never be, on a live database (R39). Each rule is one file of `booking/sql/invariants`.

All rules see one snapshot, so that a sale in progress is no breach.

    python -m booking check --dsn DSN [--json]

prints `{"breaches": [{"rule": …, "detail": …}]}` and exits with 1 when there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
import msgspec

from booking import sql
from booking.domain.errors import BookingError
from booking.store.connection import JOB_LIMITS, Connection, session_settings
from booking.store.timely_pool import CONNECT_TIMEOUT_S
from booking.store.violations import domain_errors

MAX_BREACHES_OF_A_RULE = 100


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that must never be; `detail` names the rows."""

    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found; of one rule at most `MAX_BREACHES_OF_A_RULE`."""

    breaches: tuple[Breach, ...]


def rule_names() -> tuple[str, ...]:
    """All rules, by name."""
    return tuple(file.name for file in sql.invariants())


async def check(dsn: str) -> Report:
    """Check every rule against the database at `dsn`.

    Raises:
        AuthorityAwayError: nobody answers there.
    """
    with domain_errors():
        connection = await asyncpg.connect(
            dsn, timeout=CONNECT_TIMEOUT_S, server_settings=session_settings(JOB_LIMITS, "taquilla check")
        )
        try:
            return await check_connection(connection)
        finally:
            await connection.close(timeout=2)


async def check_connection(connection: Connection) -> Report:
    """As `check`, on an open connection that is not in a transaction."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        found = [await breaches_of(connection, rule) for rule in sql.invariants()]
    return Report(tuple(breach for breaches in found for breach in breaches))


async def breaches_of(connection: Connection, rule: sql.SqlFile) -> tuple[Breach, ...]:
    """What breaks one rule, as this connection sees the database."""
    rows = await connection.fetch(rule.text)
    return tuple(Breach(rule.name, row["detail"]) for row in rows[:MAX_BREACHES_OF_A_RULE])


def main(arguments: Sequence[str]) -> int:
    """The verb `check`. Exit codes: 0 clean, 1 breaches found, 3 nobody answers."""
    parser = argparse.ArgumentParser(prog="taquilla check", description="Check the invariants of a live database.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    try:
        report = asyncio.run(check(chosen.dsn))
    except BookingError as error:
        sys.stderr.write(f"taquilla check: {error}\n")
        return 3
    if chosen.json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        sys.stdout.writelines(f"{breach.rule}: {breach.detail}\n" for breach in report.breaches)
        sys.stdout.write(f"{len(rule_names())} rules, {len(report.breaches)} breaches\n")
    return 1 if report.breaches else 0
