"""The labels of sections as pictures: all of one form on one sheet, drawn when first needed, painted in one call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum, auto

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from widgets.seat_map.glyphs import FRAGMENT_FIELDS
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Indices

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
        self,
        form: PillForm,
        dpr: float,
        palette: MapPalette,
        sections: int,
        capacity: int,
        largest: tuple[int, int],
    ) -> None:
        """Room for `capacity` pills of a plan that has so many `sections`."""
        self.form = form
        self._dpr = dpr
        self._palette = palette
        self._capacity = max(capacity, _LEAST_CELLS)
        self._cell = math.ceil(largest[0] * dpr) + 1, math.ceil(largest[1] * dpr) + 1
        lines = math.ceil(self._capacity / _SHEET_COLUMNS)
        self.pixmap = QPixmap(_SHEET_COLUMNS * self._cell[0], lines * self._cell[1])
        self.pixmap.fill(Qt.GlobalColor.transparent)
        self._used = 0
        self._cells = np.full(sections, -1, np.intp)
        self._sizes = np.zeros((sections, 2))
        self._current = np.zeros(sections, np.bool_)
        self._fonts = name_font(form, palette), palette.theme.font("caption")
        self._ground = QColor(palette.token("pill"))
        self._ground.setAlpha(_ALPHA)

    def takes(self, form: PillForm, dpr: float, sections: Indices) -> bool:
        """Whether these sections fit on this sheet in this form."""
        missing = int(np.count_nonzero(self._cells[sections] < 0))
        return (form, dpr) == (self.form, self._dpr) and self._used + missing <= self._capacity

    def missing(self, sections: Indices) -> Indices:
        """Which of these sections have no pill yet, or an old one: places in `sections`."""
        return np.flatnonzero(~self._current[sections])

    def forget(self, sections: Sequence[int]) -> None:
        """These pills say something old."""
        self._current[sections] = False

    def draw(self, section: int, width: int, height: int, name: str, count: str) -> None:
        """Draw a section's pill; sizes in logical px."""
        if self._cells[section] < 0:
            self._cells[section], self._used = self._used, self._used + 1
        self._current[section] = True
        self._sizes[section] = width, height
        left, top = self._corner(int(self._cells[section]))
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.fillRect(left, top, *self._cell, Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.translate(left, top)
        painter.scale(self._dpr, self._dpr)
        self._paint_pill(painter, width, height, name, count)
        painter.end()

    def fragments(self, sections: Indices) -> npt.NDArray[np.float64]:
        """Drawn pills for `draw_fragments` with a painter that counts device px; their centres are left to be set."""
        found = np.zeros((len(sections), FRAGMENT_FIELDS))
        cells = self._cells[sections]
        found[:, 2], found[:, 3] = cells % _SHEET_COLUMNS * self._cell[0], cells // _SHEET_COLUMNS * self._cell[1]
        found[:, 4:6] = np.ceil(self._sizes[sections] * self._dpr)
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
