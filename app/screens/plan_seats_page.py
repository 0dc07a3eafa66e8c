"""What is chosen of rows and seats, at the side of the drawing: names, numbers, category, marks, the line of a row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.actions.load_plan import new_guid
from app.core import plan_edits as edits
from app.core.plan_draft import DraftRow, DraftSeat, SeatMark, Selection
from app.core.plan_fault_kinds import MAX_TEXT
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import SEVERAL, NumberField, caption_of, captioned, fill_choices, plain_button, show_layout
from app.screens.plan_floor_choice import FloorChoice
from app.screens.plan_neighbours_box import NeighboursBox
from app.screens.plan_numbering_box import NumberingBox, RowNamesBox
from app.screens.plan_table_box import TableBox
from app.screens.plan_words import MARK_WORDS, selection_words
from widgets.build import column, label, row, text_field
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme
from widgets.tick_box import TickBox

_TURN = 15.0
_LARGEST_BEND = 10_000.0


class SeatsPage(QWidget):
    """Edits the work directly; shows what the work says."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._work = work
        self.title = label(kind="title", wrap=True)
        self.row_label = text_field()
        self.seat_number = text_field()
        for field in (self.row_label, self.seat_number):
            field.setMaxLength(MAX_TEXT)
        self.section = ChoiceBox(theme)
        self.category = ChoiceBox(theme)
        self.count = NumberField(1, edits.MAX_SEATS_OF_A_ROW)
        self.bend = NumberField(-_LARGEST_BEND, _LARGEST_BEND, 5.0, 1)
        self.marks = {mark: TickBox(theme, _(words)) for mark, words in MARK_WORDS.items()}
        self.table = TableBox(theme, work)
        self.neighbours = NeighboursBox(theme, work)
        self.floor = FloorChoice(theme, work)
        self.numbering = NumberingBox(theme, work)
        self.row_names = RowNamesBox(theme, work)
        self.even = plain_button(_("Equal distances"))
        self.straight = plain_button(_("Make straight"))
        self.turn_left = plain_button(_("Turn left"))
        self.turn_right = plain_button(_("Turn right"))
        self._build()
        self._connect()

    def focus_first(self) -> None:
        """Put the keyboard on the first field that is shown."""
        for field in (self.row_label, self.seat_number, self.section, self.category):
            if field.isVisibleTo(self):
                take_focus(field)
                return

    def show_work(self) -> None:
        """Show what is chosen as it is now."""
        draft, selection = self._work.draft, self._work.selection
        rows = [one for one in draft.rows if one.row_id in selection.rows]
        seats = selection.seats_in(draft)
        one_row = rows[0] if len(rows) == 1 and not selection.seats else None
        one_seat = seats[0] if len(seats) == 1 and not rows else None
        self.title.setText(selection_words(draft, selection))
        self._show_row(one_row)
        show_layout(self._seat_fields, shown=one_seat is not None)
        if one_seat is not None and self.seat_number.text() != one_seat.number:
            self.seat_number.setText(one_seat.number)
        self._show_rows(rows)
        self._show_category(seats)
        for mark, box in self.marks.items():
            self._show_mark(box, mark, seats)
        self.table.show_row(one_row)
        self.neighbours.show_work()
        self.floor.show_work()
        self.numbering.show_rows(rows)
        self.row_names.show_rows(rows)

    def _show_row(self, one: DraftRow | None) -> None:
        show_layout(self._row_fields, shown=one is not None)
        if one is None:
            return
        caption_of(self.row_label, _("Name of the row") if one.table is None else _("Name of the table"))
        if self.row_label.text() != one.label:
            self.row_label.setText(one.label)
        self.count.set_value(len(one.seats))

    def _show_rows(self, rows: list[DraftRow]) -> None:
        show_layout(self._section_fields, shown=bool(rows))
        show_layout(self._line_fields, shown=any(one.table is None for one in rows))
        self.even.setVisible(bool(rows))
        bends = {0.0 if one.line is None else round(one.line.bend, 1) for one in rows}
        self.bend.set_value(next(iter(bends)) if len(bends) == 1 else 0.0)
        sections = {one.section_id for one in rows}
        fill_choices(self.section, [(one.name or "–", one.section_id) for one in self._work.draft.sections], sections)

    def _show_category(self, seats: tuple[DraftSeat, ...]) -> None:
        chosen = {seat.category_id for seat in seats}
        choices = [(one.name or "–", one.category_id) for one in self._work.draft.categories]
        if chosen - {number for _name, number in choices}:
            choices.insert(0, (_("No category"), 0))
            chosen = {number if number in {n for _x, n in choices} else 0 for number in chosen}
        fill_choices(self.category, choices, chosen)

    @staticmethod
    def _show_mark(box: TickBox, mark: SeatMark, seats: tuple[DraftSeat, ...]) -> None:
        have = sum(1 for seat in seats if mark in seat.marks)
        state = Qt.CheckState.Unchecked if not have else Qt.CheckState.Checked
        if 0 < have < len(seats):
            state = Qt.CheckState.PartiallyChecked
        box.blockSignals(True)
        box.setTristate(state is Qt.CheckState.PartiallyChecked)
        box.setCheckState(state)
        box.blockSignals(False)

    def _build(self) -> None:
        theme = self._theme
        page = column(theme, gap="medium", parent=self)
        page.addWidget(self.title)
        self._row_fields = row(theme)
        self._row_fields.addLayout(captioned(theme, _("Name of the row"), self.row_label), 1)
        self._row_fields.addLayout(captioned(theme, _("Number of seats"), self.count), 1)
        page.addLayout(self._row_fields)
        self._seat_fields = row(theme)
        self._seat_fields.addLayout(captioned(theme, _("Number on the seat"), self.seat_number), 1)
        page.addLayout(self._seat_fields)
        page.addLayout(captioned(theme, _("Price category"), self.category))
        marks = column(theme, gap="tight")
        for box in self.marks.values():
            marks.addWidget(box)
        page.addLayout(marks)
        self._section_fields = column(theme)
        self._section_fields.addLayout(captioned(theme, _("Section"), self.section))
        self._line_fields = column(theme, gap="medium")
        self._line_fields.addLayout(captioned(theme, _("Bend of the row"), self.bend))
        self._line_fields.addWidget(self.straight)
        page.addWidget(self.table)
        page.addLayout(self._section_fields)
        page.addWidget(self.floor)
        page.addLayout(self._line_fields)
        page.addWidget(self.even)
        page.addWidget(self.neighbours)
        page.addWidget(self.numbering)
        page.addWidget(self.row_names)
        page.addWidget(self.turn_left)
        page.addWidget(self.turn_right)
        page.addStretch(1)

    def _connect(self) -> None:
        self.row_label.textEdited.connect(self._on_row_label_text_edited)
        self.seat_number.textEdited.connect(self._on_seat_number_text_edited)
        self.section.activated.connect(self._on_section_activated)
        self.category.activated.connect(self._on_category_activated)
        self.count.value_changed.connect(self._on_count_value_changed)
        self.bend.value_changed.connect(self._on_bend_value_changed)
        self.marks[SeatMark.ACCESSIBLE].clicked.connect(self._on_accessible_clicked)
        self.marks[SeatMark.COMPANION].clicked.connect(self._on_companion_clicked)
        self.marks[SeatMark.RESTRICTED_VIEW].clicked.connect(self._on_restricted_clicked)
        self.even.clicked.connect(self._on_even_clicked)
        self.straight.clicked.connect(self._on_straight_clicked)
        self.turn_left.clicked.connect(self._on_turn_left_clicked)
        self.turn_right.clicked.connect(self._on_turn_right_clicked)

    @property
    def _one_row(self) -> int:
        return next(iter(self._work.selection.rows), 0)

    def _on_row_label_text_edited(self, text: str) -> None:
        self._work.edit(edits.rename_row(self._work.draft, self._one_row, text), merge=f"row-{self._one_row}")

    def _on_seat_number_text_edited(self, text: str) -> None:
        guid = next(iter(self._work.selection.seats), "")
        self._work.edit(edits.number_seat(self._work.draft, guid, text), merge=f"seat-{guid}")

    def _on_section_activated(self) -> None:
        section_id = int(self.section.currentData())
        self._work.edit(edits.move_to_section(self._work.draft, self._work.selection.rows, section_id))

    def _on_category_activated(self) -> None:
        category_id = int(self.category.currentData())
        if category_id != SEVERAL:
            self._work.edit(edits.set_category(self._work.draft, self._work.selection, category_id))

    def _on_count_value_changed(self) -> None:
        self._work.edit(edits.set_seat_count(self._work.draft, self._one_row, self.count.count, new_guid))

    def _on_bend_value_changed(self) -> None:
        self._work.edit(edits.bend_rows(self._work.draft, self._work.selection.rows, self.bend.value))

    def _on_accessible_clicked(self, on: bool) -> None:
        self._mark(SeatMark.ACCESSIBLE, on=on)

    def _on_companion_clicked(self, on: bool) -> None:
        self._mark(SeatMark.COMPANION, on=on)

    def _on_restricted_clicked(self, on: bool) -> None:
        self._mark(SeatMark.RESTRICTED_VIEW, on=on)

    def _mark(self, mark: SeatMark, *, on: bool) -> None:
        selection: Selection = self._work.selection
        self._work.edit(edits.set_mark(self._work.draft, selection, mark, on=on))

    def _on_even_clicked(self) -> None:
        self._work.edit(edits.space_evenly(self._work.draft, self._work.selection.rows))

    def _on_straight_clicked(self) -> None:
        self._work.edit(edits.bend_rows(self._work.draft, self._work.selection.rows, 0.0))

    def _on_turn_left_clicked(self) -> None:
        self._work.edit(edits.turn(self._work.draft, self._work.selection, -_TURN))

    def _on_turn_right_clicked(self) -> None:
        self._work.edit(edits.turn(self._work.draft, self._work.selection, _TURN))
