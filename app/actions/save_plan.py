"""A draft becomes a version of its plan; events are put on it; what is not saved is kept on the disk (R13, I4)."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

from app.actions.desk import Desk
from app.actions.load_plan import new_guid
from app.core.errors import PlanFileError, PlanNotReadyError
from app.core.plan_draft import PlanDraft
from app.core.plan_faults import faults_of, may_be_saved
from app.core.plan_file import plan_body, read_plan, write_plan
from app.core.plan_work import PlanWork
from app.core.session import Permission, require
from app.whole_file import write_whole
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import ErrorCode, PlanChange, PlanChangeReport, PlanEvent, SavedPlan

_LOG = logging.getLogger(__name__)


async def save_plan(desk: Desk) -> SavedPlan:
    """Save the draft as the newest version of its plan. Edits that are made meanwhile stay and are not in it.

    Raises:
        NotAllowedError: the role may not draw plans.
        PlanNotReadyError: it has faults, or no venue.
        BookingRefusedError: `invalid-request` with everything that is wrong in `fields`; `plan-changed` when somebody
            else has saved another version.
        BookingClientError: it did not work; nothing is lost.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    work = desk.store.plan_work
    draft, venue_id, serial = work.draft, work.origin.venue_id, work.serial
    if venue_id is None or not may_be_saved(faults_of(draft)):
        raise PlanNotReadyError("the plan has faults, or no venue")
    expected, note = work.origin.expected_version(draft.name.strip()), work.origin_note
    data = await asyncio.to_thread(_file_of, draft)  # a third of a second for 40,000 seats
    try:
        saved = await desk.client.save_plan(
            venue_id, data, expected, key=desk.new_key(), origin=note
        )  # fmt: skip
    except BookingRefusedError as error:
        if error.problem.code is ErrorCode.INVALID_REQUEST and work.serial == serial:
            work.put_refused(error.problem.fields, draft)
        raise
    if work.serial != serial:
        return saved  # another plan is being drawn meanwhile
    work.note_saved(draft, saved.version)
    await forget_draft(desk)
    plans = await desk.client.venue_plans(venue_id)
    if work.serial == serial:
        work.put_events(next((plan.events for plan in plans.plans if plan.plan_id == saved.plan_id), ()))
    return saved


def _file_of(draft: PlanDraft) -> bytes:
    return json.dumps(plan_body(draft), ensure_ascii=False).encode()


async def put_event_on_plan(desk: Desk, event: PlanEvent, version: int, reason: str) -> PlanChangeReport:
    """Put an event on a version of its plan; seats under sale keep it where it is, and they are listed (I4).

    Raises:
        NotAllowedError: the role may not.
        BookingRefusedError: `plan-conflict` names the seats in the way.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    change = PlanChange(expected_version=event.settings_version, plan_version=version, reason=reason)
    try:
        return await desk.client.change_plan(event.event_id, change, key=desk.new_key())
    except BookingRefusedError as error:
        if error.problem.code is ErrorCode.PLAN_CONFLICT:
            source = await _version_of(desk, event)
            desk.store.plan_work.put_taken(error.seats, source)
        raise


async def _version_of(desk: Desk, event: PlanEvent) -> PlanDraft | None:
    """The version that the event is on, to show where its seats are; None when it cannot be read now."""
    origin = desk.store.plan_work.origin
    if origin.venue_id is None:
        return None
    try:
        plans = await desk.client.venue_plans(origin.venue_id)
        plan_id = next((plan.plan_id for plan in plans.plans if plan.name == origin.name), None)
        if plan_id is None:
            return None
        data = await desk.client.plan_file(plan_id, event.plan_version)
        return await asyncio.to_thread(read_plan, data, new_guid)
    except (BookingClientError, PlanFileError) as error:
        _LOG.warning("the version of event %s is not read: %s", event.event_id, error)
        return None


async def refresh_events(desk: Desk) -> None:
    """Read the events on the plan anew."""
    work = desk.store.plan_work
    if work.origin.venue_id is not None:
        plans = await desk.client.venue_plans(work.origin.venue_id)
        work.put_events(next((plan.events for plan in plans.plans if plan.name == work.origin.name), ()))


async def write_plan_file(desk: Desk, path: Path) -> None:
    """Write the draft to a file of our format, whatever state it is in.

    Raises:
        OSError: it could not be written; a file that was there is as it was.
    """
    draft = desk.store.plan_work.draft
    await asyncio.to_thread(lambda: write_whole(path, write_plan(draft)))


async def keep_draft(desk: Desk) -> None:
    """Keep the work on the disk while it is not saved; what is saved is forgotten there.

    Raises:
        OSError: the disk is full, or may only be read.
    """
    if desk.plan_drafts is None:
        return
    work: PlanWork = desk.store.plan_work
    if work.is_changed:
        await desk.plan_drafts.write(work.pack())
    else:
        await desk.plan_drafts.forget()


async def forget_draft(desk: Desk) -> None:
    """Forget what is kept on the disk, unless it has gone on since."""
    if desk.plan_drafts is not None and not desk.store.plan_work.is_changed:
        await desk.plan_drafts.forget()
