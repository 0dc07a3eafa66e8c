"""Queries of how browsers keep fans' accounts; see `booking/services/renewals.py`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from booking import sql
from booking.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Renewal:
    """One browser's hold on an account. `secret_digest` is what is good now, `former_digest` what was before it."""

    renewal_id: UUID
    account_id: UUID
    secret_digest: bytes
    former_digest: bytes | None
    expires_at: datetime
    ended_at: datetime | None
    account_created_at: datetime


async def lock_renewal(connection: Connection, digest: bytes) -> Renewal | None:
    """The renewal that this secret is or was of, locked."""
    row = await connection.fetchrow(sql.query("lock_renewal"), digest)
    if row is None:
        return None
    former = row["former_digest"]
    return Renewal(
        row["renewal_id"], row["account_id"], bytes(row["secret_digest"]), None if former is None else bytes(former),
        row["expires_at"], row["ended_at"], row["account_created_at"],
    )  # fmt: skip


async def insert_renewal(
    connection: Connection, renewal_id: UUID, account_id: UUID, digest: bytes, now: datetime, expires_at: datetime,
    *, is_spare: bool = False,
) -> None:  # fmt: skip
    """A renewal that has not been used yet; a spare one is for another device."""
    await connection.execute(sql.query("insert_renewal"), renewal_id, account_id, digest, is_spare, now, expires_at)


async def use_renewal(
    connection: Connection, renewal_id: UUID, next_digest: bytes, now: datetime, expires_at: datetime
) -> None:
    """From now on the next secret is good."""
    await connection.execute(sql.query("use_renewal"), renewal_id, next_digest, now, expires_at)


async def end_renewal(connection: Connection, renewal_id: UUID, now: datetime, reason: str) -> None:
    """End a renewal; an ended one stays as it is."""
    await connection.execute(sql.query("end_renewal"), renewal_id, now, reason)


async def forget_spares(connection: Connection, account_id: UUID) -> None:
    """Delete an account's spare secrets that nobody has used."""
    await connection.execute(sql.query("forget_spares"), account_id)
