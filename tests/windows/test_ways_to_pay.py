"""A clerk takes money in every way there is: real windows, the real API, a real line to a terminal (R24, R33).

What the windows say is compared with what the booking system has, and with what the terminal booked.
"""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.sale import Sale, SaleState
from app.core.settlement import CHARGES
from backend_client.wire import OperationKind, OperationStatus, Order, OrderStatus
from tests.end2end.processes import check_invariants
from tests.gui.conftest import calm, until
from tests.gui.money_hands import mean_it, opened, other_than, press
from tests.server.box_office import ADULT_PRICE
from tests.windows.shared import House
from tests.windows.stage import NOWHERE, Till

Paid = list[tuple[OperationKind, OperationStatus]]
DONE = OperationStatus.SUCCEEDED
BACK = {OperationKind.REFUND, OperationKind.VOID}
DECIDED = {DONE, OperationStatus.DECLINED}


async def order_of(till: Till, sale: Sale | None = None) -> Order:
    """What the booking system has of a sale, of the one at the counter unless told."""
    order = (sale or till.sale).order
    assert order is not None
    return await till.desk.client.order(order.order_id)


async def paid_of(till: Till, sale: Sale) -> tuple[OrderStatus, Paid]:
    """The same, in short."""
    order = await order_of(till, sale)
    return order.status, [(one.kind, one.status) for one in order.operations]


async def booked(till: Till) -> list[int]:
    """Charges of this test that stand at the terminal, in minor units."""
    rows = (await till.simulator.transactions())[till.booked_before :]
    return [row["amount_minor"] for row in rows if row["original_trace"] is None and not row["reversed"]]


def is_settled(order: Order) -> bool:
    """Every answer is there, and of what was charged only what pays the order stands."""
    taken = sum(one.amount_minor for one in order.operations if one.kind in CHARGES and one.status is DONE)
    back = sum(one.amount_minor for one in order.operations if one.kind in BACK and one.status is DONE)
    return all(one.status in DECIDED for one in order.operations) and taken - back == order.amount_minor


async def asked(till: Till, what: str) -> int:
    """How often the terminal was asked for `payments`, `refunds`, `reversals`, in all."""
    return int((await till.simulator.ask(do="status"))[f"{what}_asked"])


async def pay_part(till: Till, text: str, *, card: bool) -> None:
    """A part, typed, by card or in cash that is counted exactly."""
    await calm(till.panel.sale_page.part)
    till.panel.sale_page.part.click()
    dialog = await opened()
    dialog.amount.setText(text)
    await until((dialog.card if card else dialog.cash).isEnabled, "the part to be right")
    (dialog.card if card else dialog.cash).click()
    if not card:
        cash = await other_than(dialog)
        cash.tendered.setText(text)
        await until(cash.take.isEnabled, "the cash to be enough")
        cash.take.click()


def test_cash_with_change_then_cards_in_every_mixture(house: House) -> None:
    async def scene(till: Till) -> None:
        await till.hold(2)
        await calm(till.panel.sale_page.cash)
        till.panel.sale_page.cash.click()
        cash = await opened()
        QTest.keyClicks(cash.tendered, "100")
        await press(Qt.Key.Key_Return)
        await till.reach(SaleState.DONE)
        assert till.sale.payment is not None
        assert till.sale.payment.change_minor == 10_000 - 2 * ADULT_PRICE
        assert await paid_of(till, till.sale) == (OrderStatus.CONFIRMED, [(OperationKind.CASH, DONE)])
        await till.next_customer()

        await till.sell_card(2)
        assert await paid_of(till, till.sale) == (OrderStatus.CONFIRMED, [(OperationKind.SALE, DONE)])
        assert await booked(till) == [2 * ADULT_PRICE]
        await till.next_customer()

        await till.hold(2)
        await pay_part(till, "30", card=False)
        await until(lambda: till.sale.paid_minor == 3_000, "the cash part")
        await till.rest()
        await calm(till.panel.sale_page.card)
        till.panel.sale_page.card.click()
        await till.reach(SaleState.DONE)
        status, paid = await paid_of(till, till.sale)
        assert (status, paid) == (OrderStatus.CONFIRMED, [(OperationKind.CASH, DONE), (OperationKind.SALE, DONE)])
        assert await booked(till) == [2 * ADULT_PRICE, 2 * ADULT_PRICE - 3_000]
        await till.next_customer()

        await till.hold(3)
        for text, so_far in (("50", 5_000), ("40", 9_000)):
            await pay_part(till, text, card=True)
            await until(lambda wanted=so_far: till.sale.paid_minor == wanted, "a card's part")  # type: ignore[misc]
            await till.rest()
        till.panel.sale_page.card.click()
        await till.reach(SaleState.DONE)
        assert await paid_of(till, till.sale) == (OrderStatus.CONFIRMED, [(OperationKind.SALE, DONE)] * 3)
        assert (await booked(till))[2:] == [5_000, 4_000, 3_000]

    house.play(scene, 150)


