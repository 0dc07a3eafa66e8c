"""A field for a calendar day, written as 2026-11-30 in every language; arrow up and down go from day to day."""

from __future__ import annotations

from datetime import date, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 7, Qt.Key.Key_PageDown: -7}


class DayEdit(QLineEdit):
    """What is no day, or later than `latest`, is None."""

    day_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.latest: date | None = None
        self.setMaxLength(10)
        # Figures are read from left to right in every script.
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)
        self.textChanged.connect(self.day_changed)

    @property
    def day(self) -> date | None:
        """The day that the text says."""
        try:
            day = date.fromisoformat(self.text().strip())
        except ValueError:
            return None
        return None if self.latest is not None and day > self.latest else day

    def set_day(self, day: date) -> None:
        """Write a day into the field."""
        self.setText(day.isoformat())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        day = self.day or self.latest
        if day is not None:
            moved = day + timedelta(days=step)
            self.set_day(moved if self.latest is None else min(moved, self.latest))
        event.accept()
