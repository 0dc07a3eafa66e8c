"""A person who goes in the middle of a sale, and another who comes: what the terminal did meanwhile counts (R31)."""

from __future__ import annotations

import pytest

from app.core.sale import SaleState
from backend_client.wire import OrderStatus
from tests.gui.conftest import calm, until
from tests.gui.money_hands import opened
from tests.windows.shared import House
from tests.windows.stage import Till
from tests.windows.test_restarts import at_the_terminal, sell_on
from tests.windows.test_ways_to_pay import booked, is_settled, order_of, pay_part


@pytest.mark.parametrize(
    ("when", "between"), [("held", ""), ("at the terminal", ""), ("at the terminal", "omar"), ("part paid", "omar")]
)
def test_somebody_signs_out_in_the_middle_and_another_goes_on(house: House, when: str, between: str) -> None:
    """What the terminal booked meanwhile pays the sale; who may not sell, or nobody, never has it taken back."""

    async def scene(till: Till) -> None:
        await till.hold(2)
        if when == "part paid":
            await pay_part(till, "30", card=False)
            await until(lambda: till.sale.paid_minor == 3_000, "the part")
            await till.rest()
        if when == "at the terminal":
            await at_the_terminal(till)
        till.console.window.sign_out_requested.emit()
        dialog = await opened()
        dialog.yes.click()
        await until(lambda: till.store.session is None, "nobody")
        await until(lambda: "sign-out" not in till.console.deeds.running, "the sign-out")
        if between:
            if when == "at the terminal":
                await until(lambda: till.state is SaleState.UNKNOWN, "the terminal's word, which nobody took", 20)
            await till.sign_in(between)
            await till.desk.sleep(1.0)  # it is asked about three times meanwhile
            await till.sign_out_for_sure()
        await till.sign_in("sofia")
        await until(
            lambda: till.state not in {None, SaleState.PAYING, SaleState.UNKNOWN}, f"the sale: {till.state}", 60
        )
        await till.rest()
        till.go("counter")
        if till.state is SaleState.HELD:
            await sell_on(till)
        elif till.state is SaleState.PAID:
            await calm(till.panel.outcome_page.print_again)
            till.panel.outcome_page.print_again.click()
            await till.reach(SaleState.DONE)
        order = await order_of(till)
        assert order.status is OrderStatus.CONFIRMED
        assert is_settled(order)
        assert len(await booked(till)) == 1

    house.play(scene)
