"""For whom the house keeps a seat: a letter in its ring, told apart without colour, explained by the legend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import theatre
from tests.gui.seat_map_stage import FREE, look_at, pixels, post, rest, show_map, work
from tests.gui.test_map_legend import WORDS
from widgets.map_legend import MapLegend
from widgets.seat_map import HouseKind, SeatMapTexts, SeatOutOfPlanError
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.seat_bits import BAND_OF, KIND_SHIFT, LOOK_COUNT, Look, house_kind_of
from widgets.seat_map.sprites import draw_sprite
from widgets.theme import Theme

KEPT = 4 | 3 << 3  # blocked by the house
HELD = 1 | 3 << 3
NAMED = [kind for kind in HouseKind if kind]


@pytest.mark.parametrize("size", [10, 14, 24, 48, 96])
@pytest.mark.parametrize("theme", [Theme.light(), Theme.dark()], ids=lambda theme: theme.name)
def test_every_kind_has_a_sprite_of_its_own_within_the_same_ring(qapp: QApplication, theme: Theme, size: int) -> None:
    palette = MapPalette.of(theme, theatre())
    plain = draw_sprite(palette, Look.BLOCKED_HOUSE, 0, 0, size)
    kinds = [draw_sprite(palette, look, 0, 0, size) for look in Look if house_kind_of(look)]
    assert len({sprite.tobytes() for sprite in (plain, *kinds)}) == 1 + len(NAMED)
    for sprite in kinds:
        edge = max(1, round(size * 0.11))
        assert np.array_equal(sprite[:edge], plain[:edge])
        assert 0.01 < float((sprite != plain).mean()) < 0.45


def test_from_afar_the_house_is_one_colour(qapp: QApplication) -> None:
    palette = MapPalette.of(Theme.light(), theatre())
    for size in (2, 5, 9):
        plain = draw_sprite(palette, Look.BLOCKED_HOUSE, 0, 0, size)
        assert all(
            np.array_equal(plain, draw_sprite(palette, look, 0, 0, size)) for look in Look if house_kind_of(look)
        )


def test_a_kind_shows_only_where_the_house_holds_or_blocks_the_seat() -> None:
    for kind in NAMED:
        mode = kind << KIND_SHIFT
        looks = {state: int(BAND_OF[mode * 256 + state]) % LOOK_COUNT for state in range(256)}
        plain = {state: int(BAND_OF[state]) % LOOK_COUNT for state in range(256)}
        changed = {state for state in range(256) if looks[state] != plain[state]}
        assert {KEPT, HELD} <= changed
        assert {plain[state] for state in changed} == {Look.HELD_HOUSE, Look.BLOCKED_HOUSE}
        assert {house_kind_of(Look(looks[state])) for state in changed} == {kind}


def test_kinds_are_a_whole_statement_and_stamp_only_what_changes(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, plan, states=np.full(plan.seat_count, FREE, np.uint8))
    look_at(qtbot, widget, 40, 24)
    states = widget.scene.states
    widget.set_house_kinds(np.array([40, 41, 42]), np.array([5, 5, 1], np.uint8))
    assert states.look_of_seat(40) is Look.FREE, "the kind waits for the state"
    before = widget.stats.copy()
    post(widget, [40, 41], KEPT)
    assert work(qtbot, widget, before).stamped == 2
    assert states.look_of_seat(40) is Look.HOUSE_PRESS
    before = widget.stats.copy()
    widget.set_house_kinds(np.array([40, 41]), np.array([5, 6], np.uint8))
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped) == (0, 1)
    assert states.look_of_seat(41) is Look.HOUSE_SPONSOR
    widget.set_house_kinds(np.array([40]), np.array([200], np.uint8))
    rest(qtbot, widget)
    assert states.look_of_seat(40) is Look.HOUSE_OTHER, "a kind of a newer server"
    assert states.look_of_seat(41) is Look.BLOCKED_HOUSE
    partial = pixels(widget)
    widget._redraw_later()
    rest(qtbot, widget)
    assert np.array_equal(partial, pixels(widget))


def test_kinds_that_do_not_fit_are_refused_whole(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    post(widget, [1], KEPT)
    rest(qtbot, widget)
    widget.set_house_kinds(np.array([1]), np.array([2], np.uint8))
    with pytest.raises(SeatOutOfPlanError):
        widget.set_house_kinds(np.array([1, widget.plan.seat_count]), np.array([3, 3], np.uint8))
    with pytest.raises(ValueError, match="2 kinds do not fit 1 seats"):
        widget.set_house_kinds(np.array([1]), np.array([3, 3], np.uint8))
    assert widget.scene.states.look_of_seat(1) is Look.HOUSE_ARTIST


def test_letters_are_the_hosts(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, plan, states=np.full(plan.seat_count, KEPT, np.uint8))
    widget.set_house_kinds(np.arange(plan.seat_count), np.full(plan.seat_count, 5, np.uint8))
    look_at(qtbot, widget, 40, 30)
    before = pixels(widget)
    widget.set_texts(SeatMapTexts(house_letters=("", "", "", "", "", "報", "", "")))
    rest(qtbot, widget)
    assert (before != pixels(widget)).any()


def test_the_legend_explains_the_kinds_that_there_are(theme: Theme) -> None:
    names = ("", "Promoter", "Artist", "Technical", "Barrier-free", "Press", "Sponsor", "Other")
    legend = MapLegend(theme, replace(WORDS, house_kinds=names))
    legend.show()
    assert not set(names[1:]) & set(legend.explained)
    legend.show_house_kinds(np.array([5, 5, 0, 2], np.uint8))
    assert [name for name in legend.explained if name in names] == ["Artist", "Press"]
    legend.show_far(True)
    assert not set(names[1:]) & set(legend.explained)
    legend.show_far(False)
    legend.show_house_kinds([])
    assert not set(names[1:]) & set(legend.explained)
    plain = MapLegend(theme, WORDS)
    before = plain.explained
    plain.show_house_kinds([5])
    assert plain.explained == before, "a host without words for the kinds"
