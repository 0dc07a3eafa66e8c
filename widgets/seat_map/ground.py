"""All of a plan that lies under the seats: the ground, the areas (stage, pitch, texts) and the sections' beds."""

from __future__ import annotations

import re

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QTransform

from widgets.seat_map.bed_polygons import BedPolygons
from widgets.seat_map.beds import Bed
from widgets.seat_map.camera import Bounds
from widgets.seat_map.palette import MapPalette, luminance, mix
from widgets.seat_map.pictures import picture_of
from widgets.seat_map.plan import Indices, MapArea, SeatMapPlan

_HEX = re.compile(r"#[0-9A-Fa-f]{6}")
_AREA_KEEPS_LIGHT = 0.55
_AREA_KEEPS_DARK = 0.30
_SMALLEST_TEXT_PX = 7.0
_LINE_PX = 2.0  # farther than any line of an area reaches beyond its outline


class Ground:
    """Paints areas and beds of one plan; coordinates of the painter are plan units."""

    def __init__(
        self,
        plan: SeatMapPlan,
        beds: tuple[Bed, ...],
        far_beds: BedPolygons,
        palette: MapPalette,
    ) -> None:
        self._palette = palette
        self._beds = beds
        self._far_beds = far_beds
        edges = [(bed.bounds.left, bed.bounds.top, bed.bounds.right, bed.bounds.bottom) for bed in beds]
        self._bed_edges = np.array(edges, np.float64).reshape(-1, 4).T
        self._areas = [(area, area_path(area), self._area_color(area)) for area in plan.areas if not area.kind]
        self._upon = [(area, area_path(area), self._area_color(area)) for area in plan.areas if area.kind]
        self._images = [(image, picture) for image in plan.images if (picture := picture_of(image)) is not None]

    @property
    def moves(self) -> bool:
        """Whether it looks the same after a move by whole pixels; pictures and dots are laid out from the corner."""
        return not self._images and all(area.kind != "standing" for area, _, _ in self._upon)

    def paint(self, painter: QPainter, view: Bounds, scale: float, *, far: bool) -> None:
        """Paint what the view touches; `scale` is device px for each plan unit, `far` asks for coarse beds."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for image, picture in self._images:
            painter.setOpacity(image.opacity)
            painter.drawImage(QRectF(image.x, image.y, image.width, image.height), picture)
        painter.setOpacity(1.0)
        for area, path, color in self._areas:
            if not _touches(path.boundingRect(), view.grown(_LINE_PX / scale)):
                continue
            painter.setBrush(color if area.shape != "text" else Qt.BrushStyle.NoBrush)
            painter.setPen(self._area_pen(area, scale))
            painter.drawPath(path)
        self._paint_beds(painter, view, far=far)
        for area, path, color in self._upon:
            self._paint_upon(painter, area, path, color)
        for area, path, color in (*self._areas, *(upon for upon in self._upon if upon[0].kind != "standing")):
            if area.text:
                self._paint_text(painter, area, path, color, scale)

    def _paint_beds(self, painter: QPainter, view: Bounds, *, far: bool) -> None:
        """Fill without soft edges, which for a whole stadium would cost more than its seats; then one soft line.

        Blocks of one section may overlap, and a line must not run through seats: such sections go without.
        """
        left, top, right, bottom = self._bed_edges
        touched = (left < view.right) & (right > view.left) & (top < view.bottom) & (bottom > view.top)
        places = np.flatnonzero(touched)
        if far:
            self._fill_far_beds(painter, places)
            return
        seen = [self._beds[at] for at in places.tolist()]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._palette.bed)
        for bed in seen:
            painter.drawPolygon(bed.outline)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QPen(self._palette.token("bed_edge"), 1.0)
        line.setCosmetic(True)
        painter.setPen(line)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for bed in seen:
            if bed.alone:
                painter.drawPolygon(bed.outline)

    def _fill_far_beds(self, painter: QPainter, seen: Indices) -> None:
        move = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._palette.bed)
        draw = painter.drawPolygon
        for polygon in self._far_beds.polygons(seen, move.m11(), move.dx(), move.dy()):
            draw(polygon)
        painter.restore()

    def _paint_upon(self, painter: QPainter, area: MapArea, path: QPainterPath, color: QColor) -> None:
        """Tables and booths stand among the seats, a standing area is filled with people: told by line and dots."""
        line = QPen(self._palette.token("label_muted"), 1.5 if area.kind == "booth" else 1.0)
        line.setCosmetic(True)
        if area.kind == "standing":
            line.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(line)
        painter.setBrush(color)
        painter.drawPath(path)
        if area.kind == "standing":
            dots = QBrush(self._palette.token("label_muted"), Qt.BrushStyle.Dense6Pattern)
            dots.setTransform(painter.worldTransform().inverted()[0])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(dots)
            painter.drawPath(path)

    def _area_color(self, area: MapArea) -> QColor:
        priced = 0 <= area.category_no < len(self._palette.categories)
        if _HEX.fullmatch(area.color):
            color = QColor(area.color)
        elif priced:
            color = self._palette.categories[area.category_no]
        else:
            return self._palette.token("area")
        keeps = _AREA_KEEPS_DARK if self._palette.theme.is_dark else _AREA_KEEPS_LIGHT
        return mix(color, self._palette.ground, keeps)

    def _area_pen(self, area: MapArea, scale: float) -> QPen:
        if area.shape == "text" or not _HEX.fullmatch(area.border_color):
            return QPen(Qt.PenStyle.NoPen)
        return QPen(mix(QColor(area.border_color), self._palette.ground, 0.5), 1.0 / scale)

    def _paint_text(self, painter: QPainter, area: MapArea, path: QPainterPath, color: QColor, scale: float) -> None:
        """Texts keep the plan's size and place; their colour follows the theme, so that they stay readable."""
        ground = self._palette.ground if area.shape == "text" else color
        ink = self._palette.token("seat_dark_ink" if luminance(ground) > 0.30 else "seat_light_ink")
        size_px = (area.text_size or 16.0) * scale
        if size_px < _SMALLEST_TEXT_PX:
            return
        font = self._palette.theme.font("body", bold=True)
        font.setPixelSize(round(min(size_px, 96.0)))
        painter.save()
        centre = painter.transform().map(_text_centre(area, path))
        painter.setTransform(QTransform())
        painter.setFont(font)
        painter.setPen(ink)
        width, height = QFontMetricsF(font).horizontalAdvance(area.text) + 4, QFontMetricsF(font).height()
        box = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
        if area.shape != "text":
            painter.fillRect(box, color)  # lines of other areas end before the word instead of running through it
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, area.text)
        painter.restore()


