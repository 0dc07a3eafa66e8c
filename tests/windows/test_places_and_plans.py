"""A hall is imported and drawn on, saved, put on sale and sold in, at the real windows (I3, I4, R11)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.plan_areas import add_standing
from app.core.plan_draft import DraftShape, DraftTable, PlanDraft
from app.core.plan_floors import add_floor, move_section_to_floor
from app.core.plan_tables import TABLE, add_table
from app.core.plan_work import PlanOrigin
from app.core.sale import SaleState
from app.screens.plan_import_dialog import ImportPlanDialog
from app.showcase import small_hall
from backend_client.wire import OrderStatus, Venue
from booking.services.create_event import EventSpec, create_event
from tests.end2end.processes import StackFacts
from tests.gui.conftest import QLoop, calm, until
from tests.gui.plan_stage import CTRL, SHIFT, choose_file, dialog_of
from tests.gui.test_plan_editor_import import FAULTY
from tests.windows.stage import LEFT, NONE, Till, console_on, database_of, open_event, till_on
from tests.windows.test_money_back import find
from tests.windows.test_ways_to_pay import order_of
from widgets.theme import Theme

WORDS = {"stalls": "Stalls", "balcony": "Balcony", "stage": "Stage", "bar": "Bar"}
EVENING = datetime.fromisoformat("2027-06-18T20:30")
PRICES = {"Stalls": (4_000,), "Balcony": (2_000,)}


def hall() -> PlanDraft:
    """Rows on two floors, a table, and a pit to stand in."""
    draft = small_hall(WORDS)
    stalls, balcony = (section.section_id for section in draft.sections)
    table = DraftTable(TABLE, "circle", 80.0, 620.0, 60.0, 60.0)
    draft = add_table(draft, stalls, table, 6, draft.categories[0].category_id, lambda: str(uuid4()))
    draft = move_section_to_floor(add_floor(draft, "Ground", "Upper"), balcony, 1)
    pit = DraftShape(0, "rectangle", 300.0, 600.0, 300.0, 80.0)
    return add_standing(draft, "Pit", 30, draft.categories[1].category_id, pit)


async def editor_at(till: Till, stack: StackFacts, draft: PlanDraft) -> None:
    """The editor with a draft of a venue of the stack."""
    QTest.keyClick(till.console.window, Qt.Key.Key_P, CTRL | SHIFT)
    await until(lambda: till.screens.current is till.screens.plans, "the editor")
    await till.rest()
    venue: Venue = (await till.desk.client.venues()).venues[0]
    till.store.plan_work.begin(draft, PlanOrigin(venue.venue_id, venue.name), saved=False)
    till.screens.plans.show_work()


async def save(till: Till) -> None:
    editor, work = till.screens.plans, till.store.plan_work
    await until(editor.save.isEnabled, "a right plan")
    await calm(editor.save)
    for _click in range(2):
        QTest.mouseClick(editor.save, LEFT, NONE)
    await until(lambda: not work.is_changed, "the version", 30)
    await till.rest()


async def saved_plan(till: Till) -> UUID:
    """The plan that was saved; two clicks made one version of it."""
    work = till.store.plan_work
    assert work.origin.venue_id is not None
    plans = (await till.desk.client.venue_plans(work.origin.venue_id)).plans
    (plan,) = [plan for plan in plans if plan.name == work.draft.name]
    assert (work.origin.version, len(plan.versions)) == (1, 1)
    return plan.plan_id


def test_a_drawn_hall_is_saved_put_on_sale_and_sold_in(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with console_on(stack, tmp_path / "console", "sofia") as till:
            await editor_at(till, stack, replace(hall(), name=f"Hall {uuid4()}"))
            await save(till)
            plan_id = await saved_plan(till)
            async with database_of(stack) as db:
                event_id = await create_event(
                    db,
                    EventSpec(
                        name="An evening in the new hall", plan_id=plan_id, plan_version=1, starts_at=EVENING,
                        zone="Europe/Lisbon", currency="EUR", price_types=("Adult",), prices=PRICES,
                    ),
                )  # fmt: skip
            await open_event(till, event_id)
            seat_map = till.screens.counter.map
            assert till.screens.counter.floors.isVisible()
            seat_map.setFocus()
            till.screens.counter.focus_map()
            QTest.keyClick(seat_map, Qt.Key.Key_3)
            QTest.mouseClick(seat_map, LEFT, NONE, seat_map.scene.standing.rect(0, seat_map.camera).center())
            await until(lambda: till.state is SaleState.PICKING and len(till.sale.place_picks) == 3, "three places")
            QTest.keyClick(seat_map, Qt.Key.Key_1)  # one seat a click again
            plan = till.store.plan
            assert plan is not None
            table = next(n for n, row in enumerate(plan.rows) if row.seat_count == 6)
            upstairs = next(n for n, row in enumerate(plan.rows) if plan.sections[row.section_no].name == "Balcony")
            for seat in (plan.rows[table].first_seat, plan.rows[upstairs].first_seat):
                seat_map.ensure_visible(seat)
                await until(lambda wanted=seat: not seat_map.seat_rect(wanted).isEmpty(), "the seat")  # type: ignore[misc]
                QTest.mouseClick(seat_map, LEFT, NONE, seat_map.seat_rect(seat).center())
            await until(lambda: len(till.sale.picks) == 5, "two seats beside them")
            await till.rest()
            till.panel.sale_page.hold.click()
            await till.reach(SaleState.HELD)
            till.panel.sale_page.exact_cash.click()
            await till.reach(SaleState.DONE)
            order = await order_of(till)
            assert order.status is OrderStatus.CONFIRMED
            assert (len(order.lines), [line.quantity for line in order.places]) == (2, [3])
            tickets = (await till.desk.client.tickets(order.order_id)).tickets
            assert sorted({ticket.seat.section for ticket in tickets}) == ["Balcony", "Pit", "Stalls"]

    qloop.run(scene(), 120)


def test_a_faulty_file_is_mended_by_the_booking_system_and_saved(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        file = tmp_path / "hall.json"
        file.write_text(json.dumps(FAULTY | {"name": f"Hall {uuid4()}"}))
        async with console_on(stack, tmp_path / "console", "sofia") as till:
            await editor_at(till, stack, till.store.plan_work.draft)
            work, origin = till.store.plan_work, till.store.plan_work.origin
            till.screens.plans.import_requested.emit()
            await choose_file(file)
            dialog = await dialog_of(ImportPlanDialog, "the report")
            await until(lambda: dialog.verdict.text().startswith("2 faults"), "the reading")
            assert not dialog.yes.isEnabled()
            for repair in ("number-seats", "make-guids"):
                dialog.repairs[repair].click()
                await until(lambda: not till.console.deeds.is_running("look-at-plan-file"), "the reading again")
            await until(dialog.yes.isEnabled, "a right file")
            dialog.yes.click()
            await until(lambda: work.draft.seat_count == 3, "the draft")
            await till.rest()
            work.origin = PlanOrigin(origin.venue_id, origin.venue_name)
            work.choose(work.selection)
            till.screens.plans.show_work()
            await save(till)
            stored = await till.desk.client.plan_file(await saved_plan(till), 1)
            assert b'"3"' in bytes(stored)

    qloop.run(scene(), 120)


def test_orders_are_found_by_number_seat_and_code(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with till_on(stack, tmp_path) as till:
            sale = await till.sell_cash(2)
            await till.next_customer()
            assert sale.order is not None
            assert sale.hold is not None
            codes = [one.code for one in (await till.desk.client.tickets(sale.order.order_id)).tickets]
            seat = sale.hold.seats[0]
            for words in (sale.order.number, sale.order.number.lower(), codes[0], f"{seat.row} {seat.number}",
                          f"{seat.row}{seat.number}", f" {seat.section} {seat.row} {seat.number} "):  # fmt: skip
                await find(till, words)
                found = [order.order_id for order in till.store.orders.found]
                assert found == [sale.order.order_id], words
            await find(till, "ZZ 99")
            assert till.store.orders.found == ()
            assert till.orders._empty.isVisible()

    qloop.run(scene(), 120)
