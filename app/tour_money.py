"""Steps of a tour about money beyond the straight way: parts, a buyer who leaves, the terminal's day, clearing up."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core.sale import SaleState
from app.screens.dialogs import AskDialog, CashDialog
from app.screens.part_dialog import PartDialog
from widgets.twice_button import TwiceButton

if TYPE_CHECKING:
    from app.tour import Tour
    from app.tour_plan import TourStep

WAIT_S: Final = 30.0
_BUSY = frozenset({"part", "card", "cash", "print", "release", "return-money", "restore", "start"})


async def split(tour: Tour, step: TourStep) -> None:
    """A part in cash, the rest by card, printed."""
    line = await tour.hold(step)
    dialog = await _open_part(tour)
    dialog.cash.click()
    await tour.until(lambda: isinstance(_modal(), CashDialog), "the cash dialog")
    cash = _modal()
    if cash is not None:
        QTest.keyClick(cash, Qt.Key.Key_Return)
    await _part_paid(tour, "the part in cash")
    await tour.take_picture("part-paid")
    tour.note(line, "part-paid")
    await tour.press(tour.counter.panel.sale_page.card)
    await tour.until_paid_and_printed(line)


async def leave(tour: Tour, step: TourStep) -> None:
    """A part by card; then the buyer leaves, and the money goes back."""
    line = await tour.hold(step)
    dialog = await _open_part(tour)
    dialog.card.click()
    await _part_paid(tour, "the part by card")
    tour.note(line, "part-paid")
    await _mean(tour, tour.counter.panel.sale_page.release)
    await tour.until(lambda: tour.state() is SaleState.RETURNING, "the money to go back")
    await tour.take_picture("money-back")
    tour.note(line, "returning")
    await _give_back(tour)
    tour.note(line, "returned")


async def close_day(tour: Tour, step: TourStep) -> None:
    """The terminal's end of day."""
    del step
    tour.console.bindings.sale.payments.close_day()
    await tour.until(lambda: isinstance(_modal(), AskDialog), "the question about the day")
    question = _modal()
    if isinstance(question, AskDialog):
        question.yes.click()
    await tour.until(lambda: not tour.console.deeds.is_running("close-day"), "the day to be closed")
    tour.reach("day-closed")


async def settle(tour: Tour) -> None:
    """Bring what the journal held to its end: wait for what is asked, pay what is left by card, give back what must."""
    console, desk = tour.console, tour.console.desk
    await tour.until(lambda: not _BUSY & console.deeds.running and not desk.resolving, "the open sales to be resumed")
    await tour.until(lambda: tour.state() not in {SaleState.UNKNOWN, SaleState.PAYING}, "the payment to be known")
    sale = tour.sale
    if sale is not None and not sale.ended:
        console.window.screens.go_to(console.window.screens.counter)
    if sale is not None and sale.payable:
        await tour.press(tour.counter.panel.sale_page.card)
        await tour.until(lambda: tour.state() in {SaleState.DONE, SaleState.PAID}, "the rest to be paid")
    if tour.state() is SaleState.RETURNING:
        await _give_back(tour)
    await _all_followed(tour)


async def _all_followed(tour: Tour) -> None:
    """Until the journal has nothing open about the terminal: attempts, money back, ends of day."""
    journal = tour.console.desk.journal
    end = monotonic() + WAIT_S
    while await journal.unsettled_attempts() or await journal.open_days():
        if monotonic() > end:
            raise TimeoutError("the terminal's open conversations are not settled")
        await asyncio.sleep(0.05)


async def _open_part(tour: Tour) -> PartDialog:
    await tour.press(tour.counter.panel.sale_page.part)
    await tour.until(lambda: isinstance(_modal(), PartDialog), "the dialog of a part")
    dialog = _modal()
    if not isinstance(dialog, PartDialog):
        raise TypeError("another dialog came between")
    return dialog


async def _part_paid(tour: Tour, what: str) -> None:
    def paid() -> bool:
        sale = tour.sale
        return sale is not None and sale.state is SaleState.HELD and sale.paid_minor > 0

    await tour.until(lambda: paid() and not _BUSY & tour.console.deeds.running, what)


async def _mean(tour: Tour, button: TwiceButton) -> None:
    await tour.press(button)
    await tour.until(lambda: button.means_it, "the question to be answered")
    await tour.press(button)


async def _give_back(tour: Tour) -> None:
    page = tour.counter.panel.returning_page
    while tour.state() is SaleState.RETURNING:
        await tour.until(lambda: not _BUSY & tour.console.deeds.running, "the counter to be free")
        if page.give.isHidden() or tour.state() is not SaleState.RETURNING:
            break
        await tour.press(page.give)
    await tour.until(lambda: not _BUSY & tour.console.deeds.running, "the money to be back")


def _modal() -> QWidget | None:
    return QApplication.activeModalWidget()
