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
_MOST_CELLS = 64
_CELL_PX = 128


def damaged_region(stamps: Stamps, whole: QRect, dpr: float) -> QRegion:
    """Logical px that cover the stamps: their own rectangles while they are few, coarse cells, or the whole."""
    left, top, size = stamps.left, stamps.top, stamps.diameter
    if len(left) <= _MOST_RECTANGLES:
        corners = zip(left.tolist(), top.tolist(), strict=True)
        return _united([_logical(x, y, size, size, dpr) for x, y in corners])
    columns = int(whole.width() * dpr) // _CELL_PX + 2
    near, far = (
        (left.clip(0) // _CELL_PX, top.clip(0) // _CELL_PX),
        ((left + size) // _CELL_PX, (top + size) // _CELL_PX),
    )
    corners_of_cells = [line * columns + column for column in (near[0], far[0]) for line in (near[1], far[1])]
    cells = np.unique(np.concatenate(corners_of_cells)).tolist()
    if len(cells) > _MOST_CELLS:
        return QRegion(whole)
    places = (divmod(cell, columns) for cell in cells)
    return _united([_logical(column * _CELL_PX, line * _CELL_PX, _CELL_PX, _CELL_PX, dpr) for line, column in places])


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
