"""The plan as a whole, at the side of the drawing: name and size, price categories, sections."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core import plan_edits as edits
from app.core.plan_draft import DraftCategory, DraftSection
from app.core.plan_fault_kinds import MAX_TEXT
from app.core.plan_floors import move_section_to_floor, shown_on
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_color_button import ColorButton
from app.screens.plan_fields import NumberField, captioned, emptied, fill_choices, plain_button, small_button
from app.screens.plan_hall_boxes import FloorsBox, FocusBox, PicturesBox
from app.screens.plan_words import floor_names
from widgets.build import column, label, row, text_field
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.theme import Theme

_LARGEST = 100_000.0


class PlanPage(QWidget):
    """Edits the work directly; shows what the work says."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._work = work
        self.name = text_field()
        self.name.setMaxLength(MAX_TEXT)
        self.width_field = NumberField(1.0, _LARGEST, 50.0, 1)
        self.height_field = NumberField(1.0, _LARGEST, 50.0, 1)
        self.add_category = plain_button(_("Add a category"))
        self.add_section = plain_button(_("Add a section"))
        self.categories: list[CategoryLine] = []
        self.sections: list[SectionLine] = []
        self.floors = FloorsBox(theme, work)
        self.focus = FocusBox(theme, work)
        self.pictures = PicturesBox(theme, work)
        self._category_box = column(theme, gap="tight")
        self._section_box = column(theme, gap="tight")
        self._build()
        self.name.textEdited.connect(self._on_name_text_edited)
        self.width_field.value_changed.connect(self._on_size_changed)
        self.height_field.value_changed.connect(self._on_size_changed)
        self.add_category.clicked.connect(self._on_add_category_clicked)
        self.add_section.clicked.connect(self._on_add_section_clicked)

    def show_work(self) -> None:
        """Show the plan as it is now."""
        draft = self._work.draft
        if self.name.text() != draft.name:
            self.name.setText(draft.name)
        for field, value in ((self.width_field, draft.width), (self.height_field, draft.height)):
            field.set_value(value)
        self._show_categories(draft.categories)
        self._show_sections(draft.sections)
        for box in (self.floors, self.focus, self.pictures):
            box.show_work()

    def _show_categories(self, categories: tuple[DraftCategory, ...]) -> None:
        if [line.category_id for line in self.categories] != [one.category_id for one in categories]:
            emptied(self._category_box)
            self.categories = [CategoryLine(self._theme, self._work, one.category_id) for one in categories]
            for line in self.categories:
                self._category_box.addWidget(line)
        for line, category in zip(self.categories, categories, strict=True):
            line.show_category(category)

    def _show_sections(self, sections: tuple[DraftSection, ...]) -> None:
        if [line.section_id for line in self.sections] != [one.section_id for one in sections]:
            emptied(self._section_box)
            self.sections = [SectionLine(self._theme, self._work, one.section_id) for one in sections]
            for line in self.sections:
                self._section_box.addWidget(line)
        for line, section in zip(self.sections, sections, strict=True):
            line.show_section(section)

    def _build(self) -> None:
        theme = self._theme
        page = column(theme, gap="medium", parent=self)
        page.addLayout(captioned(theme, _("Name of the plan"), self.name))
        size = row(theme)
        size.addLayout(captioned(theme, _("Width of the hall"), self.width_field), 1)
        size.addLayout(captioned(theme, _("Depth of the hall"), self.height_field), 1)
        page.addLayout(size)
        page.addWidget(label(_("Price categories"), kind="lead"))
        page.addLayout(self._category_box)
        page.addWidget(self.add_category)
        page.addWidget(label(_("Sections"), kind="lead"))
        page.addLayout(self._section_box)
        page.addWidget(self.add_section)
        for box in (self.floors, self.focus, self.pictures):
            page.addWidget(box)
        page.addStretch(1)

    def _on_name_text_edited(self, text: str) -> None:
        self._work.edit(edits.rename_plan(self._work.draft, text), merge="plan-name")

    def _on_size_changed(self) -> None:
        size = self.width_field.value, self.height_field.value
        self._work.edit(edits.resize_hall(self._work.draft, *size))

    def _on_add_category_clicked(self) -> None:
        colors = self._theme.categories
        color = colors[len(self._work.draft.categories) % len(colors)].lower()
        taken = {one.name for one in self._work.draft.categories}
        self._work.edit(edits.add_category(self._work.draft, free_name(_("Category"), taken), color))
        take_focus(self.categories[-1].name)
        self.categories[-1].name.selectAll()

    def _on_add_section_clicked(self) -> None:
        taken = {one.name for one in self._work.draft.sections}
        self._work.edit(edits.add_section(self._work.draft, free_name(_("Section"), taken), self._work.floor_no))
        take_focus(self.sections[-1].name)
        self.sections[-1].name.selectAll()


