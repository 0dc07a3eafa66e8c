"""The table of routes: address, who may call it, what it takes, what it answers. There is no route outside it.

Roles are enforced here and only here, before the handler (R35); what a caller may see of a hold or an order is the
service's decision. "ops" may read everything that staff may read, pauses and resumes events and sets their limits, and
changes nothing in a sale.
"""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web import describe, feed_socket
from booking.web.admission_routes import ADMISSION_ROUTES
from booking.web.calls import Answer, KeyRule, QueryParameter, Route
from booking.web.handlers import access, access_codes, after_sale, control, plans, read, sale
from booking.web.money_routes import MONEY_ROUTES
from booking.web.ops_routes import OPS_ROUTES
from booking.web.provider_routes import PROVIDER_ROUTES
from booking.web.reconciliation_routes import RECONCILIATION_ROUTES
from booking.web.who import ANYONE, BUYERS, LEADERS, OPERATORS, SELLERS, SIGNED_IN, STAFF

EVENT: Final = "/v1/events/{event_id}"
HOLD: Final = "/v1/holds/{hold_id}"
ORDER: Final = "/v1/orders/{order_id}"

_LARGE_BODY: Final = 1024 * 1024
"""A terminal's evidence: up to 200 steps of 4,000 characters."""

_PLAN_BODY: Final = 32 * 1024 * 1024
"""A stadium in our own plan format has some 10 MB."""

_READS = KeyRule.READS
_KEYED = KeyRule.REQUIRED
_SEATS = (
    Answer(200, media_type=wire.SEATS_MEDIA_TYPE, words="Snapshot (see backend_client.seat_frames)"),
    Answer(304, words="Not changed since the tag in If-None-Match"),
)
_FEED_WORDS = (
    "Frames: FeedHello, then FeedDelta or binary deltas, FeedBeat, FeedResync, and FeedTiers where asked for. "
    f"Closed with {wire.FEED_TOKEN_EXPIRED} when the access token that opened it expires, "
    f"with {feed_socket.SLOW_CONSUMER} when the client takes no frames"
)
_FEED_QUERY = (
    QueryParameter("epoch", "integer", "Epoch of the map the client has"),
    QueryParameter("since", "integer", "Version of the map the client has"),
    QueryParameter("tiers", "string", "`true`: FeedTiers frames too, after the hello and whenever a count has changed"),
    QueryParameter("form", "string", "`binary` for binary deltas in the caller's layout; JSON deltas are public"),
)


def _one(message: type[wire.Message], status: int = 200) -> tuple[Answer, ...]:
    return (Answer(status, message),)


