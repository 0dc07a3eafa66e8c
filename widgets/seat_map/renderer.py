"""Draws the seats of one plan into a canvas: all of them for a new view, only the changed ones for a change.

No widget here: a renderer is given a camera and tells which pixels changed. Everything counts device pixels unless a
name says otherwise.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter, QTransform

from widgets.seat_map.bed_polygons import THIN_BELOW_PX, BedPolygons
from widgets.seat_map.beds import Bed
from widgets.seat_map.camera import MAX_SEAT_PX, Bounds, Camera
from widgets.seat_map.canvas import Canvas
from widgets.seat_map.ground import Ground
from widgets.seat_map.numbers import SeatNumbers
from widgets.seat_map.palette import MapPalette, to_word
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.seat_grid import SeatGrid
from widgets.seat_map.seat_states import SeatStates
from widgets.seat_map.sprites import SOLID_MAX_PX, SpriteAtlas, fitting_diameter
from widgets.seat_map.texts import HOUSE_LETTERS
from widgets.theme import Theme

NUMBERS_FROM_PX = 17.0
PICK_FROM_PX = 5.0
_ATLASES_KEPT = 6
_LINE_PX = 4  # farther than any line reaches beyond its outline
_SEAT_SHARE = 0.80  # of the pitch: the widest disc that leaves neighbours apart
_SEAT_SHARE_LEAST = 0.55


class Level(IntEnum):
    """How much a map shows, by the size of a seat in logical px."""

    FAR = 0
    MIDDLE = 1
    DEEP = 2

    @classmethod
    def of(cls, seat_px: float) -> Level:
        """Level for a seat's diameter in logical px."""
        if seat_px >= NUMBERS_FROM_PX:
            return cls.DEEP
        return cls.MIDDLE if seat_px >= PICK_FROM_PX else cls.FAR


