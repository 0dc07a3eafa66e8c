"""A draft in our own plan format (docs/seating-plan-format.md), and back; and as it is kept while it is not saved.

The booking system is the judge of a plan file and reports everything that is wrong with it. Here a file is opened to be
worked on: what is missing or unknown becomes something that the editor shows and a person puts right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import msgspec

from app.core.errors import PlanFileError
from app.core.plan_areas import bounds_of
from app.core.plan_draft import (
    EVERY_FLOOR,
    NO_CATEGORY,
    DraftCategory,
    DraftRow,
    DraftSeat,
    DraftSection,
    DraftShape,
    DraftStanding,
    DraftTable,
    PlanDraft,
    SeatMark,
)
from app.core.plan_file_parts import FileArea, FileCategory, FilePlan, FileRow, FileSeat, FileTable, FileText
from app.core.plan_images import (
    Json,
    picture_body,
    picture_of_file,
    view_bodies,
    views_of_file,
)

VERSION: Final = 1
MAX_BYTES: Final = 64 * 1024 * 1024
_MARK_NAMES: Final = {
    "accessible": SeatMark.ACCESSIBLE,
    "companion": SeatMark.COMPANION,
    "restricted-view": SeatMark.RESTRICTED_VIEW,
}
_MARGIN: Final = 40.0


# ---------------------------------------------------------------- writing


def plan_body(draft: PlanDraft) -> Json:
    """The draft as a JSON value of our format."""
    names = {category.category_id: category.name.strip() for category in draft.categories}
    body: Json = {"$schema": draft.schema} if draft.schema else {}
    body |= {
        "taquilla_plan": VERSION,
        "name": draft.name.strip(),
        "size": {"width": draft.width, "height": draft.height},
    }
    if draft.focal is not None:
        body["focal_point"] = _point_body(*draft.focal)
    if draft.floors:
        body["floors"] = list(draft.floors)
    body["categories"] = [
        {"name": names[category.category_id], "color": category.color} for category in draft.categories
    ]
    body["sections"] = [_section_body(draft, section, names) for section in draft.sections]
    body["areas"] = [_area_body(shape) | _floor_body(draft, shape) for shape in draft.shapes]
    body["standing"] = [
        {
            "name": area.name.strip(),
            "capacity": area.capacity,
            "category": names.get(area.category_id, ""),
            "area": _area_body(area.area),
        }
        for area in draft.standing
    ]
    if draft.pictures:
        body["pictures"] = [picture_body(picture) for picture in draft.pictures]
    if draft.views:
        body["views"] = view_bodies(draft)
    return body


def write_plan(draft: PlanDraft) -> bytes:
    """The draft as a file, to be read by people too."""
    return json.dumps(plan_body(draft), ensure_ascii=False, indent=1).encode() + b"\n"


def _section_body(draft: PlanDraft, section: DraftSection, names: dict[int, str]) -> Json:
    body: Json = {"name": section.name.strip()}
    if section.key:
        body["key"] = section.key
    if section.floor_no:
        body["floor"] = section.floor_no
    body["rows"] = [_row_body(row, names) for row in draft.rows_of(section.section_id)]
    return body


def _row_body(row: DraftRow, names: dict[int, str]) -> Json:
    body: Json = {"label": row.label.strip()}
    texts = {"label_position": row.label_position, "row_text": row.row_text, "seat_text": row.seat_text}
    body.update({name: text for name, text in texts.items() if text})
    if row.table is not None:
        body["table"] = msgspec.to_builtins(row.table)
    body["seats"] = [_seat_body(seat, names) for seat in row.seats]
    return body


def _seat_body(seat: DraftSeat, names: dict[int, str]) -> Json:
    body: Json = {"id": seat.guid, "number": seat.number.strip(), "x": seat.x, "y": seat.y}
    body["category"] = names.get(seat.category_id, "")
    if seat.marks:
        body["marks"] = [name for name, mark in _MARK_NAMES.items() if mark in seat.marks]
    if seat.radius is not None:
        body["radius"] = seat.radius
    if seat.start_direction:
        body["start_direction"] = seat.start_direction
    return body


def _floor_body(draft: PlanDraft, shape: DraftShape) -> Json:
    """An area on the first of several floors says so: without a floor it would be on all of them."""
    return {"floor": shape.floor_no} if draft.floors and shape.floor_no >= 0 else {}


def _area_body(shape: DraftShape) -> Json:
    body: Json = {"shape": shape.shape, "position": _point_body(shape.x, shape.y)}
    styles = {"rotation": shape.rotation, "color": shape.color, "border_color": shape.border_color}
    body.update({name: value for name, value in styles.items() if value})
    if shape.shape == "rectangle":
        body["rectangle"] = {"width": shape.width, "height": shape.height}
    elif shape.shape == "circle":
        body["circle"] = {"radius": shape.width / 2}
    elif shape.shape == "ellipse":
        body["ellipse"] = {"radius": _point_body(shape.width / 2, shape.height / 2)}
    elif shape.shape == "polygon":
        points = [_point_body(round(x - shape.x, 6), round(y - shape.y, 6)) for x, y in shape.points]
        body["polygon"] = {"points": points}
    if shape.floor_no > 0:
        body["floor"] = shape.floor_no
    if shape.text.strip():
        x, y = text_place(shape)
        text: Json = {"text": shape.text, "position": _point_body(round(x - shape.x, 6), round(y - shape.y, 6))}
        text["size"] = shape.text_size
        if shape.text_color:
            text["color"] = shape.text_color
        body["text"] = text
    return body


def text_place(shape: DraftShape) -> tuple[float, float]:
    """The middle of a shape's text."""
    if shape.text_at is not None:
        return shape.text_at
    if shape.shape == "text":
        return shape.x, shape.y
    left, top, right, bottom = bounds_of(shape)
    return (left + right) / 2, (top + bottom) / 2


