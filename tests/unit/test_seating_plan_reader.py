"""The pretix reader: every trap of case I3, each at its place, all at once, and never half a plan."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from booking.domain.seating_plan import faults, plan_rules, pretix_reader
from booking.domain.seating_plan.faults import PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.json_source import MAX_BYTES
from booking.domain.seating_plan.model import AreaShape, LabelPosition, Point, SeatFlag
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.repairs import ALL_REPAIRS, DEFAULT_REPAIRS, Repair
from tests.fixtures.plans import FOLDER, plan_bytes

ROWS = "/zones/0/rows"
FAULTS: dict[str, list[tuple[str, str]]] = {
    "guid_repeats": [(f"{ROWS}/1/seats/0/seat_guid", "guid-repeats")],
    "guid_missing": [
        (f"{ROWS}/0/seats/1/seat_guid", "guid-missing"),
        (f"{ROWS}/1/seats/1/seat_guid", "guid-missing"),
    ],
    "category_unknown": [(f"{ROWS}/0/seats/2/category", "category-unknown")],
    "category_repeats": [("/categories/2/name", "category-repeats")],
    "seat_number_is_number": [(f"{ROWS}/0/seats/0/seat_number", "wrong-type")],
    "seat_number_repeats": [(f"{ROWS}/0/seats/2/seat_number", "seat-number-repeats")],
    "wrong_types": [
        (f"{ROWS}/0/seats/1/position/x", "wrong-type"),
        (f"{ROWS}/0/seats/2/position/y", "wrong-type"),
        (f"{ROWS}/1/position", "wrong-type"),
    ],
    "zone_without_rows": [("/zones/1/rows", "section-without-rows")],
    "row_without_seats": [(f"{ROWS}/1/seats", "row-without-seats")],
    "no_seats": [("/zones", "no-seats")],
    "seats_coincide": [(f"{ROWS}/0/seats/2/position", "seats-coincide")],
    "labels_look_alike": [
        (f"{ROWS}/1/row_number", "label-confusable"),
        (f"{ROWS}/2/row_number", "label-confusable"),
    ],
    "members_missing": [
        ("/categories", "member-missing"),
        ("/name", "member-missing"),
        ("/zones/0/position", "member-missing"),
        (f"{ROWS}/0/row_number", "member-missing"),
        (f"{ROWS}/1/seats/1/position", "member-missing"),
    ],
    "negative_sizes": [
        ("/size/height", "number-out-of-range"),
        ("/size/width", "number-out-of-range"),
        ("/zones/0/areas/0/rectangle/width", "number-out-of-range"),
        (f"{ROWS}/0/seats/0/radius", "number-out-of-range"),
    ],
    "not_finite": [
        (f"{ROWS}/0/seats/0/position/x", "number-not-finite"),
        (f"{ROWS}/0/seats/1/position/y", "number-not-finite"),
        (f"{ROWS}/0/seats/2/position/x", "number-not-finite"),
    ],
    "unprintable": [
        (f"{ROWS}/0/seats/0/seat_number", "text-unprintable"),
        (f"{ROWS}/1/row_number", "text-unprintable"),
    ],
    "flag_unknown": [(f"{ROWS}/0/seats/0/taquilla_flags/1", "unknown-value")],
    "areas_broken": [
        ("/zones/0/areas/0/shape", "unknown-value"),
        ("/zones/0/areas/1/circle", "member-missing"),
        ("/zones/0/areas/2/polygon/points", "number-out-of-range"),
        ("/zones/0/areas/3/shape", "member-missing"),
    ],
    "everything_of_i3": [
        (f"{ROWS}/0/seats/0/seat_number", "wrong-type"),
        (f"{ROWS}/0/seats/1/seat_guid", "guid-missing"),
        (f"{ROWS}/0/seats/2/category", "category-unknown"),
        (f"{ROWS}/1/seats/0/seat_guid", "guid-repeats"),
        (f"{ROWS}/1/seats/1/position", "seats-coincide"),
        (f"{ROWS}/2/seats", "row-without-seats"),
        (f"{ROWS}/3/row_number", "label-confusable"),
        (f"{ROWS}/4/row_number", "label-confusable"),
        ("/zones/1/rows", "section-without-rows"),
    ],
}
SOUND = {
    "valid", "fraction_is_fine", "extra_members", "zone_of_shapes_only", "label_padded", "guid_repeats_with_uuid",
    "first_variant", "second_variant",
}  # fmt: skip

REPAIRING = ReadOptions(ALL_REPAIRS)


def found(reading: PlanReading) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in reading.faults]


def changed(change: Any) -> bytes:
    """The valid plan, changed."""
    plan = json.loads(plan_bytes("valid"))
    change(plan)
    return json.dumps(plan).encode()


def resolves(document: Any, pointer: str) -> bool:
    """Whether a JSON pointer names something in the document, or a member that its parent lacks."""
    *parents, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]] or [""]
    for token in parents:
        document = document[int(token)] if isinstance(document, list) else document[token]
    if pointer == "":
        return True
    return int(last) < len(document) if isinstance(document, list) else isinstance(document, dict)


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_i3_each_fault_is_found_at_its_place_and_nothing_is_imported(name: str) -> None:
    reading = read_pretix(plan_bytes(name))
    assert found(reading) == FAULTS[name]
    assert reading.plan is None


def test_i3_every_fixture_is_asserted() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == FAULTS.keys() | SOUND


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_i3_pointers_lead_into_the_file(name: str) -> None:
    document = json.loads(plan_bytes(name))
    reading = read_pretix(plan_bytes(name))
    assert all(resolves(document, fault.pointer) for fault in reading.faults)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_every_message_is_words_a_person_can_act_on(name: str) -> None:
    for fault in read_pretix(plan_bytes(name)).faults:
        assert len(fault.message.split()) >= 3
        assert "Traceback" not in fault.message


def test_i3_a_fraction_is_a_fine_coordinate() -> None:
    plan = read_pretix(plan_bytes("fraction_is_fine")).plan
    assert plan is not None
    assert [seat.x for seat in plan.seats()][1] == 60.5


def test_i3_extra_members_are_warned_about_with_escaped_pointers() -> None:
    reading = read_pretix(plan_bytes("extra_members"))
    assert reading.plan is not None
    assert [(item.pointer, item.code) for item in reading.warnings] == [
        ("/editor", "unknown-member"),
        (f"{ROWS}/0/seats/0/color~1shade~01", "unknown-member"),
    ]


def test_a_cyrillic_letter_is_named_in_the_message() -> None:
    message = read_pretix(plan_bytes("labels_look_alike")).faults[1].message
    assert "CYRILLIC CAPITAL LETTER A" in message


def test_a_padded_label_alone_is_trimmed_and_warned_about() -> None:
    reading = read_pretix(plan_bytes("label_padded"))
    assert reading.plan is not None
    assert [row.label for _, row in reading.plan.rows()] == ["A", "B"]
    assert [item.code for item in reading.warnings] == ["label-padded"]


def test_a_zone_of_shapes_only_keeps_its_shapes() -> None:
    reading = read_pretix(plan_bytes("zone_of_shapes_only"))
    assert reading.plan is not None
    assert len(reading.plan.sections) == 1
    assert len(reading.plan.areas) == 2
    assert [item.pointer for item in reading.warnings] == ["/zones/1/rows"]


def test_full_width_digits_look_like_digits() -> None:
    def change(plan: Any) -> None:
        plan["zones"][0]["rows"][0]["seats"][2]["seat_number"] = "１"

    assert found(read_pretix(changed(change))) == [(f"{ROWS}/0/seats/2/seat_number", "label-confusable")]


def test_a_member_that_comes_twice_is_a_fault() -> None:
    data = plan_bytes("valid").replace(b'"seat_number": "3"', b'"seat_number": "3", "seat_number": "4"')
    assert found(read_pretix(data)) == [(f"{ROWS}/0/seats/2/seat_number", "member-repeats")]


def test_a_fault_hides_no_other_fault_of_its_kind() -> None:
    def change(plan: Any) -> None:
        for row in plan["zones"][0]["rows"]:
            for seat in row["seats"]:
                seat["category"] = "Nowhere"

    assert [code for _, code in found(read_pretix(changed(change)))] == ["category-unknown"] * 5


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "invalid-json"),
        (b"{", "invalid-json"),
        (b'{"name": "A",}', "invalid-json"),
        (b"null", "wrong-type"),
        (b"[]", "wrong-type"),
        (b'"plan"', "wrong-type"),
        (b'{"name": "\xff"}', "bad-encoding"),
        ('{"name": "A"}'.encode("utf-16"), "bad-encoding"),
        (b'{"a": ' * 100_000, "too-deep"),
        (b"[" * 40 + b"]" * 40, "too-deep"),
        (b'{"name": ' + b"9" * 5_000 + b"}", "invalid-json"),
        (b" " * (MAX_BYTES + 1), "file-too-large"),
    ],
)
def test_i3_broken_bytes_are_one_fault_of_the_whole_file(data: bytes, code: str) -> None:
    reading = read_pretix(data)
    assert found(reading) == [("", code)]
    assert reading.plan is None


def test_broken_json_is_told_with_line_and_column() -> None:
    # Python 3.13 points at the comma, 3.11 behind it.
    assert re.search(r"line 2, column [79]\b", read_pretix(b'{"name":\n"Hall", }').faults[0].message)


def test_i1_a_byte_order_mark_is_read_over_with_a_warning() -> None:
    reading = read_pretix(b"\xef\xbb\xbf" + plan_bytes("valid"))
    assert reading.plan is not None
    assert [item.code for item in reading.warnings] == ["byte-order-mark"]


def test_bytes_of_no_known_format_are_refused_as_such() -> None:
    reading = read_plan(b"Dear box office,\nplease find the plan attached.\n")
    assert (reading.format, found(reading)) == ("unknown", [("", "unknown-format")])


def test_a_plan_of_too_many_categories_is_refused() -> None:
    def change(plan: Any) -> None:
        plan["categories"] = [{"name": f"C{index}"} for index in range(65)]

    assert ("/categories", "too-many") in found(read_pretix(changed(change)))


def test_a_label_of_endless_length_is_refused() -> None:
    def change(plan: Any) -> None:
        plan["zones"][0]["rows"][0]["row_number"] = "A" * 201

    assert found(read_pretix(changed(change))) == [(f"{ROWS}/0/row_number", "text-too-long")]


# ---------------------------------------------------------------- repairs


def test_repeating_guids_fall_back_to_uuids_and_are_reported() -> None:
    reading = read_pretix(plan_bytes("guid_repeats_with_uuid"))
    assert reading.plan is not None
    assert [seat.guid for seat in reading.plan.seats()] == [
        f"00000000-0000-4000-8000-{index:012d}" for index in range(5)
    ]
    assert [item.code for item in reading.repairs] == ["guid-from-uuid"]
    assert [(item.pointer, item.code) for item in reading.warnings] == [(f"{ROWS}/1/seats/0/seat_guid", "guid-repeats")]


@pytest.mark.parametrize("name", ["guid_missing", "guid_repeats"])
def test_guids_are_made_only_when_repairs_are_asked_for(name: str) -> None:
    assert read_pretix(plan_bytes(name)).plan is None
    reading = read_pretix(plan_bytes(name), REPAIRING)
    assert reading.plan is not None
    assert len({seat.guid for seat in reading.plan.seats()}) == 5
    assert [(item.pointer, item.code) for item in reading.repairs] == [
        (pointer, "guid-generated") for pointer, _ in FAULTS[name]
    ]


def test_a_made_guid_is_the_same_at_every_reading() -> None:
    first, second = (read_pretix(plan_bytes("guid_missing"), REPAIRING).plan for _ in range(2))
    assert first is not None
    assert first == second


def test_a_repaired_plan_leaves_sound_guids_alone() -> None:
    plan = read_pretix(plan_bytes("guid_repeats"), REPAIRING).plan
    assert plan is not None
    assert [seat.guid for seat in plan.seats()][:3] == ["F-A-1", "F-A-2", "F-A-3"]


def test_an_empty_row_is_left_out_when_repairs_are_asked_for() -> None:
    reading = read_pretix(plan_bytes("row_without_seats"), REPAIRING)
    assert reading.plan is not None
    assert [row.label for _, row in reading.plan.rows()] == ["A"]
    assert [(item.pointer, item.code) for item in reading.repairs] == [(f"{ROWS}/1/seats", "row-dropped")]


def test_repairs_do_not_hide_faults_that_cannot_be_mended() -> None:
    codes = [code for _, code in found(read_pretix(plan_bytes("everything_of_i3"), REPAIRING))]
    assert codes == [
        "seats-coincide", "label-confusable", "label-confusable",
    ]  # fmt: skip


# ---------------------------------------------------------------- both variants


def test_the_first_published_variant_is_read() -> None:
    plan = read_pretix(plan_bytes("first_variant")).plan
    assert plan is not None
    stage = plan.areas[0]
    assert (stage.shape, stage.x, stage.y, stage.width, stage.height) == (AreaShape.RECTANGLE, 50, 10, 200, 30)
    assert stage.text is not None
    assert (stage.text.text, stage.text.x, stage.text.y) == ("Stage", 150, 25)
    assert (plan.width, plan.height) == (140.0, 130.0)


def test_the_second_published_variant_is_read_whole() -> None:
    reading = read_pretix(plan_bytes("second_variant"))
    plan = reading.plan
    assert plan is not None
    assert reading.warnings == ()
    assert [area.shape for area in plan.areas] == list(AreaShape)
    circle, ellipse, polygon = plan.areas[1:4]
    assert (circle.x, circle.y, circle.width) == (350, 160, 40)
    assert (ellipse.width, ellipse.height, ellipse.rotation) == (60, 20, 15.5)
    assert (ellipse.color, ellipse.border_color) == ("#00aa00", "#ffffff80")
    assert polygon.points == (Point(60, 260), Point(100, 260), Point(80, 290.5))
    assert polygon.text is not None
    assert (polygon.text.x, polygon.text.y, polygon.text.size) == (65, 265, 12)
    row = plan.rows()[0][1]
    assert (row.label_position, row.row_text, row.seat_text) == (LabelPosition.BOTH, "Row A", "Seat %s")
    assert (row.seats[0].start_direction, row.seats[0].radius) == (">", 9)
    assert [seat.flags for seat in row.seats] == [
        SeatFlag.NONE, SeatFlag.ACCESSIBLE, SeatFlag.COMPANION | SeatFlag.RESTRICTED_VIEW,
    ]  # fmt: skip


def test_a_seat_stands_at_zone_plus_row_plus_seat() -> None:
    plan = read_pretix(plan_bytes("valid")).plan
    assert plan is not None
    assert [(seat.x, seat.y) for seat in plan.seats()] == [(50, 60), (75, 60), (100, 60), (50, 90), (75, 90)]


# ---------------------------------------------------------------- the real file

PLANS = Path(__file__).parents[3] / "shared" / "plans"
STADIUM = PLANS / "pretix-schema__seatmap-canvas-stadium.json"


@pytest.fixture
def stadium() -> PlanReading:
    if not PLANS.is_dir():
        pytest.skip("the folder ../shared/plans with other people's plans is not here")
    return read_pretix(STADIUM.read_bytes())  # a missing file is a failure


def test_the_real_stadium_is_imported_with_its_counts(stadium: PlanReading) -> None:
    assert stadium.faults == ()
    assert (stadium.counts.seats, stadium.counts.sections, stadium.counts.categories) == (738, 2, 5)
    assert stadium.plan is not None
    assert stadium.plan.seat_count == 738
    assert len(stadium.plan.rows()) == 90


def test_the_real_stadium_falls_back_to_uuids_and_says_so(stadium: PlanReading) -> None:
    document = json.loads(STADIUM.read_bytes())
    uuids = [seat["uuid"] for zone in document["zones"] for row in zone["rows"] for seat in row["seats"]]
    assert stadium.plan is not None
    assert [seat.guid for seat in stadium.plan.seats()] == uuids
    assert "738 seats have 318 distinct" in stadium.repairs[0].message
    assert sum(item.code == "guid-repeats" for item in stadium.warnings) == 738 - 318
    assert [item.pointer for item in stadium.warnings if item.code == "category-unused"] == ["/categories/2"]


# ---------------------------------------------------------------- any change at all

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.just("A"),
    st.builds(list),
    st.builds(dict),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, child in children for found in _paths(child, (*path, key)))]


_VALID = json.loads(plan_bytes("second_variant"))
_PATHS = [path for path in _paths(_VALID) if path]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_plan_changed_at_random_is_read_or_refused_but_never_crashes(data: st.DataObject) -> None:
    document = json.loads(json.dumps(_VALID))
    for path in data.draw(st.lists(st.sampled_from(_PATHS), min_size=1, max_size=4)):
        parent = document
        try:
            for key in path[:-1]:
                parent = parent[key]
            if data.draw(st.booleans()):
                parent[path[-1]] = data.draw(_SCALARS)
            else:
                del parent[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    repairs = data.draw(st.sampled_from([frozenset[Repair](), DEFAULT_REPAIRS, ALL_REPAIRS]))
    reading = read_plan(json.dumps(document).encode(), ReadOptions(repairs))
    assert (reading.plan is None) == bool(reading.faults)
    assert all(resolves(document, finding.pointer) for finding in reading.faults)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_but_never_crash(data: bytes) -> None:
    reading = read_plan(data)
    assert reading.plan is None
    assert reading.faults


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("data", [b"[" + b"{}," * 2_000_001 + b"{}]", b'{"name":[' + b"0," * 12_000_001 + b"0]}"])
def test_more_values_than_any_plan_has_are_refused_before_they_are_parsed(data: bytes) -> None:
    assert found(read_pretix(data)) == [("", "too-many")]


def test_seats_beyond_the_bound_are_counted_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretix_reader, "MAX_SEATS", 3)
    monkeypatch.setattr(plan_rules, "MAX_SEATS", 3)
    reading = read_pretix(plan_bytes("valid"))
    assert (reading.counts.seats, reading.plan) == (5, None)
    assert [code for _, code in found(reading)] == ["too-many"]
    assert "5 seats; at most 3" in reading.faults[0].message


def test_findings_of_one_kind_are_listed_to_a_bound_and_then_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "MAX_OF_A_KIND", 2)

    def change(plan: Any) -> None:
        for row in plan["zones"][0]["rows"]:
            for seat in row["seats"]:
                seat["category"] = "Nowhere"

    reading = read_pretix(changed(change))
    assert [code for _, code in found(reading)] == ["category-unknown", "category-unknown", "more-of-this-kind"]
    assert "3 more findings of category-unknown" in reading.faults[-1].message
