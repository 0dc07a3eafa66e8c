"""Who waits for whom: read when somebody waits, and then for no more than `MOST` sessions (BACKEND.md §7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from booking import sql
from booking.domain.statement_kinds import kind_of
from booking.figures.model import LockWait, Session
from booking.store.connection import Record
from booking.store.database import Database

MOST = 50
_NOBODY = 0  # what pg_blocking_pids says of a prepared transaction
MOST_SECTIONS = 5


@dataclass(frozen=True, slots=True)
class LockWaits:
    """The waits, the longest first. `total` counts also those that the list leaves out."""

    total: int = 0
    waits: tuple[LockWait, ...] = ()

    @property
    def oldest_s(self) -> float:
        """Since when the longest waits; 0 when nobody does."""
        return max((wait.waited_s for wait in self.waits), default=0.0)


async def read_lock_waits(db: Database, *, most: int = MOST) -> LockWaits:
    """Ask now. Two reads at most.

    Raises:
        BusyError, AuthorityAwayError: no answer in time.
    """
    rows = await db.fetch(sql.query("read_lock_waits"), most)
    if not rows:
        return LockWaits()
    waiting = {row["pid"] for row in rows}
    blockers = sorted({pid for row in rows for pid in row["blocked_by"]} - waiting - {_NOBODY})
    others = await db.fetch(sql.query("read_sessions"), blockers) if blockers else []
    sessions = {row["pid"]: session_of(row) for row in [*rows, *others]}
    blocked_by = {row["pid"]: [pid for pid in row["blocked_by"] if pid in sessions] for row in rows}
    return LockWaits(rows[0]["total"], tuple(_wait_of(row, sessions, blocked_by) for row in rows))


def session_of(row: Record) -> Session:
    """A row of `lock_waits` or `sessions_of`."""
    return Session(
        pid=row["pid"],
        backend_started_at=row["backend_start"],
        application=row["application"] or "",
        state=row["state"] or "",
        statement=kind_of(row["query"]),
        transaction_started_at=row["xact_start"],
        may_be_ended=row["is_own"],
    )


def _wait_of(row: Record, sessions: Mapping[int, Session], blocked_by: Mapping[int, Sequence[int]]) -> LockWait:
    return LockWait(
        waiting=sessions[row["pid"]],
        since=row["since"],
        waited_s=max(0.0, row["waited_s"]),
        lock=row["lock"],
        blocked_by=tuple(sessions[pid] for pid in blocked_by[row["pid"]]),
        roots=tuple(sorted(set(_roots(row["pid"], blocked_by)))),
        event_id=row["event_id"],
        sections=tuple(row["sections"] or ())[:MOST_SECTIONS],
    )


def _roots(pid: int, blocked_by: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Who blocks, waits for nobody, and so keeps all behind it: along every way, each session once."""
    seen, ahead = {pid}, list(blocked_by[pid])
    while ahead:
        one = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        if blocked_by.get(one):
            ahead.extend(blocked_by[one])
        else:
            yield one
