"""The window around a sale: escape, refusals, lost answers, a cut link (S5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.sale import SaleState
from app.devices.fake_terminal import Decline
from backend_client.testing import Fault
from tests.gui.conftest import QLoop, calm, counter_of, hold, panel_of, pick, rest, sale_of, state_of, until
from widgets.theme import Theme


def test_escape_twice_releases_the_seats_and_once_only_asks(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            window, release = showcase.console.window, panel_of(showcase).sale_page.release
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert release.text() == "Press Esc again to release the seats"
            assert not release.hasFocus()  # so that Enter or Space do not release by accident
            QTest.keyClick(window, Qt.Key.Key_Escape)  # a key held down
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            await until(lambda: release.means_it, "a pause")
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await until(lambda: state_of(showcase) is SaleState.ABANDONED, "the release")
            await rest(showcase)
            await pick(showcase)
            showcase.console.bindings.sale.keys.forget()
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await rest(showcase)
            assert showcase.console.desk.store.sale is None

    qloop.run(scene())


def test_a_refused_price_type_goes_back_to_what_counts(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(Decline())
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: state_of(showcase) is SaleState.DECLINED, "a decline")
            await rest(showcase)
            showcase.server.fail(Fault.BUSY, "/cancel", times=20)
            types = panel_of(showcase).sale_page.lines[0].types
            types.setFocus()
            QTest.keyClick(types, Qt.Key.Key_Down)
            await until(panel_of(showcase).banner.isVisible, "the refusal", 20)
            await rest(showcase)
            assert types.currentData() == sale_of(showcase).picks[0].price_type_id == 1

    qloop.run(scene(), 40)


def test_a_lost_answer_to_a_hold_can_be_asked_again_or_given_up(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            showcase.server.fail(Fault.ANSWER_LOST, "/holds", times=9)
            page = panel_of(showcase).sale_page
            page.hold.click()
            await until(panel_of(showcase).banner.isVisible, "an explanation", 20)
            await rest(showcase)
            showcase.server.heal()
            assert state_of(showcase) is SaleState.HOLDING
            assert page.release.isVisible()
            page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "the hold that had been won")
            assert len(showcase.server.house.holds) == 1
            await rest(showcase)

    qloop.run(scene(), 40)


def test_a_role_that_watches_sees_the_map_and_cannot_sell(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "omar") as showcase:
            await rest(showcase)
            panel = panel_of(showcase)
            assert panel.watch_page.isVisible()
            assert "Operations" in panel.watch_page.words.text()
            counter = showcase.console.window.screens.counter
            counter.seat_chosen.emit(showcase.server.house.free_run(1)[0])  # type: ignore[attr-defined]
            for key in (Qt.Key.Key_F5, Qt.Key.Key_F6, Qt.Key.Key_F8):
                QTest.keyClick(showcase.console.window, key)
            await rest(showcase)
            assert showcase.console.desk.store.sale is None
            assert not any(call.method == "POST" and "holds" in call.path for call in showcase.server.calls)
            assert counter.map.plan.seat_count > 700

    qloop.run(scene())


def test_a_cut_link_shows_the_map_as_stale_and_heals_s5(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            screens, server = showcase.console.window.screens, showcase.server
            assert not screens.counter.stale.isVisible()
            server.feed_reachable = False
            server.cut_feeds()
            await until(screens.counter.stale.isVisible, "the stale banner")
            assert screens.counter.stale.title == "The map may be out of date"
            assert screens.strip.feed.state == "trouble"
            sold = server.house.free_run(3, 5)  # type: ignore[attr-defined]
            server.sell_elsewhere(*sold)
            server.feed_reachable = True
            await until(lambda: not screens.counter.stale.isVisible(), "the banner to go", 4)
            store = showcase.console.desk.store
            assert store.seat_map is not None
            assert not any(store.seat_map.is_pickable(seat) for seat in sold)
            assert screens.strip.feed.state == "good"

    qloop.run(scene())


@pytest.mark.parametrize("deed", ["hold", "exact-cash"])
def test_that_the_booking_system_is_away_is_said_no_longer_than_it_is_so(
    qloop: QLoop, theme: Theme, tmp_path: Path, deed: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await (pick(showcase) if deed == "hold" else hold(showcase))
            panel = panel_of(showcase)
            button = panel.sale_page.hold if deed == "hold" else panel.sale_page.exact_cash
            await calm(button)
            showcase.server.fail(Fault.UNREACHABLE, "/", times=500)
            button.click()
            await until(panel.banner.isVisible, "the refusal")
            assert panel.banner.title == "The booking system does not answer"
            showcase.server.heal()
            await until(lambda: panel.banner.title == "The booking system answers again", "the way back")
            booked = "The cash is not booked: give the money back, or try again."
            assert panel.banner.detail == ("Try again what did not work." if deed == "hold" else booked)
            await rest(showcase)
            button.click()
            await until(panel.banner.isHidden, "the next step")

    qloop.run(scene(), 60)
