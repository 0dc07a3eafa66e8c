"""Limits of alarms on the operators' screen: who may not, what is refused, and how the screen words it all (R32)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app.core import session
from app.core.session import Permission
from app.i18n import LANGUAGES, use_language
from app.screens.ops_rule_fields import RuleFields
from app.screens.ops_screen import ALARMS, LOG
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import (
    AdmissionReason,
    Cause,
    ErrorCode,
    FieldProblem,
    OpsAlarmRule,
    OpsLogEntry,
    OpsLogKind,
    Role,
)
from booking.domain.alarms import RULES
from tests.gui.conftest import QLoop, rest, until
from tests.gui.limits_stage import (
    closed,
    forbid,
    open_limit,
    rule_of,
    sent_keys,
    set_behind,
    type_in,
)
from tests.gui.money_stage import press
from tests.gui.ops_stage import board_of, ops_of, screen_of
from widgets.theme import Theme


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
