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
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.row_edges import RowEdges, rows_cut_by_view
from widgets.seat_map.row_ends import RowEnds
from widgets.seat_map.seat_grid import SeatGrid

ROW_LABELS_FROM_PX = 11.0

Places = npt.NDArray[np.float64]


class RowLabels:
    """Row names at the ends of rows, where no other seat stands. Device px."""

    def __init__(self, plan: SeatMapPlan, grid: SeatGrid, palette: MapPalette) -> None:
        self._palette = palette
        self._plan = plan
        self._texts = list(dict.fromkeys(plan.row_label))
        table = {text: text_no for text_no, text in enumerate(self._texts)}
        self._ends = RowEnds(plan, grid)
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
        margin = 2 * seat_px / camera.scale
        places = self._ends.clear_in(camera.view().grown(margin))
        left, top = camera.origin
        x = np.rint((self._ends.x[places] * camera.scale + left) * dpr)
        y = np.rint((self._ends.y[places] * camera.scale + top) * dpr)
        atlas = self._atlas_for(round(min(max(seat_px * 0.5, 9.0), 15.0) * dpr))
        rows = self._ends.rows[places]
        self._fragments = atlas.fragments(self._text_of_row[rows], np.zeros(len(rows), np.intp), x, y)
        inside = (x > 0) & (x < camera.width * dpr) & (y > 0) & (y < camera.height * dpr)
        self._place_edges(rows_cut_by_view(self._plan, seats, rows[inside], camera), atlas, dpr)

    def _place_edges(self, edges: RowEdges, atlas: GlyphAtlas, dpr: float) -> None:
        x, y = np.rint(edges.x * dpr).astype(np.float32), np.rint(edges.y * dpr).astype(np.float32)
        texts = self._text_of_row[edges.rows]
        self._edge_fragments = atlas.fragments(texts, np.zeros(len(texts), np.intp), x, y)

    def paint(self, painter: QPainter, clip: QRect, dpr: float) -> None:
        """Paint the placed names that touch the clip (logical px); the painter counts device px."""
        if self._atlas is None:
            return
        names = self._atlas[1].pixmap
        edges = _touching(self._edge_fragments, clip, dpr)
        if len(edges):
            patch = self._patch_for(self._atlas[0])
            draw_fragments(painter, _patches(edges, patch), patch)
            draw_fragments(painter, edges, names)
        draw_fragments(painter, _touching(self._fragments, clip, dpr), names)

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
    if not len(fragments):
        return fragments
    # All names of an atlas are of one size: a name touches the clip where its centre is this near to the clip's.
    reach_x, reach_y = (clip.width() * dpr + fragments[0, 4]) / 2 + 1, (clip.height() * dpr + fragments[0, 5]) / 2 + 1
    touched = np.abs(fragments[:, 0] - (clip.left() + clip.width() / 2) * dpr) < reach_x
    touched &= np.abs(fragments[:, 1] - (clip.top() + clip.height() / 2) * dpr) < reach_y
    return fragments if touched.all() else fragments[touched]


def _patches(names: Places, patch: QPixmap) -> Places:
    """A patch under each name."""
    under = names.copy()
    under[:, 2:6] = 0, 0, patch.width(), patch.height()
    return under
