"""A booking system in memory, for `testing.FakeBookingServer`: the rules that a till meets, without durability.

It keeps the promises of the wire (all or nothing, expiry by its own clock, one live payment operation an order, results
that do not change) and knows nothing of HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from uuid_utils.compat import uuid7

from backend_client.seat_frames import (
    PRINTED_BIT,
    Delta,
    HolderKind,
    Layout,
    Snapshot,
    StaffStatus,
    States,
    staff_state,
)
from backend_client.testing_seat_detail import seat_detail
from backend_client.testing_seats import best_block, nearest_block, orphans
from backend_client.wire import (
    Advice,
    CheckoutRequest,
    DeviceId,
    ErrorCode,
    EventDetail,
    EventId,
    EventSettings,
    EventStatus,
    FieldProblem,
    Hold,
    HoldId,
    HoldRequest,
    HoldStatus,
    OperationId,
    OperationKind,
    OperationStatus,
    Order,
    OrderId,
    OrderLine,
    OrderStatus,
    OrphanRule,
    PaymentAnswer,
    PaymentOperation,
    PaymentRequest,
    Plan,
    PlanRow,
    PlanSeats,
    PlanSection,
    Price,
    PriceCategory,
    PriceType,
    PrintJob,
    PrintJobId,
    PrintJobStatus,
    ResultAnswer,
    ResultOutcome,
    ResultReport,
    SeatDetail,
    SeatHistoryItem,
    SeatHouseHold,
    SeatRef,
    Ticket,
    TicketId,
    TicketList,
    TicketStatus,
    Tier,
)

GRACE_S = 120


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
class _HoldRow:
    hold_id: HoldId
    seats: tuple[int, ...]
    expires_at: datetime
    created_at: datetime
    status: HoldStatus = HoldStatus.HELD
    grace_used: bool = False
    order_id: OrderId | None = None


@dataclass(slots=True)
class _OrderRow:
    order_id: OrderId
    number: str
    hold: _HoldRow
    lines: tuple[OrderLine, ...]
    created_at: datetime
    status: OrderStatus = OrderStatus.PENDING
    operations: list[PaymentOperation] = field(default_factory=list)
    tickets: tuple[Ticket, ...] = ()

    @property
    def amount_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines)


def _plan(rows: int, seats_per_row: int) -> Plan:
    count = rows * seats_per_row
    return Plan(
        plan_id=UUID(int=1),
        version=1,
        name="Test hall",
        width=float(seats_per_row * 30),
        height=float(rows * 30),
        seat_radius=10.0,
        categories=_CATEGORIES,
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


_CATEGORIES = (
    PriceCategory(category_no=0, name="First", color="#3366aa"),
    PriceCategory(category_no=1, name="Second", color="#66aa33"),
)


class House:
    """One event in one hall. `now` is the house's clock: set `offset` to move it. `version` counts seat changes."""

    def __init__(self, *, rows: int = 6, seats_per_row: int = 10, event_id: int = 1, hold_ttl_s: int = 300) -> None:
        self.event_id = EventId(event_id)
        self.plan = _plan(rows, seats_per_row)
        self.hold_ttl_s = hold_ttl_s
        self.offset = timedelta(0)
        self.epoch, self.version = 1, 1
        self.price_version = 1
        self.prices = {(0, 1): 4500, (0, 2): 2250, (1, 1): 3000, (1, 2): 1500}
        self.tickets_complete = True
        self.orphan_rule = OrphanRule.OFF
        self.access_codes: frozenset[str] = frozenset()
        self.tiers: tuple[Tier, ...] = ()
        self.states: States = np.zeros(rows * seats_per_row, np.uint8)
        self.deltas: list[Delta] = []
        self.holds: dict[UUID, _HoldRow] = {}
        self.orders: dict[UUID, _OrderRow] = {}
        self.print_jobs: dict[UUID, PrintJob] = {}
        self.reversals: list[OperationId] = []
        self.seat_past: dict[int, tuple[SeatHistoryItem, ...]] = {}
        self.seat_house_holds: dict[int, SeatHouseHold] = {}

    def now(self) -> datetime:
        """The house's clock."""
        return datetime.now(UTC) + self.offset

    # ------------------------------------------------------------ what is on offer

    def event(self) -> EventDetail:
        """The event with its prices."""
        return EventDetail(
            event_id=self.event_id,
            name="An evening",
            venue_name="Test hall",
            starts_at=datetime(2027, 3, 1, 19, 30, tzinfo=UTC),
            zone="Europe/Lisbon",
            currency="EUR",
            status=EventStatus.ON_SALE,
            sale_opens_at=datetime(2026, 1, 1, tzinfo=UTC),
            plan_id=self.plan.plan_id,
            plan_version=self.plan.version,
            seat_count=len(self.states),
            hold_ttl_s=self.hold_ttl_s,
            grace_s=GRACE_S,
            max_per_account=6,
            price_version=self.price_version,
            categories=_CATEGORIES,
            price_types=(PriceType(price_type_id=1, name="Adult"), PriceType(price_type_id=2, name="Child")),
            prices=tuple(
                Price(category_no=category, price_type_id=kind, amount_minor=amount)
                for (category, kind), amount in self.prices.items()
            ),
            server_time=self.now(),
            tiers=self.tiers,
            orphan_rule=self.orphan_rule,
        )

    def settings(self) -> EventSettings:
        """What operators have set."""
        return EventSettings(
            event_id=self.event_id, version=1, hold_ttl_s=self.hold_ttl_s, grace_s=GRACE_S, max_per_account=6,
            max_per_card=6, max_open_holds_till=20, paying_cap=1000, orphan_rule=self.orphan_rule,
        )  # fmt: skip

    def snapshot(self) -> Snapshot:
        """All seats now."""
        self._sweep()
        return Snapshot(self.event_id, self.plan.version, self.epoch, self.version, Layout.STAFF, self.states.copy())

    def set_seats(self, seats: tuple[int, ...], state: int) -> Delta:
        """Change seats as if anybody had; the delta is what feeds send."""
        self.states[list(seats)] = state
        delta = Delta(
            self.event_id, self.epoch, self.version, self.version + 1, Layout.STAFF,
            np.array(seats, np.uint32), np.full(len(seats), state, np.uint8),
        )  # fmt: skip
        self.version += 1
        self.deltas.append(delta)
        return delta

    def seat(self, seat_no: int) -> SeatRef:
        """A seat as people name it."""
        row = self.plan.rows[self.plan.seats.row_no[seat_no]]
        return SeatRef(seat_no=seat_no, section="Stalls", row=row.label, number=self.plan.seats.number[seat_no])

    def seat_detail(self, seat_no: int) -> SeatDetail:
        """Who has a seat and what it has been through: `seat_past`, and what was done here."""
        self._sweep()
        if seat_no >= len(self.states):
            raise RefusalError(ErrorCode.SEAT_UNKNOWN)
        return seat_detail(self, seat_no)

    def _sweep(self) -> None:
        for hold in self.holds.values():
            if self.now() < hold.expires_at or hold.status not in (HoldStatus.HELD, HoldStatus.PAYMENT_PENDING):
                continue
            order = None if hold.order_id is None else self.orders[hold.order_id]
            if hold.status is HoldStatus.PAYMENT_PENDING and order is not None and self._live(order) is not None:
                continue
            self._end(hold, HoldStatus.EXPIRED)
            if order is not None and order.status is OrderStatus.PENDING:
                order.status = OrderStatus.EXPIRED

    def _end(self, hold: _HoldRow, status: HoldStatus) -> None:
        hold.status = status
        self.set_seats(hold.seats, staff_state(StaffStatus.AVAILABLE, HolderKind.NONE))

    def lose_holds(self) -> None:
        """End every open hold, whatever is being paid, and sell its seats to a fan."""
        for hold in self.holds.values():
            if hold.status in (HoldStatus.HELD, HoldStatus.PAYMENT_PENDING):
                hold.status = HoldStatus.EXPIRED
                self.set_seats(hold.seats, staff_state(StaffStatus.SOLD, HolderKind.FAN))

    # ------------------------------------------------------------ holds

    def hold(self, request: HoldRequest) -> Hold:
        """The seats of the request, or the best available ones."""
        if request.access_code and request.access_code not in self.access_codes:
            raise RefusalError(ErrorCode.ACCESS_CODE_REFUSED)
        if request.best_available is None:
            return self.hold_seats(request.seats)
        self._sweep()
        block = best_block(self.plan, self.states, request.best_available)
        if not block:
            raise RefusalError(ErrorCode.NO_BLOCK_LEFT)
        return self.hold_seats(block)

    def hold_seats(self, seats: tuple[int, ...]) -> Hold:
        """All or nothing."""
        self._sweep()
        if any(seat >= len(self.states) for seat in seats):
            raise RefusalError(ErrorCode.SEAT_UNKNOWN)
        lost = tuple(self.seat(seat) for seat in seats if self.states[seat] & 7 != StaffStatus.AVAILABLE)
        if lost:
            raise RefusalError(ErrorCode.SEATS_TAKEN, lost, self._offer(seats))
        left = orphans(self.plan, self.states, seats, self.orphan_rule)
        if left:
            raise RefusalError(ErrorCode.SEAT_ORPHANED, tuple(self.seat(seat) for seat in left), self._offer(seats))
        row = _HoldRow(
            HoldId(uuid7()), tuple(sorted(seats)), self.now() + timedelta(seconds=self.hold_ttl_s), self.now()
        )
        self.holds[row.hold_id] = row
        self.set_seats(row.seats, staff_state(StaffStatus.HELD, HolderKind.TILL))
        return self._hold(row)

    def _offer(self, seats: tuple[int, ...]) -> tuple[SeatRef, ...]:
        return tuple(self.seat(seat) for seat in nearest_block(self.plan, self.states, seats))

    def read_hold(self, hold_id: UUID) -> Hold:
        """A hold as it stands."""
        return self._hold(self._find_hold(hold_id))

    def release_hold(self, hold_id: UUID) -> Hold:
        """Again is the same."""
        row = self._find_hold(hold_id)
        if row.status is HoldStatus.HELD:
            self._end(row, HoldStatus.RELEASED)
        elif row.status in (HoldStatus.PAYMENT_PENDING, HoldStatus.SOLD):
            raise RefusalError(ErrorCode.HOLD_NOT_OPEN)
        return self._hold(row)

    def _find_hold(self, hold_id: UUID) -> _HoldRow:
        self._sweep()
        if hold_id not in self.holds:
            raise RefusalError(ErrorCode.HOLD_NOT_FOUND)
        return self.holds[hold_id]

    def _hold(self, row: _HoldRow) -> Hold:
        return Hold(
            hold_id=row.hold_id,
            event_id=self.event_id,
            status=row.status,
            seats=tuple(self.seat(seat) for seat in row.seats),
            expires_at=row.expires_at,
            grace_used=row.grace_used,
            order_id=row.order_id,
            created_at=row.created_at,
            server_time=self.now(),
        )

    # ------------------------------------------------------------ orders

    def check_out(self, hold_id: UUID, request: CheckoutRequest) -> Order:
        """An order at the house's own total."""
        row = self._find_hold(hold_id)
        if row.status is not HoldStatus.HELD:
            gone = row.status is HoldStatus.EXPIRED
            raise RefusalError(ErrorCode.HOLD_EXPIRED if gone else ErrorCode.HOLD_NOT_OPEN)
        if row.expires_at - self.now() < timedelta(seconds=10):
            raise RefusalError(ErrorCode.TOO_LITTLE_TIME)
        lines = tuple(
            OrderLine(
                seat=self.seat(line.seat_no),
                price_type_id=line.price_type_id,
                price_type_name={1: "Adult", 2: "Child"}[line.price_type_id],
                amount_minor=self.prices[self.plan.seats.category_no[line.seat_no], line.price_type_id],
            )
            for line in request.lines
        )
        order = _OrderRow(OrderId(uuid7()), f"T-{len(self.orders) + 1:04}", row, lines, self.now())
        if order.amount_minor != request.shown_total_minor:
            raise RefusalError(ErrorCode.PRICE_CHANGED)
        self.orders[order.order_id] = order
        row.order_id = order.order_id
        if not row.grace_used:
            row.grace_used = True
            row.expires_at = max(row.expires_at, self.now() + timedelta(seconds=GRACE_S))
        self._set_paying(row)
        return self._order(order)

    def _set_paying(self, row: _HoldRow) -> None:
        row.status = HoldStatus.PAYMENT_PENDING
        self.set_seats(row.seats, staff_state(StaffStatus.PAYING, HolderKind.TILL))

    def _back_to_held(self, row: _HoldRow) -> None:
        row.status = HoldStatus.HELD
        self.set_seats(row.seats, staff_state(StaffStatus.HELD, HolderKind.TILL))

    def read_order(self, order_id: UUID) -> Order:
        """An order as it stands."""
        return self._order(self._find_order(order_id))

    def cancel_order(self, order_id: UUID, *, keep_seats: bool) -> Order:
        """An unpaid order without a live payment."""
        order = self._find_order(order_id)
        if order.status is not OrderStatus.PENDING or self._live(order) is not None:
            raise RefusalError(ErrorCode.ORDER_NOT_CANCELLABLE)
        order.status = OrderStatus.CANCELLED
        order.hold.order_id = None
        if keep_seats:
            self._back_to_held(order.hold)
        else:
            self._end(order.hold, HoldStatus.RELEASED)
        return self._order(order)

    def _find_order(self, order_id: UUID) -> _OrderRow:
        self._sweep()
        if order_id not in self.orders:
            raise RefusalError(ErrorCode.ORDER_NOT_FOUND)
        return self.orders[order_id]

    def _order(self, row: _OrderRow) -> Order:
        return Order(
            order_id=row.order_id,
            event_id=self.event_id,
            number=row.number,
            status=row.status,
            amount_minor=row.amount_minor,
            currency="EUR",
            price_version=self.price_version,
            lines=row.lines,
            hold_ids=(row.hold.hold_id,),
            operations=tuple(row.operations),
            pay_until=row.hold.expires_at if row.status is OrderStatus.PENDING else None,
            created_at=row.created_at,
            server_time=self.now(),
        )

    # ------------------------------------------------------------ payments

    def _live(self, order: _OrderRow) -> PaymentOperation | None:
        live = (OperationStatus.CREATED, OperationStatus.SENT, OperationStatus.UNKNOWN)
        return next((operation for operation in order.operations if operation.status in live), None)

    def pay(self, order_id: UUID, request: PaymentRequest, device_id: DeviceId) -> PaymentAnswer:
        """Cash confirms at once; a sale waits for the device's report."""
        order = self._find_order(order_id)
        if order.status is not OrderStatus.PENDING:
            raise RefusalError(ErrorCode.ORDER_NOT_PAYABLE)
        if self._live(order) is not None:
            raise RefusalError(ErrorCode.PAYMENT_RUNNING)
        if request.amount_minor != order.amount_minor:
            raise RefusalError(ErrorCode.AMOUNT_MISMATCH)
        cash = request.kind is OperationKind.CASH
        tendered = request.tendered_minor
        if cash and (tendered is None or tendered < order.amount_minor):
            raise RefusalError(ErrorCode.TENDERED_TOO_LITTLE)
        operation = PaymentOperation(
            operation_id=OperationId(uuid7()),
            order_id=order.order_id,
            part=1,
            kind=request.kind,
            status=OperationStatus.SUCCEEDED if cash else OperationStatus.SENT,
            provider=request.provider,
            amount_minor=request.amount_minor,
            currency="EUR",
            device_id=device_id,
            tendered_minor=tendered,
            change_minor=None if tendered is None else tendered - order.amount_minor,
            created_at=self.now(),
            updated_at=self.now(),
        )
        order.operations.append(operation)
        if cash:
            self._confirm(order)
        elif order.hold.status is HoldStatus.HELD:
            self._set_paying(order.hold)
        return PaymentAnswer(operation=operation, order=self._order(order))

    def _confirm(self, order: _OrderRow) -> None:
        order.status = OrderStatus.CONFIRMED
        order.hold.status = HoldStatus.SOLD
        self.set_seats(order.hold.seats, staff_state(StaffStatus.SOLD, HolderKind.TILL))
        order.tickets = tuple(
            Ticket(
                ticket_id=TicketId(uuid7()),
                order_id=order.order_id,
                seat=line.seat,
                price_type_name=line.price_type_name,
                amount_minor=line.amount_minor,
                currency="EUR",
                code=f"T-{uuid7().hex[:16].upper()}",
                status=TicketStatus.ISSUED,
            )
            for line in order.lines
        )

    def report_result(self, operation_id: UUID, report: ResultReport) -> ResultAnswer:
        """What a terminal said; nothing leaves SUCCEEDED or DECLINED."""
        self._sweep()
        for order in self.orders.values():
            for index, operation in enumerate(order.operations):
                if operation.operation_id == operation_id:
                    return self._take_result(order, index, operation, report)
        raise RefusalError(ErrorCode.OPERATION_NOT_FOUND)

    def _take_result(
        self, order: _OrderRow, index: int, operation: PaymentOperation, report: ResultReport
    ) -> ResultAnswer:
        status = {
            ResultOutcome.SUCCEEDED: OperationStatus.SUCCEEDED,
            ResultOutcome.DECLINED: OperationStatus.DECLINED,
            ResultOutcome.UNKNOWN: OperationStatus.UNKNOWN,
        }[report.outcome]
        final = operation.status in (OperationStatus.SUCCEEDED, OperationStatus.DECLINED)
        lost = operation.status is OperationStatus.SUCCEEDED and order.status is not OrderStatus.CONFIRMED
        if lost and status is OperationStatus.DECLINED:
            self.reversals.append(operation.operation_id)
        elif final and status not in (operation.status, OperationStatus.UNKNOWN):
            raise RefusalError(ErrorCode.RESULT_CONFLICT)
        if not final:
            operation = _with_status(operation, status, report, self.now())
            order.operations[index] = operation
            self._follow_result(order, operation, report)
        charged = operation.status is OperationStatus.SUCCEEDED
        paid = charged and order.status is OrderStatus.CONFIRMED
        advice = Advice.GOODS_ISSUED if paid else Advice.REVERSE
        return ResultAnswer(operation=operation, order=self._order(order), advice=advice)

    def _follow_result(self, order: _OrderRow, operation: PaymentOperation, report: ResultReport) -> None:
        if operation.status is OperationStatus.UNKNOWN:
            order.status = OrderStatus.RECONCILING
        elif operation.status is OperationStatus.SUCCEEDED:
            if report.amount_minor != operation.amount_minor:
                order.status = OrderStatus.RECONCILING
            elif order.hold.status is HoldStatus.PAYMENT_PENDING:
                self._confirm(order)
        elif order.hold.status is HoldStatus.PAYMENT_PENDING:
            order.status = OrderStatus.PENDING
            self._back_to_held(order.hold)
            self._sweep()

    # ------------------------------------------------------------ tickets

    def tickets(self, order_id: UUID) -> TicketList:
        """`tickets_complete` False plays an issuer that is behind."""
        order = self._find_order(order_id)
        complete = self.tickets_complete and order.status is OrderStatus.CONFIRMED
        tickets = order.tickets if complete else ()
        return TicketList(order_id=order.order_id, complete=complete, tickets=tickets)

    def open_print_job(self, order_id: UUID, ticket_ids: tuple[TicketId, ...], printer: str) -> PrintJob:
        """A job of tickets of one order."""
        order = self._find_order(order_id)
        if not set(ticket_ids) <= {ticket.ticket_id for ticket in order.tickets}:
            raise RefusalError(ErrorCode.TICKET_NOT_FOUND)
        job = PrintJob(
            print_job_id=PrintJobId(uuid7()), order_id=order.order_id, ticket_ids=ticket_ids, printer=printer,
            status=PrintJobStatus.SENT, created_at=self.now(),
        )  # fmt: skip
        self.print_jobs[job.print_job_id] = job
        return job

    def report_print_job(self, print_job_id: UUID, status: PrintJobStatus, detail: str) -> PrintJob:
        """CONFIRMED marks the seats as printed."""
        old = self.print_jobs.get(print_job_id)
        if old is None:
            raise RefusalError(ErrorCode.PRINT_JOB_NOT_FOUND)
        if old.status in (PrintJobStatus.CONFIRMED, PrintJobStatus.FAILED) and status is not old.status:
            raise RefusalError(ErrorCode.PRINT_JOB_CONFLICT)
        job = PrintJob(
            print_job_id=old.print_job_id, order_id=old.order_id, ticket_ids=old.ticket_ids, printer=old.printer,
            status=status, detail=detail, created_at=old.created_at,
        )  # fmt: skip
        self.print_jobs[print_job_id] = job
        if status is PrintJobStatus.CONFIRMED and old.status is not status:
            seats = self.orders[old.order_id].hold.seats
            self.set_seats(seats, staff_state(StaffStatus.SOLD, HolderKind.TILL) | PRINTED_BIT)
        return job


def _with_status(
    operation: PaymentOperation, status: OperationStatus, report: ResultReport, at: datetime
) -> PaymentOperation:
    return PaymentOperation(
        operation_id=operation.operation_id, order_id=operation.order_id, part=operation.part, kind=operation.kind,
        status=status, provider=operation.provider, amount_minor=operation.amount_minor, currency=operation.currency,
        device_id=operation.device_id, provider_ref=report.provider_ref, decline_code=report.decline_code,
        created_at=operation.created_at, updated_at=at,
    )  # fmt: skip
