"""Who calls: staff who sign in at a device, and fans' accounts (R8, R35, R43).

A sign-in gives an access token (10 minutes, read without the database) and a refresh token (random, stored as a
digest, bound to the device, used once). Using a refresh token gives its successor. A caller whose answer was lost
may repeat within `RETRY_GRACE` and gets the same successor; any other second use means that the token is in two
hands, and ends the session. Signing out ends the session at once; an access token that is out lives for its rest.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from uuid import UUID
from weakref import WeakKeyDictionary

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller, Role
from booking.domain.card_data import mask_card_data
from booking.domain.errors import BookingError, InvalidRequestError, NotSignedInError, WrongCredentialsError
from booking.domain.text import storable_texts
from booking.services import access_tokens, login_throttle
from booking.services.access_tokens import Claims, UnknownKeyError
from booking.services.passwords import hash_password, verify_password
from booking.store import staff_queries
from booking.store.connection import Connection
from booking.store.database import Database
from booking.store.staff_queries import Session, Staff

ACCESS_LIFE = timedelta(minutes=10)
ACCOUNT_LIFE = timedelta(hours=12)
SESSION_LIFE = timedelta(hours=16)
RETRY_GRACE = timedelta(seconds=10)
_SHORTEST_PASSWORD = 8


@dataclass(frozen=True, slots=True)
class StaffSession:
    """Answer of `login` and `refresh`; field names are the wire's."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str
    staff_id: UUID
    name: str
    display_name: str
    role: Role
    device_id: UUID
    server_time: datetime


@dataclass(frozen=True, slots=True)
class AccountSession:
    """Answer of `create_account` and of `renewals`; field names are the wire's."""

    account_id: UUID
    access_token: str
    access_expires_at: datetime
    server_time: datetime


# ---------------------------------------------------------------- staff


async def create_staff(db: Database, name: str, display_name: str, role: Role, password: str) -> UUID:
    """Add a member of staff, or bring the one of that name to this state. Names are folded to lower case.

    Raises:
        InvalidRequestError: an empty name, a role that is no staff role, or a password under 8 characters.
    """
    if role is Role.FAN or not _folded(name):
        raise InvalidRequestError("Staff need a name and a staff role.")
    password_hash = await hash_password(_checked(password))
    (display_name,) = storable_texts({"/display_name": display_name})
    staff = Staff(uuid7(), _folded(name), display_name, role, active=True, password_hash=password_hash)
    async with db.transaction() as connection:
        staff_id = await staff_queries.save_staff(connection, staff)
        await staff_queries.write_audit(connection, "system", "staff-saved", subject=str(staff_id), role=role)
    return staff_id


async def set_password(db: Database, name: str, password: str) -> None:
    """Give a member of staff another password; all their sessions end.

    Raises:
        InvalidRequestError: nobody has that name, or the password has less than 8 characters.
    """
    password_hash = await hash_password(_checked(password))
    async with db.transaction() as connection:
        staff_id = await staff_queries.update_password(connection, _folded(name), password_hash)
        if staff_id is None:
            raise InvalidRequestError(f"Nobody is called {name}.")
        await staff_queries.revoke_sessions_of_staff(connection, staff_id, "password-changed")
        await staff_queries.write_audit(connection, "system", "password-set", subject=str(staff_id))


async def login(db: Database, name: str, password: str, device_id: UUID, device_name: str) -> StaffSession:
    """Sign a member of staff in at a device.

    Raises:
        WrongCredentialsError: name or password is wrong, or the member of staff is no longer active.
        TooManyAttemptsError: see `login_throttle`.
    """
    folded = _folded(name)
    async with db.transaction() as connection:
        now = await staff_queries.read_time(connection)
        await login_throttle.begin_try(connection, folded, device_id, now)
        staff = await staff_queries.read_staff_by_name(connection, folded)
    right = await verify_password(password, staff.password_hash if staff else None)
    if staff is None or not right or not staff.active:
        async with db.transaction() as connection:
            await staff_queries.write_audit(connection, f"device:{device_id}", "login-refused", subject=folded)
        raise WrongCredentialsError("Name or password is wrong.")
    async with db.transaction() as connection:
        await staff_queries.forget_failures(connection, folded, device_id)
        now = await staff_queries.read_time(connection)
        session, refresh_token = await _open_session(connection, staff, device_id, device_name, now)
    return await _staff_session(db, session, refresh_token, now)


