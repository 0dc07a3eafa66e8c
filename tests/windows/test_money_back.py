"""Orders are looked up and undone at the real windows: to the card at this till, in cash, or void (R25, R33).

A refund that this till has to drive goes on to the terminal by itself: nobody is asked a second time for what they
have just said.
"""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from app.core.sale import Sale
from app.screens.refund_dialog import RefundDialog
from backend_client.wire import OperationKind, OperationStatus, OrderStatus, TicketStatus
from tests.gui.conftest import calm, until
from tests.server.box_office import ADULT_PRICE
from tests.windows.shared import House
from tests.windows.stage import Till
from tests.windows.test_ways_to_pay import asked, booked, order_of

REFUND, DONE = OperationKind.REFUND, OperationStatus.SUCCEEDED


async def find(till: Till, words: str) -> None:
    """Type into the field, and wait for what is found."""
    till.go("orders")
    await until(lambda: till.screens.current is till.orders, "the orders")
    till.orders.finder.setText(words)
    await until(lambda: till.store.orders.query.words == words.strip(), "the search")
    await till.rest()


async def open_found(till: Till, sale: Sale) -> None:
    """Find a sale by its number and open it."""
    assert sale.order is not None
    await find(till, sale.order.number)
    (found,) = till.store.orders.found
    till.orders.order_opened.emit(found.order_id)
    await until(lambda: till.store.orders.detail is not None, "the order")
    await till.rest()


async def dialog_about(till: Till, *, cancel: bool = False) -> RefundDialog:
    button = till.orders.page.cancel if cancel else till.orders.page.refund
    await until(button.isEnabled, "the act to be allowed")
    button.click()
    await until(lambda: isinstance(QApplication.activeModalWidget(), RefundDialog), "the dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, RefundDialog)
    return dialog


async def send(till: Till, dialog: RefundDialog, *places: int, cash: bool = False, reason: str = "ill") -> None:
    """Choose tickets, say why, and send."""
    for place in places:
        dialog.tickets[place].click()
    if cash:
        dialog.cash.click()
    dialog.reason.setText(reason)
    await until(dialog.send.isEnabled, f"what is chosen to be right: {dialog.send.toolTip()}")
    await calm(dialog.send)
    dialog.send.click()
    await until(lambda: QApplication.activeModalWidget() is None, f"the dialog to close: {dialog.banner.title}")
    await till.rest()


async def tickets_of(till: Till, sale: Sale) -> list[TicketStatus]:
    assert sale.order is not None
    return [one.status for one in (await till.desk.client.tickets(sale.order.order_id)).tickets]


def test_a_refund_goes_on_to_the_terminal_by_itself(house: House) -> None:
    """All of a charge by its receipt, a part of one with the card, cash out of the drawer, and void without money."""

    async def scene(till: Till) -> None:
        asked_before = await asked(till, "refunds")
        sold = []
        for _sale in range(3):
            sold.append(await till.sell_card(2))
            await till.next_customer()
        whole, part, in_cash = sold

        await open_found(till, whole)
        await send(till, await dialog_about(till), 0, 1)
        assert till.orders.page.outcome.title == "€80.00 is given back"
        order = await order_of(till, whole)
        assert order.status is OrderStatus.REFUNDED
        assert [(one.kind, one.status) for one in order.operations][1:] == [(REFUND, DONE)]
        assert await booked(till) == [2 * ADULT_PRICE] * 2
        assert set(await tickets_of(till, whole)) == {TicketStatus.VOID}

        await open_found(till, part)
        await send(till, await dialog_about(till), 0)
        order = await order_of(till, part)
        assert order.status is OrderStatus.PARTLY_REFUNDED
        assert await asked(till, "refunds") == asked_before + 1
        assert sorted(await tickets_of(till, part)) == [TicketStatus.PRINTED, TicketStatus.VOID]

        await open_found(till, in_cash)
        await send(till, await dialog_about(till), 0, 1, cash=True)
        give = till.orders.page.give
        if give.isVisible():
            await calm(give)
            give.click()
            await till.rest()
        order = await order_of(till, in_cash)
        assert order.status is OrderStatus.REFUNDED
        assert [(one.kind, one.provider) for one in order.operations][1:] == [(REFUND, "cash")]

        await open_found(till, part)
        await send(till, await dialog_about(till, cancel=True), 1, reason="lost")
        assert set(await tickets_of(till, part)) == {TicketStatus.VOID}
        assert (await order_of(till, part)).status is OrderStatus.PARTLY_REFUNDED

    house.play(scene, 120, name="sofia")


def test_a_terminal_that_is_away_leaves_the_money_to_be_given_later(house: House) -> None:
    """Nothing is done twice: the button stays, and gives it back once when the terminal is there again."""

    async def scene(till: Till) -> None:
        sale = await till.sell_card(1)
        await till.next_customer()
        await open_found(till, sale)
        await till.lose(till.terminal_line)
        await send(till, await dialog_about(till), 0)
        page = till.orders.page
        assert page.outcome.isVisible()
        assert page.outcome.title == "The card terminal does not answer"
        assert page.outcome.detail.startswith("Nothing was given back."), "and nobody is told to take cash"
        await until(page.give.isVisible, "the button that gives it back")
        assert await booked(till) == [ADULT_PRICE]
        till.find_terminal()
        await calm(page.give)
        page.give.click()
        await till.rest()
        await until(lambda: not page.give.isVisible(), f"the end: {page.outcome.title}")
        assert await booked(till) == []
        assert (await order_of(till, sale)).status is OrderStatus.REFUNDED

    house.play(scene, 120, name="sofia")
