"""The legend: what fills, rings and marks mean, drawn with the map's own sprites. Categories filter the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from widgets.seat_map.palette import MapPalette
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.seat_bits import ACCESSIBLE_FLAG, COMPANION_FLAG, RESTRICTED_FLAG, Look
from widgets.seat_map.sprites import draw_sprite
from widgets.theme import Theme

SAMPLE_PX = 18


@dataclass(frozen=True, slots=True)
class LegendTexts:
    """Words of the legend; the host gives them in the person's language."""

    name: str = "Legend"
    filter_hint: str = "Show only seats of this category"
    mine: str = "Yours"
    held_till: str = "Held at a till"
    held_fan: str = "Held by a fan"
    held_house: str = "Held by the house"
    paying: str = "Being paid"
    closed: str = "Not for sale here"
    sold: str = "Sold"
    printed: str = "Printed"
    used: str = "Used"
    blocked: str = "Blocked"
    accessible: str = "Wheelchair"
    companion: str = "Companion"
    restricted: str = "Restricted view"


class Legend(QWidget):
    """Explains the map. Pressing categories leaves only those; none pressed: all."""

    categories_chosen = Signal(object)
    """frozenset of the category numbers to show; empty: all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: LegendTexts | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._texts = texts or LegendTexts()
        self._plan: SeatMapPlan | None = None
        self._notes: tuple[str, ...] = ()
        self._buttons: list[QToolButton] = []
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._body: QWidget | None = None
        self.setAccessibleName(self._texts.name)

    def set_plan(self, plan: SeatMapPlan, notes: Sequence[str] = ()) -> None:
        """Categories of a plan; `notes[category_no]` stands after the name, for example its price."""
        self._plan, self._notes = plan, tuple(notes)
        self._rebuild()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._rebuild()

    def set_texts(self, texts: LegendTexts) -> None:
        """Words in the person's language."""
        self._texts = texts
        self.setAccessibleName(texts.name)
        self._rebuild()

    def hidden_categories(self) -> frozenset[int]:
        """Categories to put back on the map: those not chosen, when any is."""
        chosen = self._chosen()
        return frozenset(range(len(self._buttons))) - chosen if chosen else frozenset()

    def _chosen(self) -> frozenset[int]:
        return frozenset(at for at, button in enumerate(self._buttons) if button.isChecked())

    def _rebuild(self) -> None:
        if self._body is not None:
            self._box.removeWidget(self._body)
            self._body.deleteLater()
        self._body = QFrame(self)
        rows = QVBoxLayout(self._body)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(self._theme.space("tight"))
        self._buttons = []
        if self._plan is not None:
            # Samples stand on buttons and on the window, not on a bed.
            palette = MapPalette.of(self._theme, self._plan)
            self._add_categories(rows, self._plan, replace(palette, bed=self._theme.color("surface_raised")))
            self._add_marks(rows, replace(palette, bed=self._theme.color("window")))
        self._box.addWidget(self._body)

    def _add_categories(self, rows: QVBoxLayout, plan: SeatMapPlan, palette: MapPalette) -> None:
        used = set(plan.category.tolist())
        for category_no, name in enumerate(plan.category_name):
            note = self._notes[category_no] if category_no < len(self._notes) else ""
            button = QToolButton()
            button.setText(f"{name}  {note}".rstrip())
            button.setIcon(QIcon(self._sample(palette, Look.FREE, category_no, 0)))
            button.setIconSize(QSize(SAMPLE_PX, SAMPLE_PX))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setCheckable(True)
            button.setToolTip(self._texts.filter_hint)
            button.setAccessibleName(button.text())
            button.setAccessibleDescription(self._texts.filter_hint)
            button.setVisible(category_no in used)
            button.toggled.connect(self._on_category_toggled)
            rows.addWidget(button)
            self._buttons.append(button)

    def _add_marks(self, rows: QVBoxLayout, palette: MapPalette) -> None:
        words = self._texts
        marks = (
            (Look.MINE, 0, words.mine), (Look.HELD_TILL, 0, words.held_till), (Look.HELD_FAN, 0, words.held_fan),
            (Look.HELD_HOUSE, 0, words.held_house), (Look.PAYING_TILL, 0, words.paying), (Look.CLOSED, 0, words.closed),
            (Look.SOLD, 0, words.sold), (Look.PRINTED, 0, words.printed), (Look.USED, 0, words.used),
            (Look.BLOCKED, 0, words.blocked), (Look.FREE, ACCESSIBLE_FLAG, words.accessible),
            (Look.FREE, COMPANION_FLAG, words.companion), (Look.FREE, RESTRICTED_FLAG, words.restricted),
        )  # fmt: skip
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.space("small"))
        grid.setVerticalSpacing(self._theme.space("hair"))
        for at, (look, flags, text) in enumerate(marks):
            line, column = divmod(at, 2)
            picture = QLabel()
            picture.setPixmap(self._sample(palette, look, 0, flags))
            picture.setAccessibleName(text)
            label = QLabel(text)
            label.setProperty("type", "caption")
            label.setProperty("tone", "muted")
            grid.addWidget(picture, line, 2 * column)
            grid.addWidget(label, line, 2 * column + 1)
        grid.setColumnStretch(3, 1)
        rows.addLayout(grid)
        rows.addStretch(1)

    def _sample(self, palette: MapPalette, look: Look, category: int, flags: int) -> QPixmap:
        """A sprite as a picture, sharp on this screen; a plan without categories shows the sprite of the bed."""
        dpr = self.devicePixelRatioF()
        size = round(SAMPLE_PX * dpr)
        if not palette.categories:
            return QPixmap(size, size)
        words = draw_sprite(palette, look, category, flags, size)
        image = QImage(words.data.cast("B"), size, size, 4 * size, QImage.Format.Format_RGB32)
        picture = QPixmap.fromImage(image)
        picture.setDevicePixelRatio(dpr)
        return picture

    def _on_category_toggled(self) -> None:
        self.categories_chosen.emit(self._chosen())
