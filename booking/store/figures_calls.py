"""What operators do about figures: end a session, acknowledge an alarm, set a rule, read the log."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import msgspec

from booking.domain.caller import Caller
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer


async def ask_for_session_end(
    db: Database, caller: Caller, pid: int, began: datetime, transaction: datetime | None, statement: str,
    reason: str, use: KeyUse,
) -> SaleAnswer:  # fmt: skip
    """Audit the wish, when there is such a session of ours: `detail` is `found` or `gone`."""
    return _answer(
        await db.call(
            query("ask_for_session_end"), caller.principal, caller.staff_id, pid, began, transaction, statement, reason,
            use.key, use.digest,
        )
    )  # fmt: skip


async def end_session(db: Database, pid: int, began: datetime, transaction: datetime | None, wait_ms: int) -> str:
    """`ended`, `ending` or `gone`. Safe to run twice: the session is named by its beginning too."""
    outcome: str = (await db.call(query("end_session"), pid, began, transaction, wait_ms))[0]["outcome"]
    return outcome


async def read_session(db: Database, pid: int) -> Record | None:
    """A session as it is now."""
    return await db.fetchrow(query("read_sessions"), [pid])


async def list_alarms(db: Database, most: int) -> list[Record]:
    """Open ones first, then the newest."""
    return await db.fetch(query("list_alarms"), most)


async def read_alarm(db: Database, alarm_id: UUID) -> Record | None:
    """One alarm."""
    return await db.fetchrow(query("read_alarm"), alarm_id)


async def acknowledge_alarm(db: Database, caller: Caller, alarm_id: UUID, note: str, use: KeyUse) -> SaleAnswer:
    """Somebody has seen it."""
    return _answer(
        await db.call(
            query("acknowledge_alarm"), caller.principal, caller.staff_id, caller.display_name or caller.principal,
            alarm_id, note, use.key, use.digest,
        )
    )  # fmt: skip


async def change_alarm_rule(
    db: Database, caller: Caller, rule: str, expected: int, before: dict[str, object], after: dict[str, object],
    reason: str, use: KeyUse,
) -> SaleAnswer:  # fmt: skip
    """Another setting for a rule, made from version `expected`."""
    return _answer(
        await db.call(
            query("change_alarm_rule"), caller.principal, caller.staff_id, rule, expected,
            msgspec.json.encode(before).decode(), msgspec.json.encode(after).decode(), reason, use.key, use.digest,
        )
    )  # fmt: skip


async def list_operations_log(
    db: Database, before: datetime, event_id: int | None, kind: str | None, limit: int
) -> list[Record]:
    """Entries before an instant, the newest first."""
    return await db.fetch(query("list_operations_log"), before, event_id, kind, limit)


def _answer(rows: list[Record]) -> SaleAnswer:
    row = rows[0]
    return SaleAnswer(row["code"], row["result_id"], row["replayed"] or False, row["detail"] or "", ())
