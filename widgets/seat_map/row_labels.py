"""Row names at the ends of rows, when seats are near, and at the edge of the view for rows whose ends are beyond it.

They are painted with the overlays, never into the seats' picture, so that a changed seat does not disturb them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from widgets.seat_map.camera import Camera
from widgets.seat_map.glyphs import GlyphAtlas, draw_fragments
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Float32s, Indices, SeatMapPlan
from widgets.seat_map.row_edges import RowEdges, rows_cut_by_view

ROW_LABELS_FROM_PX = 11.0
_CLEAR_PITCHES = (0.0, 0.2, 0.4, 0.6)  # a row name closer than this to a seat would lie on it
_MOST_CELLS = 4000

Places = npt.NDArray[np.float64]


class RowLabels:
    """Row names at the ends of rows, where no other seat stands. Device px."""

    def __init__(self, plan: SeatMapPlan, pitch: float, palette: MapPalette) -> None:
        self._palette = palette
        self._plan = plan
        self._texts = list(dict.fromkeys(plan.row_label))
        table = {text: text_no for text_no, text in enumerate(self._texts)}
        ends = _row_ends(plan, pitch)
        self._x, self._y, self._rows = ends
        self._text_of_row = np.array([table[label] for label in plan.row_label], np.intp)
        self._atlas: tuple[int, GlyphAtlas] | None = None
        self._patch: tuple[int, QPixmap] | None = None
        self._fragments = np.zeros((0, 10))
        self._edge_fragments = np.zeros((0, 10))

    def place(self, camera: Camera, dpr: float, seat_px: float, seats: Indices) -> None:
        """Choose the row names in view; `seat_px` is the diameter of a seat in logical px, `seats` those in view."""
        self._fragments = self._edge_fragments = np.zeros((0, 10))
        if seat_px < ROW_LABELS_FROM_PX or not self._texts:
            return
        x = np.rint(((self._x - camera.x) * camera.scale + camera.width / 2) * dpr)
        y = np.rint(((self._y - camera.y) * camera.scale + camera.height / 2) * dpr)
        margin = 2 * seat_px * dpr
        seen = (x > -margin) & (x < camera.width * dpr + margin) & (y > -margin) & (y < camera.height * dpr + margin)
        atlas = self._atlas_for(round(min(max(seat_px * 0.5, 9.0), 15.0) * dpr))
        rows = self._rows[seen]
        self._fragments = atlas.fragments(self._text_of_row[rows], np.zeros(len(rows), np.intp), x[seen], y[seen])
        inside = (x > 0) & (x < camera.width * dpr) & (y > 0) & (y < camera.height * dpr)
        self._place_edges(rows_cut_by_view(self._plan, seats, self._rows[inside], camera), atlas, dpr)

    def _place_edges(self, edges: RowEdges, atlas: GlyphAtlas, dpr: float) -> None:
        x, y = np.rint(edges.x * dpr).astype(np.float32), np.rint(edges.y * dpr).astype(np.float32)
        texts = self._text_of_row[edges.rows]
        self._edge_fragments = atlas.fragments(texts, np.zeros(len(texts), np.intp), x, y)

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed names that touch the clip (logical px); the painter counts device px."""
        if self._atlas is not None:
            patch = self._patch_for(self._atlas[0])
            edges = _touching(self._edge_fragments, clip, dpr)
            draw_fragments(painter, _patches(edges, patch), patch)
            draw_fragments(painter, edges, self._atlas[1].pixmap)
            draw_fragments(painter, _touching(self._fragments, clip, dpr), self._atlas[1].pixmap)

    def _patch_for(self, text_px: int) -> QPixmap:
        """Names at the edge of the view lie on seats: each on a patch of its own."""
        if self._patch is None or self._patch[0] != text_px:
            pixmap = QPixmap(2 * text_px, 2 * round(text_px * 0.75))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._palette.bed)
            painter.drawRoundedRect(QRectF(pixmap.rect()), 3, 3)
            painter.end()
            self._patch = text_px, pixmap
        return self._patch[1]

    def _atlas_for(self, text_px: int) -> GlyphAtlas:
        if self._atlas is None or self._atlas[0] != text_px:
            font = self._palette.theme.font("caption", bold=True)
            font.setPixelSize(text_px)
            inks = [self._palette.token("label_muted")]
            self._atlas = text_px, GlyphAtlas(self._texts, inks, font, text_px * 4.0)
        return self._atlas[1]


def _touching(fragments: Places, clip: QRect, dpr: float) -> Places:
    """Fragments of which a part lies in the clip (logical px)."""
    x, y, reach_x, reach_y = fragments[:, 0], fragments[:, 1], fragments[:, 4] / 2 + 1, fragments[:, 5] / 2 + 1
    touched = (x + reach_x > clip.left() * dpr) & (x - reach_x < (clip.right() + 1) * dpr)
    touched &= (y + reach_y > clip.top() * dpr) & (y - reach_y < (clip.bottom() + 1) * dpr)
    return fragments if touched.all() else fragments[touched]


def _patches(names: Places, patch: QPixmap) -> Places:
    """A patch under each name."""
    under = names.copy()
    under[:, 2:6] = 0, 0, patch.width(), patch.height()
    return under


def _row_ends(plan: SeatMapPlan, pitch: float) -> tuple[Float32s, Float32s, Indices]:
    """Places of row names: x, y and row number of each."""
    plan = plan.present
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
