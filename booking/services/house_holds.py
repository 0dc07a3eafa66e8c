"""Seats that the house keeps back: for whom, why, and until when (R9).

They return to sale at their release time by themselves: a hold that comes after it takes them in its own transaction,
whether the sweeper has tidied or not (R5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.control import MAX_HOUSE_SEATS, HouseHold, HouseHoldKind, HouseHoldList, HouseWish
from booking.domain.errors import (
    EventNotFoundError,
    FieldFault,
    HouseHoldNotFoundError,
    InvalidRequestError,
    SeatUnknownError,
)
from booking.domain.model import MAX_SEAT_NO, EventId
from booking.domain.replay import Outcome
from booking.domain.text import is_sane_instant, storable_texts
from booking.services.read_events import MAX_EVENT_ID
from booking.services.refusals import key_use, raise_refusal
from booking.store import control_calls
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer


async def keep_seats_back(
    db: Database, caller: Caller, event_id: int, wish: HouseWish, *, key: str, digest: bytes
) -> Outcome[HouseHold]:
    """Keep free seats back for the house, all or nothing; seats of holds that have expired are free.

    Raises:
        InvalidRequestError: not 1–2,000 distinct seats, a release time that is past or strange, an unusable text.
        SeatsTakenError: with every seat that is not free.
        SeatUnknownError: with every seat that the plan has not.
        EventNotFoundError, KeyReusedError: as they say.
        EventStateConflictError: the event is cancelled.
        BusyError, AuthorityAwayError: send the same key again later.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": wish.reason})
    _check(wish.seats, wish.release_at)
    plan = await _plan_of(db, event_id)
    answer = await control_calls.keep_seats_back(db, caller, event_id, replace(wish, reason=reason), use)
    if answer.code == "invalid-request":
        raise InvalidRequestError(
            "Seats cannot be kept back until then.", fields=(FieldFault("/release_at", "must lie in the future"),)
        )
    await raise_refusal(db, answer, plan)
    return Outcome(await _read(db, _made(answer)), answer.replayed)


async def release_house_hold(
    db: Database, caller: Caller, house_hold_id: UUID, seats: Sequence[int], reason: str, *, key: str, digest: bytes
) -> Outcome[HouseHold]:
    """Give these seats of a house hold back to sale, or all of them. One that has ended is left as it ended.

    Raises:
        InvalidRequestError: more than 2,000 seats, or one named twice.
        HouseHoldNotFoundError: there is none.
        SeatUnknownError: with every seat that it does not keep.
        KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    if seats:
        _check(seats, None)
    row = await _row(db, house_hold_id)
    answer = await control_calls.release_house_hold(db, caller, house_hold_id, sorted(seats), reason, use)
    if answer.code == "seat-unknown":
        labels = await db.seat_labels.refs(row["plan_id"], row["plan_version"], answer.seats)
        raise SeatUnknownError("The house hold does not keep these seats.", seats=labels)
    await raise_refusal(db, answer, None)
    return Outcome(await _read(db, house_hold_id), answer.replayed)


async def list_house_holds(db: Database, event_id: int) -> HouseHoldList:
    """All house holds of an event, oldest first, with the seats that each still keeps.

    Raises:
        EventNotFoundError: there is no such event.
    """
    event = await _event(db, event_id)
    rows = await control_calls.list_house_holds(db, event_id=event_id)
    return HouseHoldList(EventId(event_id), tuple([await _house_hold(db, row) for row in rows]), event["server_time"])


def _check(seats: Sequence[int], release_at: datetime | None) -> None:
    faults: list[FieldFault] = []
    if not 1 <= len(seats) <= MAX_HOUSE_SEATS:
        faults.append(FieldFault("/seats", f"1 to {MAX_HOUSE_SEATS} seats"))
    elif any(type(seat) is not int or not 0 <= seat <= MAX_SEAT_NO for seat in seats):
        faults.append(FieldFault("/seats", f"whole numbers from 0 to {MAX_SEAT_NO}"))
    elif len(set(seats)) != len(seats):
        faults.append(FieldFault("/seats", "each seat once"))
    if release_at is not None and not is_sane_instant(release_at):
        faults.append(FieldFault("/release_at", "must be an instant with an offset, from 2000 to 2099"))
    if faults:
        raise InvalidRequestError("Seats cannot be kept back like this.", fields=tuple(faults))


async def _event(db: Database, event_id: int) -> Record:
    row = await control_calls.read_event_plan(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else None
    if row is None:
        raise EventNotFoundError("There is no such event.")
    return row


async def _plan_of(db: Database, event_id: int) -> tuple[UUID, int]:
    row = await _event(db, event_id)
    return row["plan_id"], row["plan_version"]


async def _row(db: Database, house_hold_id: UUID) -> Record:
    rows = await control_calls.list_house_holds(db, house_hold_id=house_hold_id)
    if not rows:
        raise HouseHoldNotFoundError("There is no such house hold.")
    return rows[0]


async def _read(db: Database, house_hold_id: UUID) -> HouseHold:
    return await _house_hold(db, await _row(db, house_hold_id))


async def _house_hold(db: Database, row: Record) -> HouseHold:
    return HouseHold(
        house_hold_id=row["house_hold_id"],
        event_id=EventId(row["event_id"]),
        kind=HouseHoldKind(row["kind"]),
        reason=row["reason"],
        seats=await db.seat_labels.refs(row["plan_id"], row["plan_version"], row["seats"]),
        release_at=row["release_at"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        released_at=row["released_at"],
    )


def _made(answer: SaleAnswer) -> UUID:
    if answer.result_id is None:
        raise RuntimeError("keep_seats_back answered without a house hold")
    return answer.result_id
