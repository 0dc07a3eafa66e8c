"""Money that goes back in a booking system in memory, readers that the server drives, ends of day (`testing_house`)."""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace
from uuid_utils.compat import uuid7

from backend_client.testing_house_payments import HousePayments
from backend_client.testing_house_rows import CHARGES, OrderRow, RefusalError, is_kept
from backend_client.wire import (
    DeviceId,
    ErrorCode,
    HoldStatus,
    OperationId,
    OperationKind,
    OperationStatus,
    Order,
    OrderStatus,
    PaymentAnswer,
    PaymentOperation,
    TerminalTotals,
    TerminalTotalsReport,
)

_DECIDED = (OperationStatus.SUCCEEDED, OperationStatus.DECLINED)


class HouseReturns(HousePayments):
    """See the module."""

    def cancel_order(self, order_id: UUID, *, keep_seats: bool) -> Order:
        """As any order; what parts have paid goes back."""
        super().cancel_order(order_id, keep_seats=keep_seats)
        row = self._find_order(order_id)
        self._open_returns(row)
        return self._order(row)

    def _open_returns(self, order: OrderRow) -> None:
        """A refund for each part that took money: at the till that took it, or by the provider at once."""
        for charge in [one for one in order.operations if is_kept(one)]:
            order.operations.append(self.refund_of(order, charge))

    def refund_of(self, order: OrderRow, charge: PaymentOperation) -> PaymentOperation:
        """A refund of all of `charge`, as the booking system opens it."""
        at_till = charge.kind is not OperationKind.AUTHORIZE
        return replace(
            charge,
            operation_id=OperationId(uuid7()),
            part=len(order.operations) + 1,
            kind=OperationKind.REFUND,
            status=OperationStatus.SENT if at_till else OperationStatus.SUCCEEDED,
            device_id=charge.device_id if at_till else None,
            parent_id=charge.operation_id,
            tendered_minor=None,
            change_minor=None,
            created_at=self.now(),
            updated_at=self.now(),
        )

    # ------------------------------------------------------------ readers

    def tell_reader(self, operation_id: UUID, status: OperationStatus, decline_code: str = "") -> None:
        """What the reader, or the provider behind it, made of a payment."""
        for order in self.orders.values():
            for index, operation in enumerate(order.operations):
                if operation.operation_id == operation_id and operation.status not in _DECIDED:
                    order.operations[index] = replace(operation, status=status, decline_code=decline_code)
                    self._follow_reader(order, status)

    def _follow_reader(self, order: OrderRow, status: OperationStatus) -> None:
        if status is OperationStatus.SUCCEEDED:
            self._confirm_if_paid(order)
        elif status is OperationStatus.UNKNOWN:
            order.status = OrderStatus.RECONCILING
        elif status is OperationStatus.DECLINED and order.hold.status is HoldStatus.PAYMENT_PENDING:
            order.status = OrderStatus.PENDING
            self._back_to_held(order.hold)

    def withdraw(self, operation_id: UUID) -> PaymentAnswer:
        """A payment at a reader is not wanted any more; one that was decided stands."""
        self.tell_reader(operation_id, OperationStatus.DECLINED, "withdrawn")
        for order in self.orders.values():
            for operation in order.operations:
                if operation.operation_id == operation_id and operation.kind in CHARGES:
                    return PaymentAnswer(operation=operation, order=self._order(order))
        raise RefusalError(ErrorCode.OPERATION_NOT_FOUND)

    # ------------------------------------------------------------ ends of day

    def take_totals(self, report: TerminalTotalsReport, device_id: DeviceId) -> TerminalTotals:
        """A terminal's end of day; the house has nothing to compare it with but its own orders."""
        self.terminal_totals.append(report)
        ours = sum(
            one.amount_minor
            for order in self.orders.values()
            for one in order.operations
            if one.kind is OperationKind.SALE and is_kept(one)
        )
        return TerminalTotals(
            totals_id=uuid7(),
            terminal_id=report.terminal_id,
            device_id=device_id,
            closed_at=report.closed_at,
            currency=report.currency,
            total_minor=report.total_minor,
            ours_minor=ours,
            difference_minor=report.total_minor - ours,
        )
