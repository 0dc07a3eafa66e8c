"""One seat as the database has it, in one statement: one instant, one round trip."""

from __future__ import annotations

import msgspec

from booking.domain.control import HouseHoldKind
from booking.domain.model import EventId, SeatRef
from booking.domain.seat_detail import (
    SeatActor,
    SeatActorKind,
    SeatDetail,
    SeatHistoryItem,
    SeatHouseHold,
    SeatPrice,
    SeatStatus,
)
from booking.domain.states import OrderStatus, TicketStatus
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database

HISTORY_LIMIT = 200
"""Items of a seat's history that are answered, the newest."""
_STATUSES = tuple(SeatStatus)


async def read_seat_detail(db: Database, event_id: int, seat_no: int, limit: int = HISTORY_LIMIT) -> SeatDetail | None:
    """A seat with its history; None when the event, or its plan, has none of that number."""
    row = await db.fetchrow(query("read_seat_detail"), event_id, seat_no, limit)
    return None if row is None else _detail(row, seat_no, limit)


def _detail(row: Record, seat_no: int, limit: int) -> SeatDetail:
    status = SeatStatus.AVAILABLE if row["is_free"] else _STATUSES[row["status"]]
    held = status is SeatStatus.HELD
    ordered = status in (SeatStatus.PAYING, SeatStatus.SOLD)
    history = msgspec.json.decode(row["history"], type=tuple[SeatHistoryItem, ...])
    house = _house_hold(row) if status is SeatStatus.BLOCKED else None
    since = {
        SeatStatus.HELD: row["held_at"],
        SeatStatus.PAYING: row["ordered_at"],
        SeatStatus.SOLD: row["confirmed_at"],
        SeatStatus.BLOCKED: row["kept_at"],
    }
    return SeatDetail(
        event_id=EventId(row["event_id"]),
        seat=SeatRef(seat_no, row["section"], row["row_label"], row["number"], row["row_kind"]),
        category_no=row["category_no"],
        category_name=row["category_name"],
        currency=row["currency"],
        prices=msgspec.json.decode(row["prices"], type=tuple[SeatPrice, ...]),
        flags=row["flags"],
        status=status,
        printed=row["printed"],
        used=row["used"],
        held_by=_actor(row["order_actor"] if ordered else row["hold_actor"] if held else None, house),
        since=since.get(status),
        until=None if status is SeatStatus.AVAILABLE else row["until"],
        hold_id=row["hold_id"] if held or ordered else None,
        order_id=row["order_id"] if ordered else None,
        order_number=row["order_number"] or "" if ordered else "",
        order_status=OrderStatus(row["order_status"]) if ordered else None,
        amount_minor=row["amount_minor"] if ordered else None,
        price_type_name=row["price_type_name"] if ordered else "",
        ticket_status=TicketStatus(row["ticket_status"]) if row["ticket_status"] is not None and ordered else None,
        house_hold=house,
        history=history[-limit:],
        history_complete=len(history) <= limit,
        server_time=row["server_time"],
    )


def _actor(told: str | None, house: SeatHouseHold | None) -> SeatActor | None:
    if house is not None:
        return SeatActor(SeatActorKind.HOUSE, house.created_by)
    return None if told is None else msgspec.json.decode(told, type=SeatActor)


def _house_hold(row: Record) -> SeatHouseHold | None:
    if row["house_hold_id"] is None:
        return None
    return SeatHouseHold(
        house_hold_id=row["house_hold_id"],
        kind=HouseHoldKind(row["house_kind"]),
        reason=row["house_reason"],
        release_at=row["release_at"],
        created_at=row["kept_at"],
        created_by=row["kept_by"],
    )
