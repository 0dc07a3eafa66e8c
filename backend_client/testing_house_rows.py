"""Rows of a booking system in memory: a hold, an order, and the hall that they are in (see `testing_house`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from backend_client.wire import (
    ErrorCode,
    FieldProblem,
    HoldId,
    HoldStatus,
    OperationKind,
    OperationStatus,
    OrderId,
    OrderLine,
    OrderPlaces,
    OrderStatus,
    PaymentOperation,
    Plan,
    PlanRow,
    PlanSeats,
    PlanSection,
    PriceCategory,
    SeatRef,
    Ticket,
    TierQuantity,
)

_LIVE = (OperationStatus.CREATED, OperationStatus.SENT, OperationStatus.ACTION_REQUIRED, OperationStatus.UNKNOWN)
CHARGES = (OperationKind.SALE, OperationKind.CASH, OperationKind.AUTHORIZE)


class RefusalError(Exception):
    """A definite no, with the code of the wire."""

    def __init__(
        self,
        code: ErrorCode,
        seats: tuple[SeatRef, ...] = (),
        offer: tuple[SeatRef, ...] = (),
        fields: tuple[FieldProblem, ...] = (),
    ) -> None:
        super().__init__(code.value)
        self.code = code
        self.seats = seats
        self.offer = offer
        self.fields = fields


@dataclass(slots=True)
class HoldRow:
    hold_id: HoldId
    seats: tuple[int, ...]
    expires_at: datetime
    created_at: datetime
    status: HoldStatus = HoldStatus.HELD
    grace_used: bool = False
    order_id: OrderId | None = None
    places: tuple[TierQuantity, ...] = ()


@dataclass(slots=True)
class OrderRow:
    order_id: OrderId
    number: str
    hold: HoldRow
    lines: tuple[OrderLine, ...]
    created_at: datetime
    status: OrderStatus = OrderStatus.PENDING
    operations: list[PaymentOperation] = field(default_factory=list)
    tickets: tuple[Ticket, ...] = ()
    places: tuple[OrderPlaces, ...] = ()

    @property
    def amount_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines) + sum(places.amount_minor for places in self.places)

    @property
    def paid_minor(self) -> int:
        """What its charges have taken and keep, less what went back."""
        taken = sum(made.amount_minor for made in self.operations if is_kept(made))
        return taken - sum(
            made.amount_minor
            for made in self.operations
            if made.kind is OperationKind.REFUND and made.status is OperationStatus.SUCCEEDED
        )


def is_kept(operation: PaymentOperation) -> bool:
    """A charge that took money which is not to be given back."""
    taken = operation.kind in CHARGES and operation.status is OperationStatus.SUCCEEDED
    return taken and not operation.void_requested


def keeps_seats(order: OrderRow) -> bool:
    """Whether the seats are nobody else's, whatever the time: a charge runs or is unknown (R7, R24)."""
    return any(made.status in _LIVE and made.kind in CHARGES for made in order.operations)


def live_payment(order: OrderRow) -> PaymentOperation | None:
    """The charge of an order that is not decided, and may still be wanted; one at a time."""
    live = (one for one in order.operations if one.kind in CHARGES and one.status in _LIVE)
    return next((operation for operation in live if not operation.void_requested), None)


def small_hall(rows: int, seats_per_row: int) -> Plan:
    """`rows` rows, the front half dearer."""
    count = rows * seats_per_row
    return Plan(
        plan_id=UUID(int=1),
        version=1,
        name="Test hall",
        width=float(seats_per_row * 30),
        height=float(rows * 30),
        seat_radius=10.0,
        categories=CATEGORIES,
        sections=(PlanSection(name="Stalls", label_x=10.0, label_y=10.0),),
        rows=tuple(
            PlanRow(section_no=0, label=chr(65 + row % 26), first_seat=row * seats_per_row, seat_count=seats_per_row)
            for row in range(rows)
        ),
        areas=(),
        seats=PlanSeats(
            guid=tuple(f"seat-{seat}" for seat in range(count)),
            number=tuple(str(seat % seats_per_row + 1) for seat in range(count)),
            row_no=tuple(seat // seats_per_row for seat in range(count)),
            category_no=tuple(0 if seat // seats_per_row < rows // 2 else 1 for seat in range(count)),
            x=tuple(15.0 + 30.0 * (seat % seats_per_row) for seat in range(count)),
            y=tuple(15.0 + 30.0 * (seat // seats_per_row) for seat in range(count)),
            flags=(0,) * count,
        ),
    )


CATEGORIES = (
    PriceCategory(category_no=0, name="First", color="#3366aa"),
    PriceCategory(category_no=1, name="Second", color="#66aa33"),
)
