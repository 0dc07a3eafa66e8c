"""A light on some seats for a moment: all the rest steps back, so that the eye finds them at once.

It lies over the picture of the seats and never enters it. Where motion is not wanted it stands as long and goes
without fading.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath

STAY_S = 1.1
FADE_S = 0.35
STRENGTH = 0.72
_MOST_HOLES = 240
"""More seats than this are shown by the ground they stand on."""
_ROUND_SEAT = 0.6
"""Of the distance between neighbours: all of the seat, and hardly anything of the next one."""
_LEAST_HOLE_PX = 9.0


@dataclass(frozen=True, slots=True)
class Spotlight:
    """`seats` by number; `section` is the one they are all of, -1 otherwise. Seconds of a monotonic clock."""

    seats: tuple[int, ...]
    section: int
    since_s: float

    def strength(self, now_s: float, *, still: bool) -> float:
        """How dark the rest is, 0…1; 0 once it is over."""
        age = now_s - self.since_s
        if age < STAY_S:
            return STRENGTH
        if still or age >= STAY_S + FADE_S:
            return 0.0
        return STRENGTH * (1 - (age - STAY_S) / FADE_S)

    def fades(self, now_s: float) -> bool:
        """Whether it looks otherwise than a moment ago: until then it is not painted again for itself."""
        return now_s - self.since_s >= STAY_S

    @property
    def by_ground(self) -> bool:
        """Whether the section's ground is lit instead of single seats."""
        return self.section >= 0 and len(self.seats) > _MOST_HOLES


def holes_at(centres: list[QPointF], pitch_px: float) -> QPainterPath:
    """A round hole over each seat, one shape where they touch."""
    radius = max(pitch_px * _ROUND_SEAT, _LEAST_HOLE_PX)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for centre in centres:
        path.addEllipse(QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius))
    return path
