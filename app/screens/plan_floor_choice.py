"""On which floor what is chosen is; another choice moves it there. Hidden while the hall has one floor."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.plan_floors import floor_count, floor_of, move_to_floor
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import captioned
from app.screens.plan_words import floor_names
from widgets.build import column
from widgets.choice_box import ChoiceBox
from widgets.theme import Theme


class FloorChoice(QWidget):
    """For rows, shapes, standing areas and pictures."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._work = work
        self.floor = ChoiceBox(theme)
        column(theme, parent=self).addLayout(captioned(theme, _("Floor"), self.floor))
        self.floor.activated.connect(self._on_floor_activated)

    def show_work(self) -> None:
        """Show the floor of what is chosen."""
        draft, selection = self._work.draft, self._work.selection
        movable = bool(selection.rows or selection.shapes)
        self.setVisible(floor_count(draft) > 1 and movable)
        self.floor.blockSignals(True)
        self.floor.clear()
        for number, name in enumerate(floor_names(draft)):
            self.floor.add_choice(name, "", number)
        self.floor.setCurrentIndex(floor_of(draft, selection) or 0)
        self.floor.blockSignals(False)

    def _on_floor_activated(self, index: int) -> None:
        work = self._work
        work.edit(move_to_floor(work.draft, work.selection, index))
