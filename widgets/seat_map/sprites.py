"""The sprite atlas: every look of a seat at one diameter, drawn once.

Up to `SOLID_MAX_PX` a seat is a square of one colour. From `SHAPES_FROM_PX` on its shape and ring tell the state
without colour: a full disc is free, a ringed pale disc is held (the ring's gaps tell by whom, and whether it is the
house's own), a half-filled one is
being paid, a heavy double ring is mine, a small grey disc is sold, struck when printed, dotted when used, a cross is
blocked. A seat of the house carries the letter of the kind it is kept for, once it is known. The outline tells the
kind: disc, rounded square (accessible), diamond (companion), cut disc (restricted view).

All ink of a sprite stays inside the pixels whose centres lie in the disc, so sprites of neighbours never overlap as
long as the discs do not, and a partial redraw equals a full one bit for bit.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from widgets.seat_map.palette import DIM_KEEPS, MapPalette, holder_of, to_word, words
from widgets.seat_map.patterns import paint_pattern
from widgets.seat_map.seat_bits import (
    ACCESSIBLE_FLAG,
    COMPANION_FLAG,
    LOOK_COUNT,
    RESTRICTED_FLAG,
    HouseKind,
    Look,
    SeatHolder,
    house_kind_of,
)

SOLID_MAX_PX = 3
SHAPES_FROM_PX = 7
LETTERS_FROM_PX = 10
_INSET_PX = 0.3
_FAR_SHARE = 1.18
_LETTER_SHARE = 0.52  # of the diameter
_LETTER_WIDTH_SHARE = 0.62
# Gaps of a ring in degrees (start, length): none, broken in four, two brackets.
_RING_ARCS: dict[SeatHolder, tuple[tuple[float, float], ...]] = {
    SeatHolder.NONE: ((0, 360),),
    SeatHolder.TILL: ((0, 360),),
    SeatHolder.FAN: ((10, 70), (100, 70), (190, 70), (280, 70)),
    SeatHolder.HOUSE: ((35, 110), (215, 110)),
}

Words = npt.NDArray[np.uint32]
Keys = npt.NDArray[np.unsignedinteger]


class SpriteAtlas:
    """Sprites of one diameter (device px) for the kinds of one plan, drawn when a key is first seen.

    `colors[key]` serves diameters up to SOLID_MAX_PX; above, `rows` holds for each sprite row its left edge, its width
    and an array over keys of opaque blocks of that many pixels.
    """

    def __init__(
        self, palette: MapPalette, kinds: npt.NDArray[np.uint16], diameter_px: int, colors: Words | None = None
    ) -> None:
        """`colors` are those of another atlas of squares, which has the same ones."""
        self.diameter_px = diameter_px
        self._palette = palette
        self._kinds = [(int(code) >> 3, int(code) & 7) for code in kinds]
        self.rows: list[tuple[int, int, npt.NDArray[np.void]]] = []
        small = diameter_px <= SOLID_MAX_PX
        self.spans = [(0, diameter_px)] * diameter_px if small else disc_spans(diameter_px)
        """(left, width) of each pixel row."""
        self.pixels_each = sum(width for _, width in self.spans)
        self.colors: Words = np.empty(0, np.uint32)
        if diameter_px > SOLID_MAX_PX:
            self._lay_out()
        else:
            self.colors = self._solid_colors() if colors is None else colors

    def prepare(self, keys: Keys) -> None:
        """Draw the sprites of these keys that have not been drawn yet."""
        if not self.rows or bool(self._drawn[keys].all()):
            return
        for key in np.unique(keys[~self._drawn[keys]]).tolist():
            self._sprites[:, key, :] = self._draw(key)
            self._drawn[key] = True

    def _solid_colors(self) -> Words:
        looks = [Look(look) for look in range(LOOK_COUNT)]
        categories = sorted({category for category, _ in self._kinds})
        plain = [self._palette.small(look, category) for look in looks for category in categories]
        known = words([*plain, *map(self._palette.dimmed, plain)]).reshape(-1, max(1, len(categories)))
        places = np.searchsorted(categories, [category for category, _ in self._kinds])
        return np.ascontiguousarray(known[:, places.astype(np.intp)]).ravel()

    def _lay_out(self) -> None:
        size = self.diameter_px
        count = 2 * LOOK_COUNT * len(self._kinds)
        # Row by row over all keys, so that one row of every sprite is one strided array of blocks.
        self._sprites = np.empty((size, count, size), np.uint32)
        self._drawn = np.zeros(count, np.bool_)
        self._discs: dict[tuple[int, Look, int], Words] = {}
        for row, (left, width) in enumerate(self.spans):
            start = 4 * (row * count * size + left)
            blocks = np.ndarray((count,), f"V{4 * width}", self._sprites.data.cast("B"), start, (4 * size,))
            self.rows.append((left, width, blocks))

    def _draw(self, key: int) -> Words:
        band, kind = divmod(key, len(self._kinds))
        dimmed, look = divmod(band, LOOK_COUNT)
        category, marks = self._kinds[kind]
        if self.diameter_px >= SHAPES_FROM_PX:
            return self._drawn_sprite(dimmed, Look(look), category, marks)
        # Marks do not show yet: kinds of one category share a disc.
        disc = self._discs.get((dimmed, Look(look), category))
        if disc is None:
            disc = self._discs[dimmed, Look(look), category] = self._drawn_sprite(dimmed, Look(look), category, 0)
        return disc

    def _drawn_sprite(self, dimmed: int, look: Look, category: int, marks: int) -> Words:
        sprite = draw_sprite(self._palette, look, category, marks, self.diameter_px)
        return _dim(sprite, self._palette.bed) if dimmed else sprite


def disc_spans(diameter: int) -> list[tuple[int, int]]:
    """(left, width) of each pixel row of a disc: the pixels whose centres lie in it."""
    radius = diameter / 2
    spans = []
    for row in range(diameter):
        away = row + 0.5 - radius
        half = math.sqrt(max(0.0, radius * radius - away * away))
        left = max(0, math.ceil(radius - half - 0.5 - 1e-9))
        spans.append((left, diameter - 2 * left))
    return spans


def fitting_diameter(wanted_px: float, closest_px: float) -> int:
    """Largest whole diameter that is wanted and at which discs of rounded position cannot overlap (from 4 px up)."""
    free = min(math.floor(wanted_px), math.floor(closest_px - math.sqrt(2)))
    if free > SOLID_MAX_PX:
        return free
    # Squares of one colour need no gap: a little larger, so that a far stand reads as its colour.
    return min(max(1, round(wanted_px * _FAR_SHARE)), SOLID_MAX_PX)


def draw_sprite(palette: MapPalette, look: Look, category: int, marks: int, size: int) -> Words:
    """One sprite on bed colour, as words (size × size)."""
    pixels = np.full((size, size), to_word(palette.bed), np.uint32)
    image = QImage(pixels.data, size, size, 4 * size, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if size < SHAPES_FROM_PX:
        _fill(painter, outline(size, 0.0, 0), palette.small(look, category))
    else:
        paint_seat(painter, palette, look, category, marks, size)
    painter.end()
    return pixels


def outline(size: float, inset: float, marks: int) -> QPainterPath:
    """The body's outline, all of it inside the disc; `inset` in px."""
    radius = size / 2 - _INSET_PX - inset
    centre = QPointF(size / 2, size / 2)
    path = QPainterPath()
    if marks & ACCESSIBLE_FLAG:
        half = radius * 0.80
        path.addRoundedRect(QRectF(centre.x() - half, centre.y() - half, 2 * half, 2 * half), half * 0.55, half * 0.55)
    elif marks & COMPANION_FLAG:
        path.addPolygon([centre + QPointF(dx * radius, dy * radius) for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0))])
        path.closeSubpath()
    else:
        path.addEllipse(centre, radius, radius)
    if marks & RESTRICTED_FLAG:
        seen = QPainterPath()
        seen.addRect(QRectF(0, 0, size, size * 0.70))
        path = path.intersected(seen)
    return path


