"""A booking system in memory, for `testing.FakeBookingServer`: the rules that a till meets, without durability.

It keeps the promises of the wire (all or nothing, expiry by its own clock, one live charge an order, results that do
not change) and knows nothing of HTTP. By area: `testing_house_rows`, `…_seats`, `…_sales`, `…_payments`,
`…_returns`.
"""

from __future__ import annotations

from uuid import UUID

from uuid_utils.compat import uuid7

from backend_client.seat_frames import PRINTED_BIT, HolderKind, StaffStatus, staff_state
from backend_client.testing_house_returns import HouseReturns
from backend_client.testing_house_rows import RefusalError
from backend_client.testing_house_seats import GRACE_S
from backend_client.testing_seat_detail import seat_detail
from backend_client.wire import (
    ErrorCode,
    HouseHold,
    HouseHoldKind,
    HouseHoldList,
    OrderStatus,
    PrintJob,
    PrintJobId,
    PrintJobStatus,
    SeatDetail,
    SeatHouseHold,
    TicketId,
    TicketList,
)

__all__ = ["GRACE_S", "House", "RefusalError"]


class House(HouseReturns):
    """One event in one hall. `now` is the house's clock: set `offset` to move it. `version` counts seat changes."""

    def seat_detail(self, seat_no: int) -> SeatDetail:
        """Who has a seat and what it has been through: `seat_past`, and what was done here."""
        self._sweep()
        if seat_no >= len(self.states):
            raise RefusalError(ErrorCode.SEAT_UNKNOWN)
        return seat_detail(self, seat_no)

    def list_house_holds(self) -> HouseHoldList:
        """A house hold for each of `seat_house_holds`, with the seats that it still keeps."""
        kept: dict[UUID, list[int]] = {}
        for seat_no, one in self.seat_house_holds.items():
            if int(self.states[seat_no]) == staff_state(StaffStatus.BLOCKED, HolderKind.HOUSE):
                kept.setdefault(one.house_hold_id, []).append(seat_no)
        named = {one.house_hold_id: one for one in self.seat_house_holds.values()}
        holds = tuple(
            HouseHold(
                house_hold_id=hold_id, event_id=self.event_id, kind=named[hold_id].kind, reason=named[hold_id].reason,
                seats=tuple(self.seat(seat_no) for seat_no in seats), release_at=named[hold_id].release_at,
                created_at=named[hold_id].created_at, created_by=named[hold_id].created_by,
            )
            for hold_id, seats in kept.items()
        )  # fmt: skip
        return HouseHoldList(event_id=self.event_id, house_holds=holds, server_time=self.now())

    def keep_back(self, kind: HouseHoldKind, *seats: int) -> None:
        """The house keeps these seats back, as a supervisor would; call `push_deltas` of the server after it."""
        hold = SeatHouseHold(house_hold_id=uuid7(), kind=kind, reason="kept", created_at=self.now(), created_by="Sofia")
        self.seat_house_holds.update(dict.fromkeys(seats, hold))
        self.set_seats(seats, staff_state(StaffStatus.BLOCKED, HolderKind.HOUSE))

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
            if seats:
                self.set_seats(seats, staff_state(StaffStatus.SOLD, HolderKind.TILL) | PRINTED_BIT)
        return job