@dataclass(slots=True)
class Stats:
    """Work done since the start, exact: what tests gate on instead of time."""

    full: int = 0
    moved: int = 0
    stamped: int = 0
    pixels: int = 0
    paints: int = 0
    painted_px: int = 0
    flushes: int = 0

    def since(self, before: Stats) -> Stats:
        """The difference to an earlier copy."""
        return Stats(*(getattr(self, f.name) - getattr(before, f.name) for f in fields(self)))

    def copy(self) -> Stats:
        """A copy to compare with later."""
        return Stats(*(getattr(self, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Stamps:
    """Where sprites were stamped: top left corners and the diameter."""

    left: Indices
    top: Indices
    diameter: int


class Renderer:
    """One plan's picture. `states` may be shared with another renderer."""

    def __init__(
        self, plan: SeatMapPlan, grid: SeatGrid, states: SeatStates, beds: tuple[Bed, ...], theme: Theme, stats: Stats
    ) -> None:
        self.plan = plan
        self.grid = grid
        self.states = states
        self.stats = stats
        self.seat_diameter = seat_diameter(plan, grid.pitch)
        self._beds = beds
        self.far_beds = BedPolygons(np.array([bed.coarse for bed in beds], np.float32), THIN_BELOW_PX / grid.pitch)
        self._canvas = Canvas(1, 1, 1)
        self._dpr = 1.0
        self._transform = (1.0, 0.0, 0.0)
        self._diameter = 1
        self._logical_px = 1.0
        self._whole = False
        self._drawn: tuple[Canvas, tuple[float, float, float]] | None = None
        """Where a whole picture is, and how the plan stands in it."""
        self._atlases: OrderedDict[int, SpriteAtlas] = OrderedDict()
        self._letters = HOUSE_LETTERS
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Other colours from the next full redraw on."""
        self._dress(MapPalette.of(theme, self.plan, self._letters))

    def set_house_letters(self, letters: Sequence[str]) -> None:
        """Other letters on the house's seats from the next full redraw on, by `HouseKind`."""
        if tuple(letters) == self._letters:
            return
        self._letters = tuple(letters)
        self._dress(replace(self.palette, house_letters=self._letters))

    def _dress(self, palette: MapPalette) -> None:
        self.palette = palette
        self._ground = Ground(self.plan, self._beds, self.far_beds, self.palette)
        self._numbers = SeatNumbers(self.plan, self.grid, self.states, self.palette)
        self._atlases.clear()
        self._drawn = None

    @property
    def canvas(self) -> Canvas:
        return self._canvas

    @property
    def diameter(self) -> int:
        """Diameter of a seat in device px, as last drawn."""
        return self._diameter

    @property
    def level(self) -> Level:
        return Level.of(self._logical_px)

    @property
    def overlaps(self) -> bool:
        """Sprites may overlap, so that the order of drawing shows: one full redraw must follow partial ones."""
        scale = self._transform[0]
        return self._diameter <= SOLID_MAX_PX or self.grid.closest * scale < self._diameter + 1.42

    def resize(self, width_px: int, height_px: int, dpr: float) -> None:
        """New picture size; its content is undefined until the next full redraw."""
        padding = int(MAX_SEAT_PX * dpr) + 2
        canvas = self._canvas
        if (canvas.width_px, canvas.height_px, canvas.padding_px) != (width_px, height_px, padding):
            self._canvas = Canvas(width_px, height_px, padding)
        self._dpr = dpr

    def full(self, camera: Camera) -> None:
        """Draw everything for this camera."""
        self.stats.full += 1
        self._aim(camera)
        self._drawn = None
        self._canvas.fill(to_word(self.palette.ground))
        painter = QPainter(self._canvas.image)
        self._draw_ground(painter, camera.view())
        painter.end()
        self._stamp(self._slots_near(camera.view()))
        self._drawn = self._canvas, self._transform

    def move_to(self, camera: Camera) -> bool:
        """The same for a camera that only moved since, while no seat looks otherwise than drawn: from the picture.

        What comes into view is drawn as a full picture would draw it: seats bit for bit, soft lines to a shade. False
        when nothing was done, for nothing of the picture can be used.
        """
        before = self._drawn
        if before is None or before[0] is not self._canvas:
            return False
        self._aim(camera)
        scale, left, top = self._transform
        dx, dy = round(left - before[1][1]), round(top - before[1][2])
        half_gone = 2 * abs(dx) > self._canvas.width_px or 2 * abs(dy) > self._canvas.height_px
        if scale != before[1][0] or half_gone or not self._ground.moves:
            return False
        self.stats.moved += 1
        for bare in self._canvas.move(dx, dy):
            self._draw_part(bare)
        self._drawn = self._canvas, self._transform
        return True

    def _draw_part(self, part: QRect) -> None:
        """Ground and seats in a rectangle of the picture."""
        scale, left, top = self._transform
        view = Bounds(
            (part.left() - left) / scale, (part.top() - top) / scale,
            (part.right() + 1 - left) / scale, (part.bottom() + 1 - top) / scale,
        )  # fmt: skip
        painter = QPainter(self._canvas.image)
        painter.setClipRect(part)
        painter.fillRect(part, self.palette.ground)
        self._draw_ground(painter, view.grown(_LINE_PX / scale))
        painter.end()
        with self._canvas.only(part, self._diameter):
            self._stamp(self._slots_near(view), part)

    def _draw_ground(self, painter: QPainter, view: Bounds) -> None:
        scale, left, top = self._transform
        painter.setTransform(QTransform(scale, 0, 0, scale, left, top))
        self._ground.paint(painter, view, scale, far=self.level is Level.FAR)

    def _slots_near(self, view: Bounds) -> Indices | slice:
        view = view.grown(self.seat_diameter)
        return self.grid.slots_near(view.left, view.top, view.right, view.bottom)

    def written(self, stamps: Stamps) -> Indices:
        """Places in the canvas' memory that stamps of the present diameter wrote to."""
        return self._canvas.written(self._atlas(self._diameter), stamps.left, stamps.top)

    def partial(self, slots: Indices) -> Stamps:
        """Draw these seats again where they are in view; where they were stamped."""
        return self._stamp(slots)

    def _aim(self, camera: Camera) -> None:
        scale = camera.scale * self._dpr
        left, top = camera.origin
        # Whole pixels: a picture that moves is then the same picture elsewhere.
        self._transform = (scale, float(round(left * self._dpr)), float(round(top * self._dpr)))
        self._logical_px = self.seat_diameter * camera.scale
        closest = max(self.grid.pitch, self.seat_diameter) * scale
        self._diameter = fitting_diameter(self.seat_diameter * scale, closest)
        self._whole = self._sees_all()

    def _sees_all(self) -> bool:
        """Whether every seat that a change may name is in the picture, so that none has to be looked for."""
        if self.plan.present is not self.plan or not self.plan.seat_count:
            return False
        scale, left, top = self._transform
        edges = self.grid.extent
        inside_x = edges.left * scale + left > 0 and edges.right * scale + left < self._canvas.width_px
        return inside_x and edges.top * scale + top > 0 and edges.bottom * scale + top < self._canvas.height_px

    def _stamp(self, slots: Indices | slice, part: QRect | None = None) -> Stamps:
        """Draw seats that touch the picture, or a part of it."""
        left, top = self.corners(slots)
        size, canvas = self._diameter, self._canvas
        keys = self.states.key[slots]
        if part is not None or not self._whole:
            box = part or canvas.image.rect()
            seen = (left > box.left() - size) & (left <= box.right()) & (top > box.top() - size) & (top <= box.bottom())
            if not seen.all():
                left, top, keys = left[seen], top[seen], keys[seen]
                slots = (np.arange(slots.start, slots.stop) if isinstance(slots, slice) else slots)[seen]
        if not len(keys):
            return Stamps(left, top, size)
        atlas = self._atlas(size)
        atlas.prepare(keys)
        self.stats.stamped += len(keys)
        self.stats.pixels += canvas.stamp(atlas, keys, left, top)
        if self._logical_px >= NUMBERS_FROM_PX:
            painter = QPainter(canvas.image)
            self._numbers.draw(painter, slots, keys, left + size // 2, top + size // 2, size)
            painter.end()
        return Stamps(left, top, size)

    def corners(self, slots: Indices | slice) -> tuple[Indices, Indices]:
        """Top left corner of each slot's sprite, whole px; the same arithmetic for one seat and for all."""
        scale, left, top = self._transform
        half = 0.5 - self._diameter / 2
        return (
            _floored(self.grid.x[slots], scale, half, int(left)),
            _floored(self.grid.y[slots], scale, half, int(top)),
        )

    def _atlas(self, diameter: int) -> SpriteAtlas:
        atlas = self._atlases.get(diameter)
        if atlas is None:
            squares = (other.colors for other in self._atlases.values() if other.diameter_px <= SOLID_MAX_PX)
            atlas = SpriteAtlas(self.palette, self.states.kinds, diameter, next(squares, None))
            self._atlases[diameter] = atlas
            if len(self._atlases) > _ATLASES_KEPT:
                self._atlases.popitem(last=False)
        self._atlases.move_to_end(diameter)
        return atlas


def _floored(column: npt.NDArray[np.float32], scale: float, offset: float, move: int) -> Indices:
    """Whole px, rounded before they are moved: seats stay where they are to each other wherever the picture stands."""
    px = column * np.float32(scale)
    px += np.float32(offset)
    np.floor(px, out=px)
    whole: Indices = px.astype(np.intp)
    whole += move
    return whole


def seat_diameter(plan: SeatMapPlan, pitch: float) -> float:
    """Diameter to draw, plan units: the plan's own where it is sensible for the distance between neighbours."""
    widest, least = pitch * _SEAT_SHARE, pitch * _SEAT_SHARE_LEAST
    return min(max(plan.seat_radius * 2, least), widest) if plan.seat_radius > 0 else widest