def paint_seat(painter: QPainter, palette: MapPalette, look: Look, category: int, marks: int, size: int) -> None:
    """A seat of at least `SHAPES_FROM_PX`, at the painter's origin; a legend explains seats with the same strokes."""
    fill = palette.fill(look, category)
    holder = holder_of(look)
    if holder is not None:
        _draw_held(painter, palette, look, marks, size, fill)
    elif look is Look.MINE:
        _draw_mine(painter, palette, marks, category, size, fill)
    elif look is Look.BLOCKED:
        _draw_blocked(painter, palette, marks, size)
    elif look in {Look.FREE, Look.CLOSED}:
        _draw_free(
            painter, palette, outline(size, 0.0 if look is Look.FREE else size * 0.06, marks), category, size, fill
        )
    else:
        _draw_sold(painter, palette, look, marks, size, fill)


def _draw_free(
    painter: QPainter, palette: MapPalette, body: QPainterPath, category: int, size: int, fill: QColor
) -> None:
    _fill(painter, body, fill)
    if palette.theme.patterned:
        paint_pattern(painter, body, category, palette.pattern_tone(fill), size)


def _draw_held(painter: QPainter, palette: MapPalette, look: Look, marks: int, size: int, fill: QColor) -> None:
    holder = holder_of(look) or SeatHolder.NONE
    ring = palette.holders[holder]
    width = max(1.25, size * 0.11)
    _fill(painter, outline(size, width / 2, marks), fill)
    if Look.PAYING <= look <= Look.PAYING_HOUSE:
        painter.save()
        painter.setClipRect(QRectF(0, size / 2, size, size / 2))
        _fill(painter, outline(size, width / 2, marks), ring)
        painter.restore()
    _stroke_ring(painter, outline(size, width / 2, marks), ring, width, holder, size)
    kind = house_kind_of(look)
    if kind and size >= LETTERS_FROM_PX:
        _write_letter(painter, palette, kind, size, fill)


