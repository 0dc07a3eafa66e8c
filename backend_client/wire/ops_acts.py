"""What operators do to the database's sessions, and the log of everything that was changed (R20, R32)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from backend_client.wire.base import EventId, Instant, Message, RequestMessage, ShortText
from backend_client.wire.causes import Cause


class OpsSessionEnd(RequestMessage, frozen=True, kw_only=True):
    """`POST /v1/ops/sessions/{pid}/end` (admins): `backend_started_at` as it was shown, to the microsecond.

    `transaction_started_at` likewise: a session that is in another transaction by now holds nobody up any more, and is
    left alone (`gone`). Without it the session is ended whatever it does.
    """

    backend_started_at: Instant
    reason: ShortText
    transaction_started_at: Instant | None = None


class OpsSessionOutcome(StrEnum):
    """What became of a session that was told to end."""

    ENDED = "ended"
    ENDING = "ending"
    GONE = "gone"


class OpsSessionEnded(Message, frozen=True, kw_only=True):
    """`ending`: it was told and is not gone yet. `gone`: it had ended by itself, or its transaction had, before it was
    told.
    """

    pid: int
    backend_started_at: datetime
    application: str
    statement: str
    outcome: OpsSessionOutcome


class OpsLogKind(StrEnum):
    """What an entry of the log is about; the filter `kind=` of `GET /v1/ops/log`."""

    SETTINGS = "settings"
    STATUS = "status"
    ADMISSION = "admission"
    SESSION = "session"
    ALARM = "alarm"
    AUTHORITY = "authority"


class OpsLogChange(Message, frozen=True, kw_only=True):
    """One value that is another one now; '' where there was none."""

    name: str
    was: str
    now: str


class OpsLogEntry(Message, frozen=True, kw_only=True):
    """Who, when, from, to, why. `who` is a person's name, or `controller`, `alarms`, `figures`.

    `reason` is a person's own, or a program's in English, with `cause` as the same in a code.
    """

    entry_id: str
    at: datetime
    kind: OpsLogKind
    action: str
    who: str
    subject: str
    reason: str
    event_id: EventId | None = None
    changes: tuple[OpsLogChange, ...] = ()
    cause: Cause | None = None


class OpsLog(Message, frozen=True, kw_only=True):
    """`GET /v1/ops/log?event_id=&kind=&before=&limit=`: newest first, those before an instant. None at the end."""

    entries: tuple[OpsLogEntry, ...]
    next_before: datetime | None = None
