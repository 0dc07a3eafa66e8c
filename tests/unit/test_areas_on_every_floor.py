"""An area that names no floor, in a plan with floors, is on all of them: read, kept and written so everywhere."""

from __future__ import annotations

import json
from typing import Any

from app.core.plan_draft import EVERY_FLOOR as EVERY_FLOOR_IN_DRAFT
from app.core.plan_file import read_plan as read_draft
from app.core.plan_file import write_plan as write_draft
from app.core.plan_floors import shown_on
from booking.domain.seating_plan.document import encode_body, plan_digest
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import EVERY_FLOOR
from booking.domain.seating_plan.own_writer import write_own
from widgets.seat_map.plan import EVERY_FLOOR as EVERY_FLOOR_ON_MAP


def plan(floors: list[str]) -> dict[str, Any]:
    def area(**more: Any) -> dict[str, Any]:
        return {"shape": "rectangle", "position": {"x": 0, "y": 0}, "rectangle": {"width": 9, "height": 9}, **more}

    seat = {"id": "a1", "number": "1", "x": 50, "y": 50, "category": "Stalls"}
    body: dict[str, Any] = {
        "taquilla_plan": 1, "name": "Hall", "size": {"width": 100, "height": 100},
        "categories": [{"name": "Stalls", "color": "#112233"}],
        "sections": [{"name": "Stalls", "rows": [{"label": "A", "seats": [seat]}]}],
        "areas": [area(), area(floor=0), *([area(floor=1)] if floors else [])],
    }  # fmt: skip
    return body | ({"floors": floors} if floors else {})


def test_the_four_parts_mean_the_same_number() -> None:
    assert EVERY_FLOOR == EVERY_FLOOR_IN_DRAFT == EVERY_FLOOR_ON_MAP == -1


def test_the_reader_tells_no_floor_from_the_first_and_the_writer_keeps_it_so() -> None:
    reading = read_plan(json.dumps(plan(["Ground", "Balcony"])).encode())
    assert reading.plan is not None
    assert (reading.faults, reading.warnings) == ((), ())
    assert [area.floor_no for area in reading.plan.areas] == [EVERY_FLOOR, 0, 1]
    assert [area["floor_no"] for area in json.loads(encode_body(reading.plan))["areas"] if "floor_no" in area] == [
        -1,
        1,
    ]
    again = read_plan(write_own(reading.plan)).plan
    assert again is not None
    assert plan_digest(again) == plan_digest(reading.plan)


def test_without_floors_nothing_is_on_every_floor() -> None:
    reading = read_plan(json.dumps(plan([])).encode())
    assert reading.plan is not None
    assert [area.floor_no for area in reading.plan.areas] == [0, 0]
    assert all("floor" not in area for area in json.loads(write_own(reading.plan))["areas"])


def test_the_editor_keeps_it_so_and_shows_it_where_the_first_floor_is() -> None:
    draft = read_draft(json.dumps(plan(["Ground", "Balcony"])).encode(), lambda: "made")
    assert [shape.floor_no for shape in draft.shapes] == [EVERY_FLOOR, 0, 1]
    assert [shown_on(draft, shape.floor_no) for shape in draft.shapes] == [0, 0, 1]
    written = json.loads(write_draft(draft))
    assert [area.get("floor") for area in written["areas"]] == [None, 0, 1]
    flat = read_draft(json.dumps(plan([])).encode(), lambda: "made")
    assert [area.get("floor") for area in json.loads(write_draft(flat))["areas"]] == [None, None]
