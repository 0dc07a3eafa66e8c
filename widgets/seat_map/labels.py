"""Names on the map that lie over the seats: sections with their free seats from afar, row names when near.

Both are painted with the overlays, never into the seats' picture, so that a changed seat does not disturb them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum, auto

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPixmap

from widgets.seat_map.beds import Bed
from widgets.seat_map.camera import Bounds, Camera
from widgets.seat_map.glyphs import GlyphAtlas, draw_fragments
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Float32s, Indices, SeatMapPlan

ROW_LABELS_FROM_PX = 11.0
_PILL_PADDING_PX = 5.0
_PILL_ALPHA = 214
_SMALL_TEXT_PX = 10
_HIGH_SHARE = 0.72  # of a section's height that a pill may take
_MOST_SHARE = 0.7  # of all sections that must have room for a form
_CLEAR_PITCHES = (0.0, 0.2, 0.4, 0.6)  # a row name closer than this to a seat would lie on it
_MOST_CELLS = 4000


class PillForm(Enum):
    """How much a section's label says; richer forms need more room."""

    NAME_AND_COUNT = auto()
    NAME = auto()
    SMALL_NAME = auto()


class SectionLabels:
    """Pills with a section's name and, where there is room, its number of free seats. Logical px.

    All sections take the same form, the richest for which most of them have room, so that the map reads evenly.
    """

    def __init__(
        self, plan: SeatMapPlan, beds: tuple[Bed, ...], palette: MapPalette, write_count: Callable[[int], str]
    ) -> None:
        self._names = plan.section_name
        self._palette = palette
        self._write_count = write_count
        bounds = _bounds_by_section(beds)
        self._sections = list(bounds)
        self._extent = np.array([(box.width, box.height) for box in bounds.values()]).reshape(-1, 2)
        self._middle = np.array([_label_place(plan, section, box) for section, box in bounds.items()]).reshape(-1, 2)
        self._fonts = {
            PillForm.NAME_AND_COUNT: palette.theme.font("caption", bold=True),
            PillForm.NAME: palette.theme.font("caption", bold=True),
            PillForm.SMALL_NAME: palette.theme.font("caption", bold=True),
        }
        self._fonts[PillForm.SMALL_NAME].setPixelSize(_SMALL_TEXT_PX)
        self._count_font = palette.theme.font("caption")
        self._counts: list[int] = [0] * len(self._names)
        self._pills: dict[int, QPixmap] = {}  # of the present form and pixel ratio
        self._sizes = {
            form: np.array([self._pill_size(section, form) for section in self._sections]).reshape(-1, 2)
            for form in PillForm
        }
        self._laid_for = 0.0
        self._dpr = 1.0
        self._form = PillForm.NAME
        self._drawn_for = (PillForm.NAME, 0.0)
        self._placed: list[int] = []
        self._corners = np.empty((0, 2))
        self._pill_sizes = np.empty((0, 2))
        self._boxes = np.empty((0, 4), np.intp)  # left, top, width, height of each placed label
        self._shown: list[QPixmap] = []

    def place(self, camera: Camera, dpr: float) -> None:
        """Choose the form, and the sections that have room for it, for this camera."""
        if camera.scale != self._laid_for or dpr != self._dpr:
            self._laid_for, self._dpr = camera.scale, dpr
            self._lay_out(camera.scale)
        corners = self._corners + camera.to_px(0.0, 0.0)
        self._boxes = np.concatenate((np.rint(corners), self._pill_sizes), axis=1).astype(np.intp)
        self._shown = [self._pill(section) for section in self._placed]

    def _lay_out(self, scale: float) -> None:
        """Boxes relative to the plan's origin, px; the same for every place of the camera at this scale."""
        form, fits = self._richest_form(scale)
        width, height = self._sizes[form].T
        left, top = self._middle[:, 0] * scale - width / 2, self._middle[:, 1] * scale - height / 2
        boxes = np.stack((left, top, left + width, top + height), axis=-1)
        kept = _without_overlaps(boxes, np.flatnonzero(fits))
        if (form, self._dpr) != self._drawn_for:
            self._form, self._drawn_for = form, (form, self._dpr)
            self._pills.clear()
        self._placed = [self._sections[at] for at in kept]
        self._corners = boxes[kept, :2]
        self._pill_sizes = self._sizes[form][kept]

    def _richest_form(self, scale: float) -> tuple[PillForm, npt.NDArray[np.bool_]]:
        """The form for which most sections have room, and which have."""
        width, height = self._extent[:, 0] * scale, self._extent[:, 1] * scale * _HIGH_SHARE
        fitting = {form: (sizes[:, 0] <= width) & (sizes[:, 1] <= height) for form, sizes in self._sizes.items()}
        for form, fits in fitting.items():
            if fits.sum() >= _MOST_SHARE * len(fits):
                return form, fits
        return PillForm.SMALL_NAME, fitting[PillForm.SMALL_NAME]

    def set_counts(self, counts: npt.NDArray[np.intp]) -> list[QRect]:
        """New numbers of free seats; rectangles of the labels that must be painted again."""
        before, self._counts = self._counts, counts.tolist()
        if self._form is not PillForm.NAME_AND_COUNT:
            return []
        changed = {section for section, count in enumerate(self._counts) if count != before[section]}
        for section in changed:
            self._pills.pop(section, None)
        stale = [at for at, section in enumerate(self._placed) if section in changed and at < len(self._shown)]
        for at in stale:
            self._shown[at] = self._pill(self._placed[at])
        return [QRect(*self._boxes[at].tolist()) for at in stale]

    def paint(self, painter: QPainter, clip: QRect) -> None:
        """Paint the placed labels that touch the clip."""
        left, top, width, height = self._boxes.T
        touched = (left <= clip.right()) & (top <= clip.bottom())
        touched &= (left + width > clip.left()) & (top + height > clip.top())
        places = self._boxes[touched, :2].tolist()
        for at, (x, y) in zip(np.flatnonzero(touched).tolist(), places, strict=True):
            painter.drawPixmap(x, y, self._shown[at])

    def _pill_size(self, section: int, form: PillForm) -> tuple[int, int]:
        """Width is that of a four-digit count at least, so that a pill keeps its size while seats are sold."""
        name = QFontMetricsF(self._fonts[form])
        width, height = name.horizontalAdvance(self._names[section]), name.height()
        if form is PillForm.NAME_AND_COUNT:
            count = QFontMetricsF(self._count_font)
            width = max(width, count.horizontalAdvance("0000"))
            height += count.height()
        padding = 2 if form is PillForm.SMALL_NAME else 2 * _PILL_PADDING_PX
        return math.ceil(width + padding), math.ceil(height + (0 if form is PillForm.SMALL_NAME else 2))

    def _pill(self, section: int) -> QPixmap:
        pill = self._pills.get(section)
        if pill is None:
            pill = self._pills[section] = self._draw_pill(section, self._form, self._dpr)
        return pill

    def _draw_pill(self, section: int, form: PillForm, dpr: float) -> QPixmap:
        width, height = self._pill_size(section, form)
        pill = QPixmap(round(width * dpr), round(height * dpr))
        pill.setDevicePixelRatio(dpr)
        pill.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pill)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        ground = QColor(self._palette.token("pill"))
        ground.setAlpha(_PILL_ALPHA)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(0, 0, width, height), 4, 4)
        counts = form is PillForm.NAME_AND_COUNT
        name_height = QFontMetricsF(self._fonts[form]).height() if counts else height
        painter.setPen(self._palette.token("label"))
        painter.setFont(self._fonts[form])
        painter.drawText(QRectF(0, counts, width, name_height), Qt.AlignmentFlag.AlignCenter, self._names[section])
        if counts:
            painter.setPen(self._palette.token("label_muted"))
            painter.setFont(self._count_font)
            box = QRectF(0, 1 + name_height, width, height - name_height - 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._write_count(self._counts[section]))
        painter.end()
        return pill


