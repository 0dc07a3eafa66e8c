"""The settings screen: who may set what, two managers at once, answers that get lost, taking back, and the keyboard."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.actions.desk import CardWay
from app.screens.setting_controls import ChoiceControl, EntryControl, FlagControl, LimitControl
from app.screens.settings_form import SettingRow
from app.screens.settings_page import SettingsPage
from app.screens.settings_screen import EVENT_TAB, HOUSE_TAB, TILL_TAB, SettingsScreen
from app.settings import CARD_WAY, HAND_OVER_AFTER_S
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.wire import EventId, EventStatus
from tests.gui.conftest import QLoop, calm, counter_of, rest, until
from tests.gui.money_hands import mean_it, press
from widgets.theme import Theme

REFUND = "max_refund_by_clerk_minor"


def screen_of(showcase: Showcase) -> SettingsScreen:
    return showcase.console.window.screens.settings


def page_of(showcase: Showcase) -> SettingsPage:
    return screen_of(showcase).page


def row_of(showcase: Showcase, key: str) -> SettingRow:
    return page_of(showcase).form.rows[key]


@asynccontextmanager
async def settings_of(folder: Path, name: str = "sofia", tab: int = EVENT_TAB) -> AsyncIterator[Showcase]:
    """A console at its settings."""
    async with counter_of(folder, name, open_event=False) as showcase:
        showcase.console.window.screen_requested.emit("settings")
        screen_of(showcase).show_tab(tab)
        await until(lambda: page_of(showcase).form.rows, "the settings")
        await rest(showcase)
        yield showcase


def type_into(showcase: Showcase, key: str, text: str) -> None:
    """As a hand does it: what stands there is replaced."""
    control = row_of(showcase, key).control
    entry = control.entry if isinstance(control, LimitControl) else control
    assert isinstance(entry, EntryControl)
    entry.edit.selectAll()
    QTest.keyClicks(entry.edit, text)


def say_why(showcase: Showcase, reason: str) -> None:
    page_of(showcase).card.reason.selectAll()
    QTest.keyClicks(page_of(showcase).card.reason, reason)


async def save(showcase: Showcase, reason: str = "the season") -> str:
    card = page_of(showcase).card
    if reason:
        say_why(showcase, reason)
    assert card.save.isEnabled()
    await mean_it(card.save)
    await rest(showcase)
    return page_of(showcase).banner.title


def test_a_supervisor_sets_money_and_takes_it_back(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path) as showcase:
            book, card = showcase.server.settings, page_of(showcase).card
            assert not card.save.isEnabled()
            type_into(showcase, REFUND, "350,5")
            type_into(showcase, "hold_ttl_s", "420")
            assert card.changes.facts == [
                ("A clerk may give back of one order", "€200.00 → €350.50"),
                ("A hold lasts", "300 seconds → 420 seconds"),
            ]
            assert not card.save.isEnabled(), "nobody has said why"
            say_why(showcase, "the season")
            card.save.click()
            await rest(showcase)
            assert card.save.text() == "Change 2 settings for everybody?"
            assert book.log == [], "the first press asks"
            assert await save(showcase) == "Saved"
            assert book.log == [("sofia", "hold_ttl_s, max_refund_by_clerk_minor", "the season")]
            assert (book.read_event().max_refund_by_clerk_minor, book.read_event().hold_ttl_s) == (35_050, 420)
            card.undo.click()
            assert card.changes.facts[0][1] == "€350.50 → €200.00"
            assert await save(showcase, "") == "Saved"
            assert book.read_event().max_refund_by_clerk_minor == 20_000
            assert book.log[-1][2] == "Taken back"

    qloop.run(scene())


def test_what_somebody_else_has_set_meanwhile_is_never_overwritten_unseen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path) as showcase:
            book = showcase.server.settings
            type_into(showcase, REFUND, "100")
            book.change_behind_the_back(max_refund_by_clerk_minor=5_000, max_per_account=2)
            assert await save(showcase) == "Somebody has changed these settings meanwhile"
            assert book.read_event().max_refund_by_clerk_minor == 5_000, "nothing of ours was set"
            row = row_of(showcase, REFUND)
            assert row.note.text() == "Somebody has changed this meanwhile: €200.00 → €50.00"
            assert "6 tickets → 2 tickets" in row_of(showcase, "max_per_account").note.text()
            assert isinstance(row.control, EntryControl)
            assert row.control.edit.text() == "100", "what was typed stays"
            assert page_of(showcase).card.changes.facts == [
                ("A clerk may give back of one order", "€50.00 → €100.00")
            ], "from what is there now; what the other one has set of the rest stays"
            assert await save(showcase) == "Saved"
            assert (book.read_event().max_refund_by_clerk_minor, book.read_event().max_per_account) == (10_000, 2)
            assert not row_of(showcase, REFUND).note.isVisible()

    qloop.run(scene())


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.REQUEST_LOST, Fault.BUSY, Fault.UNREACHABLE])
def test_a_change_whose_answer_is_lost_is_made_once(qloop: QLoop, theme: Theme, tmp_path: Path, fault: Fault) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path) as showcase:
            book = showcase.server.settings
            type_into(showcase, "grace_s", "90")
            showcase.server.fail(fault, "/settings", times=1 if fault is not Fault.UNREACHABLE else 50)
            title = await save(showcase)
            if fault is Fault.UNREACHABLE:
                assert title == "The booking system does not answer"
                assert row_of(showcase, "grace_s").control.text == "90"
                showcase.server.heal()
                title = await save(showcase)
            assert title == "Saved"
            assert len(book.log) == 1
            assert book.read_event().grace_s == 90

    qloop.run(scene())


@pytest.mark.parametrize(
    ("name", "tab", "may_set"),
    [
        ("omar", EVENT_TAB, {"hold_ttl_s", "admission", "orphan_rule"}),
        ("sofia", EVENT_TAB, {"hold_ttl_s", "admission", "orphan_rule", REFUND}),
        ("sofia", HOUSE_TAB, set()),
        ("ada", HOUSE_TAB, {"zone", "run_at_hour", "second_person_above_minor", "limits_by_currency/EUR"}),
        ("omar", TILL_TAB, set()),
        ("sofia", TILL_TAB, {"card_way", "hand_over_after_s"}),
    ],
)
def test_roles_set_what_the_booking_system_lets_them(
    qloop: QLoop, theme: Theme, tmp_path: Path, name: str, tab: int, may_set: set[str]
) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path, name, tab) as showcase:
            page = page_of(showcase)
            enabled = {key for key, row in page.form.rows.items() if row.control.isEnabled()}
            assert may_set <= enabled
            assert bool(enabled) == bool(may_set)
            assert (REFUND in enabled) == (REFUND in may_set)
            assert page.card.save.isVisible() == bool(may_set)
            assert page.read_only.isVisible() == (not may_set)

    qloop.run(scene())


def test_clerks_have_no_settings_and_a_cancelled_event_can_be_read_alone(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path / "carla", open_event=False) as showcase:
            showcase.console.window.screen_requested.emit("settings")
            await rest(showcase)
            assert showcase.console.window.screens.current is not screen_of(showcase)
        async with settings_of(tmp_path / "sofia") as showcase:
            store = showcase.console.desk.store
            store.put_events(tuple(replace(event, status=EventStatus.CANCELLED) for event in store.events))
            await until(page_of(showcase).read_only.isVisible, "why nothing can be set")
            assert page_of(showcase).read_only.text().startswith("This event is cancelled")
            assert not any(row.control.isEnabled() for row in page_of(showcase).form.rows.values())

    qloop.run(scene())


def test_the_house_has_a_limit_for_each_currency(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path, "ada", HOUSE_TAB) as showcase:
            book = showcase.server.settings
            limit = row_of(showcase, "limits_by_currency/EUR").control
            assert isinstance(limit, LimitControl)
            assert not limit.entry.isEnabled()
            limit.mode.setCurrentIndex(1)
            limit.mode.activated.emit(1)
            assert not page_of(showcase).card.save.isEnabled(), "above what?"
            type_into(showcase, "limits_by_currency/EUR", "150")
            assert "€500.00" in row_of(showcase, "second_person_above_minor").words.text()
            assert await save(showcase) == "Saved"
            assert book.read_house().limits_by_currency == {"EUR": 15_000}
            assert book.read_house().second_person_above_minor == 50_000
            page_of(showcase).card.undo.click()
            assert page_of(showcase).card.changes.facts == [("EUR", "€150.00 → as all others")]
            assert await save(showcase, "") == "Saved"
            assert book.read_house().limits_by_currency == {}
            type_into(showcase, "zone", "Mars/Olympus")
            assert row_of(showcase, "zone").note.text() == "There is no such time zone"
            assert not page_of(showcase).card.save.isEnabled()

    qloop.run(scene())


def test_a_value_that_the_booking_system_refuses_is_named(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path, "ada", HOUSE_TAB) as showcase:
            sets = showcase.console.desk.store.settings_desk
            type_into(showcase, "run_at_hour", "5")
            sets.put_faults("house", {"zone": "setting-refused"})
            assert row_of(showcase, "zone").note.text() == "The booking system does not take this value"
            assert page_of(showcase).card.fault.text() == "Not right yet: Time zone of business days"
            type_into(showcase, "zone", "UTC")
            assert not row_of(showcase, "zone").note.isVisible()
            assert await save(showcase) == "Saved"

    qloop.run(scene())


def test_this_till_takes_cards_another_way_at_once(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path, "sofia", TILL_TAB) as showcase:
            console = showcase.console
            console.settings.path = tmp_path / "settings.toml"
            way = row_of(showcase, "card_way").control
            assert isinstance(way, ChoiceControl)
            way.box.setCurrentIndex(way.box.findData("reader"))
            way.box.activated.emit(way.box.currentIndex())
            type_into(showcase, "hand_over_after_s", "120")
            assert await save(showcase, "") == "Saved"
            assert console.desk.card_way is CardWay.READER
            assert console.desk.patience.hand_over_s == 120
            kept = tomllib.loads((tmp_path / "settings.toml").read_text())
            assert (kept["card_way"], kept["hand_over_after_s"]) == ("reader", 120)
            console.settings.path = tmp_path / "settings.toml" / "no-folder"
            type_into(showcase, "hand_over_after_s", "240")
            title = await save(showcase, "")
            assert title != "Saved"
            assert console.settings.get(HAND_OVER_AFTER_S) == 120, "all or nothing"
            assert console.desk.patience.hand_over_s == 120
            assert console.settings.get(CARD_WAY) == "reader"

    qloop.run(scene())


def test_the_keyboard_alone_changes_a_setting(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia", open_event=False) as showcase:
            await press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: screen_of(showcase).isVisible() and page_of(showcase).form.rows, "the settings")
            await rest(showcase)
            first = row_of(showcase, REFUND).control
            assert isinstance(first, EntryControl)
            for _step in range(12):
                if first.edit.hasFocus():
                    break
                await press(Qt.Key.Key_Tab)
            assert first.edit.hasFocus()
            QTest.keyClicks(first.edit, "9")
            card = page_of(showcase).card
            for _press in range(5):
                await press(Qt.Key.Key_Return)
            await press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
            assert showcase.server.settings.log == []
            card.reason.setFocus()
            QTest.keyClicks(card.reason, "x y")
            for _press in range(3):
                await press(Qt.Key.Key_Return)
            await rest(showcase)
            assert showcase.server.settings.log == [], "Enter goes to the button, and held down it saves nothing"
            await calm(card.save)
            await press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: card.save.means_it, "the question to be answered")
            await press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
            await rest(showcase)
            assert len(showcase.server.settings.log) == 1

    qloop.run(scene())


def test_what_is_typed_outlives_a_language_and_goes_with_the_person(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path) as showcase:
            type_into(showcase, "max_per_card", "3")
            say_why(showcase, "touts")
            flag = row_of(showcase, "admission").control
            assert isinstance(flag, FlagControl)
            flag.tick.click()
            window = showcase.console.window
            window.language_chosen.emit("ar")
            await rest(showcase)
            assert window.screens.current is screen_of(showcase)
            assert row_of(showcase, "max_per_card").control.text == "3"
            assert row_of(showcase, "admission").control.text == "yes"
            assert page_of(showcase).card.reason.text() == "touts"
            window.sign_out_requested.emit()
            await until(lambda: showcase.console.desk.store.session is None, "nobody")
            assert showcase.console.desk.store.settings_desk.of("event:1").typed == {}
            assert QApplication.activeModalWidget() is None

    qloop.run(scene(), 90)


def test_the_answer_for_an_event_names_it_where_another_is_looked_at_by_now(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with settings_of(tmp_path) as showcase:
            store, screen, book = showcase.console.desk.store, screen_of(showcase), showcase.server.settings
            first = store.events[0]
            store.put_events((first, replace(first, event_id=EventId(2), name="Aida")))
            type_into(showcase, "max_per_card", "3")
            say_why(showcase, "touts")
            await mean_it(screen.event_page.card.save)
            showcase.server.delay("/settings", 0.3)
            screen.event_chosen.emit(2)
            assert store.settings_desk.event == "event:2"
            await until(lambda: book.log, "the change")
            await until(screen.event_page.banner.isVisible, "the answer")
            assert screen.event_page.banner.title == f"{first.name} · Saved"
            assert book.read_event().max_per_card == 3
            await rest(showcase)

    qloop.run(scene())
