"""Orders looked up in the real windows: found, read, left again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.showcase_money import fill_inbox
from backend_client.testing import Fault
from backend_client.wire import OrderStatus, TicketStatus
from tests.gui.conftest import QLoop, counter_of, hold, rest, until
from tests.gui.money_stage import (
    go,
    open_item,
    open_order,
    orders_of,
    orders_screen,
    press,
    reconciliation,
    refund_dialog,
    store_of,
)
from tests.gui.order_hands import fill, tickets_of
from widgets.theme import Theme


def cells(screen: Any) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in screen.model.lines]


async def found(screen: Any, number: str) -> None:
    await until(lambda: cells(screen)[0][0] == number, number)


def test_orders_are_found_by_number_seat_code_and_buyer_while_one_types(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            screen = orders_screen(showcase)
            assert [line[0] for line in cells(screen)] == ["T-0004", "T-0003", "T-0002", "T-0001"]
            assert screen.finder.hasFocus()
            ticket = showcase.server.house.orders[orders[1].order_id].tickets[0]
            for words, number in (("T-0003", "T-0003"), (ticket.code.lower(), "T-0002")):
                screen.finder.setText(words)
                await found(screen, number)
            screen.finder.setText("Ana Reis")
            await until(lambda: screen.model.rowCount() == 0, "no buyer without an event")
            await rest(showcase)
            assert screen._empty.text().endswith("For a seat or a buyer, choose the event first.")
            screen.event_box.setCurrentIndex(1)
            await until(lambda: [line[0] for line in cells(screen)] == ["T-0001"], "her order")
            seat = orders[2].lines[0].seat
            screen.finder.setText(f"{seat.row} {seat.number}".lower())
            await until(lambda: [line[0] for line in cells(screen)] == ["T-0003"], "the seat's order")
            screen.finder.setText("nobody")
            await until(lambda: screen.model.rowCount() == 0, "nothing")
            await rest(showcase)
            assert screen._empty.text() == "No order has this number, ticket code, seat or buyer."
            screen.finder.clear()
            await until(lambda: screen.model.rowCount() == 4, "all")
            press(Qt.Key.Key_Down, screen.finder)
            assert screen.table.hasFocus()
            press(Qt.Key.Key_Return, screen.table)
            await until(lambda: store_of(showcase).orders.detail is not None, "the order")
            press(Qt.Key.Key_Escape, screen.page.tickets)
            assert store_of(showcase).orders.order_id is None
            assert screen.table.hasFocus()
            press(Qt.Key.Key_Slash, screen.table)
            assert screen.finder.hasFocus()
            await rest(showcase)

    qloop.run(scene())


def test_a_long_list_is_read_on_and_a_lost_server_leaves_what_was_found(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, _orders):
            screen = orders_screen(showcase)
            showcase.server.order_book.page = 3
            screen.search_requested.emit(screen.query)
            await until(screen.more.isVisible, "more")
            assert screen.model.rowCount() == 3
            screen.more.click()
            await until(lambda: screen.model.rowCount() == 4, "the rest")
            assert not screen.more.isVisible()
            showcase.server.fail(Fault.UNREACHABLE, "/orders", times=1000)
            screen.finder.setText("x")
            await until(screen.banner.isVisible, "the trouble")
            await rest(showcase)
            assert screen.model.rowCount() == 4
            assert screen.banner.title == "The booking system does not answer"
            assert screen.banner.detail.startswith("What is listed is as of ")

    qloop.run(scene())


def test_an_order_shows_tickets_payments_and_its_past(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[1])
            page = orders_screen(showcase).page
            facts = dict(page.facts.facts)
            assert (page.title.text(), page.state.text()) == ("Order T-0002", "Paid")
            assert facts["Amount"] == "€267.00"
            assert facts["Buyer or counter"] == "Tomás Figueiredo"
            assert facts["Can go back"] == "Visa · €267.00 · €267.00 can go back"
            assert [line.cells[3].text for line in page._tickets.lines] == ["issued"] * 3
            assert [[cell.text for cell in line.cells][:4] for line in page._payments.lines] == [
                ["Card charged", "Visa", "€267.00", "done"]
            ]
            assert [line.title for line in page.past.lines.lines] == [
                "Order made", "Card payment begun", "Card charged · done",
            ]  # fmt: skip

    qloop.run(scene())


def test_an_item_leads_to_its_order_and_an_order_to_its_items(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia", open_event=False) as showcase:
            items = fill_inbox(showcase.server)
            go(showcase, "reconciliation")
            await until(lambda: len(store_of(showcase).inbox.items) == len(items), "the inbox")
            await open_item(showcase, items[3])
            reconciliation(showcase).item.order.click()
            window, orders = showcase.console.window, store_of(showcase).orders
            await until(lambda: orders.detail is not None, "the order")
            await rest(showcase)
            assert window.screens.current is window.screens.orders
            assert orders.detail.order.number == "T-0001"
            page = window.screens.orders.page
            assert page.items.text() == "1 item waits about it"
            page.items.click()
            await until(lambda: window.screens.current is window.screens.reconciliation, "the inbox")
            assert [line.item.order_number for line in window.screens.reconciliation.inbox.shown] == ["T-0001"]
            await rest(showcase)

    qloop.run(scene())


def test_ops_look_orders_up_and_give_nothing_back(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path, "omar") as (showcase, orders):
            await open_order(showcase, orders[0])
            page = orders_screen(showcase).page
            assert (page.refund.isVisible(), page.cancel.isVisible()) == (False, False)

    qloop.run(scene())


def test_signing_out_closes_the_dialog_and_no_name_of_a_buyer_stays(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            showcase.server.sign_everybody_out()
            dialog.send.click()
            window = showcase.console.window
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            await until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")
            await rest(showcase)
            assert (store_of(showcase).orders.found, window.screens.orders.finder.text()) == ((), "")
            assert set(tickets_of(showcase, orders[0])) == {TicketStatus.ISSUED}

    qloop.run(scene())


def test_a_sale_goes_on_while_one_looks_an_order_up_and_its_keys_do_nothing_there(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await hold(showcase)
            window = showcase.console.window
            press(Qt.Key.Key_2, window, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: window.screens.current is window.screens.orders, "the orders")
            await until(
                lambda: "(" in window.tabs.findChildren(type(window.tabs._buttons["counter"]))[0].text(), "the time"
            )
            for key in (Qt.Key.Key_F6, Qt.Key.Key_F8, Qt.Key.Key_F5):
                press(key, window)
            await rest(showcase)
            order = next(iter(showcase.server.house.orders.values()), None)
            assert order is None or order.status is OrderStatus.PENDING
            assert showcase.terminal.payments_asked == 0
            press(Qt.Key.Key_1, window, Qt.KeyboardModifier.ControlModifier)
            assert window.screens.current is window.screens.counter
            assert set(store_of(showcase).sale.seats) == set(seats)

    qloop.run(scene())
