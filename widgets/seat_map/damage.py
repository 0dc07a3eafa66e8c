"""Which part of the widget must be painted again after sprites were stamped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QRegion

from widgets.seat_map.renderer import Stamps

_MOST_RECTANGLES = 32
_MOST_CELLS = 24
_MOST_STAMPS = 500  # more lie all over the map
_CELL_PX = 128


def damaged_region(stamps: Stamps, whole: QRect, dpr: float) -> QRegion:
    """Logical px that cover the stamps: their own rectangles while they are few, coarse cells, or one for all.

    A torn region costs more to paint than all of the map, so that it is never torn into many pieces.
    """
    left, top, size = stamps.left, stamps.top, stamps.diameter
    if len(left) <= _MOST_RECTANGLES:
        corners = zip(left.tolist(), top.tolist(), strict=True)
        return _united([_logical(x, y, size, size, dpr) for x, y in corners])
    if len(left) <= _MOST_STAMPS:
        columns, lines = int(whole.width() * dpr) // _CELL_PX + 2, int(whole.height() * dpr) // _CELL_PX + 2
        touched = np.zeros((lines, columns), np.bool_)
        for line in (top.clip(0) // _CELL_PX, (top + size) // _CELL_PX):
            for column in (left.clip(0) // _CELL_PX, (left + size) // _CELL_PX):
                touched[line.clip(0, lines - 1), column.clip(0, columns - 1)] = True
        places = np.argwhere(touched).tolist()
        if len(places) <= _MOST_CELLS:
            return _united(
                [_logical(column * _CELL_PX, line * _CELL_PX, _CELL_PX, _CELL_PX, dpr) for line, column in places]
            )
    first_x, first_y = int(left.min()), int(top.min())
    return QRegion(
        _logical(first_x, first_y, int(left.max()) + size - first_x, int(top.max()) + size - first_y, dpr) & whole
    )


def area_of(region: QRegion) -> int:
    """Px in a region; PySide iterates a region by its rectangles, which its type stubs do not know."""
    return sum(box.width() * box.height() for box in cast("Iterable[QRect]", region))


def _logical(left: int, top: int, width: int, height: int, dpr: float) -> QRect:
    """Device px → the logical rectangle that covers them."""
    first_x, first_y = math.floor(left / dpr), math.floor(top / dpr)
    past_x, past_y = math.ceil((left + width) / dpr), math.ceil((top + height) / dpr)
    return QRect(first_x, first_y, past_x - first_x, past_y - first_y)


def _united(rectangles: list[QRect]) -> QRegion:
    region = QRegion()
    for rectangle in rectangles:
        region += rectangle
    return region
