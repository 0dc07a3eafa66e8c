"""A printer that fails, a terminal that hangs, a full disk: the counter goes on, and says what is the matter."""

from __future__ import annotations

import asyncio
import errno
import logging
import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.actions.pay_cash import pay_cash
from app.core.errors import (
    DeviceFileDamagedError,
    DeviceFileNotWrittenError,
    JournalDamagedError,
    JournalInUseError,
    JournalWriteError,
)
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.fake_terminal import AwaitAbort, LoseLine
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketSheet
from app.main import refuse_start
from app.screens import paying_page
from app.screens.refused_start import RefusedStart, start_words
from app.screens.trouble_words import decline_title, decline_words
from app.screens.words import advice_for
from app.settings import Settings
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, rest, sale_of, state_of, until
from widgets.theme import Theme


class BrokenPrinter:
    """Fails, and says why."""

    @property
    def name(self) -> str:
        return "BOCA"

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        del sheet
        return PrintOutcome(PrintState.FAILED, detail="[Errno 28] No space left", reason="disk-full")


def test_a_failing_printer_does_not_close_the_counter_h4(
    qloop: QLoop, theme: Theme, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            desk = showcase.console.desk
            good, desk.printer = desk.printer, BrokenPrinter()
            await hold(showcase)
            panel, strip = panel_of(showcase), showcase.console.window.screens.strip
            with caplog.at_level(logging.ERROR):
                panel.sale_page.exact_cash.click()
                await until(panel.outcome_page.banner.isVisible, "the reason")
                await rest(showcase)
            assert "disk for the ticket files is full" in panel.outcome_page.banner.detail
            assert "No space left" in caplog.text
            await until(lambda: strip.printer.state == "trouble", "the lamp")
            assert strip.printer.text == "Tickets: BOCA failed"
            assert panel.outcome_page.later.isVisible()
            panel.outcome_page.later.click()
            await until(lambda: desk.store.sale is None, "room for the next customer")
            await rest(showcase)
            assert [text.split("\n")[0] for text in panel.parked_texts] == ["Paid, tickets to print: €178.00"]
            desk.printer = good
            await hold(showcase, row_no=30)
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "the next customer's tickets")
            await until(lambda: strip.printer.state == "good", "the lamp")
            await rest(showcase)
            panel.outcome_page.next.click()
            await until(lambda: desk.store.sale is None, "the next customer")
            await rest(showcase)
            panel.parked_chosen.emit(desk.store.parked[0].sale_id)
            await until(panel.outcome_page.print_again.isVisible, "the parked sale")
            await rest(showcase)
            panel.outcome_page.print_again.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "its tickets")
            await rest(showcase)

    qloop.run(scene())


def test_a_hanging_terminal_is_timed_stopped_in_words_and_put_aside_h5(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paying_page, "QUIET_S", 0.1)

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(AwaitAbort())
            desk, panel = showcase.console.desk, panel_of(showcase)
            await hold(showcase)
            panel.sale_page.card.click()
            page = panel.paying_page
            await until(page.isVisible, "the payment")
            await until(lambda: page.countdown.figures, "the hold's time")
            assert page.elapsed.text().startswith("Running for 0:0")
            await until(page.park.isVisible, "the offer to put it aside")
            aborted = desk.terminal.abort  # type: ignore[union-attr]

            async def deaf() -> None:
                """The terminal does not answer the wish either."""

            monkeypatch.setattr(type(showcase.terminal), "abort", lambda terminal: deaf())
            QTest.mouseClick(page.stop, Qt.MouseButton.LeftButton)
            await until(lambda: page.progress.text().startswith("Stop requested"), "the stop to be said")
            assert not page.stop.isEnabled()
            assert page.park.isVisible()
            page.park.click()
            await until(lambda: desk.store.sale is None, "the next customer")
            await until(lambda: panel.parked_texts, "the parked payment")
            assert panel.parked_texts[0].startswith("Card payment still running: €178.00")
            assert not panel.sale_page.card.busy
            monkeypatch.undo()
            await aborted()
            await until(lambda: NoticeCode.PARKED_SALE_FREE in {n.code for n in desk.store.notices}, "its end")
            await rest(showcase)
            assert panel.banner.title == "A parked payment was not charged"

    qloop.run(scene())


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("stopped-at-counter", "The payment was stopped"),
        ("aborted", "The payment did not come about"),
        ("cancelled-at-terminal", "The payment did not come about"),
        ("not-booked-at-terminal", "The payment did not come about"),
        ("host-silent", "The payment did not come about"),
        ("terminal-not-ready", "The payment did not come about"),
        ("card-not-readable", "The card could not be read"),
        ("insufficient-funds", "The card was declined"),
        ("declined-by-host", "The card was declined"),
    ],
)
def test_a_title_says_that_the_bank_said_no_only_when_it_did_m3(code: str, title: str) -> None:
    assert decline_title(code) == title
    assert title == "The card was declined" or "bank said no" not in decline_words(code)


