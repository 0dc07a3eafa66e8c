"""The picture: one padded buffer of pixels that a QImage views and that numpy stamps sprites into.

The padding is as wide as the largest sprite, so that a stamp is never clipped. The image views the inner part only. Its
device pixel ratio stays 1: everything here counts device pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QImage, QPainter

from widgets.seat_map.plan import Indices
from widgets.seat_map.sprites import SOLID_MAX_PX, Keys, SpriteAtlas

Words = npt.NDArray[np.uint32]


class Canvas:
    """`image` shares its memory with `pixels`; paint into it only while no numpy write is under way."""

    def __init__(
        self, width_px: int, height_px: int, padding_px: int, form: QImage.Format = QImage.Format.Format_RGB32
    ) -> None:
        self.width_px = max(1, width_px)
        self.height_px = max(1, height_px)
        self.padding_px = padding_px
        self.stride = self.width_px + 2 * padding_px
        self.memory: Words = np.zeros((self.height_px + 2 * padding_px) * self.stride, np.uint32)
        padded = self.memory.reshape(-1, self.stride)
        self.pixels: Words = padded[padding_px : padding_px + self.height_px, padding_px : padding_px + self.width_px]
        inner = self.memory[padding_px * self.stride + padding_px :]
        self.image = QImage(inner.data.cast("B"), self.width_px, self.height_px, 4 * self.stride, form)
        self._windows: dict[int, npt.NDArray[np.void]] = {}

    def fill(self, word: np.uint32) -> None:
        """The whole picture in one colour."""
        self.image.fill(int(word))

    def move(self, dx: int, dy: int) -> list[QRect]:
        """Move the picture by whole px; what is left to be drawn."""
        by = dy * self.stride + dx
        # One copy within the memory, which numpy makes without a second one; what crosses an edge is drawn anew.
        if by > 0:
            self.memory[by:] = self.memory[:-by]
        elif by < 0:
            self.memory[:by] = self.memory[-by:]
        wide, high = self.width_px, self.height_px
        bare = [
            QRect(0 if dx > 0 else wide + dx, 0, abs(dx), high),
            QRect(0, 0 if dy > 0 else high + dy, wide, abs(dy)),
        ]
        return [box for box in bare if not box.isEmpty()]

    @contextmanager
    def only(self, part: QRect, reach_px: int) -> Iterator[None]:
        """What is drawn meanwhile, within a reach around a part, stays in the part only."""
        around = part.adjusted(-reach_px, -reach_px, reach_px, reach_px) & self.image.rect()
        before = self.pixels[_places(around)].copy()
        yield
        drawn = self.pixels[_places(part)].copy()
        self.pixels[_places(around)] = before
        self.pixels[_places(part)] = drawn

    def fits(self, other: Canvas) -> bool:
        """Whether a place in one memory is the same place in the other's."""
        return (self.width_px, self.height_px, self.padding_px) == (other.width_px, other.height_px, other.padding_px)

    def twin(self, form: QImage.Format) -> Canvas:
        """Another picture of this size."""
        return Canvas(self.width_px, self.height_px, self.padding_px, form)

    def painter(self, dpr: float) -> QPainter:
        """A painter that counts logical px; end it before anything else is done here."""
        self.image.setDevicePixelRatio(dpr)
        painter = QPainter(self.image)
        self.image.setDevicePixelRatio(1.0)
        return painter

    def copy_to(self, painter: QPainter, dpr: float) -> None:
        """Copy the picture, pixel by pixel, to a painter that counts logical px."""
        self.image.setDevicePixelRatio(dpr)
        painter.drawImage(QPointF(0, 0), self.image)
        self.image.setDevicePixelRatio(1.0)

    def written(self, atlas: SpriteAtlas, left: Indices, top: Indices) -> Indices:
        """Places in the memory that `stamp` wrote to."""
        offsets = [
            row * self.stride + column
            for row, (first, width) in enumerate(atlas.spans)
            for column in range(first, first + width)
        ]
        places: Indices = (self._base(left, top)[:, None] + np.array(offsets, np.intp)).ravel()
        return places

    def _base(self, left: Indices, top: Indices) -> Indices:
        base = top * self.stride
        base += left
        base += self.padding_px * (self.stride + 1)
        return base

    def stamp(self, atlas: SpriteAtlas, keys: Keys, left: Indices, top: Indices) -> int:
        """Stamp one sprite for each key at (left, top), which may lie up to the padding outside; pixels written."""
        base = self._base(left, top)
        if atlas.diameter_px <= SOLID_MAX_PX:
            color = atlas.colors.take(keys)
            for row in range(atlas.diameter_px):
                for column in range(atlas.diameter_px):
                    self.memory[row * self.stride + column :][base] = color
        else:
            for row, (offset, width, blocks) in enumerate(atlas.rows):
                self._window(width)[row * self.stride + offset :][base] = blocks[keys]
        return len(keys) * atlas.pixels_each

    def _window(self, width: int) -> npt.NDArray[np.void]:
        """The memory as overlapping blocks of `width` pixels, one at every pixel: a row of a sprite is one item."""
        window = self._windows.get(width)
        if window is None:
            count = len(self.memory) - width + 1
            window = np.ndarray((count,), f"V{4 * width}", self.memory.data, 0, (4,))
            self._windows[width] = window
        return window


def _places(box: QRect) -> tuple[slice, slice]:
    return slice(box.top(), box.bottom() + 1), slice(box.left(), box.right() + 1)
