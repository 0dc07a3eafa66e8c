"""Who changed what, when, and why: settings, admission, pause and resume, ended sessions, alarms (R20, R32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from booking.domain.admission_causes import Cause, CauseCode
from booking.store import figures_calls
from booking.store.connection import Record
from booking.store.database import Database

PAGE, MOST = 100, 500
_LONGEST_TEXT = 200


class LogKind(StrEnum):
    """What an entry is about."""

    SETTINGS = "settings"
    STATUS = "status"
    ADMISSION = "admission"
    SESSION = "session"
    ALARM = "alarm"
    AUTHORITY = "authority"


@dataclass(frozen=True, slots=True)
class LogChange:
    """One value that is another one now."""

    name: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class LogEntry:
    """`who`: a person's name, `controller`, `alarms`, `figures`. `cause`: a program's reason as a code."""

    entry_id: str
    at: datetime
    kind: LogKind
    action: str
    who: str
    subject: str
    reason: str
    event_id: int | None
    changes: tuple[LogChange, ...]
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, the newest first; `next_before` goes on, None at the end."""

    entries: Sequence[LogEntry]
    next_before: datetime | None


async def read_log(
    db: Database, before: datetime, *, event_id: int | None = None, kind: LogKind | None = None, limit: int = PAGE
) -> LogPage:
    """The log before an instant. Entries of one instant stay together, so that no page divides them."""
    rows = await figures_calls.list_operations_log(db, before, event_id, kind, limit + 1)
    if len(rows) <= limit:
        return LogPage([_entry(row) for row in rows], None)
    last = rows[limit]["at"]
    kept = [row for row in rows if row["at"] > last]
    # All of one page at one instant: the rest of that instant is let go rather than shown for ever.
    kept = kept or rows[:limit]
    return LogPage([_entry(row) for row in kept], kept[-1]["at"])


def _entry(row: Record) -> LogEntry:
    detail = msgspec.json.decode(row["detail"])
    return LogEntry(
        row["entry_id"], row["at"], LogKind(row["kind"]), row["action"], row["who"], row["subject"], row["reason"],
        row["event_id"], tuple(_changes(detail.get("from"), detail.get("to"))), _cause(row["action"], detail),
    )  # fmt: skip


def _cause(action: str, detail: Mapping[str, Any]) -> Cause | None:
    if detail.get("cause") is not None:
        return msgspec.convert(detail["cause"], Cause)
    if action == "authority-silent":
        since, until = (datetime.fromisoformat(detail[end]["heard_at"]) for end in ("from", "to"))
        return Cause(CauseCode.AUTHORITY_SILENT, numbers={"silent_s": (until - since).total_seconds()})
    return None


def _changes(was: object, now: object) -> list[LogChange]:
    """`from` and `to` of an audit entry, value by value; what is the same in both is left out."""
    before = _members(was)
    after = _members(now)
    names = dict.fromkeys([*after, *before])
    return [
        LogChange(name, before.get(name, ""), after.get(name, ""))
        for name in names
        if before.get(name, "") != after.get(name, "") and (not after or name in after)
    ]


def _members(value: object) -> Mapping[str, str]:
    if value is None:
        return {}
    return {name: _text(one) for name, one in value.items()} if isinstance(value, dict) else {"": _text(value)}


def _text(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_LONGEST_TEXT]
