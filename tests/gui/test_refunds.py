"""Money back in the real windows: the dialog, its limits and refusals, and lost answers (R25, B17, P1)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.refund_dialog import RefundDialog
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, OperationKind, OperationStatus, RefundWay, TicketStatus
from tests.gui.conftest import ALWAYS, QLoop, rest, until
from tests.gui.money_stage import (
    open_order,
    orders_of,
    orders_screen,
    press,
    refund_dialog,
    sent_posts,
)
from tests.gui.order_hands import fill, filled, sent, tickets_of
from widgets.theme import Theme


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
            page = await sent(showcase, dialog)
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
            dialog = await filled(showcase, orders[0], 0)
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
            dialog = await filled(showcase, orders[0], 0)
            page = await sent(showcase, dialog)
            assert page.outcome.title == "The money was not given back"
            assert "The tickets are still good." in page.outcome.detail
            assert set(tickets_of(showcase, orders[0])) == {TicketStatus.ISSUED}

    qloop.run(scene())


def test_cash_out_of_the_drawer_keeps_seats_blocked_when_that_is_chosen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            dialog = await filled(showcase, orders[0], 0)
            dialog.cash.click()
            dialog.blocked.click()
            assert (dialog.choice.way, dialog.choice.seats_to_sale) == (RefundWay.CASH, False)
            page = await sent(showcase, dialog)
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
            dialog = await filled(showcase, orders[0], 0)
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
            dialog = await filled(showcase, orders[0], 0)
            showcase.server.fail(Fault.ANSWER_LOST, "/refunds", times=4)
            dialog.send.click()
            await until(dialog.banner.isVisible, "the trouble")
            assert dialog.banner.title == "The answer got lost on the way"
            assert dialog.isVisible()
            await rest_but(showcase, "refund")
            await sent(showcase, dialog)
            row = showcase.server.house.orders[orders[0].order_id]
            assert [one.amount_minor for one in row.operations if one.kind == "refund"] == [8_900]

    qloop.run(scene())


async def rest_but(showcase: Any, deed: str) -> None:
    always = {*ALWAYS, deed}
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
            dialog = await filled(showcase, orders[0], 0)
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
            dialog = await filled(showcase, orders[1], 0, 1)
            row = showcase.server.house.orders[orders[1].order_id]
            row.tickets = (replace(row.tickets[0], status=TicketStatus.USED), *row.tickets[1:])
            dialog.send.click()
            await until(dialog.banner.isVisible, "the refusal")
            await rest_but(showcase, "refund")
            assert dialog.banner.title == "The money of this ticket cannot go back now"
            assert not dialog.tickets[0].isEnabled()
            assert "used already" in dialog.tickets[0].text()
            assert dialog.total.text() == "€89.00"
            await sent(showcase, dialog)
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
            page = await sent(showcase, dialog)
            assert (page.outcome.title, page.outcome.detail) == ("1 ticket is void", "No money was given back.")
            assert tickets_of(showcase, orders[0]) == [TicketStatus.ISSUED, TicketStatus.VOID]
            assert sent_posts(showcase, "/refunds") == []

    qloop.run(scene())


def test_an_order_that_cannot_be_read_again_is_shown_as_the_answer_has_it(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Money that was just given back is not offered a second time."""

    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            dialog = await filled(showcase, orders[1], 0)
            showcase.server.fail(Fault.UNREACHABLE, "/refundable", times=500)
            page = await sent(showcase, dialog)
            assert page.outcome.title == "€89.00 is given back"
            assert page.state.text() == "Partly refunded"
            dialog = await refund_dialog(showcase)
            assert [box.isEnabled() for box in dialog.tickets] == [False, True, True]
            dialog.all_button.click()
            assert dialog.total.text() == "€178.00"
            dialog.cancel.click()
            showcase.server.heal()
            await rest(showcase)

    qloop.run(scene())


@pytest.mark.parametrize("who", ["the next person", "the same person"])
def test_how_money_went_back_is_told_with_its_order_and_to_who_gave_it(
    qloop: QLoop, theme: Theme, tmp_path: Path, who: str
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            dialog = await filled(showcase, orders[0], 0)
            showcase.server.delay("/refunds", 0.5)
            QTest.mouseClick(dialog.send, Qt.MouseButton.LeftButton)
            await until(lambda: showcase.server.calls[-1].path.endswith("/refunds"), "the sending")
            deeds, screen = showcase.console.deeds, orders_screen(showcase)
            if who == "the next person":
                store = showcase.console.desk.store
                session = store.session
                assert session is not None
                store.put_session(None)
                await until(lambda: not deeds.is_running("refund"), "the end of the question")
                store.put_session(dataclasses.replace(session, staff_id=uuid4()))
            else:
                dialog.close()
            screen.order_opened.emit(orders[1].order_id)
            await until(lambda: not deeds.is_running("send-refund"), "the answer")
            await rest(showcase)
            assert not screen.page.outcome.isVisible()
            assert screen.banner.isHidden() == (who == "the next person")
            assert (orders[0].number in screen.banner.title) == (who == "the same person")

    qloop.run(scene())


@pytest.mark.parametrize("kinds", [("cash",), ("sale",), ("sale", "cash")])
def test_there_is_a_choice_of_ways_only_where_the_ways_differ(
    qloop: QLoop, theme: Theme, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    """Of an order that was paid in cash the drawer is the one way, and has one name."""

    async def scene() -> None:
        async with orders_of(tmp_path) as (showcase, orders):
            await open_order(showcase, orders[0])
            detail = showcase.console.desk.store.orders.detail
            assert detail is not None
            charge = detail.charges[0]
            charges = tuple(replace(charge, kind=OperationKind(kind)) for kind in kinds)
            of_kinds = replace(detail, charges=charges)
            window = showcase.console.window
            dialog = RefundDialog(theme, of_kinds, window, refund=True, may_exceed=True)
            assert dialog.cash.isVisibleTo(dialog) is (kinds != ("cash",))
            assert dialog.same.isChecked()
            dialog.deleteLater()

    qloop.run(scene())
