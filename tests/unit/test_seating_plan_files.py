"""Plans out and in again: pretix JSON and the stored document lose nothing (case S8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

import pytest

from booking.domain.seating_plan.document import (
    categories_of_document,
    encode_document,
    plan_digest,
    plan_of_document,
)
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.pretix_writer import write_pretix
from booking.domain.seating_plan.repairs import ALL_REPAIRS
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.fixtures.plans import plan_bytes

PLAN_ID = UUID("0190c9e2-7b7a-7000-8000-000000000001")

REPAIRING = ReadOptions(ALL_REPAIRS)


def read(name: str) -> SeatingPlan:
    plan = read_pretix(plan_bytes(name)).plan
    assert plan is not None
    return plan


PLANS: dict[str, Callable[[], SeatingPlan]] = {
    "valid": lambda: read("valid"),
    "first variant": lambda: read("first_variant"),
    "second variant": lambda: read("second_variant"),
    "theatre": teatro_aurora,
    "hall": small_hall,
}


@pytest.mark.parametrize("name", PLANS)
def test_a_written_plan_reads_back_equal_and_without_remarks(name: str) -> None:
    plan = PLANS[name]()
    reading = read_pretix(write_pretix(plan))
    assert reading.plan == plan
    assert (reading.faults, reading.warnings, reading.repairs) == ((), (), ())


@pytest.mark.parametrize("name", PLANS)
def test_a_stored_document_gives_the_plan_back(name: str) -> None:
    plan = PLANS[name]()
    assert plan_of_document(encode_document(plan, PLAN_ID, 3)) == plan


def test_s8_12000_seats_written_and_read_have_the_same_count_and_hash() -> None:
    plan = stadium(12_000)
    once = read_pretix(write_pretix(plan)).plan
    assert once is not None
    twice = read_pretix(write_pretix(once)).plan
    assert twice is not None
    assert (plan.seat_count, once.seat_count, twice.seat_count) == (12_000, 12_000, 12_000)
    assert plan_digest(plan) == plan_digest(once) == plan_digest(twice)


def test_s8_12000_seats_stored_and_loaded_have_the_same_count_and_hash() -> None:
    plan = stadium(12_000)
    loaded = plan_of_document(encode_document(plan, PLAN_ID, 1))
    assert loaded.seat_count == 12_000
    assert plan_digest(loaded) == plan_digest(plan)


def test_a_digest_does_not_depend_on_id_or_version() -> None:
    plan = small_hall()
    first, second = encode_document(plan, PLAN_ID, 1), encode_document(plan, PLAN_ID, 2)
    assert first != second
    assert plan_digest(plan_of_document(first)) == plan_digest(plan_of_document(second))


def test_one_moved_seat_is_another_digest() -> None:
    changed = json.loads(plan_bytes("valid"))
    changed["zones"][0]["rows"][0]["seats"][0]["position"]["x"] = 0.01
    moved = read_pretix(json.dumps(changed).encode()).plan
    assert moved is not None
    assert plan_digest(moved) != plan_digest(read("valid"))


def test_a_changed_extra_is_another_digest() -> None:
    changed = json.loads(plan_bytes("second_variant"))
    changed["zones"][0]["rows"][0]["seats"][0]["start_direction"] = "<"
    turned = read_pretix(json.dumps(changed).encode()).plan
    assert turned is not None
    assert plan_digest(turned) != plan_digest(read("second_variant"))


def test_categories_with_seats_are_told_from_those_without() -> None:
    plan = read_pretix(plan_bytes("row_without_seats"), REPAIRING).plan
    assert plan is not None
    categories, used = categories_of_document(encode_document(plan, PLAN_ID, 1))
    assert [category.name for category in categories] == ["Front", "Rear"]
    assert used == {0}
