"""A question is put to one person: when that one goes it is taken back, and nothing that was asked for is done."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog

from app.core.sale import SaleState
from app.screens.dialogs import AskDialog, CashDialog
from app.screens.part_dialog import PartDialog
from app.showcase import PASSWORD, Showcase
from tests.gui.conftest import ALWAYS, QLoop, calm, counter_of, hold, panel_of, rest, state_of, until
from tests.gui.money_hands import lose_card, press, sell
from tests.gui.test_dialog_keys import DIALOGS
from widgets.theme import Theme

SCREENS = Path(__file__).parents[2] / "app" / "screens"
Opens = Callable[[Showcase], Awaitable[None]]


async def ask_cash(showcase: Showcase) -> None:
    await hold(showcase)
    panel_of(showcase).sale_page.cash.click()


async def ask_part(showcase: Showcase) -> None:
    await hold(showcase)
    panel_of(showcase).sale_page.part.click()


async def ask_part_in_cash(showcase: Showcase) -> None:
    await ask_part(showcase)
    await until(lambda: isinstance(QApplication.activeModalWidget(), PartDialog), "the part")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, PartDialog)
    dialog.cash.click()
    await until(lambda: isinstance(QApplication.activeModalWidget(), CashDialog), "the cash")


async def ask_cash_instead(showcase: Showcase) -> None:
    await sell(showcase)
    await lose_card(showcase, booked=False)
    await calm(panel_of(showcase).unknown_page.cash)
    panel_of(showcase).unknown_page.cash.click()


async def ask_close_day(showcase: Showcase) -> None:
    showcase.console.bindings.sale.payments.close_day()


async def ask_print_chart(showcase: Showcase) -> None:
    showcase.console.window.chart_requested.emit()


async def ask_print_chart_to_file(showcase: Showcase) -> None:
    await ask_print_chart(showcase)
    await until(lambda: QApplication.activeModalWidget() is not None, "the sheet")
    sheet = QApplication.activeModalWidget()
    assert isinstance(sheet, QDialog)
    sheet.accept()
    await until(lambda: QApplication.activeModalWidget() not in {None, sheet}, "the file")


async def ask_keys(_showcase: Showcase) -> None:
    await press(Qt.Key.Key_F1)


async def ask_sign_out(showcase: Showcase) -> None:
    await hold(showcase)
    showcase.console.window.sign_out_requested.emit()


async def ask_close(showcase: Showcase) -> None:
    await hold(showcase)
    showcase.console.window.close_requested.emit()


async def in_editor(showcase: Showcase) -> None:
    screens = showcase.console.window.screens
    showcase.console.window.plans_requested.emit()
    await until(lambda: screens.current is screens.plans, "the editor")
    await rest(showcase)


def plan_wish(name: str) -> Opens:
    async def ask_it(showcase: Showcase) -> None:
        await in_editor(showcase)
        getattr(showcase.console.window.screens.plans, name).emit()

    return ask_it


QUESTIONS: dict[str, Opens] = {
    "cash": ask_cash, "part": ask_part, "part in cash": ask_part_in_cash, "cash-instead": ask_cash_instead,
    "close-day": ask_close_day, "print-chart": ask_print_chart, "print-chart to a file": ask_print_chart_to_file,
    "keys": ask_keys, "sign-out": ask_sign_out, "close": ask_close, "new-plan": plan_wish("new_requested"),
    "open-plan": plan_wish("open_requested"), "plan-keys": plan_wish("keys_requested"),
    "put-events": plan_wish("events_requested"), "open-plan-file": plan_wish("file_open_requested"),
    "save-plan-file": plan_wish("file_save_requested"), "import-plan": plan_wish("import_requested"),
    "add-picture": plan_wish("picture_requested"),
}  # fmt: skip
ELSEWHERE = {"order_bindings.py", "ops_act_bindings.py", "table_file.py"}
"""Their questions end in test_orders, test_refunds, test_ops_acts, test_ops_limits and test_reconciliation_people."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_ends_with_the_person_it_was_put_to(
    qloop: QLoop, theme: Theme, tmp_path: Path, question: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia") as showcase:
            desk, deeds = showcase.console.desk, showcase.console.deeds
            await QUESTIONS[question](showcase)
            await until(lambda: QApplication.activeModalWidget() is not None, "the question")
            deed = question.split(maxsplit=1)[0]
            assert deeds.is_running(deed)
            state, asked = state_of(showcase), showcase.terminal.payments_asked
            calls = len(showcase.server.calls)
            desk.store.put_session(None)
            showcase.console.bindings._go_to_sign_in()
            await until(lambda: not deeds.is_running(deed), "the end of the deed")
            assert QApplication.activeModalWidget() is None
            assert showcase.console.window.screens.current is showcase.console.window.screens.sign_in
            assert (state_of(showcase), showcase.terminal.payments_asked) == (state, asked)
            changes = [call for call in showcase.server.calls[calls:] if call.method != "GET"]
            assert changes == []

    qloop.run(scene())