def test_tickets_of_a_payment_that_cleared_up_are_printed_by_themselves_m6(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(LoseLine(booked=True))
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "tickets")
            await rest(showcase)
            assert len(list((tmp_path / "tickets").glob("*.pdf"))) == 1

    qloop.run(scene())


def test_a_paid_sale_is_printed_at_the_next_start_unless_paper_may_have_moved_m6(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def paid_and_left(*, unclear: bool) -> None:
        from app.screenshots import LosingPrinter

        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            if unclear:
                showcase.console.desk.printer = LosingPrinter()
                panel_of(showcase).sale_page.exact_cash.click()
                await until(lambda: sale_of(showcase).print_unclear, "an unclear print")
                await rest(showcase)
                for _look in range(5):
                    showcase.console.bindings.sale.print_if_due()
                    await rest(showcase)
                assert sale_of(showcase).print_unclear
                return
            await pay_cash(showcase.console.desk, sale_of(showcase).total_minor)
            await until(lambda: state_of(showcase) is SaleState.DONE, "tickets, without a word")
            await rest(showcase)

    qloop.run(paid_and_left(unclear=False))
    qloop.run(paid_and_left(unclear=True))


def test_settings_that_cannot_be_kept_stop_no_sign_in_h7(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("no folder")

    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            showcase.console.settings.path = tmp_path / "a-file" / "settings.toml"
            showcase.console.window.screens.events.event_chosen.emit(1)
            screens = showcase.console.window.screens
            await until(lambda: screens.current is screens.counter, "the event")
            await rest(showcase)
            assert panel_of(showcase).banner.title == "The settings cannot be kept"
            showcase.console.window.theme_chosen.emit("dark")
            showcase.console.window.language_chosen.emit("pt")
            await rest(showcase)
            assert showcase.console.desk.language == "pt"
            showcase.console.window.language_chosen.emit("en")
            await rest(showcase)

    qloop.run(scene())


def test_a_sign_in_goes_through_on_a_full_disk_h7(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(settings: Settings, *arguments: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Settings, "write", full)

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            assert showcase.console.desk.store.events
            await hold(showcase)

    qloop.run(scene())


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def _sqlite(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (OSError(errno.ENOSPC, "full"), "The disk of this counter is full"),
        (PermissionError(errno.EACCES, "no"), "The data folder of this counter cannot be written"),
        (_caused(JournalWriteError("x"), _sqlite(sqlite3.SQLITE_FULL)), "The disk of this counter is full"),
        (
            _caused(JournalWriteError("x"), _sqlite(sqlite3.SQLITE_READONLY)),
            "The data folder of this counter cannot be written",
        ),
        (
            _caused(DeviceFileNotWrittenError(Path("device.json")), OSError(errno.ENOSPC, "full")),
            "The disk of this counter is full",
        ),
        (DeviceFileDamagedError(Path("device.json")), "The device file of this counter cannot be read"),
        (JournalInUseError("x"), "Another console works with this data folder"),
        (JournalDamagedError("x"), "The journal of this counter cannot be read"),
    ],
)
def test_every_refused_start_has_words_of_its_own_m1(error: OSError, title: str) -> None:
    assert start_words(error).title == title
    assert start_words(error).detail


def test_a_refused_start_is_shown_in_a_window_until_it_is_closed_m1(
    qloop: QLoop, theme: Theme, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qloop.application.setQuitOnLastWindowClosed(False)

    async def scene() -> None:
        words = advice_for("journal-in-use")
        refusing = asyncio.ensure_future(refuse_start(words, tmp_path, Settings(), None, attended=True))

        def shown() -> list[RefusedStart]:
            return [window for window in QApplication.topLevelWidgets() if isinstance(window, RefusedStart)]

        await until(lambda: shown() and shown()[0].isVisible(), "the window")
        [dialog] = shown()
        assert dialog.title.text() == "Another console works with this data folder"
        assert dialog.detail.text() == "Close the other console first."
        assert dialog.where.text() == str(tmp_path)
        assert not refusing.done()
        dialog.shut.click()
        await refusing

    qloop.run(scene())
    said = capsys.readouterr().err
    assert "Another console works with this data folder" in said
    assert str(tmp_path) in said
