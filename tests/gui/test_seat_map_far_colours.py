"""Where seats are too small for shapes, colour alone tells what counts, to all eyes: CIEDE2000 of 5 and more (D10)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from tests.bench.seat_map.plans import theatre
from tests.gui.ciede2000 import Floats, difference, lab
from tests.gui.test_seat_map_patterns import SEEN_AS
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.seat_bits import Look
from widgets.seat_map.sprites import draw_sprite
from widgets.theme import Theme

Words = npt.NDArray[np.uint32]
CLEAR = 5.0
"""Told apart at a glance and side by side; 1 is just seen, 2.3 is seen by most."""
THEMES = [Theme.light(), Theme.dark()]
HELD = [Look.HELD_TILL, Look.HELD_FAN, Look.HELD_HOUSE, Look.PAYING_TILL, Look.PAYING_FAN, Look.BLOCKED_HOUSE]
GONE = [*HELD, Look.SOLD, Look.PRINTED, Look.USED, Look.BLOCKED, Look.CLOSED]


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_measure_gives_the_published_differences(
    one: tuple[float, float, float], other: tuple[float, float, float], wanted: float
) -> None:
    assert difference(np.array(one), np.array(other)) == pytest.approx(wanted, abs=1e-4)
    assert difference(np.array(other), np.array(one)) == pytest.approx(wanted, abs=1e-4)


def small(palette: MapPalette, look: Look, eyes: str) -> dict[int, Floats]:
    """How seats of a look are seen from afar, by category."""
    return {no: lab(palette.small(look, no), SEEN_AS[eyes]) for no in range(len(palette.categories))}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_no_seat_that_is_gone_looks_like_a_free_one_of_any_category(
    qapp: QApplication, theme: Theme, eyes: str
) -> None:
    palette = MapPalette.of(theme, theatre())
    free = small(palette, Look.FREE, eyes)
    close = [
        (look.name, category, other, round(apart, 1))
        for look in GONE
        for category, gone in small(palette, look, eyes).items()
        for other, seat in free.items()
        if (apart := difference(gone, seat)) < CLEAR
    ]
    assert close == []


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_mine_is_like_nothing_else(qapp: QApplication, theme: Theme, eyes: str) -> None:
    palette = MapPalette.of(theme, theatre())
    mine = lab(palette.small(Look.MINE, 0), SEEN_AS[eyes])
    others = [seat for look in (Look.FREE, *GONE) for seat in small(palette, look, eyes).values()]
    assert min(difference(mine, seat) for seat in others) >= CLEAR


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_held_sold_and_blocked_differ_and_none_vanishes_in_its_bed(qapp: QApplication, theme: Theme, eyes: str) -> None:
    palette = MapPalette.of(theme, theatre())
    bed = lab(palette.bed, SEEN_AS[eyes])
    sold, blocked = (lab(palette.small(look, 0), SEEN_AS[eyes]) for look in (Look.SOLD, Look.BLOCKED))
    for look in (Look.HELD_TILL, Look.HELD_FAN, Look.HELD_HOUSE):
        held = lab(palette.small(look, 0), SEEN_AS[eyes])
        assert difference(held, sold) >= CLEAR
        assert difference(held, bed) >= CLEAR
    assert difference(sold, bed) >= CLEAR
    assert difference(sold, blocked) >= CLEAR


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", SEEN_AS)
def test_price_categories_differ_by_colour_and_with_their_patterns_on(
    qapp: QApplication, theme: Theme, eyes: str
) -> None:
    """All pairs, so neighbours in price too; with patterns the mean over a seat's pixels, place by place."""
    palette = MapPalette.of(theme, theatre())
    plain = small(palette, Look.FREE, eyes)
    assert min(difference(one, other) for one, other in combinations(plain.values(), 2)) >= 2 * CLEAR
    patterned = MapPalette.of(theme.with_patterns(True), theatre())
    for category in range(len(palette.categories) - 1):
        for worn in (palette, patterned):
            one, other = (draw_sprite(worn, Look.FREE, no, 0, 14) for no in (category, category + 1))
            assert _mean_difference(one, other, eyes) >= 2 * CLEAR


def _mean_difference(one: Words, other: Words, eyes: str) -> float:
    """Over the middle of two sprites, pixel by pixel."""
    known: dict[int, Floats] = {}

    def seen(word: int) -> Floats:
        if word not in known:
            known[word] = lab(QColor(word), SEEN_AS[eyes])
        return known[word]

    pairs = zip(one[4:10, 4:10].ravel().tolist(), other[4:10, 4:10].ravel().tolist(), strict=True)
    return float(np.mean([difference(seen(a), seen(b)) for a, b in pairs]))
