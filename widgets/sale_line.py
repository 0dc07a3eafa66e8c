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
    """What a line shows. `types` are (price_type_id, name); `spoken_type` and `spoken_drop` are for screen readers."""

    seat_no: int
    name: str
    place: str
    types: tuple[tuple[int, str], ...]
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
        self._build(theme)
        self.show_face(face)

    def show_face(self, face: SaleLineFace) -> None:
        """Show this seat anew."""
        if face == self._face and self.types.currentData() == face.chosen_type:
            return
        if self._face is None or face.types != self._face.types:
            self.types.clear()
            for type_id, name in face.types:
                self.types.addItem(name, type_id)
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

    def _build(self, theme: Theme) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, theme.space("tight"), 0, theme.space("small"))
        grid.setHorizontalSpacing(theme.space("small"))
        grid.setVerticalSpacing(theme.space("hair"))
        grid.setColumnStretch(0, 1)
        grid.addWidget(self._name, 0, 0)
        end = row(theme, gap="tight")
        end.addStretch(1)
        end.addWidget(self._price)
        end.addWidget(self.drop)
        grid.addLayout(end, 0, 1)
        grid.addWidget(self._place, 1, 0)
        grid.addWidget(self.types, 1, 1)

    def _on_types_activated(self, index: int) -> None:
        self.price_type_chosen.emit(self.seat_no, int(self.types.itemData(index)))

    def _on_drop_clicked(self) -> None:
        self.drop_requested.emit(self.seat_no)


def _say(part: QLabel, text: str) -> None:
    if part.text() != text:
        part.setText(text)
