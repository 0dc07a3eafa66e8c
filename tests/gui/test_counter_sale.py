"""A sale at the counter, in the real windows over a booking system and a terminal in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pypdfium2
import pytest
import zxingcpp
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.core.sale import SaleState
from app.screens.map_words import SeatWords
from app.showcase import TheatreHouse
from backend_client.testing import Fault
from backend_client.wire import OrderStatus
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, pick, rest, sale_of, state_of, until
from widgets.countdown import Urgency
from widgets.theme import Theme


def press(key: Qt.Key, widget: QWidget | None = None) -> None:
    target = widget or QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key)


def modal() -> Any:
    return QApplication.activeModalWidget()


def test_a_sale_by_keyboard_alone_takes_four_keystrokes(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window, store = showcase.console.window, showcase.console.desk.store
            seat_map = window.screens.counter.map
            await until(seat_map.hasFocus, "the keyboard on the map")
            seat_map.focus_seat(showcase.server.house.free_run(1, 20)[0])  # type: ignore[attr-defined]
            press(Qt.Key.Key_Return)
            await until(lambda: state_of(showcase) is SaleState.PICKING, "a pick")
            await rest(showcase)
            press(Qt.Key.Key_F5)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await rest(showcase)
            press(Qt.Key.Key_F6)
            await until(lambda: state_of(showcase) is SaleState.DONE, "printed tickets")
            await rest(showcase)
            order = next(iter(showcase.server.house.orders.values()))
            assert order.status is OrderStatus.CONFIRMED
            press(Qt.Key.Key_F10)
            await until(lambda: store.sale is None, "the next customer")
            await until(seat_map.hasFocus, "the keyboard on the map again")

    qloop.run(scene())


def test_a_double_click_on_hold_holds_once_p1(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            button = panel_of(showcase).sale_page.hold
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            busy = [button.busy]
            QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await rest(showcase)
            assert [*busy, button.busy] == [True, False]
            assert len(showcase.server.house.holds) == 1

    qloop.run(scene())


def test_cash_with_change_shows_the_change_large_and_the_pdf_decodes(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> tuple[str, list[str]]:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            page = panel_of(showcase).sale_page
            total = sale_of(showcase).total_minor
            page.cash.click()
            await until(lambda: modal() is not None, "the cash dialog")
            dialog = modal()
            assert dialog.tendered.text() == f"{total / 100:.2f}"
            QTest.keyClicks(dialog.tendered, "200,00")  # typed over the selected total, with a comma (D6)
            assert dialog.change.text() == f"€{(20_000 - total) / 100:.2f}"
            press(Qt.Key.Key_Return, dialog)
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
            outcome = panel_of(showcase).outcome_page
            await rest(showcase)
            assert outcome.change.isVisible()
            assert outcome.change.text() == f"€{(20_000 - total) / 100:.2f}"
            job = sale_of(showcase).print_job
            assert job is not None
            order = next(iter(showcase.server.house.orders.values()))
            return job.location, [ticket.code for ticket in order.tickets]

    location, codes = qloop.run(scene())
    document = pypdfium2.PdfDocument(location)
    read = [zxingcpp.read_barcodes(page.render(scale=203 / 72).to_pil())[0].text for page in document]
    document.close()
    assert sorted(read) == sorted(codes)


def test_too_little_cash_cannot_be_taken(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel_of(showcase).sale_page.cash.click()
            await until(lambda: modal() is not None, "the cash dialog")
            dialog = modal()
            for text, words in (("1", "is missing"), ("abc", "not an amount"), ("", "Type an amount")):
                dialog.tendered.setText(text)
                assert not dialog.take.isEnabled()
                assert words in dialog.fault.text()
            press(Qt.Key.Key_Return, dialog)
            assert modal() is dialog
            press(Qt.Key.Key_Escape, dialog)
            await until(lambda: modal() is None, "the dialog to close")
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert not panel_of(showcase).sale_page.cash.busy

    qloop.run(scene())


def test_the_seat_feed_goes_on_while_the_cash_dialog_is_open_d1(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel_of(showcase).sale_page.cash.click()
            await until(lambda: modal() is not None, "the cash dialog")
            store = showcase.console.desk.store
            other = showcase.server.house.free_run(1, 0)[0]  # type: ignore[attr-defined]
            showcase.server.sell_elsewhere(other)
            assert store.seat_map is not None
            await until(lambda: store.seat_map is not None and not store.seat_map.is_pickable(other), "the feed's word")
            assert modal() is not None
            modal().reject()
            await rest(showcase)

    qloop.run(scene())


def test_seats_lost_to_another_are_named_and_flashed_and_the_rest_stays(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 3)
            house = showcase.server.house
            house.set_seats((seats[0],), 3)
            panel = panel_of(showcase)
            panel.sale_page.hold.click()
            await until(panel.banner.isVisible, "the loss to be told")
            await rest(showcase)
            lost = house.seat(seats[0])
            assert panel.banner.title == "Somebody was faster"
            assert f"Row {lost.row} · Seat {lost.number}" in panel.banner.detail
            assert [pick.seat_no for pick in sale_of(showcase).picks] == seats[1:]
            panel.sale_page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold of the rest")
            await rest(showcase)
            assert not panel.banner.isVisible()

    qloop.run(scene())


def test_the_countdown_runs_by_the_servers_clock_warns_in_the_last_minute_and_ends_the_sale(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel, server = panel_of(showcase), showcase.server
            countdown = panel.sale_page.countdown
            assert countdown.urgency is Urgency.CALM
            assert countdown.figures in {"4:59", "5:00", "4:58"}
            hold_id = next(iter(server.house.holds))
            server.pass_time(250)
            await showcase.console.desk.client.hold(hold_id)  # type: ignore[arg-type]
            await until(lambda: countdown.urgency is Urgency.WARNING, "the warning")
            assert countdown.accessibleName() == "The hold ends soon"
            server.pass_time(60)
            await showcase.console.desk.client.hold(hold_id)  # type: ignore[arg-type]
            await until(lambda: state_of(showcase) is SaleState.EXPIRED, "the end of the hold")
            await rest(showcase)
            assert panel.outcome_page.title.text() == "No tickets were sold"
            assert panel.outcome_page.banner.title == "The time ran out"
            panel.outcome_page.next.click()
            await until(lambda: showcase.console.desk.store.sale is None, "a new sale")

    qloop.run(scene())


def test_a_booking_system_that_is_away_is_explained_and_nothing_is_lost(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase)
            showcase.server.fail(Fault.BUSY, "/holds", times=20)
            panel = panel_of(showcase)
            panel.sale_page.hold.click()
            await until(panel.banner.isVisible, "an explanation", 25)
            await rest(showcase)
            showcase.server.heal()
            assert "booking system" in panel.banner.title
            assert sorted(sale_of(showcase).seats) == sorted(seats)
            assert state_of(showcase) is SaleState.PICKING
            panel.sale_page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")

    qloop.run(scene(), 40)


def test_the_printed_tickets_are_opened_by_the_desktop_and_no_long_name_is_shown(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def open_url(url: QUrl) -> bool:
        opened.append(Path(url.toLocalFile()))
        return len(opened) < 3

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel_of(showcase).sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "the tickets")
            await rest(showcase)
            panel, outcome = panel_of(showcase), panel_of(showcase).outcome_page
            job = sale_of(showcase).print_job
            assert job is not None
            texts = [label.text() for label in outcome.findChildren(QLabel) if label.isVisible()]
            assert not any(str(job.print_job_id) in text for text in texts)
            assert outcome.number.text() in texts
            outcome.open_file.click()
            outcome.open_folder.click()
            assert opened == [Path(job.location), Path(job.location).parent]
            assert opened[0].is_file()
            assert not panel.banner.isVisible()
            outcome.open_file.click()  # the desktop says no
            assert panel.banner.title == "This computer cannot show the file"
            Path(job.location).unlink()
            outcome.open_file.click()
            assert len(opened) == 3  # a file that is gone is not asked for

    qloop.run(scene())


def test_shapes_of_seats_are_explained_where_the_plan_has_them(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """Nobody should take a seat with a restricted view for one that is drawn badly."""
    house = TheatreHouse()
    flags = [0] * len(house.plan.seats.flags)
    flags[3] = 4
    seats = msgspec.structs.replace(house.plan.seats, flags=tuple(flags))
    house.plan = msgspec.structs.replace(house.plan, seats=seats)

    async def scene() -> None:
        async with counter_of(tmp_path, house=house) as showcase:
            counter, store = showcase.console.window.screens.counter, showcase.console.desk.store
            assert "Restricted view" in counter.legend.explained
            assert "Companion seat" not in counter.legend.explained
            words = SeatWords(store)
            assert "Restricted view" in words.tooltip(3).splitlines()
            assert "Restricted view" in words.spoken(3)
            assert "Restricted view" not in words.tooltip(4)

    qloop.run(scene())


def test_a_new_sale_shows_the_keys_until_the_first_seat_is_picked(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            page = panel_of(showcase).sale_page

            def shown() -> set[str]:
                return {label.text() for label in page.findChildren(QLabel) if label.isVisible()}

            assert {"F5", "Enter", "+ / −", "Hold the picked seats for the buyer"} <= shown()
            await pick(showcase)
            assert not {"F5", "Enter", "+ / −"} & shown()

    qloop.run(scene())


def test_an_unclear_print_is_never_repeated_by_itself_k7(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    from app.screenshots import LosingPrinter

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            desk = showcase.console.desk
            good, desk.printer = desk.printer, LosingPrinter()
            await hold(showcase)
            panel_of(showcase).sale_page.exact_cash.click()
            await until(lambda: sale_of(showcase).print_unclear, "an unclear print")
            await rest(showcase)
            outcome = panel_of(showcase).outcome_page
            assert outcome.came_out.isVisible()
            assert not outcome.print_again.isVisible()
            press(Qt.Key.Key_F10)
            await asyncio.sleep(0.05)
            assert sale_of(showcase).print_unclear
            desk.printer = good
            outcome.print_anew.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "the second print")

    qloop.run(scene())
