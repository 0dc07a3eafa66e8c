"""Plans of venues: what a plan editor reads and saves."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.seating_plan.faults import Finding
from booking.services import venue_plans
from booking.services.check_plan_file import MAX_FINDINGS, PlanFileReading, check_plan_file
from booking.services.import_plan import PlanSource
from booking.web import addresses
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_upload = TypedBody(wire.PlanUpload)
_file = TypedBody(wire.PlanFile)


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
        key=call.key, digest=call.digest, origin=_origin_of(body.origin),
    )  # fmt: skip
    return answer_outcome(outcome, wire.SavedPlan)


def _origin_of(note: wire.PlanOriginNote | None) -> PlanSource | None:
    if note is None:
        return None
    repairs = tuple((repair.pointer, repair.code, repair.message) for repair in note.repairs)
    return PlanSource(note.format, dict(note.repair_counts), repairs)


async def read_file(call: Call) -> Response:
    """What is in a plan file of any format."""
    body = _file(call)
    return answer(report_of(await check_plan_file(body.data, body.name, body.repairs, body.seat_pattern)))


def report_of(report: PlanFileReading) -> wire.PlanFileReport:
    """A reading as the wire has it."""
    return wire.PlanFileReport(
        format=report.format,
        seats=report.counts.seats,
        ga_capacity=report.counts.ga_capacity,
        sections=report.counts.sections,
        categories=report.counts.categories,
        fault_count=len(report.faults),
        warning_count=len(report.warnings),
        repair_count=len(report.repairs),
        faults=_findings(report.faults),
        warnings=_findings(report.warnings),
        repairs=_findings(report.repairs),
        offered=report.offered,
        plan=report.file,
    )


def _findings(findings: tuple[Finding, ...]) -> tuple[wire.PlanFinding, ...]:
    return tuple(
        wire.PlanFinding(
            pointer=one.pointer,
            code=one.code.value,
            message=one.message,
            repair=str(one.repair),
            says=one.saying.says.key,
            values=dict(one.saying.values),
        )
        for one in findings[:MAX_FINDINGS]
    )


async def read_plan_file(call: Call) -> Response:
    """One version of a plan in our own format, to be worked on."""
    version = addresses.plan_version_of(call.path_values)
    data = await venue_plans.read_plan_file(call.db, call.id("plan_id"), version)
    return Response(data, media_type="application/json")
