"""The details of a seat: one key says who has it and since when; the sale and the map go on meanwhile (issue E, 8)."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QBuffer, QIODevice, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.i18n import use_language
from app.screens.looks import apply_direction
from app.screens.seat_details import SeatDetails
from app.showcase import Showcase, TheatreHouse, give_past
from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing import Fault
from backend_client.wire import EventId, PlanView
from tests.gui.conftest import QLoop, counter_of, pick, rest, sale_of, until
from widgets.seat_map import SeatMapWidget


def map_of(showcase: Showcase) -> SeatMapWidget:
    return showcase.console.window.screens.counter.map


def details_of(showcase: Showcase) -> SeatDetails:
    return showcase.console.window.screens.counter.details


def house_of(showcase: Showcase) -> TheatreHouse:
    house = showcase.server.house
    assert isinstance(house, TheatreHouse)
    return house


def asked(showcase: Showcase) -> int:
    return sum("/seats/" in call.path for call in showcase.server.calls)


async def open_by_key(showcase: Showcase, seat_no: int) -> SeatDetails:
    """Put the keyboard on a seat, press I, and wait for the answer."""
    seat_map, details = map_of(showcase), details_of(showcase)
    seat_map.setFocus()
    seat_map.focus_seat(seat_no)
    QTest.keyClick(seat_map, Qt.Key.Key_I)
    assert details.isVisible()
    await until(details.waiting.isHidden, "the details")
    return details


def test_one_key_says_who_has_the_seat_and_since_when(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house = house_of(showcase)
            house.set_seats((5,), staff_state(StaffStatus.SOLD, HolderKind.TILL))
            give_past(house, 5)
            details = await open_by_key(showcase, 5)
            facts = dict(details.shown_facts)
            assert details.standing.text() == "Sold"
            assert facts["Sold by"] == "Carla · Counter 1"
            assert facts["Since"]
            text = details.history.toPlainText()
            assert text.index("Ticket printed") < text.index("Payment declined") < text.index("Kept back by the house")
            assert "Buyer a41f07" in text
            assert map_of(showcase).hasFocus(), "the keyboard stays where the clerk works"

    qloop.run(scene())


def test_what_the_console_knows_is_there_before_the_answer_and_the_loop_is_free(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.server.delay("/seats/", 0.3)
            seat = house_of(showcase).free_run(1)[0]
            seat_map, details = map_of(showcase), details_of(showcase)
            seat_map.focus_seat(seat)
            QTest.keyClick(seat_map, Qt.Key.Key_I)
            assert details.isVisible()
            assert details.waiting.isVisible()
            assert details.standing.text() == "Free"
            assert details.name.text()
            picked = await pick(showcase, 2)
            assert sorted(sale_of(showcase).seats) == picked, "the sale goes on meanwhile"
            await until(details.waiting.isHidden, "the details")

    qloop.run(scene())


def test_a_seat_without_a_past_says_so(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            details = await open_by_key(showcase, house_of(showcase).free_run(1)[0])
            assert details.empty.isVisible()
            assert not details.history.isVisible()
            assert "€" in dict(details.shown_facts)["Price"]

    qloop.run(scene())


def test_without_an_answer_it_says_why_and_asks_again_on_wish(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.server.fail(Fault.UNREACHABLE, "/seats/", times=100)
            details = await open_by_key(showcase, 3)
            assert details.banner.isVisible()
            assert details.banner.title == "The booking system does not answer"
            assert details.name.text(), "what is known stays"
            panel = showcase.console.window.screens.counter.panel
            assert not panel.banner.isVisible(), "it is no part of the sale"
            showcase.server.heal()
            QTest.mouseClick(details.again, Qt.MouseButton.LeftButton)
            await until(lambda: details.waiting.isHidden() and details.banner.isHidden(), "the details")

    qloop.run(scene())


def test_it_follows_the_keyboard_and_asks_once_where_it_rests(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            details = await open_by_key(showcase, 2)
            before = asked(showcase)
            seat_map = map_of(showcase)
            for _step in range(4):
                QTest.keyClick(seat_map, Qt.Key.Key_Right)
            assert details.seat_no == seat_map.focused_seat != 2
            await until(details.waiting.isHidden, "the details")
            assert asked(showcase) == before + 1
            assert details.name.text().endswith(f"Seat {house_of(showcase).plan.seats.number[details.seat_no]}")

    qloop.run(scene())


def test_a_slow_answer_to_an_older_question_is_dropped(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.server.delay("/seats/1", 0.4)
            details = details_of(showcase)
            show = showcase.console.bindings.sale.details.show
            show(1)
            await until(lambda: asked(showcase) == 1, "the first question")
            show(40)
            await until(details.waiting.isHidden, "the newer answer")
            named = details.name.text()
            await rest(showcase)
            assert (details.seat_no, details.name.text()) == (40, named)

    qloop.run(scene())


def test_a_change_on_the_map_is_asked_about_anew(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat = house_of(showcase).free_run(1)[0]
            details = await open_by_key(showcase, seat)
            assert details.standing.text() == "Free"
            showcase.server.sell_elsewhere(seat)
            await until(lambda: details.standing.text() == "Sold", "the news")
            before = asked(showcase)
            showcase.server.sell_elsewhere(*[other for other in house_of(showcase).free_run(2) if other != seat])
            await rest(showcase)
            assert asked(showcase) == before, "other seats are no news here"

    qloop.run(scene())


def test_escape_closes_it_first_and_leaves_the_picks(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            picked = await pick(showcase, 2)
            details = await open_by_key(showcase, picked[0])
            window = showcase.console.window
            window.activateWindow()
            QTest.keyClick(map_of(showcase), Qt.Key.Key_Escape)
            assert not details.isVisible()
            assert sorted(sale_of(showcase).seats) == picked
            await open_by_key(showcase, picked[0])
            details.copy_button.setFocus()
            QTest.keyClick(details.copy_button, Qt.Key.Key_Escape)
            assert not details.isVisible()
            assert map_of(showcase).hasFocus(), "the keyboard goes back to the map"
            assert sorted(sale_of(showcase).seats) == picked

    qloop.run(scene())


def test_the_same_key_closes_it_and_no_key_in_it_reaches_the_map(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map = map_of(showcase)
            details = await open_by_key(showcase, 7)
            details.close_button.setFocus()
            QTest.keyClick(details.close_button, Qt.Key.Key_Right)
            QTest.keyClick(details.close_button, Qt.Key.Key_4)
            assert seat_map.focused_seat == 7
            assert showcase.console.desk.store.picking.together == 1
            seat_map.setFocus()
            QTest.keyClick(seat_map, Qt.Key.Key_I)
            assert not details.isVisible()

    qloop.run(scene())


def test_the_other_button_and_the_menu_key_ask_too(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map, details = map_of(showcase), details_of(showcase)
            seat_map.ensure_visible(9)
            await rest(showcase)
            at = seat_map.seat_rect(9).center()
            reason = QContextMenuEvent.Reason
            QApplication.sendEvent(seat_map, QContextMenuEvent(reason.Mouse, at, seat_map.mapToGlobal(at)))
            assert (details.isVisible(), details.seat_no) == (True, 9)
            await until(details.waiting.isHidden, "the details")
            seat_map.focus_seat(12)
            QApplication.sendEvent(seat_map, QContextMenuEvent(reason.Keyboard, QPoint(1, 1), QPoint(1, 1)))
            assert details.seat_no == 12
            await until(details.waiting.isHidden, "the details")
            assert showcase.console.desk.store.sale is None

    qloop.run(scene())


def test_all_of_it_can_be_copied(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house = house_of(showcase)
            house.set_seats((5,), staff_state(StaffStatus.SOLD, HolderKind.TILL))
            give_past(house, 5)
            details = await open_by_key(showcase, 5)
            QTest.mouseClick(details.copy_button, Qt.MouseButton.LeftButton)
            copied = QGuiApplication.clipboard().text()
            assert copied.startswith(details.name.text())
            assert "Sold by: Carla · Counter 1" in copied
            assert "Kept back by the house" in copied

    qloop.run(scene())


def test_it_lies_where_the_seat_is_not_and_inside_the_map(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map, details = map_of(showcase), details_of(showcase)
            for seat in (0, len(house_of(showcase).states) - 1, 300):
                await open_by_key(showcase, seat)
                assert seat_map.rect().contains(details.geometry())
                assert not details.geometry().intersects(seat_map.seat_rect(seat))
                details.dismiss()

    qloop.run(scene())


def test_it_is_mirrored_where_people_read_from_the_right(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        use_language("ar")
        apply_direction()
        async with counter_of(tmp_path) as showcase:
            details = await open_by_key(showcase, house_of(showcase).free_run(1)[0])
            assert details.isRightToLeft()
            assert details.close_button.geometry().center().x() < details.name.geometry().center().x()

    qloop.run(scene())


def test_it_stays_open_in_another_language(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat = house_of(showcase).free_run(1)[0]
            before = await open_by_key(showcase, seat)
            assert before.standing.text() == "Free"
            showcase.console.window.language_chosen.emit("pt")
            await until(
                lambda: details_of(showcase) is not before and details_of(showcase).seat_no == seat, "a rebuild"
            )
            await until(details_of(showcase).waiting.isHidden, "the details")
            assert details_of(showcase).standing.text() == "Livre"

    qloop.run(scene())


def test_markup_in_what_people_wrote_is_text(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house = house_of(showcase)
            give_past(house, 5)
            past = house.seat_past[5]
            house.seat_past[5] = (*past[:1], type(past[1])(at=past[1].at, kind="given-back", reason="<b>x</b> & <img>"))
            details = await open_by_key(showcase, 5)
            assert "<b>x</b> & <img>" in details.history.toPlainText()

    qloop.run(scene())


def test_the_view_from_the_seat_is_shown_where_the_plan_has_one(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            house = house_of(showcase)
            guids = house.plan.seats.guid
            views = (
                PlanView(media_type="image/png", image=png(300, 100), section=house.plan.sections[0].name),
                PlanView(media_type="image/png", image=png(100, 100), guids=(guids[1],)),
                PlanView(media_type="image/png", image=b"no picture", guids=(guids[2],)),
            )
            house.plan = type(house.plan)(
                **{**{name: getattr(house.plan, name) for name in house.plan.__struct_fields__}, "views": views}
            )
            showcase.console.window.screens.events.event_chosen.emit(1)
            await until(lambda: showcase.console.desk.store.seat_map is not None, "the event")
            await rest(showcase)
            shown = {}
            for seat in (0, 1, 2):
                details = await open_by_key(showcase, seat)
                ratio = details.view.pixmap().width() / max(details.view.pixmap().height(), 1)
                shown[seat] = round(ratio) if details.view.isVisible() else 0
                details.dismiss()
            assert shown == {0: 3, 1: 1, 2: 0}
            last = len(guids) - 1
            details = await open_by_key(showcase, last)
            assert not details.view.isVisible()

    qloop.run(scene())


def png(width: int, height: int) -> bytes:
    picture = QPixmap(width, height)
    picture.fill(Qt.GlobalColor.darkCyan)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return bytes(buffer.data().data())


def test_it_goes_with_the_person_and_with_the_event(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            store = showcase.console.desk.store
            event, plan = store.event, store.plan
            assert event is not None
            assert plan is not None
            details = await open_by_key(showcase, 5)
            store.put_event(event)
            assert details.isVisible(), "prices were read again; the event is the same"
            store.open_event(msgspec.structs.replace(event, event_id=EventId(2)), plan)
            assert not details.isVisible()
            store.open_event(event, plan)
            await open_by_key(showcase, 5)
            store.put_session(None)
            assert not details.isVisible()

    qloop.run(scene())
