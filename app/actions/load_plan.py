"""What the plan editor begins with: plans of venues, files, and a draft that was not saved the last time."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid4

from app.actions.desk import Desk
from app.core.errors import PlanFileError, PlanFileTooLargeError, PlanNotReadyError
from app.core.plan_areas import MAX_PICTURE_BYTES, add_picture
from app.core.plan_draft import Selection
from app.core.plan_edits import add_category, add_section, rename_plan
from app.core.plan_fault_kinds import MAX_TEXT
from app.core.plan_file import read_plan
from app.core.plan_work import PlanOrigin, empty_plan
from app.core.session import Permission, require
from backend_client.errors import AnswerUnreadableError
from backend_client.wire import (
    PlanFile,
    PlanFileReport,
    PlanOriginNote,
    PlanRepair,
    Venue,
    VenuePlan,
    VenuePlanList,
)

LARGEST_IMPORT: Final = 22 * 1024 * 1024
"""Bytes of a file that a request can carry."""
KEPT_REPAIRS: Final = 200
MAX_NOTE: Final = 1_000
"""Characters of one repair."""


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
        draft = await asyncio.to_thread(read_plan, data, new_guid)
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
    draft = await asyncio.to_thread(lambda: read_plan(path.read_bytes(), new_guid))
    if draft.name.strip() == work.origin.name:
        origin = work.origin
    else:
        origin = PlanOrigin(work.origin.venue_id, work.origin.venue_name)
    work.begin(draft, origin, saved=False)


async def read_import_file(path: Path) -> PlanFile:
    """A plan file of any format, to be looked at.

    Raises:
        PlanFileTooLargeError: a request could not carry it.
        OSError: it cannot be read.
    """
    data = await asyncio.to_thread(_read_up_to, path, LARGEST_IMPORT + 1)
    if len(data) > LARGEST_IMPORT:
        raise PlanFileTooLargeError(f"more than {LARGEST_IMPORT} bytes")
    name = "".join(sign for sign in path.stem if sign.isprintable())[:MAX_TEXT].strip()
    return PlanFile(data=data, name=name)


async def look_at_file(desk: Desk, file: PlanFile) -> PlanFileReport:
    """What is in a plan file of any format, and what is wrong with it; the work stays as it is.

    Raises:
        NotAllowedError: the role may not draw plans.
        BookingRefusedError: the seat pattern cannot be read.
        BookingClientError: it did not work.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    return await desk.client.read_plan_file(file)


async def begin_import(desk: Desk, report: PlanFileReport) -> None:
    """Work on what was read from a file of another kind; what was mended is told with the first version that is saved.

    Raises:
        NotAllowedError: the role may not draw plans.
        PlanNotReadyError: the file has faults.
    """
    require(desk.store.session, Permission.DRAW_PLANS)
    if report.plan is None:
        raise PlanNotReadyError("the file has faults")
    work = desk.store.plan_work
    draft = await asyncio.to_thread(read_plan, report.plan, new_guid)
    is_same = draft.name.strip() == work.origin.name
    origin = work.origin if is_same else PlanOrigin(work.origin.venue_id, work.origin.venue_name)
    work.begin(draft, origin, saved=False, note=note_of(report))


def note_of(report: PlanFileReport) -> PlanOriginNote:
    """What is kept with the plan: all kinds of repairs with their numbers, the first ones one by one."""
    counts = Counter(repair.code for repair in report.repairs)
    repairs = tuple(
        PlanRepair(pointer=one.pointer[:MAX_NOTE], code=one.code, message=one.message[:MAX_NOTE])
        for one in report.repairs[:KEPT_REPAIRS]
    )
    return PlanOriginNote(format=report.format, repair_counts=dict(counts), repairs=repairs)


async def add_picture_file(desk: Desk, path: Path, width: float, height: float) -> None:
    """A picture of so many pixels under the drawing of the floor that is shown, as large as fits; it is chosen.

    Raises:
        PictureRefusedError: it is neither PNG nor JPEG, too large, or there are too many.
        OSError: it cannot be read.
    """
    work = desk.store.plan_work
    serial, data = work.serial, await asyncio.to_thread(_read_up_to, path, MAX_PICTURE_BYTES + 1)
    if work.serial == serial:
        key = work.draft.next_id
        work.edit(add_picture(work.draft, data, width, height, work.floor_no), Selection(shapes=frozenset({key})))


def _read_up_to(path: Path, limit: int) -> bytes:
    with path.open("rb") as file:
        return file.read(limit)


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
