"""Numbering schemes: what stands on the seats of the chosen rows, and what the rows are called."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core import plan_edits as edits
from app.core.plan_draft import DraftRow
from app.core.plan_numbering import CONFUSED_LETTERS, MAX_START, Counting, Numbering, numbering_of
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import NumberField, captioned, plain_button
from app.screens.plan_words import COUNTING_WORDS
from widgets.build import column, label, row, text_field
from widgets.choice_box import ChoiceBox
from widgets.theme import Theme
from widgets.tick_box import TickBox

_PREVIEWED = 6


class SchemeBox(QWidget):
    """A scheme and the first labels that it gives. What it is used for is the subclasses' matter."""

    def __init__(self, theme: Theme, work: PlanWork, title: str, do: str, schemes: tuple[Counting, ...]) -> None:
        super().__init__()
        self._work = work
        self._rows: list[DraftRow] = []
        self.counting = ChoiceBox(theme)
        self.start = NumberField(0, MAX_START)
        self.skipped = text_field()
        self.backwards = TickBox(theme, _("From the last to the first"))
        self.preview = label(tone="muted", wrap=True)
        self.apply = plain_button(do)
        for counting in schemes:
            self.counting.add_choice(_(COUNTING_WORDS[counting]), "", counting.value)
        self.start.set_value(1)
        self.skipped.setText(CONFUSED_LETTERS)
        self.skipped.setMaxLength(25)
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(title, kind="lead", wrap=True))
        page.addLayout(captioned(theme, _("Scheme"), self.counting))
        both = row(theme)
        both.addLayout(captioned(theme, _("Begins at"), self.start), 1)
        both.addLayout(captioned(theme, _("Letters left out"), self.skipped), 1)
        page.addLayout(both)
        page.addWidget(self.backwards)
        page.addWidget(self.preview)
        page.addWidget(self.apply)
        self.counting.activated.connect(self._show_preview)
        self.start.value_changed.connect(self._show_preview)
        self.skipped.textEdited.connect(self._show_preview)
        self.backwards.toggled.connect(self._show_preview)

    @property
    def numbering(self) -> Numbering:
        """The scheme as it is set."""
        counting = Counting(self.counting.currentData())
        skipped = self.skipped.text().upper() if counting is Counting.LETTERS else ""
        return Numbering(counting, self.start.count, self.backwards.isChecked(), skipped)

    def show_numbering(self, numbering: Numbering | None) -> None:
        """Set the fields to a scheme."""
        if numbering is not None and self.counting.findData(numbering.counting.value) >= 0:
            self.backwards.blockSignals(True)
            self.counting.setCurrentIndex(self.counting.findData(numbering.counting.value))
            self.start.set_value(numbering.start)
            self.backwards.setChecked(numbering.backwards)
            self.backwards.blockSignals(False)
        self._show_preview()

    def _show_preview(self) -> None:
        labels = self.numbering.labels(max(self._preview_count(), 1))
        shown = " ".join(labels[:_PREVIEWED]) + (" …" if len(labels) > _PREVIEWED else "")
        self.preview.setText(shown)
        is_letters = self.counting.currentData() == Counting.LETTERS.value
        self.skipped.setEnabled(is_letters)

    def _preview_count(self) -> int:
        return len(self._rows)


class NumberingBox(SchemeBox):
    """Numbers on the seats of whole rows."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__(theme, work, _("Numbers on the seats"), _("Number the seats"), tuple(Counting))
        self._shown: tuple[int, ...] = ()
        self.apply.clicked.connect(self._on_apply_clicked)

    def show_rows(self, rows: list[DraftRow]) -> None:
        """Show the scheme of the first row, when other rows are chosen."""
        self._rows = rows
        self.setVisible(bool(rows))
        chosen = tuple(one.row_id for one in rows)
        if rows and chosen != self._shown:
            self.show_numbering(numbering_of(tuple(seat.number for seat in rows[0].seats)))
        elif rows:
            self._show_preview()
        self._shown = chosen

    def _preview_count(self) -> int:
        return len(self._rows[0].seats) if self._rows else 1

    def _on_apply_clicked(self) -> None:
        self._work.edit(edits.number_rows(self._work.draft, self._work.selection.rows, self.numbering))


class RowNamesBox(SchemeBox):
    """Names of several rows, one after the other."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        schemes = (Counting.LETTERS, Counting.EVERY, Counting.ODD, Counting.EVEN)
        super().__init__(theme, work, _("Names of the rows"), _("Name the rows"), schemes)
        self._shown: tuple[int, ...] = ()
        self.apply.clicked.connect(self._on_apply_clicked)

    def show_rows(self, rows: list[DraftRow]) -> None:
        """Only where there are several to be named."""
        self._rows = rows
        self.setVisible(len(rows) > 1)
        chosen = tuple(one.row_id for one in rows)
        if len(rows) > 1 and chosen != self._shown:
            self.show_numbering(numbering_of(tuple(one.label for one in rows)))
        self._shown = chosen

    def _on_apply_clicked(self) -> None:
        self._work.edit(edits.label_rows(self._work.draft, self._work.selection.rows, self.numbering))
