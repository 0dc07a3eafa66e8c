"""Payments of a booking system in memory (see `testing_house`): one live charge an order, results that do not change.

An order may be paid in parts; a charge that is void-requested keeps nothing.
"""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace
from uuid_utils.compat import uuid7

from backend_client.seat_frames import StaffStatus
from backend_client.testing_house_rows import OrderRow, RefusalError, is_kept, live_payment
from backend_client.testing_house_sales import HouseSales
from backend_client.wire import (
    Advice,
    DeviceId,
    ErrorCode,
    HoldStatus,
    OperationId,
    OperationKind,
    OperationStatus,
    OrderStatus,
    PaymentAnswer,
    PaymentOperation,
    PaymentRequest,
    ResultAnswer,
    ResultOutcome,
    ResultReport,
    SeatRef,
    Ticket,
    TicketId,
    TicketStatus,
)

_STATUS_OF = {
    ResultOutcome.SUCCEEDED: OperationStatus.SUCCEEDED,
    ResultOutcome.DECLINED: OperationStatus.DECLINED,
    ResultOutcome.UNKNOWN: OperationStatus.UNKNOWN,
}
_FIRST_STATUS = {
    OperationKind.CASH: OperationStatus.SUCCEEDED,
    OperationKind.AUTHORIZE: OperationStatus.ACTION_REQUIRED,
}
_DECIDED = (OperationStatus.SUCCEEDED, OperationStatus.DECLINED)


