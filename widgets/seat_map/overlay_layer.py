"""Paints the overlays of one map in the order in which they lie over each other. Positions are logical px."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from widgets.seat_map.camera import Camera
from widgets.seat_map.overlays import PLACE_BELOW_PX, OverlayPainter, Overlays
from widgets.seat_map.scene import Scene
from widgets.seat_map.spotlight import holes_at


def paint_overlays(
    painter: QPainter, scene: Scene, camera: Camera, overlays: Overlays, area: QRect, clip: QRect, *, has_keyboard: bool
) -> None:
    """Everything that lies over the seats but the spotlight; `area` is the whole widget, `clip` what is painted."""
    brush = OverlayPainter(painter, scene.palette, scene.seat_diameter * camera.scale, monotonic())

    def at(seat_no: int) -> QPointF:
        return QPointF(*camera.to_px(*scene.position(seat_no)))

    _paint_marks(brush, overlays, at)
    if overlays.hover >= 0 and not overlays.preview:
        brush.hover_ring(at(overlays.hover))
    if overlays.focus >= 0:
        brush.focus_ring(at(overlays.focus), active=has_keyboard)
    _paint_hand(brush, overlays)
    if overlays.place and clip.top() < PLACE_BELOW_PX:
        brush.place(overlays.place)
    if overlays.stale:
        brush.veil(QRectF(area), overlays.stale_text)
    if has_keyboard and overlays.focus < 0:
        brush.frame(QRectF(area))


def _paint_marks(brush: OverlayPainter, overlays: Overlays, at: Callable[[int], QPointF]) -> None:
    """Rings of groups of seats."""
    still = overlays.reduced_motion
    for seat in overlays.offered:
        brush.offered_ring(at(seat))
    for seat in overlays.mine:
        brush.own_ring(at(seat), overlays.appeared[seat], still=still)
    for seat in overlays.warned:
        brush.warned_ring(at(seat))
    for seat, since_s in overlays.lost.items():
        brush.lost_ring(at(seat), since_s, still=still)
    if overlays.preview:
        brush.preview([at(seat) for seat in overlays.preview])


def _paint_hand(brush: OverlayPainter, overlays: Overlays) -> None:
    if overlays.band is not None:
        brush.band(overlays.band)
    if overlays.lasso:
        brush.lasso(overlays.lasso)


def paint_spotlight(
    painter: QPainter, scene: Scene, camera: Camera, overlays: Overlays, clip: QRect, dpr: float
) -> None:
    """Dim all, then show the lit seats again through holes."""
    spot = overlays.spot
    strength = 0.0 if spot is None else spot.strength(monotonic(), still=overlays.reduced_motion)
    if spot is None or not strength:
        return
    veil = QColor(scene.palette.ground)
    veil.setAlphaF(strength)
    painter.fillRect(clip, veil)
    painter.save()
    if spot.by_ground:
        painter.setClipPath(_ground_of(scene, camera, spot.section))
    else:
        centres = [QPointF(*camera.to_px(*scene.position(seat))) for seat in spot.seats]
        painter.setClipPath(holes_at(centres, scene.grid.pitch * camera.scale))
    scene.paint(painter, clip, dpr)
    painter.restore()


def _ground_of(scene: Scene, camera: Camera, section: int) -> QPainterPath:
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    (left, top), scale = camera.to_px(0.0, 0.0), camera.scale
    to_px = QTransform(scale, 0, 0, scale, left, top)
    for bed in scene.beds:
        if bed.section == section:
            path.addPolygon(to_px.map(bed.outline))
            path.closeSubpath()
    return path
