"""The plan editor's actions on the real authority: what it lets through is taken, what comes back the same (I3, I4)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from app.actions.desk import Desk
from app.actions.load_plan import load_plans, load_venues, open_plan
from app.actions.save_plan import put_event_on_plan, save_plan
from app.actions.sign_in import sign_in
from app.core import plan_edits as edits
from app.core.errors import NotAllowedError, PlanNotReadyError
from app.core.plan_areas import add_picture, add_standing
from app.core.plan_draft import (
    NO_CATEGORY,
    DraftPicture,
    DraftShape,
    DraftTable,
    DraftView,
    PlanDraft,
    SeatMark,
    Selection,
)
from app.core.plan_faults import faults_of, may_be_saved
from app.core.plan_file import plan_body, read_plan, write_plan
from app.core.plan_floors import add_floor, move_section_to_floor
from app.core.plan_neighbours import aisles_of, open_aisle
from app.core.plan_tables import BOOTH, TABLE, add_table
from app.core.plan_work import PlanOrigin
from app.showcase import small_hall
from backend_client.errors import BookingRefusedError
from backend_client.wire import ErrorCode, Venue
from booking.domain.caller import Role
from booking.domain.seating_plan.formats import read_plan as read_any_plan
from booking.services.create_event import EventSpec, create_event
from booking.services.sign_in import create_staff
from booking.store.database import Database
from tests.server.web_api import PASSWORD, api_over
from tests.unit.counter import make_counter, open_journal

WORDS = {"stalls": "Stalls", "balcony": "Balcony", "stage": "Stage", "bar": "Bar"}
EVENING = datetime.fromisoformat("2027-06-18T20:30")


@dataclass(slots=True)
class Drawing:
    """A supervisor's console on the real API, and the venue to draw for."""

    desk: Desk
    venue: Venue
    db: Database

    async def save(self, draft: PlanDraft) -> int:
        """Save a draft as the editor does; the version."""
        self.desk.store.plan_work.edit(draft)
        return (await save_plan(self.desk)).version


@pytest.fixture
async def drawing(database: Database, tmp_path: Path) -> AsyncIterator[Drawing]:
    venue_id = uuid4()
    await database.fetch(
        "INSERT INTO venues (venue_id, name, zone) VALUES ($1, 'Teatro', 'Europe/Lisbon') RETURNING name", venue_id
    )
    await create_staff(database, "sofia", "Sofia", Role.SUPERVISOR, PASSWORD)
    journal = open_journal(tmp_path)
    async with api_over(database) as api:
        counter = make_counter(journal, transport=httpx.ASGITransport(api.app))
        await sign_in(counter.desk, "sofia", PASSWORD)
        (venue,) = await load_venues(counter.desk)
        counter.desk.store.plan_work.begin(small_hall(WORDS), PlanOrigin(venue.venue_id, venue.name), saved=False)
        yield Drawing(counter.desk, venue, database)
        await counter.desk.client.close()
    await journal.close()


async def test_a_drawn_hall_is_saved_opened_changed_and_saved_again(drawing: Drawing) -> None:
    work = drawing.desk.store.plan_work
    drawn = work.draft
    assert await drawing.save(drawn) == 1
    assert not work.is_changed
    assert await drawing.save(edits.move(drawn, Selection(frozenset({drawn.rows[0].row_id})), 0, -5)) == 2
    (plan,) = (await load_plans(drawing.desk, drawing.venue.venue_id)).plans
    assert [version.version for version in plan.versions] == [2, 1]
    await open_plan(drawing.desk, drawing.venue, plan, 1)
    assert [seat for row in work.draft.rows for seat in row.seats] == [
        replace(seat, category_id=again.category_id)
        for seat, again in zip(
            [seat for row in drawn.rows for seat in row.seats],
            [seat for row in work.draft.rows for seat in row.seats],
            strict=True,
        )
    ]
    assert [shape.text for shape in work.draft.shapes] == ["Stage", "Bar"]
    assert work.origin.newest == 2
    assert await drawing.save(edits.resize_hall(work.draft, 900, 700)) == 3


