"""Teatro Aurora, an invented theatre of about 900 seats: the committed `resources/venues/teatro_aurora.json`.

Stalls in three blocks of curved rows, a balcony in three blocks behind a cross aisle, two files of boxes. Printed
numbers follow the houses of the country: odd to the left and even to the right of the middle block, counted from the
aisle outwards; the balcony's middle block counts from right to left. Run `python -m
booking.domain.seating_plan.teatro_aurora > resources/venues/teatro_aurora.json` after a change.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from booking.domain.seating_plan.curves import arc_points
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
from booking.domain.seating_plan.pretix_writer import write_pretix

CATEGORIES = (
    Category("Premium", "#b2182b"),
    Category("First", "#ef8a62"),
    Category("Second", "#2166ac"),
    Category("Balcony", "#67a9cf"),
    Category("Box", "#7b3294"),
)
_PREMIUM, _FIRST, _SECOND, _BALCONY, _BOX = range(5)
_WIDTH, _HEIGHT = 1700.0, 1500.0
_CENTRE = Point(_WIDTH / 2, 20.0)
_STALLS_ROWS = "ABCDEFGHJKLMNPQRS"  # no I and no O: they read as figures
_BALCONY_ROWS = ("AA", "BB", "CC", "DD", "EE", "FF")
_SEAT_PITCH = 24.0
_MIDDLE = 0.286  # half angle of the middle blocks, radians
_SIDE = 0.28  # angle of a side block
_AISLE = 44.0
_STALLS_RADIUS, _STALLS_STEP = 420.0, 34.0
_BALCONY_RADIUS, _BALCONY_STEP = 1130.0, 36.0

_Number = Callable[[int, int], int]
_Mark = Callable[[int, int], SeatFlag]


def teatro_aurora() -> SeatingPlan:
    """The plan; the same at every call."""
    sections = (
        Section("Stalls Centre", _rows_of_stalls("SC", 0), "SC"),
        Section("Stalls Left", _rows_of_stalls("SL", -1), "SL"),
        Section("Stalls Right", _rows_of_stalls("SR", 1), "SR"),
        Section("Balcony Centre", _rows_of_balcony("BC", 0), "BC"),
        Section("Balcony Left", _rows_of_balcony("BL", -1), "BL"),
        Section("Balcony Right", _rows_of_balcony("BR", 1), "BR"),
        Section("Boxes Left", _boxes("XL", -1), "XL"),
        Section("Boxes Right", _boxes("XR", 1), "XR"),
    )
    return SeatingPlan("Teatro Aurora", _WIDTH, _HEIGHT, CATEGORIES, sections, _areas())


def _block_angles(radius: float, side: int) -> tuple[float, float]:
    """Start and end of a block from left to right; an aisle of constant width lies between the blocks."""
    if side == 0:
        return -_MIDDLE, _MIDDLE
    inner = _MIDDLE + _AISLE / radius
    return (inner, inner + _SIDE) if side > 0 else (-inner - _SIDE, -inner)


def _rows_of_stalls(key: str, side: int) -> tuple[Row, ...]:
    rows = []
    for index, label in enumerate(_STALLS_ROWS):
        category_no = _stalls_category(index, side)
        radius = _STALLS_RADIUS + index * _STALLS_STEP
        mark = _stalls_mark(index, side)
        rows.append(_curved_row(key, label, radius, side, category_no, _numbering(side), mark))
    return tuple(rows)


def _stalls_category(index: int, side: int) -> int:
    if side == 0:
        return _PREMIUM if index < 9 else _FIRST
    return _FIRST if index < 9 else _SECOND


def _rows_of_balcony(key: str, side: int) -> tuple[Row, ...]:
    rows = []
    for index, label in enumerate(_BALCONY_ROWS):
        category_no = _SECOND if side == 0 and index < 2 else _BALCONY
        radius = _BALCONY_RADIUS + index * _BALCONY_STEP
        number: _Number = _right_to_left if side == 0 else _numbering(side)
        rows.append(_curved_row(key, label, radius, side, category_no, number, _balcony_mark(index, side)))
    return tuple(rows)


def _curved_row(key: str, label: str, radius: float, side: int, category_no: int, number: _Number, mark: _Mark) -> Row:
    start, end = _block_angles(radius, side)
    count = int((end - start) * radius / _SEAT_PITCH)
    points = arc_points(_CENTRE, radius, start, end, count)
    seats = tuple(
        Seat(
            f"{key}-{label}-{number(index, count)}",
            str(number(index, count)),
            point.x,
            point.y,
            category_no,
            mark(index, count),
        )
        for index, point in enumerate(points)
    )
    positions = {-1: LabelPosition.START, 0: LabelPosition.BOTH, 1: LabelPosition.END}
    return Row(label, seats, positions[side], f"Row {label}", "Seat %s")


def _numbering(side: int) -> _Number:
    """Left block odd and right block even, both counted from the aisle; the middle block 1, 2, 3."""
    if side < 0:
        return lambda index, count: 2 * (count - 1 - index) + 1
    if side > 0:
        return lambda index, _count: 2 * (index + 1)
    return lambda index, _count: index + 1


def _right_to_left(index: int, count: int) -> int:
    return count - index


def _outer(index: int, count: int, side: int) -> int:
    """How many seats lie between this one and the outer wall."""
    return index if side < 0 else count - 1 - index


def _stalls_mark(row: int, side: int) -> _Mark:
    def mark(index: int, count: int) -> SeatFlag:
        if row == len(_STALLS_ROWS) - 1:  # the cross aisle behind the last row is level with the foyer
            return _wheelchair(min(index, count - 1 - index))
        if side != 0 and row < 3 and _outer(index, count, side) < 2:
            return SeatFlag.RESTRICTED_VIEW
        return SeatFlag.NONE

    return mark


def _wheelchair(from_end: int) -> SeatFlag:
    if from_end == 0:
        return SeatFlag.ACCESSIBLE
    return SeatFlag.COMPANION if from_end == 1 else SeatFlag.NONE


def _balcony_mark(row: int, side: int) -> _Mark:
    def mark(index: int, count: int) -> SeatFlag:
        behind_rail = row == 0 and side != 0 and _outer(index, count, side) < 4
        return SeatFlag.RESTRICTED_VIEW if behind_rail else SeatFlag.NONE

    return mark


def _boxes(key: str, side: int) -> tuple[Row, ...]:
    """Four boxes of four chairs along a side wall; in the two nearest the stage the two front chairs see less."""
    rows = []
    for box in range(4):
        angle, middle = side * (0.80 - box * 0.012), 520.0 + box * 125.0
        seats = tuple(_box_seat(key, box, chair, angle, middle + (chair - 1.5) * _SEAT_PITCH) for chair in range(4))
        rows.append(Row(str(box + 1), seats, LabelPosition.END, f"Box {box + 1}", "Chair %s"))
    return tuple(rows)


def _box_seat(key: str, box: int, chair: int, angle: float, radius: float) -> Seat:
    flags = SeatFlag.RESTRICTED_VIEW if box < 2 and chair < 2 else SeatFlag.NONE
    x = round(_CENTRE.x + radius * math.sin(angle), 2)
    y = round(_CENTRE.y + radius * math.cos(angle), 2)
    return Seat(f"{key}-{box + 1}-{chair + 1}", str(chair + 1), x, y, _BOX, flags)


def _areas() -> tuple[Area, ...]:
    x = _CENTRE.x
    points = tuple(
        Point(x + dx, y)
        for dx, y in ((-330.0, 40.0), (330.0, 40.0), (290.0, 270.0), (150.0, 345.0), (-150.0, 345.0), (-290.0, 270.0))
    )
    stage_text = AreaText("Stage", x, 180.0, 44.0, "#ffffff")
    stage = Area(AreaShape.POLYGON, x - 330.0, 40.0, 660.0, 305.0, points, 0.0, "#5b3a29", "#3d261b", stage_text)
    mixer_text = AreaText("Sound desk", x, 1038.0, 16.0, "#ffffff")
    mixer = Area(AreaShape.RECTANGLE, x - 70.0, 1020.0, 140.0, 36.0, (), 0.0, "#6b7280", "", mixer_text)
    words = (
        ("Balcony", x, 1100.0, 26.0),
        ("Foyer", 205.0, 790.0, 22.0),
        ("Bar", _WIDTH - 205.0, 790.0, 22.0),
    )
    texts = tuple(Area(AreaShape.TEXT, at, y, text=AreaText(text, at, y, size)) for text, at, y, size in words)
    return (stage, mixer, *texts)


if __name__ == "__main__":
    sys.stdout.buffer.write(write_pretix(teatro_aurora(), indent=1) + b"\n")
