"""Comparisons with providers and terminals, as the database has them. Each call is a short transaction of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.items import Difference, ReconciliationRun, RunId, RunState, TotalsReport
from booking.sql import query
from booking.store.connection import JOB_LIMITS, Connection, Limits, Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer


class LeaseLostError(Exception):
    """A run has another driver by now, or has ended: what we know of it is not to be told."""


async def start_run(
    db: Database, provider: str, day: date, since: datetime, until: datetime, started_by: str
) -> UUID | None:
    """The new run, or the one that is running; None when the worker has compared this day by itself already."""
    async with db.transaction(JOB_LIMITS) as connection:
        run_id: UUID | None = await connection.fetchval(
            query("start_run"), uuid7(), provider, day, since, until, started_by
        )
    return run_id


async def ask_for_run(
    db: Database, caller: Caller, provider: str, day: date, since: datetime, until: datetime, use: KeyUse
) -> SaleAnswer:
    """As `start_run`, for a person, once for each key; `result_id` is the run."""
    async with db.transaction(JOB_LIMITS) as connection:
        rows = await connection.fetch(
            query("ask_for_run"), caller.principal, caller.staff_id, uuid7(), provider, day, since, until, use.key,
            use.digest,
        )  # fmt: skip
    return SaleAnswer.of(rows)


async def claim_run(
    db: Database, providers: Sequence[str], holder: UUID, lease: timedelta, run_id: UUID | None
) -> Record | None:
    """Lease a run that is due and that nobody drives: its row, None when there is none."""
    async with db.transaction() as connection:
        return await connection.fetchrow(query("claim_run"), list(providers), holder, lease, run_id)


async def keep_page(
    db: Database, run_id: UUID, holder: UUID, lease: timedelta, rows: Sequence[Mapping[str, object]], cursor: str
) -> bool:
    """Store a page and where the list goes on. `rows` have the members of `run_movements`. False: the run has another
    driver by now.
    """
    async with db.transaction(JOB_LIMITS) as connection:
        kept: bool = await connection.fetchval(
            query("keep_page"), run_id, holder, lease, msgspec.json.encode(rows).decode(), cursor
        )
    return kept


async def note_page_failed(db: Database, run_id: UUID, holder: UUID, why: str, most: int) -> str:
    """Give the run back for another try: its state."""
    async with db.transaction() as connection:
        state: str = await connection.fetchval(query("note_page_failed"), run_id, holder, why, most)
    return state


@asynccontextmanager
async def _as_driver(
    db: Database, run_id: UUID, holder: UUID, lease: timedelta, limits: Limits | None = None
) -> AsyncIterator[Connection]:
    """A transaction in which the run is ours, and stays so. Raises LeaseLostError: it has another driver by now."""
    async with db.transaction(limits) as connection:
        if not await connection.fetchval(query("keep_lease"), run_id, holder, lease):
            raise LeaseLostError(str(run_id))
        yield connection


async def match_run(db: Database, run_id: UUID, holder: UUID, lease: timedelta) -> int:
    """How many movements agree with ours; what the provider has an answer for and we do not is asked about at once.

    Raises:
        LeaseLostError: the run has another driver by now, or has ended.
    """
    async with _as_driver(db, run_id, holder, lease, JOB_LIMITS) as connection:
        row = await connection.fetchrow(query("match_run"), run_id)
    matched: int = row["matched"] if row else 0
    return matched


async def read_differences(db: Database, run_id: UUID, holder: UUID, lease: timedelta) -> list[Difference]:
    """All that a run found: what was read of the provider's list is there as long as the run is ours.

    Raises:
        LeaseLostError: as for `match_run`.
    """
    async with _as_driver(db, run_id, holder, lease, JOB_LIMITS) as connection:
        rows = await connection.fetch(query("read_differences"), run_id)
    return [
        Difference(
            row["kind"], row["subject"], row["event_id"], row["order_id"], row["operation_id"], row["amount_minor"],
            row["currency"], msgspec.json.decode(row["detail"]),
        )
        for row in rows
    ]  # fmt: skip


async def open_difference(
    db: Database, run_id: UUID, holder: UUID, lease: timedelta, provider: str, found: Difference
) -> bool:
    """Make an item of a difference, unless there is one: whether it is new.

    Raises:
        LeaseLostError: as for `match_run`.
    """
    async with _as_driver(db, run_id, holder, lease) as connection:
        opened: bool = await connection.fetchval(
            query("open_difference"), uuid7(), found.kind, found.subject, found.event_id, found.order_id,
            found.operation_id, provider, found.amount_minor, found.currency,
            msgspec.json.encode(found.detail).decode(),
        )  # fmt: skip
    return opened


async def end_run(
    db: Database, run_id: UUID, holder: UUID, matched: int, differences: Mapping[str, int], opened: int,
    found: Sequence[str], detail: str,
) -> bool:  # fmt: skip
    """The end of a run; items of its day that it did not find again end with it. False: it has another driver."""
    async with db.transaction(JOB_LIMITS) as connection:
        ended: bool = await connection.fetchval(
            query("end_run"), run_id, holder, matched, msgspec.json.encode(differences).decode(), opened, list(found),
            detail,
        )  # fmt: skip
    return ended


async def days_to_compare(db: Database, provider: str, day: date, most_before: int) -> list[date]:
    """This day, and those since the worker's last own comparison, so many at most; without those that have one."""
    return [row["day"] for row in await db.fetch(query("days_to_compare"), provider, day, most_before)]


async def list_counter_providers(db: Database, since: datetime) -> list[str]:
    """Terminal protocols and drawers that took money since then."""
    return [row["provider"] for row in await db.fetch(query("list_counter_providers"), since)]


async def read_runs(db: Database, run_id: UUID | None, limit: int) -> list[ReconciliationRun]:
    """The newest runs, or this one."""
    return [_run_of(row) for row in await db.fetch(query("read_runs"), run_id, limit)]


def _run_of(row: Record) -> ReconciliationRun:
    return ReconciliationRun(
        run_id=RunId(row["run_id"]),
        provider=row["provider"],
        day=row["day"],
        state=RunState(row["state"]),
        read=row["read"],
        expected=row["expected"],
        matched=row["matched"],
        differences=msgspec.json.decode(row["differences"], type=dict[str, int]),
        opened_items=row["opened_items"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        started_by=row["started_by"],
        detail=row["detail"],
    )


async def report_terminal_totals(db: Database, caller: Caller, report: TotalsReport, use: KeyUse) -> SaleAnswer:
    """Keep a terminal's end of day; `result_id` is what it is kept as."""
    lines = [{"scheme": t.scheme, "count": t.count, "amount_minor": t.amount_minor} for t in report.totals]
    evidence = [{"at": e.at, "direction": e.direction, "body": e.body} for e in report.evidence]
    rows = await db.call(
        query("report_terminal_totals"), caller.principal, caller.staff_id, caller.device_id, uuid7(), uuid7(),
        report.terminal_id, report.provider, report.closed_at, report.currency, report.total_minor,
        msgspec.json.encode(lines).decode(), report.first_receipt, report.last_receipt,
        msgspec.json.encode(evidence).decode(), use.key, use.digest,
    )  # fmt: skip
    return SaleAnswer.of(rows)


async def read_terminal_totals(db: Database, totals_id: UUID) -> Record:
    """Row (totals_id, terminal_id, device_id, closed_at, currency, total_minor, difference, item_id)."""
    return (await db.fetch(query("read_terminal_totals"), totals_id))[0]
