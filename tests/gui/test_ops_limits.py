"""The limits of alarms, changed on the operators' screen: read first, tried first, never over somebody unseen (R32)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.core import session
from app.core.session import Permission
from app.i18n import LANGUAGES, use_language
from app.screens.ops_rule_dialog import RuleDialog
from app.screens.ops_rule_fields import RuleFields
from app.screens.ops_screen import ALARMS, LOG
from app.showcase import Showcase
from backend_client.testing import FakeBookingServer, Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import (
    AdmissionReason,
    Cause,
    ErrorCode,
    FieldProblem,
    OpsAlarmRule,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    OpsSeverity,
    Role,
)
from booking.domain.alarms import RULES
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import press
from tests.gui.ops_stage import board_of, dialog_of, ops_of, screen_of, tell_again
from widgets.theme import Theme

RULE = "holds-slow"


def rule_of(server: FakeBookingServer, name: str = RULE) -> OpsAlarmRule:
    return next(rule for rule in server.ops.rules if rule.rule == name)


def set_behind(
    showcase: Showcase, who: str = "Sofia Lindqvist", why: str = "The bank is slow", **members: object
) -> None:
    """Somebody else sets the limit; this console has not read it yet."""
    server, before = showcase.server, rule_of(showcase.server)
    server.ops.put_rule(msgspec.structs.replace(before, version=before.version + 1, **members))
    server.ops.log.append(OpsLogEntry(
        entry_id=f"audit:{900 + before.version}", at=server.house.now(), kind=OpsLogKind.ALARM,
        action="alarm-rule-changed", who="Sofia Lindqvist", subject=RULE, reason="The bank is slow",
        changes=tuple(OpsLogChange(name=name, was="", now=str(value)) for name, value in members.items()),
    ))  # fmt: skip


async def open_limit(showcase: Showcase, name: str = RULE) -> RuleDialog:
    """The dialog of a limit, with the quarter of an hour read."""
    screen = screen_of(showcase)
    screen.show_page(ALARMS)
    await rest(showcase)
    showcase.console.deeds.cancel("follow-limits")  # what others set is read when a test says so
    page = screen.alarms
    page.rule_table.choose_row(page.rules.row_of(name))
    press(Qt.Key.Key_L, page.rule_table)
    dialog: RuleDialog = await dialog_of(showcase, RuleDialog)
    await until(lambda: not showcase.console.deeds.is_running("try-limit"), "what it is tried on")
    return dialog


def type_in(dialog: RuleDialog, **texts: str) -> None:
    for name, text in texts.items():
        dialog.fields.edits[name].setText(text)
        dialog.fields.edits[name].textEdited.emit(text)


def facts(dialog: RuleDialog) -> dict[str, str]:
    return dict(dialog.effect.facts)


def sent_keys(server: FakeBookingServer) -> list[str]:
    return [call.key for call in server.calls if call.method == "PUT" and "/alarm-rules/" in call.path]


async def closed(showcase: Showcase) -> None:
    await until(lambda: QApplication.activeModalWidget() is None, "the end of the question")
    await rest(showcase)


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


async def rest_of(showcase: Showcase) -> None:
    await until(lambda: not showcase.console.deeds.is_running("set-limit"), "nothing under way")


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


def test_the_page_shows_what_another_operator_has_set(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            desk, deeds, screen = showcase.console.desk, showcase.console.deeds, screen_of(showcase)
            screen.show_page(ALARMS)
            await rest(showcase)
            desk.patience = replace(desk.patience, limits_s=0.02)
            deeds.cancel("follow-limits")
            showcase.console.window.screens.shown.emit()
            set_behind(showcase, raise_at=500.0)
            await until(lambda: screen.alarms.rules.index(0, 1).data() == "≥ 500 ms", "the new limit")
            showcase.console.window.screen_requested.emit("counter")
            assert not deeds.is_running("follow-limits")

    qloop.run(scene())


def test_who_may_not_is_told_so_before_anything_is_typed(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(session.ALLOWED, Role.OPS, session.ALLOWED[Role.OPS] - {Permission.SET_LIMITS})

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            page = screen_of(showcase).alarms
            screen_of(showcase).show_page(ALARMS)
            await rest(showcase)
            assert not page.change.isEnabled()
            assert page.change.toolTip() == "Your role may read this and not set it."
            press(Qt.Key.Key_Return, page.rule_table)
            assert page.banner.title == "Your role may not do this"
            assert QApplication.activeModalWidget() is None

    qloop.run(scene())


@pytest.mark.parametrize(("fault", "words"), [
    ("forbidden", "Your role may not do this"), ("unreachable", "The booking system does not answer"),
    ("gone", "The booking system does not know this alarm any more"),
])  # fmt: skip
def test_a_refusal_is_read_in_the_dialog_and_what_was_typed_stays(
    qloop: QLoop, theme: Theme, tmp_path: Path, fault: str, words: str
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            server = showcase.server
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("why not")
            before = rule_of(server)
            if fault == "unreachable":
                server.fail(Fault.UNREACHABLE, "/alarm-rules/", times=30)
            elif fault == "gone":
                server.ops.rules = server.ops.rules[1:]
            else:
                forbid(server)
            dialog.send.click()
            await until(lambda: dialog.banner.isVisible() and not dialog.send.busy, "the refusal")
            assert dialog.banner.title == words
            assert (dialog.fields.edits["raise_at"].text(), dialog.reason.text()) == ("400", "why not")
            assert fault == "gone" or rule_of(server) == before
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def forbid(server: FakeBookingServer) -> None:
    """From now on the role of everybody who is signed in is a clerk's."""
    server._sessions = {token: (who, Role.CLERK) for token, (who, _role) in server._sessions.items()}


