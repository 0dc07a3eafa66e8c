"""What the counter says of the map's truth, of seats that it will not pick, and of the server before anybody works."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.settings import Settings
from app.showcase import make_showcase
from backend_client.feed_protocol import FeedState
from backend_client.seat_frames import StaffStatus
from backend_client.testing import Fault
from tests.gui.conftest import QLoop, counter_of, panel_of, pick, rest, until
from widgets.theme import Theme


def test_a_map_whose_changes_stopped_coming_is_out_of_date_in_strip_and_banner(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """H6: the link is good and beats, but nobody numbers the changes."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            screens, server = showcase.console.window.screens, showcase.server
            assert screens.strip.feed.text == "Map live"
            server.sequencer_late_s = 90.0
            server.beat()
            await until(screens.counter.stale.isVisible, "the banner")
            assert "passes no changes" in screens.counter.stale.detail
            assert (screens.strip.feed.state, screens.strip.feed.text) == ("trouble", "Map out of date")
            server.cut_feeds()
            states: list[FeedState] = []
            store = showcase.console.desk.store
            unsubscribe = store.subscribe(lambda _change: states.append(store.feed_state))
            await until(lambda: FeedState.STALE in states and states[-1] is FeedState.LAGGING, "the next link")
            unsubscribe()
            assert screens.strip.feed.text == "Map out of date"
            server.sequencer_late_s = 0.0
            server.beat()
            await until(lambda: not screens.counter.stale.isVisible(), "the banner to go")
            assert (screens.strip.feed.state, screens.strip.feed.text) == ("good", "Map live")

    qloop.run(scene())


def test_the_strip_never_says_of_a_live_map_that_it_is_old(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """A quiet map is as right as a busy one; one that is not live says nothing that changes every second."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            strip, store = showcase.console.window.screens.strip, showcase.console.desk.store
            for age_s in (1.0, 112.0):
                store.hear_feed(store.clock.steady() - age_s)
                strip.show_feed()
                assert (strip.feed.state, strip.feed.text) == ("good", "Map live")
            store.put_feed_state(FeedState.LAGGING)
            for age_s in (1.0, 112.0):
                store.hear_feed(store.clock.steady() - age_s)
                strip.show_feed()
                assert strip.feed.text == "Map out of date"
            assert "1 min 52 s" in strip.feed.accessibleDescription() or "1:52" in strip.feed.accessibleDescription()
            store.put_feed_state(FeedState.LIVE)

    qloop.run(scene())


def test_a_map_is_followed_again_when_another_show_could_not_be_opened(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """What stays in front is not called live while nobody follows it."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await pick(showcase)
            console, server = showcase.console, showcase.server
            screens, store = console.window.screens, console.desk.store
            screens.counter.back.click()
            await until(lambda: screens.current is screens.events, "the list of events")
            await rest(showcase)
            server.fail(Fault.UNREACHABLE, "/v1/events/1", times=10_000)
            screens.events.event_chosen.emit(1)
            await until(screens.events.banner.isVisible, "the refusal")
            await until(lambda: store.feed_state is FeedState.CLOSED, "the end of following")
            await until(lambda: screens.strip.feed.text == "Map out of date", "the lamp")
            assert screens.strip.feed.state == "trouble"
            server.heal()
            console.window.screen_requested.emit("counter")
            assert screens.current is screens.counter
            await until(lambda: store.feed_state is FeedState.LIVE, "somebody to follow it again")
            await until(lambda: screens.strip.feed.text == "Map live", "the lamp")
            seat = server.house.free_run(1)[0]  # type: ignore[attr-defined]
            server.sell_elsewhere(seat)
            await until(lambda: store.seat_map is not None and not store.seat_map.is_pickable(seat), "the sold seat")

    qloop.run(scene())


def test_nobody_is_told_of_a_map_while_nobody_works_here(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            assert window.screens.strip.feed.isVisible()
            window.sign_out_requested.emit()
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            await rest(showcase)
            window.screens.show_time()
            assert not window.screens.strip.feed.isVisible()

    qloop.run(scene())


def test_a_band_over_more_seats_than_a_sale_takes_says_how_many_were_picked(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """M4, and the seventh click."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter, panel = showcase.console.window.screens.counter, panel_of(showcase)
            run = showcase.server.house.free_run(9)  # type: ignore[attr-defined]
            counter.seats_banded.emit(np.array(run, np.int64))
            sale = showcase.console.desk.store.sale
            assert sale is not None
            assert sale.seats == set(run[:6])
            assert panel.banner.title == "6 of 9 seats picked"
            assert panel.banner.detail.startswith("One sale takes at most 6 seats.")
            counter.seat_chosen.emit(run[6])
            assert panel.banner.title == "That is too many seats for one sale"
            assert panel.banner.detail.startswith("One sale takes at most 6 seats.")
            counter.seats_banded.emit(np.array(run[6:], np.int64))
            assert panel.banner.title == "That is too many seats for one sale"

    qloop.run(scene())


def test_a_seat_that_cannot_be_picked_is_named_and_says_how_it_stands(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house, store = showcase.server.house, showcase.console.desk.store
            counter, panel = showcase.console.window.screens.counter, panel_of(showcase)
            seat = house.free_run(1)[0]  # type: ignore[attr-defined]
            house.set_seats((seat,), StaffStatus.BLOCKED)
            showcase.server.push_deltas()
            await until(lambda: store.seat_map is not None and not store.seat_map.is_pickable(seat), "the block")
            counter.seat_chosen.emit(seat)
            assert panel.banner.title == "This seat cannot be picked"
            assert panel.banner.detail.endswith("blocked")
            assert f"Seat {house.plan.seats.number[seat]}" in panel.banner.detail

    qloop.run(scene())


def test_a_sign_in_screen_that_nobody_uses_shows_whether_the_booking_system_answers(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        showcase = make_showcase(tmp_path, Settings())
        console, server = showcase.console, showcase.server
        lamp = console.window.screens.strip.connection
        console.window.show()
        console.bindings.start()
        await until(lambda: lamp.text == "Connected", "the server's answer", 8)
        assert all(call.path == "/healthz" for call in server.calls)
        server.fail(Fault.UNREACHABLE, "/healthz", times=10_000)
        await until(lambda: lamp.text == "No connection", "the failure to show", 8)
        server.heal()
        await until(lambda: lamp.text == "Connected", "the return", 8)
        await rest(showcase)
        await showcase.close()

    qloop.run(scene(), 40)
