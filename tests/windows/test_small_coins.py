"""Money of three decimals and of none, ticket by ticket; and hands that press everything twice (D6, P1)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core.sale import SaleState
from backend_client.wire import OperationKind, OperationStatus, OrderStatus, TicketStatus
from tests.gui.conftest import calm, until
from tests.gui.money_hands import modal, opened
from tests.server.box_office import ADULT_PRICE
from tests.windows.shared import House
from tests.windows.stage import LEFT, NONE, Till
from tests.windows.test_money_back import dialog_about, open_found, tickets_of
from tests.windows.test_ways_to_pay import asked, booked, order_of, paid_of
from widgets.async_button import AsyncButton

DONE = OperationStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("currency", "tendered", "change_minor", "one", "rest"),
    [("KWD", "12.500", 500, "KWD 4.000", "KWD 8.000"), ("JPY", "15000", 3_000, "¥4,000", "¥8,000")],
)
def test_tickets_in_a_currency_of_three_decimals_or_none_are_paid_and_given_back_one_by_one(
    house: House, currency: str, tendered: str, change_minor: int, one: str, rest: str
) -> None:
    async def scene(till: Till) -> None:
        await till.hold(3)
        await calm(till.panel.sale_page.cash)
        till.panel.sale_page.cash.click()
        cash = await opened()
        cash.tendered.setText(tendered)
        await until(cash.take.isEnabled, f"{tendered} to be enough")
        cash.take.click()
        await till.reach(SaleState.DONE)
        sale = till.sale
        assert sale.payment is not None
        assert (sale.total_minor, sale.payment.change_minor) == (3 * ADULT_PRICE, change_minor)
        await till.next_customer()

        await open_found(till, sale)
        dialog = await dialog_about(till)
        dialog.tickets[1].click()
        assert one in spoken(dialog), spoken(dialog)
        await give_back(till, dialog)
        assert (await order_of(till, sale)).status is OrderStatus.PARTLY_REFUNDED
        assert sorted(await tickets_of(till, sale)).count(TicketStatus.VOID) == 1

        dialog = await dialog_about(till)
        for ticket in dialog.tickets:
            if ticket.isEnabled():
                ticket.click()
        assert rest in spoken(dialog), spoken(dialog)
        await give_back(till, dialog)
        order = await order_of(till, sale)
        assert order.status is OrderStatus.REFUNDED
        back = [one.amount_minor for one in order.operations if one.kind is OperationKind.REFUND and one.status is DONE]
        assert back == [ADULT_PRICE, 2 * ADULT_PRICE]

    house.play(scene, name="sofia", currency=currency)


def spoken(dialog: QWidget) -> str:
    """Everything that the dialog says, with plain blanks."""
    texts = [child.text() for child in dialog.findChildren(QWidget) if hasattr(child, "text")]
    return " ".join(texts).replace("\u00a0", " ").replace("￥", "¥")


async def give_back(till: Till, dialog: object) -> None:
    """Send it with every button pressed more often than meant."""
    dialog.reason.setText("ill")  # type: ignore[attr-defined]
    await until(dialog.send.isEnabled, "the choice to be right")  # type: ignore[attr-defined]
    await calm(dialog.send)  # type: ignore[attr-defined]
    hammer(dialog.send)  # type: ignore[attr-defined]
    await until(lambda: modal() is None, "the dialog to close")
    await till.rest()


def hammer(button: AsyncButton) -> None:
    """A double click, a key held down and a second key: all in one moment."""
    QTest.mouseClick(button, LEFT, NONE)
    QTest.mouseDClick(button, LEFT, NONE)
    for repeats in (False, True, True, True):
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(button, QKeyEvent(kind, Qt.Key.Key_Return, NONE, "\r", repeats))
    QTest.mouseClick(button, LEFT, NONE)


def test_every_button_of_a_sale_that_is_hammered_acts_once(house: House) -> None:
    """Hold, a part in cash, a card, print, the next customer, void: each pressed six times in one moment (P1)."""

    async def scene(till: Till) -> None:
        asked_before = await asked(till, "payments")
        await till.pick(2)
        page = till.panel.sale_page
        await calm(page.hold)
        hammer(page.hold)
        await till.reach(SaleState.HELD)
        await calm(page.part)
        hammer(page.part)
        part = await opened()
        part.amount.setText("30")
        await until(part.cash.isEnabled, "the part to be right")
        part.cash.click()
        await until(lambda: modal() is not None and modal() is not part, "the cash")
        cash = modal()
        cash.tendered.setText("50")
        await until(cash.take.isEnabled, "enough")
        hammer(cash.take)
        await until(lambda: till.sale.paid_minor == 3_000, "the part")
        await till.rest()
        await calm(page.card)
        hammer(page.card)
        await till.reach(SaleState.DONE)
        sale = till.sale
        assert await paid_of(till, sale) == (
            OrderStatus.CONFIRMED, [(OperationKind.CASH, DONE), (OperationKind.SALE, DONE)],
        )  # fmt: skip
        assert len(await booked(till)) == 1
        assert await asked(till, "payments") == asked_before + 1
        await until(lambda: till.panel.outcome_page.next.listens, "the next customer")
        hammer(till.panel.outcome_page.next)
        await until(lambda: till.store.sale is None, "an empty counter")
        await till.rest()
        assert till.screens.current is till.screens.counter

        await open_found(till, sale)
        page_of_order = till.orders.page
        await calm(page_of_order.cancel)
        hammer(page_of_order.cancel)
        dialog = await opened()
        dialog.tickets[0].click()
        dialog.reason.setText("lost")
        await until(dialog.send.isEnabled, "the choice to be right")
        hammer(dialog.send)
        await until(lambda: modal() is None, "the dialog to close")
        await till.rest()
        assert modal() is None, "nothing was opened a second time"
        assert sorted(await tickets_of(till, sale)) == [TicketStatus.PRINTED, TicketStatus.VOID]
        holds = await house.db.fetch("SELECT 1 FROM holds WHERE event_id = $1", till.event_id)
        jobs = await house.db.fetch(
            "SELECT 1 FROM print_jobs AS j JOIN orders AS o USING (order_id) WHERE o.event_id = $1", till.event_id
        )
        assert (len(holds), len(jobs)) == (1, 1)

    house.play(scene, name="sofia")
