"""The limits of alarms, changed on the operators' screen: read first, tried first, never over somebody unseen (R32)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.ops_rule_dialog import RuleDialog
from app.screens.ops_screen import ALARMS, LOG
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.wire import (
    OpsSeverity,
)
from tests.gui.conftest import QLoop, rest, until
from tests.gui.limits_stage import (
    RULE,
    closed,
    facts,
    open_limit,
    rest_of,
    rule_of,
    sent_keys,
    set_behind,
    type_in,
)
from tests.gui.money_stage import press
from tests.gui.ops_stage import board_of, dialog_of, ops_of, screen_of, tell_again
from widgets.theme import Theme


def by_key(showcase: Showcase) -> None:
    press(Qt.Key.Key_L, screen_of(showcase).alarms.rule_table)


def by_enter(showcase: Showcase) -> None:
    press(Qt.Key.Key_Return, screen_of(showcase).alarms.rule_table)


def by_double_click(showcase: Showcase) -> None:
    table = screen_of(showcase).alarms.rule_table
    place = table.visualRect(table.currentIndex()).center()
    for click in (QTest.mouseClick, QTest.mouseDClick):
        click(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(place))


def by_button(showcase: Showcase) -> None:
    screen_of(showcase).alarms.change.click()


@pytest.mark.parametrize("open_it", [by_key, by_enter, by_double_click, by_button])
def test_a_limit_is_opened_from_its_row(
    qloop: QLoop, theme: Theme, tmp_path: Path, open_it: Callable[[Showcase], None]
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            page = screen_of(showcase).alarms
            screen_of(showcase).show_page(ALARMS)
            await rest(showcase)
            page.rule_table.choose_row(page.rules.row_of("payments-fail"))
            open_it(showcase)
            dialog: RuleDialog = await dialog_of(showcase, RuleDialog)
            assert dialog.windowTitle() == "Limit: Payments that fail"
            assert [edit.text() for edit in dialog.fields.edits.values()] == ["10", "5", "30", "60"]
            assert dialog.standard.text() == "Default: ≥ 10% for 30 sec · over at ≤ 5% for 1 min · Warning"
            assert not dialog.send.isEnabled()
            press(Qt.Key.Key_Escape, dialog)
            await closed(showcase)
            assert not page.change.busy

    qloop.run(scene())


def test_another_limit_is_tried_then_set_with_a_reason_and_stands_in_the_log(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            screen, server = screen_of(showcase), showcase.server
            dialog = await open_limit(showcase)
            assert facts(dialog)["With this limit"] == "It would not ring"
            type_in(dialog, raise_at="50", raise_after_s="2", clear_at="40")
            assert facts(dialog)["With this limit"] == "It would ring after 2 sec"
            assert facts(dialog)["Last 15 minutes"].startswith("1 alarm, ")
            assert facts(dialog)["As it is set now"] == "Not once"
            assert dialog.fields.notes["raise_at"].text() == "was 300 ms, 5 sec"
            dialog.fields.severity.setCurrentIndex(dialog.fields.severity.findData("warning"))
            dialog.fields.severity.activated.emit(0)
            assert not dialog.send.isEnabled()
            dialog.reason.setText("Quiet evening")
            press(Qt.Key.Key_Return, dialog.fields.edits["clear_at"])
            await until(lambda: rule_of(server).version == 2, "the change")
            await closed(showcase)
            assert screen.banner.title == "The limit is set: Hold answers, 99 of 100"
            rule = rule_of(server)
            assert (rule.raise_at, rule.raise_after_s, rule.clear_at, rule.clear_after_s) == (50.0, 2, 40.0, 15)
            assert rule.severity is OpsSeverity.WARNING
            row = [str(screen.alarms.rules.index(0, place).data()) for place in range(6)]
            assert row == ["Hold answers, 99 of 100", "≥ 50 ms", "2 sec", "≤ 40 ms", "Warning", "≥ 300 ms for 5 sec"]
            screen.show_page(LOG)
            await until(lambda: bool(screen.log.shown), "the log")
            entry = screen.log.shown[0]
            assert (entry.action, entry.reason, entry.who) == ("alarm-rule-changed", "Quiet evening", "Omar Haddad")
            cells = [str(screen.log.model.index(0, place).data()) for place in range(6)]
            assert cells[2] == "Limit of an alarm changed · Hold answers, 99 of 100"
            assert "Alarm from: 300 ms → 50 ms" in cells[4]
            assert "How loud: Critical → Warning" in cells[4]

    qloop.run(scene())


@pytest.mark.parametrize(("name", "text", "line", "words"), [
    ("raise_at", "150", "clear_at", "Has to be below “Alarm from”, or the alarm would flutter"),
    ("clear_at", "300", "clear_at", "Has to be below “Alarm from”, or the alarm would flutter"),
    ("raise_at", "many", "raise_at", "This is not a number"), ("raise_at", "", "raise_at", "Type a value"),
    ("raise_at", "9999999999999", "raise_at", "A number from 0 to 1,000,000,000,000"),
    ("raise_after_s", "3601", "raise_at", "A whole number of seconds from 0 to 3,600"),
    ("clear_after_s", "1.5", "clear_at", "A whole number of seconds from 0 to 3,600"),
])  # fmt: skip
def test_what_cannot_be_is_told_beside_its_field_while_it_is_typed(
    qloop: QLoop, theme: Theme, tmp_path: Path, name: str, text: str, line: str, words: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            dialog.reason.setText("why not")
            type_in(dialog, **{name: text})
            note = dialog.fields.notes[line]
            assert note.isVisible()
            assert note.text().split(" · ")[0] == words
            field = dialog.fields.edits["clear_at" if "flutter" in words else name]
            assert words in field.accessibleDescription()
            assert facts(dialog)["With this limit"] == "Not right yet"
            assert not dialog.send.isEnabled()
            press(Qt.Key.Key_Return, dialog.reason)
            await rest_of(showcase)
            assert not sent_keys(showcase.server)
            dialog.undo.click()
            assert field.text() != text or text == ""
            assert not note.isVisible()
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_what_a_colleague_has_set_is_read_before_it_is_overwritten(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            server = showcase.server
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("Mine")
            set_behind(showcase, raise_at=500.0, clear_after_s=30)
            dialog.send.click()
            await until(lambda: "Sofia" in dialog.theirs_banner.title, "who it was")
            assert dialog.theirs_banner.title == "Sofia Lindqvist has set this limit meanwhile"
            assert dialog.theirs_banner.detail == (
                "Alarm from: 300 ms → 500 ms, here 400 ms · Over after: 15 sec → 30 sec · The bank is slow"
            )
            assert dialog.banner.title == "Somebody has changed these settings meanwhile"
            assert (dialog.reason.text(), dialog.fields.edits["raise_at"].text()) == ("Mine", "400")
            assert rule_of(server).raise_at == 500.0
            assert not dialog.send.isEnabled()
            await rest_of(showcase)
            dialog.theirs_banner.action_requested.emit()
            assert dialog.banner.isHidden()
            assert dialog.fields.edits["clear_after_s"].text() == "30"
            assert dialog.fields.notes["raise_at"].text() == "was 500 ms"
            dialog.send.click()
            await until(lambda: rule_of(server).version == 3, "the change")
            await closed(showcase)
            assert (rule_of(server).raise_at, rule_of(server).clear_after_s) == (400.0, 30)
            assert len(set(sent_keys(server))) == 2

    qloop.run(scene())


def test_where_nothing_is_typed_the_dialog_goes_with_what_others_set(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            set_behind(showcase, raise_at=500.0)
            board_of(showcase).put_rules(showcase.server.ops.rules)
            assert dialog.fields.edits["raise_at"].text() == "500"
            await until(lambda: dialog.theirs_banner.title.startswith("Sofia"), "who it was")
            type_in(dialog, raise_at="600")
            dialog.reason.setText("Mine")
            assert dialog.send.isEnabled()
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_a_change_whose_answer_is_lost_goes_again_under_its_key_and_is_done_once(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            server = showcase.server
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("Too loud")
            server.fail(Fault.ANSWER_LOST, "/alarm-rules/", times=30)
            dialog.send.click()
            await until(dialog.banner.isVisible, "the loss")
            server.heal()
            await rest_of(showcase)
            board_of(showcase).put_rules(server.ops.rules)
            assert rule_of(server).version == 2
            assert dialog.theirs_banner.isHidden()
            assert dialog.send.isEnabled()
            dialog.send.click()
            await closed(showcase)
            assert screen_of(showcase).banner.title == "The limit is set: Hold answers, 99 of 100"
            assert rule_of(server).version == 2
            assert len(set(sent_keys(server))) == 1
            assert [entry.reason for entry in server.ops.log if entry.action == "alarm-rule-changed"] == ["Too loud"]

    qloop.run(scene())


def test_a_late_answer_tells_that_the_limit_was_set_once_more(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("Too loud")
            showcase.server.fail(Fault.ANSWER_LOST, "/alarm-rules/", times=30)
            dialog.send.click()
            await until(dialog.banner.isVisible, "the loss")
            showcase.server.heal()
            await rest_of(showcase)
            set_behind(showcase, raise_at=900.0)
            dialog.send.click()
            await closed(showcase)
            banner = screen_of(showcase).banner
            assert (banner.title, banner.detail) == (
                "The limit is set: Hold answers, 99 of 100", "Somebody has set it once more meanwhile.",
            )  # fmt: skip
            kept = board_of(showcase).rule(RULE)
            assert kept is not None
            assert (kept.version, kept.raise_at) == (3, 900.0)

    qloop.run(scene())


def test_in_a_low_window_everything_that_answers_is_seen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            window = showcase.console.window
            window.resize(853, 533)
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("Mine")
            set_behind(showcase, raise_at=500.0)
            dialog.send.click()
            await until(lambda: "Sofia" in dialog.theirs_banner.title and not dialog.send.busy, "a refusal")
            await rest_of(showcase)
            await until(lambda: dialog.height() <= window.height(), "its height")
            for part in (dialog.theirs_banner, dialog.reason, dialog.banner, dialog.send, dialog.cancel):
                assert dialog.rect().contains(part.geometry())
                assert part.height() >= part.minimumSizeHint().height()
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_no_text_is_cut_off_when_the_figures_go_on(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400", clear_at="100")
            await rest_of(showcase)
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
            page = dialog.layout()
            assert page is not None
            wanted = page.totalHeightForWidth(dialog.width())
            for _second in range(2):
                dialog.show_board()  # as each second does
                assert dialog.height() == wanted > 533  # two thirds of this screen
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_back_to_default_sets_what_the_program_has(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            set_behind(showcase, raise_at=900.0, severity=OpsSeverity.WARNING, enabled=False)
            board_of(showcase).put_rules(showcase.server.ops.rules)
            dialog = await open_limit(showcase)
            assert facts(dialog)["With this limit"] == "It would never ring: it is off"
            dialog.to_standard.click()
            assert not dialog.to_standard.isEnabled()
            assert dialog.fields.enabled.isChecked()
            dialog.reason.setText("As delivered")
            dialog.send.click()
            await until(lambda: rule_of(showcase.server).version == 3, "the change")
            await closed(showcase)
            rule = rule_of(showcase.server)
            assert (rule.raise_at, rule.severity, rule.enabled) == (300.0, OpsSeverity.CRITICAL, True)

    qloop.run(scene())


def test_what_it_would_do_follows_the_figure_and_says_when_that_is_not_of_now(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            dialog = await open_limit(showcase)
            assert facts(dialog)["With this limit"] == "The open alarm would go on"
            showcase.server.pass_time(1)
            tell_again(showcase, hold_p99_ms=150.0)
            await until(lambda: facts(dialog)["Figure now"] == "150 ms", "the figure")
            assert facts(dialog)["With this limit"] == "The open alarm would end after 15 sec"
            board_of(showcase).heard_at = -1_000.0
            dialog.show_board()
            assert facts(dialog)["Figure now"] == "150 ms, out of date"
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_a_history_that_cannot_be_read_is_said_and_the_limit_can_be_set_all_the_same(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            showcase.server.fail(Fault.UNREACHABLE, "/history", times=30)
            dialog = await open_limit(showcase)
            assert facts(dialog)["Last 15 minutes"] == "The booking system does not answer"
            type_in(dialog, raise_at="400")
            dialog.reason.setText("why not")
            dialog.send.click()
            await until(lambda: rule_of(showcase.server).version == 2, "the change")
            await closed(showcase)

    qloop.run(scene())
