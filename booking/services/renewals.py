"""How a fan's account outlives its access token (R8, R42): with a secret of the browser's own, used once.

An account has no name and no password: whoever has its secret has the account. An access token lives `ACCOUNT_LIFE`;
the secret gives another one, before or after the token has ended, until `RENEWABLE_FOR` after the account was opened.
The browser makes its secrets itself, and with each use names the next one, which it has kept before it asks. So a
request whose answer was lost is repeated with the same two secrets, however much later, and means the same; a second
use with another successor tells that the secret is in two hands, and ends this browser's hold on the account. Others
keep theirs: each device has a renewal of its own, begun with a spare secret that is good for `SPARE_LIFE` and once.
Only digests of secrets are stored. An access token that is out lives for its rest.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from uuid_utils.compat import uuid7

from booking.domain.errors import FieldFault, InvalidRequestError, NotSignedInError
from booking.services.sign_in import AccountSession, session_of_account
from booking.store import renewal_queries, staff_queries
from booking.store.connection import Connection
from booking.store.database import Database
from booking.store.renewal_queries import Renewal

RENEWABLE_FOR = timedelta(days=400)
SPARE_LIFE = timedelta(minutes=15)
REUSED, FORGOTTEN = "secret-used-twice", "forgotten"


@dataclass(frozen=True, slots=True)
class Spare:
    """Answer of `open_spare`; field names are the wire's."""

    expires_at: datetime
    server_time: datetime


async def open_account(db: Database, secret: str) -> AccountSession:
    """A new account that `secret` renews; the one that it opened before, when the answer to that was lost.

    Raises:
        NotSignedInError: the secret has been used since.
    """
    digest, account_id = _digest(secret), uuid7()
    async with db.transaction() as connection:
        now = await staff_queries.read_time(connection)
        known = await renewal_queries.lock_renewal(connection, digest)
        if known is None:
            await staff_queries.insert_account(connection, account_id)
            await renewal_queries.insert_renewal(connection, uuid7(), account_id, digest, now, now + RENEWABLE_FOR)
        else:
            account_id = _checked(known, digest, now).account_id
    return await session_of_account(db, account_id, now)


async def renew(db: Database, secret: str, next_secret: str) -> AccountSession:
    """A new token of the account; `next_secret` takes the secret's place.

    Raises:
        NotSignedInError: unknown, ended, or used before with another successor (then it is ended).
        InvalidRequestError: the next secret is no new one.
    """
    digest, next_digest = _digest(secret), _digest(next_secret)
    if digest == next_digest:
        raise _not_new("/next_secret")
    async with db.transaction() as connection:
        now = await staff_queries.read_time(connection)
        renewal = _live(await renewal_queries.lock_renewal(connection, digest), now)
        is_safe = await _pass_on(connection, renewal, digest, next_digest, now)
    # What the refusal wrote (the end of the renewal) has to be committed, so it is raised outside.
    if not is_safe:
        raise NotSignedInError("The secret was used elsewhere, so this browser's hold on the account was ended.")
    return await session_of_account(db, renewal.account_id, now)


async def _pass_on(connection: Connection, renewal: Renewal, digest: bytes, next_digest: bytes, now: datetime) -> bool:
    """Let the next secret be the good one; False when somebody else has named another."""
    if renewal.secret_digest == next_digest and renewal.former_digest == digest:
        return True
    if renewal.secret_digest != digest:
        await _end(connection, renewal, now, REUSED)
        return False
    await _refuse_known(connection, next_digest, "/next_secret")
    ends_at = renewal.account_created_at + RENEWABLE_FOR
    if now >= ends_at:
        raise NotSignedInError("The account is too old to be renewed.")
    await renewal_queries.use_renewal(connection, renewal.renewal_id, next_digest, now, ends_at)
    return True


async def open_spare(db: Database, secret: str, spare_secret: str) -> Spare:
    """A secret that another device may begin with, in place of one that none has used.

    Raises:
        NotSignedInError: `secret` is not the one that is good now.
        InvalidRequestError: the spare secret is no new one.
    """
    digest = _digest(secret)
    async with db.transaction() as connection:
        now = await staff_queries.read_time(connection)
        renewal = _checked(await renewal_queries.lock_renewal(connection, digest), digest, now)
        await renewal_queries.forget_spares(connection, renewal.account_id)
        spare_digest = _digest(spare_secret)
        await _refuse_known(connection, spare_digest, "/spare_secret")
        expires_at = min(now + SPARE_LIFE, renewal.account_created_at + RENEWABLE_FOR)
        await renewal_queries.insert_renewal(
            connection, uuid7(), renewal.account_id, spare_digest, now, expires_at, is_spare=True
        )
        principal = f"account:{renewal.account_id}"
        await staff_queries.write_audit(connection, principal, "renewal-opened", subject=str(renewal.renewal_id))
    return Spare(expires_at, now)


async def end(db: Database, secret: str) -> None:
    """This browser forgets the account. Unknown and ended secrets are as good as forgotten."""
    async with db.transaction() as connection:
        now = await staff_queries.read_time(connection)
        renewal = await renewal_queries.lock_renewal(connection, _digest(secret))
        if renewal is not None and renewal.ended_at is None:
            await _end(connection, renewal, now, FORGOTTEN)


async def _end(connection: Connection, renewal: Renewal, now: datetime, reason: str) -> None:
    await renewal_queries.end_renewal(connection, renewal.renewal_id, now, reason)
    principal = f"account:{renewal.account_id}"
    await staff_queries.write_audit(
        connection, principal, "renewal-ended", subject=str(renewal.renewal_id), reason=reason
    )


async def _refuse_known(connection: Connection, digest: bytes, pointer: str) -> None:
    if await renewal_queries.lock_renewal(connection, digest) is not None:
        raise _not_new(pointer)


def _not_new(pointer: str) -> InvalidRequestError:
    return InvalidRequestError("A secret is used once.", fields=(FieldFault(pointer, "must be a new random secret"),))


def _live(renewal: Renewal | None, now: datetime) -> Renewal:
    if renewal is None:
        raise NotSignedInError("The secret is not known.")
    if renewal.ended_at is not None or now >= renewal.expires_at:
        raise NotSignedInError("This browser's hold on the account has ended.")
    return renewal


def _checked(renewal: Renewal | None, digest: bytes, now: datetime) -> Renewal:
    """The renewal, when the secret is the one that is good now."""
    found = _live(renewal, now)
    if found.secret_digest != digest:
        raise NotSignedInError("The secret has been used.")
    return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