def _point_body(x: float, y: float) -> Json:
    return {"x": x, "y": y}


# ---------------------------------------------------------------- reading


def read_plan(data: bytes, new_guid: Callable[[], str]) -> PlanDraft:
    """The draft of a file. Seats without an id, or with one that another seat has, get a new one.

    Raises:
        PlanFileError: it is no plan of our format, of a later version of it, or has members that a draft cannot carry;
            the text says where.
    """
    if len(data) > MAX_BYTES:
        raise PlanFileError("too large")
    try:
        plan = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=FilePlan)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PlanFileError(str(error)) from error
    if plan.taquilla_plan != VERSION:
        raise PlanFileError(f"version {plan.taquilla_plan}")
    return _Reader(new_guid).draft(plan)


class _Reader:
    """Gives ids to what a file has by order and by name."""

    def __init__(self, new_guid: Callable[[], str]) -> None:
        self._new_guid = new_guid
        self._next_id = 1
        self._guids: set[str] = set()
        self._category_ids: dict[str, int] = {}

    def draft(self, plan: FilePlan) -> PlanDraft:
        categories = tuple(self._category(category) for category in plan.categories)
        sections: list[DraftSection] = []
        rows: list[DraftRow] = []
        for section in plan.sections:
            sections.append(DraftSection(self._id(), section.name, section.key, section.floor))
            rows += [self._row(row, sections[-1].section_id) for row in section.rows]
        absent = EVERY_FLOOR if plan.floors else 0
        shapes = tuple(self._shape(area, absent) for area in plan.areas)
        standing = tuple(
            DraftStanding(
                one.name, one.capacity, self._category_ids.get(one.category, NO_CATEGORY), self._shape(one.area)
            )
            for one in plan.standing
        )
        by_name: dict[str, int] = {}
        for made in sections:
            by_name.setdefault(made.name.strip(), made.section_id)
        views = views_of_file(plan.views, by_name, self._guids)
        pictures = tuple(picture_of_file(picture, self._id()) for picture in plan.pictures)
        width, height = _size_of(plan, rows)
        focal = None if plan.focal_point is None else (plan.focal_point.x, plan.focal_point.y)
        return PlanDraft(
            plan.name, width, height, categories, tuple(sections), tuple(rows), shapes, standing,
            tuple(plan.floors), focal, self._next_id, views, pictures, plan.schema,
        )  # fmt: skip

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _category(self, category: FileCategory) -> DraftCategory:
        made = DraftCategory(self._id(), category.name, category.color)
        self._category_ids.setdefault(category.name, made.category_id)
        return made

    def _row(self, row: FileRow, section_id: int) -> DraftRow:
        return DraftRow(
            self._id(), section_id, str(row.label), tuple(self._seat(seat) for seat in row.seats), row.label_position,
            row.row_text, row.seat_text, _table_of(row.table),
        )  # fmt: skip

    def _seat(self, seat: FileSeat) -> DraftSeat:
        guid = seat.id.strip()
        if not guid or guid in self._guids:
            guid = self._new_guid()
        self._guids.add(guid)
        return DraftSeat(
            guid, str(seat.number), seat.x, seat.y, self._category_ids.get(seat.category, NO_CATEGORY),
            _marks_of(seat.marks), seat.radius, seat.start_direction,
        )  # fmt: skip

    def _shape(self, area: FileArea, absent: int = 0) -> DraftShape:
        """`absent`: the floor of an area that names none."""
        x, y = area.position.x, area.position.y
        width, height = _area_size(area)
        text = area.text or FileText()
        text_at = None
        if area.text is not None:
            text_at = (round(x + text.position.x, 6), round(y + text.position.y, 6))
        points = tuple((round(x + point.x, 6), round(y + point.y, 6)) for point in area.polygon.points)
        made = DraftShape(
            self._id(), area.shape, x, y, width, height, points, area.rotation, area.color, area.border_color,
            text.text, None, text.size, text.color, absent if area.floor is None else area.floor,
        )  # fmt: skip
        return made if text_at is None or text_at == text_place(made) else replace(made, text_at=text_at)


def _area_size(area: FileArea) -> tuple[float, float]:
    if area.shape == "circle":
        return 2 * area.circle.radius, 2 * area.circle.radius
    if area.shape == "ellipse":
        return 2 * area.ellipse.radius.x, 2 * area.ellipse.radius.y
    return area.rectangle.width, area.rectangle.height


def _table_of(table: FileTable | None) -> DraftTable | None:
    if table is None:
        return None
    return DraftTable(table.kind, table.shape, table.x, table.y, table.width, table.height, table.rotation, table.whole)


def _marks_of(names: Iterable[str]) -> SeatMark:
    marks = SeatMark.NONE
    for name in names:
        marks |= _MARK_NAMES[name]
    return marks


def _size_of(plan: FilePlan, rows: list[DraftRow]) -> tuple[float, float]:
    """The size that the file says, else to the last seat and a margin."""
    if plan.size is not None and plan.size.width > 0 and plan.size.height > 0:
        return plan.size.width, plan.size.height
    places = [place for row in rows for place in row.places] or [(600.0, 400.0)]
    return max(x for x, _y in places) + _MARGIN, max(y for _x, y in places) + _MARGIN
