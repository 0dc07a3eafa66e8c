"""The operators' screen: what is shown of the figures, by whom, live, late and in the past (R32, D4, D10)."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from app.core.ops_health import Health
from app.core.ops_parts import OpsView
from app.screens.ops_screen import ALARMS, BLOCKERS, LOG
from app.showcase_ops import give_minutes
from backend_client.wire import OpsFigure
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.money_stage import go, press
from tests.gui.ops_stage import board_of, ops_of, screen_of, tell_again, type_number
from widgets.theme import Theme

F = OpsFigure


def test_one_line_says_that_all_is_well(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            state = screen_of(showcase).state
            assert (state.mark.text(), state.title.text()) == ("●", "All is well")
            assert state.detail.text() == "7 limits are kept"
            assert state.property("tone") == ""
            assert screen_of(showcase).tabs.tabText(ALARMS) == "Alarms"

    qloop.run(scene())


def test_trouble_is_told_by_shape_and_word_and_on_its_strip(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, trouble_at=40) as showcase:
            screen = screen_of(showcase)
            assert (screen.state.mark.text(), screen.state.title.text()) == ("✕", "2 alarms")
            assert "Sessions waiting for locks: 11, limit 8" in screen.state.detail.text()
            assert screen.tabs.tabText(BLOCKERS) == "Blockers (11)"
            tabs = showcase.console.window.tabs.findChildren(QToolButton)
            assert "Operations (2)" in [button.text() for button in tabs]
            assert "Sessions waiting" in screen.live.charts.strip_of("locks").spoken
            assert "limit" not in screen.live.charts.strip_of("waiting").spoken

    qloop.run(scene())


def test_a_second_more_is_on_the_charts_and_a_figure_that_is_gone_is_a_dash(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            strip = screen_of(showcase).live.charts.strip_of("locks")
            showcase.server.pass_time(1)
            tell_again(showcase, lock_waits=5.0)
            await until(lambda: strip.values == {"lock_waits": 5.0}, "the new second")
            showcase.server.pass_time(1)
            showcase.server.ops.tell({"hold_p99_ms": 20.0}, {})
            await until(lambda: strip.values == {"lock_waits": None}, "nothing known")
            assert "–" in strip.spoken

    qloop.run(scene())


def test_the_cross_hair_is_one_for_all_strips_and_reads_no_value_in_a_gap(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", seconds=60) as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            charts = screen.live.charts
            showcase.server.pass_time(30)
            tell_again(showcase)  # half a minute without a statement lies before it
            await until(lambda: len(board.house) == 61, "the second after the gap")
            await rest(showcase)
            first = charts.strips[0]
            first.setFocus()
            press(Qt.Key.Key_Left, first)
            assert charts.cross == board.live.times[-1]
            press(Qt.Key.Key_Left, first)
            assert charts.cross == board.live.times[-2]
            assert all(strip._cross == charts.cross for strip in charts.strips)
            assert first.accessibleDescription() == first.spoken
            charts.set_cross(float(board.live.times[-1]) - 15.0)
            assert all(value is None for strip in charts.strips for value in strip.values.values())
            press(Qt.Key.Key_Escape, first)
            assert charts.cross is None
            press(Qt.Key.Key_Down, first)
            assert charts.strips[1].hasFocus()

    qloop.run(scene())


def test_the_past_is_read_when_somebody_looks_at_it_and_its_hole_stays_a_hole(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            give_minutes(showcase.server, 120)
            screen, board = screen_of(showcase), board_of(showcase)
            assert not [call for call in showcase.server.calls if "minute" in str(call)]
            board.look_at(OpsView(3_600.0))
            await until(lambda: not board.minutes.table.is_empty, "the minutes")
            await rest(showcase)
            assert screen.live.now.isChecked()
            press(Qt.Key.Key_PageUp, screen.live.charts.strips[0])
            assert board.view.end_s is not None
            await rest(showcase)
            assert not screen.live.now.isChecked()
            assert "each minute" in screen.live._when.text()
            before = len([call for call in showcase.server.calls if call.path.endswith("/history")])
            press(Qt.Key.Key_End, screen.live.charts.strips[0])
            await until(lambda: board.view == OpsView(3_600.0), "now")
            await rest(showcase)
            after = len([call for call in showcase.server.calls if call.path.endswith("/history")])
            assert after == before  # what was read is not read again

    qloop.run(scene())


def test_figures_that_stop_are_called_old_and_a_return_fills_the_gap_from_the_history(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, board, server = screen_of(showcase), board_of(showcase), showcase.server
            server.feed_reachable = False
            server.cut_ops_feeds()
            assert board.heard_at is not None
            board.heard_at -= 30
            screen.show_time()
            assert screen.health is Health.LATE
            assert screen.state.title.text().startswith("Figures are 30 sec old")
            assert (screen.state.mark.text(), screen.state.property("tone")) == ("◌", "warn")
            for _second in range(10):
                server.pass_time(1)
                tell_again(showcase)
            server.feed_reachable = True
            await until(lambda: screen.health is Health.WELL, "the feed to come back")
            await until(lambda: len(board.house) == 100, "what was missed")

    qloop.run(scene())


def test_a_database_that_is_silent_is_told_and_adds_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            last = showcase.server.ops.told[-1]
            showcase.server.ops.tell(last.house, {}, at=last.measured_at, authority_away=True)
            await until(lambda: screen.health is Health.AWAY, "the silence")
            screen.show_time()
            assert screen.state.title.text() == "The booking system does not answer"
            assert len(board.house) == 90

    qloop.run(scene())


@pytest.mark.parametrize(("name", "sees", "tunes", "ends"), [
    ("carla", False, False, False), ("omar", True, True, False), ("sofia", True, True, False),
    ("ada", True, True, True),
])  # fmt: skip
def test_each_role_sees_and_may_what_the_booking_system_lets_it_r35(
    qloop: QLoop, theme: Theme, tmp_path: Path, name: str, sees: bool, tunes: bool, ends: bool
) -> None:
    async def scene() -> None:
        if not sees:
            async with counter_of(tmp_path, name, open_event=False) as showcase:
                window = showcase.console.window
                QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
                await rest(showcase)
                assert window.screens.current is not window.screens.ops
                assert "ops" not in window.tabs.shown
                assert not [call for call in showcase.server.calls if "/ops" in call.path]
            return
        async with ops_of(tmp_path, name, trouble_at=40) as showcase:
            screen = screen_of(showcase)
            assert screen.admission.fields["cap_per_minute"].isEnabled() == tunes
            assert screen.admission.pause_event.isEnabled() == tunes
            screen.show_page(BLOCKERS)
            assert screen.blockers.end.isVisible() == ends
            assert screen.blockers.may_end == ends

    qloop.run(scene())


def test_the_feed_is_followed_while_it_is_looked_at_and_by_nobody_else(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            deeds = showcase.console.deeds
            assert deeds.is_running("follow-ops")
            go(showcase, "orders")
            await until(lambda: not deeds.is_running("follow-ops"), "the end of following")
            await until(lambda: not [link for link in showcase.server._ops_links if link.open], "the link to close")
            go(showcase, "ops")
            await until(lambda: [link for link in showcase.server._ops_links if link.open], "the feed again")

    qloop.run(scene())


def test_large_mode_by_its_key_shows_figures_words_and_shapes_and_esc_goes_back(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, trouble_at=40) as showcase:
            screen = screen_of(showcase)
            screen.focus_first()
            press(Qt.Key.Key_F11, screen.live.charts.strips[0])
            assert screen.is_large
            assert screen.wall.isVisible()
            told = {figure.name: (figure.value, figure.word, figure.state) for figure in screen.wall.figures}
            assert told["Lock waits"] == ("11", "Too high", "bad")
            assert told["Tickets late by"][1:] == ("Well", "good")
            assert screen.wall.alarms[0].title.text().startswith("Sessions waiting for locks: 11")
            assert board_of(showcase).heard_at is not None
            board_of(showcase).heard_at = (board_of(showcase).heard_at or 0) - 60
            screen.wall.show_all()
            assert {figure.word for figure in screen.wall.figures} == {"Old"}
            press(Qt.Key.Key_Escape, screen.wall)
            assert not screen.is_large

    qloop.run(scene())


def test_keys_lead_to_every_page_and_letters_are_typed_where_one_types(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen = screen_of(showcase)
            strip = screen.live.charts.strips[0]
            strip.setFocus()
            press(Qt.Key.Key_S, strip)
            field = screen.admission.fields["cap_per_minute"]
            assert field.hasFocus()
            QTest.keyClicks(field, "4")
            assert screen.page == 0
            assert field.text() == "4"
            press(Qt.Key.Key_Escape, field)
            await until(lambda: field.text() == "1200", "what is set")
            press(Qt.Key.Key_Escape, field)
            assert not field.hasFocus()
            for key, page in ((Qt.Key.Key_2, BLOCKERS), (Qt.Key.Key_3, ALARMS), (Qt.Key.Key_4, LOG)):
                press(key, screen)
                assert screen.page == page
            await rest(showcase)

    qloop.run(scene())


def test_a_language_switch_keeps_the_page_what_is_typed_and_what_was_heard(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            board, window = board_of(showcase), showcase.console.window
            field = screen_of(showcase).admission.fields["cap_per_minute"]
            field.setText("900")
            field.textEdited.emit("900")
            screen_of(showcase).show_page(ALARMS)
            await rest(showcase)
            window.language_chosen.emit("pt")
            await rest(showcase)
            screen = screen_of(showcase)
            assert screen.page == ALARMS
            assert screen.tabs.tabText(LOG) == "Registro"
            assert screen.admission.fields["cap_per_minute"].text() == "900"
            assert len(board.house) == 90
            showcase.server.pass_time(1)
            tell_again(showcase, lock_waits=3.0)
            await until(lambda: board.newest("lock_waits") == 3.0, "a second more")
            await rest(showcase)

    qloop.run(scene())


def test_the_keyboard_waits_for_the_log_where_figures_are_keys_and_no_text(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            screen = screen_of(showcase)
            showcase.server.delay("/log", 0.05)
            press(Qt.Key.Key_4, screen.live.charts.strips[0])
            assert not screen.log.finder.hasFocus()
            await until(lambda: screen.log.shown, "the log")
            assert screen.log.table.hasFocus()
            press(Qt.Key.Key_1, screen.log.table)
            assert screen.page == 0
            await rest(showcase)

    qloop.run(scene())


def test_a_name_longer_than_its_place_makes_nothing_beside_it_vanish(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            name = "Wolfeschlegelstein" * 4
            await type_number(showcase, "cap_per_minute", "900")
            showcase.server.ops.put_settings(changed_by=name, cap_per_minute=1_000)
            await until(lambda: board.theirs is not None, "what somebody else has set")
            await rest(showcase)
            assert name in screen.admission.theirs.title
            assert screen.admission.width() <= screen.panel.viewport().width()
            screen.show_large(True)
            assert screen.wall._event.minimumSizeHint().width() < 200
            await rest(showcase)

    qloop.run(scene())


@pytest.mark.parametrize(("width", "most"), [(1280, 256), (1920, 384), (900, 450)])
def test_a_long_name_leaves_room_for_how_things_stand(
    qloop: QLoop, theme: Theme, tmp_path: Path, width: int, most: int
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            screen = screen_of(showcase)
            showcase.console.window.resize(width, 700)
            showcase.server.pass_time(1)
            ops = showcase.server.ops
            event = replace(ops.told[-1].events[0], name="Os Maias, versão integral em concerto com orquestra e coro")
            at = showcase.server.house.now()
            ops.send(msgspec.json.encode(replace(ops.told[-1], measured_at=at, events=(event,))).decode())
            await until(lambda: screen.event_box.currentText() == event.name, "the name")
            await rest(showcase)
            assert 200 <= screen.event_box.width() <= most
            assert screen.state.width() > screen.event_box.width()

    qloop.run(scene())


def test_the_limit_is_read_first_on_the_wall(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, trouble_at=40) as showcase:
            server, screen, board = showcase.server, screen_of(showcase), board_of(showcase)
            first = server.ops.alarms[0]
            server.ops.alarms = (replace(first, figure=F.SHED_PER_S, raise_at=8.0),)
            server.pass_time(1)
            tell_again(showcase)
            await until(lambda: len(board.alarms) == 1, "the alarm")
            screen.show_large(True)
            words = next(shown.more for shown in screen.wall.figures if shown.name == "Answers to holds")
            assert words.startswith("limit 8")
            await rest(showcase)

    qloop.run(scene())
