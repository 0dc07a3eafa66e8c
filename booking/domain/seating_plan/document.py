"""The stored form of a plan version: JSON in the shape that clients decode (`Plan` on the wire), and back (R13).

Columns over all seats, so that 60,000 seats are a few arrays. Areas: `x`, `y` is the upper left corner of a rectangle,
the centre of a circle or ellipse, the place of a text; `width` and `height` are full sizes; `points` and `text_x`,
`text_y` are offsets from (`x`, `y`), about which `rotation` turns clockwise, in degrees.

What the wire has no member for (short names of sections, running-text names of rows, radii and start directions of
single seats) stands under `extras`, which clients ignore, so that an export loses nothing.
"""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import msgspec

from booking.domain.seating_plan.derived import seat_radius, section_label_point
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

_Document = dict[str, Any]  # Any: a JSON value of our own making, decoded at once into the model


def encode_document(plan: SeatingPlan, plan_id: UUID, version: int) -> bytes:
    """The plan document as JSON bytes; the same plan, id and version give the same bytes."""
    return document_of_body(encode_body(plan), plan_id, version)


def plan_digest(plan: SeatingPlan) -> bytes:
    """SHA-256 over everything the document says but its id and version: equal plans have equal digests."""
    return digest_of_body(encode_body(plan))


def encode_body(plan: SeatingPlan) -> bytes:
    """The document without id and version, as JSON bytes: what a digest is made of and a document is made from."""
    return msgspec.json.encode(plan_body(plan))


def digest_of_body(body: bytes) -> bytes:
    """As `plan_digest`, of an encoded body."""
    return hashlib.sha256(body).digest()


def document_of_body(body: bytes, plan_id: UUID, version: int) -> bytes:
    """The document of an encoded body; the half million values of a stadium are not encoded a second time."""
    return b'{"plan_id":"%s","version":%d,' % (str(plan_id).encode(), version) + body[1:]


def plan_body(plan: SeatingPlan) -> _Document:
    """The document without `plan_id` and `version`."""
    body: _Document = {
        "name": plan.name,
        "width": plan.width,
        "height": plan.height,
        "seat_radius": seat_radius(plan),
        "categories": [
            {"category_no": number, "name": category.name, "color": category.color}
            for number, category in enumerate(plan.categories)
        ],
        "sections": [_section_body(section) for section in plan.sections],
        "rows": _row_bodies(plan),
        "areas": [_area_body(area) for area in plan.areas],
        "seats": _seat_columns(plan),
    }
    extras = _extras(plan)
    return {**body, "extras": extras} if extras else body


def plan_of_document(data: bytes) -> SeatingPlan:
    """The plan that a document of `encode_document` holds.

    Raises:
        msgspec.DecodeError, KeyError, IndexError, ValueError: The bytes are no such document.
    """
    body: _Document = msgspec.json.decode(data)
    extras: _Document = body.get("extras", {})
    seats = _seats_of(body["seats"], extras)
    rows: list[list[Row]] = [[] for _ in body["sections"]]
    for number, row in enumerate(body["rows"]):
        first = row["first_seat"]
        texts = extras.get("row_texts", {}).get(str(number), ("", ""))
        rows[row["section_no"]].append(
            Row(
                row["label"],
                tuple(seats[first : first + row["seat_count"]]),
                LabelPosition(row["label_position"]),
                *texts,
            )
        )
    keys = extras.get("section_keys", [""] * len(rows))
    return SeatingPlan(
        body["name"],
        body["width"],
        body["height"],
        tuple(Category(category["name"], category["color"]) for category in body["categories"]),
        tuple(
            Section(section["name"], tuple(own), key)
            for section, own, key in zip(body["sections"], rows, keys, strict=True)
        ),
        tuple(area_of_body(area) for area in body["areas"]),
    )


def categories_of_document(data: bytes) -> tuple[tuple[Category, ...], frozenset[int]]:
    """The categories of a document, and the numbers of those that have seats, without building 60,000 seats.

    Seats that are gone do not count (see numbering.py).
    """
    body: _Document = msgspec.json.decode(data)
    categories = tuple(Category(category["name"], category["color"]) for category in body["categories"])
    columns = body["seats"]
    return categories, frozenset(
        category_no
        for category_no, flags in zip(columns["category_no"], columns["flags"], strict=True)
        if not flags & SeatFlag.GONE
    )