async def _open_session(
    connection: Connection, staff: Staff, device_id: UUID, device_name: str, now: datetime
) -> tuple[Session, str]:
    session = Session(uuid7(), device_id, now + SESSION_LIFE, None, staff)
    token = secrets.token_urlsafe(32)
    (device_name,) = storable_texts({"/device_name": device_name})
    await staff_queries.see_device(connection, device_id, device_name)
    await staff_queries.insert_session(connection, session, now)
    await staff_queries.insert_refresh_token(connection, _digest(token), session.session_id, now)
    await staff_queries.write_audit(
        connection, f"device:{device_id}", "login", subject=str(staff.staff_id), session=str(session.session_id)
    )
    return session, token


async def refresh(db: Database, refresh_token: str, device_id: UUID) -> StaffSession:
    """Use a refresh token: a new access token, and the refresh token's successor.

    Raises:
        NotSignedInError: unknown, expired, revoked, of another device, or used before (then the session ends).
    """
    refused: BookingError | None = None
    async with db.transaction() as connection:
        session = await _session_of(connection, refresh_token)
        now = await staff_queries.read_time(connection)
        try:
            successor = await _successor(connection, session, refresh_token, device_id, now)
        except NotSignedInError as error:
            # What the refusal wrote (the end of the session) has to be committed, so it is raised outside.
            refused, successor = error, ""
    if refused is not None:
        raise refused
    return await _staff_session(db, session, successor, now)


async def _session_of(connection: Connection, refresh_token: str) -> Session:
    session_id = await staff_queries.find_session_of_token(connection, _digest(refresh_token))
    session = await staff_queries.lock_session(connection, session_id) if session_id else None
    if session is None:
        raise NotSignedInError("The refresh token is not known. Sign in again.")
    return session


async def _successor(
    connection: Connection, session: Session, refresh_token: str, device_id: UUID, now: datetime
) -> str:
    if session.revoked_at is not None or now >= session.expires_at or not session.staff.active:
        raise NotSignedInError("The session has ended. Sign in again.")
    if device_id != session.device_id:
        raise await _ended_for(connection, session, "refresh-on-other-device")
    digest = _digest(refresh_token)
    token = await staff_queries.read_refresh_token(connection, digest)
    if token is None or token.used_at is None or token.successor_sealed is None:
        successor = secrets.token_urlsafe(32)
        await staff_queries.insert_refresh_token(connection, _digest(successor), session.session_id, now)
        sealed = _sealed(successor.encode(), refresh_token)
        await staff_queries.use_refresh_token(connection, digest, now, sealed, _digest(successor))
        return successor
    if token.successor_used or now - token.used_at > RETRY_GRACE:
        raise await _ended_for(connection, session, "refresh-token-reused")
    return _sealed(token.successor_sealed, refresh_token).decode()


async def _ended_for(connection: Connection, session: Session, reason: str) -> NotSignedInError:
    await staff_queries.revoke_session(connection, session.session_id, reason)
    await staff_queries.write_audit(
        connection, f"device:{session.device_id}", "session-ended", subject=str(session.session_id), reason=reason
    )
    return NotSignedInError("The refresh token was used elsewhere, so the session was ended. Sign in again.")


async def logout(db: Database, token: str) -> None:
    """End the session that an access token came from; ended ones stay ended.

    Raises:
        NotSignedInError: the token is not one of ours, or expired.
    """
    claims = (await _known(db, token)).claims
    if claims.session_id is None:
        return
    async with db.transaction() as connection:
        await staff_queries.revoke_session(connection, claims.session_id, "signed-out")
        await staff_queries.write_audit(connection, claims.caller().principal, "logout", subject=str(claims.session_id))


async def _staff_session(db: Database, session: Session, refresh_token: str, server_time: datetime) -> StaffSession:
    staff = session.staff
    expires_at = access_tokens.utc_now() + ACCESS_LIFE
    access_token = await _signed(
        db,
        expires_at,
        role=staff.role,
        device_id=session.device_id,
        staff_id=staff.staff_id,
        session_id=session.session_id,
        display_name=staff.display_name,
    )
    return StaffSession(
        access_token, expires_at, refresh_token, staff.staff_id, staff.name, staff.display_name, staff.role,
        session.device_id, server_time,
    )  # fmt: skip


# ---------------------------------------------------------------- fans


async def create_account(db: Database) -> AccountSession:
    """A new fan's account and its token."""
    account_id = uuid7()
    async with db.transaction() as connection:
        await staff_queries.insert_account(connection, account_id)
        now = await staff_queries.read_time(connection)
    return await session_of_account(db, account_id, now)


