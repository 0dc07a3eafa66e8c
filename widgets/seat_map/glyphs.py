"""Short texts drawn by the hundred: each text once into an atlas, then all places in one call.

`QPainter.drawPixmapFragments` takes 1,200 labels in a fifth of a millisecond where `drawText` takes five. PySide gives
the fragments only one by one; they are laid over a numpy array instead, in one wrap that a test guards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import shiboken6
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from widgets.seat_map.plan import Float32s, Indices

FRAGMENT_FIELDS = 10
_SHEET_COLUMNS = 32


class GlyphAtlas:
    """Texts × inks at one font. Cells are of even size, so that a whole-pixel centre gives whole-pixel corners."""

    def __init__(self, texts: Sequence[str], inks: Sequence[QColor], font: QFont, fit_px: float) -> None:
        """`fit_px` is the width a text may take; a wider one is written smaller, down to two thirds, or left out."""
        self.count = len(texts)
        self.fits = np.zeros(max(1, self.count), np.bool_)
        metrics = QFontMetricsF(font)
        self.cell_width = _even(min(fit_px, max((metrics.horizontalAdvance(text) for text in texts), default=1)) + 2)
        self.cell_height = _even(metrics.height() + 2)
        lines = max(1, math.ceil(self.count / _SHEET_COLUMNS))
        self._ink_height = lines * self.cell_height
        self.pixmap = QPixmap(_SHEET_COLUMNS * self.cell_width, self._ink_height * max(1, len(inks)))
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        for text_no, text in enumerate(texts):
            sized = _fitting_font(font, metrics.horizontalAdvance(text), fit_px)
            self.fits[text_no] = sized is not None and bool(text)
            if sized is None:
                continue
            painter.setFont(sized)
            for ink_no, ink in enumerate(inks):
                painter.setPen(ink)
                painter.drawText(self._cell(text_no, ink_no), Qt.AlignmentFlag.AlignCenter, text)
        painter.end()

    def draw(self, painter: QPainter, texts: Indices, inks: Indices, x: Float32s, y: Float32s) -> None:
        """Text number, ink number and centre (whole device px) of each place."""
        fragments = self.fragments(texts, inks, x, y)
        draw_fragments(painter, fragments, self.pixmap)

    def fragments(self, texts: Indices, inks: Indices, x: Float32s, y: Float32s) -> npt.NDArray[np.float64]:
        """The same as an array for `draw_fragments`; keep it to draw the same places again."""
        places = self.fits[texts]
        texts, inks, x, y = texts[places], inks[places], x[places], y[places]
        fragments = np.zeros((len(texts), FRAGMENT_FIELDS))
        fragments[:, 0], fragments[:, 1] = x, y
        fragments[:, 2] = texts % _SHEET_COLUMNS * self.cell_width
        fragments[:, 3] = texts // _SHEET_COLUMNS * self.cell_height + inks * self._ink_height
        fragments[:, 4], fragments[:, 5] = self.cell_width, self.cell_height
        fragments[:, 6] = fragments[:, 7] = fragments[:, 9] = 1.0
        return fragments

    def _cell(self, text_no: int, ink_no: int) -> QRectF:
        line, column = divmod(text_no, _SHEET_COLUMNS)
        top = line * self.cell_height + ink_no * self._ink_height
        return QRectF(column * self.cell_width, top, self.cell_width, self.cell_height)


def draw_fragments(painter: QPainter, fragments: npt.NDArray[np.float64], pixmap: QPixmap) -> None:
    """Draw an (n, 10) float64 array of PixmapFragments: x, y, source rectangle, scales, rotation, opacity."""
    if not len(fragments):
        return
    if fragments.dtype != np.float64 or fragments.shape[1] != FRAGMENT_FIELDS or not fragments.flags.c_contiguous:
        raise ValueError("fragments are a contiguous float64 array of ten columns")
    first = shiboken6.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment)
    painter.drawPixmapFragments(cast("QPainter.PixmapFragment", first), len(fragments), pixmap)


def _even(size: float) -> int:
    return 2 * math.ceil(size / 2)


def _fitting_font(font: QFont, width: float, fit_px: float) -> QFont | None:
    if width <= fit_px:
        return font
    share = fit_px / width
    if share < 0.66:
        return None
    smaller = QFont(font)
    smaller.setPixelSize(max(6, math.floor(font.pixelSize() * share)))
    return smaller
