"""Seat numbers on the seats, when they are large enough to read."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QPainter

from widgets.seat_map.glyphs import GlyphAtlas
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.seat_bits import LOOK_COUNT, Look
from widgets.seat_map.seat_grid import SeatGrid
from widgets.seat_map.seat_states import Keys, SeatStates

_TEXT_SHARE = 0.42  # of the diameter
_WIDTH_SHARE = 0.72
_MOST_TEXTS = 600  # texts of one atlas; a plan with more is drawn from the texts in view
_ATLASES_KEPT = 3
_LIGHT, _DARK, _PALE = 0, 1, 2
_NO_NUMBER = 255
# A number would be unreadable on these; the tooltip and the voice still tell it.
_UNNUMBERED = {
    Look.BLOCKED, Look.USED, *(Look(Look.PAYING + holder) for holder in range(4)),
    *(look for look in Look if look > Look.BLOCKED_HOUSE),
}  # fmt: skip


class SeatNumbers:
    """Draws numbers for one plan and palette."""

    def __init__(self, plan: SeatMapPlan, grid: SeatGrid, states: SeatStates, palette: MapPalette) -> None:
        self._plan = plan
        self._grid = grid
        self._palette = palette
        self._states = states
        self._ink_of_key: npt.NDArray[np.uint8] | None = None
        self._texts: list[str] | None = None
        self._text_of_slot: Indices = np.empty(0, np.intp)
        self._atlases: OrderedDict[tuple[int, bytes], GlyphAtlas] = OrderedDict()

    def draw(
        self,
        painter: QPainter,
        slots: Indices | slice,
        keys: Keys,
        x: Indices,
        y: Indices,
        diameter: int,
    ) -> None:
        """Numbers of these slots at centres (x, y), device px; each slot at most once, for ink adds up."""
        texts = self._text_numbers()[slots]
        if self._ink_of_key is None:
            self._ink_of_key = _inks(self._states, self._palette)
        inks = self._ink_of_key[keys]
        shown = inks != _NO_NUMBER
        if not shown.any():
            return
        atlas, texts = self._atlas(diameter, texts)
        centre_x, centre_y = x[shown].astype(np.float32), y[shown].astype(np.float32)
        atlas.draw(painter, texts[shown], inks[shown].astype(np.intp), centre_x, centre_y)

    def _text_numbers(self) -> Indices:
        if self._texts is None:
            table: dict[str, int] = {}
            numbers = (table.setdefault(number, len(table)) for number in self._plan.number)
            by_seat = np.fromiter(numbers, np.intp, self._plan.seat_count)
            self._text_of_slot = by_seat[self._grid.seat_of_slot]
            self._texts = list(table)
        return self._text_of_slot

    def _atlas(self, diameter: int, texts: Indices) -> tuple[GlyphAtlas, Indices]:
        """An atlas that holds these texts, and their numbers in it."""
        known = self._texts or []
        if len(known) <= _MOST_TEXTS:
            return self._cached((diameter, b""), known), texts
        seen, places = np.unique(texts, return_inverse=True)
        return self._cached((diameter, seen.tobytes()), [known[text] for text in seen.tolist()]), places

    def _cached(self, key: tuple[int, bytes], texts: list[str]) -> GlyphAtlas:
        atlas = self._atlases.get(key)
        if atlas is None:
            font = self._palette.theme.font("caption")
            font.setPixelSize(max(6, round(key[0] * _TEXT_SHARE)))
            inks = [self._palette.token(token) for token in ("seat_light_ink", "seat_dark_ink", "sold_ink")]
            atlas = self._atlases[key] = GlyphAtlas(texts, inks, font, key[0] * _WIDTH_SHARE)
            if len(self._atlases) > _ATLASES_KEPT:
                self._atlases.popitem(last=False)
        self._atlases.move_to_end(key)
        return atlas


def _inks(states: SeatStates, palette: MapPalette) -> npt.NDArray[np.uint8]:
    """Ink of the number for each key."""
    kinds = [int(code) >> 3 for code in states.kinds]
    ink_of = {(look, category): _ink(look, category, palette) for look in Look for category in set(kinds)}
    plain = [ink_of[look, category] for look in Look for category in kinds]
    dimmed = [_NO_NUMBER if ink == _NO_NUMBER else _PALE for ink in plain]
    return np.array([*plain, *dimmed] or [_NO_NUMBER] * LOOK_COUNT, np.uint8)


def _ink(look: Look, category: int, palette: MapPalette) -> int:
    if look in _UNNUMBERED:
        return _NO_NUMBER
    if look in {Look.SOLD, Look.PRINTED}:
        return _PALE
    return _LIGHT if palette.ink_on(palette.fill(look, category)) == palette.token("seat_light_ink") else _DARK