def _touches(box: QRectF, view: Bounds) -> bool:
    """Whether a part of a box lies in view; that of a line has no area."""
    beside = box.right() < view.left or box.left() > view.right
    return not (beside or box.bottom() < view.top or box.top() > view.bottom)


def _text_centre(area: MapArea, path: QPainterPath) -> QPointF:
    """A text without a place of its own stands in the middle of its shape."""
    if area.text_x or area.text_y or area.shape == "text":
        return QPointF(area.x + area.text_x, area.y + area.text_y)
    return path.boundingRect().center()


def area_path(area: MapArea) -> QPainterPath:
    """Outline of an area in plan units, turned; empty for a text and for a shape that this map does not know."""
    path = QPainterPath()
    if area.shape == "rectangle":
        path.addRect(0, 0, area.width, area.height)
    elif area.shape in {"circle", "ellipse"}:
        path.addEllipse(QPointF(0, 0), area.width / 2, (area.height or area.width) / 2)
    elif area.shape == "polygon" and len(area.points) >= 6:
        xs, ys = area.points[0::2], area.points[1::2]
        path.addPolygon([QPointF(x, y) for x, y in zip(xs, ys, strict=False)])
        path.closeSubpath()
    turn = QTransform()
    turn.translate(area.x, area.y)
    turn.rotate(area.rotation)
    return turn.map(path)


def plan_bounds(plan: SeatMapPlan, margin: float) -> Bounds:
    """What "the whole plan" means: all seats with a margin, and all areas."""
    boxes = [area_path(area).boundingRect() for area in plan.areas if area.shape != "text"]
    sides = [Bounds(box.left(), box.top(), box.right(), box.bottom()) for box in boxes if not box.isEmpty()]
    if plan.present.seat_count:
        x, y = plan.present.x, plan.present.y
        sides.append(Bounds(float(x.min()), float(y.min()), float(x.max()), float(y.max())).grown(margin))
    if not sides:
        return Bounds(0.0, 0.0, max(1.0, plan.width), max(1.0, plan.height))
    return Bounds(
        min(side.left for side in sides),
        min(side.top for side in sides),
        max(side.right for side in sides),
        max(side.bottom for side in sides),
    )