async def session_of_account(db: Database, account_id: UUID, server_time: datetime) -> AccountSession:
    """A token of a fan's account, good from now on for `ACCOUNT_LIFE`."""
    expires_at = access_tokens.utc_now() + ACCOUNT_LIFE
    token = await _signed(db, expires_at, role=Role.FAN, account_id=account_id)
    return AccountSession(account_id, token, expires_at, server_time)


# ---------------------------------------------------------------- tokens


async def caller_of_token(db: Database, token: str) -> Caller:
    """Who sends this access token; the database is asked only for a key that this process has not seen.

    Raises:
        NotSignedInError: not a token of ours.
        TokenExpiredError: it was one.
    """
    return (await _known(db, token)).caller


async def expiry_of_token(db: Database, token: str) -> datetime:
    """Until when this access token is good. Raises what `caller_of_token` raises."""
    return datetime.fromtimestamp((await _known(db, token)).claims.expires_at, UTC)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a verified token says, and the caller that this makes."""

    claims: Claims
    caller: Caller


@dataclass(frozen=True, slots=True)
class _KeyRing:
    """Signing keys as read at `read_at` (monotonic seconds); the last one signs.

    `verified` are tokens whose signature was right: a crowd sends each of its tokens many times, and checking one costs
    as much as routing its request. It goes with the keys, so a key that is dropped takes its tokens along.
    """

    keys: Mapping[UUID, bytes]
    read_at: float
    verified: dict[str, _Known] = field(default_factory=dict)

    def read(self, token: str, now: datetime) -> _Known:
        """What a token says; raises what `access_tokens.read` raises."""
        known = self.verified.get(token)
        if known is not None and now.timestamp() < known.claims.expires_at:
            return known
        claims = access_tokens.read(token, self.keys, now)
        if len(self.verified) >= _MOST_VERIFIED:
            self.verified.clear()
        known = self.verified[token] = _Known(claims, claims.caller())
        return known


_MOST_VERIFIED = 20_000
_READ_KEYS_AGAIN_AFTER_S = 1.0  # so that forged key ids do not become a load on the database
_rings: WeakKeyDictionary[Database, _KeyRing] = WeakKeyDictionary()


async def _known(db: Database, token: str) -> _Known:
    now = access_tokens.utc_now()
    ring = _rings.get(db)
    if ring is None:
        ring = await _read_keys(db)
    try:
        return ring.read(token, now)
    except UnknownKeyError:
        if monotonic() - ring.read_at < _READ_KEYS_AGAIN_AFTER_S:
            raise
        return (await _read_keys(db)).read(token, now)


async def _read_keys(db: Database) -> _KeyRing:
    ring = _rings[db] = _KeyRing(await staff_queries.read_signing_keys(db), monotonic())
    return ring


async def _signing_key(db: Database) -> tuple[UUID, bytes]:
    ring = _rings.get(db) or await _read_keys(db)
    if not ring.keys:
        async with db.transaction() as connection:
            await staff_queries.insert_signing_key(connection, uuid7(), secrets.token_bytes(32))
        ring = await _read_keys(db)
    return list(ring.keys.items())[-1]


async def _signed(
    db: Database,
    expires_at: datetime,
    *,
    role: Role,
    device_id: UUID | None = None,
    staff_id: UUID | None = None,
    account_id: UUID | None = None,
    session_id: UUID | None = None,
    display_name: str = "",
) -> str:
    key_id, secret = await _signing_key(db)
    claims = Claims(
        key_id=key_id,
        expires_at=int(expires_at.timestamp()),
        role=role,
        device_id=device_id,
        staff_id=staff_id,
        account_id=account_id,
        session_id=session_id,
        display_name=display_name,
    )
    return access_tokens.sign(claims, secret)


def _folded(name: str) -> str:
    """As it is stored and looked up; a card that was swiped into the field leaves no number behind (R43)."""
    return mask_card_data(name.strip().lower())


def _checked(password: str) -> str:
    if len(password) < _SHORTEST_PASSWORD:
        raise InvalidRequestError(f"A password has at least {_SHORTEST_PASSWORD} characters.")
    return password


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _sealed(text: bytes, token: str) -> bytes:
    """XOR with a pad drawn from the token: sealing and opening are the same. The token is random and seals once."""
    pad = hashlib.shake_256(b"successor of " + token.encode()).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, pad, strict=True))