def _without_overlaps(boxes: npt.NDArray[np.float64], order: Indices) -> list[int]:
    """Of boxes (left, top, right, bottom) in this order, those that touch none kept before."""
    left, top, right, bottom = boxes[order].T
    touch = (left[:, None] < right) & (right[:, None] > left) & (top[:, None] < bottom) & (bottom[:, None] > top)
    np.fill_diagonal(touch, val=False)
    free = np.ones(len(order), np.bool_)
    for at in np.flatnonzero(touch.any(axis=1)).tolist():
        if free[at]:
            free[at + 1 :] &= ~touch[at, at + 1 :]
    return [int(at) for at in order[free]]


class RowLabels:
    """Row names at the ends of rows, where no other seat stands. Device px."""

    def __init__(self, plan: SeatMapPlan, pitch: float, palette: MapPalette) -> None:
        self._palette = palette
        self._texts = list(dict.fromkeys(plan.row_label))
        table = {text: text_no for text_no, text in enumerate(self._texts)}
        ends = _row_ends(plan, pitch)
        self._x, self._y, rows = ends
        self._text = np.array([table[plan.row_label[row]] for row in rows.tolist()], np.intp)
        self._atlas: tuple[int, GlyphAtlas] | None = None
        self._fragments = np.zeros((0, 10))

    def place(self, camera: Camera, dpr: float, seat_px: float) -> None:
        """Choose the row names in view; `seat_px` is the diameter of a seat in logical px."""
        self._fragments = np.zeros((0, 10))
        if seat_px < ROW_LABELS_FROM_PX or not self._texts:
            return
        x = np.rint(((self._x - camera.x) * camera.scale + camera.width / 2) * dpr)
        y = np.rint(((self._y - camera.y) * camera.scale + camera.height / 2) * dpr)
        margin = 2 * seat_px * dpr
        seen = (x > -margin) & (x < camera.width * dpr + margin) & (y > -margin) & (y < camera.height * dpr + margin)
        atlas = self._atlas_for(round(min(max(seat_px * 0.5, 9.0), 15.0) * dpr))
        text = self._text[seen]
        self._fragments = atlas.fragments(text, np.zeros(len(text), np.intp), x[seen], y[seen])

    def paint(self, painter: QPainter) -> None:
        """Paint the placed names; the painter counts device px."""
        if self._atlas is not None:
            draw_fragments(painter, self._fragments, self._atlas[1].pixmap)

    def _atlas_for(self, text_px: int) -> GlyphAtlas:
        if self._atlas is None or self._atlas[0] != text_px:
            font = self._palette.theme.font("caption", bold=True)
            font.setPixelSize(text_px)
            inks = [self._palette.token("label_muted")]
            self._atlas = text_px, GlyphAtlas(self._texts, inks, font, text_px * 4.0)
        return self._atlas[1]