def test_a_field_that_the_booking_system_refuses_is_told_in_its_words(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = FieldProblem(pointer="/raise_at", message="no more than 350 of this")

    def refuse(*_arguments: object) -> object:
        raise RefusalError(ErrorCode.INVALID_REQUEST, fields=(problem,))

    monkeypatch.setattr("backend_client.testing_rules.changed", refuse)

    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("why not")
            dialog.send.click()
            note = dialog.fields.notes["raise_at"]
            await until(lambda: note.text().startswith("no more than 350 of this"), "the booking system's words")
            assert "no more than 350 of this" in dialog.fields.edits["raise_at"].accessibleDescription()
            type_in(dialog, raise_at="340")
            assert note.text() == "was 300 ms"
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_while_an_answer_is_waited_for_nothing_is_typed_or_sent_again(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("why not")
            showcase.server.delay("/alarm-rules/", 0.2)
            press(Qt.Key.Key_Return, dialog.reason)
            assert dialog.send.busy
            assert dialog.fields.edits["raise_at"].isReadOnly()
            assert not dialog.to_standard.isEnabled()
            for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
                press(key, dialog.reason)
            assert dialog.isVisible()
            await closed(showcase)
            assert len(sent_keys(showcase.server)) == 1

    qloop.run(scene())


def test_the_question_goes_with_the_person(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            type_in(dialog, raise_at="400")
            dialog.reason.setText("Mine alone")
            showcase.server.delay("/alarm-rules/", 5)
            dialog.send.click()
            showcase.console.desk.store.put_session(None)
            await until(lambda: QApplication.activeModalWidget() is None, "the end of the question", 2.0)
            await rest(showcase)
            assert screen_of(showcase).banner.isHidden()

    qloop.run(scene())


def test_fields_are_named_and_the_keyboard_goes_through_them_in_their_order(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar") as showcase:
            dialog = await open_limit(showcase)
            edits = dialog.fields.edits
            assert {name: edit.accessibleName() for name, edit in edits.items()} == {
                "raise_at": "Alarm from, ≥, ms", "clear_at": "Over below, ≤, ms",
                "raise_after_s": "Alarm from, for so long, seconds",
                "clear_after_s": "Over below, for so long, seconds",
            }  # fmt: skip
            assert dialog.fields.severity.accessibleName() == "How loud"
            type_in(dialog, raise_at="400")
            dialog.reason.setText("why not")
            assert edits["raise_at"].accessibleDescription() == "was 300 ms"
            seen, widget = [], edits["raise_at"]
            widget.setFocus()
            for _step in range(11):
                seen.append(QApplication.focusWidget())
                press(Qt.Key.Key_Tab, QApplication.focusWidget() or dialog)
            wanted = [*dialog.fields.order, dialog.undo, dialog.to_standard, dialog.reason, dialog.cancel, dialog.send]
            assert seen == [part for part in wanted if part.isEnabled()] + [edits["raise_at"]] * (
                11 - sum(part.isEnabled() for part in wanted)
            )
            assert isinstance(QApplication.focusWidget(), QLineEdit)
            dialog.reject()
            await closed(showcase)

    qloop.run(scene())


def test_why_admission_is_as_it_is_stands_in_the_language_in_use_and_else_in_english(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            screen, server, board = screen_of(showcase), showcase.server, board_of(showcase)
            assert board.control is not None
            assert screen.admission._reason.text().startswith("Lowered: Hold answers, 99 of 100: ")
            known = Cause(code="at-cap", numbers={"cap_per_minute": 1200.0})
            away = Cause(code="room-refused", numbers={"status": 503.0})
            said = "All is calm: at the cap of 1,200 a minute"
            for cause, words in ((known, said), (replace_code(known), "a comet")):
                control = msgspec.structs.replace(
                    board.control, cause=cause, words="a comet", reason=AdmissionReason.CAP
                )
                assert control.room is not None
                room = msgspec.structs.replace(control.room, is_there=False, problem="in English", problem_cause=away)
                board.put_control(msgspec.structs.replace(control, room=room))
                screen.show_all()
                assert screen.admission._reason.text() == words
                assert screen.admission._room_state.text() == "The room does not answer · It answered 503"
            at = server.house.now()
            server.ops.log = [OpsLogEntry(
                entry_id=f"admission:1:{number}", at=at, kind=OpsLogKind.ADMISSION, action="admission-steered",
                who="controller", subject="event:1", reason="a comet", cause=cause,
            ) for number, cause in enumerate((known, replace_code(known), None))]  # fmt: skip
            screen.show_page(LOG)
            await until(lambda: len(screen.log.shown) == 3, "the log")
            told = [str(screen.log.model.index(row, 5).data()) for row in range(3)]
            assert sorted(told) == [said, "a comet", "a comet"]
            assert screen.log.model.index(0, 2).data() == "Admission steered · La Traviata"

    qloop.run(scene())


def replace_code(cause: Cause) -> Cause:
    """As a newer booking system would say it."""
    return msgspec.structs.replace(cause, code="comet-seen")


@pytest.mark.parametrize("language", [language.code for language in LANGUAGES])
def test_every_limit_finds_room_for_its_line_in_every_language(qapp: QApplication, theme: Theme, language: str) -> None:
    use_language(language)
    try:
        for rule in RULES.values():
            shown = msgspec.convert(rule, OpsAlarmRule, from_attributes=True)
            assert RuleFields(theme, shown).sizeHint().width() <= 560 - 2 * theme.space("wide"), rule.rule
    finally:
        use_language("en")


def test_the_limit_of_the_alarm_that_somebody_goes_to_is_the_one_that_is_changed(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "omar", trouble_at=40) as showcase:
            page = screen_of(showcase).alarms
            screen_of(showcase).show_page(ALARMS)
            await rest(showcase)
            page.table.setFocus()
            for row in (1, 0):
                page.table.choose_row(row)
                assert page.chosen is not None
                assert page.rule is not None
                assert page.rule.rule == page.chosen.rule

    qloop.run(scene())
