"""Hold seats, read and release holds (R3–R9)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.errors import EventNotFoundError, FieldFault, HoldNotFoundError, InvalidRequestError
from booking.domain.model import MAX_SEAT_NO, MAX_SEATS_PER_HOLD, EventId, Hold, HoldId, OrderId, SeatRef
from booking.domain.replay import Outcome
from booking.domain.states import HoldStatus
from booking.services.read_events import MAX_EVENT_ID
from booking.services.refusals import key_use, raise_refusal, refusal
from booking.sql import query
from booking.store import sale_calls
from booking.store.connection import Record
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk, HoldRow


async def hold_seats(
    db: Database, caller: Caller, event_id: int, seats: Sequence[int], *, key: str, digest: bytes
) -> Outcome[Hold]:
    """Hold 1–6 seats, all or nothing, for the event's time to live.

    The same key and digest give the same hold again, unextended, also after it expired.

    Raises:
        InvalidRequestError: not 1–6 distinct seat numbers, or an unusable key.
        SeatsTakenError: with every seat that was lost.
        SeatUnknownError, EventNotFoundError, EventNotOnSaleError, KeyReusedError: as they say.
        OpenHoldExistsError, AccountLimitError: the caller's limits (R8).
        BusyError, AuthorityAwayError: send the same key again later.
    """
    _check_seats(seats)
    use = key_use(key, digest)
    if not 0 <= event_id <= MAX_EVENT_ID:
        raise EventNotFoundError("There is no such event.")
    ask = HoldAsk(
        event_id=event_id,
        principal=caller.principal,
        channel=caller.channel,
        key=use.key,
        digest=use.digest,
        hold_id=uuid7(),
        device_id=caller.device_id,
        staff_id=caller.staff_id,
        seats=tuple(sorted(seats)),
    )
    verdict = await db.decide_hold(ask)
    labels: tuple[SeatRef, ...] = ()
    numbers = verdict.hold.seats if verdict.hold is not None else verdict.lost
    if verdict.plan_id is not None and verdict.plan_version is not None:
        labels = await db.seat_labels.refs(verdict.plan_id, verdict.plan_version, numbers)
    if verdict.hold is None:
        raise refusal(verdict.code, labels)
    return Outcome(_hold_of(verdict.hold, labels, verdict.server_time), verdict.replayed)


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
    return _hold_of(hold, labels, row["server_time"])


def _hold_of(row: HoldRow, labels: tuple[SeatRef, ...], server_time: datetime) -> Hold:
    status = HoldStatus(row.status)
    if status is HoldStatus.HELD and server_time >= row.expires_at:
        status = HoldStatus.EXPIRED
    return Hold(
        hold_id=HoldId(row.hold_id),
        event_id=EventId(row.event_id),
        status=status,
        seats=labels,
        expires_at=row.expires_at,
        grace_used=row.grace_used,
        order_id=None if row.order_id is None else OrderId(row.order_id),
        created_at=row.created_at,
        server_time=server_time,
    )


def _check_seats(seats: Sequence[int]) -> None:
    """Whole numbers only: a bool, a float or a text that looks like one is refused (B18)."""
    faults: list[FieldFault] = []
    if not 1 <= len(seats) <= MAX_SEATS_PER_HOLD:
        faults.append(FieldFault("/seats", f"1 to {MAX_SEATS_PER_HOLD} seats"))
    for index, seat in enumerate(seats[: MAX_SEATS_PER_HOLD + 1]):
        if type(seat) is not int or not 0 <= seat <= MAX_SEAT_NO:
            faults.append(FieldFault(f"/seats/{index}", f"a whole number from 0 to {MAX_SEAT_NO}"))
    if not faults and len(set(seats)) != len(seats):
        faults.append(FieldFault("/seats", "each seat once"))
    if faults:
        raise InvalidRequestError("These are not seats that can be held together.", fields=tuple(faults))
