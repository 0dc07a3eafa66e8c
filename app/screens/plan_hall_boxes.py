"""Parts of the page of the whole plan: floors, where people look, pictures under the drawing."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.core import plan_edits as edits
from app.core.plan_draft import DraftPicture, Selection
from app.core.plan_fault_kinds import MAX_TEXT
from app.core.plan_floors import MAX_FLOORS, add_floor, may_remove_floor, move_floor, remove_floor, rename_floor
from app.core.plan_focus import focus_of
from app.core.plan_geometry import MAX_COORDINATE
from app.core.plan_work import PlanWork
from app.i18n import _, figures
from app.screens.plan_fields import NumberField, captioned, emptied, plain_button, small_button
from app.screens.plan_words import FOCUS_WORDS
from widgets.build import column, label, row, text_field
from widgets.focus import take_focus
from widgets.theme import Theme


class FloorsBox(QWidget):
    """The floors from the lowest up: names, order, one more; an empty one can go."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._theme = theme
        self._work = work
        self.add = plain_button(_("Add a floor"))
        self.lines: list[FloorLine] = []
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("Floors"), kind="lead"))
        self._box = column(theme, gap="tight")
        page.addLayout(self._box)
        page.addWidget(self.add)
        self.add.clicked.connect(self._on_add_clicked)

    def show_work(self) -> None:
        """Show the floors as they are now."""
        floors = self._work.draft.floors
        if len(self.lines) != len(floors):
            emptied(self._box)
            self.lines = [FloorLine(self._theme, self._work, number) for number in range(len(floors))]
            for line in self.lines:
                self._box.addWidget(line)
        for line in self.lines:
            line.show_work()
        self.add.setEnabled(len(floors) < MAX_FLOORS)

    def _on_add_clicked(self) -> None:
        draft = self._work.draft
        number = max(len(draft.floors), 1) + 1
        words = _("Floor {number}")
        first, name = (words.format(number=figures().number(one)) for one in (1, number))
        self._work.edit(add_floor(draft, first, name))
        self._work.show_floor(len(self._work.draft.floors) - 1)
        if self.lines:
            take_focus(self.lines[-1].name)
            self.lines[-1].name.selectAll()


class FloorLine(QWidget):
    """Name of one floor, its way up and down, and out."""

    def __init__(self, theme: Theme, work: PlanWork, floor_no: int) -> None:
        super().__init__()
        self._work = work
        self._floor_no = floor_no
        self.name = text_field()
        self.name.setMaxLength(MAX_TEXT)
        self.name.setAccessibleName(_("Name of the floor"))
        self.up = small_button("↑", _("Move this floor up"))
        self.remove = small_button("✕", _("Remove this floor; it has to be empty"))
        inside = row(theme, gap="tight", parent=self)
        inside.addWidget(self.name, 1)
        inside.addWidget(self.up)
        inside.addWidget(self.remove)
        self.name.textEdited.connect(self._on_name_text_edited)
        self.up.clicked.connect(self._on_up_clicked)
        self.remove.clicked.connect(self._on_remove_clicked)

    def show_work(self) -> None:
        """Show its name, and what can be done with it."""
        draft = self._work.draft
        name = draft.floors[self._floor_no]
        if self.name.text() != name:
            self.name.setText(name)
        self.up.setEnabled(self._floor_no + 1 < len(draft.floors))
        self.remove.setEnabled(may_remove_floor(draft, self._floor_no))

    def _on_name_text_edited(self, text: str) -> None:
        changed = rename_floor(self._work.draft, self._floor_no, text)
        self._work.edit(changed, merge=f"floor-{self._floor_no}")

    def _on_up_clicked(self) -> None:
        self._work.edit(move_floor(self._work.draft, self._floor_no, 1))

    def _on_remove_clicked(self) -> None:
        self._work.edit(remove_floor(self._work.draft, self._floor_no))


class FocusBox(QWidget):
    """Where people look, how that is known, and its correction."""

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._work = work
        self.words = label(tone="muted", wrap=True)
        self.x_field = NumberField(-MAX_COORDINATE, MAX_COORDINATE, 5.0, 1)
        self.y_field = NumberField(-MAX_COORDINATE, MAX_COORDINATE, 5.0, 1)
        self.derive = plain_button(_("Find it from the stage"))
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("Where people look"), kind="lead"))
        page.addWidget(self.words)
        both = row(theme)
        both.addLayout(captioned(theme, _("From the left"), self.x_field), 1)
        both.addLayout(captioned(theme, _("From the top"), self.y_field), 1)
        page.addLayout(both)
        page.addWidget(self.derive)
        self.x_field.value_changed.connect(self._on_changed)
        self.y_field.value_changed.connect(self._on_changed)
        self.derive.clicked.connect(self._on_derive_clicked)

    def show_work(self) -> None:
        """Show the point as it is now."""
        (x, y), source = focus_of(self._work.draft)
        self.words.setText(_(FOCUS_WORDS[source]))
        self.x_field.set_value(x)
        self.y_field.set_value(y)
        self.derive.setVisible(self._work.draft.focal is not None)

    def _on_changed(self) -> None:
        self._work.edit(edits.put_focal(self._work.draft, (self.x_field.value, self.y_field.value)))

    def _on_derive_clicked(self) -> None:
        self._work.edit(edits.put_focal(self._work.draft, None))


class PicturesBox(QWidget):
    """The pictures under the drawing: one more, and each to be chosen."""

    picture_requested = Signal()

    def __init__(self, theme: Theme, work: PlanWork) -> None:
        super().__init__()
        self._theme = theme
        self._work = work
        self._shown: tuple[int, ...] = ()
        self.add = plain_button(_("Add a picture…"))
        self.buttons: list[QPushButton] = []
        page = column(theme, gap="small", parent=self)
        page.addWidget(label(_("Pictures under the drawing"), kind="lead", wrap=True))
        self._box = column(theme, gap="tight")
        page.addLayout(self._box)
        page.addWidget(self.add)
        self.add.clicked.connect(self.picture_requested)

    def show_work(self) -> None:
        """Show which there are."""
        pictures = self._work.draft.pictures
        shown = tuple(picture.picture_id for picture in pictures)
        if shown == self._shown:
            return
        self._shown = shown
        emptied(self._box)
        self.buttons = [self._button(number, picture) for number, picture in enumerate(pictures, start=1)]
        for button in self.buttons:
            self._box.addWidget(button)

    def _button(self, number: int, picture: DraftPicture) -> QPushButton:
        made = plain_button(_("Picture {number}").format(number=figures().number(number)))
        key = picture.picture_id
        made.setProperty("key", key)
        made.clicked.connect(self._on_picture_clicked)
        return made

    def _on_picture_clicked(self) -> None:
        key = int(self.sender().property("key"))
        self._work.choose(Selection(shapes=frozenset({key})))
