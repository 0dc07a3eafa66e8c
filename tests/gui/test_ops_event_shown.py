"""What is said and done on the operators' screen is of the event that is watched: its room, its clock, its banner."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QWidget

from app.i18n import use_language
from app.screens.inbox_page import event_zone
from app.screens.ops_screen import ALARMS, LIVE, LOG
from app.showcase import Showcase
from backend_client.wire import AdmissionMode, EventId, EventStatus
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import press, sent_posts
from tests.gui.ops_stage import board_of, dialog_of, ops_of, screen_of, tell_again, tell_two_events
from widgets.theme import Theme

OTHER = EventId(2)


def has_mode(showcase: Showcase, mode: AdmissionMode) -> bool:
    control = showcase.server.ops.control
    return control is not None and control.settings.mode is mode


async def take_room_away(showcase: Showcase, **settings: object) -> None:
    """As it is for an event whose room has never made itself known."""
    ops, board = showcase.server.ops, board_of(showcase)
    ops.put_settings(**settings)
    assert ops.control is not None
    ops.control = replace(ops.control, room=None)
    board.put_control(replace(ops.control, server_time=showcase.server.house.now()))
    await rest(showcase)


async def pause_room(showcase: Showcase) -> None:
    screen = screen_of(showcase)
    await until(screen.admission.pause_room.isEnabled, "the button")
    press(Qt.Key.Key_R, screen)
    dialog = await dialog_of(showcase)
    dialog.reason.setText("Fire drill")
    dialog.send.click()
    await until(partial(has_mode, showcase, AdmissionMode.PAUSED), "the pause")
    await until(screen.banner.isVisible, "the word of it")
    await rest(showcase)


def has_the_keyboard(showcase: Showcase, part: QWidget) -> bool:
    """Whether something within it has, in our window: Qt's own one may be inactive behind a list that was open."""
    focus: QWidget | None = showcase.console.window.focusWidget()
    return focus is not None and part.isAncestorOf(focus)


async def with_two_events(showcase: Showcase) -> None:
    board = board_of(showcase)
    tell_two_events(showcase)
    await until(lambda: board.figures is not None and len(board.figures.events) == 2, "the other event")
    await rest(showcase)


# ---------------------------------------------------------------- no room


