"""What the database decided about a hold, in the words of the box office."""

from __future__ import annotations

from datetime import datetime

from booking.domain.model import EventId, HeldPlaces, Hold, HoldId, OrderId, SeatRef
from booking.domain.replay import Outcome
from booking.domain.states import HoldStatus
from booking.services.refusals import refusal
from booking.store.database import Database
from booking.store.hold_lane import HoldRow, HoldVerdict


async def outcome_of(db: Database, verdict: HoldVerdict, places: tuple[HeldPlaces, ...] = ()) -> Outcome[Hold]:
    """The hold of a verdict, its seats as people name them.

    Raises:
        BookingError: what the verdict refuses, naming the seats that it is about.
    """
    labels: tuple[SeatRef, ...] = ()
    numbers = verdict.hold.seats if verdict.hold is not None else verdict.lost
    if verdict.plan_id is not None and verdict.plan_version is not None:
        labels = await db.seat_labels.refs(verdict.plan_id, verdict.plan_version, numbers)
    if verdict.hold is None:
        raise refusal(verdict.code, labels)
    return Outcome(hold_of(verdict.hold, labels, verdict.server_time, places), verdict.replayed)


def hold_of(
    row: HoldRow, labels: tuple[SeatRef, ...], server_time: datetime, places: tuple[HeldPlaces, ...] = ()
) -> Hold:
    """A hold as of `server_time`: one past its deadline reads EXPIRED, swept or not."""
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
        places=places,
    )
