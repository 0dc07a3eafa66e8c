"""Writer of our own plan format (docs/seating-plan-format.md): what the reader reads back as the same plan."""

from __future__ import annotations

from booking.domain.seating_plan.model import Area, Row, Seat, SeatingPlan, Section
from booking.domain.seating_plan.own_reader import MARK, VERSION
from booking.domain.seating_plan.pictures import picture_object
from booking.domain.seating_plan.pretix_writer import (
    Object,
    area_object,
    encode_json,
    flag_names,
    point_object,
    table_object,
)
from booking.domain.seating_plan.views import view_object

_FLOOR = "floor"


def write_own(plan: SeatingPlan, *, indent: int | None = None) -> bytes:
    """The plan as UTF-8 JSON."""
    body: Object = {MARK: VERSION, "name": plan.name, "size": {"width": plan.width, "height": plan.height}}
    if plan.focal is not None:
        body["focal_point"] = point_object(plan.focal.x, plan.focal.y)
    if plan.floors:
        body["floors"] = list(plan.floors)
    body["categories"] = [{"name": category.name, "color": category.color} for category in plan.categories]
    body["sections"] = [_section(section, plan) for section in plan.sections]
    body["areas"] = [_area(area, plan) for area in plan.areas]
    body["standing"] = [
        {
            "name": area.name,
            "capacity": area.capacity,
            "category": plan.categories[area.category_no].name,
            "area": area_object(area.area, _FLOOR),
        }
        for area in plan.standing
    ]
    if plan.pictures:
        body["pictures"] = [picture_object(picture) for picture in plan.pictures]
    if plan.views:
        body["views"] = [view_object(view) for view in plan.views]
    return encode_json(body, indent)


def _area(area: Area, plan: SeatingPlan) -> Object:
    """An area on the first of several floors says so: without a floor it would be on all of them."""
    return area_object(area, _FLOOR) | ({_FLOOR: area.floor_no} if plan.floors and area.floor_no >= 0 else {})


def _section(section: Section, plan: SeatingPlan) -> Object:
    body: Object = {"name": section.name}
    if section.key:
        body["key"] = section.key
    if section.floor_no:
        body[_FLOOR] = section.floor_no
    body["rows"] = [_row(row, plan) for row in section.rows]
    return body


def _row(row: Row, plan: SeatingPlan) -> Object:
    body: Object = {"label": row.label}
    texts = {"label_position": row.label_position.value, "row_text": row.row_text, "seat_text": row.seat_text}
    body.update({name: text for name, text in texts.items() if text})
    if row.table is not None:
        body["table"] = table_object(row.table)
    body["seats"] = [_seat(seat, plan) for seat in row.seats]
    return body


def _seat(seat: Seat, plan: SeatingPlan) -> Object:
    body: Object = {
        "id": seat.guid,
        "number": seat.number,
        "x": seat.x,
        "y": seat.y,
        "category": plan.categories[seat.category_no].name,
    }
    if seat.flags:
        body["marks"] = flag_names(seat)
    if seat.radius is not None:
        body["radius"] = seat.radius
    if seat.start_direction:
        body["start_direction"] = seat.start_direction
    return body
