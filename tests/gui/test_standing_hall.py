"""A hall with standing places alone in the real windows: sold by area, printed, drawn and saved (R11, R13)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import msgspec
import pypdfium2
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.bridge.chart_print import Paper, chart_pdf
from app.core.plan_areas import add_standing
from app.core.plan_draft import DraftCategory, DraftShape, PlanDraft
from app.core.plan_faults import FaultCode, faults_of, may_be_saved
from app.core.plan_file import plan_body
from app.core.sale import SaleState
from app.models.event_list import EventLine
from app.screens.chart_bindings import chart_of
from app.showcase import TheatreHouse
from backend_client.wire import EventId, EventStatus, EventSummary, PlanArea, PlanSeats, PlanStanding, Tier
from tests.gui.conftest import QLoop, calm, counter_of, panel_of, rest, sale_of, state_of, until
from tests.gui.seat_map_stage import click
from widgets.theme import Theme

PIT, GALLERY = 1, 2


def club() -> TheatreHouse:
    """The theatre without a seat: a pit and a gallery."""
    made = TheatreHouse()
    area = PlanArea(shape="rectangle", x=100.0, y=150.0, width=500.0, height=250.0)
    upper = PlanArea(shape="rectangle", x=100.0, y=450.0, width=500.0, height=80.0)
    made.plan = msgspec.structs.replace(
        made.plan, sections=(), rows=(),
        seats=PlanSeats(guid=(), number=(), row_no=(), category_no=(), x=(), y=(), flags=()),
        standing=(
            PlanStanding(name="Pit", capacity=40, category_no=0, area=area),
            PlanStanding(name="Gallery", capacity=20, category_no=1, area=upper),
        ),
    )  # fmt: skip
    made.states = made.states[:0]
    made.tiers = tuple(
        Tier(tier_id=number, name=name, category_no=number - 1, capacity=size, available=size, in_holds=0, sold=0)
        for number, name, size in ((PIT, "Pit", 40), (GALLERY, "Gallery", 20))
    )
    return made


def test_a_clerk_sees_areas_and_what_is_left_and_nothing_of_seats(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=club()) as showcase:
            await rest(showcase)
            screen, bar = showcase.console.window.screens.counter, showcase.console.window.screens.counter.picking.bar
            assert screen._free.text() == "60 places free"
            assert (bar.best.isVisible(), bar.search.isVisible(), bar.places.isVisible()) == (False, False, True)
            assert screen.legend.explained == ()
            assert len(screen.legend.chips) == 2
            areas = [area for area in screen.map.plan.areas if area.kind == "standing"]
            assert [area.category_no for area in areas] == [0, 1]
            box = screen.map.scene.standing.rect(0, screen.map.camera)
            grabbed = screen.map.grab().toImage()
            inside = [grabbed.pixelColor(box.left() - 8, box.top() + row) for row in range(6)]
            wanted = screen.map.scene.palette.categories[0].hue()
            assert min(abs(color.hue() - wanted) for color in inside) < 12
            assert panel_of(showcase).sale_page._without_seats.isVisible()
            assert not panel_of(showcase).sale_page._with_seats.isVisible()

    qloop.run(scene())


def test_places_are_sold_by_a_click_after_every_key_of_the_map_was_tried(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=club()) as showcase:
            screen, page = showcase.console.window.screens.counter, panel_of(showcase).sale_page
            screen.focus_map()
            for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Home, Qt.Key.Key_End,
                        Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_0, Qt.Key.Key_M, Qt.Key.Key_M):  # fmt: skip
                QTest.keyClick(screen.map, key)
            screen.map.fit()
            screen.focus_map()
            QTest.keyClick(screen.map, Qt.Key.Key_2)
            click(screen.map, screen.map.scene.standing.rect(0, screen.map.camera).center())
            assert len(sale_of(showcase).place_picks) == 2
            await rest(showcase)
            page.hold.click()
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await until(lambda: screen._free.text() == "58 places free", "what is left")
            await calm(page.exact_cash)
            page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "printed tickets")

    qloop.run(scene())


def test_its_chart_is_printed_with_what_is_left_of_each_area(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, house=club()) as showcase:
            await rest(showcase)
            chart = chart_of(showcase.console.desk.store, theme, datetime(2026, 12, 4, 18, 30, 5, tzinfo=UTC))
            words = pypdfium2.PdfDocument(chart_pdf(chart, Paper.A4))[0].get_textpage().get_text_range()
            assert "60 places free" in words
            assert "seats free" not in words

    qloop.run(scene())


def test_it_may_be_drawn_and_saved_and_is_not_told_to_have_no_seats() -> None:
    empty = PlanDraft("Club", 800, 600, (DraftCategory(1, "Floor", "#1f77b4"),), next_id=2)
    assert FaultCode.NO_SEATS in {fault.code for fault in faults_of(empty)}
    drawn = add_standing(empty, "Pit", 400, 1, DraftShape(0, "rectangle", 100, 100, 400, 200))
    assert may_be_saved(faults_of(drawn))
    assert (plan_body(drawn)["sections"], len(plan_body(drawn)["standing"])) == ([], 1)


def test_a_list_of_events_does_not_say_that_a_hall_has_no_seats() -> None:
    summary = EventSummary(
        event_id=EventId(1), name="A concert", venue_name="Club", starts_at=datetime(2027, 1, 1, tzinfo=UTC),
        zone="Europe/Lisbon", status=EventStatus.ON_SALE, plan_id=UUID(int=1), plan_version=1, seat_count=0,
        currency="EUR", sale_opens_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    assert EventLine.of(summary, None).where == "Club · Standing places"
