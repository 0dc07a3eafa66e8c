"""Labels of one style that are shown together: where they are now, and which of them are drawn.

Only those in view are drawn: of a stadium's hundreds of labels that is all of them from afar, and few of them near.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QPixmap

from widgets.seat_map.label_room import Boxes
from widgets.seat_map.label_style import LabelStyle
from widgets.seat_map.plan import Indices

_RIM_PX = 2


@dataclass(frozen=True, slots=True)
class Placing:
    """Where labels are placed: scale, the plan's origin and the size of the view in logical px, device px for each."""

    scale: float
    origin: npt.NDArray[np.float64]
    size: tuple[float, float]
    dpr: float


class LabelGroup:
    """Labels of one style, by their ranks among all sections; `middle` is the place of every section's label."""

    def __init__(self, style: LabelStyle, ranks: Indices, middle: Boxes) -> None:
        self.style = style
        self.ranks = ranks
        self.boxes = np.empty((0, 4), np.intp)
        """Left, top, width, height of each label, turned as it is; logical px."""
        self._middle = middle[ranks]
        self._half = style.sizes[ranks] / 2
        self._sizes = np.ceil(style.sizes[ranks])
        self._fragments = np.empty((0, 10))
        self._drawn_as: tuple[float, int] | None = None

    def place(self, placing: Placing) -> None:
        """Where the labels are now; draws those in view that are not drawn yet."""
        self.draw(placing, len(self.ranks))
        corners = self._corners(placing)
        self.boxes = np.concatenate((corners, self._sizes), axis=1).astype(np.intp)
        self._fragments[:, 0:2] = np.rint(corners * placing.dpr) + self._fragments[:, 4:6] / 2

    def missing(self, placing: Placing) -> Indices:
        """Ranks of labels in view that are not drawn, or say something old."""
        corners = self._corners(placing)
        seen = (corners < np.array(placing.size) + _RIM_PX) & (corners + self._sizes > -_RIM_PX)
        ranks = self.ranks[seen.all(axis=1)]
        return ranks[self.style.sheet(placing.dpr).missing(ranks)]

    def draw(self, placing: Placing, most: int) -> int:
        """Draw at most so many of those that are missing; how many there were to draw."""
        missing, sheet = self.missing(placing), self.style.sheet(placing.dpr)
        if len(missing):
            self.style.draw(missing[:most], placing.dpr)
        if self._drawn_as != (placing.dpr, sheet.drawn):
            self._drawn_as = placing.dpr, sheet.drawn
            placed = self._fragments[:, 0:2]
            self._fragments = sheet.fragments(self.ranks)
            if len(placed):
                self._fragments[:, 0:2] = placed
        return len(missing)

    def touching(self, clip: QRect) -> npt.NDArray[np.float64]:
        """Fragments of the labels that touch the clip."""
        left, top, width, height = self.boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        return self._fragments if touched.all() else self._fragments[touched]

    def pixmap(self, dpr: float) -> QPixmap:
        """What the fragments are parts of."""
        return self.style.sheet(dpr).pixmap

    def _corners(self, placing: Placing) -> npt.NDArray[np.float64]:
        corners: npt.NDArray[np.float64] = np.rint(self._middle * placing.scale - self._half + placing.origin)
        return corners
