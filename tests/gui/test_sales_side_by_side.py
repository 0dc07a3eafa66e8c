"""What is asked or told about one sale, or one event, is never done to another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from uuid_utils.compat import uuid7

from app.actions.show_event import open_event
from app.core.errors import SaleNotReadyError
from app.core.sale import SaleId, SaleState
from app.core.store import Notice, NoticeCode
from app.showcase import Showcase
from backend_client.wire import EventDetail, EventId, SeatRef
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, pick, rest, sale_of, state_of, until
from widgets.theme import Theme

OTHER = EventId(2)


async def park(showcase: Showcase) -> SaleId:
    """The sale at the counter, parked."""
    sale_id = sale_of(showcase).sale_id
    bindings = showcase.console.bindings.sale
    showcase.console.deeds.start("park", bindings._park)
    await rest(showcase)
    return sale_id


async def open_other(showcase: Showcase) -> None:
    """Another event in the same hall is opened."""
    console = showcase.console
    console.deeds.cancel("follow-seats")
    client, detail = console.desk.client, console.desk.store.event
    assert detail is not None
    plan, seats = client.plan, client.seat_snapshot

    async def event(event_id: EventId) -> EventDetail:
        return msgspec.structs.replace(detail, event_id=event_id, name="Another evening")

    async def other_plan(_event_id: EventId, plan_id: object, version: int) -> object:
        return await plan(detail.event_id, plan_id, version)  # type: ignore[arg-type]

    async def other_seats(event_id: EventId) -> object:
        return replace(await seats(detail.event_id), event_id=event_id)

    client.event, client.plan, client.seat_snapshot = event, other_plan, other_seats  # type: ignore[method-assign, assignment]
    await open_event(console.desk, OTHER)
    await rest(showcase)


def test_escape_that_asked_about_one_sale_releases_no_other(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window, release = showcase.console.window, panel_of(showcase).sale_page.release
            await hold(showcase, 1, 20)
            first = await park(showcase)
            await hold(showcase, 2, 22)
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await rest(showcase)
            await until(lambda: release.means_it, "the question, and a pause")
            showcase.console.bindings.sale._on_parked_chosen(first)
            await until(lambda: sale_of(showcase).sale_id == first, "the parked sale")
            await rest(showcase)
            assert release.text() == "Release the seats"
            showcase.console.bindings.sale.keys.forget()
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await rest(showcase)
            assert state_of(showcase) is SaleState.HELD
            assert release.asks, "this one is asked about anew"
            release.calm_down()

    qloop.run(scene())


def test_that_the_buyer_leaves_is_asked_for_each_sale(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            page, sale = panel_of(showcase).unknown_page, sale_of(showcase)
            page.show_sale(sale, "Europe/Madrid")
            page.leave.ask()
            page.show_sale(sale, "Europe/Madrid")
            assert page.leave.asks
            page.show_sale(replace(sale, sale_id=SaleId(uuid7())), "Europe/Madrid")
            assert not page.leave.asks

    qloop.run(scene())


def test_picks_of_one_event_are_not_held_beside_the_map_of_another(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console, panel = showcase.console, panel_of(showcase)
            await pick(showcase, 2)
            picked = sale_of(showcase)
            await open_event(console.desk, picked.event_id)
            await rest(showcase)
            assert sale_of(showcase).picks == picked.picks, "the same event again: they stay"
            await open_other(showcase)
            assert console.desk.store.sale is None
            assert panel.sale_page.lines == ()
            assert not panel.sale_page.hold.isEnabled()
            console.desk.store.put_sale(picked)  # however it came about
            await rest(showcase)
            panel.sale_page.hold.click()
            await rest(showcase)
            assert state_of(showcase) is SaleState.PICKING
            assert SaleNotReadyError.code == "sale-not-ready"
            assert "/holds" not in [call.path for call in showcase.server.calls]
            console.desk.store.put_sale(None)

    qloop.run(scene())


def test_lost_seats_of_a_sale_of_another_event_do_not_flash_on_this_map(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter, store = showcase.console.window.screens.counter, showcase.console.desk.store
            shown: list[list[int]] = []
            counter.map.show_lost = shown.append  # type: ignore[method-assign, assignment]
            await hold(showcase)
            sale = sale_of(showcase)
            store.put_parked(replace(sale, sale_id=SaleId(uuid7()), event_id=OTHER))
            far = SeatRef(seat_no=10**6)
            for sale_id in (store.parked[0].sale_id, sale.sale_id):
                store.post(Notice(NoticeCode.SEATS_LOST, seats=(far,), sale_id=sale_id))
                await rest(showcase)
            assert shown == [[10**6]]
            store.take_parked(store.parked[0].sale_id)

    qloop.run(scene())
