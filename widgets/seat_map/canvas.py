"""The picture: one padded buffer of pixels that a QImage views and that numpy stamps sprites into.

The padding is as wide as the largest sprite, so that a stamp is never clipped. The image views the inner part only. Its
device pixel ratio stays 1: everything here counts device pixels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

from widgets.seat_map.plan import Indices
from widgets.seat_map.sprites import SOLID_MAX_PX, Keys, SpriteAtlas

Words = npt.NDArray[np.uint32]


class Canvas:
    """`image` shares its memory with `pixels`; paint into it only while no numpy write is under way."""

    def __init__(self, width_px: int, height_px: int, padding_px: int) -> None:
        self.width_px = max(1, width_px)
        self.height_px = max(1, height_px)
        self.padding_px = padding_px
        self.stride = self.width_px + 2 * padding_px
        self._memory: Words = np.zeros((self.height_px + 2 * padding_px) * self.stride, np.uint32)
        padded = self._memory.reshape(-1, self.stride)
        self.pixels: Words = padded[padding_px : padding_px + self.height_px, padding_px : padding_px + self.width_px]
        inner = self._memory[padding_px * self.stride + padding_px :]
        self.image = QImage(
            inner.data.cast("B"), self.width_px, self.height_px, 4 * self.stride, QImage.Format.Format_RGB32
        )
        self._windows: dict[int, npt.NDArray[np.void]] = {}

    def fill(self, word: np.uint32) -> None:
        """The whole picture in one colour."""
        self.image.fill(int(word))

    def stamp(self, atlas: SpriteAtlas, keys: Keys, left: Indices, top: Indices) -> int:
        """Stamp one sprite for each key at (left, top), which may lie up to the padding outside; pixels written."""
        base = top * self.stride + left
        base += self.padding_px * (self.stride + 1)
        if atlas.diameter_px <= SOLID_MAX_PX:
            color = atlas.colors.take(keys)
            for row in range(atlas.diameter_px):
                for column in range(atlas.diameter_px):
                    self._memory[row * self.stride + column :][base] = color
        else:
            for row, (offset, width, blocks) in enumerate(atlas.rows):
                self._window(width)[row * self.stride + offset :][base] = blocks[keys]
        return len(keys) * atlas.pixels_each

    def _window(self, width: int) -> npt.NDArray[np.void]:
        """The memory as overlapping blocks of `width` pixels, one at every pixel: a row of a sprite is one item."""
        window = self._windows.get(width)
        if window is None:
            count = len(self._memory) - width + 1
            window = np.ndarray((count,), f"V{4 * width}", self._memory.data, 0, (4,))
            self._windows[width] = window
        return window
