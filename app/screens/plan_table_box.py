"""A chosen table or booth, at the side of the drawing: what it is, its form, its size. Its seats go round it anew."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from app.actions.load_plan import new_guid
from app.core.plan_draft import DraftRow, DraftTable
from app.core.plan_tables import BOOTH, CIRCLE, RECTANGLE, TABLE, change_table
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import NumberField, captioned
from widgets.build import column, row
from widgets.choice_box import ChoiceBox
from widgets.theme import Theme

_LARGEST = 10_000.0


class TableBox(QWidget):
    """Edits the work directly; shown while one row is chosen that has a table."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._work = work
        self._row_id = 0
        self.kind = ChoiceBox(theme)
        self.form = ChoiceBox(theme)
        self.width_field = NumberField(1.0, _LARGEST, 5.0, 1)
        self.height_field = NumberField(1.0, _LARGEST, 5.0, 1)
        self.kind.add_choice(_("Table with seats round it"), "", TABLE)
        self.kind.add_choice(_("Booth, sold as one place"), "", BOOTH)
        self.form.add_choice(_("Round"), "", CIRCLE)
        self.form.add_choice(_("Rectangular"), "", RECTANGLE)
        page = column(theme, gap="medium", parent=self)
        page.addLayout(captioned(theme, _("Kind"), self.kind))
        page.addLayout(captioned(theme, _("Form"), self.form))
        sizes = row(theme)
        sizes.addLayout(captioned(theme, _("Width"), self.width_field), 1)
        sizes.addLayout(captioned(theme, _("Depth"), self.height_field), 1)
        page.addLayout(sizes)
        self.kind.activated.connect(self._on_changed)
        self.form.activated.connect(self._on_changed)
        self.width_field.value_changed.connect(self._on_changed)
        self.height_field.value_changed.connect(self._on_changed)

    def show_row(self, one: DraftRow | None) -> None:
        """Show the table of this row; None or a row without one: nothing."""
        table = None if one is None else one.table
        self.setVisible(table is not None)
        if one is None or table is None:
            return
        self._row_id = one.row_id
        for box, value in ((self.kind, table.kind), (self.form, table.shape)):
            box.setCurrentIndex(max(box.findData(value), 0))
        self.width_field.set_value(table.width)
        self.height_field.set_value(table.height)

    def _on_changed(self) -> None:
        one = self._work.draft.row(self._row_id)
        if one is None or one.table is None:
            return
        wanted: DraftTable = replace(
            one.table,
            kind=str(self.kind.currentData()),
            shape=str(self.form.currentData()),
            width=self.width_field.value,
            height=self.height_field.value,
        )
        self._work.edit(change_table(self._work.draft, self._row_id, wanted, new_guid))
