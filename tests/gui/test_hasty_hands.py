"""Double clicks, keys held down, and words that outlive their step: what a clerk in a hurry does to the counter."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.core.sale import SaleId, SaleState
from app.core.store import Notice, NoticeCode
from app.devices.fake_terminal import AwaitAbort, Decline, LoseLine, Unreachable
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.wire import HoldStatus
from tests.gui.conftest import (
    QLoop,
    calm,
    counter_of,
    hold,
    key_held_down,
    panel_of,
    pick,
    release,
    rest,
    sale_of,
    state_of,
    unhurried_clock,
    until,
)
from widgets.key_gate import KeyGate
from widgets.theme import Theme

_LEFT = Qt.MouseButton.LeftButton


def place_of(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def click_at(window: QWidget, place: QPoint) -> None:
    """What the mouse does: the button that is there now gets it."""
    target = window.childAt(place)
    if target is not None:
        QTest.mouseClick(target, _LEFT, Qt.KeyboardModifier.NoModifier, target.mapFrom(window, place))


async def hold_key_down(key: Qt.Key, repeats: int = 40) -> None:
    """As X repeats a key: releases and presses that do not say that they are repeats, to whatever has the focus."""
    with key_held_down():
        for _repeat in range(repeats):
            target = QApplication.focusWidget()
            if target is not None:
                QTest.keyPress(target, key)
            await asyncio.sleep(0.01)
            target = QApplication.focusWidget()
            if target is not None:
                QTest.keyRelease(target, key)
            await asyncio.sleep(0.01)


def only_hold(showcase: Showcase) -> HoldStatus:
    [held] = showcase.server.house.holds.values()
    return held.status


def test_a_double_click_on_hold_presses_nothing_else_h1(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            window, page = showcase.console.window, panel_of(showcase).sale_page
            where = place_of(page.hold, window).center()
            click_at(window, where)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await rest(showcase)
            for button in (page.card, page.exact_cash, page.cash, page.release):
                assert button.isVisible()
                assert not place_of(button, window).contains(where), button.text()
                QTest.mouseClick(button, _LEFT)  # within half a second: nobody means it
            click_at(window, where)
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert showcase.terminal.payments_asked == 0
            assert only_hold(showcase) is HoldStatus.HELD
            assert not page.release.asks

    qloop.run(scene())


def test_a_double_click_on_stop_does_not_release_h2(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(AwaitAbort())
            await hold(showcase)
            window, panel = showcase.console.window, panel_of(showcase)
            released = place_of(panel.sale_page.release, window)
            panel.sale_page.card.click()
            await until(lambda: showcase.console.desk.store.terminal_progress, "the terminal")
            await until(panel.paying_page.stop.isVisible, "the stop")
            where = place_of(panel.paying_page.stop, window).center()
            assert not released.contains(where)
            click_at(window, where)
            await until(lambda: state_of(showcase) is SaleState.DECLINED, "the payment to end")
            await rest(showcase)
            click_at(window, where)
            QTest.mouseClick(panel.sale_page.release, _LEFT)
            await rest(showcase)
            assert state_of(showcase) is SaleState.DECLINED
            assert panel.sale_page.decline.title == "The payment was stopped"
            assert "still held" in panel.sale_page.decline.detail

    qloop.run(scene())


def test_releasing_by_the_mouse_is_asked_twice_and_nothing_is_said_to_be_held_afterwards(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(Decline())
            await hold(showcase)
            page = panel_of(showcase).sale_page
            page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DECLINED, "a decline")
            await rest(showcase)
            assert page.decline.isVisible()
            await calm(page.release)
            for _half in range(2):
                QTest.mouseClick(page.release, _LEFT)
            await rest(showcase)
            assert state_of(showcase) is SaleState.DECLINED
            assert page.release.text() == "Press again to release the seats"
            await until(lambda: page.release.means_it, "a pause")
            QTest.mouseClick(page.release, _LEFT)
            await until(lambda: state_of(showcase) is SaleState.ABANDONED, "the release")
            await rest(showcase)
            assert not page.decline.isVisible()
            assert page.release.text() == "Release the seats"

    qloop.run(scene())


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_key_held_down_on_card_charges_once_and_stops_nothing_h3(
    qloop: QLoop, theme: Theme, tmp_path: Path, key: Qt.Key
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(*[Decline()] * 20)
            await hold(showcase)
            page = panel_of(showcase).sale_page
            await calm(page.card)
            page.card.setFocus()
            await hold_key_down(key)
            await rest(showcase)
            assert showcase.terminal.payments_asked == 1
            assert state_of(showcase) is SaleState.DECLINED
            showcase.terminal.play()
            showcase.terminal._scenes.clear()
            showcase.terminal.play(AwaitAbort(approve_anyway=True))
            page.card.click()
            await until(lambda: showcase.console.desk.store.terminal_progress, "the terminal")
            await until(panel_of(showcase).paying_page.isVisible, "the payment")
            assert panel_of(showcase).paying_page.hasFocus()  # not the button that stops it
            await hold_key_down(key, 10)
            assert not showcase.console.desk.store.stop_wished
            await showcase.terminal.abort()
            await until(lambda: state_of(showcase) is SaleState.DONE, "the end")
            await rest(showcase)

    qloop.run(scene())


def test_a_shortcut_held_down_counts_once(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.screens.sale_keys.KeyGate", lambda: KeyGate(unhurried_clock()))

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(*[Decline()] * 20)
            await hold(showcase)
            window = showcase.console.window
            for _repeat in range(12):
                QTest.keyClick(window, Qt.Key.Key_F8)
                await rest(showcase)
            assert showcase.terminal.payments_asked == 1
            for _repeat in range(12):
                QTest.keyClick(window, Qt.Key.Key_Escape)
                await rest(showcase)
            assert state_of(showcase) is SaleState.DECLINED
            assert panel_of(showcase).sale_page.release.asks

    qloop.run(scene())


def test_enter_held_down_on_cash_opens_the_dialog_and_takes_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            page = panel_of(showcase).sale_page
            await calm(page.cash)
            page.cash.setFocus()
            await hold_key_down(Qt.Key.Key_Return, 20)
            dialog = QApplication.activeModalWidget()
            assert dialog is not None
            assert state_of(showcase) is SaleState.HELD
            dialog.close()
            await rest(showcase)

    qloop.run(scene())


def test_after_one_escape_enter_and_space_do_not_release_m5(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(AwaitAbort())
            await hold(showcase)
            page = panel_of(showcase).sale_page
            page.countdown.setFocus()
            before = QApplication.focusWidget()
            QTest.keyClick(showcase.console.window, Qt.Key.Key_Escape)
            assert page.release.text() == "Press Esc again to release the seats"
            assert QApplication.focusWidget() is before
            assert not page.release.hasFocus()
            assert only_hold(showcase) is HoldStatus.HELD

    qloop.run(scene())


# ---------------------------------------------------------------- words belong to their step


def test_a_refusal_is_gone_when_the_next_step_begins_c3(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(Unreachable())
            await hold(showcase)
            panel = panel_of(showcase)
            panel.sale_page.card.click()
            await until(panel.banner.isVisible, "a refusal")
            await rest(showcase)
            assert panel.banner.detail.startswith("Nothing was charged.")
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            await rest(showcase)
            assert not panel.banner.isVisible()

    qloop.run(scene())


def test_a_refusal_does_not_meet_the_next_customer_c3(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel = panel_of(showcase)
            showcase.console.window.screens.counter.back.click()
            await until(panel.banner.isVisible, "a refusal")
            await rest(showcase)
            showcase.console.desk.store.put_sale(None)
            await rest(showcase)
            assert not panel.banner.isVisible()

    qloop.run(scene())


def test_a_notice_of_one_sale_is_not_said_at_another_m7(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            store, panel = showcase.console.desk.store, panel_of(showcase)
            sale_id = sale_of(showcase).sale_id
            store.post(Notice(NoticeCode.SALE_RESUMED, sale_id=sale_id))
            await rest(showcase)
            assert panel.banner.title == "An open sale was found again"
            assert panel.banner.isVisible()
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            await rest(showcase)
            assert not panel.banner.isVisible()
            store.post(Notice(NoticeCode.SALE_RESUMED, sale_id=sale_id))
            await pick(showcase, row_no=30)
            assert not panel.banner.isVisible()
            store.post(Notice(NoticeCode.SEATS_LOST, sale_id=SaleId(UUID(int=7))))  # of a sale that was parked
            await rest(showcase)
            assert not panel.banner.isVisible()
            store.post(Notice(NoticeCode.CHARGE_TO_RETURN, (), 4500, "EUR", sale_id=sale_id))
            await rest(showcase)
            assert panel.banner.isVisible()  # money of a parked sale is everybody's business
            assert "€45.00" in panel.banner.title

    qloop.run(scene())


def test_parked_sales_of_one_amount_can_be_told_apart_m7(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            texts = []
            for row_no in (28, 30):
                showcase.terminal.play(LoseLine(booked=False))
                await hold(showcase, row_no=row_no)
                panel_of(showcase).sale_page.card.click()
                await until(lambda: state_of(showcase) is SaleState.UNKNOWN, "an unclear payment")
                await rest(showcase)
                panel_of(showcase).unknown_page.park.click()
                await until(lambda: showcase.console.desk.store.sale is None, "the sale to be parked")
                await rest(showcase)
                texts = panel_of(showcase).parked_texts
                if showcase.console.desk.store.parked[0].state is not SaleState.UNKNOWN:
                    break
            for sale, text in zip(showcase.console.desk.store.parked, texts, strict=True):
                assert sale.order is not None
                assert sale.hold is not None
                assert sale.order.number in text
                assert f"Row {sale.hold.seats[0].row}" in text
            assert len(set(texts)) == len(texts)

    qloop.run(scene())


# ---------------------------------------------------------------- cash and time


def test_the_cash_dialog_counts_down_and_locks_when_the_hold_ends_c4(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel_of(showcase).sale_page.cash.click()
            await until(lambda: QApplication.activeModalWidget() is not None, "the cash dialog")
            dialog = QApplication.activeModalWidget()
            assert dialog is not None
            assert dialog.countdown.figures in {"4:59", "5:00", "4:58"}  # type: ignore[attr-defined]
            showcase.server.pass_time(400)
            hold_id = next(iter(showcase.server.house.holds))
            await showcase.console.desk.client.hold(hold_id)  # type: ignore[arg-type]
            await until(lambda: dialog.is_over, "the end of the time")  # type: ignore[attr-defined]
            assert dialog.fault.text() == "Time ran out. Give the money back."  # type: ignore[attr-defined]
            assert not dialog.take.isEnabled()  # type: ignore[attr-defined]
            assert not dialog.tendered.isEnabled()  # type: ignore[attr-defined]
            dialog.accept()  # type: ignore[attr-defined]
            assert dialog.isVisible()
            dialog.cancel.click()  # type: ignore[attr-defined]
            await until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")
            await rest(showcase)
            assert showcase.server.house.orders == {}

    qloop.run(scene())


def test_cash_that_is_refused_after_it_was_taken_is_given_back_c4(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel = panel_of(showcase)
            showcase.server.pass_time(400)  # the console has not heard of it yet
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.EXPIRED, "the refusal")
            await until(panel.banner.isVisible, "the words")
            await rest(showcase)
            assert panel.banner.detail.startswith("The cash is not booked: give the money back.")

    qloop.run(scene())


def test_cash_that_cannot_be_booked_now_is_given_back_or_tried_again(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel = panel_of(showcase)
            showcase.server.fail(Fault.BUSY, "/checkout", times=20)
            panel.sale_page.exact_cash.click()
            await until(panel.banner.isVisible, "the words", 25)
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert "give the money back, or try again" in panel.banner.detail
            showcase.server.heal()
            await release(showcase)
            await rest(showcase)

    qloop.run(scene(), 40)


# ---------------------------------------------------------------- room for everything


def test_six_held_seats_need_no_scrolling_at_1280_by_800(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.console.window.resize(1280, 800)
            await hold(showcase, 6)
            page = panel_of(showcase).sale_page
            [area] = page.findChildren(QScrollArea)
            await until(lambda: area.verticalScrollBar().maximum() == 0, "room for six seats")
            assert len([line for line in page.lines if line.isVisible()]) == 6

    qloop.run(scene())


def test_the_open_list_of_price_types_shows_prices_and_the_chosen_one_its_name(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase, 1)
            types = panel_of(showcase).sale_page.lines[0].types
            shown = [types.itemText(index) for index in range(types.count())]
            assert all("€" in text for text in shown)
            assert types.chosen_name == "Adult"

    qloop.run(scene())


@pytest.mark.parametrize("key", [Qt.Key.Key_F6, Qt.Key.Key_F7, Qt.Key.Key_F8, Qt.Key.Key_F11])
def test_a_key_that_pays_faster_than_the_hold_is_answered_and_pays_nothing(
    qloop: QLoop, theme: Theme, tmp_path: Path, key: Qt.Key
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            window, panel = showcase.console.window, panel_of(showcase)
            showcase.server.delay("/holds", 0.5)
            await calm(panel.sale_page.hold)
            QTest.keyClick(window, Qt.Key.Key_F5)
            await until(lambda: state_of(showcase) is SaleState.HOLDING, "the hold to begin")
            QTest.keyClick(window, key)
            assert panel.banner.title == "The seats are not held yet"
            await until(lambda: state_of(showcase) is SaleState.HELD, "the hold")
            await rest(showcase)
            assert panel.banner.isHidden()
            assert showcase.terminal.payments_asked == 0
            assert not [call for call in showcase.server.calls if call.path.endswith("/payments")]

    qloop.run(scene(), 40)
