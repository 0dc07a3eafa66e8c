"""Operators who are tired: every key and button in any order, people who come and go, a feed that is cut and back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from app.core.ops_parts import OpsView
from app.screens.ops_dialogs import ActDialog
from app.showcase import Showcase
from app.showcase_ops import give_minutes
from backend_client.wire import AdmissionMode, EventId
from tests.gui.conftest import QLoop, rest, until
from tests.gui.inbox_hands import _sign_in
from tests.gui.money_stage import go
from tests.gui.ops_stage import board_of, ops_of, screen_of, tell_again, tell_two_events
from widgets.theme import Theme

STEPS = 80
KEYS = (
    Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4, Qt.Key.Key_P, Qt.Key.Key_R, Qt.Key.Key_S, Qt.Key.Key_K,
    Qt.Key.Key_X, Qt.Key.Key_L, Qt.Key.Key_F11, Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Space,
    Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_End, Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Delete,
    Qt.Key.Key_9, Qt.Key.Key_0,
)  # fmt: skip


class Hands:
    """One operator's hands, and the world that they work in."""

    def __init__(self, showcase: Showcase, seed: int) -> None:
        self.showcase = showcase
        self.chance = Random(seed)
        self.done: list[str] = []

    async def step(self) -> None:
        act = self.chance.choice((
            *(self.press,) * 12, self.double, self.choose, self.say_why, self.look, self.tell, self.other, self.slow,
            self.cut, self.turn,
        ))  # fmt: skip
        self.done.append(act.__name__)
        act()
        await asyncio.sleep(self.chance.choice((0.0, 0.0, 0.01)))

    def press(self) -> None:
        target = QApplication.activeModalWidget() or self.showcase.console.window
        key = self.chance.choice(KEYS)
        self.done.append(key.name)
        QTest.keyClick(QApplication.focusWidget() or target, key)

    def double(self) -> None:
        screen = screen_of(self.showcase)
        buttons = [button for group in screen.buttons.values() for button in group if button.isVisible()]
        if buttons and QApplication.activeModalWidget() is None:
            button = self.chance.choice(buttons)
            button.click()
            button.click()

    def choose(self) -> None:
        if QApplication.activeModalWidget() is None:
            screen_of(self.showcase).event_chosen.emit(EventId(self.chance.choice((1, 1, 2))))

    def say_why(self) -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, ActDialog):
            dialog.reason.setText("I am tired")
            dialog.send.click()
            dialog.send.click()

    def look(self) -> None:
        end_s = self.chance.choice((None, screen_of(self.showcase).live.now_s - 4_000))
        board_of(self.showcase).look_at(OpsView(self.chance.choice((60.0, 900.0, 3_600.0, 86_400.0)), end_s))

    def tell(self) -> None:
        self.showcase.server.pass_time(1)
        tell_again(self.showcase, lock_waits=float(self.chance.randrange(20)))

    def other(self) -> None:
        """Somebody else was faster."""
        mode = self.chance.choice((AdmissionMode.MANUAL, AdmissionMode.PAUSED, AdmissionMode.AUTOMATIC))
        self.showcase.server.ops.put_settings(changed_by="Sofia", mode=mode)

    def slow(self) -> None:
        part = self.chance.choice(("/admission", "/log", "/history", "/alarms", "/events/1", "/pause", "/preview"))
        self.showcase.server.delay(part, 0.05, times=2)

    def cut(self) -> None:
        self.showcase.server.cut_ops_feeds()

    def turn(self) -> None:
        go(self.showcase, self.chance.choice(("orders", "ops", "ops", "settings")))


async def come_to_rest(showcase: Showcase) -> None:
    """Every question is answered with no, and what was begun ends."""

    def is_quiet() -> bool:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, QDialog):
            dialog.reject()
        return dialog is None

    showcase.server.heal()
    await until(is_quiet, "no question any more")
    await rest(showcase)


@pytest.mark.parametrize("seed", [1])
def test_whatever_is_pressed_nothing_breaks_and_the_screen_is_of_now_again(
    qloop: QLoop, theme: Theme, tmp_path: Path, seed: int
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, "ada", trouble_at=40) as showcase:
            failures: list[object] = []
            showcase.console.bindings.failed.connect(lambda name, error: failures.append((name, error)))
            give_minutes(showcase.server, 120)
            tell_two_events(showcase)
            hands = Hands(showcase, seed)
            for _step in range(STEPS):
                await hands.step()
            await come_to_rest(showcase)
            assert failures == [], hands.done
            versions = [call for call in showcase.server.calls if call.method in {"PUT", "POST"} and call.key]
            assert len({call.key for call in versions}) == len([call for call in versions if not call.replayed])
            go(showcase, "ops")
            board = board_of(showcase)
            board.choose_event(showcase.server.house.event_id)
            showcase.server.pass_time(1)
            tell_again(showcase, lock_waits=3.0)
            await until(lambda: board.newest("lock_waits") == 3.0, "a second of now")
            await until(lambda: board.control is not None, "how admission stands")
            window = showcase.console.window
            window.sign_out_requested.emit()
            await until(lambda: window.screens.current is window.screens.sign_in, "the sign-in screen")
            await _sign_in(showcase, "omar")
            go(showcase, "ops")
            await until(lambda: board.newest("lock_waits") == 3.0, "the figures for the next person")
            await rest(showcase)

    qloop.run(scene())
