"""Two ledgers, one truth: the provider's own file and the terminal's own file against our operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from uuid import UUID

from app.devices.zvt.simulator.ledger import PAYMENT, Ledger
from booking.domain.model import PaymentOperation
from booking.domain.states import OperationKind, OperationStatus
from booking.payments.exponents import provider_amount
from booking.payments.sandbox_ledger import BY_HAND, ChargeStatus, Kind, Operation, SandboxLedger, Status
from booking.services.check_invariants import check
from booking.services.orders import order_as_it_stands
from booking.store.database import Database

EARLIER = 1
"""The trace of what the terminal booked before."""
_CHARGES = frozenset({OperationKind.AUTHORIZE, OperationKind.SALE, OperationKind.CASH})
_BACK = frozenset({OperationKind.VOID, OperationKind.REFUND})
_DEFINITE = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})
Row = tuple[str, str, int]


async def all_operations(db: Database) -> list[PaymentOperation]:
    """Every operation of every order, as it stands."""
    rows = await db.fetch("SELECT order_id FROM orders")
    found: list[PaymentOperation] = []
    for row in rows:
        found += (await order_as_it_stands(db, UUID(str(row["order_id"])))).operations
    return found


async def nothing_broken(dsn: str) -> None:
    """`booking check` finds nothing. The clock of these databases is a test's, and the check says so."""
    report = await check(dsn)
    assert [breach for breach in report.breaches if breach.rule != "clock-is-the-servers"] == []


def all_definite(operations: Iterable[PaymentOperation]) -> None:
    """Nothing is UNKNOWN, or on its way, or waits for anybody."""
    open_ones = [(one.kind.value, one.status.value) for one in operations if one.status not in _DEFINITE]
    assert open_ones == []


def same_as_provider(books: SandboxLedger, operations: Iterable[PaymentOperation]) -> None:
    """Operation for operation by its key: the same kinds and amounts succeeded there and here."""
    ours = [one for one in operations if one.provider == "sandbox"]
    here = {
        one.idempotency_key: (one.kind.value, provider_amount("sandbox", one.currency, one.amount_minor))
        for one in ours
        if one.status is OperationStatus.SUCCEEDED
    }
    there = {
        _key_of(key, one, here): (one.request.kind.value, one.request.amount)
        for key, one in books.operations.items()
        if one.status is Status.SUCCEEDED
    }
    there = {key: what for key, what in there.items() if key}
    assert there == here
    asked = {one.idempotency_key for one in ours}
    strangers = [key for key, one in books.operations.items() if key not in asked and not one.by_hand]
    assert strangers == [], "asked for under a key that is none of ours"
    waiting = [key for key, one in books.operations.items() if one.status is Status.ACTION_REQUIRED]
    assert waiting == []


def _key_of(key: str, one: Operation, here: Mapping[str, object]) -> str:
    """The key that it has here. What was done by hand has one only after a person attached it to an order."""
    if not one.by_hand:
        return key
    attached = f"attached:sandbox:{one.charge}" + (":capture" if one.request.kind is Kind.CAPTURE else "")
    return attached if attached in here and one.request.kind in (Kind.AUTHORIZE, Kind.CAPTURE) else ""


def same_as_terminal(state: Path, operations: Iterable[PaymentOperation]) -> None:
    """Booking for booking by its receipt: payments that stand are sales of ours, money back is back here."""
    ledger = Ledger.load(state)
    ours = [one for one in operations if one.provider == "zvt" and one.status is OperationStatus.SUCCEEDED]
    back_of = {one.parent_id for one in ours if one.kind is OperationKind.VOID or _is_reversal(one, ours)}
    here: list[Row] = []
    for one in ours:
        if one.kind is OperationKind.SALE and one.operation_id not in back_of:
            here.append(("payment", _receipt(one), one.amount_minor))
        elif one.kind is OperationKind.REFUND and not _is_reversal(one, ours):
            here.append(("refund", _receipt(one), one.amount_minor))
    there = [
        ("payment" if one.kind == PAYMENT else "refund", str(one.receipt_no), one.amount_minor)
        for one in ledger.bookings
        if one.stands and one.trace > EARLIER
    ]
    assert sorted(there) == sorted(here)


def _receipt(operation: PaymentOperation) -> str:
    return operation.provider_ref.split("/")[1] if operation.provider_ref.count("/") == 2 else ""


def _is_reversal(one: PaymentOperation, ours: list[PaymentOperation]) -> bool:
    """A refund that the terminal made by taking the booking back: it has the receipt of its charge."""
    charge = next((other for other in ours if other.operation_id == one.parent_id), None)
    return (
        one.kind is OperationKind.REFUND
        and charge is not None
        and _receipt(one) == _receipt(charge)
        and one.amount_minor == charge.amount_minor
    )


def one_charge_each(operations: Iterable[PaymentOperation]) -> dict[UUID, int]:
    """At most one charge of each part of an order took money that stayed. What stayed, by order."""
    everything = list(operations)
    back: dict[UUID | None, int] = defaultdict(int)
    captured = {one.parent_id for one in everything if one.kind is OperationKind.CAPTURE and _done(one)}
    for one in everything:
        if one.kind in _BACK and _done(one):
            back[one.parent_id] += one.amount_minor
    stayed: dict[tuple[UUID, int], list[int]] = defaultdict(list)
    for one in everything:
        took = one.kind is not OperationKind.AUTHORIZE or one.operation_id in captured
        if one.kind in _CHARGES and _done(one) and took:
            left = one.amount_minor - back[one.operation_id]
            assert left >= 0, "more went back than was taken"
            if left:
                stayed[one.order_id, one.part].append(left)
    doubled = {part: amounts for part, amounts in stayed.items() if len(amounts) > 1}
    assert doubled == {}
    by_order: dict[UUID, int] = defaultdict(int)
    for (order_id, _), amounts in stayed.items():
        by_order[order_id] += sum(amounts)
    return dict(by_order)


def _done(operation: PaymentOperation) -> bool:
    return operation.status is OperationStatus.SUCCEEDED


def one_charge_at_provider(books: SandboxLedger, operations: Iterable[PaymentOperation]) -> None:
    """As `one_charge_each`, by the provider's books alone: money there for a part of an order is there once."""
    part_of = {one.idempotency_key: (one.order_id, one.part) for one in operations}
    standing: dict[tuple[UUID, int], int] = defaultdict(int)
    for charge in books.charges.values():
        if charge.status is ChargeStatus.CAPTURED and charge.captured > charge.refunded:
            by_hand = charge.operation_id.startswith(BY_HAND)
            standing[part_of[f"attached:sandbox:{charge.charge}" if by_hand else charge.operation_id]] += 1
    assert [part for part, count in standing.items() if count > 1] == []


async def open_items(db: Database) -> list[str]:
    """The kinds of the items that are open."""
    rows = await db.fetch("SELECT kind FROM reconciliation_items WHERE resolved_at IS NULL ORDER BY kind")
    return [row["kind"] for row in rows]
