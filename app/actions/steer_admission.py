"""Admission of one event: how it stands, what a change would do, the change itself, from the version that was read."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.ops_board import admission_key
from app.core.ops_draft import change_of, preview_of
from app.core.session import Permission, require
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    BookingRefusedError,
    ForbiddenError,
    NotSignedInError,
)
from backend_client.wire import (
    AdmissionControl,
    AdmissionMode,
    AdmissionSettingsChange,
    ErrorCode,
    EventId,
)


async def load_admission(desk: Desk) -> None:
    """Read how admission stands. Trouble is told on the board, what was read before stays.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: the session has ended.
    """
    require(desk.store.session, Permission.SEE_OPS)
    event_id = desk.store.ops.event_id
    if event_id is not None:
        await _load(desk, event_id)


async def _load(desk: Desk, event_id: EventId) -> None:
    try:
        desk.store.ops.put_control(await desk.client.admission(event_id))
    except NotSignedInError:
        raise
    except BookingClientError as error:
        desk.store.ops.put_control_trouble(event_id, error.code)


async def follow_admission(desk: Desk) -> None:
    """Read it again and again until the task ends. Raises as `load_admission`."""
    while True:
        await load_admission(desk)
        await desk.sleep(desk.patience.admission_s)


async def preview_admission(desk: Desk) -> None:
    """Ask what the typed change would do; the answer, or why there is none, is told on the board.

    Raises:
        NotSignedInError: the session has ended.
        NumberTextError: what is typed is no number that could be set.
    """
    board = desk.store.ops
    if board.control is None or board.event_id is None:
        return
    event_id, draft = board.event_id, board.draft
    request = preview_of(draft, board.control.settings)
    preview, trouble = None, ""
    try:
        preview = await desk.client.preview_admission(event_id, request)
    except (NotSignedInError, ForbiddenError):
        raise
    except BookingClientError as error:
        trouble = error.code
    if (board.event_id, board.draft) == (event_id, draft):
        board.put_preview(preview, trouble)


async def change_admission(desk: Desk) -> AdmissionControl | None:
    """Set what is typed. None when there is nothing to be set.

    Raises:
        NotAllowedError: the role may not.
        NumberTextError: what is typed is no number that could be set.
        AnswerUnknownError: nobody knows whether it took effect; the same again is done once.
        BookingRefusedError: `settings-changed`: somebody was faster; what they set was read, what is typed stays.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    board, event_id = desk.store.ops, desk.store.ops.event_id
    if board.control is None or event_id is None or board.draft.is_empty:
        return None
    return await _send(desk, event_id, change_of(board.draft, board.control.settings))


async def set_admission_mode(desk: Desk, seen: AdmissionControl, mode: AdmissionMode, reason: str) -> AdmissionControl:
    """Pause the room that was `seen`, or go back to another mode; nothing else changes. Raises as `change_admission`.

    Whoever set something between the look and the word is not overwritten: it is refused then.
    """
    change = AdmissionSettingsChange(expected_version=seen.settings.version, reason=reason.strip(), mode=mode)
    return await _send(desk, seen.event_id, change)


async def _send(desk: Desk, event_id: EventId, change: AdmissionSettingsChange) -> AdmissionControl:
    require(desk.store.session, Permission.TUNE_ADMISSION)
    board, what = desk.store.ops, admission_key(event_id)
    key = board.key_for(what, change, desk.new_key)
    try:
        answer = await desk.client.change_admission(event_id, change, key=key)
    except AnswerUnknownError:
        await _load(desk, event_id)
        raise
    except BookingRefusedError as error:
        board.settle_key(what)
        if error.problem.code is ErrorCode.SETTINGS_CHANGED:
            await _load(desk, event_id)
        raise
    board.settle_key(what)
    board.put_control(answer, own=True)
    return answer
