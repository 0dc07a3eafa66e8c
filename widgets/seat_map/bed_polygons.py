"""The outlines of beds in whole pixels: hundreds of them in a picture, filled as fast as Qt fills them.

A transform of the painter costs more than the filling of an outline this small, and so do outlines whose corners are
not whole pixels. So numpy moves all corners at once, and each polygon is filled from them in one copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import numpy.typing as npt
import shiboken6
from PySide6.QtGui import QPolygon

THIN_BELOW_PX = 4.0
"""Distance of seats: below it an outline without every other corner runs less than a pixel away from the line."""
_FARTHEST_PX = 1e6

# Memory of an address with a length, writable; the stubs know only the address.
_open_memory = cast("Callable[[object, int, bool], memoryview[int]]", shiboken6.VoidPtr)


class BedPolygons:
    """Outlines that all have the same even number of corners; plan units."""

    def __init__(self, outlines: npt.NDArray[np.float32], thin_below: float = 0.0) -> None:
        """Below the scale `thin_below` every other corner of the outlines (count, corners, 2) is left out."""
        self._thin_below = thin_below
        self._points = outlines if len(outlines) else np.empty((0, 0, 2), np.float32)
        self._made: dict[bool, tuple[npt.NDArray[np.float32], _Polygons]] = {}

    def _forms(self, *, few: bool) -> tuple[npt.NDArray[np.float32], _Polygons]:
        """All corners or every other one, and polygons for them; made when first needed."""
        found = self._made.get(few)
        if found is None:
            points = np.ascontiguousarray(self._points[:, ::2]) if few else self._points
            found = self._made[few] = points, _Polygons(*points.shape[:2])
        return found

    def polygons(self, seen: npt.NDArray[np.intp], scale: float, left: float, top: float) -> list[QPolygon]:
        """These outlines at a scale, the plan's origin being at (left, top); good until the next call."""
        points, polygons = self._forms(few=scale < self._thin_below)
        if len(seen) < len(points):
            points = points[seen]
        px = points * np.float32(scale)
        px += np.float32(0.5)
        np.floor(px, out=px)
        corners = px.clip(-_FARTHEST_PX, _FARTHEST_PX, out=px).astype(np.int32)
        # Rounded before they are moved, as seats are.
        corners += np.array((round(left), round(top)), np.int32)
        return polygons.filled(corners)


class _Polygons:
    """Polygons that are kept, and the memory of their corners."""

    def __init__(self, count: int, corners: int) -> None:
        self._bytes = 8 * corners
        self._polygons = [_empty(corners) for _ in range(count)]
        self._memories = [memoryview(_open_memory(polygon.data(), self._bytes, True)) for polygon in self._polygons]

    def filled(self, corners: npt.NDArray[np.int32]) -> list[QPolygon]:
        """As many polygons as there are outlines in (outlines, corners, 2) px, with these corners."""
        raw = memoryview(corners.tobytes())
        step = self._bytes
        for at, memory in enumerate(self._memories[: len(corners)]):
            memory[:] = raw[at * step : (at + 1) * step]
        return self._polygons[: len(corners)]


def _empty(corners: int) -> QPolygon:
    polygon = QPolygon()
    polygon.resize(corners)
    return polygon
