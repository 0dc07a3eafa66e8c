"""End a session of the database that keeps others waiting (R32): admins alone, sessions of our own roles alone.

A session is named by its process number and the instant at which it began, so that a number that was given to another
session since is never hit, and by the transaction that it was seen in: a session of a pool that has ended that one
serves somebody who keeps nobody waiting. The wish is audited and committed first; then the session is ended, by a
statement that looks at all of that again. A death in between leaves a wish in the log and the session as it is; the
same key goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError
from booking.domain.replay import Outcome
from booking.domain.statement_kinds import OTHER, kind_of
from booking.domain.text import refuse_strange_instants, storable_texts
from booking.services.refusals import key_use, raise_refusal
from booking.store import figures_calls
from booking.store.database import Database

WAIT_MS = 900  # within the statement's own limit
_MOST_PID = 2**31 - 1


class SessionOutcome(StrEnum):
    """`ENDING`: told, and not gone yet. `GONE`: there was none any more."""

    ENDED = "ended"
    ENDING = "ending"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """What became of it, and what it was."""

    pid: int
    backend_started_at: datetime
    application: str
    statement: str
    outcome: SessionOutcome


async def end_session(
    db: Database, caller: Caller, pid: int, began: datetime, reason: str, *, key: str, digest: bytes,
    transaction: datetime | None = None,
) -> Outcome[SessionEnded]:  # fmt: skip
    """See the module. The same key asks for the same session again: one that is gone by then is `ENDED` by it,
    one that lives in another transaction is left alone.

    `transaction`: when the transaction began that it was seen in; None ends it whatever it does.

    Raises:
        InvalidRequestError: the number, the instant or the reason is none.
        ForbiddenError: it is a session of another role, of the server itself, or of another database.
        KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    instants = {"/backend_started_at": began}
    refuse_strange_instants(instants if transaction is None else {**instants, "/transaction_started_at": transaction})
    if not 0 < pid <= _MOST_PID:
        raise InvalidRequestError("There is no such session.", fields=(FieldFault("path:pid", "a process number"),))
    row = await figures_calls.read_session(db, pid)
    is_it = row is not None and row["backend_start"] == began
    application = (row["application"] or "") if row is not None and is_it else ""
    statement = kind_of(row["query"]) if row is not None and is_it else OTHER
    answer = await figures_calls.ask_for_session_end(db, caller, pid, began, transaction, statement, reason, use)
    if answer.code == "forbidden":
        raise ForbiddenError("Only sessions of the booking system's own roles can be ended here.")
    await raise_refusal(db, answer, None)
    if answer.detail == "gone":
        outcome = SessionOutcome.GONE
    else:
        outcome = SessionOutcome(await figures_calls.end_session(db, pid, began, transaction, WAIT_MS))
        if answer.replayed and outcome is SessionOutcome.GONE and not await _is_alive(db, pid, began):
            outcome = SessionOutcome.ENDED
    return Outcome(SessionEnded(pid, began, application, statement, outcome), answer.replayed)


async def _is_alive(db: Database, pid: int, began: datetime) -> bool:
    """It lives and is in another transaction: whoever died before it was ended has ended nobody."""
    row = await figures_calls.read_session(db, pid)
    return row is not None and row["backend_start"] == began
