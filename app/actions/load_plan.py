"""What the plan editor begins with: plans of venues, files, and a draft that was not saved the last time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

from uuid_utils.compat import uuid4

from app.actions.desk import Desk
from app.core.errors import PlanFileError
from app.core.plan_edits import add_category, add_section, rename_plan
from app.core.plan_file import read_plan
from app.core.plan_work import PlanOrigin, empty_plan
from app.core.session import Permission, require
from backend_client.errors import AnswerUnreadableError
from backend_client.wire import Venue, VenuePlan, VenuePlanList


def new_guid() -> str:
    """An id for a new seat."""
    return str(uuid4())


async def load_venues(desk: Desk) -> tuple[Venue, ...]:
    """All venues.

    Raises:
        NotAllowedError: the role may not draw plans.
        BookingClientError: they cannot be read.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    return (await desk.client.venues()).venues


async def load_plans(desk: Desk, venue_id: UUID) -> VenuePlanList:
    """The plans of a venue with their versions. Raises as `load_venues`."""
    require(desk.store.session, Permission.DRAW_PLANS)
    return await desk.client.venue_plans(venue_id)


async def open_plan(desk: Desk, venue: Venue, plan: VenuePlan, version: int) -> None:
    """Work on a version of a plan. Raises as `load_venues`; the work before stays then."""
    require(desk.store.session, Permission.DRAW_PLANS)
    data = await desk.client.plan_file(plan.plan_id, version)
    try:
        draft = read_plan(data, new_guid)
    except PlanFileError as error:
        raise AnswerUnreadableError(str(error)) from error
    newest = max(stored.version for stored in plan.versions)
    origin = PlanOrigin(venue.venue_id, venue.name, plan.name, version, newest, plan.events)
    desk.store.plan_work.begin(draft, origin, saved=True)


def begin_plan(desk: Desk, venue: Venue | None, plan_name: str, section: str, category: str, color: str) -> None:
    """An empty hall with a first section and category. Raises NotAllowedError."""
    require(desk.store.session, Permission.DRAW_PLANS)
    draft = add_section(add_category(empty_plan(), category, color), section)
    origin = PlanOrigin() if venue is None else PlanOrigin(venue.venue_id, venue.name)
    desk.store.plan_work.begin(rename_plan(draft, plan_name), origin, saved=False)


async def open_plan_file(desk: Desk, path: Path) -> None:
    """Work on a plan file of our format, at the venue that the work before was at.

    Raises:
        NotAllowedError: the role may not draw plans.
        PlanFileError: it is none; the work before stays.
        OSError: it cannot be read.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    work = desk.store.plan_work
    draft = read_plan(await asyncio.to_thread(path.read_bytes), new_guid)
    if draft.name.strip() == work.origin.name:
        origin = work.origin
    else:
        origin = PlanOrigin(work.origin.venue_id, work.origin.venue_name)
    work.begin(draft, origin, saved=False)


async def recall_draft(desk: Desk) -> bool:
    """Go on with the draft that was not saved when the console ended; False when there is none.

    Raises:
        PlanFileError: there is one that cannot be read; it is kept under another name.
    """
    if desk.plan_drafts is None:
        return False
    data = await desk.plan_drafts.read()
    if data is None:
        return False
    try:
        desk.store.plan_work.unpack(data)
    except PlanFileError:
        await desk.plan_drafts.set_aside()
        raise
    return True
