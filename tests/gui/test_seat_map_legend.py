"""The legend explains every look and filters the map."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import CATEGORIES, theatre
from tests.gui.seat_map_stage import show_map
from widgets.seat_map import Legend, LegendTexts
from widgets.theme import Theme


def shown_legend(qtbot: QtBot) -> Legend:
    legend = Legend(Theme.light())
    qtbot.addWidget(legend)
    legend.set_plan(theatre(), ["45.00", "39.00"])
    return legend


def test_every_category_stands_in_the_legend_with_its_note(qtbot: QtBot) -> None:
    legend = shown_legend(qtbot)
    buttons = [button for button in legend.findChildren(QToolButton) if not button.isHidden()]
    assert [button.text() for button in buttons] == ["Front  45.00", "Stalls  39.00", "Side", "Circle", "Balcony"]
    assert all(button.accessibleName() and not button.icon().isNull() for button in buttons)


def test_each_look_is_drawn_beside_its_word(qtbot: QtBot) -> None:
    legend = shown_legend(qtbot)
    pictures = [label for label in legend.findChildren(QLabel) if not label.pixmap().isNull()]
    drawn = {bytes(label.pixmap().toImage().constBits()) for label in pictures}
    assert len(pictures) == len(drawn) == 13
    assert {label.accessibleName() for label in pictures} >= {"Yours", "Printed", "Wheelchair"}


def test_choosing_categories_puts_the_others_back_on_the_map(qtbot: QtBot) -> None:
    legend = shown_legend(qtbot)
    widget = show_map(qtbot)
    legend.categories_chosen.connect(lambda _: widget.dim_categories(legend.hidden_categories()))
    front, stalls = legend.findChildren(QToolButton)[:2]
    with qtbot.waitSignal(legend.categories_chosen) as blocker:
        front.click()
    assert blocker.args == [frozenset({0})]
    dimmed = widget.scene.states.dimmed[widget.scene.grid.slot_of_seat]
    assert (dimmed == (widget.plan.category != 0)).all()
    stalls.click()
    assert legend.hidden_categories() == frozenset(range(2, len(CATEGORIES)))
    front.click()
    stalls.click()
    assert legend.hidden_categories() == frozenset()
    assert not widget.scene.states.dimmed.any()


def test_words_and_theme_may_change_at_run_time(qtbot: QtBot) -> None:
    legend = shown_legend(qtbot)
    legend.set_texts(LegendTexts(name="Zeichen", sold="Verkauft"))
    legend.set_theme(Theme.dark())
    assert legend.accessibleName() == "Zeichen"
    assert "Verkauft" in [label.text() for label in legend.findChildren(QLabel)]
