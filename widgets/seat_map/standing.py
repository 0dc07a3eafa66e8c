"""Areas of places without numbers: their names and how many places are left, over the picture of the seats."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath

from widgets.seat_map.camera import Camera
from widgets.seat_map.ground import area_path
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import SeatMapPlan

_PADDING_PX = 6.0
_ALPHA = 225
_Line = tuple[str, QFont, QFontMetricsF, str]


class StandingPlaces:
    """The standing areas of one plan by name. Logical px."""

    def __init__(self, plan: SeatMapPlan) -> None:
        areas = [area for area in plan.areas if area.kind == "standing"]
        self.names = tuple(dict.fromkeys(area.text for area in areas))
        self._paths: dict[str, list[QPainterPath]] = {name: [] for name in self.names}
        for area in areas:
            self._paths[area.text].append(area_path(area))
        self._free: dict[str, int] = {}

    def free(self, name: str) -> int | None:
        """How many places of an area are left; None when nobody said so."""
        return self._free.get(name)

    def set_free(self, free: Mapping[str, int]) -> bool:
        """How many places are left, by name; False when nothing changed."""
        changed = dict(free) != self._free
        self._free = dict(free)
        return changed

    def at(self, x: float, y: float) -> str:
        """Name of the area at a point of the plan; empty where there is none."""
        point = QPointF(x, y)
        found = (name for name, paths in self._paths.items() if any(path.contains(point) for path in paths))
        return next(found, "")

    def rect(self, number: int, camera: Camera) -> QRect:
        """Where an area is now; of one that stands in several places (on every floor), the one that is in view."""
        boxes = self._boxes(self.names[number], camera)
        view = QRect(0, 0, math.ceil(camera.width), math.ceil(camera.height))
        return next((box for box in boxes if box.intersects(view)), boxes[0])

    def paint(
        self, painter: QPainter, clip: QRect, camera: Camera, palette: MapPalette, write: Callable[[int], str]
    ) -> None:
        """Name and count in the middle of each area in view, as much of them as it has room for."""
        for name in self.names:
            for area in self._boxes(name, camera):
                if area.intersects(clip):
                    free = self._free.get(name)
                    self._paint_label(painter, QRectF(area), palette, name, "" if free is None else write(free))

    def _boxes(self, name: str, camera: Camera) -> list[QRect]:
        return [_in_px(path.boundingRect(), camera) for path in self._paths[name]]

    def _paint_label(self, painter: QPainter, area: QRectF, palette: MapPalette, name: str, count: str) -> None:
        fonts = palette.theme.font("caption", bold=True), palette.theme.font("caption")
        metrics = QFontMetricsF(fonts[0]), QFontMetricsF(fonts[1])
        room = area.width() - 2 * _PADDING_PX
        lines: list[_Line] = [(name, fonts[0], metrics[0], "label")] if name else []
        lines += [(part, fonts[1], metrics[1], "label_muted") for part in _parted(count, metrics[1], room)]
        while lines and not _fits(lines, area):
            lines.pop()
        if not lines:
            return
        width, height = _size(lines)
        box = QRectF(area.center().x() - width / 2, area.center().y() - height / 2, width, height)
        ground = QColor(palette.token("pill"))
        ground.setAlpha(_ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 4, 4)
        top = box.top() + _PADDING_PX / 2
        for text, font, metric, token in lines:
            painter.setFont(font)
            painter.setPen(palette.token(token))
            painter.drawText(QRectF(box.left(), top, width, metric.height()), Qt.AlignmentFlag.AlignCenter, text)
            top += metric.height()


def _parted(text: str, metrics: QFontMetricsF, room: float) -> list[str]:
    """A text in one line, or in two where it finds room only so."""
    words = text.split(" ")
    ways = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    if not text or not ways or metrics.horizontalAdvance(text) <= room:
        return [text] if text else []
    wide, parts = min((max(map(metrics.horizontalAdvance, way)), way) for way in ways)
    return list(parts) if wide <= room else [text]


def _in_px(box: QRectF, camera: Camera) -> QRect:
    return QRectF(
        QPointF(*camera.to_px(box.left(), box.top())), QPointF(*camera.to_px(box.right(), box.bottom()))
    ).toAlignedRect()


def _size(lines: list[_Line]) -> tuple[float, float]:
    width = max(metrics.horizontalAdvance(text) for text, _, metrics, _ in lines) + 2 * _PADDING_PX
    return width, sum(metrics.height() for _, _, metrics, _ in lines) + _PADDING_PX


def _fits(lines: list[_Line], area: QRectF) -> bool:
    width, height = _size(lines)
    return width <= area.width() and height <= area.height()