class HousePayments(HouseSales):
    """See the module."""

    def pay(self, order_id: UUID, request: PaymentRequest, device_id: DeviceId) -> PaymentAnswer:
        """Cash counts at once; a sale waits for the device's report."""
        order = self._find_order(order_id)
        if request.instead_of is not None:
            self._give_up(order, request.instead_of)
        self._refuse_payment(order, request)
        cash = request.kind is OperationKind.CASH
        tendered = request.tendered_minor
        operation = PaymentOperation(
            operation_id=OperationId(uuid7()),
            order_id=order.order_id,
            part=len(order.operations) + 1,
            kind=request.kind,
            status=_FIRST_STATUS.get(request.kind, OperationStatus.SENT),
            next_action="reader:tmr_1" if request.kind is OperationKind.AUTHORIZE else "",
            provider=request.provider,
            amount_minor=request.amount_minor,
            currency="EUR",
            device_id=device_id,
            tendered_minor=tendered,
            change_minor=None if tendered is None else tendered - request.amount_minor,
            created_at=self.now(),
            updated_at=self.now(),
        )
        order.operations.append(operation)
        if order.hold.status is HoldStatus.HELD:
            self._set_paying(order.hold)
        if cash:
            self._confirm_if_paid(order)
        return PaymentAnswer(operation=operation, order=self._order(order))

    def _refuse_payment(self, order: OrderRow, request: PaymentRequest) -> None:
        if live_payment(order) is not None:
            raise RefusalError(ErrorCode.PAYMENT_RUNNING)
        if order.status is not OrderStatus.PENDING:
            raise RefusalError(ErrorCode.ORDER_NOT_PAYABLE)
        left = order.amount_minor - order.paid_minor
        fits = 0 < request.amount_minor <= left if request.in_parts else request.amount_minor == left
        if not fits:
            raise RefusalError(ErrorCode.AMOUNT_MISMATCH)
        tendered = request.tendered_minor
        if request.kind is OperationKind.CASH and (tendered is None or tendered < request.amount_minor):
            raise RefusalError(ErrorCode.TENDERED_TOO_LITTLE)

    def _give_up(self, order: OrderRow, operation_id: UUID) -> None:
        """From now on a success of this charge can only be given back."""
        for index, operation in enumerate(order.operations):
            if operation.operation_id == operation_id:
                if operation.status in _DECIDED:
                    raise RefusalError(ErrorCode.ORDER_NOT_PAYABLE)
                order.operations[index] = replace(operation, void_requested=True)
                if order.status is OrderStatus.RECONCILING:
                    order.status = OrderStatus.PENDING
                return
        raise RefusalError(ErrorCode.OPERATION_NOT_FOUND)

    def _confirm_if_paid(self, order: OrderRow) -> None:
        if order.paid_minor != order.amount_minor:
            return
        order.status = OrderStatus.CONFIRMED
        order.hold.status = HoldStatus.SOLD
        self._set_row(order.hold, StaffStatus.SOLD)
        self.set_places(order.hold.places, in_holds=-1, sold=1)
        seated = [_ticket(order, line.seat, line.price_type_name, line.amount_minor) for line in order.lines]
        standing = [
            _ticket(
                order, SeatRef(seat_no=-1, section=places.tier_name), places.price_type_name,
                places.amount_minor // places.quantity, places.tier_id,
            )
            for places in order.places
            for _ in range(places.quantity)
        ]  # fmt: skip
        order.tickets = (*seated, *standing)

    # ------------------------------------------------------------ results

    def report_result(self, operation_id: UUID, report: ResultReport) -> ResultAnswer:
        """What a terminal said; nothing leaves SUCCEEDED or DECLINED."""
        self._sweep()
        for order in self.orders.values():
            for index, operation in enumerate(order.operations):
                if operation.operation_id == operation_id:
                    return self._take_result(order, index, operation, report)
        raise RefusalError(ErrorCode.OPERATION_NOT_FOUND)

    def _take_result(
        self, order: OrderRow, index: int, operation: PaymentOperation, report: ResultReport
    ) -> ResultAnswer:
        status = _STATUS_OF[report.outcome]
        self.reports.append(report)
        final = operation.status in _DECIDED
        lost = operation.status is OperationStatus.SUCCEEDED and not self._stands(order, operation)
        if lost and status is OperationStatus.DECLINED:
            self.reversals.append(operation.operation_id)
        elif final and status not in (operation.status, OperationStatus.UNKNOWN):
            raise RefusalError(ErrorCode.RESULT_CONFLICT)
        if operation.kind is OperationKind.REFUND:
            return self._take_return(order, index, operation, report)
        if not final:
            operation = replace(
                operation, status=status, provider_ref=report.provider_ref, decline_code=report.decline_code,
                updated_at=self.now(), card_brand=report.card_brand,
            )  # fmt: skip
            order.operations[index] = operation
            self._follow_result(order, operation, report)
        advice = Advice.GOODS_ISSUED if self._stands(order, operation) else Advice.REVERSE
        return ResultAnswer(operation=operation, order=self._order(order), advice=advice)

    def _take_return(
        self, order: OrderRow, index: int, operation: PaymentOperation, report: ResultReport
    ) -> ResultAnswer:
        """Money that went back at a till changes nothing else."""
        if operation.status not in _DECIDED:
            operation = replace(
                operation, status=_STATUS_OF[report.outcome], provider_ref=report.provider_ref,
                decline_code=report.decline_code, updated_at=self.now(),
            )  # fmt: skip
            order.operations[index] = operation
        return ResultAnswer(operation=operation, order=self._order(order), advice=Advice.REVERSE)

    def _stands(self, order: OrderRow, operation: PaymentOperation) -> bool:
        """A charge that the order keeps: all of it is paid, or this was one part of it."""
        if not is_kept(operation) or order.status not in (OrderStatus.CONFIRMED, OrderStatus.PENDING):
            return False
        return order.hold.status in (HoldStatus.SOLD, HoldStatus.PAYMENT_PENDING)

    def _follow_result(self, order: OrderRow, operation: PaymentOperation, report: ResultReport) -> None:
        if operation.void_requested:
            return
        if operation.status is OperationStatus.UNKNOWN:
            order.status = OrderStatus.RECONCILING
        elif operation.status is OperationStatus.SUCCEEDED:
            if report.amount_minor != operation.amount_minor:
                order.status = OrderStatus.RECONCILING
            elif order.hold.status is HoldStatus.PAYMENT_PENDING:
                order.status = OrderStatus.PENDING
                self._confirm_if_paid(order)
        elif order.hold.status is HoldStatus.PAYMENT_PENDING:
            order.status = OrderStatus.PENDING
            if not order.paid_minor:
                self._back_to_held(order.hold)
            self._sweep()


def _ticket(order: OrderRow, seat: SeatRef, price_type: str, amount_minor: int, tier_id: int | None = None) -> Ticket:
    return Ticket(
        ticket_id=TicketId(uuid7()),
        order_id=order.order_id,
        seat=seat,
        price_type_name=price_type,
        amount_minor=amount_minor,
        currency="EUR",
        code=f"T-{uuid7().hex[:16].upper()}",
        status=TicketStatus.ISSUED,
        tier_id=tier_id,
    )