def test_a_room_that_there_is_not_cannot_be_paused_and_the_reason_is_read(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Who believes in an emergency that it is paused has stopped nobody."""

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            panel = screen.admission
            await take_room_away(showcase)
            assert not panel.pause_room.isEnabled()
            assert panel.pause_event.isEnabled()
            words = "This event has no waiting room. To stop fans, pause the sale."
            assert panel.pause_room.toolTip() == panel.pause_room.accessibleDescription() == words
            assert panel._reason.text() == words
            assert panel._room_state.text() == "No room"
            press(Qt.Key.Key_R, screen)
            await rest(showcase)
            assert QApplication.activeModalWidget() is None
            assert screen.banner.title == "La Traviata · There is no waiting room that could be paused"
            assert not sent_posts(showcase, "/admission")

    qloop.run(scene())


def test_a_pause_that_was_set_where_no_room_is_says_so_and_is_resumed(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel = screen_of(showcase).admission
            await take_room_away(showcase, mode=AdmissionMode.PAUSED)
            assert panel._room_state.text() == "No room", "nobody is held up by it"
            assert panel._reason.text().startswith("This event has no waiting room.")
            assert panel.pause_room.isEnabled()
            press(Qt.Key.Key_R, screen_of(showcase))
            dialog = await dialog_of(showcase)
            dialog.reason.setText("It never was")
            dialog.send.click()
            await until(partial(has_mode, showcase, AdmissionMode.AUTOMATIC), "the mode before")
            await rest(showcase)
            assert not panel.pause_room.isEnabled()

    qloop.run(scene())


def test_a_pause_that_the_booking_system_refuses_for_want_of_a_room_is_said_in_the_dialog(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            ops = showcase.server.ops
            press(Qt.Key.Key_R, screen_of(showcase))
            dialog = await dialog_of(showcase)
            assert ops.control is not None
            ops.control = replace(ops.control, room=None)
            dialog.reason.setText("Fire drill")
            dialog.send.click()
            await until(dialog.banner.isVisible, "the refusal")
            assert dialog.banner.title == "There is no waiting room that could be paused"
            assert has_mode(showcase, AdmissionMode.AUTOMATIC)
            dialog.reject()
            await rest(showcase)

    qloop.run(scene())


# ---------------------------------------------------------------- the banner


def test_the_word_of_an_act_names_its_event_and_goes_with_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            await with_two_events(showcase)
            await pause_room(showcase)
            assert screen.banner.title == "The room is told to pause: La Traviata"
            screen.show_page(LOG)
            await rest(showcase)
            assert screen.banner.isVisible()
            screen.event_chosen.emit(OTHER)
            await until(screen.banner.isHidden, "the end of it")
            screen.event_chosen.emit(showcase.server.house.event_id)
            await rest(showcase)
            assert screen.banner.isHidden(), "it is not said again later"

    qloop.run(scene())


def test_the_word_of_an_act_can_be_closed_by_mouse_and_keyboard(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            await pause_room(showcase)
            close = screen.banner._button
            assert (close.isVisible(), close.text()) == (True, "Close")
            close.setFocus()
            press(Qt.Key.Key_Space, close)
            await until(screen.banner.isHidden, "the end of it")
            assert has_the_keyboard(showcase, screen.live.charts)

    qloop.run(scene())


def test_a_room_that_somebody_resumes_is_not_called_paused_any_more(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, ops = screen_of(showcase), showcase.server.ops
            await pause_room(showcase)
            ops.put_settings(changed_by="Sofia", mode=AdmissionMode.AUTOMATIC)
            assert ops.control is not None
            board_of(showcase).put_control(replace(ops.control, server_time=showcase.server.house.now()))
            await until(screen.banner.isHidden, "the end of it")

    qloop.run(scene())


def test_a_pause_of_the_sale_is_said_until_it_is_seen_to_be_over(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """The figures are a second old: that they do not show the pause yet does not end the word of it."""

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server, board = screen_of(showcase), showcase.server, board_of(showcase)
            press(Qt.Key.Key_P, screen)
            dialog = await dialog_of(showcase)
            dialog.reason.setText("Wet stage")
            dialog.send.click()
            await until(screen.banner.isVisible, "the word of it")
            assert screen.banner.title == "The sale is paused: La Traviata"

            async def watch(status: EventStatus) -> None:
                server.house.status = status
                server.pass_time(1)
                tell_again(showcase)
                await until(lambda: board.event is not None and board.event.status == status, status)
                await rest(showcase)

            await watch(EventStatus.ON_SALE)
            assert screen.banner.isVisible()
            await watch(EventStatus.PAUSED)
            assert screen.banner.isVisible()
            await watch(EventStatus.ON_SALE)
            assert screen.banner.isHidden()

    qloop.run(scene())


# ---------------------------------------------------------------- the wall


def test_the_wall_tells_figures_of_its_event_alone_and_that_people_have_stopped_it(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    """Another event's waiting room is in the house's sum; that all limits are kept says nothing of a pause."""

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server, board = screen_of(showcase), showcase.server, board_of(showcase)
            screen.show_large(True)
            wall = screen.wall
            assert wall.standing.text() == ""
            server.ops.put_settings(mode=AdmissionMode.PAUSED)
            control = server.ops.control
            assert control is not None
            assert control.room is not None
            for lets_in in (True, False):
                server.ops.control = replace(control, room=replace(control.room, is_letting_in=lets_in))
                board.put_control(replace(server.ops.control, server_time=server.house.now()))
                await rest(showcase)
                assert wall.standing.text() == ("" if lets_in else "Room paused"), "once the room has made it so"
            server.house.status = EventStatus.PAUSED
            server.pass_time(1)
            tell_again(showcase, room_waiting=7_000.0)
            await until(lambda: wall.standing.text() == "Sale paused · Room paused", "that it stands still")
            await rest(showcase)
            await take_room_away(showcase)
            server.pass_time(1)
            server.ops.tell({**server.ops.told[-1].house, "room_waiting": 7_000.0}, {"shoppers_active": 3.0})
            await until(lambda: wall.figures[0].value == "–", "nothing of a room")
            assert wall.figures[0].word == "No room"
            assert wall.standing.text() == "Sale paused"

    qloop.run(scene())


# ---------------------------------------------------------------- the clock


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_zone_is_written_where_time_is_and_is_that_of_every_page(
    qloop: QLoop, theme: Theme, tmp_path: Path, language: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=60) as showcase:
            screen, store = screen_of(showcase), showcase.console.desk.store
            await with_two_events(showcase)
            for event, zone, words in (
                (showcase.server.house.event_id, showcase.server.house.event().zone, None),
                (OTHER, "UTC", "Coordinated Universal Time"),
            ):
                screen.show_page(LIVE)
                board_of(showcase).choose_event(event)
                await rest(showcase)
                assert event_zone(store, event) == zone
                axis = screen.live.charts.axes[0]
                assert axis.zone_words
                assert words is None or language != "en" or (axis.toolTip(), axis.zone_words) == (words, "GMT+00:00")
                for page, told in ((ALARMS, screen.alarms.clock_words), (LOG, screen.log.clock_words)):
                    screen.show_page(page)
                    await until(lambda told=told: bool(told.text()), "the zone")  # type: ignore[misc]
                    await rest(showcase)
                    assert axis.toolTip() in told.text()
            await rest(showcase)

    use_language(language)
    try:
        qloop.run(scene())
    finally:
        use_language("en")


def test_since_when_an_alarm_is_is_told_by_the_clock_of_the_charts(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=60) as showcase:
            screen, board, store = screen_of(showcase), board_of(showcase), showcase.console.desk.store
            await with_two_events(showcase)
            store.put_events((*store.events, replace(store.events[0], event_id=OTHER, zone="Asia/Tokyo")))
            await until(lambda: bool(board.alarms), "an alarm")
            screen.show_page(ALARMS)
            await rest(showcase)
            model = screen.alarms.model
            raised = {alarm.raised_at for alarm in board.alarms}

            def shows(zone: str) -> bool:
                told = {model.index(row, 5).data()[:8] for row in range(model.rowCount())}
                return {f"{at.astimezone(ZoneInfo(zone)):%H:%M:%S}" for at in raised} <= told

            assert shows("Europe/Lisbon")
            screen.event_chosen.emit(OTHER)
            await until(lambda: shows("Asia/Tokyo"), "the other clock")
            assert screen.alarms.clock_words.text() == "Times: Japan Standard Time"
            screen.show_page(LIVE)
            await rest(showcase)
            assert screen.live.charts.axes[0].zone_words == "Japan Standard Time"
            await rest(showcase)

    qloop.run(scene())


# ---------------------------------------------------------------- the keyboard


def test_letters_are_keys_of_the_page_again_once_an_event_is_chosen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """By the arrows and Enter, out of the open list by Enter or the mouse, or left as it was by Esc."""

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            await with_two_events(showcase)
            box = screen.event_box

            def is_on_the_charts() -> bool:
                return has_the_keyboard(showcase, screen.live.charts)

            async def chosen(event: EventId) -> None:
                await until(lambda: board.event_id == event and is_on_the_charts(), "the event, and the keyboard")
                await rest(showcase)

            box.setFocus()
            press(Qt.Key.Key_Down, box)
            assert box.hasFocus(), "the arrows go on"
            press(Qt.Key.Key_Return, box)
            await chosen(OTHER)
            box.setFocus()
            press(Qt.Key.Key_Escape, box)
            await chosen(OTHER)
            for by_mouse in (False, True):
                box.setFocus()
                box.showPopup()
                view = box.view()
                assert isinstance(view, QListView)
                await until(view.isVisible, "the list")
                row = 0 if board.event_id == OTHER else 1
                view.setCurrentIndex(box.model().index(row, 0))
                if by_mouse:
                    spot = view.visualRect(view.currentIndex()).center()
                    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
                else:
                    QTest.keyClick(view, Qt.Key.Key_Return)
                await chosen(EventId(1) if row == 0 else OTHER)
            press(Qt.Key.Key_3, screen)
            assert screen.page == ALARMS
            await rest(showcase)

    qloop.run(scene())


def test_a_click_on_a_chart_or_its_name_takes_the_keyboard(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            for strip in screen.live.charts.strips[:3]:
                for spot in (QPoint(20, 10), strip.plot.center().toPoint()):
                    screen.event_box.setFocus()
                    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=spot)
                    assert strip.hasFocus()
            await rest(showcase)

    qloop.run(scene())


def test_letters_are_keys_of_the_page_again_once_a_kind_of_entries_is_chosen(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            screen.show_page(LOG)
            await until(screen.log.refresh.hasFocus, "the log")
            box = screen.log.kind
            box.setFocus()
            box.showPopup()
            await until(box.view().isVisible, "the list")
            QTest.keyClick(box.view(), Qt.Key.Key_Return)
            await until(screen.log.refresh.hasFocus, "the keyboard")
            await rest(showcase)

    qloop.run(scene())
