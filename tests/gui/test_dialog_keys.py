"""Enter in a dialog is the button's that has the keyboard, and else the default answer's: in every dialog there is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import app.main  # noqa: F401  every dialog is loaded
from app.core.ops_board import OpsBoard
from app.core.ops_waits import WaitRow
from app.screens.amount_dialog import AmountDialog
from app.screens.chart_dialog import ChartDialog, ChartProgress
from app.screens.dialogs import AskDialog, CashDialog, TimeLeft
from app.screens.keys_dialog import KeysDialog, ListKeysDialog, OpsKeysDialog, ScreenKeysDialog
from app.screens.ops_dialogs import ActDialog, AdmissionDialog, SessionDialog
from app.screens.ops_rule_dialog import RuleDialog
from app.screens.part_dialog import PartDialog
from app.screens.plan_dialogs import EventsOnPlanDialog, NewPlanDialog, OpenPlanDialog, PlanDialog, PlanKeysDialog
from app.screens.plan_import_dialog import ImportPlanDialog
from app.screens.refund_dialog import RefundDialog
from app.screens.refused_start import RefusedStart
from app.screens.words import Advice
from backend_client.wire import OpsAlarmRule, OpsSession, PlanEvent, RefundableOrder, Venue
from widgets.answer_dialog import AnswerDialog
from widgets.key_gate import FIRST_REPEAT_S, keyboard
from widgets.theme import Theme

Sample = TypeVar("Sample")
GOLDEN = Path(__file__).parents[1] / "contract" / "golden"
TIME_LEFT = TimeLeft(lambda: 120.0, 300.0, 30.0)
WORDS = Advice("Close?", "A sale is open.", "danger")


def golden(kind: type[Sample]) -> Sample:
    """A message as the contract has it."""
    return msgspec.json.decode((GOLDEN / f"{kind.__name__}.json").read_bytes(), type=kind)


def wait_row() -> WaitRow:
    session = golden(OpsSession)
    return WaitRow(session, session, datetime(2026, 11, 30, tzinfo=UTC), "tuple", True, 3, None, ())


DIALOGS: dict[type[QDialog], Callable[[Theme, QWidget], QDialog]] = {
    CashDialog: lambda theme, over: CashDialog(theme, 4500, "EUR", TIME_LEFT, over),
    PartDialog: lambda theme, over: PartDialog(theme, 9000, "EUR", (3000, 4500), by_card=True, parent=over),
    AskDialog: lambda theme, over: AskDialog(theme, WORDS, "Yes", "No", over),
    KeysDialog: KeysDialog,
    ListKeysDialog: ListKeysDialog,
    OpsKeysDialog: OpsKeysDialog,
    ScreenKeysDialog: ScreenKeysDialog,
    PlanKeysDialog: PlanKeysDialog,
    RefusedStart: lambda theme, _over: RefusedStart(theme, WORDS, "/somewhere"),
    RefundDialog: lambda theme, over: RefundDialog(
        theme, golden(RefundableOrder), over, refund=True, may_exceed=True
    ),
    ChartDialog: lambda theme, over: ChartDialog(theme, ["Office"], over),
    ChartProgress: ChartProgress,
    ActDialog: lambda theme, over: ActDialog(theme, "Close the room?", "Nobody gets in.", "Close it", over),
    AdmissionDialog: lambda theme, over: AdmissionDialog(theme, OpsBoard(), over),
    SessionDialog: lambda theme, over: SessionDialog(theme, wait_row(), 3, "3 s", over),
    RuleDialog: lambda theme, over: RuleDialog(theme, OpsBoard(), golden(OpsAlarmRule), lambda: False, over),
    PlanDialog: lambda theme, over: PlanDialog(theme, "A plan", "Take it", over),
    OpenPlanDialog: lambda theme, over: OpenPlanDialog(theme, (golden(Venue),), over),
    NewPlanDialog: lambda theme, over: NewPlanDialog(theme, (golden(Venue),), over),
    EventsOnPlanDialog: lambda theme, over: EventsOnPlanDialog(theme, (golden(PlanEvent),), 2, over),
    ImportPlanDialog: lambda theme, over: ImportPlanDialog(theme, "teatro.svg", over),
}  # fmt: skip


def subclasses(kind: type[Any]) -> set[type[Any]]:
    found = {one for one in kind.__subclasses__() if one.__module__.startswith(("app.", "widgets."))}
    return found.union(*(subclasses(one) for one in found))


def test_every_dialog_of_the_console_is_here_and_knows_what_enter_means() -> None:
    every = subclasses(QDialog) - {AnswerDialog, AmountDialog}
    assert every == set(DIALOGS)
    assert [kind for kind in every if not issubclass(kind, AnswerDialog)] == []


class Stage:
    """One dialog that is open, with every button enabled; `clicked` is which of them were, in turn."""

    def __init__(self, qtbot: QtBot, theme: Theme, kind: type[QDialog]) -> None:
        self.over = QWidget()
        self.over.resize(1200, 800)
        qtbot.addWidget(self.over)
        self.over.show()
        self.dialog = DIALOGS[kind](theme, self.over)
        qtbot.addWidget(self.dialog)
        self.dialog.open()
        self.clicked: list[int] = []
        self.buttons = [one for one in self.dialog.findChildren(QPushButton) if one.isVisible()]
        for place, button in enumerate(self.buttons):
            button.setEnabled(True)
            button.clicked.connect(self._noter(place))
        keyboard.forget()

    def _noter(self, place: int) -> Callable[[], None]:
        return lambda: self.clicked.append(place)

    def press_enter(self, on: QWidget, key: Qt.Key = Qt.Key.Key_Return) -> None:
        on.setFocus()
        assert self.dialog.focusWidget() is on
        QTest.keyClick(on, key)


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_enter_presses_the_button_that_has_the_keyboard_and_no_other(
    qtbot: QtBot, theme: Theme, kind: type[QDialog]
) -> None:
    count = len(Stage(qtbot, theme, kind).buttons)
    assert count > 0
    for place in range(count):
        stage = Stage(qtbot, theme, kind)
        button = stage.buttons[place]
        if button.focusPolicy() & Qt.FocusPolicy.TabFocus:
            stage.press_enter(button, Qt.Key.Key_Enter if place % 2 else Qt.Key.Key_Return)
            assert [stage.buttons[one].text() for one in stage.clicked] == [button.text()]
        stage.dialog.close()


@pytest.mark.parametrize(
    "kind", [kind for kind in DIALOGS if kind not in {RefundDialog, ChartProgress}], ids=lambda kind: kind.__name__
)
def test_enter_elsewhere_is_the_default_answer(qtbot: QtBot, theme: Theme, kind: type[QDialog]) -> None:
    stage = Stage(qtbot, theme, kind)
    default = stage.dialog.enters_answer if isinstance(stage.dialog, AnswerDialog) else None
    assert default in stage.buttons
    stage.dialog.setFocus()
    QTest.keyClick(stage.dialog, Qt.Key.Key_Return)
    assert [stage.buttons[one] for one in stage.clicked] == [default]


def test_enter_outside_of_the_buttons_gives_no_money_back(qtbot: QtBot, theme: Theme) -> None:
    stage = Stage(qtbot, theme, RefundDialog)
    assert isinstance(stage.dialog, RefundDialog)
    for part in (stage.dialog, stage.dialog.reason, *stage.dialog.tickets):
        keyboard.forget()
        QTest.keyClick(part, Qt.Key.Key_Return)
    assert stage.clicked == []


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_enter_that_is_still_held_down_is_no_answer(qtbot: QtBot, theme: Theme, kind: type[QDialog]) -> None:
    stage = Stage(qtbot, theme, kind)
    for part in (stage.dialog, *stage.buttons):
        keyboard.forget()
        assert keyboard.press()  # on the button that opened the dialog; its repeats do not say that they are repeats
        for _repeat in range(3):
            QTest.keyPress(part, Qt.Key.Key_Return)
    assert stage.clicked == []


def test_a_quick_amount_goes_into_the_field_and_the_next_enter_takes_it(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(qtbot, theme, CashDialog)
    dialog = stage.dialog
    assert isinstance(dialog, CashDialog)
    now = [1000.0]
    monkeypatch.setattr(keyboard, "_now", lambda: now[0])
    stage.press_enter(dialog.quick[-1])
    assert dialog.tendered_minor == dialog.quick[-1].amount_minor
    assert dialog.isVisible(), "an amount is no answer yet"
    QTest.keyPress(dialog.take, Qt.Key.Key_Return)
    assert dialog.isVisible(), "the same Enter, still held down"
    QTest.keyRelease(dialog.take, Qt.Key.Key_Return)
    now[0] += FIRST_REPEAT_S
    QTest.keyClick(dialog.take, Qt.Key.Key_Return)
    assert dialog.result() == QDialog.DialogCode.Accepted


def test_without_a_terminal_enter_is_a_part_in_cash(qtbot: QtBot, theme: Theme) -> None:
    over = QWidget()
    qtbot.addWidget(over)
    dialog = PartDialog(theme, 9000, "EUR", (4500,), by_card=False, parent=over)
    dialog.open()
    assert dialog.enters_answer is dialog.cash
    dialog.close()
