"""The list of keys (F1): complete, and no taller than a low screen."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from app.screens import keys
from app.screens.keys_dialog import KeysDialog, ListKeysDialog
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