@pytest.mark.parametrize("was_booked", [True, False])
def test_cash_instead_of_a_card_nobody_can_tell_about(house: House, *, was_booked: bool) -> None:
    """The card goes back if it was charged after all; the buyer pays once (R25)."""

    async def scene(till: Till) -> None:
        asked_before = await asked(till, "payments")
        await till.sell_card(1)
        await till.next_customer()
        await till.hold(2)
        name = "line-lost-after-approval" if was_booked else "line-lost-before-result"
        await till.simulator.ask(do="scenario", name=name)
        till.panel.sale_page.card.click()
        await until(lambda: till.store.terminal_progress not in {"", "connecting"}, "the terminal")
        till.terminal_line.point_at(NOWHERE)  # the line of this payment goes on until the terminal cuts it
        await until(lambda: till.state is SaleState.UNKNOWN, "an unclear payment", 40)
        page = till.panel.unknown_page
        await calm(page.cash)
        page.cash.click()
        cash = await opened()
        cash.tendered.setText("80")
        await until(cash.take.isEnabled, "enough cash")
        cash.take.click()
        await till.reach(SaleState.DONE)
        order = await order_of(till)
        assert order.status is OrderStatus.CONFIRMED
        till.find_terminal()
        async with asyncio.timeout(60):
            while not is_settled(order) or await booked(till) != [ADULT_PRICE]:
                await asyncio.sleep(0.1)
                order = await till.desk.client.order(order.order_id)
        assert (order.status, order.paid_minor) == (OrderStatus.CONFIRMED, 2 * ADULT_PRICE)
        assert await asked(till, "payments") == asked_before + 2, "never charged again"

    house.play(scene, 150)


def test_a_buyer_who_leaves_in_the_middle_gets_both_parts_back(house: House) -> None:
    async def scene(till: Till) -> None:
        await till.hold(2)
        await pay_part(till, "20", card=False)
        await until(lambda: till.sale.paid_minor == 2_000, "the cash part")
        await till.rest()
        await pay_part(till, "30", card=True)
        await until(lambda: till.sale.paid_minor == 5_000, "the card part")
        await till.rest()
        await mean_it(till.panel.sale_page.release)
        await till.reach(SaleState.RETURNING)
        sale = till.sale
        for _press in range(2):
            give = till.panel.returning_page.give
            await calm(give)
            give.click()
            await till.rest()
        assert till.state is SaleState.EXPIRED
        assert till.panel.returning_page.lines == ["✓ €20.00 in cash: back", "✓ €30.00 to the card: back"]
        status, paid = await paid_of(till, sale)
        assert (status, paid[2:]) == (OrderStatus.CANCELLED, [(OperationKind.REFUND, DONE)] * 2)
        assert await booked(till) == []
        assert await check_invariants(house.stack.dsn) == []

    house.play(scene, 150)
