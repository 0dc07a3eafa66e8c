"""Where a seat's tool tip stands: beside the seat, clear of its neighbours, on the screen."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QToolTip

CLEAR_PITCHES = 1.75
"""From the seat's centre: the next seats, across a corner too, end before."""
_QT_SHIFT = QPoint(2, 16)
"""Qt puts a tool tip so far from the point that it is given, to clear the pointer."""
_FRAME_PX = 12


def tip_size(text: str) -> QSize:
    """About the size of the tool tip, px."""
    box = QFontMetrics(QToolTip.font()).boundingRect(QRect(0, 0, 4096, 4096), 0, text)
    return QSize(box.width() + _FRAME_PX, box.height() + _FRAME_PX)


def tip_corner(centre: QPoint, pitch_px: float, size: QSize, screen: QRect) -> QPoint:
    """Top left corner: below and after the seat, else on the other side in either direction."""
    clear = round(CLEAR_PITCHES * pitch_px)
    right, below = centre.x() + clear, centre.y() + clear
    left = right if right + size.width() <= screen.right() else centre.x() - clear - size.width()
    top = below if below + size.height() <= screen.bottom() else centre.y() - clear - size.height()
    return QPoint(left, top)


def point_for_qt(corner: QPoint) -> QPoint:
    """What `QToolTip.showText` must be given for this corner."""
    return corner - _QT_SHIFT
