"""The views of a plan, once its sections and seats are settled: they name them."""

from __future__ import annotations

from dataclasses import replace

from booking.domain.seating_plan.drafts import PlanDraft
from booking.domain.seating_plan.faults import Findings, PlanReading
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.views import read_views


def with_views(findings: Findings, plan: Members, member: str, reading: PlanReading, draft: PlanDraft) -> PlanReading:
    """The reading with what `member` of the file says of views from seats.

    Views name sections and ids as they came out; of a plan that is refused, as they stand in the file.
    """
    if not plan.has(member):
        return reading
    if reading.plan is not None:
        sections = [section.name for section in reading.plan.sections]
        guids = [seat.guid for seat in reading.plan.seats()]
    else:
        sections = [section.name for section in draft.sections]
        guids = [seat.guid for section in draft.sections for row in section.rows for seat in row.seats]
    views = read_views(plan, findings, sections, guids, member)
    whole = None if reading.plan is None else replace(reading.plan, views=views)
    return findings.reading(reading.format, whole, reading.counts)
