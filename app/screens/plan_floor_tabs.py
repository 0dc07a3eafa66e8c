"""The floors of the plan that is drawn, as tabs above the drawing; hidden while it has one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar, QWidget

from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_words import floor_names


class PlanFloorTabs(QTabBar):
    """A tab shows its floor; what is chosen on another floor its tab."""

    def __init__(self, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._shown: list[str] = []
        self.setAccessibleName(_("Floors"))
        self.setDocumentMode(True)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()
        self.currentChanged.connect(self._on_current_changed)

    def show_work(self) -> None:
        """Show the floors, and which of them is drawn on."""
        names = floor_names(self._work.draft)
        self.blockSignals(True)
        if names != self._shown:
            self._shown = names
            while self.count():
                self.removeTab(0)
            for name in names:
                self.addTab(name.replace("&", "&&"))
        self.setCurrentIndex(self._work.floor_no)
        self.blockSignals(False)
        self.setVisible(len(names) > 1)

    def step(self, by: int) -> None:
        """The next floor up (1) or down (-1)."""
        self._work.show_floor(self._work.floor_no + by)

    def _on_current_changed(self, floor_no: int) -> None:
        self._work.show_floor(floor_no)
