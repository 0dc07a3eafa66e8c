"""Our own plan format: the page that documents it, its schema, and that nothing is lost on the way (case S8)."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # comes with the OpenAPI validator
import pytest

from booking.domain.seating_plan.document import plan_digest
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.model import (
    Area,
    AreaShape,
    AreaText,
    Category,
    LabelPosition,
    PlanPicture,
    Point,
    Row,
    Seat,
    SeatFlag,
    SeatingPlan,
    SeatView,
    Section,
    StandingArea,
    Table,
    TableKind,
)
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.pictures import MAX_PICTURE_BYTES
from booking.domain.seating_plan.pretix_writer import left_out, write_pretix
from booking.domain.seating_plan.repairs import ALL_REPAIRS, REPAIR_WORDS, Repair, chosen_repairs
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.fixtures.plans import file_bytes

PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "seating-plan-format.md").read_text(encoding="utf-8")
SCHEMA = json.loads((DOCS / "seating-plan.schema.json").read_bytes())


def example() -> dict[str, Any]:
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    parsed: dict[str, Any] = json.loads(found[1])
    return parsed


def everything() -> SeatingPlan:
    """A plan in which no member of the model has its default."""
    stage = AreaText("Stage", 120.5, 12.25, 18.0, "#112233")
    polygon = (Point(0.0, 0.0), Point(10.0, 0.0), Point(5.0, 8.5))
    rows = (
        Row("A", (Seat("a1", "1", 1.5, 2.5, 1, SeatFlag.ACCESSIBLE | SeatFlag.COMPANION, 4.5, "<>"),),
            LabelPosition.BOTH, "Row %s", "Chair %s"),
        Row("T1", (Seat("t1", "1", 50.0, 60.0, 0),),
            table=Table(TableKind.TABLE, AreaShape.RECTANGLE, 50.0, 70.0, 20.0, 10.0, 30.0, whole=True)),
    )  # fmt: skip
    return SeatingPlan(
        "Everything", 300.0, 200.5,
        (Category("Rear", "#445566"), Category("Front", "#77889980")),
        (Section("Stalls", rows, "ST"), Section("Balcony", (Row("A", (Seat("b1", "9", 1.5, 2.5, 0),)),), "", 1)),
        (
            Area(AreaShape.RECTANGLE, 100.0, 5.0, 50.0, 20.0, (), 12.5, "#101010", "#202020", stage),
            Area(AreaShape.POLYGON, 0.0, 0.0, 10.0, 8.5, polygon, floor_no=1),
            Area(AreaShape.CIRCLE, 9.0, 9.0, 4.0, 4.0),
            Area(AreaShape.ELLIPSE, 9.0, 9.0, 4.0, 6.0),
            Area(AreaShape.TEXT, 7.0, 8.0, text=AreaText("Bar", 7.0, 8.0)),
        ),
        Point(12.5, -3.0), ("Ground", "Balcony"),
        (StandingArea("Pit", 80, 1, Area(AreaShape.ELLIPSE, 60.0, 90.0, 40.0, 20.0, floor_no=1)),),
        (SeatView("image/png", PNG, "Stalls"), SeatView("image/png", PNG, guids=("b1",))),
        (PlanPicture("image/png", PNG, -1.0, 2.0, 300.0, 200.0, 0.25, 1),),
    )  # fmt: skip


PLANS = {"everything": everything, "theatre": teatro_aurora, "hall": small_hall}


def test_the_example_of_the_page_is_a_sound_plan() -> None:
    reading = read_plan(json.dumps(example()).encode())
    assert (reading.format, reading.faults, reading.warnings, reading.repairs) == ("taquilla", (), (), ())
    assert (reading.counts.seats, reading.counts.ga_capacity, reading.counts.sections) == (6, 60, 2)


def test_the_example_of_the_page_shows_every_member_of_the_schema() -> None:
    members = set(re.findall(r'"(\w+)":', json.dumps(example())))
    defined = {name for schema in _objects(SCHEMA) for name in schema}
    assert defined - members == {"polygon", "points", "circle"}  # shapes that it does without


def test_the_schema_is_one_and_holds_the_example() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(example())


@pytest.mark.parametrize("name", PLANS)
def test_what_is_written_follows_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(write_own(PLANS[name]())))


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("write", [write_own, write_pretix])
def test_s8_a_plan_goes_out_and_comes_in_again_the_same(name: str, write: Any) -> None:
    plan = PLANS[name]()
    reading = read_plan(write(plan, indent=1))
    assert reading.plan == plan
    assert (reading.faults, reading.warnings, reading.repairs) == ((), (), ())


def test_s8_12000_seats_through_both_formats_have_the_same_count_and_hash() -> None:
    plan = stadium(12_000)
    own = read_plan(write_own(plan)).plan
    assert own is not None
    pretix = read_plan(write_pretix(own)).plan
    assert pretix is not None
    assert (own.seat_count, pretix.seat_count) == (12_000, 12_000)
    assert plan_digest(plan) == plan_digest(own) == plan_digest(pretix)


def test_plain_pretix_has_no_member_of_ours_and_says_what_it_loses() -> None:
    plan = everything()
    plain = write_pretix(plan, plain=True)
    assert b"taquilla" not in plain
    assert left_out(plan) == (
        "the marks of 1 seats", "the focal point (12.5, -3)", "2 floors", "1 standing areas", "the drawing of 1 tables",
        "1 pictures", "2 views from seats",
    )  # fmt: skip
    marked = sum(1 for seat in teatro_aurora().seats() if seat.flags)
    assert left_out(teatro_aurora()) == (f"the marks of {marked} seats",)


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        (lambda plan: plan.update(taquilla_plan=2), "/taquilla_plan", "unknown-version"),
        (lambda plan: plan["sections"][0].update(floor=2), "/sections/0/name", "unknown-value"),
        (lambda plan: plan["sections"][0].update(rows=[]), "/sections/0/rows", "section-without-rows"),
        (lambda plan: plan["sections"][1]["rows"][0]["seats"][0].pop("number"),
         "/sections/1/rows/0/seats/0/number", "seat-number-missing"),
        (lambda plan: plan["sections"][1]["rows"][0]["seats"][0].pop("id"),
         "/sections/1/rows/0/seats/0/id", "guid-missing"),
        (lambda plan: plan["sections"][1]["rows"][0]["seats"][0].update(category="Moon"),
         "/sections/1/rows/0/seats/0/category", "category-unknown"),
        (lambda plan: plan["sections"][0]["rows"][0]["seats"][1].update(x=150),
         "/sections/0/rows/0/seats/1", "seats-coincide"),
        (lambda plan: plan["sections"][0]["rows"][1]["table"].pop("width"),
         "/sections/0/rows/1/table/width", "member-missing"),
        (lambda plan: plan["standing"][0].update(capacity=1.5), "/standing/0/capacity", "number-out-of-range"),
        (lambda plan: plan["standing"][0]["area"].update(floor=7), "/standing/0/name", "unknown-value"),
        (lambda plan: plan["floors"].append(3), "/floors/2", "wrong-type"),
        (lambda plan: plan["pictures"][0].update(image="no picture"), "/pictures/0/image", "unknown-value"),
        (lambda plan: plan["pictures"][0].update(image="R0lGODlh"), "/pictures/0/image", "unknown-value"),
        (lambda plan: plan["pictures"][0].update(floor=2), "/pictures/0/floor", "unknown-value"),
        (lambda plan: plan["pictures"][0].update(opacity=1.5), "/pictures/0/opacity", "number-out-of-range"),
        (lambda plan: plan["pictures"][0].update(image=_image_of(MAX_PICTURE_BYTES + 1)),
         "/pictures/0/image", "file-too-large"),
        (lambda plan: plan["pictures"].extend([plan["pictures"][0] | {"image": _image_of(MAX_PICTURE_BYTES)}] * 2),
         "/pictures", "file-too-large"),
        (lambda plan: plan.update(focal_point={"x": 1}), "/focal_point/y", "member-missing"),
    ],
)  # fmt: skip
def test_i3_each_fault_of_our_own_format_is_found_at_its_place(change: Any, pointer: str, code: str) -> None:
    plan = example()
    change(plan)
    reading = read_plan(json.dumps(plan).encode())
    assert [(fault.pointer, fault.code) for fault in reading.faults] == [(pointer, code)]
    assert reading.plan is None


def test_extra_members_are_warned_about_with_pointers() -> None:
    plan = example()
    plan["sections"][0]["rows"][0]["seats"][0]["colour"] = "red"
    reading = read_plan(json.dumps(plan).encode())
    assert reading.plan is not None
    pointers = [(item.pointer, item.code) for item in reading.warnings]
    assert pointers == [("/sections/0/rows/0/seats/0/colour", "unknown-member")]


# ---------------------------------------------------------------- repairs


def test_each_repair_is_described_for_people() -> None:
    assert REPAIR_WORDS.keys() == set(Repair)
    assert all(f"`{repair}`" in PAGE for repair in Repair)


def test_repairs_are_chosen_by_name_on_top_of_the_safe_ones() -> None:
    safe = {Repair.UUID_FOR_GUID, Repair.SET_TABLES_APART}
    assert chosen_repairs([]) == safe
    assert chosen_repairs(["number-seats,drop-empty"]) == safe | {Repair.NUMBER_SEATS, Repair.DROP_EMPTY}
    assert chosen_repairs(["all"]) == ALL_REPAIRS
    assert chosen_repairs(["none"]) == frozenset()
    assert chosen_repairs(["none", "make-guids"]) == {Repair.MAKE_GUIDS}
    with pytest.raises(ValueError, match="number-seats"):
        chosen_repairs(["renumber"])


@pytest.mark.parametrize("repair", sorted(Repair))
def test_a_repair_is_made_only_when_it_was_chosen(repair: Repair) -> None:
    """One broken file with a fault for each repair: exactly those of the chosen repair are gone."""
    nothing = read_plan(_broken_in_every_way(), ReadOptions(frozenset()))
    chosen = read_plan(_broken_in_every_way(), ReadOptions(frozenset({repair})))
    if repair is Repair.UUID_FOR_GUID:
        assert len(chosen.faults) == len(nothing.faults)  # not every seat has a uuid
        return
    assert {item.repair for item in chosen.repairs} == {repair}
    assert len(chosen.faults) < len(nothing.faults)


def _broken_in_every_way() -> bytes:
    chart = json.loads(file_bytes("seatsio/broken.json"))
    seat = {"x": 300, "y": 300, "label": "1", "categoryKey": 1}
    chart["subChart"]["tables"] = [
        {"label": name, "type": "round", "radius": 5, "center": {"x": 300, "y": 310}, "seats": [seat | {"uuid": name}]}
        for name in ("T1", "T2")
    ]
    return json.dumps(chart).encode()


def test_a_corrected_focal_point_is_part_of_the_plan() -> None:
    plan = read_plan(write_own(small_hall()), ReadOptions(focal=Point(5.0, 6.0))).plan
    assert plan == replace(small_hall(), focal=Point(5.0, 6.0))
    assert plan_digest(plan) != plan_digest(small_hall())


def _image_of(size: int) -> str:
    """Base64 of so many bytes that begin as a PNG does."""
    return b64encode(PNG[:8] + bytes(size - 8)).decode()


def _objects(schema: Any) -> list[dict[str, Any]]:
    """The `properties` of every object that a schema describes, but `$schema` and the coordinates of points."""
    if isinstance(schema, list):
        return [found for item in schema for found in _objects(item)]
    if not isinstance(schema, dict):
        return []
    own = [{name: None for name in schema["properties"] if name != "$schema"}] if "properties" in schema else []
    return own + [found for item in schema.values() for found in _objects(item)]
