"""The plan of the wire as the seat map draws it."""

from __future__ import annotations

import numpy as np

from backend_client.wire import EventDetail, Plan
from widgets.seat_map.plan import MapArea, SeatMapPlan


def map_plan(plan: Plan, event: EventDetail) -> SeatMapPlan:
    """Columns of `plan`; category names and colours are the event's where it has them."""
    named = {category.category_no: category for category in (*plan.categories, *event.categories)}
    categories = [named.get(category.category_no, category) for category in plan.categories]
    seats, rows, sections = plan.seats, plan.rows, plan.sections
    return SeatMapPlan(
        name=plan.name,
        x=np.array(seats.x, np.float32),
        y=np.array(seats.y, np.float32),
        category=np.array(seats.category_no, np.uint8),
        row_no=np.array(seats.row_no, np.int32),
        flags=np.array(seats.flags, np.uint8),
        number=seats.number,
        row_section=np.array([row.section_no for row in rows], np.int32),
        row_label=tuple(row.label for row in rows),
        row_first=np.array([row.first_seat for row in rows], np.int32),
        row_count=np.array([row.seat_count for row in rows], np.int32),
        section_name=tuple(section.name for section in sections),
        section_x=np.array([section.label_x for section in sections], np.float32),
        section_y=np.array([section.label_y for section in sections], np.float32),
        category_name=tuple(category.name for category in categories),
        category_color=tuple(category.color for category in categories),
        row_label_position=tuple(row.label_position for row in rows),
        areas=tuple(_area(area) for area in plan.areas),
        seat_radius=plan.seat_radius,
        width=plan.width,
        height=plan.height,
    )


def _area(area: object) -> MapArea:
    return MapArea(**{name: getattr(area, name) for name in MapArea.__dataclass_fields__})