def _write_letter(painter: QPainter, palette: MapPalette, kind: HouseKind, size: int, fill: QColor) -> None:
    """For whom the house keeps the seat, within the ring."""
    letter = palette.house_letters[kind]
    font = palette.theme.font("caption", bold=True)
    font.setPixelSize(max(6, round(size * _LETTER_SHARE)))
    width = QFontMetricsF(font).horizontalAdvance(letter)
    if width > size * _LETTER_WIDTH_SHARE:
        font.setPixelSize(max(5, math.floor(font.pixelSize() * size * _LETTER_WIDTH_SHARE / width)))
    painter.save()
    painter.setClipPath(outline(size, size * 0.11, 0))
    painter.setFont(font)
    painter.setPen(palette.ink_on(fill))
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, letter)
    painter.restore()


def _draw_mine(painter: QPainter, palette: MapPalette, marks: int, category: int, size: int, fill: QColor) -> None:
    width = max(1.5, size * 0.12)
    _fill(painter, outline(size, 0.0, marks), palette.token("mine"))
    _fill(painter, outline(size, width * 0.85, marks), palette.token("mine_halo"))
    _draw_free(painter, palette, outline(size, width * 1.7, marks), category, size, fill)


def _draw_blocked(painter: QPainter, palette: MapPalette, marks: int, size: int) -> None:
    ink = palette.token("blocked_ink")
    _fill(painter, outline(size, size * 0.06, marks), palette.token("blocked"))
    reach = size * 0.20
    middle = size / 2
    pen = _round_pen(ink, max(1.25, size * 0.09))
    painter.setPen(pen)
    painter.drawLine(QPointF(middle - reach, middle - reach), QPointF(middle + reach, middle + reach))
    painter.drawLine(QPointF(middle - reach, middle + reach), QPointF(middle + reach, middle - reach))


def _draw_sold(painter: QPainter, palette: MapPalette, look: Look, marks: int, size: int, fill: QColor) -> None:
    ink = palette.token("sold_ink")
    middle = size / 2
    _fill(painter, outline(size, size * 0.12, marks), fill)
    if look is Look.PRINTED:
        reach = size * 0.27
        painter.setPen(_round_pen(ink, max(1.25, size * 0.08)))
        painter.drawLine(QPointF(middle - reach, middle + reach), QPointF(middle + reach, middle - reach))
    elif look is Look.USED:
        dot = QPainterPath()
        dot.addEllipse(QPointF(middle, middle), size * 0.17, size * 0.17)
        _fill(painter, dot, ink)


def _stroke_ring(
    painter: QPainter, path: QPainterPath, color: QColor, width: float, holder: SeatHolder, size: int
) -> None:
    arcs = _RING_ARCS[holder] if size >= 10 else _RING_ARCS[SeatHolder.NONE]
    painter.save()
    if len(arcs) > 1:
        wedges = QPainterPath()
        wedges.setFillRule(Qt.FillRule.WindingFill)
        box = QRectF(-size / 2, -size / 2, size * 2.0, size * 2.0)
        for start, length in arcs:
            wedges.moveTo(box.center())
            wedges.arcTo(box, start, length)
            wedges.closeSubpath()
        painter.setClipPath(wedges)
    painter.setPen(QPen(color, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    painter.restore()


def _round_pen(color: QColor, width: float) -> QPen:
    return QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)


def _fill(painter: QPainter, path: QPainterPath, color: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(path)


def _dim(images: Words, bed: QColor) -> Words:
    """Pixels mixed towards the bed."""
    keep = round(DIM_KEEPS * 256)
    mixed = np.zeros_like(images)
    for shift, ground in ((16, bed.red()), (8, bed.green()), (0, bed.blue())):
        channel = images >> np.uint32(shift) & np.uint32(0xFF)
        mixed |= (channel * np.uint32(keep) + np.uint32(ground * (256 - keep)) >> np.uint32(8)) << np.uint32(shift)
    return mixed | np.uint32(0xFF000000)
