"""What operators do beside admission: pause and resume an event, end a session, acknowledge an alarm, read the log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from app.actions.desk import Desk
from app.core.ops_log_csv import ops_log_csv
from app.core.session import Permission, require
from app.whole_file import write_whole
from backend_client.errors import AnswerUnknownError, BookingClientError, BookingRefusedError, NotSignedInError
from backend_client.wire import (
    EventDetail,
    EventId,
    EventStatusChange,
    OpsLogEntry,
    OpsSession,
    OpsSessionEnd,
    OpsSessionEnded,
)

LOG_PAGE = 100


async def change_event_status(desk: Desk, event: EventDetail, reason: str, *, pause: bool) -> EventDetail:
    """Pause an event, or put it on sale again, from the version of its settings that was read.

    Raises:
        NotAllowedError: the role may not.
        AnswerUnknownError: nobody knows whether it took effect; the same again is done once.
        BookingRefusedError: `settings-changed`, `event-state-conflict`: read it again.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    require(desk.store.session, Permission.TUNE_ADMISSION)
    change = EventStatusChange(expected_version=event.settings_version, reason=reason.strip())
    board, what = desk.store.ops, f"event-{event.event_id}-{'pause' if pause else 'resume'}"
    key = board.key_for(what, change, desk.new_key)
    call = desk.client.pause_event if pause else desk.client.resume_event
    try:
        answer = await call(event.event_id, change, key=key)
    except BookingRefusedError:
        board.settle_key(what)
        raise
    board.settle_key(what)
    if desk.store.event is not None and desk.store.event.event_id == answer.event_id:
        desk.store.put_event(answer)
    return answer


async def read_event(desk: Desk, event_id: EventId) -> EventDetail:
    """An event with its status and the version of its settings. Raises BookingClientError."""
    return await desk.client.event(event_id)


async def end_session(desk: Desk, session: OpsSession, reason: str) -> OpsSessionEnded:
    """End one session of the database: what it has not committed is undone by the database. One that is in another
    transaction by now is left alone.

    Raises:
        NotAllowedError: the role may not.
        AnswerUnknownError: nobody knows whether it took effect; the same again is done once.
        BookingRefusedError: it is not one that may be ended.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    require(desk.store.session, Permission.ADMINISTER)
    request = OpsSessionEnd(
        backend_started_at=session.backend_started_at, reason=reason.strip(),
        transaction_started_at=session.transaction_started_at,
    )  # fmt: skip
    board, what = desk.store.ops, f"session-{session.pid}-{session.backend_started_at.isoformat()}"
    key = board.key_for(what, request, desk.new_key)
    try:
        answer = await desk.client.end_ops_session(session.pid, request, key=key)
    except BookingRefusedError:
        board.settle_key(what)
        raise
    board.settle_key(what)
    return answer


async def acknowledge_alarm(desk: Desk, alarm_id: UUID, note: str = "") -> None:
    """Say that somebody knows of an alarm; it goes on until what it tells of is over.

    Raises:
        NotAllowedError: the role may not.
        BookingClientError: it was not done, or nobody knows; the same again is done once.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board, what = desk.store.ops, f"alarm-{alarm_id}"
    key = board.key_for(what, note, desk.new_key)
    try:
        alarm = await desk.client.acknowledge_ops_alarm(alarm_id, note, key=key)
    except AnswerUnknownError:
        raise
    except BookingClientError:
        board.settle_key(what)
        raise
    board.settle_key(what)
    board.put_alarm(alarm)


async def load_log(desk: Desk, *, more: bool = False) -> None:
    """Read the log as its filter says; `more` goes on where the last page ended. Trouble is told on the board.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: the session has ended.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    wanted, before = board.log_subject, board.log_next if more else None
    if more and before is None:
        return  # nothing is there to go on with
    page, trouble = None, ""
    try:
        page = await desk.client.ops_log(event=wanted.event_id, kind=wanted.kind, before=before, limit=LOG_PAGE)
    except NotSignedInError:
        raise
    except BookingClientError as error:
        trouble = error.code
    if board.log_subject != wanted or (more and board.log_next != before):
        return  # other entries are wanted by now, or they were read anew
    if page is None:
        board.put_log_trouble(trouble)
    else:
        board.put_log(page.entries, page.next_before, desk.store.clock.now(), more=more)


async def export_log(path: Path, heads: Sequence[str], rows: Sequence[tuple[OpsLogEntry, str]]) -> None:
    """Write entries as CSV: the whole file or none, and the interface goes on meanwhile.

    Raises:
        OSError: it could not be written; a file that was there is as it was.
    """
    kept = tuple(rows)
    await asyncio.to_thread(lambda: write_whole(path, ops_log_csv(heads, kept)))