async def test_views_and_pictures_outlive_being_opened_changed_and_saved(drawing: Drawing) -> None:
    work, desk = drawing.desk.store.plan_work, drawing.desk
    drawn = small_hall(WORDS)
    stalls, balcony = (section.section_id for section in drawn.sections)
    gone, kept = (seat.guid for seat in drawn.rows[0].seats[:2])
    image = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
    views = (
        DraftView(image, stalls),
        DraftView(image, balcony),
        DraftView(image, guids=(gone,)),
        DraftView(image, guids=(kept,)),
    )
    picture = DraftPicture(image, 5.0, 6.0, 70.0, 80.0, 0.25)
    await drawing.save(replace(drawn, views=views, pictures=(picture,)))
    (plan,) = (await load_plans(desk, drawing.venue.venue_id)).plans
    await open_plan(desk, drawing.venue, plan, 1)
    changed = edits.rename_section(work.draft, work.draft.sections[0].section_id, "Parterre")
    assert await drawing.save(edits.remove(changed, Selection(seats=frozenset({gone})))) == 2
    (plan,) = (await load_plans(desk, drawing.venue.venue_id)).plans
    stored = read_any_plan(await desk.client.plan_file(plan.plan_id, 2)).plan
    assert stored is not None
    assert [(view.section, view.guids) for view in stored.views] == [("Parterre", ()), ("Balcony", ()), ("", (kept,))]
    assert {b64encode(view.image).decode() for view in stored.views} == {image}
    await open_plan(desk, drawing.venue, plan, 2)
    assert [replace(one, picture_id=0) for one in work.draft.pictures] == [picture]
    assert not work.is_changed


async def test_all_that_a_hall_has_goes_to_the_booking_system_and_comes_back(drawing: Drawing) -> None:
    work, desk = drawing.desk.store.plan_work, drawing.desk
    shapes = tuple(
        replace(shape, text_color="#333333") for shape in work.draft.shapes
    )  # what the format takes for none
    drawn = with_table(with_table(replace(work.draft, shapes=shapes)), BOOTH)
    drawn = add_floor(drawn, "Stalls", "Balcony")
    drawn = move_section_to_floor(drawn, drawn.sections[1].section_id, 1)
    drawn = add_standing(drawn, "Pit", 250, drawn.categories[1].category_id, AREA)
    drawn = edits.add_shape(drawn, DraftShape(0, "ellipse", 600, 60, 80, 40, rotation=15, color="#aabbcc", floor_no=1))
    drawn = add_picture(drawn, b"\x89PNG\r\n\x1a\n" + bytes(40), 400, 300, 1)
    drawn = edits.put_focal(open_aisle(drawn, drawn.rows[0].seats[9].guid), (400.0, 20.0))
    assert await drawing.save(drawn) == 1
    (plan,) = (await load_plans(desk, drawing.venue.venue_id)).plans
    await open_plan(desk, drawing.venue, plan, 1)
    assert plan_body(work.draft) == plan_body(drawn)
    assert aisles_of(work.draft).keys() == {work.draft.rows[0].row_id}
    assert await drawing.save(edits.rename_row(work.draft, work.draft.rows[0].row_id, "AA")) == 2
    event_id = await create_event(
        drawing.db,
        EventSpec(
            name="An evening", plan_id=plan.plan_id, plan_version=2, starts_at=EVENING, zone="Europe/Lisbon",
            currency="EUR", price_types=("Adult",), prices={"Stalls": (4_000,), "Balcony": (2_000,)},
        ),
    )  # fmt: skip
    event = await desk.client.event(event_id)  # type: ignore[arg-type]  # the same number on both sides
    assert [(tier.name, tier.capacity) for tier in event.tiers] == [("Pit", 250)]


async def test_another_name_and_place_keep_a_seat_sold_and_a_lost_one_is_shown_where_it_was(drawing: Drawing) -> None:
    work, desk = drawing.desk.store.plan_work, drawing.desk
    first = work.draft
    await drawing.save(first)
    (plan,) = (await load_plans(desk, drawing.venue.venue_id)).plans
    event_id = await create_event(
        drawing.db,
        EventSpec(
            name="An evening", plan_id=plan.plan_id, plan_version=1, starts_at=EVENING, zone="Europe/Lisbon",
            currency="EUR", price_types=("Adult",), prices={"Stalls": (4_000,), "Balcony": (2_000,)},
        ),
    )  # fmt: skip
    await desk.client.hold_seats(event_id, (2, 3), key="hold")  # type: ignore[arg-type]
    kept, lost = first.rows[0].seats[2], first.rows[0].seats[3]
    renamed = edits.move(edits.number_seat(first, kept.guid, "99"), Selection(seats=frozenset({kept.guid})), 0, -12)
    await drawing.save(edits.remove(renamed, Selection(seats=frozenset({lost.guid}))))
    (event,) = work.origin.events
    with pytest.raises(BookingRefusedError):
        await put_event_on_plan(desk, event, 2, "a mixing desk")
    ((taken),) = work.taken
    assert (taken.guid, taken.place, taken.ref.number) == (lost.guid, lost.place, lost.number)
    assert work.lost_taken == work.taken
    work.restore_taken()
    assert await drawing.save(work.draft) == 3
    report = await put_event_on_plan(desk, event, 3, "a mixing desk")
    assert report.applied
    assert [(seat.row, seat.number) for seat in report.relabelled] == [("A", "99")]


