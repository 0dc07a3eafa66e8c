"""Generated venues: a stadium of any size, and a small hall. The same arguments give the same plan, guids included."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from booking.domain.seating_plan.curves import Ellipse
from booking.domain.seating_plan.model import (
    Area,
    AreaShape,
    AreaText,
    Category,
    LabelPosition,
    Point,
    Row,
    Seat,
    SeatFlag,
    SeatingPlan,
    Section,
)

STADIUM_CATEGORIES = (
    Category("Category 1", "#0072b2"),
    Category("Category 2", "#e69f00"),
    Category("Category 3", "#009e73"),
    Category("Category 4", "#cc79a7"),
)
_SEAT_PITCH = 10.0  # half a metre
_ROW_PITCH = 16.0
_AISLE = 26.0
_TIER_GAP = 70.0
_MARGIN = 120.0
_PITCH = Point(2100.0, 1360.0)  # 105 m × 68 m
_INNER = Point(1400.0, 1100.0)  # half axes of the first row: clear of the corners of the pitch
_LOWER_SHARE = 0.52
_LOWER_SECTORS = 36
_UPPER_SECTORS = 44
_MIN_STADIUM = 2_000
_GRASS, _CHALK = "#3f8f4f", "#ffffff"


@dataclass(frozen=True, slots=True)
class _Tier:
    """`first_ring` is the distance of its first row from the first row of all; sections are `prefix` + 01, 02, …"""

    prefix: int
    sectors: int
    first_ring: float
    counts: list[list[int]]  # seats of each sector, ring by ring

    @property
    def seats(self) -> int:
        return sum(map(sum, self.counts))


def stadium(seats: int = 60_000, *, name: str = "Stadium bowl") -> SeatingPlan:
    """An elliptical bowl of exactly `seats` seats in two tiers of curved rows round a pitch.

    Categories go by the distance of a section from the middle of the pitch. Every third section of the lower tier
    has wheelchair places, each beside a companion's seat, in its last row.

    Raises:
        ValueError: Fewer than 2,000 seats, which would not go round.
    """
    if seats < _MIN_STADIUM:
        raise ValueError(f"a bowl needs at least {_MIN_STADIUM} seats, not {seats}")
    lower = _plan_tier(1, _LOWER_SECTORS, 0.0, round(seats * _LOWER_SHARE))
    upper_ring = len(lower.counts) * _ROW_PITCH + _TIER_GAP
    upper = _plan_tier(2, _UPPER_SECTORS, upper_ring, seats - lower.seats)
    depth = upper.first_ring + len(upper.counts) * _ROW_PITCH + _MARGIN
    centre = Point(_INNER.x + depth, _INNER.y + depth)
    drafts = [draft for tier in (lower, upper) for draft in _tier_sections(tier, centre)]
    sections = _with_categories(drafts, centre)
    return SeatingPlan(name, 2 * centre.x, 2 * centre.y, STADIUM_CATEGORIES, sections, _pitch_areas(centre))


def _ellipse(offset: float, centre: Point) -> Ellipse:
    return Ellipse(centre, _INNER.x + offset, _INNER.y + offset)


def _plan_tier(prefix: int, sectors: int, first_ring: float, seats: int) -> _Tier:
    """As many full rings as it takes, the last one cut evenly so that the tier has exactly `seats`."""
    counts: list[list[int]] = []
    remaining = seats
    while remaining > 0:
        offset = first_ring + len(counts) * _ROW_PITCH
        sector_length = _ellipse(offset, Point(0.0, 0.0)).length / sectors
        full = int((sector_length - _AISLE) / _SEAT_PITCH)
        if full * sectors <= remaining:
            counts.append([full] * sectors)
        else:
            share, extra = divmod(remaining, sectors)
            counts.append([share + (1 if sector < extra else 0) for sector in range(sectors)])
        remaining -= sum(counts[-1])
    return _Tier(prefix, sectors, first_ring, counts)


def _tier_sections(tier: _Tier, centre: Point) -> list[Section]:
    rows: list[list[Row]] = [[] for _ in range(tier.sectors)]
    for ring, counts in enumerate(tier.counts):
        ellipse = _ellipse(tier.first_ring + ring * _ROW_PITCH, centre)
        for sector, count in enumerate(counts):
            if count:
                is_last = ring == len(tier.counts) - 2  # the last full ring: the cut one is shorter
                marked = is_last and tier.prefix == 1 and sector % 3 == 0
                rows[sector].append(_bowl_row(tier, ellipse, sector, ring, count, marked=marked))
    return [Section(_section_name(tier, sector), tuple(own)) for sector, own in enumerate(rows) if own]


def _section_name(tier: _Tier, sector: int) -> str:
    return f"{tier.prefix}{sector + 1:02d}"


def _bowl_row(tier: _Tier, ellipse: Ellipse, sector: int, ring: int, count: int, *, marked: bool) -> Row:
    sector_length = ellipse.length / tier.sectors
    middle = (sector + 0.5) * sector_length
    lengths = middle + (np.arange(count, dtype=np.float64) - (count - 1) / 2) * _SEAT_PITCH
    xs, ys = ellipse.points_at(lengths)
    section, label = _section_name(tier, sector), str(ring + 1)
    seats = tuple(
        Seat(
            f"{section}-{label}-{index + 1}",
            str(index + 1),
            x,
            y,
            0,
            _wheelchair_pair(index) if marked else SeatFlag.NONE,
        )
        for index, (x, y) in enumerate(zip(xs, ys, strict=True))
    )
    return Row(label, seats, LabelPosition.START)


def _wheelchair_pair(index: int) -> SeatFlag:
    if index >= 8:
        return SeatFlag.NONE
    return SeatFlag.ACCESSIBLE if index % 2 == 0 else SeatFlag.COMPANION


def _with_categories(sections: list[Section], centre: Point) -> tuple[Section, ...]:
    """Quarters of the sections by distance from the middle of the pitch, the nearest in the first category."""
    order = sorted(range(len(sections)), key=lambda index: _distance(sections[index], centre))
    category_of = {index: rank * len(STADIUM_CATEGORIES) // len(order) for rank, index in enumerate(order)}
    return tuple(_recategorised(section, category_of[index]) for index, section in enumerate(sections))


def _distance(section: Section, centre: Point) -> float:
    row = section.rows[len(section.rows) // 2]
    seat = row.seats[len(row.seats) // 2]
    return round(math.hypot(seat.x - centre.x, seat.y - centre.y), 1)


def _recategorised(section: Section, category_no: int) -> Section:
    rows = tuple(
        Row(
            row.label,
            tuple(Seat(seat.guid, seat.number, seat.x, seat.y, category_no, seat.flags) for seat in row.seats),
            row.label_position,
        )
        for row in section.rows
    )
    return Section(section.name, rows, section.key)


def _pitch_areas(centre: Point) -> tuple[Area, ...]:
    left, top = centre.x - _PITCH.x / 2, centre.y - _PITCH.y / 2
    text = AreaText("Pitch", centre.x, top + 150.0, 120.0, _CHALK)
    grass = Area(AreaShape.RECTANGLE, left, top, _PITCH.x, _PITCH.y, (), 0.0, _GRASS, _CHALK, text)
    circle = Area(AreaShape.CIRCLE, centre.x, centre.y, 366.0, 366.0, (), 0.0, _GRASS, _CHALK)
    halfway = Area(AreaShape.RECTANGLE, centre.x - 2, top, 4.0, _PITCH.y, (), 0.0, _CHALK, "")
    boxes = tuple(
        Area(AreaShape.RECTANGLE, x, centre.y - 403.0, 330.0, 806.0, (), 0.0, _GRASS, _CHALK)
        for x in (left, left + _PITCH.x - 330.0)
    )
    return (grass, circle, halfway, *boxes)


HALL_CATEGORIES = (Category("Front", "#0072b2"), Category("Rear", "#e69f00"))
_HALL_ROWS = "ABCDEFGHJKL"
_HALL_SEATS = 14
_HALL_AISLE = 40.0


def small_hall(name: str = "Concert layout") -> SeatingPlan:
    """A hall of 11 straight rows of 14 seats with a middle aisle: 154 seats, two wheelchair places in the last row."""
    rows = tuple(_hall_row(index, label) for index, label in enumerate(_HALL_ROWS))
    stage_text = AreaText("Stage", 250.0, 60.0, 20.0, "#ffffff")
    stage = Area(AreaShape.RECTANGLE, 110.0, 20.0, 280.0, 80.0, (), 0.0, "#5a5a66", "", stage_text)
    door = AreaText("Entrance", 250.0, 565.0, 14.0)
    entrance = Area(AreaShape.TEXT, 250.0, 565.0, text=door)
    return SeatingPlan(name, 500.0, 590.0, HALL_CATEGORIES, (Section("Floor", rows),), (stage, entrance))


def _hall_row(index: int, label: str) -> Row:
    half = _HALL_SEATS // 2
    category_no = 0 if index < 5 else 1
    seats = tuple(
        Seat(
            f"floor-{label}-{number + 1}",
            str(number + 1),
            60.0 + number * 26.0 + (_HALL_AISLE if number >= half else 0.0),
            160.0 + index * 34.0,
            category_no,
            _hall_flag(label, number),
        )
        for number in range(_HALL_SEATS)
    )
    return Row(label, seats, LabelPosition.BOTH)


def _hall_flag(label: str, number: int) -> SeatFlag:
    if label != _HALL_ROWS[-1] or 2 <= number < _HALL_SEATS - 2:
        return SeatFlag.NONE
    outer = number in {0, _HALL_SEATS - 1}
    return SeatFlag.ACCESSIBLE if outer else SeatFlag.COMPANION
