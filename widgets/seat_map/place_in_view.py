"""Which part of a plan is in view, for people who have zoomed in: the section and its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from widgets.seat_map.plan import Indices, SeatMapPlan


@dataclass(frozen=True, slots=True)
class PlaceInView:
    """The section that most of the seats in view belong to, and the names of its first and last row in view."""

    section: str
    first_row: str
    last_row: str


def place_in_view(plan: SeatMapPlan, seats: Indices) -> PlaceInView | None:
    """Where these seats are; None when they are all or none, or when the plan names neither section nor rows."""
    if not 0 < len(seats) < plan.present.seat_count:
        return None
    sections = plan.seat_section[seats]
    section = int(np.bincount(sections).argmax())
    rows = plan.row_no[seats[sections == section]]
    place = PlaceInView(plan.section_name[section], plan.row_label[int(rows.min())], plan.row_label[int(rows.max())])
    return place if place.section or place.first_row else None
