"""A hall with standing places alone is a plan like any other, in every format that can say it; areas on every floor
stay there (I1, R13).
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from booking.domain.seating_plan.columns import columns_of_document
from booking.domain.seating_plan.derived import FocalSource, focal_with_source, seat_radius
from booking.domain.seating_plan.document import encode_document, plan_of_document
from booking.domain.seating_plan.faults import PlanCounts
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import EVERY_FLOOR, SeatingPlan
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.pretix_writer import left_out, write_pretix

CLUB: dict[str, Any] = {
    "taquilla_plan": 1, "name": "Club", "size": {"width": 800, "height": 600},
    "categories": [{"name": "Floor", "color": "#1f77b4"}, {"name": "Gallery", "color": "#ff7f0e"}],
    "sections": [],
    "areas": [{"shape": "rectangle", "position": {"x": 250, "y": 30}, "rectangle": {"width": 300, "height": 80},
               "text": {"text": "Stage", "position": {"x": 150, "y": 40}}}],
    "standing": [
        {"name": "Pit", "capacity": 400, "category": "Floor",
         "area": {"shape": "rectangle", "position": {"x": 150, "y": 150}, "rectangle": {"width": 500, "height": 250}}},
        {"name": "Gallery", "capacity": 120, "category": "Gallery",
         "area": {"shape": "circle", "position": {"x": 400, "y": 500}, "circle": {"radius": 60}}},
    ],
}  # fmt: skip


def plan_of(**changes: Any) -> SeatingPlan:
    reading = read_plan(json.dumps(CLUB | changes).encode())
    assert (reading.faults, reading.counts) == ((), PlanCounts(0, 520, 0, 2))
    assert reading.plan is not None
    return reading.plan


def test_it_is_read_counted_and_written_in_our_own_format() -> None:
    club = plan_of()
    assert (club.seat_count, club.standing_capacity, club.sections) == (0, 520, ())
    assert read_plan(write_own(club)).plan == club


def test_it_goes_through_a_pretix_file_with_its_stage() -> None:
    club = plan_of()
    back = read_plan(write_pretix(club))
    assert back.plan == club
    assert [one.code for one in back.warnings] == ["section-without-rows"]
    assert left_out(club) == ("2 standing areas",)


def test_it_is_stored_and_loaded_the_same() -> None:
    club = plan_of()
    document = encode_document(club, UUID(int=7), 1)
    assert plan_of_document(document) == club
    assert columns_of_document(document).seat_count == 0


def test_a_plan_without_a_size_reaches_to_its_last_area() -> None:
    club = plan_of(size=None)
    assert (club.width, club.height) == (690.0, 600.0)


@pytest.mark.parametrize(("areas", "source", "at"), [
    (CLUB["areas"], FocalSource.STAGE, (400.0, 70.0)),
    ([], FocalSource.UPPER_EDGE, (400.0, 150.0)),
])  # fmt: skip
def test_people_look_at_the_stage_or_across_the_upper_edge(
    areas: list[Any], source: FocalSource, at: tuple[float, float]
) -> None:
    point, found = focal_with_source(plan_of(areas=areas))
    assert (found, (point.x, point.y)) == (source, at)
    assert seat_radius(plan_of(areas=areas)) == 10.0


def test_a_list_of_capacities_alone_is_a_hall() -> None:
    reading = read_plan(b"section,row,number,capacity,category\nPit,Pit,,300,Floor\nRear,Rear,,80,Floor\n")
    assert (reading.faults, reading.counts) == ((), PlanCounts(0, 380, 0, 1))
    assert reading.plan is not None


def test_a_plan_with_neither_is_refused() -> None:
    reading = read_plan(json.dumps(CLUB | {"standing": []}).encode())
    assert [one.code for one in reading.faults] == ["no-seats"]
    assert reading.plan is None


def test_an_area_on_every_floor_of_a_pretix_file_stays_on_every_floor() -> None:
    areas = [
        CLUB["areas"][0],
        CLUB["areas"][0] | {"floor": 0},
        CLUB["areas"][0] | {"floor": 1},
    ]
    club = plan_of(floors=["Ground", "Upper"], areas=areas)
    assert [area.floor_no for area in club.areas] == [EVERY_FLOOR, 0, 1]
    assert read_plan(write_pretix(club)).plan == club
