"""Where people look, for ranking seats: what the plan says, else its largest area that is named after a stage."""

from __future__ import annotations

from app.core.plan_fault_kinds import looks_of
from app.core.plan_geometry import turned
from backend_client.wire import Plan, PlanArea

_WORDS = frozenset({
    "stage", "pitch", "field", "court", "screen", "arena", "ring", "rink", "podium",
    "palco", "relvado", "campo", "bühne", "spielfeld", "escenario", "scène", "palcoscenico",
    "舞台", "ステージ", "المسرح", "خشبة المسرح",
})  # fmt: skip


def focal_point(plan: Plan) -> tuple[float, float] | None:
    """What the plan says, else the middle of the largest area whose text names a stage or a pitch; plan units."""
    if plan.focal_point is not None:
        return plan.focal_point.x, plan.focal_point.y
    named = [area for area in plan.areas if names_focus(area.text)]
    return _middle(max(named, key=lambda area: area.width * area.height)) if named else None


def names_focus(text: str) -> bool:
    """Whether the words of a shape say that people look there."""
    folded = looks_of(text).casefold()
    return folded in _WORDS or any(word in _WORDS for word in folded.split())


def _middle(area: PlanArea) -> tuple[float, float]:
    """The middle of a shape as it is drawn, turned about its place."""
    x, y = area.x, area.y
    if area.shape == "rectangle":
        x, y = area.x + area.width / 2, area.y + area.height / 2
    elif area.shape == "polygon" and area.points:
        xs, ys = area.points[0::2], area.points[1::2]
        x, y = area.x + (min(xs) + max(xs)) / 2, area.y + (min(ys) + max(ys)) / 2
    return turned((x, y), (area.x, area.y), area.rotation)