async def test_seats_under_sale_keep_an_event_on_its_version_and_are_shown(drawing: Drawing) -> None:
    work, desk = drawing.desk.store.plan_work, drawing.desk
    first = work.draft
    await drawing.save(first)
    (plan,) = (await load_plans(desk, drawing.venue.venue_id)).plans
    event_id = await create_event(
        drawing.db,
        EventSpec(
            name="An evening", plan_id=plan.plan_id, plan_version=1, starts_at=EVENING, zone="Europe/Lisbon",
            currency="EUR", price_types=("Adult",), prices={"Stalls": (4_000,), "Balcony": (2_000,)},
        ),
    )  # fmt: skip
    await desk.client.hold_seats(event_id, (2,), key="hold")  # type: ignore[arg-type]  # the same number on both sides
    gone = Selection(seats=frozenset(seat.guid for seat in first.rows[0].seats[1:4]))
    await drawing.save(edits.remove(first, gone))
    (event,) = work.origin.events
    with pytest.raises(BookingRefusedError) as refused:
        await put_event_on_plan(desk, event, 2, "a mixing desk")
    assert refused.value.problem.code is ErrorCode.PLAN_CONFLICT
    assert [(seat.ref.row, seat.ref.number) for seat in work.taken] == [("A", first.rows[0].seats[2].number)]
    kept = Selection(seats=frozenset({first.rows[0].seats[1].guid, first.rows[0].seats[3].guid}))
    assert await drawing.save(edits.remove(first, kept)) == 3
    report = await put_event_on_plan(desk, event, 3, "a mixing desk")
    assert (report.removed, report.applied) == (2, True)


async def test_a_draft_with_faults_is_not_sent_and_a_clerk_draws_nothing(drawing: Drawing, tmp_path: Path) -> None:
    work = drawing.desk.store.plan_work
    seat = Selection(seats=frozenset({work.draft.rows[0].seats[0].guid}))
    with pytest.raises(PlanNotReadyError):
        await drawing.save(edits.set_category(work.draft, seat, NO_CATEGORY))
    session = drawing.desk.store.session
    assert session is not None
    drawing.desk.store.put_session(replace(session, role=Role.CLERK))  # type: ignore[arg-type]  # the same words
    with pytest.raises(NotAllowedError):
        await save_plan(drawing.desk)
    with pytest.raises(NotAllowedError):
        await load_venues(drawing.desk)


Spoil = Callable[[PlanDraft], PlanDraft]
SEAT = Selection(seats=frozenset({"spoiled"}))


def spoilable() -> PlanDraft:
    """The hall with one seat that can be named."""
    draft = small_hall(WORDS)
    first = draft.rows[0]
    seats = (replace(first.seats[0], guid="spoiled"), *first.seats[1:])
    return replace(draft, rows=(replace(first, seats=seats), *draft.rows[1:]))


AREA = DraftShape(0, "ellipse", 400.0, 560.0, 120.0, 60.0)


def with_table(draft: PlanDraft, kind: str = TABLE) -> PlanDraft:
    table = DraftTable(kind, "circle", 80.0, 560.0, 60.0, 60.0)
    section, category = draft.sections[0].section_id, draft.categories[0].category_id
    return add_table(draft, section, table, 6, category, lambda: str(uuid4()))


