"""Categories and states stay apart for people who see colours otherwise, by a computed difference (D10)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.settings import PATTERNS, Settings
from tests.bench.seat_map.plans import theatre
from tests.gui.conftest import QLoop, counter_of, rest
from tests.gui.test_theme import COLOUR_BLINDNESS, contrast, linear, oklab
from widgets.seat_map.palette import MapPalette, luminance
from widgets.seat_map.patterns import LEAST_CONTRAST, PATTERN_COUNT, tone_beside
from widgets.seat_map.seat_bits import Look
from widgets.seat_map.sprites import SHAPES_FROM_PX, draw_sprite
from widgets.theme import Theme

THEMES = [Theme.light().with_patterns(True), Theme.dark().with_patterns(True)]
SEEN_AS = {"all": np.eye(3), **dict(zip(("first", "second", "third"), map(np.array, COLOUR_BLINDNESS), strict=True))}
STATES = [Look.FREE, Look.MINE, Look.HELD_TILL, Look.HELD_FAN, Look.HELD_HOUSE, Look.PAYING_FAN, Look.SOLD,
          Look.PRINTED, Look.USED, Look.BLOCKED]  # fmt: skip


def seen(sprite: npt.NDArray[np.uint32], matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(size, size, 3) in a space where distances are what eyes of this kind tell apart."""
    pixels = {word: oklab(np.clip(matrix @ linear(QColor(word).name()), 0, 1)) for word in np.unique(sprite).tolist()}
    return np.array([[pixels[int(word)] for word in line] for line in sprite], np.float64)


def apart(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Share of a sprite's pixels that are clearly not the same."""
    return float((np.linalg.norm(one - other, axis=2) > 0.06).mean())


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("size", [SHAPES_FROM_PX, 10, 14, 24])
def test_categories_of_one_colour_are_told_apart_by_their_patterns(qapp: QApplication, theme: Theme, size: int) -> None:
    plan = theatre()
    palette = MapPalette.of(theme, plan)
    same = MapPalette(theme, (palette.categories[0],) * PATTERN_COUNT, palette.ground, palette.bed, palette.holders)
    sprites = [seen(draw_sprite(same, Look.FREE, category, 0, size), np.eye(3)) for category in range(PATTERN_COUNT)]
    closest = min(apart(one, other) for one, other in combinations(sprites, 2))
    assert closest >= 0.06
    plain = MapPalette(theme.with_patterns(False), same.categories, same.ground, same.bed, same.holders)
    alike = [draw_sprite(plain, Look.FREE, category, 0, size) for category in (0, 3)]
    assert np.array_equal(alike[0], alike[1]), "without patterns they are one"


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_free_seats_of_all_categories_differ_for_all_eyes(qapp: QApplication, theme: Theme, eyes: str) -> None:
    palette = MapPalette.of(theme, theatre())
    count = len(palette.categories)
    sprites = [seen(draw_sprite(palette, Look.FREE, category, 0, 14), SEEN_AS[eyes]) for category in range(count)]
    assert min(apart(one, other) for one, other in combinations(sprites, 2)) >= 0.2


@pytest.mark.parametrize(
    "theme", [*THEMES, Theme.light(), Theme.dark()], ids=lambda theme: f"{theme.name}-{theme.patterned}"
)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_states_differ_for_all_eyes(qapp: QApplication, theme: Theme, eyes: str) -> None:
    palette = MapPalette.of(theme, theatre())
    for category in (0, 3, 6):
        sprites = [seen(draw_sprite(palette, look, category, 0, 16), SEEN_AS[eyes]) for look in STATES]
        assert min(apart(one, other) for one, other in combinations(sprites, 2)) >= 0.03


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_pattern_is_seen_and_leaves_numbers_as_readable_as_they_were(qapp: QApplication, theme: Theme) -> None:
    palette = MapPalette.of(theme, theatre())
    for color in (*theme.categories, "#FFFFFF", "#000000", "#FFFF00", "#808080"):
        fill = QColor(color)
        ink, tone = palette.ink_on(fill), palette.pattern_tone(fill)
        assert contrast(tone.name(), color) >= LEAST_CONTRAST - 0.01
        assert contrast(ink.name(), tone.name()) >= min(4.5, contrast(ink.name(), color) * 0.7)


def test_a_tone_lies_on_the_side_away_from_the_ink() -> None:
    assert luminance(tone_beside(QColor("#204080"), QColor("white"), luminance)) < luminance(QColor("#204080"))
    assert luminance(tone_beside(QColor("#A0C0FF"), QColor("black"), luminance)) > luminance(QColor("#A0C0FF"))


def test_patterns_are_chosen_in_the_menu_kept_and_shown_at_once(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            window = showcase.console.window
            assert window.screens.counter.map.scene.palette.theme == theme
            window.patterns_chosen.emit(True)
            await rest(showcase)
            assert window.screens.counter.map.scene.palette.theme.patterned
            assert showcase.console.bindings._settings.get(PATTERNS) is True
            window.theme_chosen.emit("dark")
            await rest(showcase)
            assert window.theme.is_dark
            assert window.theme.patterned

    qloop.run(scene())


def test_the_setting_is_off_until_somebody_wants_it() -> None:
    assert Settings().get(PATTERNS) is False
