"""On which floor what is chosen is; another choice moves it there. Hidden while the hall has one floor."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.plan_draft import EVERY_FLOOR
from app.core.plan_floors import floor_count, floor_of, move_to_floor, put_on_every_floor
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
        shapes = [one for one in draft.shapes if one.shape_id in selection.shapes]
        if shapes and len(shapes) == len(selection.shapes) and not selection.rows:
            self.floor.add_choice(_("Every floor"), "", EVERY_FLOOR)
        everywhere = bool(shapes) and all(one.floor_no == EVERY_FLOOR for one in shapes)
        self.floor.setCurrentIndex(self.floor.findData(EVERY_FLOOR if everywhere else floor_of(draft, selection) or 0))
        self.floor.blockSignals(False)

    def _on_floor_activated(self) -> None:
        work, floor_no = self._work, int(self.floor.currentData())
        if floor_no == EVERY_FLOOR:
            work.edit(put_on_every_floor(work.draft, work.selection))
        else:
            work.edit(move_to_floor(work.draft, work.selection, floor_no))
