"""Paying in parts in the real windows: by keyboard, and what goes back when the buyer leaves (P1)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.sale import EndReason, SaleState
from app.screens.part_dialog import PartDialog, proposed_parts
from tests.gui.conftest import QLoop, calm, counter_of, hold, key_held_down, panel_of, rest, sale_of, state_of, until
from tests.gui.money_hands import mean_it, modal, opened, other_than, paid_so_far, press
from widgets.key_gate import keyboard
from widgets.theme import Theme


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
            with key_held_down():
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


@pytest.mark.parametrize("amount", [2**31 - 1, 2**31, 10**12])
def test_an_amount_of_any_size_goes_into_the_field(qloop: QLoop, theme: Theme, amount: int) -> None:
    """Three thousand million dong are no rarity; a signal's `int` has 32 bits."""
    parent = QWidget()
    dialog = PartDialog(theme, 2 * amount, "VND", (amount,), by_card=True, parent=parent)
    dialog.amount.clear()
    dialog.quick[0].click()
    assert dialog.part_minor == amount
    parent.deleteLater()


def test_the_next_enter_after_the_dialogs_own_is_a_new_one(
    qloop: QLoop, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog that had the press hears the release: else the next one takes Enter for held down."""
    now = 0.0
    monkeypatch.setattr(keyboard, "_now", lambda: now)
    keyboard.forget()
    parent = QWidget()
    dialog = PartDialog(theme, 9000, "EUR", (4500,), by_card=True, parent=parent)
    QTest.keyPress(dialog, Qt.Key.Key_Return)
    now = 0.5
    QTest.keyRelease(dialog, Qt.Key.Key_Return)
    now = 1.0
    assert keyboard.press()
    keyboard.forget()
    parent.deleteLater()