def _section_body(section: Section) -> _Document:
    middle = section_label_point(section)
    return {"name": section.name, "label_x": round(middle.x, 3), "label_y": round(middle.y, 3)}


def _row_bodies(plan: SeatingPlan) -> list[_Document]:
    bodies: list[_Document] = []
    first = 0
    for section_no, row in plan.rows():
        bodies.append(
            {
                "section_no": section_no,
                "label": row.label,
                "first_seat": first,
                "seat_count": len(row.seats),
                "label_position": row.label_position.value,
            }
        )
        first += len(row.seats)
    return bodies


def _seat_columns(plan: SeatingPlan) -> _Document:
    seats = tuple(plan.seats())
    return {
        "guid": [seat.guid for seat in seats],
        "number": [seat.number for seat in seats],
        "row_no": [row_no for row_no, (_, row) in enumerate(plan.rows()) for _ in row.seats],
        "category_no": [seat.category_no for seat in seats],
        "x": [seat.x for seat in seats],
        "y": [seat.y for seat in seats],
        "flags": [int(seat.flags) for seat in seats],
    }


def _extras(plan: SeatingPlan) -> _Document:
    extras: _Document = {
        "section_keys": [section.key for section in plan.sections] if any(s.key for s in plan.sections) else None,
        "row_texts": {
            str(number): (row.row_text, row.seat_text)
            for number, (_, row) in enumerate(plan.rows())
            if row.row_text or row.seat_text
        },
        "radii": {str(number): seat.radius for number, seat in enumerate(plan.seats()) if seat.radius is not None},
        "start_directions": {
            str(number): seat.start_direction for number, seat in enumerate(plan.seats()) if seat.start_direction
        },
    }
    return {name: value for name, value in extras.items() if value}


def _seats_of(columns: _Document, extras: _Document) -> list[Seat]:
    radii: _Document = extras.get("radii", {})
    directions: _Document = extras.get("start_directions", {})
    names = ("guid", "number", "x", "y", "category_no", "flags")
    return [
        Seat(
            guid, number, x, y, category_no, SeatFlag(flags), radii.get(str(index)), directions.get(str(index), "")
        )
        for index, (guid, number, x, y, category_no, flags) in enumerate(
            zip(*(columns[name] for name in names), strict=True)
        )
    ]  # fmt: skip


def _area_body(area: Area) -> _Document:
    body: _Document = {
        "shape": area.shape.value,
        "x": area.x,
        "y": area.y,
        "width": area.width,
        "height": area.height,
        "points": [value for point in area.points for value in (_offset(point.x, area.x), _offset(point.y, area.y))],
        "rotation": area.rotation,
        "color": area.color,
        "border_color": area.border_color,
    }
    if area.text is not None:
        text = area.text
        body.update(
            text=text.text,
            text_x=_offset(text.x, area.x),
            text_y=_offset(text.y, area.y),
            text_size=text.size,
            text_color=text.color,
        )
    return body


def _offset(value: float, origin: float) -> float:
    """To a millionth, as shapes are read from files, so that there and back is the same shape."""
    return round(value - origin, 6)


def area_of_body(body: _Document) -> Area:
    """A shape as a document has it."""
    text = None
    if body.get("text"):
        text = AreaText(
            body["text"],
            round(body["x"] + body["text_x"], 6),
            round(body["y"] + body["text_y"], 6),
            body["text_size"],
            body["text_color"],
        )
    values = body["points"]
    return Area(
        AreaShape(body["shape"]),
        body["x"],
        body["y"],
        body["width"],
        body["height"],
        tuple(
            Point(round(body["x"] + x, 6), round(body["y"] + y, 6))
            for x, y in zip(values[::2], values[1::2], strict=True)
        ),
        body["rotation"],
        body["color"],
        body["border_color"],
        text,
    )
