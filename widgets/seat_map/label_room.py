"""Which labels have room beside each other: pairs that would touch, found once and asked at every scale.

Labels keep their size in px while their places move apart with the scale, so two of them touch up to one scale and
never beyond it. A zoom step then costs a comparison for each close pair instead of one for every pair of labels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Boxes = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

GAP_PX = 2.0  # between two labels


class LabelRoom:
    """Labels about places (plan units) with their sizes (px), those that matter more first."""

    def __init__(self, places: Boxes, sizes: Boxes) -> None:
        self._places = places
        self._sizes = sizes
        self._known_from = np.inf
        self._first = self._second = np.empty(0, np.intp)
        self._until = np.empty(0)

    def kept(self, wished: Flags, scale: float) -> Flags:
        """Of the wished labels, those that touch none that was kept before them."""
        if scale < self._known_from:
            self._find(scale / 2)
        touching = self._until > scale
        kept: list[bool] = wished.tolist()
        for one, other in zip(self._first[touching].tolist(), self._second[touching].tolist(), strict=True):
            if kept[one]:
                kept[other] = False
        return np.array(kept, np.bool_)

    def _find(self, scale: float) -> None:
        """Pairs that touch somewhere above a scale, in the order of their first, and the scale up to which they do."""
        self._known_from = scale
        one, other = self._level_pairs(scale)
        apart = np.abs(self._places[one] - self._places[other])
        room = (self._sizes[one] + self._sizes[other]) / 2 + GAP_PX
        with np.errstate(divide="ignore"):
            until = (room / apart).min(axis=1, initial=np.inf)
        close = np.flatnonzero(until > scale)
        first, second = np.minimum(one, other)[close], np.maximum(one, other)[close]
        order = np.lexsort((second, first))
        self._first, self._second, self._until = first[order], second[order], until[close][order]

    def _level_pairs(self, scale: float) -> tuple[Indices, Indices]:
        """Pairs that at this scale are no farther apart upwards than labels are high."""
        upwards = np.argsort(self._places[:, 1], kind="stable")
        y = self._places[upwards, 1]
        reach = (float(self._sizes[:, 1].max(initial=0.0)) + GAP_PX) / scale
        at = np.arange(len(y))
        counts = np.searchsorted(y, y + reach, side="right") - at - 1
        one = np.repeat(at, counts)
        other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        return upwards[one], upwards[other]


def touching(some: Boxes, others: Boxes) -> Flags:
    """(some, others): which boxes (left, top, right, bottom) come closer to each other than a gap."""
    left, top, right, bottom = (column[:, None] for column in some.T)
    touch: Flags = (left < others[:, 2] + GAP_PX) & (right + GAP_PX > others[:, 0])
    touch &= (top < others[:, 3] + GAP_PX) & (bottom + GAP_PX > others[:, 1])
    return touch
