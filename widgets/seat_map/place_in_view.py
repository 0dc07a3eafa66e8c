"""Which part of a plan is in view, for people who have zoomed in: the section and its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from widgets.seat_map.plan import Indices, SeatMapPlan


@dataclass(frozen=True, slots=True)
class PlaceInView:
    """The section that most of the seats in view belong to, the names of its first and last row in view, and what
    those are (`SeatMapPlan.row_kind`).
    """

    section: str
    first_row: str
    last_row: str
    first_kind: str = ""
    last_kind: str = ""


def place_in_view(plan: SeatMapPlan, seats: Indices) -> PlaceInView | None:
    """Where these seats are; None when they are all or none, or when the plan names neither section nor rows."""
    if not 0 < len(seats) < plan.present.seat_count:
        return None
    sections = plan.seat_section[seats]
    section = int(np.bincount(sections).argmax())
    rows = plan.row_no[seats[sections == section]]
    first, last = int(rows.min()), int(rows.max())
    place = PlaceInView(
        plan.section_name[section], plan.row_label[first], plan.row_label[last], plan.kind_of(first), plan.kind_of(last)
    )
    return place if place.section or place.first_row else None
