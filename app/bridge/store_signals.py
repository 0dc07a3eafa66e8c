"""The store's changes as a Qt signal, gathered: one signal for everything that changed in one turn of the loop."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.store import Change, ConsoleStore


class StoreSignals(QObject):
    """`changed` carries a `Change`; at most one a turn of the loop."""

    changed = Signal(object)

    def __init__(self, store: ConsoleStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gathered = Change(0)
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._on_turn_timeout)
        self._unsubscribe = store.subscribe(self._gather)

    def close(self) -> None:
        """Stop listening."""
        self._unsubscribe()
        self._turn.stop()

    def _gather(self, change: Change) -> None:
        self._gathered |= change
        if not self._turn.isActive():
            self._turn.start()

    def _on_turn_timeout(self) -> None:
        gathered, self._gathered = self._gathered, Change(0)
        self.changed.emit(gathered)
