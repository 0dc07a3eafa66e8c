"""A clerk sells places without numbers in the real windows: on the map, by the button, by keys (R11)."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.core.sale import SaleState
from app.screens.counter import CounterScreen
from app.showcase import Showcase, TheatreHouse
from backend_client.wire import PlanArea, PlanStanding, Tier, TierQuantity
from tests.gui.conftest import QLoop, calm, counter_of, panel_of, pick, rest, sale_of, state_of, until
from tests.gui.seat_map_stage import click
from widgets.theme import Theme

FLOOR, BALCONY = 1, 2


def house(*names: str) -> TheatreHouse:
    """A theatre whose pit is for standing, below the seats; tiers are numbered from 1."""
    made = TheatreHouse()
    plan = made.plan
    area = PlanArea(shape="rectangle", x=0.0, y=plan.height + 40, width=plan.width, height=plan.height / 3)
    standing = PlanStanding(name=names[0], capacity=40, category_no=0, area=area)
    made.plan = replace(plan, standing=(standing,), height=plan.height * 1.4 + 40)
    made.tiers = tuple(
        Tier(tier_id=number, name=name, category_no=0, capacity=40, available=40, in_holds=0, sold=0)
        for number, name in enumerate(names, start=1)
    )
    return made


def screen_of(showcase: Showcase) -> CounterScreen:
    return showcase.console.window.screens.counter


def area_point(showcase: Showcase) -> QPoint:
    """A point of the standing area where it is on the screen now."""
    seat_map = screen_of(showcase).map
    return seat_map.scene.standing.rect(0, seat_map.camera).center()


def lines(showcase: Showcase) -> list[str]:
    return [line.findChildren(type(line._name))[0].text() for line in panel_of(showcase).sale_page.lines]


def test_an_area_is_clicked_held_paid_and_printed(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=house("Floor")) as showcase:
            screen, page = screen_of(showcase), panel_of(showcase).sale_page
            screen.focus_map()
            QTest.keyClick(screen.map, Qt.Key.Key_3)
            click(screen.map, area_point(showcase))
            assert len(sale_of(showcase).place_picks) == 3
            await rest(showcase)
            assert lines(showcase) == ["Floor"] * 3
            assert "Hold 3 places" in page.hold.accessibleName()
            page.lines[0].drop.click()
            await until(lambda: len(page.lines) == 2, "a place to be put back")
            page.lines[0].price_type_chosen.emit(page.lines[0].seat_no, 2)
            await rest(showcase)
            page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await until(lambda: screen.map.scene.standing.free("Floor") == 38, "the count on the map")
            await calm(page.exact_cash)
            page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "printed tickets")
            assert [tier.sold for tier in showcase.server.house.tiers] == [2]

    qloop.run(scene())


def test_counts_move_on_the_map_and_the_button_without_a_reload(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=house("Floor")) as showcase:
            screen = screen_of(showcase)
            assert screen.picking.bar.places.isVisible()
            assert screen.picking.bar.places.text() == "Floor"
            reads = len(showcase.server.calls)
            showcase.server.house.hold_seats((), (TierQuantity(tier_id=FLOOR, quantity=6),))
            showcase.server.push_deltas()
            await until(lambda: screen.map.scene.standing.free("Floor") == 34, "the count on the map")
            assert "34 places free" in screen.picking.bar.places.accessibleName()
            assert len(showcase.server.calls) == reads

    qloop.run(scene())


def test_the_keyboard_takes_places_beside_seats_and_a_full_tier_says_so(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=house("Floor", "Balcony")) as showcase:
            screen = screen_of(showcase)
            await pick(showcase, 1)
            screen.focus_map()
            QTest.keyClick(screen.map, Qt.Key.Key_2)
            QTest.keyClick(screen.map, Qt.Key.Key_P)
            menu = screen.picking.bar.places.menu_of_choices
            await until(menu.isVisible, "the menu of places")
            QTest.keyClick(menu, Qt.Key.Key_Down)
            QTest.keyClick(menu, Qt.Key.Key_Return)
            await until(lambda: len(sale_of(showcase).picks) == 3, "a seat and two places")
            assert {pick.tier_id for pick in sale_of(showcase).place_picks} == {BALCONY}
            await rest(showcase)
            assert "Hold 3 seats and places" in panel_of(showcase).sale_page.hold.accessibleName()
            showcase.server.house.set_places((TierQuantity(tier_id=BALCONY, quantity=6),) * 6, available=-1, sold=1)
            showcase.server.push_deltas()
            await until(lambda: screen.map.scene.standing.free("Balcony") == 4, "the feed's word")
            screen.focus_map()
            QTest.keyClick(screen.map, Qt.Key.Key_3)
            screen.picking.bar.places.chosen.emit(BALCONY)
            assert panel_of(showcase).banner.title == "Only 2 places are left there"
            assert len(sale_of(showcase).picks) == 3
            screen.picking.bar.undo.click()
            await until(lambda: len(sale_of(showcase).picks) == 1, "undo")

    qloop.run(scene())


def test_who_watches_is_offered_no_places(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "omar", house=house("Floor")) as showcase:
            screen = screen_of(showcase)
            assert not screen.picking.bar.places.isVisible()
            click(screen.map, area_point(showcase))
            assert showcase.console.desk.store.sale is None

    qloop.run(scene())
