"""The list of keys (F1): complete, and no taller than a low screen."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from app.screens import keys
from app.screens.dialogs import KeysDialog
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
