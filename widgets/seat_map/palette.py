"""The map's colours, derived once from a theme and a plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from widgets.seat_map.patterns import tone_beside
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.seat_bits import Look, SeatHolder
from widgets.seat_map.texts import HOUSE_LETTERS
from widgets.theme import Theme

CLOSED_KEEPS = 0.34
HELD_KEEPS = 0.30
SOLD_KEEPS = 0.16
DIM_KEEPS = 0.22
SMALL_HELD_KEEPS, SMALL_SOLD_KEEPS = 0.40, 0.80
_SOLD_LOOKS = frozenset({Look.SOLD, Look.PRINTED, Look.USED})
_HEX = re.compile(r"#[0-9A-Fa-f]{6}")


def mix(color: QColor, ground: QColor, keeps: float) -> QColor:
    """Colour over ground; `keeps` is the colour's share, 0…1."""
    return QColor(
        round(color.red() * keeps + ground.red() * (1 - keeps)),
        round(color.green() * keeps + ground.green() * (1 - keeps)),
        round(color.blue() * keeps + ground.blue() * (1 - keeps)),
    )


def luminance(color: QColor) -> float:
    """Relative luminance after WCAG 2.2, 0…1."""
    channels = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@dataclass(frozen=True, slots=True)
class MapPalette:
    """Colours of one theme for one plan. `categories[category_no]` is the fill of a free seat.

    `house_letters[kind]` stands on a seat that the house keeps back for that kind.
    """

    theme: Theme
    categories: tuple[QColor, ...]
    ground: QColor
    bed: QColor
    holders: tuple[QColor, ...]
    house_letters: tuple[str, ...] = HOUSE_LETTERS

    @classmethod
    def of(cls, theme: Theme, plan: SeatMapPlan, letters: Sequence[str] = HOUSE_LETTERS) -> MapPalette:
        """Colours of the plan where it names them, of the theme where it does not."""
        categories = tuple(
            QColor(color) if _HEX.fullmatch(color) else theme.category_color(category_no)
            for category_no, color in enumerate(plan.category_color)
        )
        holders = tuple(theme.map_color(token) for token in ("sold_ink", "till", "fan", "house"))
        return cls(theme, categories, theme.map_color("ground"), theme.map_color("bed"), holders, tuple(letters))

    @classmethod
    def without_plan(cls, theme: Theme, letters: Sequence[str] = HOUSE_LETTERS) -> MapPalette:
        """For a legend: one category, in the colour of muted text."""
        holders = tuple(theme.map_color(token) for token in ("sold_ink", "till", "fan", "house"))
        ground, bed = theme.map_color("ground"), theme.map_color("bed")
        return cls(theme, (theme.color("text_muted"),), ground, bed, holders, tuple(letters))

    def token(self, name: str) -> QColor:
        """A map colour of the theme."""
        return self.theme.map_color(name)

    def fill(self, look: Look, category_no: int) -> QColor:
        """Fill of a seat's body."""
        color = self.categories[category_no]
        if look in {Look.FREE, Look.MINE}:
            return color
        if look is Look.CLOSED:
            return mix(color, self.bed, CLOSED_KEEPS)
        if holder_of(look) is not None:
            return mix(color, self.bed, HELD_KEEPS)
        if look is Look.BLOCKED:
            return self.token("blocked")
        return mix(color, self.token("sold"), SOLD_KEEPS)

    def small(self, look: Look, category_no: int) -> QColor:
        """The one colour of a seat too small for rings: only a free one has a colour at its full strength.

        A holder's own colour is some category's to somebody's eyes; faded, it is no free seat's to anybody's.
        """
        if look is Look.MINE:
            return self.token("mine")
        holder = holder_of(look)
        if holder is not None:
            return mix(self.holders[holder], self.bed, SMALL_HELD_KEEPS)
        if look in _SOLD_LOOKS:
            return mix(self.token("sold"), self.bed, SMALL_SOLD_KEEPS)
        return self.fill(look, category_no)

    def ink_on(self, fill: QColor) -> QColor:
        """Light or dark ink, whichever reads better on the fill."""
        light, dark = self.token("seat_light_ink"), self.token("seat_dark_ink")
        ground = luminance(fill) + 0.05
        return light if (luminance(light) + 0.05) / ground >= ground / (luminance(dark) + 0.05) else dark

    def pattern_tone(self, fill: QColor) -> QColor:
        """The tone in which a category's pattern is drawn on a fill."""
        return tone_beside(fill, self.ink_on(fill), luminance)

    def dimmed(self, color: QColor) -> QColor:
        """The colour of a seat that a filter puts back."""
        return mix(color, self.bed, DIM_KEEPS)


def holder_of(look: Look) -> SeatHolder | None:
    """Who holds a seat of this look, None when nobody does."""
    if Look.HELD <= look <= Look.HELD_HOUSE:
        return SeatHolder(look - Look.HELD)
    if Look.PAYING <= look <= Look.PAYING_HOUSE:
        return SeatHolder(look - Look.PAYING)
    # Whether the house holds a seat or blocks it for itself, it is the house's: one look, unlike a blocked seat's.
    return SeatHolder.HOUSE if look >= Look.BLOCKED_HOUSE else None


def to_word(color: QColor) -> np.uint32:
    """A colour as a word of QImage.Format_RGB32."""
    return np.uint32(color.rgb() & 0xFFFFFFFF)


def words(colors: list[QColor]) -> npt.NDArray[np.uint32]:
    """Colours as words of QImage.Format_RGB32."""
    return np.array([to_word(color) for color in colors], np.uint32)