ROUTES: Final[tuple[Route, ...]] = (
    Route("GET", "/healthz", read.healthz, ANYONE, "The process answers", _READS, _one(wire.Health)),
    Route("GET", "/readyz", read.readyz, ANYONE, "The authority can be reached", _READS, _one(wire.Health)),
    Route("GET", "/v1/openapi.json", describe.openapi, ANYONE, "This description", _READS, (Answer(200),)),
    # ------------------------------------------------------------ reading
    Route("GET", "/v1/events", read.events, ANYONE, "All events", _READS, _one(wire.EventList)),
    Route("GET", EVENT, read.event, ANYONE, "One event with its prices", _READS, _one(wire.EventDetail)),
    Route(
        "GET", f"{EVENT}/tiers", read.tiers, ANYONE, "What is left of general-admission tiers", _READS,
        _one(wire.TierList),
    ),
    Route(
        "GET", f"{EVENT}/plan", read.plan, ANYONE, "The seating plan, immutable by version", _READS,
        (Answer(200, wire.Plan), Answer(304, words="Not changed")),
    ),
    Route("GET", f"{EVENT}/seats", read.seats, ANYONE, "All seats in the caller's layout", _READS, _SEATS),
    Route(
        "GET", f"{EVENT}/seats/{{seat_no}}", read.seat, STAFF, "One seat: who has it, its price, its whole history",
        _READS, _one(wire.SeatDetail),
    ),
    Route(
        "WS", f"{EVENT}/seats/feed", feed_socket.refuse_plain_http, ANYONE, "Seat changes as they happen", _READS,
        (Answer(101, words=_FEED_WORDS),),
        query=_FEED_QUERY,
    ),
    # ------------------------------------------------------------ who calls
    Route(
        "POST", "/v1/staff/login", access.login, ANYONE, "Sign in at a device", KeyRule.SIGNS_IN,
        _one(wire.StaffSession), wire.LoginRequest,
    ),
    Route(
        "POST", "/v1/staff/refresh", access.refresh, ANYONE, "Use a refresh token", KeyRule.SIGNS_IN,
        _one(wire.StaffSession), wire.RefreshRequest,
    ),
    Route(
        "POST", "/v1/staff/logout", access.logout, STAFF, "End the session", KeyRule.SIGNS_OUT,
        (Answer(204, words="Ended"),),
    ),
    Route(
        "POST", "/v1/accounts", access.create_account, ANYONE, "Open a fan's account", KeyRule.OPENS_ACCOUNT,
        _one(wire.AccountSession, 201),
    ),
    Route(
        "POST", "/v1/renewals", access.open_renewal, ANYONE, "Open a fan's account whose token can be renewed",
        KeyRule.RENEWS, _one(wire.AccountSession, 201), wire.RenewalOpening,
    ),
    Route(
        "POST", "/v1/renewals/next", access.use_renewal, ANYONE,
        "A new token of the account, and the secret's successor", KeyRule.RENEWS, _one(wire.AccountSession),
        wire.RenewalUse,
    ),
    Route(
        "POST", "/v1/renewals/spare", access.open_spare_renewal, ANYONE, "A secret for another device of the fan",
        KeyRule.RENEWS, _one(wire.RenewalSpare, 201), wire.RenewalSpareRequest,
    ),
    Route(
        "POST", "/v1/renewals/end", access.end_renewal, ANYONE, "A browser forgets the account", KeyRule.RENEWS,
        (Answer(204, words="Forgotten"),), wire.RenewalEnd,
    ),
    Route("GET", "/v1/me", access.me, SIGNED_IN, "Who the token says you are", _READS, _one(wire.Me)),
    # ------------------------------------------------------------ the sale
    Route(
        "POST", f"{EVENT}/holds", sale.hold_seats, BUYERS, "Hold 1 to 6 seats, all or nothing", _KEYED,
        _one(wire.Hold, 201), wire.HoldRequest,
    ),
    Route("GET", HOLD, sale.read_hold, SIGNED_IN, "A hold as of now", _READS, _one(wire.Hold)),
    Route("DELETE", HOLD, sale.release_hold, BUYERS, "Give the seats back", _KEYED, _one(wire.Hold)),
    Route(
        "POST", f"{HOLD}/checkout", sale.check_out, BUYERS, "Make an order of a hold", _KEYED,
        _one(wire.Order, 201), wire.CheckoutRequest,
    ),
    Route("GET", ORDER, sale.read_order, SIGNED_IN, "An order as of now", _READS, _one(wire.Order)),
    Route(
        "POST", f"{ORDER}/payments", sale.pay, BUYERS, "Open a payment operation", _KEYED,
        _one(wire.PaymentAnswer, 201), wire.PaymentRequest,
    ),
    Route(
        "POST", f"{ORDER}/cancel", sale.cancel_order, BUYERS, "Cancel an unpaid order", _KEYED,
        _one(wire.Order), wire.CancelRequest,
    ),
    Route(
        "PUT", "/v1/payments/{operation_id}/result", sale.report_result, SELLERS, "Report what a terminal said",
        _KEYED, _one(wire.ResultAnswer), wire.ResultReport, _LARGE_BODY,
    ),
    # ------------------------------------------------------------ after the sale
    Route(
        "GET", f"{ORDER}/tickets", after_sale.tickets, SIGNED_IN, "The tickets of an order", _READS,
        _one(wire.TicketList),
    ),
    Route(
        "POST", f"{ORDER}/print-jobs", after_sale.open_print_job, SELLERS, "Announce a print", _KEYED,
        _one(wire.PrintJob, 201), wire.PrintJobRequest,
    ),
    Route(
        "PUT", "/v1/print-jobs/{print_job_id}", after_sale.report_print_job, SELLERS, "Report how a print went",
        _KEYED, _one(wire.PrintJob), wire.PrintJobReport,
    ),
    *MONEY_ROUTES,
    # ------------------------------------------------------------ operators
    Route(
        "GET", f"{EVENT}/house-holds", control.list_house_holds, STAFF, "Seats that the house keeps back", _READS,
        _one(wire.HouseHoldList),
    ),
    Route(
        "POST", f"{EVENT}/house-holds", control.keep_seats_back, LEADERS, "Keep free seats back, all or nothing",
        _KEYED, _one(wire.HouseHold, 201), wire.HouseHoldRequest,
    ),
    Route(
        "POST", "/v1/house-holds/{house_hold_id}/release", control.release_house_hold, LEADERS,
        "Give seats of a house hold back to sale", _KEYED, _one(wire.HouseHold), wire.HouseHoldRelease,
    ),
    Route(
        "GET", f"{EVENT}/access-codes", access_codes.list_access_codes, LEADERS, "Codes that raise ticket limits",
        _READS, _one(wire.AccessCodeList),
    ),
    Route(
        "POST", f"{EVENT}/access-codes", access_codes.set_access_code, LEADERS,
        "Make a code that raises ticket limits, or give it new terms", _KEYED, _one(wire.AccessCode, 201),
        wire.AccessCodeRequest,
    ),
    Route(
        "GET", f"{EVENT}/settings", control.read_settings, STAFF, "Settings of an event, with their version", _READS,
        _one(wire.EventSettings),
    ),
    Route(
        "PUT", f"{EVENT}/settings", control.change_settings, OPERATORS, "Change settings from the version named",
        _KEYED, _one(wire.EventSettings), wire.EventSettingsChange,
    ),
    Route(
        "PUT", f"{EVENT}/plan", control.change_plan, LEADERS, "Put the event on another version of its plan", _KEYED,
        _one(wire.PlanChangeReport), wire.PlanChange,
    ),
    Route(
        "PUT", f"{EVENT}/tiers/{{tier_id}}", control.change_tier, LEADERS, "Another capacity for a tier", _KEYED,
        _one(wire.Tier), wire.TierChange,
    ),
    Route(
        "POST", f"{EVENT}/pause", control.pause, OPERATORS, "No new holds; sales under way may finish", _KEYED,
        _one(wire.EventDetail), wire.EventStatusChange,
    ),
    Route(
        "POST", f"{EVENT}/resume", control.resume, OPERATORS, "On sale again", _KEYED,
        _one(wire.EventDetail), wire.EventStatusChange,
    ),
    Route(
        "POST", f"{EVENT}/cancel", control.cancel, LEADERS, "End of the event's sale; unpaid sales end", _KEYED,
        _one(wire.EventDetail), wire.EventStatusChange,
    ),
    # ------------------------------------------------------------ plans
    Route("GET", "/v1/venues", plans.venues, LEADERS, "All venues", _READS, _one(wire.VenueList)),
    Route(
        "GET", "/v1/venues/{venue_id}/plans", plans.list_plans, LEADERS,
        "Plans of a venue, their versions, and the events on them", _READS, _one(wire.VenuePlanList),
    ),
    Route(
        "POST", "/v1/venues/{venue_id}/plans", plans.save_plan, LEADERS,
        "Store a plan of our own format as a new version; all of its faults at once", _KEYED,
        _one(wire.SavedPlan, 201), wire.PlanUpload, _PLAN_BODY,
    ),
    Route(
        "POST", "/v1/plan-files", plans.read_file, LEADERS,
        "What is in a plan file of any format and what is wrong with it", KeyRule.LOOKS_ON,
        _one(wire.PlanFileReport), wire.PlanFile, _PLAN_BODY,
    ),
    Route(
        "GET", "/v1/plans/{plan_id}/versions/{version}", plans.read_plan_file, LEADERS,
        "A version in our own plan format", _READS,
        (Answer(200, words="The plan (docs/seating-plan-format.md)"), ),
    ),
    # ------------------------------------------------------------ payment providers
    *PROVIDER_ROUTES,
    # ------------------------------------------------------------ what only a person can settle
    *RECONCILIATION_ROUTES,
    *ADMISSION_ROUTES,
    # ------------------------------------------------------------ the whole system
    *OPS_ROUTES,
)  # fmt: skip
