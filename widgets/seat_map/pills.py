"""The labels of sections as pictures: all of one form on one sheet, drawn when first needed, painted in one call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum, auto

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from widgets.seat_map.glyphs import FRAGMENT_FIELDS
from widgets.seat_map.palette import MapPalette

_PADDING_PX = 5.0
_ALPHA = 214
_SMALL_TEXT_PX = 10
_SHEET_COLUMNS = 16
_LEAST_CELLS = 32


class PillForm(Enum):
    """How much a section's label says; richer forms need more room."""

    NAME_AND_COUNT = auto()
    NAME = auto()
    SMALL_NAME = auto()


def name_font(form: PillForm, palette: MapPalette) -> QFont:
    """Font of the name in a form."""
    font = palette.theme.font("caption", bold=True)
    if form is PillForm.SMALL_NAME:
        font.setPixelSize(_SMALL_TEXT_PX)
    return font


def pill_sizes(names: Sequence[str], form: PillForm, palette: MapPalette) -> npt.NDArray[np.float64]:
    """(width, height) of each name's pill, whole logical px.

    With a count, a pill has room for four digits at least, so that it keeps its size while seats are sold.
    """
    metrics = QFontMetricsF(name_font(form, palette))
    count = QFontMetricsF(palette.theme.font("caption"))
    counts, small = form is PillForm.NAME_AND_COUNT, form is PillForm.SMALL_NAME
    least = count.horizontalAdvance("0000") if counts else 0.0
    padding = 2.0 if small else 2 * _PADDING_PX
    height = math.ceil(metrics.height() + (count.height() if counts else 0.0) + (0 if small else 2))
    widths = [math.ceil(max(least, metrics.horizontalAdvance(name)) + padding) for name in names]
    return np.array([(width, height) for width in widths], np.float64).reshape(-1, 2)


class PillSheet:
    """Pills of one form and device pixel ratio; `largest` is the largest pill in logical px."""

    def __init__(
        self, form: PillForm, dpr: float, palette: MapPalette, capacity: int, largest: tuple[int, int]
    ) -> None:
        self.form = form
        self._dpr = dpr
        self._palette = palette
        self._capacity = max(capacity, _LEAST_CELLS)
        self._cell = math.ceil(largest[0] * dpr) + 1, math.ceil(largest[1] * dpr) + 1
        lines = math.ceil(self._capacity / _SHEET_COLUMNS)
        self.pixmap = QPixmap(_SHEET_COLUMNS * self._cell[0], lines * self._cell[1])
        self.pixmap.fill(Qt.GlobalColor.transparent)
        self._cells: dict[int, int] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._stale: set[int] = set()
        self._fonts = name_font(form, palette), palette.theme.font("caption")
        self._ground = QColor(palette.token("pill"))
        self._ground.setAlpha(_ALPHA)

    def takes(self, form: PillForm, dpr: float, sections: Sequence[int]) -> bool:
        """Whether these sections fit on this sheet in this form."""
        missing = sum(section not in self._cells for section in sections)
        return (form, dpr) == (self.form, self._dpr) and len(self._cells) + missing <= self._capacity

    def has(self, section: int) -> bool:
        """Whether a section's pill is drawn and up to date."""
        return section in self._cells and section not in self._stale

    def forget(self, sections: Iterable[int]) -> None:
        """These pills say something old."""
        self._stale.update(section for section in sections if section in self._cells)

    def draw(self, section: int, width: int, height: int, name: str, count: str) -> None:
        """Draw a section's pill; sizes in logical px."""
        cell = self._cells.setdefault(section, len(self._cells))
        self._stale.discard(section)
        self._sizes[section] = width, height
        left, top = self._corner(cell)
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.fillRect(left, top, *self._cell, Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.translate(left, top)
        painter.scale(self._dpr, self._dpr)
        self._paint_pill(painter, width, height, name, count)
        painter.end()

    def fragments(self, sections: Sequence[int], corners: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Places (logical px) of drawn pills, for `draw_fragments` with a painter that counts device px."""
        found = np.zeros((len(sections), FRAGMENT_FIELDS))
        if not len(sections):
            return found
        cells = np.array([self._cells[section] for section in sections])
        sizes = np.ceil(np.array([self._sizes[section] for section in sections]) * self._dpr)
        found[:, 0:2] = np.rint(corners * self._dpr) + sizes / 2
        found[:, 2], found[:, 3] = cells % _SHEET_COLUMNS * self._cell[0], cells // _SHEET_COLUMNS * self._cell[1]
        found[:, 4:6] = sizes
        found[:, 6] = found[:, 7] = found[:, 9] = 1.0
        return found

    def _corner(self, cell: int) -> tuple[int, int]:
        line, column = divmod(cell, _SHEET_COLUMNS)
        return column * self._cell[0], line * self._cell[1]

    def _paint_pill(self, painter: QPainter, width: int, height: int, name: str, count: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._ground)
        painter.drawRoundedRect(QRectF(0, 0, width, height), 4, 4)
        name_height = QFontMetricsF(self._fonts[0]).height() if count else float(height)
        painter.setPen(self._palette.token("label"))
        painter.setFont(self._fonts[0])
        painter.drawText(QRectF(0, bool(count), width, name_height), Qt.AlignmentFlag.AlignCenter, name)
        if count:
            painter.setPen(self._palette.token("label_muted"))
            painter.setFont(self._fonts[1])
            box = QRectF(0, 1 + name_height, width, height - name_height - 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, count)
