"""What the tests of money that goes back share: tickets of a sale, refunds, providers' words, counted money."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from booking.domain.caller import Caller
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemWish
from booking.domain.model import (
    OperationResult,
    Order,
    PaymentIntent,
    PaymentOperation,
    PaymentStep,
    ResultOutcome,
    Ticket,
)
from booking.domain.money_back import CancelWish, RefundStep, RefundWay, RefundWish
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind, OperationStatus
from booking.services import issue_tickets, item_actions, money_back, orders, take_payment
from booking.services.tickets import tickets_of_order
from booking.store.database import Database
from tests.server.box_office import Desk, digest_of


async def issued(db: Database, caller: Caller, order_id: UUID) -> tuple[Ticket, ...]:
    """The tickets of an order, issued now."""
    await issue_tickets.issue_for(db, [order_id])
    return (await tickets_of_order(db, caller, order_id)).tickets


async def refund(
    db: Database,
    caller: Caller,
    order_id: UUID,
    tickets: Sequence[Ticket],
    *,
    way: RefundWay = RefundWay.SAME,
    expected: int | None = None,
    seats_to_sale: bool = True,
    key: str | None = None,
) -> Outcome[RefundStep]:
    """Give the money of these tickets back, under a key of its own unless one is given."""
    expected = sum(one.amount_minor for one in tickets) if expected is None else expected
    wish = RefundWish(tuple(one.ticket_id for one in tickets), way, expected, seats_to_sale, "the customer asked")
    return await money_back.open_refund(db, caller, order_id, wish, key=key or str(uuid4()), digest=digest_of(wish))


async def call_off(
    db: Database, caller: Caller, order_id: UUID, tickets: Sequence[Ticket], *, seats_to_sale: bool = True,
    key: str | None = None,
) -> Outcome[RefundStep]:  # fmt: skip
    """Make these tickets void, and move no money."""
    wish = CancelWish(tuple(one.ticket_id for one in tickets), seats_to_sale, "the customer asked")
    return await money_back.cancel_tickets(db, caller, order_id, wish, key=key or str(uuid4()), digest=digest_of(wish))


async def take_back(db: Database, leader: Caller, *, version: int | None = None, key: str = "take back") -> Order:
    """Take back the order of the one item about a failed capture, by its newest version or the one that was seen."""
    (row,) = await db.fetch("SELECT item_id, order_id, version FROM reconciliation_items WHERE kind = 'capture-failed'")
    wish = ItemWish(ItemAction.TAKE_BACK, row["version"] if version is None else version, "never paid")
    await item_actions.act_on_item(db, leader, row["item_id"], wish, key=key, digest=digest_of(wish))
    return await order_now(db, row["order_id"])


async def provider_says(
    db: Database, operation: PaymentOperation, outcome: ResultOutcome = ResultOutcome.SUCCEEDED, *,
    card: str = "", code: str = "",
) -> Order:  # fmt: skip
    """Send an operation to its provider and record what that said."""
    if operation.status is OperationStatus.CREATED:
        assert await take_payment.mark_sent(db, operation.operation_id)
    amount = operation.amount_minor if outcome is ResultOutcome.SUCCEEDED else 0
    result = OperationResult(outcome, amount, operation.provider_ref or "ch_1", code, card_fingerprint=card)
    step = await take_payment.record_result(db, operation.operation_id, result, source=f"provider:{operation.provider}")
    return step.order


async def captured(db: Database, charge: PaymentOperation, *, card: str = "") -> Order:
    """An authorization that its provider grants and captures."""
    order = await provider_says(db, charge, card=card)
    return await provider_says(db, follow_up(order, charge.operation_id))


def follow_up(order: Order, charge_id: UUID, kind: OperationKind = OperationKind.CAPTURE) -> PaymentOperation:
    """The one operation of a kind that belongs to a charge."""
    (found,) = (one for one in order.operations if one.parent_id == charge_id and one.kind is kind)
    return found


async def order_now(db: Database, order_id: UUID) -> Order:
    """An order as it stands."""
    return await orders.order_as_it_stands(db, order_id)


async def items(db: Database) -> list[tuple[str, UUID]]:
    """Kind and operation of the items that are open, oldest first."""
    rows = await db.fetch(
        "SELECT kind, operation_id FROM reconciliation_items WHERE resolved_at IS NULL ORDER BY opened_at, kind"
    )
    return [(row["kind"], row["operation_id"]) for row in rows]


async def pay_part(
    desk: Desk, order: Order, kind: OperationKind, amount: int, *, in_parts: bool = True,
    instead_of: UUID | None = None, key: str | None = None,
) -> PaymentStep:  # fmt: skip
    """Pay a part of an order, or, without `in_parts`, all that is left of it."""
    cash = kind is OperationKind.CASH
    provider = "drawer" if cash else "zvt" if kind is OperationKind.SALE else "sandbox"
    intent = PaymentIntent(kind, provider, amount, amount if cash else None, in_parts=in_parts, instead_of=instead_of)
    outcome = await take_payment.open_payment(
        desk.db, desk.caller, order.order_id, intent, key=key or str(uuid4()), digest=digest_of(intent)
    )
    return outcome.value
