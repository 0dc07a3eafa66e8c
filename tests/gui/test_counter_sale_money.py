"""Money beyond the straight way, in the real windows: parts, cash instead, buyers who leave, money back, days."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app.actions.desk import CardWay
from app.core.sale import EndReason, SaleState
from app.core.store import NoticeCode
from app.devices.fake_terminal import LoseLine
from app.screens.part_dialog import PartDialog, proposed_parts
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.wire import OperationKind, OperationStatus
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, sale_of, state_of, until
from widgets.async_button import AsyncButton
from widgets.theme import Theme


async def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Where the keyboard is; after a dialog nobody gives it back on a screen without windows, so the test does."""
    if QApplication.activeWindow() is None:
        for window in QApplication.topLevelWidgets():
            if isinstance(window, QMainWindow) and window.isVisible():
                window.activateWindow()
        await until(lambda: QApplication.activeWindow() is not None, "an active window")
    target = QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key, modifier)


def modal() -> Any:
    return QApplication.activeModalWidget()


async def opened() -> Any:
    await until(lambda: modal() is not None, "a dialog")
    return modal()


async def other_than(dialog: Any) -> Any:
    """The dialog that comes after `dialog`."""
    await until(lambda: modal() is not None and modal() is not dialog, "the next dialog")
    return modal()


async def paid_so_far(showcase: Showcase, amount_minor: int) -> None:
    await until(lambda: sale_of(showcase).paid_minor == amount_minor, f"{amount_minor} in parts")


async def mean_it(button: AsyncButton) -> None:
    """Press twice, with a moment between."""
    await calm(button)
    button.click()
    await until(lambda: button.means_it, "the question to be answered")  # type: ignore[attr-defined]
    button.click()


async def lose_card(showcase: Showcase, *, booked: bool) -> None:
    """A sale before it, so that the terminal has a last transaction; then one whose end nobody heard."""
    showcase.terminal.silent = True
    showcase.terminal.play(LoseLine(booked=booked))
    await hold(showcase)
    panel_of(showcase).sale_page.card.click()
    await until(lambda: state_of(showcase) is SaleState.UNKNOWN, "an unclear payment")
    await rest(showcase)


async def sell(showcase: Showcase) -> None:
    await hold(showcase, 1, 25)
    panel_of(showcase).sale_page.card.click()
    await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
    await rest(showcase)
    await calm(panel_of(showcase).outcome_page.next)
    await press(Qt.Key.Key_F10)
    await until(lambda: showcase.console.desk.store.sale is None, "the next customer")


def kinds(showcase: Showcase) -> list[tuple[OperationKind, OperationStatus]]:
    order = list(showcase.server.house.orders.values())[-1]
    return [(one.kind, one.status) for one in order.operations]


def test_part_cash_part_card_by_keyboard_alone(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            total = sale_of(showcase).total_minor
            page = panel_of(showcase).sale_page
            await calm(page.part)
            await press(Qt.Key.Key_F11)
            dialog = await opened()
            assert isinstance(dialog, PartDialog)
            QTest.keyClicks(dialog.amount, "20.00")
            assert dialog.rest.text()
            QTest.keyClick(dialog, Qt.Key.Key_F7)
            cash = await other_than(dialog)
            QTest.keyClicks(cash.tendered, "50.00")
            QTest.keyClick(cash, Qt.Key.Key_Return)
            await until(lambda: sale_of(showcase).paid_minor == 2000, "the part")
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert "20.00" in page.parts.text()
            assert "30.00" in page.parts.text(), "the change of the part too"
            assert page.total.accessibleName() == "Left to pay"
            await calm(page.card)
            await press(Qt.Key.Key_F8)
            await until(lambda: state_of(showcase) is SaleState.DONE, "the rest by card, and tickets")
            assert showcase.terminal.booked[-1].amount_minor == total - 2000
            assert panel_of(showcase).outcome_page.isVisible()
            await rest(showcase)

    qloop.run(scene())


def test_p1_enter_held_down_on_a_part_pays_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            part = panel_of(showcase).sale_page.part
            await calm(part)
            part.setFocus()
            QTest.keyPress(part, Qt.Key.Key_Return)
            dialog = await opened()
            for _repeat in range(5):
                QTest.sendKeyEvent(
                    QTest.KeyAction.Press, dialog, Qt.Key.Key_Return, "\r", Qt.KeyboardModifier.NoModifier
                )
            await asyncio.sleep(0.02)
            assert modal() is dialog
            assert showcase.terminal.payments_asked == 0
            QTest.keyRelease(dialog, Qt.Key.Key_Return)
            dialog.reject()
            await rest(showcase)

    qloop.run(scene())


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


def test_what_was_paid_in_parts_goes_back_when_the_buyer_leaves(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            desk = showcase.console.desk
            for key, way in ((Qt.Key.Key_F7, "cash"), (Qt.Key.Key_F8, "card")):
                paid = sale_of(showcase).paid_minor
                await calm(panel_of(showcase).sale_page.part)
                showcase.console.bindings.sale.keys.forget()
                await press(Qt.Key.Key_F11)
                dialog = await opened()
                QTest.keyClicks(dialog.amount, "10.00")
                QTest.keyClick(dialog, key)
                if way == "cash":
                    await other_than(dialog)
                    QTest.keyClick(modal(), Qt.Key.Key_Return)
                await paid_so_far(showcase, paid + 1000)
                await rest(showcase)
            release = panel_of(showcase).sale_page.release
            assert release.text() == "The buyer leaves: give the money back"
            await mean_it(release)
            await until(lambda: state_of(showcase) is SaleState.RETURNING, "money to give back")
            await rest(showcase)
            page = panel_of(showcase).returning_page
            assert len(page.lines) == 2
            for _each in range(2):
                await calm(page.give)
                showcase.console.bindings.sale.keys.forget()
                await press(Qt.Key.Key_F10)
                await rest(showcase)
            await until(lambda: state_of(showcase) is SaleState.EXPIRED, "all is back")
            assert sale_of(showcase).end_reason is EndReason.MONEY_RETURNED
            assert showcase.terminal.booked == []
            assert await desk.journal.unsettled_attempts() == ()
            assert panel_of(showcase).outcome_page.isVisible()

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


@pytest.mark.parametrize(
    ("left", "seats", "parts"),
    [
        (9000, (4500, 4500), (4500,)),
        (9000, (4500, 2250, 2250), (2250, 3000, 4500)),
        (100, (100,), (50,)),
        (1, (1,), ()),
    ],
)
def test_parts_that_people_ask_for(left: int, seats: tuple[int, ...], parts: tuple[int, ...]) -> None:
    assert proposed_parts(left, seats) == parts


def test_a_part_dialog_says_what_is_wrong_and_offers_nothing_then(qloop: QLoop, theme: Theme) -> None:
    parent = QWidget()
    dialog = PartDialog(theme, 9000, "EUR", (4500,), by_card=True, parent=parent)
    assert dialog.part_minor == 4500
    for text in ("0", "90.01", "abc", ""):
        dialog.amount.setText(text)
        assert not dialog.card.isEnabled()
        assert not dialog.cash.isEnabled()
        assert dialog.rest.text()
    dialog.amount.setText("90.00")
    assert dialog.cash.isEnabled()
    assert dialog.rest.text() == "Nothing is left to pay after it"
    parent.deleteLater()
