"""Look for what must never be, on a live database (R39). Each rule is one file of `booking/sql/invariants`.

All rules see one snapshot, so that a sale in progress is no breach. The check writes nothing, takes no lock that a sale
could wait for, and works on one core; of one rule at most `MAX_BREACHES_OF_A_RULE` breaches are read.

    python -m booking check --dsn DSN [--json]

prints a line for each rule, what a broken rule means, and its rows; or as JSON `breaches`, a list of {rule, detail},
and `rules`, a list of {rule, meaning, breaches, more, seconds}. Slow rules are named on stderr meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import asyncpg
import msgspec

from booking import sql
from booking.domain.errors import BookingError
from booking.store.connection import JOB_LIMITS, Connection, session_settings
from booking.store.timely_pool import CONNECT_TIMEOUT_S
from booking.store.violations import domain_errors

MAX_BREACHES_OF_A_RULE = 100
SLOW_RULE_S = 1.0
LONG_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that must never be; `detail` names the rows."""

    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """How one rule was found. `more`: there are more breaches than were read."""

    rule: str
    meaning: str
    breaches: int
    more: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found; of one rule at most `MAX_BREACHES_OF_A_RULE`."""

    breaches: tuple[Breach, ...]
    rules: tuple[CheckedRule, ...]


# A sale is going on beside us: no second core, and no compiling of queries that run once. Rules look at whole tables:
# joined row by row, a table that nobody has analysed yet would cost its square.
_SESSION = """
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;
SET LOCAL work_mem = '64MB';
SET LOCAL enable_nestloop = off;
"""

Progress = Callable[[CheckedRule], None]


def rule_names() -> tuple[str, ...]:
    """All rules, by name."""
    return tuple(file.name for file in sql.invariants())


def meaning_of(rule: sql.SqlFile) -> str:
    """What a rule says in words: the comment that its file begins with."""
    words: list[str] = []
    for line in rule.text.splitlines():
        if not line.startswith("--"):
            break
        words.append(line.removeprefix("--").strip())
    return " ".join(words)


async def check(dsn: str, progress: Progress | None = None) -> Report:
    """Check every rule against the database at `dsn`; `progress` hears of each rule when it is done.

    Raises:
        AuthorityAwayError: nobody answers there.
    """
    with domain_errors():
        connection = await asyncpg.connect(
            dsn, timeout=CONNECT_TIMEOUT_S, server_settings=session_settings(JOB_LIMITS, "taquilla check")
        )
        try:
            return await check_connection(connection, progress)
        finally:
            await connection.close(timeout=2)


async def check_connection(connection: Connection, progress: Progress | None = None) -> Report:
    """As `check`, on an open connection that is not in a transaction."""
    breaches: list[Breach] = []
    rules: list[CheckedRule] = []
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        await connection.execute(_SESSION)
        for rule in sql.invariants():
            started = perf_counter()
            found = await breaches_of(connection, rule, MAX_BREACHES_OF_A_RULE + 1)
            kept = found[:MAX_BREACHES_OF_A_RULE]
            checked = CheckedRule(
                rule.name, meaning_of(rule), len(kept), len(found) > len(kept), round(perf_counter() - started, 3)
            )
            breaches += kept
            rules.append(checked)
            if progress is not None:
                progress(checked)
    return Report(tuple(breaches), tuple(rules))


async def breaches_of(
    connection: Connection, rule: sql.SqlFile, at_most: int = MAX_BREACHES_OF_A_RULE
) -> tuple[Breach, ...]:
    """What breaks one rule, as this connection sees the database; the database stops looking after `at_most`."""
    # The text is a file of ours.
    rows = await connection.fetch(f"SELECT b.detail FROM (\n{rule.text}\n) AS b LIMIT {int(at_most)}")  # noqa: S608
    return tuple(Breach(rule.name, row["detail"][:LONG_DETAIL]) for row in rows)


def main(arguments: Sequence[str]) -> int:
    """The verb `check`. Exit codes: 0 clean, 1 breaches found, 2 wrong use, 3 nobody answers, or no such database."""
    parser = argparse.ArgumentParser(prog="taquilla check", description="Check the invariants of a live database.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    try:
        report = asyncio.run(check(chosen.dsn, _tell_slow_rule))
    except (BookingError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        sys.stderr.write(f"taquilla check: nothing was checked to the end: {error}\n")
        return 3
    sys.stdout.write(msgspec.json.encode(report).decode() + "\n" if chosen.json else report_in_words(report))
    return 1 if report.breaches else 0


def _tell_slow_rule(checked: CheckedRule) -> None:
    if checked.seconds >= SLOW_RULE_S:
        sys.stderr.write(f"{checked.rule}: {checked.seconds:.1f} s\n")


def report_in_words(report: Report) -> str:
    """For an operator: which rules hold, what a broken one means, which rows break it."""
    lines = [
        f"{'holds  ' if not checked.breaches else 'BROKEN '} {checked.rule}" for checked in report.rules
    ]  # fmt: skip
    for checked in (one for one in report.rules if one.breaches):
        lines += ["", f"{checked.rule}: {checked.meaning}"]
        lines += [f"  {breach.detail}" for breach in report.breaches if breach.rule == checked.rule]
        if checked.more:
            lines.append(f"  … and more: only the first {MAX_BREACHES_OF_A_RULE} were read")
    broken = sum(1 for checked in report.rules if checked.breaches)
    seconds = sum(checked.seconds for checked in report.rules)
    lines += ["", f"{len(report.rules)} rules, {broken} broken, {len(report.breaches)} breaches, {seconds:.1f} s"]
    return "\n".join(lines) + "\n"
