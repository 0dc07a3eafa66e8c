"""The client of the booking API: one method for each thing the business does.

Every mutating call takes its idempotency `key` and is sent again, with the same key, as the retry policy says. Errors:
`backend_client.errors`. `device_id` names this counter; tokens are bound to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import httpx
from msgspec import Raw

from backend_client.errors import (
    AnswerUnknownError,
    AnswerUnreadableError,
    BookingRefusedError,
    NotSignedInError,
    ServiceUnavailableError,
)
from backend_client.http import Http, Request, Response, decode
from backend_client.retry import ONCE, RetryPolicy, call_with_retry
from backend_client.seat_frames import FrameError, Snapshot, decode_snapshot
from backend_client.steady_time import steady_seconds
from backend_client.tokens import Tokens
from backend_client.wire import (
    REPLAYED_HEADER,
    SEATS_MEDIA_TYPE,
    BestAvailable,
    CancelRequest,
    CheckoutLine,
    CheckoutPlaces,
    CheckoutRequest,
    DeviceId,
    ErrorCode,
    EventDetail,
    EventId,
    EventList,
    EventSettings,
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
    TerminalTotals,
    TerminalTotalsReport,
    TicketId,
    TicketList,
    TierList,
    TierQuantity,
    VenueList,
    VenuePlanList,
)

T = TypeVar("T")
TimeListener = Callable[[datetime, float, float], None]
_TELLS_TIME = (Hold, Order, StaffSession, Me)
"""Messages whose `server_time` is read when they are made; lists of events may come from a cache."""


class BookingClient:
    """See the module. The three `on_…` callbacks are called on the loop that makes the calls."""

    def __init__(
        self,
        base_url: str,
        *,
        device_id: DeviceId,
        transport: httpx.AsyncBaseTransport | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.device_id = device_id
        self.on_session: Callable[[StaffSession | None], None] = _ignore
        """A sign-in or a refresh gave a new session (its refresh token replaces the old one), or the session ended."""
        self.on_time: TimeListener = _ignore
        """A reading of the server's clock: the time, and the steady instants of asking and hearing."""
        self.on_reached: Callable[[bool], None] = _ignore
        """Whether the last call reached the booking system."""
        self.reached_at = float("-inf")
        """The steady instant of the last answer."""
        self._http = Http(base_url, transport=transport)
        self._retry = RetryPolicy() if retry is None else retry
        self._tokens = Tokens(self._exchange_session)
        self._plans: dict[tuple[UUID, int], Plan] = {}

    @property
    def base_url(self) -> str:
        """The address of the booking system."""
        return self._http.base_url

    @property
    def session(self) -> StaffSession | None:
        """The signed-in session."""
        return self._tokens.session

    async def access_token(self) -> str | None:
        """A fresh access token, for the seat feed."""
        return await self._tokens.access_token()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

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
        """End the session; locally in any case, at the API if it can be reached."""
        try:
            await self._answer(Request("POST", "/v1/staff/logout"), ONCE)
        except (ServiceUnavailableError, AnswerUnknownError, NotSignedInError):
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

    async def report_terminal_totals(self, report: TerminalTotalsReport, *, key: str) -> TerminalTotals:
        """Report what our terminal counted at its end of day."""
        return await self._call(Request("POST", "/v1/terminal-totals", report, key), TerminalTotals)

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

    # ------------------------------------------------------------ underneath

    async def _read(self, path: str, message_type: type[T]) -> T:
        return await self._call(Request("GET", path), message_type)

    async def _call(
        self, request: Request, message_type: type[T], policy: RetryPolicy | None = None, *, anonymous: bool = False
    ) -> T:
        async def attempt() -> T:
            response = await self._attempt(request, anonymous=anonymous)
            message = decode(response, message_type, mutating=bool(request.key))
            self._hear_time(message, response)
            return message

        return await call_with_retry(attempt, self._retry if policy is None else policy)

    async def _answer(self, request: Request, policy: RetryPolicy) -> Response:
        return await call_with_retry(lambda: self._attempt(request), policy)

    async def _attempt(self, request: Request, *, anonymous: bool = False) -> Response:
        """Send once, with a fresh token; once more when the API says that the token has expired."""
        try:
            response = await self._send_signed(request, anonymous=anonymous)
        except ServiceUnavailableError as error:
            self._hear_reached(error.retry_after_s is not None)
            raise
        except AnswerUnknownError:
            self._hear_reached(False)
            raise
        except BookingRefusedError:
            self._hear_reached(True)
            raise
        self._hear_reached(True)
        return response

    def _hear_reached(self, reached: bool) -> None:
        if reached:
            self.reached_at = steady_seconds()
        self.on_reached(reached)

    async def _send_signed(self, request: Request, *, anonymous: bool) -> Response:
        token = None if anonymous else await self._tokens.access_token()
        try:
            return await self._http.send(request, token)
        except NotSignedInError as error:
            if token is None or error.problem.code is not ErrorCode.TOKEN_EXPIRED:
                self._end_session(token)
                raise
        renewed = await self._tokens.renew(token)
        return await self._http.send(request, renewed.access_token)

    async def _exchange_session(self, session: StaffSession) -> StaffSession:
        body = RefreshRequest(refresh_token=session.refresh_token, device_id=session.device_id)
        request = Request("POST", "/v1/staff/refresh", body)
        try:
            renewed = decode(await self._http.send(request, None), StaffSession, mutating=False)
        except NotSignedInError:
            self._end_session(session.access_token)
            raise
        self.on_session(renewed)
        return renewed

    def _take_session(self, session: StaffSession) -> None:
        self._tokens.put(session)
        self.on_session(session)

    def _end_session(self, token: str | None) -> None:
        """The API no longer knows the session that `token` belongs to; one that replaced it meanwhile stays."""
        session = self._tokens.session
        if session is not None and session.access_token == token:
            self._tokens.put(None)
            self.on_session(None)

    def _hear_time(self, message: object, response: Response) -> None:
        """A replayed answer carries the time of the first one, and says nothing about now."""
        if REPLAYED_HEADER in response.headers:
            return
        told = message.order if isinstance(message, PaymentAnswer | ResultAnswer) else message
        if isinstance(told, _TELLS_TIME):
            self.on_time(told.server_time, response.sent_at, response.received_at)


def _ignore(*_arguments: object) -> None:
    """Nobody listens."""
