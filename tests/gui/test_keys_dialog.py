"""The list of keys (F1): complete, and no taller than a low screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.screens import keys
from app.screens.keys_dialog import KeysDialog, ListKeysDialog, OpsKeysDialog, ScreenKeysDialog
from app.screens.plan_dialogs import PlanKeysDialog
from tests.gui.conftest import QLoop, counter_of, rest, until
from widgets.theme import Theme


def test_the_list_tells_every_key_and_what_the_mouse_does_on_the_map(theme: Theme) -> None:
    parent = QWidget()
    dialog = KeysDialog(theme, parent)
    told = {label.text() for label in dialog.findChildren(QLabel)}
    for key in (*keys.ANYWHERE, *keys.ON_MAP, *keys.WITH_MOUSE):
        assert {key.sequence, key.words} <= told
    assert {"Shift + drag", "Wheel", "Drag"} <= told
    assert dialog.sizeHint().height() < 560
    assert dialog.sizeHint().width() < 1000


def test_in_a_list_the_keys_of_lists_are_told_and_how_to_go_elsewhere(theme: Theme) -> None:
    parent = QWidget()
    told = {label.text() for label in ListKeysDialog(theme, parent).findChildren(QLabel)}
    for key in (*keys.IN_LISTS, *keys.SCREENS):
        assert {key.sequence, key.words} <= told


@pytest.mark.parametrize(
    ("code", "screen", "kind"),
    [
        ("", "counter", KeysDialog),
        ("orders", "orders", ListKeysDialog),
        ("reconciliation", "reconciliation", ListKeysDialog),
        ("ops", "ops", OpsKeysDialog),
        ("settings", "settings", ScreenKeysDialog),
        ("plans", "plans", PlanKeysDialog),
    ],
)
def test_f1_tells_the_keys_of_the_screen_in_front(
    qloop: QLoop, theme: Theme, tmp_path: Path, code: str, screen: str, kind: type[QWidget]
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "ada") as showcase:
            window = showcase.console.window
            if code == "plans":
                window.plans_requested.emit()
            elif code:
                window.screen_requested.emit(code)
            await until(lambda: window.screens.current is getattr(window.screens, screen), screen)
            window.keys_requested.emit()
            await until(lambda: isinstance(QApplication.activeModalWidget(), kind), "its keys")
            dialog = QApplication.activeModalWidget()
            assert dialog is not None
            dialog.close()
            await rest(showcase)

    qloop.run(scene(), 40)