class CategoryLine(QWidget):
    """Colour, name, and the way out of one category."""

    def __init__(self, theme: Theme, work: PlanWork, category_id: int) -> None:
        super().__init__()
        self._work = work
        self.category_id = category_id
        self.color = ColorButton(theme, _("Colour"))
        self.name = text_field()
        self.remove = small_button("✕", _("Remove this category"))
        self.name.setMaxLength(MAX_TEXT)
        self.name.setAccessibleName(_("Name of the category"))
        inside = row(theme, gap="tight", parent=self)
        inside.addWidget(self.color)
        inside.addWidget(self.name, 1)
        inside.addWidget(self.remove)
        self.color.color_chosen.connect(self._on_color_chosen)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.remove.clicked.connect(self._on_remove_clicked)

    def show_category(self, category: DraftCategory) -> None:
        """Show name and colour."""
        if self.name.text() != category.name:
            self.name.setText(category.name)
        self.color.show_color(category.color)
        self.remove.setEnabled(not any(area.category_id == self.category_id for area in self._work.draft.standing))

    def _on_color_chosen(self, color: str) -> None:
        self._work.edit(edits.change_category(self._work.draft, self.category_id, self.name.text(), color))

    def _on_name_text_edited(self, text: str) -> None:
        changed = edits.change_category(self._work.draft, self.category_id, text, self.color.color)
        self._work.edit(changed, merge=f"category-{self.category_id}")

    def _on_remove_clicked(self) -> None:
        self._work.edit(edits.remove_category(self._work.draft, self.category_id))


class SectionLine(QWidget):
    """Name, and the way out of one section."""

    def __init__(self, theme: Theme, work: PlanWork, section_id: int) -> None:
        super().__init__()
        self._work = work
        self.section_id = section_id
        self.name = text_field()
        self.remove = small_button("✕", _("Remove this section with its rows"))
        self.name.setMaxLength(MAX_TEXT)
        self.name.setAccessibleName(_("Name of the section"))
        self.floor = ChoiceBox(theme)
        self.floor.setAccessibleName(_("Floor"))
        inside = row(theme, gap="tight")
        inside.addWidget(self.name, 1)
        inside.addWidget(self.remove)
        page = column(theme, gap="tight", parent=self)
        page.addLayout(inside)
        page.addWidget(self.floor)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.remove.clicked.connect(self._on_remove_clicked)
        self.floor.activated.connect(self._on_floor_activated)

    def show_section(self, section: DraftSection) -> None:
        """Show the name, and the floor where there are several."""
        if self.name.text() != section.name:
            self.name.setText(section.name)
        names = floor_names(self._work.draft)
        self.floor.setVisible(len(names) > 1)
        choices = [(name, number) for number, name in enumerate(names)]
        fill_choices(self.floor, choices, {shown_on(self._work.draft, section.floor_no)})

    def _on_name_text_edited(self, text: str) -> None:
        changed = edits.rename_section(self._work.draft, self.section_id, text)
        self._work.edit(changed, merge=f"section-{self.section_id}")

    def _on_floor_activated(self, index: int) -> None:
        self._work.edit(move_section_to_floor(self._work.draft, self.section_id, index))

    def _on_remove_clicked(self) -> None:
        self._work.edit(edits.remove_section(self._work.draft, self.section_id))


def free_name(word: str, taken: set[str]) -> str:
    """`Section 1`, `Section 2`, …: the first that is not taken."""
    number = 1
    while f"{word} {number}" in taken:
        number += 1
    return f"{word} {number}"
