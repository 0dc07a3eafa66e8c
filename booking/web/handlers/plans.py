"""Plans of venues: what a plan editor reads and saves."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.services import venue_plans
from booking.web import addresses
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_upload = TypedBody(wire.PlanUpload)


async def venues(call: Call) -> Response:
    """All venues."""
    return answer(to_wire(await venue_plans.list_venues(call.db), wire.VenueList))


async def list_plans(call: Call) -> Response:
    """The plans of a venue, their versions, and the events on them."""
    return answer(to_wire(await venue_plans.list_plans(call.db, call.id("venue_id")), wire.VenuePlanList))


async def save_plan(call: Call) -> Response:
    """A plan as the newest version of the plan of its name."""
    body = _upload(call)
    outcome = await venue_plans.save_plan(
        call.db, call.signed_in, call.id("venue_id"), bytes(body.plan), body.expected_version,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.SavedPlan)


async def read_plan_file(call: Call) -> Response:
    """One version of a plan in our own format, to be worked on."""
    version = addresses.plan_version_of(call.path_values)
    data = await venue_plans.read_plan_file(call.db, call.id("plan_id"), version)
    return Response(data, media_type="application/json")
