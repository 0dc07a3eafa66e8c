"""Orders and payment operations as the database has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from booking.domain.model import (
    EventId,
    HoldId,
    OperationId,
    Order,
    OrderId,
    OrderLine,
    OrderPlaces,
    PaymentOperation,
)
from booking.domain.states import OperationKind, OperationStatus, OrderStatus
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database


class _Line(msgspec.Struct, array_like=True, frozen=True):
    seat_no: int
    price_type_id: int
    price_type_name: str
    amount_minor: int


class _Places(msgspec.Struct, array_like=True, frozen=True):
    tier_id: int
    price_type_id: int
    price_type_name: str
    quantity: int
    amount_minor: int


class _Picture(msgspec.Struct, frozen=True):
    """What `orders_as_json` tells of an order."""

    order_id: OrderId
    event_id: EventId
    number: str
    status: OrderStatus
    amount_minor: int
    currency: str
    price_version: int
    created_at: datetime
    server_time: datetime
    plan_id: UUID
    plan_version: int
    pay_until: datetime | None
    hold_ids: tuple[HoldId, ...]
    lines: tuple[_Line, ...]
    operations: tuple[PaymentOperation, ...]
    places: tuple[_Places, ...]
    paid_minor: int


_decoder = msgspec.json.Decoder(_Picture)


async def read_order(db: Database, order_id: UUID) -> tuple[Order, str] | None:
    """An order and the principal it belongs to; reads of one moment share a round trip."""
    found = await db.order_reads.decide(order_id)
    if found.picture is None or found.principal is None:
        return None
    return await order_of(db, found.picture), found.principal


async def order_of(db: Database, picture: str) -> Order:
    """The order that a row of `orders_as_json` shows, its seats with their labels."""
    shown = _decoder.decode(picture)
    refs = await db.seat_labels.refs(shown.plan_id, shown.plan_version, [line.seat_no for line in shown.lines])
    return Order(
        order_id=shown.order_id,
        event_id=shown.event_id,
        number=shown.number,
        status=shown.status,
        amount_minor=shown.amount_minor,
        currency=shown.currency,
        price_version=shown.price_version,
        lines=tuple(
            OrderLine(seat, line.price_type_id, line.price_type_name, line.amount_minor)
            for seat, line in zip(refs, shown.lines, strict=True)
        ),
        hold_ids=shown.hold_ids,
        operations=shown.operations,
        pay_until=shown.pay_until,
        created_at=shown.created_at,
        server_time=shown.server_time,
        places=await _places_of(db, shown),
        paid_minor=shown.paid_minor,
    )


async def _places_of(db: Database, shown: _Picture) -> tuple[OrderPlaces, ...]:
    if not shown.places:
        return ()
    names = await db.tier_names.of(shown.event_id, (line.tier_id for line in shown.places))
    return tuple(
        OrderPlaces(line.tier_id, tier.name, line.price_type_id, line.price_type_name, line.quantity, line.amount_minor)
        for line, tier in zip(shown.places, names, strict=True)
    )


async def read_operations(db: Database, operation_ids: Sequence[UUID]) -> list[PaymentOperation]:
    """Operations in the order of their creation; those that do not exist are left out."""
    return [operation_of(row) for row in await db.fetch(query("read_operations"), list(operation_ids))]


def operation_of(row: Record) -> PaymentOperation:
    """A row of `payment_operations`."""
    return PaymentOperation(
        operation_id=OperationId(row["operation_id"]),
        order_id=OrderId(row["order_id"]),
        part=row["part"],
        kind=OperationKind(row["kind"]),
        status=OperationStatus(row["status"]),
        provider=row["provider"],
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        device_id=row["device_id"],
        provider_ref=row["provider_ref"],
        decline_code=row["decline_code"],
        next_action=row["next_action"],
        tendered_minor=row["tendered_minor"],
        change_minor=row["change_minor"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        parent_id=row["parent_id"],
        idempotency_key=row["idempotency_key"],
        payment_method=row["payment_method"],
        attempts=row["attempts"],
        card_brand=row["card_brand"],
        void_requested=row["void_requested"],
    )
