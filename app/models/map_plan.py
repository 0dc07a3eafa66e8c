"""The plan of the wire as the seat map draws it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from backend_client.plan_names import BOOTH, row_kinds
from backend_client.wire import EventDetail, Plan, PlanArea, PlanPicture, PlanStanding, PlanTable
from widgets.seat_map.plan import MapArea, MapImage, SeatMapPlan

_NO_END = "none"
"""Where the name of a row stands whose table bears it already."""
_TABLE_TEXT = 0.36
"""Of the table's smaller side: its name touches no seat around it."""


def map_plan(plan: Plan, event: EventDetail) -> SeatMapPlan:
    """Columns of `plan`; category names and colours are the event's where it has them."""
    named = {category.category_no: category for category in (*plan.categories, *event.categories)}
    categories = [named.get(category.category_no, category) for category in plan.categories]
    seats, rows, sections = plan.seats, plan.rows, plan.sections
    kinds = row_kinds(plan)
    return SeatMapPlan(
        name=plan.name,
        x=np.array(seats.x, np.float32),
        y=np.array(seats.y, np.float32),
        category=np.array(seats.category_no, np.uint8),
        row_no=np.array(seats.row_no, np.int32),
        flags=np.array(seats.flags, np.uint8),
        number=seats.number,
        row_section=np.array([row.section_no for row in rows], np.int32),
        row_label=tuple(_row_label(plan, row_no, kinds) for row_no in range(len(rows))),
        row_first=np.array([row.first_seat for row in rows], np.int32),
        row_count=np.array([row.seat_count for row in rows], np.int32),
        section_name=tuple(section.name for section in sections),
        section_x=np.array([section.label_x for section in sections], np.float32),
        section_y=np.array([section.label_y for section in sections], np.float32),
        category_name=tuple(category.name for category in categories),
        category_color=tuple(category.color for category in categories),
        row_label_position=tuple(_NO_END if row_no in kinds else row.label_position for row_no, row in enumerate(rows)),
        row_kind=tuple(kinds.get(row_no, "") for row_no in range(len(rows))) if kinds else (),
        areas=(
            *(_area(area) for area in plan.areas),
            *(_standing(place) for place in plan.standing),
            *(_table(plan, table) for table in plan.tables),
        ),
        images=tuple(_image(picture) for picture in plan.pictures),
        floor_name=tuple(floor.name for floor in plan.floors),
        section_floor=tuple(section.floor_no for section in sections) if plan.floors else (),
        seat_radius=plan.seat_radius,
        width=plan.width,
        height=plan.height,
    )


def _row_label(plan: Plan, row_no: int, kinds: Mapping[int, str]) -> str:
    """A booth without a name of its own has that of its one seat."""
    row = plan.rows[row_no]
    return plan.seats.number[row.first_seat] if kinds.get(row_no) == BOOTH and not row.label else row.label


def _area(area: PlanArea) -> MapArea:
    return MapArea(**{name: getattr(area, name) for name in PlanArea.__struct_fields__})


def _image(picture: PlanPicture) -> MapImage:
    return MapImage(
        data=picture.image,
        x=picture.x,
        y=picture.y,
        width=picture.width,
        height=picture.height,
        opacity=picture.opacity,
        floor_no=picture.floor_no,
    )


def _standing(place: PlanStanding) -> MapArea:
    """The words of the area give way to the tier's own, under which it is sold."""
    return replace(_area(place.area), kind="standing", text=place.name, category_no=place.category_no)


def _table(plan: Plan, table: PlanTable) -> MapArea:
    """What stands between the seats of a row: named as the row is. A rectangle turns about its middle."""
    row = plan.rows[table.row_no]
    turn = math.radians(table.rotation)
    left, top = (-table.width / 2, -table.height / 2) if table.shape == "rectangle" else (0.0, 0.0)
    return MapArea(
        kind="booth" if table.kind == "booth" else "table",
        shape=table.shape,
        x=table.x + left * math.cos(turn) - top * math.sin(turn),
        y=table.y + left * math.sin(turn) + top * math.cos(turn),
        width=table.width,
        height=table.height,
        rotation=table.rotation,
        text=row.label,
        text_size=min(table.width, table.height) * _TABLE_TEXT,
        floor_no=plan.sections[row.section_no].floor_no,
    )
