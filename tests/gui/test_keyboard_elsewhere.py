"""A sale goes on while another screen is in front: typed keys stay there, and nothing unseen is pressed."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.core.sale import SaleState
from app.devices.fake_terminal import AwaitAbort, Decline, LoseLine
from app.showcase import Showcase
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, rest, sale_of, state_of, until
from widgets.focus import take_focus
from widgets.theme import Theme

ROOT = Path(__file__).parents[2]


async def time_runs_out(showcase: Showcase) -> None:
    held = sale_of(showcase).hold
    assert held is not None
    showcase.server.pass_time(700)
    await showcase.console.desk.client.hold(held.hold_id)  # any answer tells the console what time it is


def counter_tab(showcase: Showcase) -> str:
    tabs = showcase.console.window.tabs
    return tabs.findChildren(QToolButton)[tabs.shown.index("counter")].text()


async def terminal_answers(showcase: Showcase) -> None:
    await showcase.terminal.abort()


def starts(*scenes: AwaitAbort | Decline | LoseLine) -> Callable[[Showcase], None]:
    def start(showcase: Showcase) -> None:
        showcase.terminal.play(*scenes)
        panel_of(showcase).sale_page.card.click()

    return start


def only_held(showcase: Showcase) -> None:
    assert state_of(showcase) is SaleState.HELD


Start = Callable[[Showcase], None]
Step = Callable[[Showcase], Awaitable[None]]
ELSEWHERE: dict[str, tuple[Start, Step, SaleState]] = {
    "the-hold-ends": (only_held, time_runs_out, SaleState.EXPIRED),
    "approved": (starts(AwaitAbort(approve_anyway=True)), terminal_answers, SaleState.DONE),
    "declined": (starts(AwaitAbort()), terminal_answers, SaleState.DECLINED),
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_what_ends_at_the_counter_takes_no_key_from_another_screen(
    qloop: QLoop, theme: Theme, tmp_path: Path, how: str
) -> None:
    start, step, end = ELSEWHERE[how]

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            await hold(showcase)
            start(showcase)
            if start is not only_held:
                await until(lambda: state_of(showcase) is SaleState.PAYING, "the terminal")
            window.screen_requested.emit("orders")
            finder = window.screens.orders.finder
            await until(finder.hasFocus, "the orders")
            await step(showcase)
            await until(lambda: state_of(showcase) is end, how)
            await rest(showcase)
            assert finder.hasFocus()
            typed = QApplication.focusWidget()
            assert typed is not None
            QTest.keyClicks(typed, "abc")
            assert finder.text() == "abc"
            finder.clear()
            QTest.keyClick(typed, Qt.Key.Key_Return)
            await rest(showcase)
            assert state_of(showcase) is end  # "Next customer" was not pressed behind it
            window.screen_requested.emit("counter")
            await rest(showcase)
            page = panel_of(showcase)
            expected = page.sale_page.card if end is SaleState.DECLINED else page.outcome_page.next
            assert expected.hasFocus()

    qloop.run(scene(), 40)


def test_the_tab_of_the_counter_shows_time_only_while_it_runs(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            await hold(showcase)
            window.screen_requested.emit("orders")
            await rest(showcase)
            assert ":" in counter_tab(showcase)
            assert sale_of(showcase).deadline is not None
            await time_runs_out(showcase)
            await until(lambda: state_of(showcase) is SaleState.EXPIRED, "the end of the hold")
            await until(lambda: ":" not in counter_tab(showcase), "the tab")

    qloop.run(scene(), 40)


@pytest.mark.parametrize("given_out", ["money", "tickets"])
def test_who_comes_back_presses_nothing_that_says_that_something_was_given_out(
    qloop: QLoop, theme: Theme, tmp_path: Path, given_out: str
) -> None:
    """Enter there is the deed itself: half a second after Ctrl+1 it may still be meant for a search field."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await hold(showcase)
            panel = panel_of(showcase)
            assert panel.focus_again()
            panel._shown_state = SaleState.RETURNING if given_out == "money" else SaleState.DONE
            if given_out == "tickets":
                panel.outcome_page.came_out.setVisible(True)
            assert not panel.focus_again()

    qloop.run(scene(), 40)


def test_the_keyboard_is_not_given_to_what_is_hidden(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    line = QVBoxLayout(window)
    shown, page = QWidget(), QWidget()
    for part in (shown, page):
        part.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        line.addWidget(part)
    inside = QWidget(page)
    inside.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    page.hide()
    assert take_focus(shown)  # its window is not shown yet: it has the keyboard from the start
    assert not take_focus(inside)
    with qtbot.waitExposed(window):
        window.show()
    assert window.focusWidget() is shown
    page.show()
    assert take_focus(inside)
    assert window.focusWidget() is inside
    added = QLineEdit()
    line.addWidget(added)
    assert take_focus(added)  # made just now: it is shown in the next turn


def test_all_focus_goes_through_one_door() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("app/screens", "widgets")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name != "focus.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setFocus"
    ]
    assert bare == []
