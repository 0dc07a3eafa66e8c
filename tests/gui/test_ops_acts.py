"""What operators do: admission with its version, pausing, ending a session, alarms, the log (R20, R32)."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.i18n import use_language
from app.screens.ops_dialogs import ActDialog, AdmissionDialog, SessionDialog
from app.screens.ops_screen import ALARMS, BLOCKERS, LOG
from app.screens.ops_words import change_words
from app.showcase import Showcase
from backend_client.testing import FakeBookingServer, Fault
from backend_client.wire import (
    AdmissionMode,
    AdmissionSettings,
    EventId,
    EventStatus,
    OpsAlarm,
    OpsLogChange,
    OpsLogKind,
    OpsSessionOutcome,
    OpsSeverity,
)
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import go, press, sent_posts
from tests.gui.ops_stage import board_of, dialog_of, ops_of, screen_of, tell_again, type_number
from tests.gui.plan_stage import choose_file
from widgets.theme import Theme


def settings_of(showcase: Showcase) -> AdmissionSettings:
    assert showcase.server.ops.control is not None
    return showcase.server.ops.control.settings


def has_mode(showcase: Showcase, mode: AdmissionMode) -> bool:
    return settings_of(showcase).mode is mode


def keys_of(showcase: Showcase, part: str) -> list[str]:
    return sent_posts(showcase, part)


def test_admission_is_looked_at_before_it_is_set_and_a_reason_is_asked_for(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel, server = screen_of(showcase).admission, showcase.server
            assert not panel.review.isEnabled()
            await type_number(showcase, "cap_per_minute", "900")
            assert panel.effect.text().startswith("900 a minute in 1 min · 12,400 waiting: all in after 13 min")
            press(Qt.Key.Key_Return, panel.fields["cap_per_minute"])
            dialog = await dialog_of(showcase, AdmissionDialog)
            assert dialog.changes.facts == [("Cap", "1,200 → 900")]
            assert not dialog.send.isEnabled()
            dialog.reason.setText("The derby begins")
            assert not keys_of(showcase, "/admission")
            press(Qt.Key.Key_Return, dialog.reason)
            await until(lambda: server.ops.control is not None and settings_of(showcase).version == 2, "the change")
            await rest(showcase)
            board = board_of(showcase)
            assert board.draft.is_empty
            assert panel.fields["cap_per_minute"].text() == "900"
            assert server.ops.log[-1].reason == "The derby begins"
            assert screen_of(showcase).banner.title == "La Traviata · Admission is set: Automatic"

    qloop.run(scene())


def test_two_operators_never_overwrite_each_other_unseen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel, server, board = screen_of(showcase).admission, showcase.server, board_of(showcase)
            showcase.console.deeds.cancel("follow-admission")  # the other one is faster than the next look
            await type_number(showcase, "cap_per_minute", "900")
            panel.review.click()
            dialog = await dialog_of(showcase, AdmissionDialog)
            server.ops.put_settings(changed_by="Sofia", cap_per_minute=1_500)
            dialog.reason.setText("Mine")
            dialog.send.click()
            await until(lambda: board.theirs is not None, "the other one's change")
            await rest_of_dialog(dialog)
            assert dialog.theirs.title == "Sofia has set admission meanwhile"
            assert dialog.theirs.detail == "Cap: 1,500, here 900"
            assert dialog.reason.text() == "Mine"
            assert not dialog.send.isEnabled()
            assert settings_of(showcase).cap_per_minute == 1_500
            dialog.kept.emit()
            await until(dialog.send.isEnabled, "going on")
            dialog.send.click()
            await until(lambda: settings_of(showcase).cap_per_minute == 900, "the change")
            await rest(showcase)
            assert settings_of(showcase).version == 3

    qloop.run(scene())


async def rest_of_dialog(dialog: ActDialog) -> None:
    await until(lambda: not dialog.send.busy, "the answer")


def test_a_change_whose_answer_is_lost_is_done_once(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel, server = screen_of(showcase).admission, showcase.server
            showcase.console.deeds.cancel("follow-admission")
            await type_number(showcase, "total_active_users", "500")
            panel.review.click()
            dialog = await dialog_of(showcase, AdmissionDialog)
            dialog.reason.setText("Too full")
            server.fail(Fault.ANSWER_LOST, "/admission", times=30)
            dialog.send.click()
            await until(dialog.banner.isVisible, "the loss")
            server.heal()
            assert settings_of(showcase).version == 2
            await rest_of_dialog(dialog)
            assert settings_of(showcase).total_active_users == 500
            assert len(set(keys_of(showcase, "/admission"))) == 1
            dialog.reject()
            await rest(showcase)

    qloop.run(scene())


@pytest.mark.parametrize("text", ["12.5", "", "9999999"])
def test_what_is_no_number_is_told_beside_its_field_and_cannot_be_sent(
    qloop: QLoop, theme: Theme, tmp_path: Path, text: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            panel = screen_of(showcase).admission
            field = panel.fields["cap_per_minute"]
            field.setText(text)
            field.textEdited.emit(text)
            await until(panel.fault.isVisible, "the fault")
            assert panel.fault.text() == "Cap: a whole number from 0 to 600,000"
            assert not panel.review.isEnabled()
            press(Qt.Key.Key_Escape, field)
            await until(lambda: not panel.fault.isVisible(), "what is set again")
            assert field.text() == "1200"

    qloop.run(scene())


def test_the_room_is_paused_and_goes_back_to_the_mode_before(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server = screen_of(showcase), showcase.server
            server.ops.put_settings(mode=AdmissionMode.MANUAL)
            await until(screen.admission.modes[AdmissionMode.MANUAL].isChecked, "by hand")
            for wanted in (AdmissionMode.PAUSED, AdmissionMode.MANUAL):
                await until(screen.admission.pause_room.isEnabled, "the button")
                press(Qt.Key.Key_R, screen)
                dialog = await dialog_of(showcase)
                dialog.reason.setText("Fire drill")
                dialog.send.click()
                await until(partial(has_mode, showcase, wanted), "the mode")
                await rest(showcase)
            assert screen.banner.title == "The room is told to go on: La Traviata"

    qloop.run(scene())


def test_the_sale_is_paused_from_the_version_that_was_read_and_resumed(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server = screen_of(showcase), showcase.server
            press(Qt.Key.Key_P, screen)
            dialog = await dialog_of(showcase)
            assert dialog.windowTitle() == "Pause the sale of La Traviata?"
            dialog.reason.setText("Row C is wrong")
            server.house.settings_version += 1  # somebody else changed the event
            dialog.send.click()
            await until(dialog.banner.isVisible, "the refusal")
            assert server.house.status is EventStatus.ON_SALE
            dialog.reject()
            await rest(showcase)
            press(Qt.Key.Key_P, screen)
            dialog = await dialog_of(showcase)
            dialog.reason.setText("Row C is wrong")
            dialog.send.click()
            await until(lambda: server.house.status is EventStatus.PAUSED, "the pause")
            await rest(showcase)
            assert server.ops.log[-1].reason == "Row C is wrong"

    qloop.run(scene())


@pytest.mark.parametrize("turned_to", ["another screen", "another event"])
def test_nothing_is_asked_of_who_has_turned_to_something_else_meanwhile(
    qloop: QLoop, theme: Theme, tmp_path: Path, turned_to: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, deeds = screen_of(showcase), showcase.console.deeds
            showcase.server.delay("/events/1", 0.2)
            press(Qt.Key.Key_P, screen)
            await until(lambda: showcase.server.calls[-1].path.endswith("/events/1"), "the reading")
            if turned_to == "another screen":
                go(showcase, "orders")
            else:
                board_of(showcase).choose_event(EventId(2))
            assert deeds.is_running("ask-event")
            await until(lambda: not deeds.is_running("ask-event"), "the end of the question", 5.0)
            assert QApplication.activeModalWidget() is None
            await rest(showcase)

    qloop.run(scene())


@pytest.mark.parametrize("outcome", list(OpsSessionOutcome))
def test_a_session_is_ended_by_number_and_reason_only(
    qloop: QLoop, theme: Theme, tmp_path: Path, outcome: OpsSessionOutcome
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "ada", trouble_at=40) as showcase:
            screen, ops = screen_of(showcase), showcase.server.ops
            ops.outcome = outcome
            screen.show_page(BLOCKERS)
            await rest(showcase)
            page = screen.blockers
            assert str(page.model.index(0, 0).data()) == "4712 · psql"
            press(Qt.Key.Key_Delete, page.table)
            dialog = await dialog_of(showcase, SessionDialog)
            assert ("Behind it", "11 sessions wait for it") in dialog.facts.facts
            dialog.reason.setText("Nobody waits for it")
            assert not dialog.send.isEnabled()
            dialog.number.setText("471")
            press(Qt.Key.Key_Return, dialog.number)
            assert not ops.ended
            dialog.number.setText("4712")
            assert dialog.send.isEnabled()
            dialog.send.click()
            await until(lambda: ops.ended == [(4712, "Nobody waits for it")], "the end")
            await rest(showcase)
            said = {OpsSessionOutcome.ENDED: "The session was ended", OpsSessionOutcome.GONE: "It holds nobody up",
                    OpsSessionOutcome.ENDING: "was told to end"}  # fmt: skip
            assert said[outcome] in screen.banner.title

    qloop.run(scene())


def test_waits_that_go_leave_the_chosen_row_chosen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "ada", trouble_at=40) as showcase:
            screen, server = screen_of(showcase), showcase.server
            screen.show_page(BLOCKERS)
            page = screen.blockers
            page.table.choose_row(5)
            chosen = page.chosen
            last = server.ops.told[-1]
            server.pass_time(1)
            server.ops.tell(last.house, last.events[0].figures, lock_waits=last.lock_waits[3:])
            await until(lambda: len(page.rows) == len(last.lock_waits) - 3, "fewer waits")
            assert chosen is not None
            assert page.chosen is not None
            assert page.chosen.key == chosen.key
            server.pass_time(1)
            server.ops.tell(last.house, last.events[0].figures)
            await until(lambda: page._pages.currentWidget() is page._empty, "nobody waits")
            assert not page.end.isEnabled()

    qloop.run(scene())


def test_an_alarm_is_acknowledged_once_by_its_key_and_stays_until_it_is_over(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            screen, ops, board = screen_of(showcase), showcase.server.ops, board_of(showcase)
            screen.show_page(ALARMS)
            await rest(showcase)
            assert not screen.alarms.sound.isChecked()
            first = screen.alarms.chosen
            assert first is not None
            press(Qt.Key.Key_K, screen)
            await until(lambda: len(board.unseen_alarms) == 1, "the word")
            await rest(showcase)
            assert board.alarm(first.alarm_id).acknowledged_by == "Omar Haddad"  # type: ignore[union-attr]
            assert [entry.action for entry in ops.log if entry.kind is OpsLogKind.ALARM][-1] == "alarm-acknowledged"
            assert screen.health.value == "critical"
            texts = [str(screen.alarms.model.index(row, 6).data()) for row in range(screen.alarms.model.rowCount())]
            assert texts == ["Nobody yet", "Omar Haddad", "Omar Haddad · Bank is slow"]

    qloop.run(scene())


def test_a_new_alarm_is_heard_once_and_only_by_who_wants_to(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(QApplication, "beep", lambda: heard.append("beep"))

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server, board = screen_of(showcase), showcase.server, board_of(showcase)
            for wanted in (False, True):
                if wanted:
                    screen.show_page(ALARMS)
                    screen.alarms.sound.click()
                    heard.clear()
                number = 50 + wanted
                server.ops.alarms = (*server.ops.alarms, alarm_of(server, number))
                for _second in range(3):
                    server.pass_time(1)
                    tell_again(showcase)
                await until(partial(board.alarm, UUID(int=number)), "the alarm")
                await rest(showcase)
                assert heard == ["beep"] * wanted

    qloop.run(scene())


@pytest.mark.parametrize(("question", "path", "is_sent"), [
    ("admission", "/admission", True), ("event", "/pause", True), ("room", "/admission", True),
    ("session", "/end", True), ("admission", "/admission", False), ("room", "/admission", False),
])  # fmt: skip
def test_a_question_goes_with_the_person_though_its_answer_is_on_the_way(
    qloop: QLoop, theme: Theme, tmp_path: Path, question: str, path: str, is_sent: bool
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "ada", trouble_at=40) as showcase:
            showcase.console.deeds.cancel("follow-admission")
            screen = screen_of(showcase)
            if question == "admission":
                await type_number(showcase, "cap_per_minute", "900")
                screen.admission.review.click()
            elif question == "session":
                screen.show_page(BLOCKERS)
                await rest(showcase)
                press(Qt.Key.Key_Delete, screen.blockers.table)
            else:
                press(Qt.Key.Key_P if question == "event" else Qt.Key.Key_R, screen)
            dialog = await dialog_of(showcase)
            dialog.reason.setText("Mine alone")
            if isinstance(dialog, SessionDialog):
                dialog.number.setText("4712")
            showcase.server.delay(path, 5)
            dialog.send.click()
            assert dialog.send.busy
            if is_sent:
                calls = showcase.server.calls
                await until(lambda: calls[-1].method != "GET" and calls[-1].path.endswith(path), "the sending")
            showcase.console.desk.store.put_session(None)
            await until(lambda: QApplication.activeModalWidget() is None, "the end of the question", 2.0)
            await rest(showcase)
            assert screen.banner.title == ""

    qloop.run(scene())


def alarm_of(server: FakeBookingServer, number: int) -> OpsAlarm:
    return OpsAlarm(
        alarm_id=UUID(int=number), rule="locks-waiting", figure="lock_waits", severity=OpsSeverity.WARNING,
        raised_at=server.house.now(), value=9.0, worst=9.0, raise_at=8.0, clear_at=2.0,
    )  # fmt: skip


def test_the_log_is_filtered_and_saved_as_it_is_shown_i5(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            screen = screen_of(showcase)
            screen.show_page(LOG)
            page = screen.log
            await until(lambda: len(page.shown) == 11, "the log")
            page.finder.setText("omar")
            await until(lambda: len(page.shown) == 2, "fewer")
            page.finder.clear()
            page.kind.setCurrentIndex(page.kind.findData("status"))
            await until(lambda: [entry.kind for entry in page.shown] == [OpsLogKind.STATUS] * 2, "of one kind")
            await rest(showcase)
            target = tmp_path / "log.csv"
            page.export.click()
            await choose_file(target)
            await until(target.exists, "the file")
            await rest(showcase)
            rows = list(csv.reader(target.read_text("utf-8-sig").splitlines()))
            assert len(rows) == 3
            assert rows[1][4] == "State of the event changed"
            assert "2 entries are in log.csv" in page.banner.title

    qloop.run(scene())


STEERED = (
    ("per_minute", "437.50652959464804", "545.7655029473741", "Let in a minute: 438 → 546"),
    ("per_minute", "3.4000000000000004", "0", "Let in a minute: 3.4 → 0"),
    ("of_a_newer_release", "0.30000000000000004", "1e999", "of a newer release: 0.3 → 1e999"),
    ("of_a_newer_release", "1.2.3", "nan", "of a newer release: 1.2.3 → nan"),
    ("targets", '{"lock_waits":8.0,"completion_share":0.05}', '{"lock_waits":4.5,"completion_share":0.05}',
     "Sessions waiting for locks: 8 → 4.5"),
    ("targets", "", '{"queue_age_ms":75.0,"completion_share":0.05}',
     "Oldest waits: – → 75 ms · Shoppers who buy: – → 5%"),
    ("targets", "{}", "cut off", "cut off"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "was", "now", "words"), STEERED)
def test_a_number_that_the_controller_came_to_is_said_as_people_say_it(
    name: str, was: str, now: str, words: str
) -> None:
    assert change_words(OpsLogChange(name=name, was=was, now=now)) == words


def test_a_change_points_the_way_people_read() -> None:
    change = OpsLogChange(name="cap_per_minute", was="900", now="1200")
    assert change_words(change) == "Cap: 900 → 1,200"
    use_language("ar")
    assert change_words(change).endswith("900 ← 1,200")
