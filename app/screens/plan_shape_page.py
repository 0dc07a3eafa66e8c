"""A chosen shape, standing area or picture, at the side of the drawing: what it is, its size, where it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core import plan_edits as edits
from app.core.plan_areas import MAX_PLACES, SIZED, change_picture, change_standing, reformed, resized
from app.core.plan_draft import DraftPicture, DraftShape, DraftStanding
from app.core.plan_fault_kinds import MAX_TEXT
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_color_button import ColorButton
from app.screens.plan_fields import NumberField, captioned, fill_choices, plain_button, show_layout
from app.screens.plan_floor_choice import FloorChoice
from app.screens.plan_words import FORM_WORDS, selection_words
from widgets.build import column, label, row, text_field
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme

_LARGEST: Final = 100_000.0
_TURN: Final = 15.0


class ShapePage(QWidget):
    """Edits the work directly; shows what the work says."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self.title = label(kind="title", wrap=True)
        self.text = text_field()
        self.text_size = NumberField(1.0, 500.0, 1.0, 1)
        self.name = text_field()
        self.capacity = NumberField(1, MAX_PLACES, 10)
        self.category = ChoiceBox(theme)
        self.form = ChoiceBox(theme)
        self.color = ColorButton(theme, _("Colour"), _("Colour of the drawing"))
        self.width_field = NumberField(1.0, _LARGEST, 5.0, 1)
        self.height_field = NumberField(1.0, _LARGEST, 5.0, 1)
        self.opacity = NumberField(5, 100, 5)
        self.floor = FloorChoice(theme, work)
        self.turn_left = plain_button(_("Turn left"))
        self.turn_right = plain_button(_("Turn right"))
        for field in (self.text, self.name):
            field.setMaxLength(MAX_TEXT)
        self._build(theme)
        self._connect()

    def focus_first(self) -> None:
        """Put the keyboard on the first field that is shown."""
        for field in (self.name, self.text, self.width_field):
            if field.isVisibleTo(self):
                take_focus(field)
                field.selectAll()
                return

    def show_work(self) -> None:
        """Show what is chosen as it is now."""
        work = self._work
        self.title.setText(selection_words(work.draft, work.selection))
        shape, picture = self._shape, self._picture
        standing = None if shape is None else work.draft.standing_of(shape.shape_id)
        is_drawn = shape is not None and standing is None
        is_sized = picture is not None or (shape is not None and shape.shape in SIZED)
        show_layout(self._words, shown=is_drawn)
        show_layout(self._standing, shown=standing is not None)
        show_layout(self._look, shown=shape is not None and shape.shape in SIZED)
        show_layout(self._sizes, shown=is_sized)
        show_layout(self._opacity, shown=picture is not None)
        show_layout(self._turns, shown=any(one.shape_id in work.selection.shapes for one in work.draft.all_shapes))
        self.floor.show_work()
        if shape is not None:
            self._show_shape(shape)
        if standing is not None:
            self._show_standing(standing)
        if picture is not None:
            self._show_picture(picture)

    def _show_shape(self, shape: DraftShape) -> None:
        if self.text.text() != shape.text:
            self.text.setText(shape.text)
        self.text_size.set_value(shape.text_size)
        self.width_field.set_value(shape.width)
        self.height_field.set_value(shape.height)
        self.color.show_color(shape.color)
        self.form.setCurrentIndex(max(self.form.findData(shape.shape), 0))

    def _show_standing(self, standing: DraftStanding) -> None:
        if self.name.text() != standing.name:
            self.name.setText(standing.name)
        self.capacity.set_value(standing.capacity)
        known = [(one.name or "–", one.category_id) for one in self._work.draft.categories]
        if standing.category_id not in {number for _name, number in known}:
            known.insert(0, (_("No category"), standing.category_id))
        fill_choices(self.category, known, {standing.category_id})

    def _show_picture(self, picture: DraftPicture) -> None:
        self.width_field.set_value(picture.width)
        self.height_field.set_value(picture.height)
        self.opacity.set_value(100 * (1.0 if picture.opacity is None else picture.opacity))

    @property
    def _key(self) -> int:
        chosen = self._work.selection.shapes
        return next(iter(chosen)) if len(chosen) == 1 else 0

    @property
    def _shape(self) -> DraftShape | None:
        return self._work.draft.shape(self._key)

    @property
    def _picture(self) -> DraftPicture | None:
        return self._work.draft.picture(self._key) if self._key else None

    # ------------------------------------------------------------ building

    def _build(self, theme: Theme) -> None:
        page = column(theme, gap="medium", parent=self)
        page.addWidget(self.title)
        self._standing = column(theme, gap="medium")
        self._standing.addLayout(captioned(theme, _("Name of the standing places"), self.name))
        self._standing.addLayout(captioned(theme, _("Number of places"), self.capacity))
        self._standing.addLayout(captioned(theme, _("Price category"), self.category))
        self._words = column(theme, gap="medium")
        self._words.addLayout(captioned(theme, _("Words"), self.text))
        self._words.addLayout(captioned(theme, _("Size of the words"), self.text_size))
        self._look = row(theme)
        for form, words in FORM_WORDS.items():
            self.form.add_choice(_(words), "", form)
        self._look.addLayout(captioned(theme, _("Form"), self.form), 1)
        self._look.addWidget(self.color, 0, Qt.AlignmentFlag.AlignBottom)
        self._sizes = row(theme)
        self._sizes.addLayout(captioned(theme, _("Width"), self.width_field), 1)
        self._sizes.addLayout(captioned(theme, _("Depth"), self.height_field), 1)
        self._opacity = column(theme)
        self._opacity.addLayout(captioned(theme, _("How strong it shows, in per cent"), self.opacity))
        self._turns = column(theme)
        self._turns.addWidget(self.turn_left)
        self._turns.addWidget(self.turn_right)
        for part in (self._standing, self._words, self._look, self._sizes, self._opacity):
            page.addLayout(part)
        page.addWidget(self.floor)
        page.addLayout(self._turns)
        page.addStretch(1)

    def _connect(self) -> None:
        self.text.textEdited.connect(self._on_text_edited)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.capacity.value_changed.connect(self._on_capacity_value_changed)
        self.category.activated.connect(self._on_category_activated)
        self.form.activated.connect(self._on_form_activated)
        self.color.color_chosen.connect(self._on_color_chosen)
        self.opacity.value_changed.connect(self._on_opacity_value_changed)
        for field in (self.text_size, self.width_field, self.height_field):
            field.value_changed.connect(self._on_size_changed)
        self.turn_left.clicked.connect(self._on_turn_left_clicked)
        self.turn_right.clicked.connect(self._on_turn_right_clicked)

    # ------------------------------------------------------------ changing

    def _change(self, shape: DraftShape, merge: str = "") -> None:
        self._work.edit(edits.change_shape(self._work.draft, shape), merge=merge)

    def _on_text_edited(self, text: str) -> None:
        shape = self._shape
        if shape is not None:
            self._change(replace(shape, text=text), f"shape-{shape.shape_id}")

    def _on_name_text_edited(self, text: str) -> None:
        changed = change_standing(self._work.draft, self._key, name=text)
        self._work.edit(changed, merge=f"standing-{self._key}")

    def _on_capacity_value_changed(self) -> None:
        self._work.edit(change_standing(self._work.draft, self._key, capacity=self.capacity.count))

    def _on_category_activated(self) -> None:
        category_id = int(self.category.currentData())
        self._work.edit(change_standing(self._work.draft, self._key, category_id=category_id))

    def _on_form_activated(self) -> None:
        shape = self._shape
        if shape is not None:
            self._change(reformed(shape, str(self.form.currentData())))

    def _on_color_chosen(self, color: str) -> None:
        shape = self._shape
        if shape is not None:
            self._change(replace(shape, color=color))

    def _on_opacity_value_changed(self) -> None:
        picture = self._picture
        if picture is not None:
            shown = round(self.opacity.value / 100, 2)
            self._work.edit(change_picture(self._work.draft, replace(picture, opacity=shown)))

    def _on_size_changed(self) -> None:
        shape, picture = self._shape, self._picture
        width, height = self.width_field.value, self.height_field.value
        if picture is not None:
            self._work.edit(change_picture(self._work.draft, replace(picture, width=width, height=height)))
        elif shape is not None:
            is_other = (width, height) != (shape.width, shape.height)
            sized = resized(shape, width, height) if shape.shape in SIZED and is_other else shape
            self._change(replace(sized, text_size=self.text_size.value))

    def _on_turn_left_clicked(self) -> None:
        self._work.edit(edits.turn(self._work.draft, self._work.selection, -_TURN))

    def _on_turn_right_clicked(self) -> None:
        self._work.edit(edits.turn(self._work.draft, self._work.selection, _TURN))
