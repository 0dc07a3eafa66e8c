"""The reader of SVG drawings: transforms, shapes, patterns, rows, and files that mean harm."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.domain.seating_plan import svg_source
from booking.domain.seating_plan.derived import FocalSource, focal_with_source
from booking.domain.seating_plan.faults import PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.json_source import MAX_BYTES
from booking.domain.seating_plan.model import AreaShape, Point, SeatingPlan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.row_order import order_along
from booking.domain.seating_plan.seat_pattern import SeatPatternError, parse_pattern
from booking.domain.seating_plan.svg_geometry import Matrix, parse_transform, path_points
from booking.domain.seating_plan.svg_reader import read_svg
from tests.fixtures.plans import file_bytes

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">%s</svg>'
SEAT = '<circle id="seat-A-1" cx="10" cy="20" r="4"/>'


def drawing(content: str, options: ReadOptions | None = None) -> PlanReading:
    return read_plan((SVG % content).encode(), options or ReadOptions())


def codes(reading: PlanReading) -> list[str]:
    return [fault.code.value for fault in reading.faults]


def hall() -> SeatingPlan:
    reading = read_plan(file_bytes("svg/transforms.svg"))
    assert reading.faults == ()
    assert reading.plan is not None
    return reading.plan


def places(plan: SeatingPlan, label: str) -> list[tuple[float, float]]:
    return [(seat.x, seat.y) for _, row in plan.rows() if row.label == label for seat in row.seats]


# ---------------------------------------------------------------- where seats are


def test_nested_translations_and_scales_are_resolved() -> None:
    assert places(hall(), "A") == [(30, 60), (50, 60), (70, 60)]


def test_rotation_matrix_path_polygon_use_and_group_give_middles() -> None:
    assert places(hall(), "B") == [(120, 140), (120, 160), (120, 180), (120, 200), (120, 220)]


def test_skew_and_transform_origin_are_resolved() -> None:
    assert places(hall(), "C") == [(60, 60), (30, 50)]


def test_what_is_only_defined_is_no_seat() -> None:
    assert places(hall(), "Z") == []
    assert hall().seat_count == 10


def test_seats_have_ids_categories_and_marks() -> None:
    seats = hall().sections[0].rows[0].seats
    assert [seat.guid for seat in seats] == ["seat-Stalls-A-1", "seat-Stalls-A-2", "seat-Stalls-A-3"]
    assert [hall().categories[seat.category_no].name for seat in seats] == ["General", "General", "Gold"]
    assert [int(seat.flags) for seat in seats] == [0, 1, 0]


def test_the_view_box_is_the_plan_and_texts_of_seats_are_no_texts_of_it() -> None:
    plan = hall()
    assert (plan.name, plan.width, plan.height) == ("Hall of turns", 400, 300)
    assert [area.shape for area in plan.areas] == [AreaShape.RECTANGLE, AreaShape.TEXT]
    assert (plan.areas[0].x, plan.areas[0].color, plan.areas[0].border_color) == (110, "#aabbcc", "#010203")
    point, source = focal_with_source(plan)
    assert source is FocalSource.STAGE
    assert (point.x, point.y) == pytest.approx((170, 29.8))


def test_data_attributes_name_seats_and_neighbours_follow_the_drawing() -> None:
    plan = read_plan(file_bytes("svg/attributes.svg")).plan
    assert plan is not None
    seats = plan.sections[0].rows[0].seats
    assert [(seat.number, seat.x) for seat in seats] == [("1", 10), ("2", 30), ("3", 50)]
    assert [category.name for category in plan.categories] == ["Gold", "Silver"]


def test_i3_every_fault_of_a_drawing_is_named_with_its_line() -> None:
    reading = read_plan(file_bytes("svg/broken.svg"))
    assert reading.plan is None
    assert [(fault.pointer, fault.code) for fault in reading.faults] == [
        ("3:3", "seats-coincide"),
        ("4:3", "shape-unknown"),
        ("5:3", "transform-unknown"),
        ("6:3", "guid-repeats"),
        ("6:3", "seat-number-repeats"),
    ]
    assert "seat-A-3" in reading.faults[1].message


@pytest.mark.parametrize(
    ("transform", "point"),
    [
        ("translate(3)", (4, 2)),
        ("translate(3, 4)", (4, 6)),
        ("scale(2)", (2, 4)),
        ("scale(2 -1)", (2, -2)),
        ("rotate(90)", (-2, 1)),
        ("rotate(90, 1, 1)", (0, 1)),
        ("skewX(45)", (3, 2)),
        ("skewY(45)", (1, 3)),
        ("matrix(1 0 0 -1 5 0)", (6, -2)),
        ("translate(10 0) scale(2), rotate(180)", (8, -4)),
        ("  ", (1, 2)),
    ],
)
def test_each_transform_moves_a_point_as_the_standard_says(transform: str, point: tuple[float, float]) -> None:
    matrix = parse_transform(transform)
    assert matrix is not None
    moved = matrix.apply(Point(1, 2))
    assert (moved.x, moved.y) == pytest.approx(point)


@pytest.mark.parametrize("transform", ["wobble(1)", "rotate(1, 2)", "matrix(1)", "scale(2", "translate(1e999)", "3"])
def test_a_transform_that_cannot_be_read_is_none(transform: str) -> None:
    assert parse_transform(transform) is None


@given(st.floats(-180, 180), st.floats(-100, 100), st.floats(-100, 100), st.floats(0.1, 10))
def test_transforms_multiply_as_they_nest(turn: float, dx: float, dy: float, scale: float) -> None:
    inner, outer = parse_transform(f"rotate({turn})"), parse_transform(f"translate({dx} {dy}) scale({scale})")
    both = parse_transform(f"translate({dx} {dy}) scale({scale}) rotate({turn})")
    assert inner is not None
    assert outer is not None
    assert both is not None
    nested, flat = outer.apply(inner.apply(Point(3, 5))), both.apply(Point(3, 5))
    assert (nested.x, nested.y) == pytest.approx((flat.x, flat.y), abs=1e-6)
    assert both.scale == pytest.approx(scale)


@pytest.mark.parametrize(
    ("path", "low", "high"),
    [
        ("M0 0 L10 0 V10 H0 Z", (0, 0), (10, 10)),
        ("m5 5 10 0 0 10z", (5, 5), (15, 15)),
        ("M0,5 A5,5 0 1 0 10,5 A5,5 0 1 0 0,5", (0, 0), (10, 10)),
        ("M0 0 C0 10 10 10 10 0", (0, 0), (10, 7.5)),
        ("M0 0 Q5 10 10 0 T20 0", (0, -5), (20, 5)),
        ("M0 0 C0 10 10 10 10 0 S20 -10 20 0", (0, -7.5), (20, 7.5)),
        ("M1 1 L", (1, 1), (1, 1)),
    ],
)
def test_paths_cover_what_they_draw(path: str, low: tuple[float, float], high: tuple[float, float]) -> None:
    points = [point for outline in path_points(path) for point in outline]
    assert (min(p.x for p in points), min(p.y for p in points)) == pytest.approx(low, abs=0.3)
    assert (max(p.x for p in points), max(p.y for p in points)) == pytest.approx(high, abs=0.3)


def test_a_nested_drawing_is_fitted_into_its_frame() -> None:
    nested = (
        '<svg x="100" y="50" width="40" height="20" viewBox="0 0 10 10"><circle id="seat-A-1" cx="5" cy="5"/></svg>'
    )
    plan = drawing(nested).plan
    assert plan is not None
    assert places(plan, "A") == [(120, 60)]


def test_a_turned_rectangle_becomes_a_polygon_and_a_turned_ellipse_keeps_its_turn() -> None:
    shapes = '<g transform="rotate(45)"><rect x="50" width="10" height="10"/><ellipse cx="80" rx="9" ry="3"/></g>'
    plan = drawing(SEAT + shapes).plan
    assert plan is not None
    assert [(area.shape, area.rotation) for area in plan.areas] == [(AreaShape.POLYGON, 0), (AreaShape.ELLIPSE, 45)]
    assert plan.areas[1].x == pytest.approx(80 * math.cos(math.pi / 4), abs=0.01)


def test_hidden_shapes_are_no_areas_and_a_hidden_seat_is_told_about() -> None:
    reading = drawing(
        '<g style="display:none"><rect width="50" height="50"/><circle id="seat-A-2" cx="9" cy="9"/></g>' + SEAT
    )
    assert reading.plan is not None
    assert reading.plan.areas == ()
    assert [item.code for item in reading.warnings] == ["shape-unknown"]
    assert reading.plan.seat_count == 2


# ---------------------------------------------------------------- patterns


def test_the_pattern_of_the_user_decides_what_an_id_means() -> None:
    options = ReadOptions(seat_pattern="chair_{row}-{_}.{number}")
    plan = drawing('<circle id="chair_K-left.12" cx="1" cy="1"/>', options).plan
    assert plan is not None
    assert [(row.label, row.seats[0].number) for _, row in plan.rows()] == [("K", "12")]


def test_a_section_may_hold_the_sign_that_ends_it() -> None:
    match = parse_pattern("seat-{section}-{row}-{number}").match({"id": "seat-Stalls-Left-A-12"})
    assert match == {"section": "Stalls-Left", "row": "A", "number": "12"}


def test_attributes_and_categories_can_be_named() -> None:
    pattern = parse_pattern("inkscape:label={row}/{number} class=seat-{category}")
    assert pattern.match({"label": "A/1", "class": "seat-gold"}) == {"row": "A", "number": "1", "category": "gold"}
    assert pattern.match({"label": "A/1"}) is None


@pytest.mark.parametrize("text", ["seat-{row}", "{number}-{number}", "{seat}-{number}", ""])
def test_a_pattern_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(SeatPatternError):
        parse_pattern(text)


def test_a_drawing_without_named_seats_says_how_to_name_them() -> None:
    reading = drawing("<circle cx='1' cy='1'/>")
    assert codes(reading) == ["no-seats"]
    assert "seat pattern" in reading.faults[0].message
    assert codes(drawing(SEAT, ReadOptions(seat_pattern="stol-{number}"))) == ["no-seats"]


# ---------------------------------------------------------------- rows


def test_a_horseshoe_row_is_followed_round() -> None:
    angles = [math.radians(degrees) for degrees in range(-150, 151, 10)]
    round_places = [Point(100 * math.sin(angle), -100 * math.cos(angle)) for angle in angles]
    shuffled = sorted(range(len(angles)), key=lambda index: (index * 7) % 31)
    order = order_along([round_places[index] for index in shuffled], [""] * len(angles))
    around = [shuffled[index] for index in order]
    steps = [abs(one - other) for one, other in pairwise(around)]
    assert steps.count(1) >= len(angles) - 2


def test_odd_and_even_halves_sit_as_they_stand_and_begin_at_the_lower_number() -> None:
    order = order_along([Point(x, 0) for x in (0, 10, 20, 30)], ["3", "1", "2", "4"])
    assert order == [0, 1, 2, 3]
    assert order_along([Point(x, 0) for x in (0, 10, 20)], ["9", "8", "7"]) == [2, 1, 0]
    assert order_along([Point(0, y) for y in (20, 0)], ["a", "b"]) == [1, 0]


# ---------------------------------------------------------------- files that mean harm


def test_entities_are_refused_before_anything_expands() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {one} "{f"&{other};" * 10}">' for one, other in ("ba", "cb", "dc", "ed", "fe"))
        + ']><svg xmlns="http://www.w3.org/2000/svg"><text>&f;</text></svg>'
    )
    reading = read_plan(bomb.encode())
    assert (reading.format, codes(reading)) == ("svg", ["entities-refused"])
    assert reading.faults[0].pointer.startswith("1:")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"<svg", "invalid-xml"),
        (b"<html><svg/></html>", "invalid-xml"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><g></svg>', "invalid-xml"),
        (b'<?xml version="1.0" encoding="klingon"?><svg/>', "bad-encoding"),
        (b"<g>" * 200, "too-deep"),
        (b'<!DOCTYPE svg SYSTEM "file:///etc/passwd" [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>',
         "entities-refused"),
        (b"<svg>" + b" " * MAX_BYTES + b"</svg>", "file-too-large"),
    ],
)  # fmt: skip
def test_broken_or_hostile_files_are_one_fault(data: bytes, code: str) -> None:
    reading = read_svg(data)
    assert codes(reading) == [code]
    assert reading.plan is None


def test_a_document_type_without_entities_is_harmless() -> None:
    head = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    assert read_svg((head + SVG % SEAT).encode()).plan is not None


def test_uses_that_double_each_other_are_given_up() -> None:
    doubling = "".join(f'<g id="g{n}"><use href="#g{n - 1}"/><use href="#g{n - 1}"/></g>' for n in range(1, 40))
    reading = drawing(f'<g id="g0">{SEAT}</g>{doubling}<use id="seat-B-1" href="#g39"/>')
    assert "too-many" in codes(reading)


def test_a_use_of_itself_ends() -> None:
    reading = drawing('<g id="seat-B-1"><use href="#seat-B-1"/></g>' + SEAT)
    assert codes(reading) == ["shape-unknown"]


def test_elements_beyond_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg_source, "MAX_ELEMENTS", 10)
    assert codes(drawing("<g/>" * 11)) == ["too-many"]


@settings(deadline=None)
@given(st.text(alphabet="<>/&=\"' svgcirleidx0123seat-A#;!DOCTYPENI[]", max_size=300))
def test_whatever_stands_in_a_drawing_it_is_read_or_refused(content: str) -> None:
    reading = drawing(SEAT + content)
    assert (reading.plan is None) == bool(reading.faults)


def test_a_matrix_without_extent_is_no_crash() -> None:
    assert Matrix(0, 0, 0, 0).scale == 0
    plan = drawing(SEAT + '<text transform="scale(0)" x="5" y="5">Exit</text>').plan
    assert plan is not None
    assert [area.text.size for area in plan.areas if area.text] == [0.1]


def test_attributes_beyond_the_bound_are_refused_or_taken_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(drawing(f'<g transform="{"scale(1)" * 2_000}">{SEAT}</g>')) == ["transform-unknown"]
    assert codes(drawing(f'<g class="{"seat " * 3_000}">{SEAT}</g>')) == []
    monkeypatch.setattr(svg_source, "MAX_ATTRIBUTES", 3)
    assert codes(drawing(SEAT)) == ["too-many"]


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="


def test_a_picture_that_the_drawing_carries_lies_under_the_plan() -> None:
    image = f'<image x="5" y="10" width="50" height="20" opacity="0.5" href="data:image/png;base64,{PNG}"/>'
    plan = drawing(f'<g transform="scale(2)">{image}</g>{SEAT}').plan
    assert plan is not None
    (picture,) = plan.pictures
    assert (picture.media_type, picture.x, picture.y, picture.width, picture.height) == ("image/png", 10, 20, 100, 40)
    assert picture.opacity == 0.5


@pytest.mark.parametrize(
    "image",
    [
        '<image width="5" height="5" href="https://example.org/hall.png"/>',
        '<image width="5" height="5" href="file:///etc/passwd"/>',
        '<image width="5" height="5" href="data:image/png;base64,####"/>',
        f'<image width="5" height="5" transform="rotate(9)" href="data:image/png;base64,{PNG}"/>',
        f'<image href="data:image/png;base64,{PNG}"/>',
    ],
)
def test_other_pictures_are_left_out_and_said_and_nothing_is_fetched(image: str) -> None:
    reading = drawing(SEAT + image)
    assert reading.plan is not None
    assert reading.plan.pictures == ()
    assert [item.code for item in reading.warnings] == ["not-kept"]


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ("transform-origin: 10px 0px", (-10, 0)),
        ("transform-origin:", (130, -40)),
        ("transform-origin: 0 0", (-20, 10)),
        ("transform-origin: 50% 50%", (130, -40)),
        ("transform-origin: center", (130, -40)),
        ("transform-origin: 50% 50%; transform-box: fill-box", (10, 20)),
        ("transform-origin: top left; transform-box: fill-box", (2, 20)),
        ("transform-box: fill-box", (-20, 10)),
    ],
)
def test_a_turn_is_about_its_origin(origin: str, place: tuple[float, float]) -> None:
    """A quarter turn of a seat at (10, 20), radius 4, in a view of 200 by 100."""
    seat = f'<circle id="seat-A-1" cx="10" cy="20" r="4" transform="rotate(90)" style="{origin}"/>'
    plan = drawing(seat).plan
    assert plan is not None
    assert places(plan, "A") == [place]


def test_an_origin_that_cannot_be_told_is_a_fault() -> None:
    seat = f'<g transform="rotate(90)" style="transform-origin: 50% 50%; transform-box: fill-box">{SEAT}</g>'
    assert codes(drawing(seat)) == ["transform-unknown"]
    assert codes(drawing(SEAT.replace("/>", ' transform="rotate(9)" transform-origin="here there"/>'))) == [
        "transform-unknown"
    ]
