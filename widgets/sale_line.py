"""One seat of a sale: its name, its price type, its price, and a way to drop it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QToolButton, QWidget

from widgets.build import label, row, trailing
from widgets.choice_box import ChoiceBox
from widgets.elided_label import ElidedLabel
from widgets.theme import Theme

_TYPE_PX = 132
_DROP_PX = 24


@dataclass(frozen=True, slots=True)
class SaleLineFace:
    """What a line shows. `types` are (price_type_id, name, price).

    `spoken_type` and `spoken_drop` are for screen readers.
    """

    seat_no: int
    name: str
    place: str
    types: tuple[tuple[int, str, str], ...]
    chosen_type: int
    price: str
    can_change: bool
    can_drop: bool
    spoken_type: str
    spoken_drop: str


class SaleLine(QWidget):
    """Keeps its seat for life; `show_face` updates the rest in place, so that the keyboard's focus stays."""

    price_type_chosen = Signal(int, int)
    """seat_no, price_type_id."""
    drop_requested = Signal(int)

    def __init__(self, theme: Theme, face: SaleLineFace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.seat_no = face.seat_no
        self._face: SaleLineFace | None = None
        self._name = ElidedLabel()
        self._name.setFont(theme.font("body", bold=True))
        self._place = ElidedLabel()
        self._place.setProperty("type", "caption")
        self._place.setProperty("tone", "muted")
        self.types = ChoiceBox(theme)
        self.types.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.types.setMinimumWidth(_TYPE_PX)
        self.types.activated.connect(self._on_types_activated)
        self._price = label()
        self._price.setFont(theme.font("body", bold=True))
        self._price.setAlignment(trailing())
        self.drop = QToolButton()
        self.drop.setText("✕")
        self.drop.setProperty("role", "inline")
        self.drop.setFixedSize(QSize(_DROP_PX, _DROP_PX))
        self.drop.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.drop.clicked.connect(self._on_drop_clicked)
        self._dense: bool | None = None
        self._grid = QGridLayout(self)
        self._end = QWidget()
        self._theme = theme
        self._build(theme)
        self.set_dense(False)
        self.show_face(face)

    def show_face(self, face: SaleLineFace) -> None:
        """Show this seat anew."""
        if face == self._face and self.types.currentData() == face.chosen_type:
            return
        if self._face is None or face.types != self._face.types:
            self.types.clear()
            for type_id, name, price in face.types:
                self.types.add_choice(name, price, type_id)
        self._face = face
        self.types.setCurrentIndex(max(self.types.findData(face.chosen_type), 0))
        self.types.setEnabled(face.can_change and self.types.count() > 1)
        self.types.setAccessibleName(face.spoken_type)
        _say(self._name, face.name)
        _say(self._place, face.place)
        _say(self._price, face.price)
        self.drop.setEnabled(face.can_drop)
        self.drop.setVisible(face.can_drop)
        self.drop.setAccessibleName(face.spoken_drop)
        self.drop.setToolTip(face.spoken_drop)

    def set_dense(self, dense: bool) -> None:  # said by what it sets
        """Name, price type and price beside each other, for sales of many seats; else the price above its type."""
        if dense is self._dense:
            return
        self._dense = dense
        for part in (self._name, self._place, self.types, self._end):
            self._grid.removeWidget(part)
        space = self._theme.space
        self._grid.setContentsMargins(0, space("hair" if dense else "tight"), 0, space("hair" if dense else "small"))
        self._grid.setVerticalSpacing(0 if dense else space("hair"))
        self._grid.addWidget(self._name, 0, 0)
        self._grid.addWidget(self._place, 1, 0)
        if dense:
            self._grid.addWidget(self.types, 0, 1, 2, 1)
            self._grid.addWidget(self._end, 0, 2, 2, 1)
        else:
            self._grid.addWidget(self._end, 0, 1)
            self._grid.addWidget(self.types, 1, 1)

    def _build(self, theme: Theme) -> None:
        self._grid.setHorizontalSpacing(theme.space("small"))
        self._grid.setColumnStretch(0, 1)
        end = row(theme, gap="tight", parent=self._end)
        end.addStretch(1)
        end.addWidget(self._price)
        end.addWidget(self.drop)

    def _on_types_activated(self, index: int) -> None:
        self.price_type_chosen.emit(self.seat_no, int(self.types.itemData(index)))

    def _on_drop_clicked(self) -> None:
        self.drop_requested.emit(self.seat_no)


def _say(part: QLabel, text: str) -> None:
    if part.text() != text:
        part.setText(text)
