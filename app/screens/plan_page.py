"""The plan as a whole, at the side of the drawing: name and size, price categories, sections."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from app.core import plan_edits as edits
from app.core.plan_draft import DraftCategory, DraftSection
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import NumberField, captioned, plain_button
from widgets.build import column, label, row
from widgets.theme import Theme

_SWATCH_PX = 16
_LARGEST = 100_000.0


class PlanPage(QWidget):
    """Edits the work directly; shows what the work says."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._work = work
        self.name = QLineEdit()
        self.width_field = NumberField(1.0, _LARGEST, 50.0, 1)
        self.height_field = NumberField(1.0, _LARGEST, 50.0, 1)
        self.add_category = plain_button(_("Add a category"))
        self.add_section = plain_button(_("Add a section"))
        self.categories: list[CategoryLine] = []
        self.sections: list[SectionLine] = []
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

    def _show_categories(self, categories: tuple[DraftCategory, ...]) -> None:
        if [line.category_id for line in self.categories] != [one.category_id for one in categories]:
            _empty(self._category_box)
            self.categories = [CategoryLine(self._theme, self._work, one.category_id) for one in categories]
            for line in self.categories:
                self._category_box.addWidget(line)
        for line, category in zip(self.categories, categories, strict=True):
            line.show_category(category)

    def _show_sections(self, sections: tuple[DraftSection, ...]) -> None:
        if [line.section_id for line in self.sections] != [one.section_id for one in sections]:
            _empty(self._section_box)
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
        self.categories[-1].name.setFocus()
        self.categories[-1].name.selectAll()

    def _on_add_section_clicked(self) -> None:
        taken = {one.name for one in self._work.draft.sections}
        self._work.edit(edits.add_section(self._work.draft, free_name(_("Section"), taken)))
        self.sections[-1].name.setFocus()
        self.sections[-1].name.selectAll()


class CategoryLine(QWidget):
    """Colour, name, and the way out of one category."""

    def __init__(self, theme: Theme, work: PlanWork, category_id: int) -> None:
        super().__init__()
        self._theme = theme
        self._work = work
        self._color = ""
        self.category_id = category_id
        self.color = QToolButton()
        self.name = QLineEdit()
        self.remove = _remove_button(_("Remove this category"))
        self.color.setAccessibleName(_("Colour"))
        self.name.setAccessibleName(_("Name of the category"))
        inside = row(theme, gap="tight", parent=self)
        inside.addWidget(self.color)
        inside.addWidget(self.name, 1)
        inside.addWidget(self.remove)
        self.color.clicked.connect(self._on_color_clicked)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.remove.clicked.connect(self._on_remove_clicked)

    def show_category(self, category: DraftCategory) -> None:
        """Show name and colour."""
        if self.name.text() != category.name:
            self.name.setText(category.name)
        if self._color != category.color:
            self._color = category.color
            self.color.setIcon(_swatch(self._theme, category.color))
        self.remove.setEnabled(not any(area.category_id == self.category_id for area in self._work.draft.standing))

    def _on_color_clicked(self) -> None:
        menu = QMenu(self)
        for color in self._theme.categories:
            menu.addAction(_swatch(self._theme, color), color).setData(color.lower())
        menu.triggered.connect(self._on_color_triggered)
        menu.popup(self.color.mapToGlobal(QPoint(0, self.color.height())))

    def _on_color_triggered(self, action: object) -> None:
        color = str(getattr(action, "data", str)())
        self._work.edit(edits.change_category(self._work.draft, self.category_id, self.name.text(), color))

    def _on_name_text_edited(self, text: str) -> None:
        changed = edits.change_category(self._work.draft, self.category_id, text, self._color)
        self._work.edit(changed, merge=f"category-{self.category_id}")

    def _on_remove_clicked(self) -> None:
        self._work.edit(edits.remove_category(self._work.draft, self.category_id))


class SectionLine(QWidget):
    """Name, and the way out of one section."""

    def __init__(self, theme: Theme, work: PlanWork, section_id: int) -> None:
        super().__init__()
        self._work = work
        self.section_id = section_id
        self.name = QLineEdit()
        self.remove = _remove_button(_("Remove this section with its rows"))
        self.name.setAccessibleName(_("Name of the section"))
        inside = row(theme, gap="tight", parent=self)
        inside.addWidget(self.name, 1)
        inside.addWidget(self.remove)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.remove.clicked.connect(self._on_remove_clicked)

    def show_section(self, section: DraftSection) -> None:
        """Show the name."""
        if self.name.text() != section.name:
            self.name.setText(section.name)

    def _on_name_text_edited(self, text: str) -> None:
        changed = edits.rename_section(self._work.draft, self.section_id, text)
        self._work.edit(changed, merge=f"section-{self.section_id}")

    def _on_remove_clicked(self) -> None:
        self._work.edit(edits.remove_section(self._work.draft, self.section_id))


def free_name(word: str, taken: set[str]) -> str:
    """`Section 1`, `Section 2`, …: the first that is not taken."""
    number = 1
    while f"{word} {number}" in taken:
        number += 1
    return f"{word} {number}"


def _remove_button(words: str) -> QToolButton:
    made = QToolButton()
    made.setText("✕")
    made.setAccessibleName(words)
    made.setToolTip(words)
    return made


def _swatch(theme: Theme, color: str) -> QIcon:
    picture = QPixmap(_SWATCH_PX, _SWATCH_PX)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    known = QColor.isValidColorName(color[:7])
    painter.setBrush(QColor(color[:7]) if known else theme.color("border_strong"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawEllipse(1, 1, _SWATCH_PX - 2, _SWATCH_PX - 2)
    painter.end()
    return QIcon(picture)


def _empty(box: QVBoxLayout) -> None:
    while box.count():
        item = box.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
