"""Money beyond the straight way, in the real windows: parts, cash instead, buyers who leave, money back, days."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.actions.desk import CardWay
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.fake_terminal import LoseLine
from backend_client.testing import Fault
from backend_client.wire import OperationKind, OperationStatus
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, sale_of, state_of, until
from tests.gui.money_hands import kinds, lose_card, mean_it, opened, press, sell
from widgets.theme import Theme


def test_p1_card_pressed_again_and_again_within_100_ms_is_one_authorization(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            card = panel_of(showcase).sale_page.card
            await calm(card)
            card.setFocus()
            for key in (Qt.Key.Key_Return, Qt.Key.Key_F8, Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_F8):
                await press(key)
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            assert showcase.terminal.payments_asked == 1
            assert kinds(showcase) == [(OperationKind.SALE, OperationStatus.SUCCEEDED)]

    qloop.run(scene())


def test_the_page_of_an_unclear_payment_says_what_since_when_how_often_and_who(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """T3."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=False)
            page = panel_of(showcase).unknown_page
            await until(lambda: "Asked" in page.asked.text(), "a count")
            assert page.title.text() == "Do not take the card again"
            assert "supervisor" in page.decides.text()
            assert ", for " in page.since.text()
            assert page.cash.isVisible()
            assert page.leave.isVisible()
            for button in (page.park, page.cash, page.leave):
                assert button.accessibleName()

    qloop.run(scene())


@pytest.mark.parametrize("booked", [True, False])
def test_cash_instead_by_key_sells_and_the_card_goes_back(
    qloop: QLoop, theme: Theme, tmp_path: Path, *, booked: bool
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=booked)
            store = showcase.console.desk.store
            await calm(panel_of(showcase).unknown_page.cash)
            await press(Qt.Key.Key_F7)
            cash = await opened()
            QTest.keyClick(cash, Qt.Key.Key_Return)
            await until(lambda: state_of(showcase) is SaleState.DONE, "tickets")
            await until(lambda: store.given_up == 1, "the card to be followed")
            await until(showcase.console.window.screens.strip.cards.isVisible, "the lamp of followed cards")
            showcase.terminal.silent = False
            showcase.console.desk.wake.set()
            await until(lambda: store.given_up == 0, "the card to be settled")
            assert len(showcase.terminal.booked) == 1, "the sale before it alone"
            assert [kind for kind, _status in kinds(showcase)] == [OperationKind.SALE, OperationKind.CASH]

    qloop.run(scene())


def test_a_buyer_who_leaves_is_meant_twice_and_pays_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=True)
            page = panel_of(showcase).unknown_page
            await mean_it(page.leave)
            await until(lambda: sale_of(showcase).leaving, "the wish")
            await rest(showcase)
            assert "left" in page.first.text()
            assert not page.cash.isVisible()
            sale_id = sale_of(showcase).sale_id
            await press(Qt.Key.Key_F9)
            await until(lambda: showcase.console.desk.store.sale is None, "the next customer")
            assert any("the buyer left" in text for text in panel_of(showcase).parked_texts)
            showcase.terminal.silent = False
            showcase.console.desk.wake.set()
            await until(lambda: showcase.console.desk.find(sale_id) is None, "its end")
            assert len(showcase.terminal.booked) == 1
            codes = [notice.code for notice in showcase.console.desk.store.notices]
            assert NoticeCode.LEFT_UNCHARGED in codes

    qloop.run(scene())


def test_unclear_payments_that_wait_are_counted_and_one_key_goes_through_them(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=False)
            first = sale_of(showcase).sale_id
            await press(Qt.Key.Key_F9)
            await until(lambda: showcase.console.desk.store.sale is None, "the next customer")
            panel = panel_of(showcase)
            assert panel.parked_head.isVisible()
            assert panel.parked_head.text() == "1 sale put aside: F12 opens it"
            await press(Qt.Key.Key_F12)
            await until(lambda: showcase.console.desk.store.sale is not None, "it is back")
            assert sale_of(showcase).sale_id == first
            await rest(showcase)
            assert not panel.parked_head.isVisible()

    qloop.run(scene())


def test_a_refund_that_nobody_knows_of_is_not_offered_again(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await hold(showcase)
            page = panel_of(showcase).sale_page
            await calm(page.part)
            await press(Qt.Key.Key_F11)
            dialog = await opened()
            QTest.keyClicks(dialog.amount, "10.00")
            QTest.keyClick(dialog, Qt.Key.Key_F8)
            await until(lambda: sale_of(showcase).paid_minor == 1000, "a part")
            await rest(showcase)
            await mean_it(page.release)
            await until(lambda: state_of(showcase) is SaleState.RETURNING, "money to give back")
            showcase.terminal.takes_back = False
            showcase.terminal.silent = True
            showcase.terminal.play(LoseLine(booked=True))
            back = panel_of(showcase).returning_page
            await calm(back.give)
            await press(Qt.Key.Key_F10)
            await until(back.banner.isVisible, "a warning")
            await rest(showcase)
            assert not back.give.isVisible()
            assert back.park.isVisible()
            assert showcase.terminal.refunds_asked == 1

    qloop.run(scene())


def test_the_day_of_the_terminal_is_closed_after_a_question(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
            dialog = await opened()
            dialog.yes.click()
            await until(lambda: showcase.server.house.terminal_totals, "totals")
            await rest(showcase)
            (report,) = showcase.server.house.terminal_totals
            assert report.total_minor == showcase.terminal.booked[0].amount_minor
            assert "closed" in panel_of(showcase).banner.title

    qloop.run(scene())


def test_a_card_at_a_reader_of_the_server_is_watched(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            desk = showcase.console.desk
            desk.card_way = CardWay.READER
            showcase.console.bindings.lamps.look()
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: desk.store.terminal_progress == "present-card", "the reader")
            order = list(showcase.server.house.orders.values())[-1]
            showcase.server.house.tell_reader(order.operations[0].operation_id, OperationStatus.SUCCEEDED)
            await until(lambda: state_of(showcase) is SaleState.DONE, "tickets")
            assert showcase.terminal.payments_asked == 0
            assert showcase.console.window.screens.strip.terminal.state == "good"

    qloop.run(scene())


def test_an_api_that_is_away_while_the_buyer_leaves_keeps_the_sale(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            page = panel_of(showcase).sale_page
            await calm(page.part)
            await press(Qt.Key.Key_F11)
            dialog = await opened()
            QTest.keyClicks(dialog.amount, "10.00")
            QTest.keyClick(dialog, Qt.Key.Key_F8)
            await until(lambda: sale_of(showcase).paid_minor == 1000, "a part")
            await rest(showcase)
            showcase.server.fail(Fault.BUSY, "/cancel", times=99)
            await mean_it(page.release)
            await until(panel_of(showcase).banner.isVisible, "the trouble")
            assert state_of(showcase) is SaleState.HELD
            showcase.server.heal()

    qloop.run(scene())
