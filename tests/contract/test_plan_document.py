"""The stored plan document is the wire's Plan, field by field, without the two sides importing each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

import msgspec
import pytest

from backend_client import wire
from booking.domain.seating_plan.document import encode_document
from booking.domain.seating_plan.generators import stadium
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.fixtures.plans import plan_bytes

PLAN_ID = UUID("0190c9e2-7b7a-7000-8000-000000000001")


def second_variant() -> SeatingPlan:
    plan = read_pretix(plan_bytes("second_variant")).plan
    assert plan is not None
    return plan


PLANS: dict[str, Callable[[], SeatingPlan]] = {
    "theatre": teatro_aurora,
    "second variant": second_variant,
    "stadium": lambda: stadium(2_000),
}


def document_of(name: str) -> bytes:
    return encode_document(PLANS[name](), PLAN_ID, 2)


@pytest.mark.parametrize("name", PLANS)
def test_the_wire_decodes_the_document_strictly(name: str) -> None:
    plan = msgspec.json.decode(document_of(name), type=wire.Plan, strict=True)
    assert (plan.plan_id, plan.version) == (PLAN_ID, 2)
    assert len(plan.seats.guid) == PLANS[name]().seat_count


@pytest.mark.parametrize("name", PLANS)
def test_the_document_has_every_member_that_the_wire_needs_and_no_other_but_extras(name: str) -> None:
    document = json.loads(document_of(name))
    assert needed(wire.Plan) <= document.keys() - {"extras"} <= members(wire.Plan)
    assert document["seats"].keys() == members(wire.PlanSeats)
    for kind, items in (
        (wire.PlanRow, document["rows"]),
        (wire.PlanSection, document["sections"]),
        (wire.PriceCategory, document["categories"]),
    ):
        assert all(needed(kind) <= item.keys() <= members(kind) for item in items)
    assert all(item.keys() <= members(wire.PlanArea) for item in document["areas"])


def test_every_value_arrives_on_the_other_side() -> None:
    """Field by field against the model: nothing is swapped, dropped or rounded on the way."""
    model = second_variant()
    plan = msgspec.json.decode(encode_document(model, PLAN_ID, 2), type=wire.Plan, strict=True)
    seats = list(model.seats())
    assert (plan.name, plan.width, plan.height) == (model.name, model.width, model.height)
    assert [(item.category_no, item.name, item.color) for item in plan.categories] == [
        (number, item.name, item.color) for number, item in enumerate(model.categories)
    ]
    assert plan.seats.guid == tuple(seat.guid for seat in seats)
    assert plan.seats.number == tuple(seat.number for seat in seats)
    assert plan.seats.category_no == tuple(seat.category_no for seat in seats)
    assert plan.seats.x == tuple(seat.x for seat in seats)
    assert plan.seats.y == tuple(seat.y for seat in seats)
    assert plan.seats.flags == tuple(int(seat.flags) for seat in seats)
    assert list(plan.seats.row_no) == [0, 0, 0, 1, 1]
    assert [(row.section_no, row.label, row.first_seat, row.seat_count, row.label_position) for row in plan.rows] == [
        (0, "A", 0, 3, "both"),
        (0, "B", 3, 2, ""),
    ]


def test_points_and_texts_of_areas_arrive_as_offsets() -> None:
    plan = msgspec.json.decode(document_of("second variant"), type=wire.Plan, strict=True)
    assert [area.shape for area in plan.areas] == ["rectangle", "circle", "ellipse", "polygon", "text"]
    circle, ellipse, polygon, text = plan.areas[1:]
    assert (polygon.x, polygon.y, text.x, text.y) == (60, 260, 250, 280)
    assert (circle.x, circle.y, circle.width, circle.height) == (350, 160, 40, 40)
    assert (ellipse.width, ellipse.height, ellipse.rotation) == (60, 20, 15.5)
    assert list(polygon.points) == [0, 0, 40, 0, 20, 30.5]
    assert (polygon.text, polygon.text_x, polygon.text_y, polygon.text_size) == ("Bar", 5, 5, 12)
    assert (text.text, text.text_x, text.text_y) == ("Exit", 0, 0)


def members(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def needed(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind) if field.required}
