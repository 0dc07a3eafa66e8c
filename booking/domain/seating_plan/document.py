"""The stored form of a plan version: JSON in the shape that clients decode (`Plan` on the wire), and back (R13).

Columns over all seats, so that 60,000 seats are a few arrays. Areas: `x`, `y` is the upper left corner of a rectangle,
the centre of a circle or ellipse, the place of a text; `width` and `height` are full sizes; `points` and `text_x`,
`text_y` are offsets from (`x`, `y`), about which `rotation` turns clockwise, in degrees.

What the wire has no member for (short names of sections, radii and start directions of single seats) stands under
`extras`, which clients ignore, so that an export loses nothing.
"""

from __future__ import annotations

import hashlib
from uuid import UUID

import msgspec

from booking.domain.seating_plan.derived import seat_radius, section_label_point
from booking.domain.seating_plan.document_shapes import (
    Document,
    area_body,
    area_of_body,
    standing_body,
    standing_of_body,
    table_bodies,
    table_of_body,
)
from booking.domain.seating_plan.model import (
    Category,
    LabelPosition,
    Point,
    Row,
    Seat,
    SeatFlag,
    SeatingPlan,
    Section,
    StandingArea,
)
from booking.domain.seating_plan.pictures import picture_body, picture_of_body
from booking.domain.seating_plan.views import view_body, view_of_body


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


def document_of_body(body: bytes, plan_id: UUID, version: int, origin: Document | None = None) -> bytes:
    """The document of an encoded body; the half million values of a stadium are not encoded a second time.

    `origin` says where the plan came from and what was repaired on the way. It is no part of the plan: the same plan
    from another file has the same digest.
    """
    head = b'{"plan_id":"%s","version":%d,' % (str(plan_id).encode(), version)
    if origin:
        head += b'"origin":%s,' % msgspec.json.encode(origin)
    return head + body[1:]


def plan_body(plan: SeatingPlan) -> Document:
    """The document without `plan_id` and `version`."""
    body: Document = {
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
        "areas": [area_body(area) for area in plan.areas],
        "seats": _seat_columns(plan),
    }
    return body | {name: value for name, value in _optional_members(plan).items() if value}


def _optional_members(plan: SeatingPlan) -> Document:
    """What stands in a document only where a plan has it, so that plans without it keep their digest."""
    return {
        "focal_point": None if plan.focal is None else {"x": plan.focal.x, "y": plan.focal.y},
        "floors": [{"name": name} for name in plan.floors],
        "tables": table_bodies([row for _, row in plan.rows()]),
        "standing": [standing_body(area) for area in plan.standing],
        "views": [view_body(view) for view in plan.views],
        "pictures": [picture_body(picture) for picture in plan.pictures],
        "extras": _extras(plan),
    }


def plan_of_document(data: bytes) -> SeatingPlan:
    """The plan that a document of `encode_document` holds.

    Raises:
        msgspec.DecodeError, KeyError, IndexError, ValueError: The bytes are no such document.
    """
    body: Document = msgspec.json.decode(data)
    extras: Document = body.get("extras", {})
    seats = _seats_of(body["seats"], extras)
    rows = _rows_of(body, seats)
    keys = extras.get("section_keys", [""] * len(rows))
    return SeatingPlan(
        body["name"],
        body["width"],
        body["height"],
        tuple(Category(category["name"], category["color"]) for category in body["categories"]),
        tuple(
            Section(section["name"], tuple(own), key, section.get("floor_no", 0))
            for section, own, key in zip(body["sections"], rows, keys, strict=True)
        ),
        tuple(area_of_body(area) for area in body["areas"]),
        focal_of_body(body),
        tuple(floor["name"] for floor in body.get("floors", ())),
        tuple(standing_of_body(area) for area in body.get("standing", ())),
        tuple(view_of_body(view) for view in body.get("views", ())),
        tuple(picture_of_body(picture) for picture in body.get("pictures", ())),
    )


def focal_of_body(body: Document) -> Point | None:
    """Where people look, when the document says so."""
    point = body.get("focal_point")
    return None if point is None else Point(point["x"], point["y"])


def _rows_of(body: Document, seats: list[Seat]) -> list[list[Row]]:
    """The rows of each section. The texts of rows stood under `extras` in documents of before."""
    former_texts = body.get("extras", {}).get("row_texts", {})
    tables = {table["row_no"]: table_of_body(table) for table in body.get("tables", ())}
    rows: list[list[Row]] = [[] for _ in body["sections"]]
    for number, row in enumerate(body["rows"]):
        first = row["first_seat"]
        texts = former_texts.get(str(number), ("", ""))
        rows[row["section_no"]].append(
            Row(
                row["label"],
                tuple(seats[first : first + row["seat_count"]]),
                LabelPosition(row["label_position"]),
                row.get("row_text", texts[0]),
                row.get("seat_text", texts[1]),
                tables.get(number),
            )
        )
    return rows


def categories_of_document(data: bytes) -> tuple[tuple[Category, ...], frozenset[int]]:
    """The categories of a document, and the numbers of those that have places, without building 60,000 seats.

    Seats that are gone do not count (see numbering.py).
    """
    body: Document = msgspec.json.decode(data)
    categories = tuple(Category(category["name"], category["color"]) for category in body["categories"])
    columns = body["seats"]
    used = {
        category_no
        for category_no, flags in zip(columns["category_no"], columns["flags"], strict=True)
        if not flags & SeatFlag.GONE
    }
    return categories, frozenset(used | {area["category_no"] for area in body.get("standing", ())})


def standing_of_document(data: bytes) -> tuple[StandingArea, ...]:
    """The standing areas of a document."""
    body: Document = msgspec.json.decode(data)
    return tuple(standing_of_body(area) for area in body.get("standing", ()))


def _section_body(section: Section) -> Document:
    middle = section_label_point(section)
    body: Document = {"name": section.name, "label_x": round(middle.x, 3), "label_y": round(middle.y, 3)}
    return body | ({"floor_no": section.floor_no} if section.floor_no else {})


def _row_bodies(plan: SeatingPlan) -> list[Document]:
    bodies: list[Document] = []
    first = 0
    for section_no, row in plan.rows():
        body: Document = {
            "section_no": section_no,
            "label": row.label,
            "first_seat": first,
            "seat_count": len(row.seats),
            "label_position": row.label_position.value,
        }
        texts = {"row_text": row.row_text, "seat_text": row.seat_text}
        bodies.append(body | {name: text for name, text in texts.items() if text})
        first += len(row.seats)
    return bodies


def _seat_columns(plan: SeatingPlan) -> Document:
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


def _extras(plan: SeatingPlan) -> Document:
    extras: Document = {
        "section_keys": [section.key for section in plan.sections] if any(s.key for s in plan.sections) else None,
        "radii": {str(number): seat.radius for number, seat in enumerate(plan.seats()) if seat.radius is not None},
        "start_directions": {
            str(number): seat.start_direction for number, seat in enumerate(plan.seats()) if seat.start_direction
        },
    }
    return {name: value for name, value in extras.items() if value}


def _seats_of(columns: Document, extras: Document) -> list[Seat]:
    radii: Document = extras.get("radii", {})
    directions: Document = extras.get("start_directions", {})
    names = ("guid", "number", "x", "y", "category_no", "flags")
    return [
        Seat(
            guid, number, x, y, category_no, SeatFlag(flags), radii.get(str(index)), directions.get(str(index), "")
        )
        for index, (guid, number, x, y, category_no, flags) in enumerate(
            zip(*(columns[name] for name in names), strict=True)
        )
    ]  # fmt: skip
