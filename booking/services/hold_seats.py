"""Hold seats, read and release holds (R3–R9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import EventNotFoundError, HoldNotFoundError, SeatOrphanedError, SeatsTakenError
from booking.domain.model import BestAvailable, Hold, TierQuantity
from booking.domain.replay import Outcome
from booking.services.best_available import hold_best, offer_for
from booking.services.hold_answers import hold_of, outcome_of
from booking.services.hold_places import hold_mixed, hold_places, places_of_hold
from booking.services.hold_request import HoldWish, ask_of, check_wish
from booking.services.read_events import MAX_EVENT_ID
from booking.services.refusals import key_use, raise_refusal
from booking.sql import query
from booking.store import sale_calls
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.hold_lane import HoldRow


class MoreOfHold(TypedDict, total=False):
    """What a request for a hold may say beside its seats.

    `access_code` raises the account's limit (B17); `house_hold_id` lets a till take seats that the house keeps back.
    """

    best_available: BestAvailable | None
    tiers: Sequence[TierQuantity]
    access_code: str
    house_hold_id: UUID | None


async def hold_seats(
    db: Database,
    caller: Caller,
    event_id: int,
    seats: Sequence[int],
    *,
    key: str,
    digest: bytes,
    **more: Unpack[MoreOfHold],
) -> Outcome[Hold]:
    """Hold 1–6 places, all or nothing, for the event's time to live: seats, the best available ones, places of tiers.

    The same key and digest give the same hold again, unextended, also after it expired.

    Raises:
        InvalidRequestError: members that make no sense (named), or an unusable key.
        SeatsTakenError, SeatOrphanedError: with every seat that was lost, and the nearest block like the wanted one.
        SeatUnknownError, TierUnknownError, EventNotFoundError, EventNotOnSaleError, KeyReusedError: as they say.
        NoBlockLeftError, TierSoldOutError, TierInHoldsError: as they say.
        OpenHoldExistsError, AccountLimitError, AccessCodeRefusedError: the caller's limits (R8).
        HouseHoldNotFoundError: the house keeps none of these seats back under that id.
        BusyError, AuthorityAwayError: send the same key again later.
    """
    wish = HoldWish(seats, **more)
    check_wish(caller, wish)
    use = key_use(key, digest)
    if not 0 <= event_id <= MAX_EVENT_ID:
        raise EventNotFoundError("There is no such event.")
    ask = ask_of(caller, event_id, wish, use)
    if wish.best_available is not None:
        return await hold_best(db, ask, wish.best_available)
    try:
        if wish.tiers:
            return await (hold_mixed if wish.seats else hold_places)(db, ask, wish.tiers)
        return await outcome_of(db, await db.decide_hold(ask))
    except (SeatsTakenError, SeatOrphanedError) as error:
        error.offer = await offer_for(db, ask, error)
        raise


async def read_hold(db: Database, caller: Caller, hold_id: UUID) -> Hold:
    """A hold as it stands now.

    Raises:
        HoldNotFoundError: there is none that the caller may see.
    """
    row = await db.fetchrow(query("read_hold"), hold_id)
    if row is None or not (caller.sees_all or row["principal"] == caller.principal):
        raise HoldNotFoundError("There is no such hold.")
    return await _read(db, row)


async def release_hold(db: Database, caller: Caller, hold_id: UUID, *, key: str, digest: bytes) -> Outcome[Hold]:
    """Free the seats of a hold. A hold that ended before is left as it ended.

    Raises:
        HoldNotFoundError: there is none that the caller may release.
        HoldNotOpenError: it is being paid, or sold: cancel the order instead.
        KeyReusedError: the key was spent on another hold.
    """
    answer = await sale_calls.release_hold(db, caller, hold_id, key_use(key, digest))
    await raise_refusal(db, answer, None)
    row = await db.fetchrow(query("read_hold"), hold_id)
    if row is None:
        raise HoldNotFoundError("There is no such hold.")
    return Outcome(await _read(db, row), answer.replayed)


async def _read(db: Database, row: Record) -> Hold:
    labels = await db.seat_labels.refs(row["plan_id"], row["plan_version"], row["seats"])
    hold = HoldRow(
        hold_id=row["hold_id"],
        event_id=row["event_id"],
        status=row["status"],
        seats=tuple(row["seats"]),
        expires_at=row["expires_at"],
        grace_used=row["grace_used"],
        order_id=row["order_id"],
        created_at=row["created_at"],
    )
    if not row["places"]:
        return hold_of(hold, labels, row["server_time"])
    return hold_of(hold, labels, row["server_time"], await places_of_hold(db, row["hold_id"]))
