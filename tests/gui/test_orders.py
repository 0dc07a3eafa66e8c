"""Orders looked up, money given back, tickets made void: in the real windows over a booking system in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.refund_dialog import RefundDialog
from app.showcase_money import fill_inbox
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, OperationStatus, OrderStatus, RefundWay, TicketStatus
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
    sent_posts,
    store_of,
)
from widgets.theme import Theme


def cells(screen: Any) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in screen.model.lines]


async def found(screen: Any, number: str) -> None:
    await until(lambda: cells(screen)[0][0] == number, number)


def tickets_of(showcase: Any, order: Any) -> list[TicketStatus]:
    return [ticket.status for ticket in showcase.server.house.orders[order.order_id].tickets]


async def fill(dialog: RefundDialog, *places: int, reason: str = "The buyer is ill") -> None:
    """Choose tickets by their places and say why."""
    for place in places:
        dialog.tickets[place].click()
    dialog.reason.setText(reason)


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
            assert facts["Buyer"] == "Tomás Figueiredo"
            assert facts["Can go back"] == "Visa · €267.00 · €267.00 can go back"
            assert [line.cells[3].text for line in page._tickets.lines] == ["issued"] * 3
            assert [[cell.text for cell in line.cells][:4] for line in page._payments.lines] == [
                ["Card charged", "Visa", "€267.00", "done"]
            ]
            assert [line.title for line in page.past.lines.lines] == [
                "Order made", "Card payment begun", "Card charged · done",
            ]  # fmt: skip

    qloop.run(scene())


# ---------------------------------------------------------------- money back


def test_two_of_three_tickets_go_back_to_the_card_and_their_seats_to_sale(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[1])
            dialog = await refund_dialog(showcase)
            assert not dialog.send.isEnabled()
            await fill(dialog, 0, 2)
            assert dialog.total.text() == "€178.00"
            assert dialog.send.text() == "Give €178.00 back"
            assert "More than €200.00 is for a supervisor" in dialog.limit.text()
            dialog.send.click()
            page = orders_screen(showcase).page
            await until(page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert QApplication.activeModalWidget() is None
            assert (page.outcome.title, page.outcome.detail) == ("€178.00 is given back", "The tickets are void.")
            assert tickets_of(showcase, orders[1]) == [TicketStatus.VOID, TicketStatus.ISSUED, TicketStatus.VOID]
            assert page.state.text() == "Partly refunded"
            seats = [line.seat.seat_no for line in orders[1].lines]
            assert [bool(showcase.server.house.states[seat] & 7) for seat in seats] == [False, True, False]

    qloop.run(scene())


def test_a_refund_that_is_not_decided_is_told_so_and_followed_until_it_is(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            book = showcase.server.order_book
            book.outcome = OperationStatus.SENT
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            dialog.send.click()
            page = orders_screen(showcase).page
            await until(page.outcome.isVisible, "the outcome")
            assert page.outcome.title == "€89.00 is on the way back, and not decided yet"
            await until(lambda: dict(page.facts.facts).get("Refund") == "on the way, and not decided yet", "the fact")
            assert tickets_of(showcase, orders[0])[0] is TicketStatus.ISSUED
            assert [line.cells[3].text for line in page._tickets.lines] == ["its refund is on the way", "issued"]
            assert showcase.console.deeds.is_running("follow-refund")
            book.settle(next(iter(book.pending)), OperationStatus.SUCCEEDED)
            await until(lambda: page.state.text() == "Partly refunded", "the acceptance")
            await until(lambda: not showcase.console.deeds.is_running("follow-refund"), "the end of following")
            assert tickets_of(showcase, orders[0])[0] is TicketStatus.VOID

    qloop.run(scene())


def test_a_refund_that_the_provider_refuses_is_not_called_given_back(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            showcase.server.order_book.outcome = OperationStatus.DECLINED
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            dialog.send.click()
            page = orders_screen(showcase).page
            await until(page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert page.outcome.title == "The money was not given back"
            assert "The tickets are still good." in page.outcome.detail
            assert set(tickets_of(showcase, orders[0])) == {TicketStatus.ISSUED}

    qloop.run(scene())


def test_cash_out_of_the_drawer_keeps_seats_blocked_when_that_is_chosen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            dialog.cash.click()
            dialog.blocked.click()
            assert (dialog.choice.way, dialog.choice.seats_to_sale) == (RefundWay.CASH, False)
            dialog.send.click()
            page = orders_screen(showcase).page
            await until(page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert page.outcome.detail == "Hand it out of the drawer now."
            assert showcase.server.house.states[orders[0].lines[0].seat.seat_no] & 7

    qloop.run(scene())


def test_a_clerk_stops_at_the_limit_and_a_supervisor_does_not(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        for name, may in (("carla", False), ("sofia", True)):
            (tmp_path / name).mkdir()
            async with orders_of(tmp_path / name, name) as (showcase, orders):
                await open_order(showcase, orders[1])
                dialog = await refund_dialog(showcase)
                dialog.all_button.click()
                dialog.reason.setText("cancelled by the house")
                assert dialog.total.text() == "€267.00"
                assert dialog.limit.property("tone") == "warn"
                assert dialog.send.isEnabled() is may
                dialog.reject()
                await rest(showcase)

    qloop.run(scene())


def test_a_double_click_gives_back_once_and_enter_gives_back_nothing_p1(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            press(Qt.Key.Key_Return, dialog.reason)
            press(Qt.Key.Key_Return, dialog.tickets[0])
            assert sent_posts(showcase, "/refunds") == []
            assert dialog.send.hasFocus()
            showcase.server.delay("/refunds", 0.2)
            for _click in range(3):
                QTest.mouseClick(dialog.send, Qt.MouseButton.LeftButton)
            QTest.mouseDClick(dialog.send, Qt.MouseButton.LeftButton)
            press(Qt.Key.Key_Escape, dialog)
            assert dialog.isVisible(), "the answer is waited for"
            await until(orders_screen(showcase).page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert len(sent_posts(showcase, "/refunds")) == 1

    qloop.run(scene())


def test_an_answer_that_is_lost_gives_back_once_when_it_is_sent_again_b17(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            showcase.server.fail(Fault.ANSWER_LOST, "/refunds", times=4)
            dialog.send.click()
            await until(dialog.banner.isVisible, "the trouble")
            assert dialog.banner.title == "The answer got lost on the way"
            assert dialog.isVisible()
            await rest_but(showcase, "refund")
            dialog.send.click()
            await until(orders_screen(showcase).page.outcome.isVisible, "the outcome")
            await rest(showcase)
            row = showcase.server.house.orders[orders[0].order_id]
            assert [one.amount_minor for one in row.operations if one.kind == "refund"] == [8_900]

    qloop.run(scene())


async def rest_but(showcase: Any, deed: str) -> None:
    always = {"follow-seats", "follow-inbox", "settle", deed}
    await until(lambda: not showcase.console.deeds.running - always, "rest")


REFUSALS = {
    ErrorCode.REFUND_TOO_MUCH: "So much cannot go back any more",
    ErrorCode.TICKET_NOT_REFUNDABLE: "The money of this ticket cannot go back now",
    ErrorCode.AMOUNT_MISMATCH: "The amounts differ",
    ErrorCode.TICKET_NOT_FOUND: "There is no such ticket",
    ErrorCode.ORDER_NOT_FOUND: "There is no such order",
    ErrorCode.ACTION_NOT_ALLOWED: "This cannot be done with it any more",
    ErrorCode.FORBIDDEN: "Your role may not do this",
    ErrorCode.INVALID_REQUEST: "The booking system does not take this",
    ErrorCode.INTERNAL: "That did not work",
}


def test_each_refusal_is_read_in_the_dialog_and_nothing_that_was_chosen_is_lost(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0)
            for code, title in REFUSALS.items():

                def refuse(*_arguments: object, refused: ErrorCode = code) -> None:
                    raise RefusalError(refused)

                monkeypatch.setattr(type(showcase.server.order_book), "refund", refuse)
                dialog.banner.clear()
                dialog.send.click()
                await until(dialog.banner.isVisible, f"the refusal {code}")
                await rest_but(showcase, "refund")
                assert dialog.banner.title == title
                assert (dialog.reason.text(), dialog.total.text()) == ("The buyer is ill", "€89.00")
                assert dialog.send.isEnabled()
            dialog.reject()
            await rest(showcase)

    qloop.run(scene())


def test_a_ticket_that_was_given_back_meanwhile_is_no_longer_chosen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[1])
            dialog = await refund_dialog(showcase)
            await fill(dialog, 0, 1)
            row = showcase.server.house.orders[orders[1].order_id]
            row.tickets = (replace(row.tickets[0], status=TicketStatus.USED), *row.tickets[1:])
            dialog.send.click()
            await until(dialog.banner.isVisible, "the refusal")
            await rest_but(showcase, "refund")
            assert dialog.banner.title == "The money of this ticket cannot go back now"
            assert not dialog.tickets[0].isEnabled()
            assert "used already" in dialog.tickets[0].text()
            assert dialog.total.text() == "€89.00"
            dialog.send.click()
            await until(orders_screen(showcase).page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert tickets_of(showcase, orders[1])[:2] == [TicketStatus.USED, TicketStatus.VOID]

    qloop.run(scene())


def test_tickets_are_made_void_without_money_as_an_act_of_its_own(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            dialog = await refund_dialog(showcase, cancel=True)
            assert "No money goes back" in dialog.limit.text()
            assert not dialog.same.isVisible()
            await fill(dialog, 1)
            assert dialog.send.text() == "Make 1 ticket void"
            dialog.send.click()
            page = orders_screen(showcase).page
            await until(page.outcome.isVisible, "the outcome")
            await rest(showcase)
            assert (page.outcome.title, page.outcome.detail) == ("1 ticket is void", "No money was given back.")
            assert tickets_of(showcase, orders[0]) == [TicketStatus.ISSUED, TicketStatus.VOID]
            assert sent_posts(showcase, "/refunds") == []

    qloop.run(scene())


# ---------------------------------------------------------------- from here to there, and the way out


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
