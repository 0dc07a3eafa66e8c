"""The terminal's end of day while the booking system is away: what is read, and that it is closed once (R27)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.core.sale import SaleState
from app.screens.dialogs import AskDialog
from app.showcase import Showcase
from backend_client.testing import Fault
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, state_of, until
from widgets.theme import Theme


async def close_day(showcase: Showcase) -> None:
    console = showcase.console
    console.bindings.sale.payments.close_day()
    await until(lambda: isinstance(QApplication.activeModalWidget(), AskDialog), "the question")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, AskDialog)
    dialog.accept()
    await until(lambda: "close-day" not in console.deeds.running, "the end of the day")
    await rest(showcase)


def test_a_closed_day_that_is_not_told_yet_says_so_and_is_not_closed_again(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            panel = panel_of(showcase)
            await hold(showcase, 1)
            await calm(panel.sale_page.card)
            panel.sale_page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            await rest(showcase)
            showcase.server.fail(Fault.BUSY, "/terminal-totals", times=500)
            for _again in range(2):
                await close_day(showcase)
                assert panel.banner.title == "The terminal's day is closed: €89.00"
                assert panel.banner.detail.endswith("Do not close the day again.")
            showcase.server.heal()
            await close_day(showcase)
            assert panel.banner.title == "The terminal's day is closed: €89.00"
            assert panel.banner.detail == "It agrees with the booking system."

    qloop.run(scene(), 100)
