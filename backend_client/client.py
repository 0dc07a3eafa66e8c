"""The client of the booking API: one method for each thing the business does.

Every mutating call takes its idempotency `key` and is sent again, with the same key, as the retry policy says. Errors:
`backend_client.errors`. `device_id` names this counter; tokens are bound to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import httpx
from msgspec import Raw

from backend_client.client_admission import AdmissionCalls
from backend_client.client_money_back import MoneyBackCalls
from backend_client.client_ops import OpsCalls
from backend_client.client_reconciliation import ReconciliationCalls
from backend_client.errors import AnswerUnreadableError, BookingClientError
from backend_client.http import Request
from backend_client.retry import ONCE, RetryPolicy
from backend_client.seat_frames import FrameError, Snapshot, decode_snapshot
from backend_client.wire import (
    SEATS_MEDIA_TYPE,
    BestAvailable,
    CancelRequest,
    CheckoutLine,
    CheckoutPlaces,
    CheckoutRequest,
    DeviceId,
    EventDetail,
    EventId,
    EventList,
    EventSettings,
    EventSettingsChange,
    Health,
    Hold,
    HoldId,
    HoldRequest,
    HouseHoldList,
    LoginRequest,
    Me,
    OperationId,
    Order,
    OrderId,
    PaymentAnswer,
    PaymentRequest,
    Plan,
    PlanChange,
    PlanChangeReport,
    PlanFile,
    PlanFileReport,
    PlanOriginNote,
    PlanUpload,
    PrintJob,
    PrintJobId,
    PrintJobReport,
    PrintJobRequest,
    PrintJobStatus,
    RefreshRequest,
    ResultAnswer,
    ResultReport,
    SavedPlan,
    SeatDetail,
    StaffSession,
    TicketId,
    TicketList,
    TierList,
    TierQuantity,
    VenueList,
    VenuePlanList,
)


class BookingClient(AdmissionCalls, MoneyBackCalls, OpsCalls, ReconciliationCalls):
    """See the module. The three `on_…` callbacks are called on the loop that makes the calls."""

    def __init__(
        self,
        base_url: str,
        *,
        device_id: DeviceId,
        transport: httpx.AsyncBaseTransport | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        super().__init__(base_url, device_id=device_id, transport=transport, retry=retry)
        self._plans: dict[tuple[UUID, int], Plan] = {}

    # ------------------------------------------------------------ staff

    async def sign_in(self, name: str, password: str, device_name: str) -> StaffSession:
        """Open a session for a person at this device. Sent once: a wrong password must not count twice."""
        body = LoginRequest(name=name, password=password, device_id=self.device_id, device_name=device_name)
        session = await self._call(Request("POST", "/v1/staff/login", body), StaffSession, ONCE, anonymous=True)
        self._take_session(session)
        return session

    async def refresh(self, refresh_token: str) -> StaffSession:
        """Open the session that a kept refresh token stands for. The token is used once: keep the new one."""
        body = RefreshRequest(refresh_token=refresh_token, device_id=self.device_id)
        session = await self._call(Request("POST", "/v1/staff/refresh", body), StaffSession, ONCE, anonymous=True)
        self._take_session(session)
        return session

    async def sign_out(self) -> None:
        """End the session; locally in any case, at the API if it can be reached and takes it."""
        try:
            await self._answer(Request("POST", "/v1/staff/logout"), ONCE)
        except BookingClientError:
            pass  # the tokens are forgotten here; at the API they run out by themselves
        finally:
            self._tokens.put(None)
            self.on_session(None)

    async def look(self) -> None:
        """Ask only whether the booking system answers; `on_reached` hears it."""
        await self._call(Request("GET", "/healthz"), Health, ONCE, anonymous=True)

    async def me(self) -> Me:
        """Who the API takes us for."""
        return await self._read("/v1/me", Me)

    # ------------------------------------------------------------ events

    async def events(self) -> EventList:
        """The events on offer."""
        return await self._read("/v1/events", EventList)

    async def event(self, event_id: EventId) -> EventDetail:
        """An event with its prices."""
        return await self._read(f"/v1/events/{event_id}", EventDetail)

    async def tiers(self, event_id: EventId) -> TierList:
        """What is left of the general-admission tiers of an event."""
        return await self._read(f"/v1/events/{event_id}/tiers", TierList)

    async def house_holds(self, event_id: EventId) -> HouseHoldList:
        """Seats that the house keeps back, for whom and until when; for staff."""
        return await self._read(f"/v1/events/{event_id}/house-holds", HouseHoldList)

    async def event_settings(self, event_id: EventId) -> EventSettings:
        """What operators have set for an event; for staff."""
        return await self._read(f"/v1/events/{event_id}/settings", EventSettings)

    async def change_event_settings(self, event_id: EventId, change: EventSettingsChange, *, key: str) -> EventSettings:
        """Other settings of an event, from the version that was seen; a refusal is `settings-changed` otherwise."""
        request = Request("PUT", f"/v1/events/{event_id}/settings", change, key)
        return await self._call(request, EventSettings)

    async def plan(self, event_id: EventId, plan_id: UUID, version: int) -> Plan:
        """The seating plan of an event; kept by (plan_id, version), which never changes (R13)."""
        known = self._plans.get((plan_id, version))
        if known is not None:
            return known
        plan = await self._read(f"/v1/events/{event_id}/plan", Plan)
        self._plans[plan.plan_id, plan.version] = plan
        return plan

    async def seat_snapshot(self, event_id: EventId) -> Snapshot:
        """The state of all seats now, in the layout that our role may see."""
        request = Request("GET", f"/v1/events/{event_id}/seats", headers=(("Accept", SEATS_MEDIA_TYPE),))
        response = await self._answer(request, ONCE)
        try:
            return decode_snapshot(response.content)
        except FrameError as error:
            raise AnswerUnreadableError(str(error), request_id=response.request_id) from error

    async def seat_detail(self, event_id: EventId, seat_no: int) -> SeatDetail:
        """Who has a seat and since when, its prices, and everything that it has been through; for staff."""
        return await self._read(f"/v1/events/{event_id}/seats/{seat_no}", SeatDetail)

    # ------------------------------------------------------------ sale

    async def hold_seats(
        self,
        event_id: EventId,
        seats: Sequence[int] = (),
        *,
        key: str,
        best_available: BestAvailable | None = None,
        tiers: Sequence[TierQuantity] = (),
        access_code: str = "",
    ) -> Hold:
        """Take 1–6 places, all or nothing (R3): these seats, or the best that are free, and places of `tiers`.

        SeatsTakenError names every seat that was lost, SeatOrphanedError those that would be left single; both carry an
        `offer`. A refusal `no-block-left` says that so many do not sit together any more, `tier-sold-out` and
        `tier-in-holds` that a tier has not so many places left, or not now. `access_code` raises a limit.
        """
        body = HoldRequest(
            seats=tuple(seats), best_available=best_available, tiers=tuple(tiers), access_code=access_code
        )
        return await self._call(Request("POST", f"/v1/events/{event_id}/holds", body, key), Hold)

    async def hold(self, hold_id: HoldId) -> Hold:
        """A hold as it stands."""
        return await self._read(f"/v1/holds/{hold_id}", Hold)

    async def release_hold(self, hold_id: HoldId, *, key: str) -> Hold:
        """Give the seats back; again is the same."""
        return await self._call(Request("DELETE", f"/v1/holds/{hold_id}", None, key), Hold)

    async def check_out(
        self,
        hold_id: HoldId,
        lines: Sequence[CheckoutLine],
        shown_total_minor: int,
        *,
        key: str,
        places: Sequence[CheckoutPlaces] = (),
    ) -> Order:
        """Make an order of a hold: a price type for each of its seats and `places`.

        The API computes the total and refuses another one that was shown (R10).
        """
        body = CheckoutRequest(lines=tuple(lines), shown_total_minor=shown_total_minor, places=tuple(places))
        return await self._call(Request("POST", f"/v1/holds/{hold_id}/checkout", body, key), Order)

    async def order(self, order_id: OrderId) -> Order:
        """An order as it stands."""
        return await self._read(f"/v1/orders/{order_id}", Order)

    async def cancel_order(self, order_id: OrderId, reason: str, *, keep_seats: bool, key: str) -> Order:
        """Cancel an unpaid order; `keep_seats` leaves them held while time is left."""
        body = CancelRequest(reason=reason, keep_seats=keep_seats)
        return await self._call(Request("POST", f"/v1/orders/{order_id}/cancel", body, key), Order)

    async def pay(self, order_id: OrderId, payment: PaymentRequest, *, key: str) -> PaymentAnswer:
        """Open a payment operation; cash is done with it, a terminal's result is reported later."""
        return await self._call(Request("POST", f"/v1/orders/{order_id}/payments", payment, key), PaymentAnswer)

    async def report_result(
        self, operation_id: OperationId, report: ResultReport, *, key: str, within_s: float | None = None
    ) -> ResultAnswer:
        """Report what our terminal said. `within_s` bounds the call and all its retries."""
        request = Request("PUT", f"/v1/payments/{operation_id}/result", report, key, within_s=within_s)
        policy = self._retry if within_s is None else replace(self._retry, within_s=within_s)
        return await self._call(request, ResultAnswer, policy)

    async def withdraw(self, operation_id: OperationId, *, key: str) -> PaymentAnswer:
        """A payment that waits for the buyer (at a reader) is not wanted any more; what became of it is the answer."""
        return await self._call(Request("POST", f"/v1/payments/{operation_id}/withdraw", None, key), PaymentAnswer)

    # ------------------------------------------------------------ tickets

    async def tickets(self, order_id: OrderId) -> TicketList:
        """The tickets of an order, as far as they are issued."""
        return await self._read(f"/v1/orders/{order_id}/tickets", TicketList)

    async def open_print_job(
        self, order_id: OrderId, ticket_ids: Sequence[TicketId], printer: str, *, key: str
    ) -> PrintJob:
        """Say that these tickets are about to be printed."""
        body = PrintJobRequest(ticket_ids=tuple(ticket_ids), printer=printer)
        return await self._call(Request("POST", f"/v1/orders/{order_id}/print-jobs", body, key), PrintJob)

    async def report_print_job(
        self, print_job_id: PrintJobId, status: PrintJobStatus, detail: str, *, key: str
    ) -> PrintJob:
        """Say how a print job went."""
        body = PrintJobReport(status=status, detail=detail)
        return await self._call(Request("PUT", f"/v1/print-jobs/{print_job_id}", body, key), PrintJob)

    # ------------------------------------------------------------ plans

    async def venues(self) -> VenueList:
        """All venues; for those who draw plans."""
        return await self._read("/v1/venues", VenueList)

    async def venue_plans(self, venue_id: UUID) -> VenuePlanList:
        """The plans of a venue, their versions, and the events on them."""
        return await self._read(f"/v1/venues/{venue_id}/plans", VenuePlanList)

    async def plan_file(self, plan_id: UUID, version: int) -> bytes:
        """A version of a plan as a file of our own plan format."""
        response = await self._answer(Request("GET", f"/v1/plans/{plan_id}/versions/{version}"), ONCE)
        return response.content

    async def read_plan_file(self, file: PlanFile) -> PlanFileReport:
        """What is in a plan file of any format, and what is wrong with it; nothing is stored."""
        return await self._call(Request("POST", "/v1/plan-files", file), PlanFileReport, ONCE)

    async def save_plan(
        self,
        venue_id: UUID,
        plan: bytes,
        expected_version: int | None,
        *,
        key: str,
        origin: PlanOriginNote | None = None,
    ) -> SavedPlan:
        """Store a plan file as a new version. A refusal `invalid-request` names all of its faults in `fields`."""
        body = PlanUpload(plan=Raw(plan), expected_version=expected_version, origin=origin)
        return await self._call(Request("POST", f"/v1/venues/{venue_id}/plans", body, key), SavedPlan)

    async def change_plan(self, event_id: EventId, change: PlanChange, *, key: str) -> PlanChangeReport:
        """Put an event on another version of its plan (I4). A refusal `plan-conflict` names the seats in the way."""
        return await self._call(Request("PUT", f"/v1/events/{event_id}/plan", change, key), PlanChangeReport)
