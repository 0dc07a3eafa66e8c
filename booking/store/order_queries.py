"""Orders and payment operations as the database has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

from booking.domain.model import (
    EventId,
    HoldId,
    OperationId,
    Order,
    OrderId,
    OrderLine,
    PaymentOperation,
)
from booking.domain.states import OperationKind, OperationStatus, OrderStatus
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database


async def read_orders(db: Database, order_ids: Sequence[UUID]) -> dict[UUID, tuple[Order, str]]:
    """Orders by id, each with the principal it belongs to; those that do not exist are left out."""
    # Operations first: an order is never older than what they tell of.
    operations = await db.fetch(query("read_operations_of_orders"), list(order_ids))
    rows = await db.fetch(query("read_order"), list(order_ids))
    by_order: dict[UUID, list[PaymentOperation]] = {order_id: [] for order_id in order_ids}
    for row in operations:
        by_order[row["order_id"]].append(operation_of(row))
    return {row["order_id"]: (_order_of(row, by_order[row["order_id"]]), row["principal"]) for row in rows}


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
    )


def _order_of(row: Record, operations: Iterable[PaymentOperation]) -> Order:
    return Order(
        order_id=OrderId(row["order_id"]),
        event_id=EventId(row["event_id"]),
        number=row["number"],
        status=OrderStatus(row["status"]),
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        price_version=row["price_version"],
        lines=msgspec.json.decode(row["lines"], type=tuple[OrderLine, ...]),
        hold_ids=tuple(HoldId(hold_id) for hold_id in row["hold_ids"]),
        operations=tuple(operations),
        pay_until=row["pay_until"],
        created_at=row["created_at"],
        server_time=row["server_time"],
    )