def _label_place(plan: SeatMapPlan, section: int, bounds: Bounds) -> tuple[float, float]:
    """The plan's own place for a section's name, if it lies in the section; its middle otherwise."""
    x, y = float(plan.section_x[section]), float(plan.section_y[section])
    if bounds.left <= x <= bounds.right and bounds.top <= y <= bounds.bottom:
        return x, y
    return (bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2


def _bounds_by_section(beds: tuple[Bed, ...]) -> dict[int, Bounds]:
    found: dict[int, Bounds] = {}
    for bed in beds:
        one, other = found.get(bed.section, bed.bounds), bed.bounds
        found[bed.section] = Bounds(
            min(one.left, other.left), min(one.top, other.top), max(one.right, other.right),
            max(one.bottom, other.bottom),
        )  # fmt: skip
    return found


def _row_ends(plan: SeatMapPlan, pitch: float) -> tuple[Float32s, Float32s, Indices]:
    """Places of row names: x, y and row number of each."""
    rows = np.flatnonzero(plan.row_count)
    first = plan.row_first[rows]
    last = first + plan.row_count[rows] - 1
    wants = [plan.row_label_position[row] if plan.row_label_position else "" for row in rows.tolist()]
    start_x, start_y = _beyond(plan, first, np.minimum(first + 1, last), pitch, -1.0)
    end_x, end_y = _beyond(plan, last, np.maximum(last - 1, first), pitch, 1.0)
    start = np.array([want in {"start", "both", ""} for want in wants], np.bool_)
    end = np.array([want in {"end", "both", ""} for want in wants], np.bool_)
    start &= _clear_of(plan.x, plan.y, start_x, start_y, pitch)
    end &= _clear_of(plan.x, plan.y, end_x, end_y, pitch)
    # Where the ends of two blocks face each other over a narrow aisle, one name stands for both.
    end &= _clear_of(start_x[start], start_y[start], end_x, end_y, pitch)
    x = np.concatenate((start_x[start], end_x[end])).astype(np.float32)
    y = np.concatenate((start_y[start], end_y[end])).astype(np.float32)
    return x, y, np.concatenate((rows[start], rows[end]))


def _beyond(
    plan: SeatMapPlan, end: npt.NDArray[np.int32], inner: npt.NDArray[np.int32], pitch: float, alone: float
) -> tuple[Float32s, Float32s]:
    """One pitch beyond the end of a row; a row of a single seat has its names left and right of it."""
    dx, dy = plan.x[end] - plan.x[inner], plan.y[end] - plan.y[inner]
    length = np.hypot(dx, dy)
    single = length == 0
    length = np.where(single, 1.0, length)
    x = plan.x[end] + np.where(single, alone, dx / length) * pitch
    y = plan.y[end] + np.where(single, 0.0, dy / length) * pitch
    return x.astype(np.float32), y.astype(np.float32)


def _clear_of(from_x: Float32s, from_y: Float32s, x: Float32s, y: Float32s, pitch: float) -> npt.NDArray[np.bool_]:
    """Which places (x, y) keep their distance from all other points, by a bitmap of quarter-pitch cells."""
    clear = np.ones(len(x), np.bool_)
    if not len(from_x):
        return clear
    extent = max(float(np.ptp(from_x)), float(np.ptp(from_y)))
    cell = max(pitch / 4, extent / _MOST_CELLS)
    left, top = float(from_x.min()) - 8 * cell, float(from_y.min()) - 8 * cell
    columns = int((float(from_x.max()) - left) / cell) + 10
    lines = int((float(from_y.max()) - top) / cell) + 10
    taken = np.zeros((lines, columns), np.bool_)
    taken[((from_y - top) / cell).astype(np.intp), ((from_x - left) / cell).astype(np.intp)] = True
    for angle in np.linspace(0, 2 * np.pi, 14, endpoint=False):
        for reach in _CLEAR_PITCHES:
            line = ((y + np.sin(angle) * reach * pitch - top) / cell).astype(np.intp).clip(0, lines - 1)
            column = ((x + np.cos(angle) * reach * pitch - left) / cell).astype(np.intp).clip(0, columns - 1)
            clear &= ~taken[line, column]
    return clear
