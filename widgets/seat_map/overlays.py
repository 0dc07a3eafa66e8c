"""What moves on top of the map: hover, focus, own seats from afar, lost seats, rubber band, the veil of a stale map.

Nothing here ever enters the seats' picture, so that moving the mouse costs no seat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from widgets.seat_map.palette import MapPalette
from widgets.seat_map.spotlight import Spotlight

PULSE_S = 0.7
LOST_S = 2.6
_LOST_BLINKS = 3
_RING_ROOM_PX = 12.0
_OWN_RING_BELOW_PX = 13.0
_LEAST_RING_PX = 6.0
_CORNER_PX = 8.0
_FRAME_PX = 2.0
PLACE_BELOW_PX = 60
"""From the top: lower the name of the place in view never reaches."""
_CORNER_ALPHA = 235
_ROUND_STEPS = 8


@dataclass(slots=True)
class Overlays:
    """Seats by number, times in seconds of a monotonic clock. `band` and `lasso` are in logical px.

    `preview` is the block that a click would take; `warned` are seats lost or left single, `offered` those to be had
    instead.
    """

    hover: int = -1
    focus: int = -1
    band: QRectF | None = None
    lasso: tuple[QPointF, ...] = ()
    preview: tuple[int, ...] = ()
    warned: tuple[int, ...] = ()
    offered: tuple[int, ...] = ()
    spot: Spotlight | None = None
    stale: bool = False
    stale_text: str = ""
    place: str = ""
    reduced_motion: bool = False
    mine: tuple[int, ...] = ()
    appeared: dict[int, float] = field(default_factory=dict)
    lost: dict[int, float] = field(default_factory=dict)

    def own(self, seats: Iterable[int], now_s: float) -> None:
        """These seats are mine; new ones pulse."""
        fresh = tuple(seats)
        self.appeared = {seat: self.appeared.get(seat, now_s) for seat in fresh}
        self.mine = fresh

    def lose(self, seats: Iterable[int], now_s: float) -> None:
        """These seats were lost just now."""
        self.lost.update((seat, now_s) for seat in seats)

    def moving(self, now_s: float) -> bool:
        """Whether anything changes with time; lost seats that have been shown long enough are dropped."""
        self.lost = {seat: since for seat, since in self.lost.items() if now_s - since < LOST_S}
        pulsing = not self.reduced_motion and any(now_s - since < PULSE_S for since in self.appeared.values())
        if self.spot is not None and not self.spot.strength(now_s, still=self.reduced_motion):
            self.spot = None
        return pulsing or bool(self.lost) or self.spot is not None

    def moving_seats(self, now_s: float) -> list[int]:
        """Seats whose overlay changes with time."""
        return [*self.lost, *(seat for seat, since in self.appeared.items() if now_s - since < PULSE_S + 0.1)]


def ring_box(centre: QPointF, seat_px: float) -> QRect:
    """Logical rectangle that every ring of a seat stays in."""
    reach = max(seat_px / 2, _LEAST_RING_PX) + _RING_ROOM_PX
    return QRectF(centre.x() - reach, centre.y() - reach, 2 * reach, 2 * reach).toAlignedRect()


def band_around(centres: Sequence[QPointF], radius: float) -> QPolygonF:
    """An outline around points in a row, as far from them on both sides, round at its ends."""
    points = [(centre.x(), centre.y()) for centre in centres]
    turns = []
    for place in range(len(points)):
        before, behind = points[max(place - 1, 0)], points[min(place + 1, len(points) - 1)]
        turns.append(math.atan2(behind[1] - before[1], behind[0] - before[0]))

    def at(place: int, turn: float) -> QPointF:
        x, y = points[place]
        return QPointF(x + math.cos(turn) * radius, y + math.sin(turn) * radius)

    quarter, last = math.pi / 2, len(centres) - 1
    one_side = [at(place, turns[place] - quarter) for place in range(len(centres))]
    far_end = [at(last, turns[last] - quarter + math.pi * step / _ROUND_STEPS) for step in range(1, _ROUND_STEPS)]
    other_side = [at(place, turns[place] + quarter) for place in reversed(range(len(centres)))]
    near_end = [at(0, turns[0] + quarter + math.pi * step / _ROUND_STEPS) for step in range(1, _ROUND_STEPS)]
    return QPolygonF([*one_side, *far_end, *other_side, *near_end])


class OverlayPainter:
    """Draws the overlays for one paint event; logical px."""

    def __init__(self, painter: QPainter, palette: MapPalette, seat_px: float, now_s: float) -> None:
        self._painter = painter
        self._palette = palette
        self._seat_px = seat_px
        self._now_s = now_s
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def own_ring(self, centre: QPointF, since_s: float, *, still: bool) -> None:
        """Own seats carry a ring while seats are small, and a widening one when they are new."""
        if self._seat_px < _OWN_RING_BELOW_PX:
            radius = max(self._seat_px / 2 + 2.5, _LEAST_RING_PX)
            self._ring(centre, radius, self._palette.token("mine_halo"), 4.0)
            self._ring(centre, radius, self._palette.token("mine"), 2.0)
        age = (self._now_s - since_s) / PULSE_S
        if not still and 0 <= age < 1:
            color = QColor(self._palette.token("mine_halo"))
            color.setAlphaF(1 - age)
            self._ring(centre, self._base() + _RING_ROOM_PX * 0.85 * age, color, 2.5)

    def lost_ring(self, centre: QPointF, since_s: float, *, still: bool) -> None:
        """A lost seat blinks, or stands ringed where motion is not wanted."""
        age = (self._now_s - since_s) / LOST_S
        strength = 1.0 if still else 0.55 + 0.45 * math.cos(age * _LOST_BLINKS * 2 * math.pi)
        color = QColor(self._palette.token("lost"))
        color.setAlphaF(strength)
        self._ring(centre, self._base() + 3.0, color, 3.0)
        color.setAlphaF(strength * 0.35)
        self._ring(centre, self._base() + 7.0, color, 3.0)

    def preview(self, centres: Sequence[QPointF]) -> None:
        """The block that a click takes: one band around its seats."""
        band = band_around(centres, self._base() + 3.0)
        color = QColor(self._palette.token("band"))
        self._painter.setPen(QPen(color, 2.5))
        color.setAlpha(36)
        self._painter.setBrush(color)
        self._painter.drawPolygon(band)

    def warned_ring(self, centre: QPointF) -> None:
        """A seat that was lost, or that would be left single: ringed and crossed out beside, as long as it matters."""
        radius = self._base() + 4.0
        self._ring(centre, radius, self._palette.bed, 5.0)
        self._ring(centre, radius, self._palette.token("lost"), 2.5)
        reach = radius * 0.72
        self._painter.drawLine(QLineF(centre.x() - reach, centre.y() + reach, centre.x() + reach, centre.y() - reach))

    def offered_ring(self, centre: QPointF) -> None:
        """A seat to be had instead: a broken ring, for it is nobody's yet."""
        radius = self._base() + 3.0
        self._ring(centre, radius, self._palette.bed, 5.0)
        pen = QPen(self._palette.token("band"), 2.5)
        pen.setDashPattern([2.0, 1.2])
        self._painter.setPen(pen)
        self._painter.drawEllipse(centre, radius, radius)

    def hover_ring(self, centre: QPointF) -> None:
        """The seat under the pointer."""
        self._ring(centre, self._base() + 2.0, self._palette.bed, 4.0)
        self._ring(centre, self._base() + 2.0, self._palette.token("hover"), 1.75)

    def focus_ring(self, centre: QPointF, *, active: bool) -> None:
        """The seat that the keyboard is on: a double ring that shows on every ground."""
        self._ring(centre, self._base() + 4.0, self._palette.bed, 6.0)
        color = QColor(self._palette.token("focus"))
        color.setAlphaF(1.0 if active else 0.45)
        self._ring(centre, self._base() + 4.0, color, 3.0)

    def band(self, box: QRectF) -> None:
        """The rubber band."""
        color = QColor(self._palette.token("band"))
        self._painter.setPen(QPen(color, 1.5, Qt.PenStyle.DashLine))
        color.setAlpha(40)
        self._painter.setBrush(color)
        self._painter.drawRect(box)

    def lasso(self, points: Sequence[QPointF]) -> None:
        """The loop drawn so far, closed as it would be if the button were let go."""
        color = QColor(self._palette.token("band"))
        self._painter.setPen(QPen(color, 1.5, Qt.PenStyle.DashLine))
        color.setAlpha(40)
        self._painter.setBrush(color)
        self._painter.drawPolygon(QPolygonF(list(points)), Qt.FillRule.OddEvenFill)

    def frame(self, area: QRectF) -> None:
        """The map has the keyboard, but no seat does yet."""
        color, width = self._palette.token("focus"), _FRAME_PX
        for side in (
            QRectF(area.left(), area.top(), area.width(), width),
            QRectF(area.left(), area.bottom() - width, area.width(), width),
            QRectF(area.left(), area.top() + width, width, area.height() - 2 * width),
            QRectF(area.right() - width, area.top() + width, width, area.height() - 2 * width),
        ):
            self._painter.fillRect(side, color)

    def place(self, text: str) -> None:
        """Where one is, in the corner."""
        self._painter.setFont(self._palette.theme.font("caption", bold=True))
        metrics = self._painter.fontMetrics()
        box = QRectF(_CORNER_PX, _CORNER_PX, metrics.horizontalAdvance(text) + 16.0, metrics.height() + 6.0)
        ground = QColor(self._palette.token("pill"))
        ground.setAlpha(_CORNER_ALPHA)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(ground)
        self._painter.drawRoundedRect(box, 5, 5)
        self._painter.setPen(self._palette.token("label"))
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def veil(self, area: QRectF, text: str) -> None:
        """Hatching over a map that is not live, with a word that says so where the host gave one."""
        color = QColor(self._palette.token("stale"))
        ground = QColor(self._palette.ground)
        ground.setAlpha(70)
        self._painter.fillRect(area, ground)
        color.setAlpha(70)
        self._painter.fillRect(area, QBrush(color, Qt.BrushStyle.BDiagPattern))
        if text:
            self._chip(text, area)

    def _chip(self, text: str, area: QRectF) -> None:
        self._painter.setFont(self._palette.theme.font("body", bold=True))
        metrics = self._painter.fontMetrics()
        width, height = metrics.horizontalAdvance(text) + 24.0, metrics.height() + 10.0
        box = QRectF(area.center().x() - width / 2, area.top() + 12.0, width, height)
        self._painter.setPen(QPen(self._palette.token("stale"), 1.5))
        self._painter.setBrush(self._palette.token("pill"))
        self._painter.drawRoundedRect(box, height / 2, height / 2)
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _base(self) -> float:
        return max(self._seat_px / 2, _LEAST_RING_PX - 3.0)

    def _ring(self, centre: QPointF, radius: float, color: QColor, width: float) -> None:
        self._painter.setPen(QPen(color, width))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawEllipse(centre, radius, radius)
