"""Writer of the pretix seating-plan JSON, second published variant: what our reader reads back as the same plan.

Zones and rows stand at the origin and seats carry absolute positions, so that no coordinate is summed and rounded on
its way through a file. What the format has no member for goes into members of ours (pretix_additions.py), or is left
out where somebody wants the plain format.
"""

from __future__ import annotations

import json

from booking.domain.seating_plan.model import (
    EVERY_FLOOR,
    Area,
    AreaShape,
    AreaText,
    Row,
    Seat,
    SeatingPlan,
    Section,
    Table,
)
from booking.domain.seating_plan.pictures import picture_object
from booking.domain.seating_plan.pretix_additions import (
    FLAG_NAMES,
    FLAGS,
    FLOORS,
    FOCAL,
    PICTURES,
    STANDING,
    TABLE,
    VIEWS,
)
from booking.domain.seating_plan.pretix_areas import FLOOR
from booking.domain.seating_plan.views import view_object

Object = dict[str, object]


def write_pretix(plan: SeatingPlan, *, indent: int | None = None, plain: bool = False) -> bytes:
    """The plan as UTF-8 JSON; `read_pretix` gives back an equal plan. Areas go into the first zone, or into one without
    rows where there are no seats.

    `plain`: without any member of ours; `left_out` says what that costs.
    """
    body: Object = {
        "name": plan.name,
        "size": {"width": plan.width, "height": plan.height},
        "categories": [{"name": category.name, "color": category.color} for category in plan.categories],
    }
    body |= _plan_additions(plan)
    sections = plan.sections or ((Section(plan.name, ()),) if plan.areas else ())
    body["zones"] = [_zone(section, plan, plan.areas if number == 0 else ()) for number, section in enumerate(sections)]
    if plain:
        _drop_additions(body)
    return encode_json(body, indent)


def encode_json(body: Object, indent: int | None) -> bytes:
    """UTF-8, as short as can be without an indent."""
    separators = (",", ":") if indent is None else None
    return json.dumps(body, ensure_ascii=False, indent=indent, separators=separators, allow_nan=False).encode()


def left_out(plan: SeatingPlan) -> tuple[str, ...]:
    """What a plain pretix plan cannot say of this plan, in words."""
    marked = sum(1 for seat in plan.seats() if seat.flags)
    tables = sum(1 for _, row in plan.rows() if row.table is not None)
    lost = {
        f"the marks of {marked:,} seats": marked,
        f"the focal point ({plan.focal.x:g}, {plan.focal.y:g})" if plan.focal else "": plan.focal,
        f"{len(plan.floors)} floors": plan.floors,
        f"{len(plan.standing)} standing areas": plan.standing,
        f"the drawing of {tables} tables": tables,
        f"{len(plan.pictures)} pictures": plan.pictures,
        f"{len(plan.views)} views from seats": plan.views,
    }
    return tuple(words for words, there in lost.items() if there)


def _drop_additions(value: object) -> None:
    if isinstance(value, dict):
        for name in [name for name in value if name.startswith("taquilla_")]:
            del value[name]
        for child in value.values():
            _drop_additions(child)
    elif isinstance(value, list):
        for child in value:
            _drop_additions(child)


def _plan_additions(plan: SeatingPlan) -> Object:
    standing: list[Object] = [
        {
            "name": area.name,
            "capacity": area.capacity,
            "category": plan.categories[area.category_no].name,
            "area": area_object(area.area),
        }
        for area in plan.standing
    ]
    additions: Object = {
        FOCAL: point_object(plan.focal.x, plan.focal.y) if plan.focal else None,
        FLOORS: list(plan.floors),
        STANDING: standing,
        PICTURES: [picture_object(picture) for picture in plan.pictures],
        VIEWS: [view_object(view) for view in plan.views],
    }
    return {name: value for name, value in additions.items() if value}


def table_object(table: Table) -> Object:
    """A table as files have it."""
    return {
        "kind": table.kind.value,
        "shape": table.shape.value,
        "x": table.x,
        "y": table.y,
        "width": table.width,
        "height": table.height,
        "rotation": table.rotation,
        "whole": table.whole,
    }


def point_object(x: float, y: float) -> Object:
    """A point as files have it."""
    return {"x": x, "y": y}


def _zone(section: Section, plan: SeatingPlan, areas: tuple[Area, ...]) -> Object:
    zone: Object = {"name": section.name, "position": point_object(0, 0)}
    if section.key:
        zone["zone_id"] = section.key
    if section.floor_no:
        zone[FLOOR] = section.floor_no
    zone["rows"] = [_row(row, plan) for row in section.rows]
    zone["areas"] = [_area_of_zone(area) for area in areas]
    return zone


def _area_of_zone(area: Area) -> Object:
    body = area_object(area)
    return body | {FLOOR: EVERY_FLOOR} if area.floor_no == EVERY_FLOOR else body


def _row(row: Row, plan: SeatingPlan) -> Object:
    body: Object = {"row_number": row.label, "position": point_object(0, 0)}
    optional = {
        "row_number_position": row.label_position.value,
        "row_label": row.row_text,
        "seat_label": row.seat_text,
    }
    body.update({name: text for name, text in optional.items() if text})
    if row.table is not None:
        body[TABLE] = table_object(row.table)
    body["seats"] = [_seat(seat, plan) for seat in row.seats]
    return body


def _seat(seat: Seat, plan: SeatingPlan) -> Object:
    body: Object = {
        "seat_guid": seat.guid,
        "seat_number": seat.number,
        "position": point_object(seat.x, seat.y),
        "category": plan.categories[seat.category_no].name,
    }
    if seat.radius is not None:
        body["radius"] = seat.radius
    if seat.start_direction:
        body["start_direction"] = seat.start_direction
    if seat.flags:
        body[FLAGS] = flag_names(seat)
    return body


def flag_names(seat: Seat) -> list[str]:
    """The marks of a seat as files have them."""
    return [name for name, flag in FLAG_NAMES.items() if flag in seat.flags]


def area_object(area: Area, floor_member: str = FLOOR) -> Object:
    """A shape as files have it: its place, and everything else relative to that."""
    body: Object = {
        "shape": area.shape.value,
        "position": point_object(area.x, area.y),
        "rotation": area.rotation,
        "color": area.color,
        "border_color": area.border_color,
    }
    if area.shape is AreaShape.RECTANGLE:
        body["rectangle"] = {"width": area.width, "height": area.height}
    elif area.shape is AreaShape.CIRCLE:
        body["circle"] = {"radius": area.width / 2}
    elif area.shape is AreaShape.ELLIPSE:
        body["ellipse"] = {"radius": point_object(area.width / 2, area.height / 2)}
    elif area.shape is AreaShape.POLYGON:
        body["polygon"] = {"points": [point_object(point.x - area.x, point.y - area.y) for point in area.points]}
    if area.floor_no > 0:
        body[floor_member] = area.floor_no
    if area.text is not None:
        body["text"] = _text(area.text, area)
    return body


def _text(text: AreaText, area: Area) -> Object:
    return {
        "text": text.text,
        "position": point_object(text.x - area.x, text.y - area.y),
        "size": text.size,
        "color": text.color,
    }
