"""The camera: which part of the plan is seen, and how large. Logical pixels throughout; no Qt."""

from __future__ import annotations

from dataclasses import dataclass

FIT_MARGIN_PX = 24.0
MAX_SEAT_PX = 48.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rectangle in plan units."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def grown(self, by: float) -> Bounds:
        """The rectangle with a margin all round."""
        return Bounds(self.left - by, self.top - by, self.right + by, self.bottom + by)


@dataclass(frozen=True, slots=True)
class View:
    """What a camera looks at: a point of the plan, px a plan unit, and whether it follows the widget's size."""

    x: float
    y: float
    scale: float
    follows: bool


class Camera:
    """Maps plan units to the widget's logical pixels: px = (plan - centre) * scale + size / 2.

    With a `pixel`, the plan stands on whole pixels of the screen, so that a picture that was moved is the one before.

    While `follows` is true the whole plan stays in view when the widget changes its size (S9); the first zoom or pan by
    a person ends that, `fit` starts it again.
    """

    def __init__(self) -> None:
        self.bounds = Bounds(0.0, 0.0, 1.0, 1.0)
        self.max_scale = 1.0
        self.width = 1.0
        self.height = 1.0
        self.x = 0.5
        self.y = 0.5
        self.scale = 1.0
        self.follows = True
        self.pixel = 0.0
        """Logical px to whole multiples of which the plan's origin is put; 0 when it stands where it falls."""

    def set_plan(self, bounds: Bounds, seat_diameter: float) -> None:
        """New plan: its bounds and the diameter of its seats (plan units); shows the whole."""
        self.bounds = bounds
        self.max_scale = MAX_SEAT_PX / seat_diameter
        self.fit()

    def resize(self, width: float, height: float) -> None:
        """The widget has a new size, px."""
        self.width, self.height = max(1.0, width), max(1.0, height)
        if self.follows:
            self.fit()
        else:
            self._settle()

    @property
    def looks_at(self) -> View:
        """For another camera on the same plan."""
        return View(self.x, self.y, self.scale, self.follows)

    @property
    def fit_scale(self) -> float:
        """Scale at which the whole plan is in view."""
        margin = min(FIT_MARGIN_PX, self.width * 0.1, self.height * 0.1)
        wide = (self.width - 2 * margin) / max(self.bounds.width, 1e-6)
        high = (self.height - 2 * margin) / max(self.bounds.height, 1e-6)
        return min(wide, high, self.max_scale)

    def fit(self) -> None:
        """Show the whole plan, and keep showing it while the widget changes its size."""
        self.follows = True
        self.scale = self.fit_scale
        self.x = (self.bounds.left + self.bounds.right) / 2
        self.y = (self.bounds.top + self.bounds.bottom) / 2

    def take_view(self, view: View) -> None:
        """Look where another camera on the same plan looked; the widget's size is told by `resize`."""
        if view.follows:
            self.fit()
            return
        self.follows = False
        self.x, self.y, self.scale = view.x, view.y, min(view.scale, self.max_scale)

    def zoom_about(self, x_px: float, y_px: float, factor: float) -> bool:
        """Zoom so that the point under (x_px, y_px) stays where it is; False when the limit is reached."""
        # Of the camera, not of whole pixels: what they are off must not add up over steps.
        x, y = self.x + (x_px - self.width / 2) / self.scale, self.y + (y_px - self.height / 2) / self.scale
        scale = min(max(self.scale * factor, self.fit_scale), self.max_scale)
        if scale == self.scale:
            return False
        self.follows = False
        self.scale = scale
        self.x = x - (x_px - self.width / 2) / scale
        self.y = y - (y_px - self.height / 2) / scale
        self._settle()
        return True

    def pan(self, dx_px: float, dy_px: float) -> bool:
        """Move the picture by a distance in px; False when it stays."""
        before = self.x, self.y
        self.x -= dx_px / self.scale
        self.y -= dy_px / self.scale
        self._settle()
        moved = (self.x, self.y) != before
        self.follows = self.follows and not moved
        return moved

    def show(self, bounds: Bounds, max_scale: float | None = None) -> None:
        """Show a part of the plan as large as it fits, at most at `max_scale`."""
        limit = self.max_scale if max_scale is None else min(max_scale, self.max_scale)
        wide = self.width * 0.85 / max(bounds.width, 1e-6)
        high = self.height * 0.85 / max(bounds.height, 1e-6)
        self.look_at((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2, min(wide, high, limit))

    def look_at(self, x: float, y: float, scale: float | None = None) -> None:
        """Centre a point of the plan, optionally at another scale."""
        self.follows = False
        if scale is not None:
            self.scale = min(max(scale, self.fit_scale), self.max_scale)
        self.x, self.y = x, y
        self._settle()

    @property
    def origin(self) -> tuple[float, float]:
        """The plan's origin, px."""
        x, y, pixel = self.width / 2 - self.x * self.scale, self.height / 2 - self.y * self.scale, self.pixel
        return (round(x / pixel) * pixel, round(y / pixel) * pixel) if pixel else (x, y)

    def to_plan(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Pixel → plan units."""
        left, top = self.origin
        return (x_px - left) / self.scale, (y_px - top) / self.scale

    def to_px(self, x: float, y: float) -> tuple[float, float]:
        """Plan units → pixel."""
        left, top = self.origin
        return x * self.scale + left, y * self.scale + top

    def view(self) -> Bounds:
        """The part of the plan that is seen."""
        left, top = self.to_plan(0.0, 0.0)
        right, bottom = self.to_plan(self.width, self.height)
        return Bounds(left, top, right, bottom)

    def _settle(self) -> None:
        """Keep the plan in sight: a side that fits is centred, a longer one ends at most a margin inside the edge."""
        margin = FIT_MARGIN_PX / self.scale
        self.x = _settled(self.x, self.bounds.left - margin, self.bounds.right + margin, self.width / self.scale)
        self.y = _settled(self.y, self.bounds.top - margin, self.bounds.bottom + margin, self.height / self.scale)


def _settled(centre: float, low: float, high: float, seen: float) -> float:
    if seen >= high - low:
        return (low + high) / 2
    return min(max(centre, low + seen / 2), high - seen / 2)
