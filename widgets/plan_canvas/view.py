"""From plan units to pixels and back: scale and origin, whole plan in view, zoom about a point."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

MARGIN_PX = 36.0
_LEAST, _MOST = 0.02, 40.0


class CanvasView:
    """`scale` is pixels to a plan unit; `left`, `top` the plan's point in the upper left corner.

    While `follows` is true the whole plan stays in view when the window changes its size; the first zoom or pan by a
    person ends that, `fit` starts it again. `width_px`, `height_px`: the window that it is made for.
    """

    def __init__(self) -> None:
        self.scale = 1.0
        self.left = 0.0
        self.top = 0.0
        self.follows = True
        self.width_px = self.height_px = 0.0

    def fit(self, width_px: float, height_px: float, area: QRectF) -> None:
        """Show all of `area`."""
        self.follows = True
        self.width_px, self.height_px = width_px, height_px
        room_x, room_y = max(width_px - 2 * MARGIN_PX, 40.0), max(height_px - 2 * MARGIN_PX, 40.0)
        self.scale = _bounded(min(room_x / max(area.width(), 1.0), room_y / max(area.height(), 1.0)))
        self.left = area.center().x() - width_px / 2 / self.scale
        self.top = area.center().y() - height_px / 2 / self.scale

    def zoom(self, factor: float, at: QPointF) -> None:
        """Zoom; what is under `at` stays there."""
        self.follows = False
        fixed = self.to_plan(at)
        self.scale = _bounded(self.scale * factor)
        self.left = fixed.x() - at.x() / self.scale
        self.top = fixed.y() - at.y() / self.scale

    def pan(self, dx_px: float, dy_px: float) -> None:
        """Move the drawing by so many pixels."""
        self.follows = False
        self.left -= dx_px / self.scale
        self.top -= dy_px / self.scale

    def show(self, area: QRectF, width_px: float, height_px: float) -> None:
        """Bring `area` into view; the zoom stays unless the area is larger than the window."""
        if area.width() * self.scale > width_px - MARGIN_PX or area.height() * self.scale > height_px - MARGIN_PX:
            self.fit(width_px, height_px, area)
            self.follows = False  # a part is shown
            return
        before = self.left, self.top
        edge = MARGIN_PX / self.scale
        right, bottom = self.left + width_px / self.scale, self.top + height_px / self.scale
        self.left += min(area.left() - edge - self.left, 0.0) + max(area.right() + edge - right, 0.0)
        self.top += min(area.top() - edge - self.top, 0.0) + max(area.bottom() + edge - bottom, 0.0)
        self.follows &= before == (self.left, self.top)

    def resize(self, width_px: float, height_px: float) -> None:
        """The window has another size; what is in its middle stays there."""
        self.left -= (width_px - self.width_px) / 2 / self.scale
        self.top -= (height_px - self.height_px) / 2 / self.scale
        self.width_px, self.height_px = width_px, height_px

    def to_plan(self, at: QPointF) -> QPointF:
        """Pixels → plan."""
        return QPointF(self.left + at.x() / self.scale, self.top + at.y() / self.scale)

    def to_px(self, x: float, y: float) -> QPointF:
        """Plan → pixels."""
        return QPointF((x - self.left) * self.scale, (y - self.top) * self.scale)


def _bounded(scale: float) -> float:
    return min(max(scale, _LEAST), _MOST)
