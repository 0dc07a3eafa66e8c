"""A field for an amount of money. What cannot be read without guessing is no amount, and the field says so (D6)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLineEdit, QWidget

Parse = Callable[[str], int]
Write = Callable[[int], str]


class MoneyEdit(QLineEdit):
    """`parse` turns text into minor units and raises ValueError, with a `code`, for anything doubtful."""

    amount_changed = Signal()
    """`amount_minor` or `fault` changed."""

    def __init__(self, parse: Parse, write: Write, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parse = parse
        self._write = write
        self._amount: int | None = None
        self._fault = ""
        # Figures are read from left to right in every script; the field only moves to the other side.
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.textChanged.connect(self._on_text_changed)

    @property
    def amount_minor(self) -> int | None:
        """The amount that the text says, or None."""
        return self._amount

    @property
    def fault(self) -> str:
        """Code of what is wrong with the text; empty when it is an amount."""
        return self._fault

    def set_amount(self, amount_minor: int) -> None:
        """Write an amount into the field and select it, so that typing replaces it."""
        self.setText(self._write(amount_minor))
        self.selectAll()

    def _on_text_changed(self, text: str) -> None:
        before = (self._amount, self._fault)
        try:
            self._amount, self._fault = self._parse(text), ""
        except ValueError as error:
            self._amount, self._fault = None, str(getattr(error, "code", "amount-unreadable"))
        if before != (self._amount, self._fault):
            self.amount_changed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.selectAll()
