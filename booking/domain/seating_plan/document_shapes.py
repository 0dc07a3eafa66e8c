"""Shapes, tables and standing areas in the stored document (document.py has the rules of its coordinates)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from booking.domain.seating_plan.model import (
    Area,
    AreaShape,
    AreaText,
    Point,
    Row,
    StandingArea,
    Table,
    TableKind,
)

Document = dict[str, Any]  # Any: a JSON value of our own making, decoded at once into the model


def table_bodies(rows: Sequence[Row]) -> list[Document]:
    """The tables of a plan's rows, in their order."""
    return [
        {
            "row_no": number,
            "kind": row.table.kind.value,
            "shape": row.table.shape.value,
            "x": row.table.x,
            "y": row.table.y,
            "width": row.table.width,
            "height": row.table.height,
            "rotation": row.table.rotation,
            "whole": row.table.whole,
        }
        for number, row in enumerate(rows)
        if row.table is not None
    ]


def table_of_body(body: Document) -> Table:
    """A table as a document has it."""
    return Table(
        TableKind(body["kind"]),
        AreaShape(body["shape"]),
        body["x"],
        body["y"],
        body["width"],
        body["height"],
        body["rotation"],
        body["whole"],
    )


def row_kinds(body: Document) -> dict[int, str]:
    """By its number, what each row of a document is that is none: `table` or `booth`."""
    return {
        row_no: table["kind"]
        for table in body.get("tables", ())
        for row_no in (table["row_no"], *table.get("more_rows", ()))
    }


def standing_body(area: StandingArea) -> Document:
    """A standing area as a document has it."""
    return {
        "name": area.name,
        "capacity": area.capacity,
        "category_no": area.category_no,
        "area": area_body(area.area),
    }


def standing_of_body(body: Document) -> StandingArea:
    """A standing area of a document."""
    return StandingArea(body["name"], body["capacity"], body["category_no"], area_of_body(body["area"]))


def area_body(area: Area) -> Document:
    """A shape as a document has it."""
    body: Document = {
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
    if area.floor_no:
        body["floor_no"] = area.floor_no
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


def area_of_body(body: Document) -> Area:
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
        body.get("floor_no", 0),
    )
