"""A button for what cannot be undone: the first press asks, the second one, a moment later, means it."""

from __future__ import annotations

from time import monotonic
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from widgets.async_button import CALM_S, AsyncButton

WAITS_MS: Final = 4000


class TwiceButton(AsyncButton):
    """Says `question` after the first press; goes back to `text` when nobody presses again within a few seconds.

    `meant` comes after the second press; two presses of one double click are the first alone.
    """

    meant = Signal()

    def __init__(self, text: str, question: str, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, role, parent)
        self._calm_text = text
        self._question = question
        self._about: object = None
        self._asked_at: float | None = None
        self._waits = QTimer(self)
        self._waits.setSingleShot(True)
        self._waits.setInterval(WAITS_MS)
        self._waits.timeout.connect(self.calm_down)
        self.set_calm()
        self.action_requested.connect(self._on_action_requested)

    @property
    def asks(self) -> bool:
        """True between the first press and the second."""
        return self._asked_at is not None

    @property
    def means_it(self) -> bool:
        """True when another press now would not be the second half of a double click."""
        return self._asked_at is not None and monotonic() - self._asked_at >= CALM_S

    def set_words(self, text: str, question: str) -> None:
        """Other words for another thing that cannot be undone; a question that stands is taken back."""
        if (text, question) == (self._calm_text, self._question):
            return
        self._calm_text, self._question = text, question
        self.calm_down()

    def set_about(self, thing: object) -> None:
        """What it is about; a question that stands about another thing is taken back."""
        if thing != self._about:
            self._about = thing
            self.calm_down()

    def ask(self, question: str = "") -> None:
        """As the first press; `question` in other words, for another way of pressing."""
        self._asked_at = monotonic()
        self._waits.start()
        self.setProperty("asks", True)
        self._polish()
        self.set_label(question or self._question)

    def calm_down(self) -> None:
        """Nobody meant it."""
        self._asked_at = None
        self._waits.stop()
        self.setProperty("asks", False)
        self._polish()
        self.set_label(self._calm_text)

    def _polish(self) -> None:
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_action_requested(self) -> None:
        if self._asked_at is None:
            self.set_busy(False)
            self.ask()
        elif not self.means_it:
            self.set_busy(False)
        else:
            self.calm_down()
            self.meant.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        if self._asked_at is not None:
            self.calm_down()
        super().hideEvent(event)
