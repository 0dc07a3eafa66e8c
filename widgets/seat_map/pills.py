"""The labels of sections as pictures: all of one form on one sheet, drawn when first needed, painted in one call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPixmap, QTransform

from widgets.seat_map.glyphs import FRAGMENT_FIELDS
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Indices

_PADDING_PX = 5.0
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


class PillSizes:
    """(width, height) of each name's pill by form, whole logical px; names are measured once for each font.

    With a count, a pill has room for four digits at least, so that it keeps its size while seats are sold.
    """

    def __init__(self, names: Sequence[str], palette: MapPalette) -> None:
        self._names = names
        self._palette = palette
        self._advances: dict[bool, npt.NDArray[np.float64]] = {}

    def of(self, form: PillForm) -> npt.NDArray[np.float64]:
        """(names, 2) sizes."""
        small, counts = form is PillForm.SMALL_NAME, form is PillForm.NAME_AND_COUNT
        metrics = QFontMetricsF(name_font(form, self._palette))
        count = QFontMetricsF(self._palette.theme.font("caption"))
        least = count.horizontalAdvance("0000") if counts else 0.0
        padding = 2.0 if small else 2 * _PADDING_PX
        height = math.ceil(metrics.height() + (count.height() if counts else 0.0) + (0 if small else 2))
        if small not in self._advances:
            self._advances[small] = np.array([metrics.horizontalAdvance(name) for name in self._names], np.float64)
        widths = np.ceil(np.maximum(self._advances[small], least) + padding)
        return np.stack((widths, np.full(len(widths), float(height))), axis=-1)


@dataclass(frozen=True, slots=True)
class Pill:
    """What a label says, its size (logical px) and by how many degrees it is turned."""

    name: str
    count: str
    width: float
    height: float
    turn: float


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
        self.dpr = dpr
        self._palette = palette
        cells = max(capacity, _LEAST_CELLS)
        self._cell = math.ceil(largest[0] * dpr) + 1, math.ceil(largest[1] * dpr) + 1
        lines = math.ceil(cells / _SHEET_COLUMNS)
        self.pixmap = QPixmap(_SHEET_COLUMNS * self._cell[0], lines * self._cell[1])
        self.pixmap.fill(Qt.GlobalColor.transparent)
        self.drawn = 0
        """Rises whenever pills are drawn."""
        self._used = 0
        self._cells = np.full(sections, -1, np.intp)
        self._sizes = np.zeros((sections, 2))
        self._current = np.zeros(sections, np.bool_)
        self._fonts = name_font(form, palette), palette.theme.font("caption")
        self._name_height = QFontMetricsF(self._fonts[0]).height()
        # Opaque: letters read best on it, and opaque pixels are copied where others must be mixed.
        self._ground = palette.token("pill")

    def missing(self, sections: Indices) -> Indices:
        """Which of these sections have no pill yet, or an old one: places in `sections`."""
        return np.flatnonzero(~self._current[sections])

    def forget(self, sections: Indices) -> None:
        """These pills say something old."""
        self._current[sections] = False

    def draw(self, pills: Sequence[tuple[int, Pill, float, float]]) -> None:
        """Draw pills: section, what it says, and the size of the box that it is drawn into, logical px.

        Grounds, names and counts one after the other: what a painter must be told anew costs more than what it draws.
        """
        self.drawn += 1
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        placed = [(pill, self._place(painter, section, pill, width, height)) for section, pill, width, height in pills]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._ground)
        for pill, at in placed:
            painter.setTransform(at)
            painter.drawRoundedRect(QRectF(0, 0, pill.width, pill.height), 4, 4)
        painter.setPen(self._palette.token("label"))
        painter.setFont(self._fonts[0])
        middle, name_height = Qt.AlignmentFlag.AlignCenter, self._name_height
        for pill, at in placed:
            painter.setTransform(at)
            high = name_height if pill.count else pill.height
            painter.drawText(QRectF(0, bool(pill.count), pill.width, high), middle, pill.name)
        painter.setPen(self._palette.token("label_muted"))
        painter.setFont(self._fonts[1])
        for pill, at in placed:
            if pill.count:
                painter.setTransform(at)
                box = QRectF(0, 1 + name_height, pill.width, pill.height - name_height - 2)
                painter.drawText(box, middle, pill.count)
        painter.end()

    def _place(self, painter: QPainter, section: int, pill: Pill, width: float, height: float) -> QTransform:
        """Give a pill its cell, emptied if it was in use, and tell where in the sheet it is drawn."""
        fresh = self._cells[section] < 0
        if fresh:
            self._cells[section], self._used = self._used, self._used + 1
        self._current[section] = True
        self._sizes[section] = width, height
        left, top = self._corner(int(self._cells[section]))
        if not fresh:
            painter.resetTransform()
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.fillRect(left, top, *self._cell, Qt.GlobalColor.transparent)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        at = QTransform(self.dpr, 0, 0, self.dpr, left, top)
        if pill.turn:
            at.translate(width / 2, height / 2)
            at.rotate(pill.turn)
            at.translate(-pill.width / 2, -pill.height / 2)
        return at

    def fragments(self, sections: Indices) -> npt.NDArray[np.float64]:
        """Drawn pills for `draw_fragments` with a painter that counts device px; their centres are left to be set."""
        found = np.zeros((len(sections), FRAGMENT_FIELDS))
        cells = self._cells[sections]
        found[:, 2], found[:, 3] = cells % _SHEET_COLUMNS * self._cell[0], cells // _SHEET_COLUMNS * self._cell[1]
        found[:, 4:6] = np.ceil(self._sizes[sections] * self.dpr)
        found[:, 6] = found[:, 7] = found[:, 9] = 1.0
        return found

    def _corner(self, cell: int) -> tuple[int, int]:
        line, column = divmod(cell, _SHEET_COLUMNS)
        return column * self._cell[0], line * self._cell[1]
