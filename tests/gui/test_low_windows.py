"""The counter in the lowest window that it allows: nothing lies on anything else, and everything can be reached."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

from app.screens.words import advice_for
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, rest
from widgets.focus import take_focus
from widgets.panel_scroll import PanelScroll
from widgets.theme import Theme


def parts_of(page: QWidget) -> list[QWidget]:
    """What stands below each other in the panel."""
    own = [part for part in page.findChildren(QWidget) if part.parentWidget() is page]
    return [part for part in own if part.isVisible() and part.height() > 1]


@pytest.mark.parametrize("size", [(820, 500), (1024, 700), (1280, 800)], ids=lambda size: "x".join(map(str, size)))
def test_nothing_of_the_sale_lies_on_anything_else(
    qloop: QLoop, theme: Theme, tmp_path: Path, size: tuple[int, int]
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window, panel = showcase.console.window, panel_of(showcase)
            window.resize(*size)
            await hold(showcase, 3)
            panel.tell(advice_for("answer-unknown"))
            panel.parked_head.setText("1 sale put aside: F12 opens it")
            panel.parked_head.show()
            await rest(showcase)
            page, around = panel.sale_page, panel.findChild(PanelScroll)
            for one, other in combinations(parts_of(page), 2):
                assert not one.geometry().intersects(other.geometry()), (one, other)
            for part in (page.total, page.card, page.exact_cash, page.part, page.release):
                assert part.height() >= part.minimumSizeHint().height()
            assert isinstance(around, PanelScroll)
            is_low = around.verticalScrollBar().maximum() > 0
            assert is_low is (size != (1280, 800))
            for button in (page.release, page.card, panel.banner.findChildren(QWidget)[0]):
                take_focus(button)
                around.show_part(button)
                middle = button.mapTo(around, button.rect().center())
                assert around.rect().contains(middle)

    qloop.run(scene(), 40)


def test_the_window_is_no_larger_than_the_screen_and_no_smaller_than_it_can_be(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            window.resize(4000, 3000)
            window.fit_to_screen()
            room = window.screen().availableGeometry().size()
            assert window.height() <= max(room.height() - 40, window.minimumHeight())
            assert window.width() <= max(room.width(), window.minimumWidth())
            assert window.width() >= window.minimumWidth()

    qloop.run(scene(), 40)
