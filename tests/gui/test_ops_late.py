"""What comes late on the operators' screen: answers about another event, another filter, another part of time."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from app.core.ops_parts import LogFilter, OpsView
from app.core.ops_series import MOST_MINUTES_S
from app.screens.ops_dialogs import AdmissionDialog
from app.screens.ops_log_page import OpsLogPage
from app.screens.ops_screen import ALARMS, LOG
from app.showcase import Showcase
from app.showcase_ops import give_minutes
from backend_client.testing import Fault
from backend_client.wire import AdmissionMode, EventId, OpsLogEntry, OpsLogKind
from tests.gui.conftest import QLoop, rest, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import go, press
from tests.gui.ops_stage import board_of, dialog_of, ops_of, screen_of, tell_two_events, type_number
from widgets.theme import Theme

OTHER = EventId(2)


async def log_of(showcase: Showcase, count: int) -> OpsLogPage:
    """The log, once so many entries are shown."""
    screen_of(showcase).show_page(LOG)
    page = screen_of(showcase).log
    await until(lambda: len(page.shown) == count, "the log")
    await rest(showcase)
    return page


def reads_of(showcase: Showcase, part: str) -> int:
    return len([call for call in showcase.server.calls if call.path.endswith(part)])


def entries(showcase: Showcase, count: int) -> list[OpsLogEntry]:
    """So many entries, the newest first."""
    now = showcase.server.house.now()
    return [
        OpsLogEntry(
            entry_id=f"audit:{count - number}", at=now - timedelta(seconds=number + 1), kind=OpsLogKind.STATUS,
            action="event-status-changed", who="Ada", subject="", reason="", event_id=showcase.server.house.event_id,
        )
        for number in range(count)
    ]  # fmt: skip


# ------------------------------------------------------------ the log


@pytest.mark.parametrize("answer", ["is there", "is on its way"])
def test_only_this_event_is_the_event_that_is_watched_now(
    qloop: QLoop, theme: Theme, tmp_path: Path, answer: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            page, board, server = await log_of(showcase, 11), board_of(showcase), showcase.server
            before = reads_of(showcase, "/log")
            if answer == "is on its way":
                server.delay("/log", 0.2)
            page.event_only.click()
            await until(lambda: reads_of(showcase, "/log") == before + 1, "the reading")
            if answer == "is there":
                await rest(showcase)
            board.choose_event(OTHER)
            await until(lambda: reads_of(showcase, "/log") == before + 2, "the other event's entries to be read")
            await rest(showcase)
            assert (board.log, page.shown) == ((), [])
            assert page.event_only.isChecked()
            board.choose_event(server.house.event_id)
            await until(lambda: len(page.shown) == 11, "ours again")
            await rest(showcase)

    qloop.run(scene())


def test_older_entries_that_come_after_the_log_was_read_anew_leave_no_hole(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            log = entries(showcase, 150)
            showcase.server.ops.log = log[1:]
            page = await log_of(showcase, 100)
            showcase.server.delay("/log", 0.2)
            before = reads_of(showcase, "/log")
            page.more.click()
            await until(lambda: reads_of(showcase, "/log") == before + 1, "the reading of older ones")
            showcase.server.ops.log = log
            page.refresh.click()
            await until(lambda: page.shown[0] == log[0], "the newest")
            await rest(showcase)
            assert page.shown == log[: len(page.shown)]
            page.more.click()
            await until(lambda: page.shown == log, "all of them")

    qloop.run(scene())


def test_entries_of_another_filter_are_not_shown_under_this_one(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            page, board = await log_of(showcase, 11), board_of(showcase)
            showcase.server.fail(Fault.UNREACHABLE, "/log", times=20)
            page.kind.setCurrentIndex(page.kind.findData("status"))
            await until(lambda: board.log_trouble, "the trouble")
            await rest(showcase)
            assert {entry.kind for entry in page.shown} == {OpsLogKind.STATUS}
            assert page.banner.isVisible()

    qloop.run(scene())


def test_the_filter_is_seen_in_its_fields_in_another_language_too_and_goes_with_the_person(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            page, window = await log_of(showcase, 11), showcase.console.window
            page.finder.setText("omar")
            page.event_only.click()
            page.kind.setCurrentIndex(page.kind.findData("admission"))
            await until(lambda: len(page.shown) == 1, "one")
            window.language_chosen.emit("pt")
            await rest(showcase)
            page = screen_of(showcase).log
            assert (page.finder.text(), page.kind.currentData(), page.event_only.isChecked()) == (
                "omar", "admission", True,
            )  # fmt: skip
            assert len(page.shown) == 1
            window.sign_out_requested.emit()
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            await _sign_in(showcase, "sofia")
            go(showcase, "ops")
            await until(lambda: len(page.shown) == 11, "all of it, read for the next person")
            assert (page.finder.text(), page.kind.currentData(), page.event_only.isChecked()) == ("", "", False)
            assert board_of(showcase).log_filter == LogFilter()
            await rest(showcase)

    qloop.run(scene())


# ------------------------------------------------------------ the past


def test_as_much_of_the_past_is_shown_as_is_answered_and_no_minute_is_missing(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            give_minutes(showcase.server, 4_300)
            live, board = screen_of(showcase).live, board_of(showcase)
            for _turn in range(9):
                live.zoom(2.0)
            assert board.view.seconds == MOST_MINUTES_S
            await until(lambda: not board.minutes.table.is_empty, "the minutes")
            await rest(showcase)
            times = board.minutes.table.times
            assert (times[0] - live.span.start_s, live.span.end_s - times[-1]) == pytest.approx((60, 60), abs=61)
            board.look_at(OpsView(86_400.0, live.now_s - 3_600))
            await until(lambda: board.minutes.covers(board.event_id, live.span.start_s, live.span.end_s), "a day")
            assert board.minutes.table.times[-1] >= live.span.end_s - 60

    qloop.run(scene())


@pytest.mark.parametrize("heals", ["another view", "the feed", "by itself"])
def test_a_history_that_could_not_be_read_is_read_again(qloop: QLoop, theme: Theme, tmp_path: Path, heals: str) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            server, board, live = showcase.server, board_of(showcase), screen_of(showcase).live
            give_minutes(server, 120)
            server.fail(Fault.UNREACHABLE, "/history", times=30)
            board.look_at(OpsView(3_600.0))
            await until(lambda: board.history_trouble, "the trouble")
            await rest(showcase)
            assert live._trouble.isVisible()
            server.heal()
            if heals == "another view":
                board.look_at(OpsView(1_800.0))
            elif heals == "the feed":
                server.cut_ops_feeds()
            else:
                showcase.console.bindings.ops._again.start(10)
            await until(lambda: not board.minutes.table.is_empty, "the minutes")
            await rest(showcase)
            assert not live._trouble.isVisible()

    qloop.run(scene())


def test_trouble_with_the_seconds_ends_when_they_are_read(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            board, live = board_of(showcase), screen_of(showcase).live
            board.put_history_trouble("busy")
            await until(live._trouble.isVisible, "the trouble")
            showcase.console.bindings.ops._again.start(10)
            await until(lambda: not board.history_trouble, "the seconds")
            await until(lambda: not live._trouble.isVisible(), "nothing said any more")
            await rest(showcase)

    qloop.run(scene())


# ------------------------------------------------------------ admission of another event


def test_what_is_set_for_one_event_is_not_shown_for_another(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel, board = screen_of(showcase).admission, board_of(showcase)
            tell_two_events(showcase)
            await until(lambda: board.figures is not None and len(board.figures.events) == 2, "the other event")
            await rest(showcase)
            screen_of(showcase).event_chosen.emit(OTHER)
            await until(lambda: board.control_trouble, "no answer about its admission")
            await rest(showcase)
            assert {field.text() for field in panel.fields.values()} == {""}
            assert not any(button.isChecked() for button in panel.modes.values())
            screen_of(showcase).event_chosen.emit(showcase.server.house.event_id)
            await until(lambda: panel.fields["cap_per_minute"].text() == "1200", "ours")
            assert panel.modes[AdmissionMode.AUTOMATIC].isChecked()
            await rest(showcase)

    qloop.run(scene())


def test_an_answer_about_the_event_before_names_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server = screen_of(showcase), showcase.server
            tell_two_events(showcase)
            await type_number(showcase, "cap_per_minute", "900")
            screen.admission.review.click()
            dialog = await dialog_of(showcase, AdmissionDialog)
            dialog.reason.setText("The derby begins")
            server.delay("/admission", 0.2)
            dialog.send.click()
            await until(lambda: server.calls[-1].method == "PUT", "the sending")
            dialog.close()
            screen.event_chosen.emit(OTHER)
            await until(screen.banner.isVisible, "the answer")
            assert screen.banner.title == f"{server.house.event().name} · Admission is set: Automatic"
            await rest(showcase)

    qloop.run(scene())


def test_the_room_is_resumed_from_what_was_seen_and_not_over_what_came_meanwhile(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            ops, board = showcase.server.ops, board_of(showcase)
            press(Qt.Key.Key_R, screen_of(showcase))
            dialog = await dialog_of(showcase)
            ops.put_settings(changed_by="Sofia", mode=AdmissionMode.MANUAL)
            control = ops.control
            assert control is not None
            board.put_control(replace(control, server_time=showcase.server.house.now()))
            dialog.reason.setText("Too many")
            press(Qt.Key.Key_Return, dialog.reason)
            await until(dialog.banner.isVisible, "the refusal")
            assert ops.control is not None
            assert ops.control.settings.mode is AdmissionMode.MANUAL
            dialog.reject()
            screen_of(showcase).show_page(ALARMS)
            await rest(showcase)

    qloop.run(scene())
