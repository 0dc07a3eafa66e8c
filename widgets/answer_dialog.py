"""A dialog whose Enter presses the button that has the keyboard, or else the answer that is Enter's.

Qt gives Enter to the default answer even while another button has the keyboard: on "Cancel" it would take the cash.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPushButton

from widgets.async_button import AsyncButton
from widgets.key_gate import keyboard

_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class AnswerDialog(QDialog):
    """Every dialog of the console is one. Enter's answer is the button that was made the default one, if any.

    Enter that is still held down, from the button that opened the dialog or from another answer, is no answer.
    """

    @property
    def enters_answer(self) -> QPushButton | None:
        """What Enter presses while no button has the keyboard."""
        buttons = self.findChildren(QPushButton)
        return next((button for button in buttons if button.isDefault() and not button.isHidden()), None)

    def _press(self, button: QPushButton | None, event: QKeyEvent) -> None:
        event.accept()
        if keyboard.press(repeats=event.isAutoRepeat()) and button is not None and button.isEnabled():
            button.click()

    def setVisible(self, visible: bool) -> None:  # Qt's own signature
        if visible:
            for button in self.findChildren(QPushButton):
                button.setAutoDefault(False)  # or the default would go where the keyboard goes
                if not isinstance(button, AsyncButton):  # that one knows a held key by itself
                    button.installEventFilter(self)
        super().setVisible(visible)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter on a button is that button's, whatever Qt makes of it."""
        if isinstance(event, QKeyEvent) and event.key() in _ENTER and isinstance(watched, QPushButton):
            if event.type() is QEvent.Type.KeyPress:
                self._press(watched, event)
                return True
            if event.type() is QEvent.Type.KeyRelease and not event.isAutoRepeat():
                keyboard.release()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            self._press(self.enters_answer, event)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and not event.isAutoRepeat():
            keyboard.release()
        super().keyReleaseEvent(event)
