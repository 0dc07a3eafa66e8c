"""What a clerk meets on a bad day: the API is away in each state of a sale, languages change, nothing is set up (R24).

No click, no seat and no money is lost: the sale goes on where it stood, and is paid once.
"""

from __future__ import annotations

import pytest

from app.core.sale import SaleState
from backend_client.wire import OrderStatus
from tests.gui.conftest import calm, until
from tests.server.box_office import ADULT_PRICE
from tests.windows.shared import House
from tests.windows.stage import Till
from tests.windows.test_ways_to_pay import booked, order_of


@pytest.mark.parametrize("when", ["before the hold", "while held", "at the terminal"])
def test_an_api_that_goes_away_and_comes_back_loses_no_sale(house: House, when: str) -> None:
    async def scene(till: Till) -> None:
        seats = await till.pick(2)
        if when == "before the hold":
            await till.lose(till.api_line)
            till.panel.sale_page.hold.click()
            await until(lambda: bool(till.said), "the refusal", 40)
            await till.rest()
            assert [pick.seat_no for pick in till.sale.picks] == seats
            till.find_api()
        await calm(till.panel.sale_page.hold)
        till.panel.sale_page.hold.click()
        await till.reach(SaleState.HELD)
        page = till.panel.sale_page
        await calm(page.card)
        if when == "while held":
            await till.lose(till.api_line)
            page.card.click()
            await until(lambda: bool(till.said), "the refusal", 40)
            await till.rest()
            assert await booked(till) == []
            till.find_api()
            await calm(page.card)
        page.card.click()
        if when == "at the terminal":
            await until(lambda: till.store.terminal_progress not in {"", "connecting"}, "the terminal")
            await till.lose(till.api_line)
            await until(lambda: till.state is not SaleState.PAYING, "an end of the payment", 60)
            assert till.state is SaleState.UNKNOWN
            till.find_api()
        await till.reach(SaleState.DONE, within_s=60)
        assert (await order_of(till)).status is OrderStatus.CONFIRMED
        assert await booked(till) == [2 * ADULT_PRICE]

    house.play(scene, 150)


def test_language_and_colours_change_and_somebody_else_comes_in_the_middle_of_a_sale(house: House) -> None:
    async def scene(till: Till) -> None:
        await till.hold(2)
        for language, colours in (("ar", "dark"), ("en", "light")):
            till.console.window.language_chosen.emit(language)
            till.console.window.theme_chosen.emit(colours)
            await till.rest()
            assert till.state is SaleState.HELD
            assert len([line for line in till.panel.sale_page.lines if line.isVisible()]) == 2
        hold = till.sale.hold
        till.go("orders")
        await till.rest()
        till.go("counter")
        await till.rest()
        assert till.screens.current is till.screens.counter
        await calm(till.panel.sale_page.card)
        till.panel.sale_page.card.click()
        till.console.window.language_chosen.emit("ja")
        till.go("orders")
        await until(lambda: till.state is SaleState.DONE, "the sale, behind another screen", 40)
        await till.rest()
        assert till.sale.hold is not None
        assert hold is not None
        assert till.sale.hold.hold_id == hold.hold_id
        assert await booked(till) == [2 * ADULT_PRICE]
        till.console.window.language_chosen.emit("en")
        await till.rest()

    house.play(scene, 120)


def test_without_a_terminal_cash_is_taken_and_a_card_is_refused_in_words(house: House) -> None:
    async def scene(till: Till) -> None:
        devices = till.desk.terminal, till.desk.printer
        till.desk.terminal, till.desk.printer = None, None
        await till.hold(1)
        await calm(till.panel.sale_page.exact_cash)
        till.panel.sale_page.exact_cash.click()
        await till.reach(SaleState.PAID)
        assert (await order_of(till)).status is OrderStatus.CONFIRMED
        assert "printer" in till.said.lower()
        till.desk.terminal, till.desk.printer = devices

    house.play(scene, 120)
