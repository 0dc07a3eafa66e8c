"""What goes back is what the button names, and cash only at the clerk's own word, in the real windows (R25, R33)."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.core.sale import SaleState
from app.core.store import Notice, NoticeCode
from app.screens.order_page import OrderPage
from app.screens.refund_dialog import RefundDialog
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.testing_refunds import OrderBook
from backend_client.wire import DeviceId, OperationId, OperationKind, OperationStatus, Order, PaymentOperation
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, sale_of, state_of, until
from tests.gui.money_hands import lose_card, mean_it, opened, press, sell
from tests.gui.money_stage import orders_of, orders_screen
from tests.gui.order_hands import fill
from widgets.theme import Theme

_OTHER_TILL = DeviceId(UUID(int=99))


def add_cash_return(showcase: Showcase, order: Order, *, first: bool = False, **more: Any) -> PaymentOperation:
    """Five euros in cash that a supervisor has handed to a till, this one unless told otherwise."""
    row = showcase.server.house.orders[order.order_id]
    charge = row.operations[0]
    made = replace(
        charge, operation_id=OperationId(UUID(int=77)), part=9, kind=OperationKind.REFUND,
        status=OperationStatus.SENT, provider="cash", amount_minor=500, parent_id=charge.operation_id,
        **{"device_id": showcase.console.desk.client.device_id, **more},
    )  # fmt: skip
    row.operations.insert(0 if first else len(row.operations), made)
    return made


@pytest.fixture
def refunds_at_the_till(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refunds to cards go back at the terminal of the till that asks, as the booking system has it (T6)."""
    opens = OrderBook._open_refunds

    def here(book: Any, row: Any, *rest: Any) -> Any:
        made = []
        for operation in opens(book, row, *rest):
            charge = row.operations[0]
            at_till = replace(operation, device_id=charge.device_id, provider="zvt")
            row.operations[row.operations.index(operation)] = at_till
            made.append(at_till)
        return tuple(made)

    monkeypatch.setattr(OrderBook, "_open_refunds", here)


def reported(showcase: Showcase) -> list[str]:
    return [call.path for call in showcase.server.calls if call.path.endswith("/result")]


async def open_waiting(showcase: Showcase, order: Order) -> OrderPage:
    """The order's page; it is read again and again while a refund of it is open, so nothing comes to rest."""
    orders_screen(showcase).order_opened.emit(order.order_id)
    page = orders_screen(showcase).page
    await until(lambda: page.offered is not None and page.give.isVisible(), "what goes back here")
    return page


async def ended(showcase: Showcase) -> None:
    await until(lambda: not showcase.console.deeds.running & {"return-money", "load-order"}, "the end of the deed")


