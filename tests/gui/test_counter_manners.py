"""Small manners of the counter: what is asked when somebody leaves, what stays in place, what is said aloud."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from uuid_utils.compat import uuid7

from app.core.sale import PaymentAttempt, SaleId, SaleState
from app.devices.card_terminal import TerminalUnavailableError
from app.screens.leave_words import leave_words
from app.screens.refusal_words import refusal_words
from app.settings import LAST_EVENT
from backend_client.errors import ServiceUnavailableError
from backend_client.testing import Fault
from backend_client.wire import OperationKind
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, rest, sale_of, state_of, until
from tests.gui.money_hands import lose_card, opened, other_than, sell
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

SEATS, TICKETS = "Seats are held for a buyer", "The tickets are not printed yet"
UNCLEAR, RUNNING, MONEY = "A payment is unclear", "A payment is running", "Money has to go back to a buyer"
AT_COUNTER = {
    SaleState.PICKING: None, SaleState.HOLDING: SEATS, SaleState.HELD: SEATS, SaleState.DECLINED: SEATS,
    SaleState.PAYING: RUNNING, SaleState.UNKNOWN: RUNNING, SaleState.RETURNING: MONEY, SaleState.PAID: TICKETS,
    SaleState.PRINTING: TICKETS, SaleState.DONE: None, SaleState.EXPIRED: None, SaleState.ABANDONED: None,
}  # fmt: skip
PARKED = {
    SaleState.HOLDING: SEATS, SaleState.HELD: SEATS, SaleState.DECLINED: SEATS, SaleState.PAYING: UNCLEAR,
    SaleState.UNKNOWN: UNCLEAR, SaleState.RETURNING: MONEY, SaleState.PAID: TICKETS, SaleState.PRINTING: TICKETS,
}  # fmt: skip


# ---------------------------------------------------------------- leaving


def test_who_leaves_is_told_of_every_state_that_a_sale_can_be_in_d2(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            desk, store = showcase.console.desk, showcase.console.desk.store
            held = sale_of(showcase)
            assert AT_COUNTER.keys() == set(SaleState)
            for state, title in AT_COUNTER.items():
                store.sale = replace(held, state=state)
                words = leave_words(desk)
                assert (None if words is None else words.title) == title, state
            for state, title in PARKED.items():
                store.sale, store.parked = None, (replace(held, state=state),)
                words = leave_words(desk)
                assert words is not None, state
                assert words.title == title, state
            store.sale = replace(held, sale_id=SaleId(uuid7()))
            store.parked = (replace(held, state=SaleState.PAID), replace(held, state=SaleState.RETURNING))
            words = leave_words(desk)
            assert words is not None
            assert words.title == MONEY, "the gravest of all"
            store.sale, store.parked = held, ()

    qloop.run(scene())


# ---------------------------------------------------------------- devices


def test_the_terminal_is_looked_at_while_unclear_payments_are_asked_about(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_answer(_terminal: object) -> None:
        raise TerminalUnavailableError("no answer")

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console = showcase.console
            assert console.deeds.is_running("settle")
            second = console.bindings._second
            second._timer.stop()
            looks: list[int] = []
            look = console.bindings.lamps.look
            console.bindings.lamps.look = lambda: looks.append(1)  # type: ignore[method-assign]
            second._seconds = 0
            for _second in range(30):
                second._on_timer_timeout()
            assert looks == [1]
            console.desk.charging.add(SaleId(uuid7()))
            for _second in range(30):
                second._on_timer_timeout()
            assert looks == [1], "at work: what it does says enough"
            console.desk.charging.clear()
            console.bindings.lamps.look = look  # type: ignore[method-assign]
            monkeypatch.setattr(type(showcase.terminal), "status", no_answer)
            for _second in range(30):
                second._on_timer_timeout()
            lamp = console.window.screens.strip.terminal
            await until(lambda: lamp.text == "Terminal away", "the lamp")
            await rest(showcase)

    qloop.run(scene())


# ---------------------------------------------------------------- counted cash


def test_a_cash_part_that_is_refused_says_what_to_do_with_the_money(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel = panel_of(showcase)
            await calm(panel.sale_page.part)
            panel.sale_page.part.click()
            dialog = await opened()
            dialog.cash.click()
            cash = await other_than(dialog)
            showcase.server.fail(Fault.BUSY, "/checkout", times=100)
            showcase.server.fail(Fault.BUSY, "/orders", times=100)
            showcase.server.fail(Fault.BUSY, "/holds", times=100)
            cash.take.click()
            await until(panel.banner.isVisible, "the refusal")
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert "The cash is not booked: give the money back, or try again." in panel.banner.detail
            showcase.server.heal()

    qloop.run(scene())


def test_cash_instead_that_is_refused_says_what_to_do_with_the_money(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await sell(showcase)
            await lose_card(showcase, booked=False)
            panel = panel_of(showcase)
            await calm(panel.unknown_page.cash)
            panel.unknown_page.cash.click()
            cash = await opened()
            showcase.server.fail(Fault.BUSY, "/payments", times=100)
            cash.take.click()
            await until(panel.banner.isVisible, "the refusal")
            await rest(showcase)
            assert state_of(showcase) is SaleState.UNKNOWN
            assert "The cash is not booked: give the money back, or try again." in panel.banner.detail
            showcase.server.heal()

    qloop.run(scene())


@pytest.mark.parametrize("deed", ["part", "cash-instead"])
def test_only_counted_cash_is_spoken_of(qloop: QLoop, theme: Theme, tmp_path: Path, deed: str) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            error, held = ServiceUnavailableError("away"), sale_of(showcase)
            booked = "The cash is not booked"
            assert booked in refusal_words(deed, error, held, counted=True).detail
            assert booked not in refusal_words(deed, error, held).detail
            attempt = PaymentAttempt("k", OperationKind.CASH, "cash", 100, showcase.console.desk.now(), 100)
            unwritten = replace(held, state=SaleState.UNKNOWN, payment=attempt)
            assert booked not in refusal_words(deed, error, unwritten, counted=True).detail, "it may be booked"

    qloop.run(scene())


# ---------------------------------------------------------------- parked sales


def test_the_keyboard_stays_on_a_parked_sale_while_its_words_change(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console, panel = showcase.console, panel_of(showcase)
            store = console.desk.store
            for row_no in (20, 22):
                await hold(showcase, 1, row_no)
                console.deeds.start("park", console.bindings.sale._park)
                await rest(showcase)
            first, second = panel.parked.buttons
            assert first.height() >= 2 * first.fontMetrics().lineSpacing() + 16, "two lines, and room around them"
            second.setFocus()
            store.put_given_up(1)
            await rest(showcase)
            assert panel.parked.buttons == (first, second)
            assert QApplication.focusWidget() is second
            paid = replace(store.parked[1], state=SaleState.PAID)
            store.put_parked(paid)
            await rest(showcase)
            assert panel.parked_texts[1].startswith("Paid, tickets to print")
            assert QApplication.focusWidget() is second
            store.take_parked(paid.sale_id)
            await rest(showcase)
            assert QApplication.focusWidget() is first, "the next one that waits"
            store.take_parked(store.parked[0].sale_id)
            await rest(showcase)
            assert QApplication.focusWidget() is not console.window.screens.counter.back
            assert not panel.parked.isVisible()

    qloop.run(scene())


# ---------------------------------------------------------------- the map


@pytest.mark.parametrize("held", ["space", "button"])
def test_what_goes_up_elsewhere_is_not_held_down_here(qloop: QLoop, theme: Theme, tmp_path: Path, held: str) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            screens, house = showcase.console.window.screens, showcase.server.house
            seat_map = screens.counter.map
            seat = house.free_run(1, 20)[0]  # type: ignore[attr-defined]
            seat_map.ensure_visible(seat)
            await rest(showcase)
            spot = seat_map.seat_rect(seat).center()
            seat_map.setFocus()
            if held == "space":
                QTest.keyPress(seat_map, Qt.Key.Key_Space)
            else:
                QTest.mousePress(seat_map, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, spot)
            screens.counter.back.setFocus()
            await rest(showcase)
            QTest.mouseMove(seat_map, spot)
            QTest.mouseClick(seat_map, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot)
            await rest(showcase)
            assert [one.seat_no for one in sale_of(showcase).picks] == [seat]

    qloop.run(scene())


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier])
def test_space_with_another_key_is_no_space(
    qloop: QLoop, theme: Theme, tmp_path: Path, modifier: Qt.KeyboardModifier
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map, house = showcase.console.window.screens.counter.map, showcase.server.house
            seat_map.focus_seat(house.free_run(1, 20)[0])  # type: ignore[attr-defined]
            QTest.keyClick(seat_map, Qt.Key.Key_Space, modifier)
            await rest(showcase)
            assert showcase.console.desk.store.sale is None
            QTest.keyClick(seat_map, Qt.Key.Key_Space)
            await rest(showcase)
            assert len(sale_of(showcase).picks) == 1

    qloop.run(scene())


# ---------------------------------------------------------------- who listens


def test_a_banner_is_said_aloud_once_for_each_thing_it_says(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, bool]] = []
    monkeypatch.setattr("widgets.status_banner.announce", lambda _of, text, *, urgent: said.append((text, urgent)))
    banner = StatusBanner(theme)
    qtbot.addWidget(banner)
    banner.tell("warn", "Somebody was faster", "Choose other seats.")
    banner.tell("warn", "Somebody was faster", "Choose other seats.")
    banner.tell("success", "The tickets are printed")
    banner.clear()
    banner.tell("success", "The tickets are printed")
    assert said == [
        ("Somebody was faster\nChoose other seats.", True),
        ("The tickets are printed", False), ("The tickets are printed", False),
    ]  # fmt: skip


def test_what_is_announced_reaches_who_listens(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[QAccessible.Event, str, QAccessible.AnnouncementPoliteness]] = []

    def hear(event: QAccessibleAnnouncementEvent) -> None:
        heard.append((event.type(), event.message(), event.politeness()))

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    banner = StatusBanner(theme)
    qtbot.addWidget(banner)
    banner.tell("danger", "Do not take the card again")
    kind, politeness = QAccessible.Event.Announcement, QAccessible.AnnouncementPoliteness.Assertive
    assert heard == [(kind, "Do not take the card again", politeness)]


# ---------------------------------------------------------------- a slow disk


def test_the_counter_goes_on_while_a_slow_disk_takes_the_settings(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, bodies = threading.Event(), list[bytes]()

    def slow(_path: Path, body: bytes) -> None:
        assert written.wait(20.0), "nobody went on"
        bodies.append(body)

    monkeypatch.setattr("app.settings.write_whole", slow)

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            console = showcase.console
            console.settings.path = tmp_path / "settings.toml"
            console.bindings.looks.remember(LAST_EVENT, 1)
            await until(lambda: console.deeds.is_running("keep-settings"), "the writing")
            for number in (2, 3):
                console.bindings.looks.remember(LAST_EVENT, number)
            for _turn in range(50):
                await asyncio.sleep(0.001)
            assert bodies == []
            written.set()
            await rest(showcase)
            assert b"last_event = 3" in bodies[-1]
            assert len(bodies) <= 2, "the first, and what came meanwhile"
            console.bindings.looks.remember(LAST_EVENT, 4)
            await console.bindings.looks.keep_now()
            assert b"last_event = 4" in bodies[-1]
            await rest(showcase)

    qloop.run(scene())
