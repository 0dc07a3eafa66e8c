"""Cash that was paid out and that the booking system does not take, and money on its way back when somebody leaves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from app.actions.pay_out import post_untaken, read_paid_out
from app.core.sale import SaleState
from app.core.store import Notice, NoticeCode
from app.journal.terminal_record import CashReturn
from app.screens.dialogs import AskDialog
from app.screens.leave_words import leave_words
from app.screens.words import advice_for
from app.showcase import Showcase
from backend_client.wire import OperationId, Order
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, sale_of, state_of, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import go, orders_of, orders_screen, store_of
from tests.gui.test_money_back_named import add_cash_return
from widgets.theme import Theme

AT = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)


async def keep_refused(showcase: Showcase, order: Order, number: int) -> OperationId:
    """As a report leaves it that the booking system has refused."""
    journal, operation_id = showcase.console.desk.journal, OperationId(UUID(int=number))
    await journal.begin_cash_return(
        CashReturn(operation_id, order.order_id, 500 + number, order.currency, AT, order_number=order.number)
    )
    await journal.end_cash_return(operation_id, taken=False)
    await read_paid_out(showcase.console.desk)
    return operation_id


def test_a_clerk_sees_what_waits_and_a_supervisor_says_that_it_is_compared(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path, "carla") as (showcase, orders):
            await keep_refused(showcase, orders[1], 1)
            second = await keep_refused(showcase, orders[2], 2)
            untaken = orders_screen(showcase).untaken
            await until(untaken.banner.isVisible, "the banner")
            assert untaken.banner.title == "€5.01 was paid out in cash, and the booking system does not take it"
            assert f"Order {orders[1].number}" in untaken.banner.detail
            assert untaken.banner.detail.endswith("1 more payout waits to be compared.")
            assert not untaken.settle.isVisible(), "a clerk does not settle it"
            untaken.banner.action_requested.emit()
            await until(lambda: store_of(showcase).orders.order_id == orders[1].order_id, "the order")
            await rest(showcase)
            await _sign_in(showcase, "sofia")
            go(showcase, "orders")
            await rest(showcase)
            for left in (1, 0):
                await until(untaken.banner.isVisible, "the banner")
                await press_settle(showcase, sure=False)
                assert untaken.banner.isVisible()
                await press_settle(showcase, sure=True)
                assert len(store_of(showcase).orders.untaken) == left
            assert not untaken.isVisible()
            (_one, other) = await showcase.console.desk.journal.cash_returns()
            assert (other.operation_id, other.compared_by) == (second, "sofia")

    qloop.run(scene())


async def press_settle(showcase: Showcase, *, sure: bool) -> None:
    button = orders_screen(showcase).untaken.settle
    await calm(button)
    button.click()
    await until(lambda: isinstance(QApplication.activeModalWidget(), AskDialog), "the question")
    dialog: Any = QApplication.activeModalWidget()
    (dialog.yes if sure else dialog.no).click()
    await rest(showcase)


def test_the_counter_tells_whoever_begins_to_work_there(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with orders_of(tmp_path, "carla") as (showcase, orders):
            await keep_refused(showcase, orders[0], 1)
            post_untaken(showcase.console.desk)
            showcase.console.window.screens.events.event_chosen.emit(1)
            await rest(showcase)
            banner = panel_of(showcase).banner
            await until(banner.isVisible, "the notice")
            assert banner.title == "€5.01 was paid out in cash, and the booking system does not take it"
            assert "until a supervisor has compared it" in banner.detail

    qloop.run(scene())


@pytest.mark.parametrize("deed", ["return-money", "close-day"])
def test_who_leaves_while_the_terminal_is_at_work_is_told_so(
    qloop: QLoop, theme: Theme, tmp_path: Path, deed: str
) -> None:
    """No sale is open: the money goes back from the list of orders, or the day is being closed."""

    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            console, go_on = showcase.console, asyncio.Event()
            assert leave_words(console.desk) is None

            async def at_work() -> None:
                with console.desk.once(deed):
                    async with console.desk.terminal_turn:
                        await go_on.wait()

            console.deeds.start(deed, at_work)
            await until(console.desk.terminal_turn.locked, "the terminal")
            console.window.close_requested.emit()
            await until(lambda: isinstance(QApplication.activeModalWidget(), AskDialog), "the question")
            dialog: Any = QApplication.activeModalWidget()
            words = {"return-money": "Money is going back to a card", "close-day": "The terminal is closing its day"}
            assert dialog.words.title == words[deed]
            dialog.no.click()
            go_on.set()
            await rest(showcase)
            assert leave_words(console.desk) is None
            assert not console.ended.done()

    qloop.run(scene())


def test_cash_that_was_just_paid_out_is_not_listed_as_waiting(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """While the booking system has not heard it the list would send the next clerk to pay it out again."""

    async def scene() -> None:
        async with orders_of(tmp_path, "carla") as (showcase, orders):
            operation = add_cash_return(showcase, orders[0])
            screen = orders_screen(showcase)
            screen.search.click()
            await until(screen.returns.isVisible, "what waits")
            record = CashReturn(operation.operation_id, orders[0].order_id, 500, "EUR", AT)
            await showcase.console.desk.journal.begin_cash_return(record)
            await read_paid_out(showcase.console.desk)
            await rest(showcase)
            screen.search.click()
            await rest(showcase)
            assert not screen.returns.isVisible()

    qloop.run(scene())


def test_cash_in_the_clerks_hand_is_asked_for_until_the_clerk_has_given_it_back(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """The card was faster than the cash: the next customer, other notices and the next person do not sweep it away."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            await rest(showcase)
            store, panel = store_of(showcase), panel_of(showcase)
            store.post(Notice(NoticeCode.CASH_NOT_NEEDED, (), 4500, "EUR", sale_id=sale_of(showcase).sale_id))
            await rest(showcase)
            await calm(panel.outcome_page.next)
            panel.outcome_page.next.click()
            await until(lambda: store.sale is None, "the next customer")
            for _more in range(30):
                store.post(Notice(NoticeCode.CARD_GIVEN_BACK, (), 100, "EUR"))
            await rest(showcase)
            panel.tell(advice_for("answer-unknown"))  # a refusal is said below it, not in its place
            assert panel.owed.isVisible()
            assert panel.owed.title == "The card went through: give €45.00 in cash back"
            assert panel.banner.title == "The answer got lost on the way"
            panel.forget_refusal()
            button = panel.owed.findChild(QPushButton)
            assert isinstance(button, QPushButton)
            assert button.text() == "I gave €45.00 back"
            words = leave_words(showcase.console.desk)
            assert words is not None
            assert words.title == panel.owed.title
            button.click()
            await rest(showcase)
            assert panel.owed.isHidden()
            assert panel.banner.title == "€1.00 went back to a card"
            assert panel.banner.findChildren(QPushButton)[0].text() == "Close"
            assert leave_words(showcase.console.desk) is None
            store.notices = ()

    qloop.run(scene())
