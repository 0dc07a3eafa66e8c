"""Queries of staff, their sessions and devices, failed sign-ins, accounts, signing keys and the audit log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from booking import sql
from booking.domain.caller import Role
from booking.store.connection import Connection
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class Staff:
    """A member of staff. `password_hash` is None where it was not asked for."""

    staff_id: UUID
    name: str
    display_name: str
    role: Role
    active: bool
    password_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A staff session on one device."""

    session_id: UUID
    device_id: UUID
    expires_at: datetime
    revoked_at: datetime | None
    staff: Staff


@dataclass(frozen=True, slots=True)
class Attempts:
    """Failures of one (name, device) lately."""

    failures: int
    last_failed_at: datetime
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """What is known of a refresh token: when it was used, its sealed successor, and whether that one was used too."""

    used_at: datetime | None
    successor_sealed: bytes | None
    successor_used: bool


async def read_time(connection: Connection) -> datetime:
    """The database's time."""
    now: datetime = await connection.fetchval(sql.query("read_time"))
    return now


# ---------------------------------------------------------------- staff


async def save_staff(connection: Connection, staff: Staff) -> UUID:
    """Insert, or replace what is stored under that name. Returns the id that counts."""
    stored: UUID = await connection.fetchval(
        sql.query("insert_staff"), staff.staff_id, staff.name, staff.display_name, staff.role, staff.password_hash
    )
    return stored


async def update_password(connection: Connection, name: str, password_hash: str) -> UUID | None:
    """Returns the id of the member of staff, or None when nobody has that name."""
    staff_id: UUID | None = await connection.fetchval(sql.query("update_password"), name, password_hash)
    return staff_id


async def read_staff_by_name(connection: Connection, name: str) -> Staff | None:
    """With the password hash."""
    row = await connection.fetchrow(sql.query("read_staff_by_name"), name)
    if row is None:
        return None
    return Staff(
        row["staff_id"], row["name"], row["display_name"], Role(row["role"]), row["active"], row["password_hash"]
    )


# ---------------------------------------------------------------- failed sign-ins


async def lock_attempts(connection: Connection, name: str, device_id: UUID, now: datetime) -> Attempts:
    """The pair's failures, locked; made when there were none."""
    await connection.execute(sql.query("ensure_login_attempts"), name, device_id, now)
    row = await connection.fetchrow(sql.query("lock_login_attempts"), name, device_id)
    if row is None:  # a success of the same pair took it away in between
        return Attempts(0, now, None)
    return Attempts(row["failures"], row["last_failed_at"], row["blocked_until"])


async def save_attempts(connection: Connection, name: str, device_id: UUID, attempts: Attempts) -> None:
    """Store what `lock_attempts` gave, changed."""
    await connection.execute(
        sql.query("save_login_attempts"),
        name, device_id, attempts.failures, attempts.last_failed_at, attempts.blocked_until,
    )  # fmt: skip


async def forget_failures(connection: Connection, name: str, device_id: UUID) -> None:
    """After a success; also drops what is older than a day."""
    await connection.execute(sql.query("forget_login_failures"), name, device_id)
    await connection.execute(sql.query("forget_old_login_failures"))


async def count_strange_failures(connection: Connection, name: str, now: datetime) -> int:
    """Failures of `name` in the last 15 minutes on devices where it never signed in."""
    count: int = await connection.fetchval(sql.query("count_strange_failures"), name, now)
    return count


async def is_known_device(connection: Connection, name: str, device_id: UUID) -> bool:
    """Whether `name` has signed in at this device before."""
    known: bool = await connection.fetchval(sql.query("is_known_device"), name, device_id)
    return known


# ---------------------------------------------------------------- sessions


async def see_device(connection: Connection, device_id: UUID, name: str) -> None:
    """Store the device, or its new name."""
    await connection.execute(sql.query("see_device"), device_id, name)


async def insert_session(connection: Connection, session: Session, created_at: datetime) -> None:
    """A new session."""
    await connection.execute(
        sql.query("insert_session"),
        session.session_id, session.staff.staff_id, session.device_id, created_at, session.expires_at,
    )  # fmt: skip


async def lock_session(connection: Connection, session_id: UUID) -> Session | None:
    """The session with its member of staff, locked."""
    row = await connection.fetchrow(sql.query("read_staff_of_session"), session_id)
    if row is None:
        return None
    staff = Staff(row["staff_id"], row["name"], row["display_name"], Role(row["role"]), row["active"])
    return Session(row["session_id"], row["device_id"], row["expires_at"], row["revoked_at"], staff)


async def revoke_session(connection: Connection, session_id: UUID, reason: str) -> None:
    """End a session; an ended one stays as it is."""
    await connection.execute(sql.query("revoke_session"), session_id, reason)


async def revoke_sessions_of_staff(connection: Connection, staff_id: UUID, reason: str) -> None:
    """End all sessions of a member of staff."""
    await connection.execute(sql.query("revoke_sessions_of_staff"), staff_id, reason)


async def insert_refresh_token(connection: Connection, digest: bytes, session_id: UUID, now: datetime) -> None:
    """A token that has not been used yet."""
    await connection.execute(sql.query("insert_refresh_token"), digest, session_id, now)


async def find_session_of_token(connection: Connection, digest: bytes) -> UUID | None:
    """The session that a refresh token belongs to."""
    session_id: UUID | None = await connection.fetchval(sql.query("find_refresh_token"), digest)
    return session_id


async def read_refresh_token(connection: Connection, digest: bytes) -> RefreshToken | None:
    """State of a refresh token; call with its session locked."""
    row = await connection.fetchrow(sql.query("read_refresh_token"), digest)
    if row is None:
        return None
    sealed = row["successor_sealed"]
    return RefreshToken(row["used_at"], None if sealed is None else bytes(sealed), row["successor_used"])


async def use_refresh_token(
    connection: Connection, digest: bytes, now: datetime, sealed: bytes, successor_digest: bytes
) -> None:
    """Mark a token as used and keep its successor, sealed."""
    await connection.execute(sql.query("use_refresh_token"), digest, now, sealed, successor_digest)


# ---------------------------------------------------------------- accounts, keys, audit


async def insert_account(connection: Connection, account_id: UUID) -> None:
    """A fan's account."""
    await connection.execute(sql.query("insert_account"), account_id)


async def read_signing_keys(db: Database) -> Mapping[UUID, bytes]:
    """Keys that verify access tokens, oldest first: the last one signs."""
    rows = await db.fetch(sql.query("read_signing_keys"))
    return {UUID(int=row["key_id"].int): bytes(row["secret"]) for row in rows}


async def insert_signing_key(connection: Connection, key_id: UUID, secret: bytes) -> None:
    """A first key, unless there is one."""
    await connection.execute(sql.query("insert_signing_key"), key_id, secret)


async def write_audit(
    connection: Connection, principal: str, action: str, *, subject: str = "", reason: str = "", **detail: str
) -> None:
    """One line of the audit log."""
    await connection.execute(sql.query("write_audit"), principal, action, subject, reason, json.dumps(detail))
