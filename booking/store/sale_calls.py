"""The sale steps of the database: one function for each, its refusals raised as domain errors by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.model import CheckoutLine, CheckoutPlaces, OperationResult, PaymentIntent
from booking.sql import query
from booking.store.database import Database
from booking.store.sale_lanes import SaleAnswer, sale_ask
from booking.store.violations import domain_errors


@dataclass(frozen=True, slots=True)
class KeyUse:
    """An idempotency key and the digest of the request that it is spent on."""

    key: str
    digest: bytes


async def release_hold(db: Database, caller: Caller, hold_id: UUID, use: KeyUse) -> SaleAnswer:
    """HELD → RELEASED. Nothing happens to a hold that has ended."""
    return SaleAnswer.of(
        await db.call(query("release_hold"), caller.principal, caller.acts_for_all, hold_id, use.key, use.digest)
    )


async def check_out(
    db: Database,
    caller: Caller,
    hold_id: UUID,
    lines: Sequence[CheckoutLine],
    shown_total: int,
    number: str,
    use: KeyUse,
    places: Sequence[CheckoutPlaces] = (),
) -> SaleAnswer:
    """Hold → order; the new order is `result_id`."""
    order_id = uuid7()
    arguments: dict[str, object] = {
        "principal": caller.principal, "acts_for_all": caller.acts_for_all, "hold_id": hold_id, "order_id": order_id,
        "number": number, "staff_id": caller.staff_id, "seats": [line.seat_no for line in lines],
        "price_types": [line.price_type_id for line in lines], "shown_total": shown_total, "key": use.key,
        "tiers": [line.tier_id for line in places], "tier_types": [line.price_type_id for line in places],
        "quantities": [line.quantity for line in places],
    }  # fmt: skip
    with domain_errors():
        ask = sale_ask(hold_id, arguments, digest=use.digest, makes=order_id)
    return await db.check_outs.decide(ask)


async def open_payment(
    db: Database, caller: Caller, order_id: UUID, intent: PaymentIntent, use: KeyUse, countable: str | None = None
) -> SaleAnswer:
    """A payment operation for the order; cash confirms at once. `result_id` is the operation.

    `countable`: what the provider can count, as `why_not_countable` reads it; None where nobody counts but us.
    """
    operation_id = uuid7()
    arguments: dict[str, object] = {
        "principal": caller.principal, "acts_for_all": caller.acts_for_all, "order_id": order_id,
        "operation_id": operation_id, "kind": intent.kind, "provider": intent.provider, "device_id": caller.device_id,
        "amount": intent.amount_minor, "tendered": intent.tendered_minor, "payment_method": intent.payment_method,
        "key": use.key,
    }  # fmt: skip
    # What most payments do not have is left out: a lane reads as much JSON as it is given.
    if countable is not None:
        arguments["countable"] = countable
    if intent.in_parts:
        arguments |= {"in_parts": True, "spare": [uuid7(), uuid7()]}
    if intent.instead_of is not None:
        arguments["instead_of"] = intent.instead_of
    with domain_errors():
        ask = sale_ask(order_id, arguments, digest=use.digest, makes=operation_id)
    return await db.payments.decide(ask)


async def seen_payment(db: Database, caller: Caller, order_id: UUID, use: KeyUse) -> SaleAnswer | None:
    """What a payment's key answered before; None when it is new."""
    rows = await db.fetch(query("seen_payment"), caller.principal, use.key, use.digest, order_id)
    return SaleAnswer.of(rows) if rows else None


async def mark_sent(db: Database, operation_id: UUID) -> bool:
    """CREATED → SENT. Not for repeating: the second time it says that somebody has sent it."""
    return await db.sendings.decide(operation_id)


async def withdraw_payment(db: Database, operation_id: UUID) -> bool:
    """Mark an authorization as called off. True: its provider is to be asked to close it. Safe to repeat."""
    told: str = (await db.call(query("withdraw_payment"), operation_id))[0]["told"]
    return told == "asked"


@dataclass(frozen=True, slots=True)
class Teller:
    """Who says what became of an operation: `source`, the till's device, and the key that the till spends on it."""

    source: str
    device_id: UUID | None = None
    principal: str | None = None
    use: KeyUse | None = None


async def record_result(db: Database, operation_id: UUID, result: OperationResult, teller: Teller) -> SaleAnswer:
    """The database decides whether this teller may speak of this operation."""
    key, digest = (teller.use.key, teller.use.digest) if teller.use else (None, None)
    arguments: dict[str, object] = {
        "operation_id": operation_id, "device_id": teller.device_id, "outcome": result.outcome,
        "amount": result.amount_minor, "provider_ref": result.provider_ref, "decline_code": result.decline_code,
        "card_brand": result.card_brand, "next_action": result.next_action, "evidence": result.evidence,
        "source": teller.source, "spare": [uuid7(), uuid7()], "principal": teller.principal, "key": key,
        "card_fingerprint": result.card_fingerprint,
    }  # fmt: skip
    if result.expires_at is not None:
        arguments["expires_at"] = result.expires_at
    with domain_errors():
        ask = sale_ask(operation_id, arguments, digest=digest)
    return await db.results.decide(ask)


async def claim_due_operations(db: Database, limit: int) -> list[UUID]:
    """Operations to send or to ask about, each claimed for a while by this call."""
    async with db.transaction() as connection:
        rows = await connection.fetch(query("claim_due_operations"), limit)
    return [row["operation_id"] for row in rows]


async def note_silent_devices(db: Database, limit: int) -> int:
    """Open a reconciliation item for each terminal payment that nobody reported in time. Returns how many."""
    rows = await db.call(query("note_silent_devices"), [uuid7() for _ in range(limit)])
    noted: int = rows[0]["noted"]
    return noted


async def note_overdue_captures(db: Database, limit: int) -> int:
    """Open a reconciliation item for each capture that has been open too long. Returns how many."""
    rows = await db.call(query("note_overdue_captures"), [uuid7() for _ in range(limit)])
    noted: int = rows[0]["noted"]
    return noted


async def cancel_order(
    db: Database, caller: Caller, order_id: UUID, reason: str, *, keep_seats: bool, use: KeyUse | None
) -> SaleAnswer:
    """PENDING → CANCELLED."""
    key, digest = (use.key, use.digest) if use else (None, None)
    return SaleAnswer.of(
        await db.call(
            query("cancel_order"), caller.principal, caller.acts_for_all, order_id, reason, keep_seats, key, digest
        )
    )


async def open_print_job(
    db: Database, caller: Caller, order_id: UUID, ticket_ids: Sequence[UUID], printer: str, use: KeyUse
) -> SaleAnswer:
    """A print job for tickets of the order; `result_id` is the job."""
    return SaleAnswer.of(
        await db.call(
            query("open_print_job"), caller.principal, caller.acts_for_all, order_id, uuid7(), list(ticket_ids),
            printer, caller.device_id, use.key, use.digest,
        )
    )  # fmt: skip


async def report_print_job(
    db: Database, caller: Caller, print_job_id: UUID, status: str, detail: str, use: KeyUse
) -> SaleAnswer:
    """What became of a print job."""
    return SaleAnswer.of(
        await db.call(
            query("report_print_job"), caller.principal, caller.acts_for_all, print_job_id, status, detail, use.key,
            use.digest,
        )
    )  # fmt: skip
