"""A chosen shape, at the side of the drawing: its words and its size."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core import plan_edits as edits
from app.core.plan_draft import DraftShape
from app.core.plan_work import PlanWork
from app.i18n import _
from app.screens.plan_fields import NumberField, captioned, show_layout
from app.screens.plan_words import selection_words
from widgets.build import column, label, row
from widgets.theme import Theme

_LARGEST = 100_000.0
_SIZED = frozenset({"rectangle", "circle", "ellipse"})


class ShapePage(QWidget):
    """Edits the work directly; shows what the work says."""

    def __init__(self, theme: Theme, work: PlanWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self.title = label(kind="title", wrap=True)
        self.text = QLineEdit()
        self.text_size = NumberField(1.0, 500.0, 1.0, 1)
        self.width_field = NumberField(1.0, _LARGEST, 5.0, 1)
        self.height_field = NumberField(1.0, _LARGEST, 5.0, 1)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(self.title)
        self._words = column(theme, gap="medium")
        self._words.addLayout(captioned(theme, _("Words"), self.text))
        self._words.addLayout(captioned(theme, _("Size of the words"), self.text_size))
        page.addLayout(self._words)
        self._sizes = row(theme)
        self._sizes.addLayout(captioned(theme, _("Width"), self.width_field), 1)
        self._sizes.addLayout(captioned(theme, _("Depth"), self.height_field), 1)
        page.addLayout(self._sizes)
        page.addStretch(1)
        self.text.textEdited.connect(self._on_text_edited)
        for field in (self.text_size, self.width_field, self.height_field):
            field.value_changed.connect(self._on_size_changed)

    def focus_first(self) -> None:
        """Put the keyboard on the words."""
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self.text.selectAll()

    def show_work(self) -> None:
        """Show what is chosen as it is now."""
        self.title.setText(selection_words(self._work.draft, self._work.selection))
        shape = self._shape
        mine = shape is not None and any(one is shape for one in self._work.draft.shapes)
        show_layout(self._words, shown=mine)
        show_layout(self._sizes, shown=shape is not None and mine and shape.shape in _SIZED)
        if shape is None:
            return
        if self.text.text() != shape.text:
            self.text.setText(shape.text)
        values = ((self.text_size, shape.text_size), (self.width_field, shape.width), (self.height_field, shape.height))
        for field, value in values:
            field.set_value(value)

    @property
    def _shape(self) -> DraftShape | None:
        chosen = self._work.selection.shapes
        return self._work.draft.shape(next(iter(chosen))) if len(chosen) == 1 else None

    def _on_text_edited(self, text: str) -> None:
        shape = self._shape
        if shape is not None:
            changed = edits.change_shape(self._work.draft, replace(shape, text=text))
            self._work.edit(changed, merge=f"shape-{shape.shape_id}")

    def _on_size_changed(self) -> None:
        shape = self._shape
        if shape is None:
            return
        size = self.width_field.value, self.height_field.value
        sized = resized(shape, *size) if shape.shape in _SIZED else shape
        self._work.edit(edits.change_shape(self._work.draft, replace(sized, text_size=self.text_size.value)))


def resized(shape: DraftShape, width: float, height: float) -> DraftShape:
    """The shape in another size, its upper left corner where it was; a circle stays round. Its words are centred."""
    if shape.shape == "rectangle":
        return replace(shape, width=width, height=height, text_at=None)
    if shape.shape == "circle":
        width = height = width if width != shape.width else height
    x = shape.x - shape.width / 2 + width / 2
    y = shape.y - shape.height / 2 + height / 2
    return replace(shape, x=x, y=y, width=width, height=height, text_at=None)
