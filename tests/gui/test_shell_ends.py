"""Closing, failing, signing out and coming back (D2, D3)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.bridge.crash import CrashReporter
from app.core.sale import SaleState
from app.devices.fake_terminal import AwaitAbort
from app.screens.bindings import Credentials
from app.settings import Settings
from app.showcase import PASSWORD, Showcase, make_showcase
from backend_client.errors import NotSignedInError
from backend_client.feed_protocol import FeedState
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, pick, release, rest, sale_of, state_of, until
from widgets.theme import Theme


def modal() -> Any:
    return QApplication.activeModalWidget()


@pytest.mark.parametrize("state", ["held", "paying"])
def test_closing_during_a_sale_asks_and_staying_changes_nothing_d2(
    qloop: QLoop, theme: Theme, tmp_path: Path, state: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console = showcase.console
            showcase.terminal.play(AwaitAbort())
            await hold(showcase)
            if state == "paying":
                panel_of(showcase).sale_page.card.click()
                await until(lambda: console.desk.store.terminal_progress, "the terminal")
            before = state_of(showcase)
            console.window.close()
            await until(lambda: modal() is not None, "the question")
            assert console.window.isVisible()
            assert modal().no.hasFocus()
            assert ("Do not take the card again" in modal().words.detail) is (state == "paying")
            modal().reject()
            await until(lambda: modal() is None, "the answer")
            await asyncio.sleep(0.02)
            assert state_of(showcase) is before
            assert not console.ended.done()
            console.window.close()
            await until(lambda: modal() is not None, "the question again")
            modal().accept()
            assert await console.ended == 0

    qloop.run(scene())


def test_closing_without_a_sale_does_not_ask_d2(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> int:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            showcase.console.window.close()
            return await asyncio.wait_for(showcase.console.ended, 60)

    assert qloop.run(scene()) == 0


def test_a_failing_slot_is_one_calm_message_and_the_counter_goes_on_d3(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        crash = CrashReporter()
        async with counter_of(tmp_path) as showcase:
            crash.failure_seen.connect(showcase.console.bindings.tell_failure)
            for _time in range(3):
                crash.report("slot", ZeroDivisionError("boom"))
            banner = panel_of(showcase).banner
            await until(banner.isVisible, "a message")
            assert banner.title == "That did not work"
            assert "boom" not in banner.title + banner.detail
            await hold(showcase)
            panel_of(showcase).sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale after the failure")

    qloop.run(scene())


def test_signing_out_asks_during_a_sale_and_forgets_the_session(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console = showcase.console
            await hold(showcase)
            console.window.sign_out_requested.emit()
            await until(lambda: modal() is not None, "the question")
            modal().accept()
            await until(lambda: console.desk.store.session is None, "the session to end")
            await rest(showcase)
            assert console.window.screens.current is console.window.screens.sign_in
            assert console.desk.store.feed_state is FeedState.CLOSED

    qloop.run(scene())


def test_a_session_that_ended_while_nobody_did_anything_leads_to_sign_in_too(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Only the background has heard of it; the counter would be dead, and call the clerk a role that watches."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console = showcase.console
            await pick(showcase)
            showcase.server.sign_everybody_out()
            with pytest.raises(NotSignedInError):
                await console.desk.client.me()
            screens = console.window.screens
            await until(lambda: screens.current is screens.sign_in, "the sign-in screen")
            assert screens.sign_in.banner.title == "You are signed out"
            await rest(showcase)
            await sign_in_again(showcase)
            assert console.desk.store.session is not None

    qloop.run(scene())


async def sign_in_again(showcase: Showcase) -> None:
    screen, store = showcase.console.window.screens.sign_in, showcase.console.desk.store
    screen.name.setText("carla")
    screen.password.setText(PASSWORD)
    screen.sign_in.click()
    await until(lambda: store.session is not None and "sign-in" not in showcase.console.deeds.running, "the session")
    await rest(showcase)


def test_who_signs_out_of_a_silent_booking_system_is_at_the_sign_in_at_once_and_typing_goes_on(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the old session neither takes the keyboard from the next person nor ends the session of theirs."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console, answered = showcase.console, asyncio.Event()
            client, screen = console.desk.client, console.window.screens.sign_in
            end_at_api = client.sign_out

            async def sign_out_late() -> None:
                await answered.wait()
                await end_at_api()

            monkeypatch.setattr(client, "sign_out", sign_out_late)
            console.window.sign_out_requested.emit()
            await until(lambda: console.window.screens.current is screen, "the sign-in screen")
            assert not answered.is_set()
            screen.name.setText("carla")
            screen.password.setText(PASSWORD)
            screen.password.setFocus()
            screen.sign_in.click()
            await until(lambda: console.deeds.is_running("sign-in"), "the next person")
            answered.set()
            await until(lambda: "sign-in" not in console.deeds.running, "the session")
            await rest(showcase)
            assert console.desk.store.session is not None
            assert client.session is not None

    qloop.run(scene())


def test_a_session_that_the_booking_system_ended_leads_to_sign_in(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            showcase.server.sign_everybody_out()
            panel_of(showcase).sale_page.hold.click()
            screens = showcase.console.window.screens
            await until(lambda: screens.current is screens.sign_in, "the sign-in screen")
            await rest(showcase)
            assert screens.sign_in.banner.title == "You are signed out"

    qloop.run(scene())


def test_a_resumed_sale_is_shown_at_the_counter_with_a_word(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as first:
            seats = await hold(first)
            server = first.server
        again = make_showcase(tmp_path, Settings(), server=server)
        try:
            again.console.window.show()
            again.console.bindings.start(Credentials("carla", PASSWORD))
            screens = again.console.window.screens
            await until(lambda: screens.current is screens.counter, "the counter")
            await rest(again)
            assert state_of(again) is SaleState.HELD
            assert sale_of(again).seats == frozenset(seats)
            assert panel_of(again).banner.title == "An open sale was found again"
            assert panel_of(again).sale_page.card.isVisible()
        finally:
            await again.close()

    qloop.run(scene())


def test_leaving_for_the_events_during_a_hold_is_refused_in_words(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            screens = showcase.console.window.screens
            screens.counter.back.click()
            await rest(showcase)
            assert screens.current is screens.counter
            assert panel_of(showcase).banner.isVisible()
            await release(showcase)
            await rest(showcase)
            screens.counter.back.click()
            await until(lambda: screens.current is screens.events, "the events")
            await rest(showcase)

    qloop.run(scene())


def test_dialogs_and_screens_survive_their_deletion_while_deeds_run(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            old = showcase.console.window.screens
            for code in ("pt", "ja", "ar", "en"):
                showcase.console.window.language_chosen.emit(code)
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            await rest(showcase)
            assert showcase.console.window.screens is not old
            await hold(showcase)

    qloop.run(scene())


def test_whoever_is_being_signed_in_stands_there_and_not_who_was_here_last(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            bindings, screen = showcase.console.bindings, showcase.console.window.screens.sign_in
            bindings._go_to_sign_in()
            await rest(showcase)
            screen.name.setText("sofia")
            showcase.server.delay("/sessions", 0.5)
            bindings.start(Credentials("carla", PASSWORD))
            assert screen.name.text() == "carla"
            assert screen.sign_in.busy  # nobody else types a name meanwhile in vain
            await until(lambda: not screen.sign_in.busy, "the sign-in")

    qloop.run(scene(), 40)
