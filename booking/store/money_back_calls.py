"""Money that goes back: one SQL function for each act, and what people read before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.model import OperationId, Order
from booking.domain.money_back import CancelWish, RefundableCharge, RefundWish
from booking.domain.states import OperationKind
from booking.sql import query
from booking.store import order_queries
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer

MOST_CHARGES = 8
"""Parts that an order may be paid in, and so operations that one act may open."""


async def refund_tickets(db: Database, caller: Caller, order_id: UUID, wish: RefundWish, use: KeyUse) -> SaleAnswer:
    """The act is `result_id`; its operations are CREATED (a provider's), SENT (a till's) or decided (cash)."""
    return SaleAnswer.of(
        await db.call(
            query("refund_tickets"), caller.principal, caller.acts_for_all, caller.acts_for_all, caller.device_id,
            caller.staff_id, caller.display_name or caller.principal, order_id, uuid7(), uuid7(),
            list(wish.ticket_ids), wish.way, wish.expected_minor, wish.seats_to_sale, wish.reason,
            [uuid7() for _ in range(MOST_CHARGES)], use.key, use.digest,
        )
    )  # fmt: skip


async def cancel_tickets(db: Database, caller: Caller, order_id: UUID, wish: CancelWish, use: KeyUse) -> SaleAnswer:
    """The act is `result_id`."""
    return SaleAnswer.of(
        await db.call(
            query("cancel_tickets"), caller.principal, caller.acts_for_all, caller.acts_for_all, caller.device_id,
            caller.staff_id, caller.display_name or caller.principal, order_id, uuid7(), uuid7(),
            list(wish.ticket_ids), wish.seats_to_sale, wish.reason, use.key, use.digest,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredAct:
    """Which operations and tickets an act is about."""

    operation_ids: tuple[UUID, ...]
    ticket_ids: tuple[UUID, ...]


async def read_act(db: Database, money_back_id: UUID) -> StoredAct:
    """Raises LookupError: there is none."""
    row = await db.fetchrow(query("read_money_back"), money_back_id)
    if row is None:
        raise LookupError(f"there is no act {money_back_id}")
    return StoredAct(tuple(row["operations"]), tuple(row["tickets"]))


@dataclass(frozen=True, slots=True)
class Refundable:
    """An order, whose it is, what of its money can go back, and how much of it has gone, or is on its way."""

    order: Order
    principal: str
    charges: tuple[RefundableCharge, ...]
    gone_minor: int
    clerk_limit_minor: int
    why_not: dict[UUID, str]


class _Charge(msgspec.Struct, array_like=True, frozen=True):
    operation_id: OperationId
    kind: OperationKind
    provider: str
    card_brand: str
    charged: int
    refunded: int
    pending: int
    refundable: int


_charges = msgspec.json.Decoder(tuple[_Charge, ...])
_reasons = msgspec.json.Decoder(dict[UUID, str])


async def read_refundable(db: Database, order_id: UUID, *, leads: bool) -> Refundable | None:
    """One look at everything; None without such an order. `leads`: as a supervisor sees it."""
    row = await db.fetchrow(query("read_refundable"), order_id, leads)
    if row is None:
        return None
    charges = tuple(
        RefundableCharge(
            one.operation_id, one.kind, one.provider, one.card_brand, one.charged, one.refunded, one.pending,
            one.refundable,
        )
        for one in _charges.decode(row["charges"])
    )  # fmt: skip
    return Refundable(
        order=await order_queries.order_of(db, row["picture"]),
        principal=row["principal"],
        charges=charges,
        gone_minor=sum(one.refunded_minor + one.pending_minor for one in charges),
        clerk_limit_minor=row["clerk_limit"],
        why_not=_reasons.decode(row["why_not"]),
    )


async def plan_of_order(db: Database, order_id: UUID) -> tuple[UUID, int] | None:
    """Where the labels of an order's seats are."""
    row = await db.fetchrow(query("read_plan_of_order"), order_id)
    return None if row is None else (row["plan_id"], row["plan_version"])
