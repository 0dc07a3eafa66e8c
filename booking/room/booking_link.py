"""Booking as the room hears it: one short conversation every half second, over connections of its own (R16, W3, W7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from booking.domain.errors import AuthorityAwayError, BookingError
from booking.room.authority import News, Purchase, SaleState
from booking.room.event_room import Availability
from booking.room.log_post import Entry
from booking.sql import query
from booking.store import admission_queries, staff_queries
from booking.store.connection import ANSWER_LIMITS, Record
from booking.store.database import Database

_LOOK_AT_SALES_EVERY_S = 2.0
_LOOK_AT_SOLD_OUT_EVERY_S, _LOOK_AT_ENDED_EVERY_S = 10.0, 60.0
"""That nothing is free costs a look at every seat, and is seldom otherwise a moment later."""
_PUBLISH_EVERY_S = 30.0
_FAN = "account:"


class BookingLink:
    """An `Authority` over a database. It need not be there: every step says so, and the next one tries again."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._db: Database | None = None
        self._published_at = -_PUBLISH_EVERY_S
        self._look_at: dict[int, float] = {}
        self._published: frozenset[str] = frozenset()
        self._address = ""
        self._announced: tuple[str, tuple[int, ...]] = ("", ())
        self._announced_at = -_PUBLISH_EVERY_S

    def serves_at(self, url: str) -> None:
        """Where fans and the controller of admission reach this room: left there from now on."""
        self._address = url.rstrip("/")

    async def hear(
        self, events: tuple[int, ...], cursor: str, keys: Mapping[str, Ed25519PublicKey], retired: frozenset[str]
    ) -> News:
        """See `Authority.hear`.

        Raises:
            AuthorityAwayError: booking cannot be reached, or does not answer in time.
        """
        try:
            return await self._hear(events, cursor, keys, retired)
        except BookingError as error:
            raise AuthorityAwayError(error.detail) from error

    async def post(self, entries: Sequence[Entry]) -> None:
        """See `Authority.post`.

        Raises:
            AuthorityAwayError: booking cannot be reached, or does not answer in time.
        """
        if self._db is None:
            raise AuthorityAwayError("Booking was never heard.")
        try:
            await self._db.call(
                query("note_room_changes"), msgspec.json.encode([_row_of(one) for one in entries]).decode()
            )
        except BookingError as error:
            raise AuthorityAwayError(error.detail) from error

    async def close(self) -> None:
        """Let go of the connections."""
        if self._db is not None:
            await self._db.close()

    async def _hear(
        self, events: tuple[int, ...], cursor: str, keys: Mapping[str, Ed25519PublicKey], retired: frozenset[str]
    ) -> News:
        if self._db is None:
            self._db = await Database.open(self._dsn, application="taquilla room", limits=ANSWER_LIMITS, lanes=False)
        db, now = self._db, monotonic()
        await self._publish(db, keys, retired, now)
        await self._announce(db, events, now)
        now_there = (await db.fetch("SELECT booking_now() AS now"))[0]["now"]
        since = datetime.fromisoformat(cursor) if cursor else now_there - timedelta(hours=1)
        bought = await db.fetch(query("read_admission_purchases"), since, list(events))
        due = [event for event in events if now >= self._look_at.get(event, now)]
        sales = tuple(map(_sale_of, await db.fetch(query("read_sale_for_room"), due))) if due else ()
        self._look_at = {event: at for event, at in self._look_at.items() if event in events}
        self._look_at |= dict.fromkeys(due, now + _LOOK_AT_SALES_EVERY_S)
        self._look_at |= {sale.event_id: now + _look_again_after_s(sale) for sale in sales}
        return News(
            purchases=tuple(_purchase_of(row) for row in bought if row["principal"].startswith(_FAN)),
            sales=sales,
            account_keys=await staff_queries.read_signing_keys(db),
            cursor=now_there.isoformat(),
        )

    async def _publish(
        self, db: Database, keys: Mapping[str, Ed25519PublicKey], retired: frozenset[str], now: float
    ) -> None:
        """Leave the room's public keys, and which are so no longer: at once when they change, else seldom."""
        if frozenset(keys) == self._published and now - self._published_at < _PUBLISH_EVERY_S:
            return
        raw = [key.public_bytes_raw() for key in keys.values()]
        await db.call(query("publish_admission_keys"), list(keys), raw, sorted(retired))
        self._published_at, self._published = now, frozenset(keys)

    async def _announce(self, db: Database, events: tuple[int, ...], now: float) -> None:
        """Leave the room's address for its events: at once when they change, else seldom."""
        known = (self._address, events)
        if (
            not self._address
            or not events
            or (known == self._announced and now - self._announced_at < _PUBLISH_EVERY_S)
        ):
            return
        await admission_queries.announce_rooms(db, events, self._address)
        self._announced, self._announced_at = known, now


def _look_again_after_s(sale: SaleState) -> float:
    if sale.is_over:
        return _LOOK_AT_ENDED_EVERY_S
    return _LOOK_AT_SOLD_OUT_EVERY_S if sale.availability is Availability.SOLD_OUT else _LOOK_AT_SALES_EVERY_S


def _row_of(entry: Entry) -> dict[str, Any]:
    """As `note_room_changes` takes it: settings value by value, so that the log shows what is another one."""
    return {
        "entry_id": entry.entry_id, "at": datetime.fromtimestamp(entry.at, UTC), "who": entry.who,
        "event_id": entry.event_id, "what": entry.what, "was": _values_of(entry.was), "now": _values_of(entry.now),
        "reason": entry.reason,
    }  # fmt: skip


def _values_of(text: str) -> object:
    try:
        found = msgspec.json.decode(text) if text.startswith("{") else text
    except msgspec.DecodeError:
        return text
    return {name: value for name, value in found.items() if name != "version"} if isinstance(found, dict) else text


def _purchase_of(row: Record) -> Purchase:
    return Purchase(row["event_id"], UUID(row["principal"].removeprefix(_FAN)).bytes, row["slot_id"])


def _sale_of(row: Record) -> SaleState:
    availability = (
        Availability.AVAILABLE
        if row["is_free"]
        else Availability.MAY_COME_BACK
        if row["may_come_back"]
        else Availability.SOLD_OUT
    )
    return SaleState(row["event_id"], row["opens_at"].timestamp(), row["is_over"], availability, row["is_paused"])
