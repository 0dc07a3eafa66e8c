"""The floors of a plan as tabs over the map; hidden while the plan has one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar, QWidget

from widgets.seat_map.view import SeatMapView


class FloorTabs(QTabBar):
    """Follows a map and leads it: a tab shows its floor, a seat found on another floor its tab."""

    def __init__(self, seat_map: SeatMapView, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._map = seat_map
        self.setAccessibleName(name)
        self.setDocumentMode(True)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()
        self.currentChanged.connect(self._on_current_changed)
        seat_map.floor_shown.connect(self._on_map_floor_shown)

    def show_plan(self) -> None:
        """Tabs for the plan that the map shows now."""
        self.blockSignals(True)
        while self.count():
            self.removeTab(0)
        for number, name in enumerate(self._map.plan.floor_name):
            self.addTab(name.replace("&", "&&") or str(number + 1))
        self.setCurrentIndex(self._map.scene.floor)
        self.blockSignals(False)
        self.setVisible(self.count() > 1)

    def _on_current_changed(self, floor: int) -> None:
        self._map.show_floor(floor)

    def _on_map_floor_shown(self, floor: int) -> None:
        self.setCurrentIndex(floor)
