"""A card at the counter, in the real windows: once, declined, stopped, unclear, found again (P1, T3, T4, T9)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.core.sale import Sale, SaleId, SaleState
from app.core.telling import Telling
from app.devices.fake_terminal import Approve, AwaitAbort, Decline, LoseLine, Unreachable
from app.screens.paying_page import PayingPage, progress_words
from backend_client.wire import EventId, HoldStatus
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, pick, rest, sale_of, state_of, until
from widgets.theme import Theme


def press(key: Qt.Key, widget: QWidget | None = None) -> None:
    target = widget or QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key)


def test_a_double_click_on_card_charges_once_p1(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            card = panel_of(showcase).sale_page.card
            await calm(card)
            for _click in range(3):
                QTest.mouseClick(card, Qt.MouseButton.LeftButton)
            QTest.mouseDClick(card, Qt.MouseButton.LeftButton)
            press(Qt.Key.Key_F8)
            press(Qt.Key.Key_Return, card)
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            assert showcase.terminal.payments_asked == 1
            posts = [call for call in showcase.server.calls if call.path.endswith("/payments")]
            assert len(posts) == 1

    qloop.run(scene())


def test_a_decline_says_why_and_keeps_seats_and_price_types(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(Decline("insufficient-funds"), Approve())
            await pick(showcase)
            page = panel_of(showcase).sale_page
            child = page.lines[1].types
            child.setFocus()
            press(Qt.Key.Key_Down, child)
            child.activated.emit(child.currentIndex())
            await rest(showcase)
            picks = sale_of(showcase).picks
            assert picks[1].price_type_id == 2
            page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await rest(showcase)
            page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DECLINED, "a decline")
            await rest(showcase)
            assert sale_of(showcase).picks == picks
            assert page.decline.isVisible()
            assert "not enough money" in page.decline.detail
            assert page.card.isVisible()
            assert page.card.isEnabled()
            page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale on the second card")
            assert showcase.terminal.payments_asked == 2

    qloop.run(scene())


def test_an_unclear_payment_says_do_not_take_the_card_again_and_can_be_parked_t3(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(LoseLine(booked=False))
            await hold(showcase)
            panel = panel_of(showcase)
            panel.sale_page.card.click()
            await until(lambda: state_of(showcase) is SaleState.UNKNOWN, "an unclear payment")
            await rest(showcase)
            page = panel.unknown_page
            assert page.title.text() == "Do not take the card again"
            assert page.first.text()
            assert page.asked.text()
            assert page.since.text().count(":") == 3, "the time, and for how long"
            order = next(iter(showcase.server.house.orders.values()))
            assert order.number in page.note.text()
            assert "supervisor" not in page.note.text() + page.asked.text()
            assert not panel.sale_page.card.isVisible()
            assert showcase.console.window.screens.strip.payments.text == "1 unclear payment"
            press(Qt.Key.Key_F8)
            assert showcase.terminal.payments_asked == 1
            page.park.click()
            await until(lambda: showcase.console.desk.store.sale is None, "the next customer")
            assert len(showcase.console.desk.store.parked) == 1
            await hold(showcase, row_no=30)
            press(Qt.Key.Key_F6)
            await until(lambda: state_of(showcase) is SaleState.DONE, "the next customer's sale")

    qloop.run(scene())


def test_a_lost_line_with_a_booked_payment_is_found_again_and_never_charged_twice_t4(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(LoseLine(booked=True))
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: state_of(showcase) in {SaleState.PAID, SaleState.DONE}, "the payment to be found")
            await until(lambda: state_of(showcase) is SaleState.DONE, "tickets, printed by themselves")
            assert showcase.terminal.payments_asked == 1
            assert len(showcase.terminal.booked) == 1

    qloop.run(scene())


def test_stopping_a_card_payment_is_a_wish_and_the_seats_stay_held_t9(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(AwaitAbort())
            await hold(showcase)
            panel = panel_of(showcase)
            panel.sale_page.card.click()
            await until(
                lambda: panel.paying_page.progress.text() == "Ask the buyer to present the card", "the terminal's word"
            )
            assert panel.paying_page.steps.step == 1
            press(Qt.Key.Key_Escape)
            await until(lambda: state_of(showcase) in {SaleState.DECLINED, SaleState.HELD}, "the payment to end")
            await rest(showcase)
            assert next(iter(showcase.server.house.holds.values())).status in {
                HoldStatus.HELD,
                HoldStatus.PAYMENT_PENDING,
            }
            assert panel.sale_page.card.isVisible()

    qloop.run(scene())


def test_a_terminal_that_is_away_is_explained_and_cash_still_works(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(Unreachable())
            await hold(showcase)
            panel = panel_of(showcase)
            panel.sale_page.card.click()
            await until(panel.banner.isVisible, "an explanation")
            await rest(showcase)
            assert panel.banner.title == "The card terminal does not answer"
            assert "Nothing was charged" in panel.banner.detail
            assert state_of(showcase) is SaleState.HELD
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a cash sale")

    qloop.run(scene())


@pytest.mark.parametrize(
    ("progress", "hint", "stop"),
    [
        ("asking-host", "If the bank has approved already, the payment goes through all the same.", True),
        (Telling.APPROVED, "Do not take the card again", False),
        (Telling.UNCLEAR, "Do not take the card again", False),
        (Telling.DECLINED, None, False),
    ],
)
def test_what_has_ended_at_the_terminal_cannot_be_stopped(
    qtbot: QtBot, theme: Theme, progress: str, hint: str | None, *, stop: bool
) -> None:
    page = PayingPage(theme, lambda: datetime.now(UTC))
    qtbot.addWidget(page)
    sale = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR", state=SaleState.PAYING)
    page.show_sale(sale, progress, stop_wished=True)
    assert page.stop.isVisibleTo(page) is stop
    told = [part.text() for part in page.findChildren(QLabel) if part.isVisibleTo(page)]
    assert progress_words("connecting") not in told
    assert ("Stop requested. Waiting for the terminal's answer…" in told) is stop
    assert (hint in told) if hint else ("Do not take the card again" not in told)
