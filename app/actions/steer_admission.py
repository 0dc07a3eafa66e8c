"""Admission of one event: how it stands, what a change would do, the change itself, from the version that was read."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.ops_draft import change_of, preview_of
from app.core.session import Permission, require
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    BookingRefusedError,
    ForbiddenError,
    NotSignedInError,
)
from backend_client.wire import AdmissionControl, AdmissionMode, AdmissionSettingsChange, ErrorCode


async def load_admission(desk: Desk) -> None:
    """Read how admission stands. Trouble is told on the board, what was read before stays.

    Raises:
        NotAllowedError: the role may not.
        NotSignedInError: the session has ended.
    """
    require(desk.store.session, Permission.SEE_OPS)
    board = desk.store.ops
    if board.event_id is None:
        return
    try:
        board.put_control(await desk.client.admission(board.event_id))
    except NotSignedInError:
        raise
    except BookingClientError as error:
        board.put_control_trouble(error.code)


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
    draft = board.draft
    request = preview_of(draft, board.control.settings)
    try:
        preview = await desk.client.preview_admission(board.event_id, request)
    except (NotSignedInError, ForbiddenError):
        raise
    except BookingClientError as error:
        board.put_preview(None, error.code)
        return
    if board.draft == draft:
        board.put_preview(preview)


async def change_admission(desk: Desk) -> AdmissionControl | None:
    """Set what is typed. None when there is nothing to be set.

    Raises:
        NotAllowedError: the role may not.
        NumberTextError: what is typed is no number that could be set.
        AnswerUnknownError: nobody knows whether it took effect; the same again is done once.
        BookingRefusedError: `settings-changed`: somebody was faster; what they set was read, what is typed stays.
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    board = desk.store.ops
    if board.control is None or board.draft.is_empty:
        return None
    return await _send(desk, change_of(board.draft, board.control.settings))


async def set_admission_mode(desk: Desk, mode: AdmissionMode, reason: str) -> AdmissionControl | None:
    """Pause the room, or go back to another mode; nothing else changes. Raises as `change_admission`."""
    board = desk.store.ops
    if board.control is None:
        return None
    version = board.control.settings.version
    return await _send(desk, AdmissionSettingsChange(expected_version=version, reason=reason.strip(), mode=mode))


async def _send(desk: Desk, change: AdmissionSettingsChange) -> AdmissionControl:
    require(desk.store.session, Permission.TUNE_ADMISSION)
    board = desk.store.ops
    event_id = board.event_id
    if event_id is None:
        raise LookupError("no event is watched")
    key = board.key_for("admission", change, desk.new_key)
    try:
        answer = await desk.client.change_admission(event_id, change, key=key)
    except AnswerUnknownError:
        await load_admission(desk)
        raise
    except BookingRefusedError as error:
        board.settle_key("admission")
        if error.problem.code is ErrorCode.SETTINGS_CHANGED:
            await load_admission(desk)
        raise
    board.settle_key("admission")
    board.put_control(answer, own=True)
    return answer
