"""Writer of the pretix seating-plan JSON, second published variant: what our reader reads back as the same plan.

Zones and rows stand at the origin and seats carry absolute positions, so that no coordinate is summed and rounded on
its way through a file. Marks of seats go into `taquilla_flags` (`resources/venues/README.md`).
"""

from __future__ import annotations

import json

from booking.domain.seating_plan.model import Area, AreaShape, AreaText, Row, Seat, SeatingPlan, Section
from booking.domain.seating_plan.pretix_reader import FLAG_NAMES

_Object = dict[str, object]


def write_pretix(plan: SeatingPlan, *, indent: int | None = None) -> bytes:
    """The plan as UTF-8 JSON; `read_pretix` gives back an equal plan. Areas go into the first zone."""
    body: _Object = {
        "name": plan.name,
        "size": {"width": plan.width, "height": plan.height},
        "categories": [{"name": category.name, "color": category.color} for category in plan.categories],
        "zones": [
            _zone(section, plan, plan.areas if number == 0 else ()) for number, section in enumerate(plan.sections)
        ],
    }
    separators = (",", ":") if indent is None else None
    return json.dumps(body, ensure_ascii=False, indent=indent, separators=separators, allow_nan=False).encode()


def _at(x: float, y: float) -> _Object:
    return {"x": x, "y": y}


def _zone(section: Section, plan: SeatingPlan, areas: tuple[Area, ...]) -> _Object:
    zone: _Object = {"name": section.name, "position": _at(0, 0)}
    if section.key:
        zone["zone_id"] = section.key
    zone["rows"] = [_row(row, plan) for row in section.rows]
    zone["areas"] = [_area(area) for area in areas]
    return zone


def _row(row: Row, plan: SeatingPlan) -> _Object:
    body: _Object = {"row_number": row.label, "position": _at(0, 0)}
    optional = {
        "row_number_position": row.label_position.value,
        "row_label": row.row_text,
        "seat_label": row.seat_text,
    }
    body.update({name: text for name, text in optional.items() if text})
    body["seats"] = [_seat(seat, plan) for seat in row.seats]
    return body


def _seat(seat: Seat, plan: SeatingPlan) -> _Object:
    body: _Object = {
        "seat_guid": seat.guid,
        "seat_number": seat.number,
        "position": _at(seat.x, seat.y),
        "category": plan.categories[seat.category_no].name,
    }
    if seat.radius is not None:
        body["radius"] = seat.radius
    if seat.start_direction:
        body["start_direction"] = seat.start_direction
    if seat.flags:
        body["taquilla_flags"] = [name for name, flag in FLAG_NAMES.items() if flag in seat.flags]
    return body


def _area(area: Area) -> _Object:
    body: _Object = {
        "shape": area.shape.value,
        "position": _at(area.x, area.y),
        "rotation": area.rotation,
        "color": area.color,
        "border_color": area.border_color,
    }
    if area.shape is AreaShape.RECTANGLE:
        body["rectangle"] = {"width": area.width, "height": area.height}
    elif area.shape is AreaShape.CIRCLE:
        body["circle"] = {"radius": area.width / 2}
    elif area.shape is AreaShape.ELLIPSE:
        body["ellipse"] = {"radius": _at(area.width / 2, area.height / 2)}
    elif area.shape is AreaShape.POLYGON:
        body["polygon"] = {"points": [_at(point.x - area.x, point.y - area.y) for point in area.points]}
    if area.text is not None:
        body["text"] = _text(area.text, area)
    return body


def _text(text: AreaText, area: Area) -> _Object:
    return {
        "text": text.text,
        "position": _at(text.x - area.x, text.y - area.y),
        "size": text.size,
        "color": text.color,
    }
