"""Floors of a plan: drawn over each other in the source, laid apart here and shown one at a time.

Each floor is moved down by so much that no view of one ever reaches into another. So the picture, the index and the
hit tests know nothing of floors; to show one is to look at its part of the plan.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from widgets.seat_map.camera import Bounds
from widgets.seat_map.ground import area_path, plan_bounds
from widgets.seat_map.plan import EVERY_FLOOR, Float32s, SeatMapPlan

_APART = 3.0  # of the plan's longer side: farther than a view of a whole floor reaches in any window


def floor_count(plan: SeatMapPlan) -> int:
    """How many floors are shown one at a time; 1 for a plan that names none."""
    return max(1, len(plan.floor_name))


def floor_of_seat(plan: SeatMapPlan, seat_no: int) -> int:
    """The floor that a seat is on."""
    return floor_of_section(plan, int(plan.seat_section[seat_no]))


def floor_of_section(plan: SeatMapPlan, section: int) -> int:
    """The floor that a section is on."""
    return plan.section_floor[section] if plan.section_floor else 0


def seats_on_floor(plan: SeatMapPlan, floor: int) -> int:
    """How many seats a floor has."""
    plan = plan.present
    if floor_count(plan) == 1:
        return plan.seat_count
    floors = np.array(plan.section_floor or (0,) * len(plan.section_name))
    return int((floors[plan.seat_section] == floor).sum())


def lay_apart(plan: SeatMapPlan) -> SeatMapPlan:
    """The plan with its floors one below the other, far apart; a plan of one floor as it is."""
    if floor_count(plan) == 1:
        return plan
    step = _step(plan)
    floors = np.array(plan.section_floor or (0,) * len(plan.section_name), np.float32)
    moved: Float32s = plan.y + floors[plan.seat_section] * np.float32(step)
    return replace(
        plan,
        y=moved,
        section_y=plan.section_y + floors * np.float32(step),
        areas=tuple(
            replace(area, y=area.y + floor * step, floor_no=floor)
            for area in plan.areas
            for floor in _floors_of(area.floor_no, plan)
        ),
        images=tuple(
            replace(image, y=image.y + floor * step, floor_no=floor)
            for image in plan.images
            for floor in _floors_of(image.floor_no, plan)
        ),
    )


def floor_bounds(plan: SeatMapPlan, floor: int, margin: float) -> Bounds:
    """What "the whole floor" means in a plan whose floors lie apart."""
    plan = plan.present
    if floor_count(plan) == 1:
        return plan_bounds(plan, margin)
    floors = np.array(plan.section_floor or (0,) * len(plan.section_name))
    here = floors[plan.seat_section] == floor
    x, y = plan.x[here], plan.y[here]
    sides = [(float(x.min()) - margin, float(y.min()) - margin, float(x.max()) + margin, float(y.max()) + margin)] \
        if len(x) else []  # fmt: skip
    for area in plan.areas:
        box = area_path(area).boundingRect()
        if area.floor_no == floor and area.shape != "text" and not box.isEmpty():
            sides.append((box.left(), box.top(), box.right(), box.bottom()))
    if not sides:
        return plan_bounds(plan, margin)
    left, top, right, bottom = zip(*sides, strict=True)
    return Bounds(min(left), min(top), max(right), max(bottom))


def _floors_of(floor_no: int, plan: SeatMapPlan) -> range:
    """The floors that an area or a picture is shown on: its own, or all of them where it names none."""
    return range(floor_count(plan)) if floor_no == EVERY_FLOOR else range(floor_no, floor_no + 1)


def _step(plan: SeatMapPlan) -> float:
    whole = plan_bounds(plan, 0.0)
    return whole.height + _APART * max(whole.width, whole.height)