def asking(path: Path) -> list[ast.Call]:
    """Calls of `ask` in a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ask"]


def test_no_question_is_forgotten_here() -> None:
    """Who adds one adds it to QUESTIONS, or to the tests named beside ELSEWHERE."""
    found = {path.name: len(asking(path)) for path in sorted(SCREENS.rglob("*.py")) if asking(path)}
    assert {name: count for name, count in found.items() if name not in ELSEWHERE} == {
        "bindings.py": 1,  # sign-out, close
        "chart_bindings.py": 2,
        "navigation.py": 1,
        "payment_bindings.py": 3,
        "plan_bindings.py": 6,  # and two that the plan's own changes bring up
        "plan_files.py": 4,
        "sale_bindings.py": 1,
    }
    assert found.keys() >= ELSEWHERE


def test_every_dialog_is_asked_over_the_window_whose_person_it_asks() -> None:
    """`dismiss` finds them by it. Nothing else opens a dialog but the word of how far a chart is."""
    kinds = {kind.__name__ for kind in DIALOGS} | {"QFileDialog", "kind"}
    strays, opened = [], []
    for path in sorted(SCREENS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in kinds:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                if not any(ast.unparse(one) in {"self._window", "parent"} for one in given):
                    strays.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.Attribute) and node.attr in {"open", "show", "setVisible"}:
                opened.append((path.name, ast.unparse(node)))
    assert strays == []
    modules = {f"{kind.__module__.rpartition('.')[2]}.py" for kind in DIALOGS}
    found = [one for one in opened if "dialog" in one[1] or (one[0] in modules and one[1].startswith("self.o"))]
    assert found == [("chart_dialog.py", "self.open")]


def test_a_chart_on_its_way_ends_with_who_wanted_it(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_words: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("app.screens.chart_bindings.save_chart", never)

    async def scene() -> None:
        async with counter_of(tmp_path, "sofia") as showcase:
            await ask_print_chart_to_file(showcase)
            dialog = QApplication.activeModalWidget()
            assert isinstance(dialog, QDialog)
            dialog.done(QDialog.DialogCode.Accepted)
            chart = showcase.console.bindings.chart
            await until(lambda: chart.progress is not None and chart.progress.isVisible(), "how far it is")
            showcase.console.desk.store.put_session(None)
            await until(lambda: chart.progress is None, "the end of it")
            assert QApplication.activeModalWidget() is None
            assert not showcase.console.deeds.running - ALWAYS

    qloop.run(scene())


@pytest.mark.parametrize("path", ["/events/1", "/snapshot"])
def test_who_signs_out_while_an_event_is_opened_leaves_nothing_open(
    qloop: QLoop, theme: Theme, tmp_path: Path, path: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            console = showcase.console
            screens, store = console.window.screens, console.desk.store
            showcase.server.delay(path, 0.3, times=1)
            screens.events.event_chosen.emit(1)
            await until(lambda: console.deeds.is_running("open-event"), "the wish")
            console.window.sign_out_requested.emit()
            await until(lambda: store.session is None and screens.current is screens.sign_in, "nobody")
            await until(lambda: not console.deeds.is_running("open-event"), "the end of the wish")
            await rest(showcase)
            assert screens.current is screens.sign_in
            assert not console.deeds.is_running("follow-seats")

    qloop.run(scene())


def test_who_goes_while_signing_in_goes_on_is_not_taken_to_the_counter(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            console = showcase.console
            screens, store = console.window.screens, console.desk.store
            await hold(showcase)
            store.put_session(None)
            console.bindings._go_to_sign_in()
            await until(lambda: not console.deeds.running & {"load-events", "open-event"}, "nobody")
            console.deeds.cancel("follow-seats")
            showcase.server.delay("/events", 0.3, times=1)
            screens.sign_in.sign_in_requested.emit("carla", PASSWORD)
            await until(lambda: store.session is not None, "somebody")
            console.window.sign_out_requested.emit()
            question = None

            def asked() -> bool:
                nonlocal question
                question = QApplication.activeModalWidget()
                return isinstance(question, AskDialog)

            await until(asked, "the question")
            assert isinstance(question, AskDialog)
            question.yes.click()
            await until(lambda: store.session is None, "nobody again")
            await rest(showcase)
            assert screens.current is screens.sign_in
            assert not console.deeds.is_running("follow-seats")
            assert state_of(showcase) is SaleState.HELD

    qloop.run(scene())


def test_while_nobody_is_signed_in_there_is_one_screen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            screens = showcase.console.window.screens
            showcase.console.desk.store.put_session(None)
            screens.go_to(screens.sign_in)
            for screen in screens.all:
                screens.go_to(screen)
                assert screens.current is screens.sign_in
            await rest(showcase)

    qloop.run(scene())
