"""Signing in and out; the session is kept in the system keyring where there is one (R35, D9)."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.session import Session
from app.core.store import Notice, NoticeCode
from app.journal.credentials import KeptCredential
from backend_client.errors import NotSignedInError, ServiceUnavailableError
from backend_client.wire import StaffSession


async def sign_in(desk: Desk, name: str, password: str) -> Session:
    """Open a session. Without a usable keyring it lasts until the console ends, and a notice says so.

    Raises:
        NotSignedInError: wrong name or password (`wrong-credentials`).
        BookingRefusedError: `too-many-attempts`, with `problem.retry_after_s`.
        ServiceUnavailableError: the booking system is away.
    """
    async with desk.sign_in_turn:
        return await _begin(desk, await desk.client.sign_in(name, password, desk.device_name))


async def restore_session(desk: Desk) -> Session | None:
    """Open the session that was kept at this counter; None when there is none, or it is no longer valid.

    Raises:
        ServiceUnavailableError: the booking system is away; what is kept stays kept.
    """
    async with desk.sign_in_turn:
        return await _restore(desk)


async def keep_restoring(desk: Desk) -> Session | None:
    """Try the kept session again, with back-off, until the booking system answers (D2).

    The session; None when it is no longer valid, or when somebody has signed in meanwhile.

    Raises:
        BookingClientError: the booking system answered with something else than yes or no.
    """
    pause_s = desk.patience.ask_first_s
    while True:
        await desk.sleep(pause_s)
        async with desk.sign_in_turn:
            if desk.store.session is not None:
                return None
            try:
                return await _restore(desk)
            except ServiceUnavailableError as error:
                pause_s = max(min(pause_s * 2, desk.patience.ask_longest_s), error.retry_after_s or 0.0)


async def _restore(desk: Desk) -> Session | None:
    kept = await desk.vault.load()
    if kept is None:
        return None
    try:
        return await _begin(desk, await desk.client.refresh(kept.refresh_token))
    except NotSignedInError:
        await desk.vault.forget()
        return None


async def sign_out(desk: Desk) -> None:
    """End the session here and, if it can be reached, at the API; forget what was kept, whatever comes of that.

    Whoever signs in next waits for that: it would end their session, too.
    """
    desk.store.put_session(None)
    async with desk.sign_in_turn:
        try:
            await desk.client.sign_out()
        finally:
            await desk.vault.forget()


async def _begin(desk: Desk, staff: StaffSession) -> Session:
    storage = await desk.vault.save(KeptCredential(staff.name, staff.refresh_token))
    session = Session.of_staff(staff, storage)
    desk.store.put_session(session)
    if storage.session_only:
        desk.store.post(Notice(NoticeCode.SESSION_ONLY, detail=storage.value))
    return session