def test_a_refund_to_a_card_never_reports_cash_that_waits_at_the_till(
    qloop: QLoop, theme: Theme, tmp_path: Path, refunds_at_the_till: None
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            showcase.server.order_book.outcome = OperationStatus.SENT
            row = showcase.server.house.orders[orders[1].order_id]
            row.operations[0] = replace(row.operations[0], device_id=showcase.console.desk.client.device_id)
            old = add_cash_return(showcase, orders[1])
            page = await open_waiting(showcase, orders[1])
            assert page.give.text() == "€5.00 was paid out of the drawer"
            page.refund.click()
            await until(lambda: isinstance(QApplication.activeModalWidget(), RefundDialog), "the dialog")
            dialog = QApplication.activeModalWidget()
            assert isinstance(dialog, RefundDialog)
            await fill(dialog, 0)
            dialog.send.click()
            await until(lambda: showcase.terminal.reversals_asked + showcase.terminal.refunds_asked > 0, "the terminal")
            await ended(showcase)
            assert not [path for path in reported(showcase) if str(old.operation_id) in path]
            statuses = {one.operation_id: one.status for one in row.operations if one.kind is OperationKind.REFUND}
            assert statuses.pop(old.operation_id) is OperationStatus.SENT
            assert list(statuses.values()) == [OperationStatus.SUCCEEDED]
            assert page.offered is not None
            assert page.offered.operation_id == old.operation_id, "it still waits, for the clerk's own word"
            showcase.console.deeds.cancel("follow-refund")

    qloop.run(scene())


def test_the_button_of_an_order_gives_back_what_it_names(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """The list of an order's payments is in another order than the one in which its refunds were opened."""

    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            first = add_cash_return(showcase, orders[1])
            row = showcase.server.house.orders[orders[1].order_id]
            row.operations.insert(0, replace(
                first, operation_id=OperationId(UUID(int=78)), amount_minor=700,
                created_at=first.created_at + timedelta(minutes=1),
            ))  # fmt: skip
            page = await open_waiting(showcase, orders[1])
            assert page.give.text() == "€5.00 was paid out of the drawer"
            await calm(page.give)
            page.give.click()
            await until(lambda: page.give.text() == "€7.00 was paid out of the drawer", "the next one")
            await ended(showcase)
            assert [str(first.operation_id) in path for path in reported(showcase)] == [True]
            showcase.console.deeds.cancel("follow-refund")

    qloop.run(scene())


async def returning(showcase: Showcase) -> None:
    """A sale of which a part in cash goes back."""
    await hold(showcase)
    page = panel_of(showcase).sale_page
    await calm(page.part)
    page.part.click()
    dialog = await opened()
    dialog.amount.setText("10.00")
    dialog.cash.click()
    cash = await opened()
    while cash is dialog:
        cash = await opened()
    cash.take.click()
    await until(lambda: sale_of(showcase).paid_minor == 1000, "a part")
    await rest(showcase)
    await mean_it(page.release)
    await until(lambda: state_of(showcase) is SaleState.RETURNING, "money to give back")


def test_what_another_till_gives_back_is_not_asked_of_this_one(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await returning(showcase)
            sale = sale_of(showcase)
            assert sale.order is not None
            row = showcase.server.house.orders[sale.order.order_id]
            at = sale.order.created_at - timedelta(minutes=1)
            other = add_cash_return(showcase, sale.order, first=True, device_id=_OTHER_TILL, created_at=at)
            desk = showcase.console.desk
            await desk.keep(dataclasses.replace(sale, order=await desk.client.order(sale.order.order_id)))
            await rest(showcase)
            page = panel_of(showcase).returning_page
            assert page.give.text() == "€10.00 is paid out in cash"
            await calm(page.give)
            page.give.click()
            await until(lambda: reported(showcase) != [], "the report")
            await rest(showcase)
            assert not [path for path in reported(showcase) if str(other.operation_id) in path]
            assert next(one for one in row.operations if one is other).status is OperationStatus.SENT

    qloop.run(scene())


def test_cash_that_was_paid_out_is_not_asked_for_while_the_api_is_away(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await returning(showcase)
            page = panel_of(showcase).returning_page
            showcase.server.fail(Fault.UNREACHABLE, "", times=9999)
            await calm(page.give)
            page.give.click()
            await until(lambda: not page.give.isVisible(), "what is done", 30)
            await rest(showcase)
            assert page.lines == ["✓ €10.00 in cash: back"]
            assert page.words.text() == "Everything is back."
            assert state_of(showcase) is SaleState.RETURNING
            showcase.server.heal()
            showcase.console.desk.wake.set()
            await until(lambda: state_of(showcase) is SaleState.EXPIRED, "the report", 30)

    qloop.run(scene())


def test_cash_that_goes_back_is_said_about_a_parked_sale_too(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """Its card was faster than the cash: the till holds both while the next buyer is served."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=False)
            store, desk = showcase.console.desk.store, showcase.console.desk
            parked = sale_of(showcase)
            await press(Qt.Key.Key_F9)
            await until(lambda: store.sale is None, "the next customer")
            await hold(showcase)
            store.post(Notice(NoticeCode.CASH_NOT_NEEDED, (), 4500, "EUR", sale_id=parked.sale_id))
            await rest(showcase)
            assert desk.find(parked.sale_id) is not None
            assert panel_of(showcase).owed.title == "The card went through: give €45.00 in cash back"
            assert panel_of(showcase).owed.isVisible()

    qloop.run(scene())