SPOILED: dict[str, Spoil] = {
    "nothing": lambda d: d,
    "no category": lambda d: edits.set_category(d, SEAT, NO_CATEGORY),
    "no number": lambda d: edits.number_seat(d, "spoiled", ""),
    "number twice": lambda d: edits.number_seat(d, "spoiled", d.rows[0].seats[1].number),
    "number that looks alike": lambda d: edits.number_seat(edits.number_seat(d, "spoiled", "A"), d.rows[0].seats[1].guid, "А"),  # noqa: E501
    "two seats at a place": lambda d: edits.move(d, SEAT, d.rows[0].seats[1].x - d.rows[0].seats[0].x, d.rows[0].seats[1].y - d.rows[0].seats[0].y),  # noqa: E501
    "near": lambda d: edits.move(d, SEAT, 8, 0),
    "outside": lambda d: edits.move(d, SEAT, -5_000, 0),
    "empty section": lambda d: edits.add_section(d, "Gallery"),
    "sections of one name": lambda d: edits.rename_section(d, d.sections[1].section_id, "Stalls"),
    "section without a name": lambda d: edits.rename_section(d, d.sections[1].section_id, ""),
    "category twice": lambda d: edits.change_category(d, d.categories[1].category_id, "Stalls", "#000000"),
    "rows of one name": lambda d: edits.rename_row(d, d.rows[1].row_id, "A"),
    "row without a name": lambda d: edits.rename_row(d, d.rows[1].row_id, ""),
    "row that looks alike": lambda d: edits.rename_row(d, d.rows[1].row_id, "А"),
    "row without seats": lambda d: replace(d, rows=(replace(d.rows[0], seats=()), *d.rows[1:])),
    "no seats": lambda d: replace(d, rows=()),
    "text without words": lambda d: edits.add_shape(d, DraftShape(0, "text", 50, 50)),
    "marks": lambda d: edits.set_mark(d, SEAT, SeatMark.ACCESSIBLE | SeatMark.RESTRICTED_VIEW, on=True),
    "categories that look alike": lambda d: edits.change_category(edits.change_category(d, d.categories[0].category_id, "A", "#000000"), d.categories[1].category_id, "А", "#000000"),  # noqa: E501
    "sections that look alike": lambda d: edits.rename_section(edits.rename_section(d, d.sections[0].section_id, "A"), d.sections[1].section_id, "А"),  # noqa: E501
    "too long": lambda d: edits.rename_section(d, d.sections[1].section_id, "x" * 201),
    "unprintable": lambda d: edits.number_seat(d, "spoiled", "1\x07"),
    "spaces around": lambda d: edits.rename_row(d, d.rows[1].row_id, " A "),
    "too far away": lambda d: replace(d, rows=(replace(d.rows[0], seats=(replace(d.rows[0].seats[0], x=2e6), *d.rows[0].seats[1:])), *d.rows[1:])),  # noqa: E501
    "standing": lambda d: add_standing(d, "Pit", 10_000_000, d.categories[0].category_id, AREA),
    "standing without a name": lambda d: add_standing(d, " ", 5, d.categories[0].category_id, AREA),
    "standing twice": lambda d: add_standing(add_standing(d, "Pit", 5, d.categories[0].category_id, AREA), "Pit", 5, d.categories[0].category_id, AREA),  # noqa: E501
    "standing without a category": lambda d: add_standing(d, "Pit", 5, NO_CATEGORY, AREA),
    "a table": lambda d: with_table(d, BOOTH),
    "floors": lambda d: move_section_to_floor(add_floor(d, "Stalls", "Balcony"), d.sections[1].section_id, 1),
    "a floor without a name": lambda d: add_floor(d, "Stalls", ""),
    "a section on no floor": lambda d: replace(d, sections=(d.sections[0], replace(d.sections[1], floor_no=3))),
    "standing on no floor": lambda d: add_standing(d, "Pit", 5, d.categories[0].category_id, replace(AREA, floor_no=1)),
}  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_the_console_lets_through_exactly_what_the_booking_system_takes(spoil: Spoil) -> None:
    draft = spoil(spoilable())
    reading = read_any_plan(write_plan(draft))
    assert may_be_saved(faults_of(draft)) == (reading.plan is not None), (faults_of(draft), reading.faults)


def test_a_file_of_the_console_is_read_whole_by_the_booking_system() -> None:
    draft = small_hall(WORDS)
    reading = read_any_plan(write_plan(draft))
    assert (reading.format, reading.faults, reading.warnings) == ("taquilla", (), ())
    assert reading.counts.seats == draft.seat_count
    again = read_plan(write_plan(draft), lambda: str(uuid4()))
    assert plan_body(again) == plan_body(draft)


def test_a_category_without_a_name_is_put_right_before_it_is_sent() -> None:
    draft = small_hall(WORDS)
    assert not may_be_saved(faults_of(edits.change_category(draft, draft.categories[1].category_id, " ", "#000000")))
