"""What the map's colours and rings mean; a click on a category puts the other categories back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from widgets.flow_layout import FlowLayout
from widgets.seat_map.heat import Heat, heat_brush
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.patterns import paint_pattern
from widgets.seat_map.seat_bits import (
    ACCESSIBLE_FLAG,
    COMPANION_FLAG,
    LOOK_OF_STATE,
    RESTRICTED_FLAG,
    HouseKind,
    Look,
    house_kind_of,
)
from widgets.seat_map.sprites import outline, paint_seat
from widgets.seat_map.texts import HOUSE_LETTERS
from widgets.theme import Theme

_MARK_PX = 14
_GAP_PX = 6
_PAD_PX = 8
_FLAGS = {"accessible": ACCESSIBLE_FLAG, "companion": COMPANION_FLAG, "restricted": RESTRICTED_FLAG}
"""Shapes that a seat has by nature; they are drawn by the map's own outline."""
_HOUSE_LOOKS = tuple(look for look in Look if house_kind_of(look))
_LOOKS = {
    "mine": Look.MINE, "till": Look.HELD_TILL, "fan": Look.HELD_FAN, "house": Look.HELD_HOUSE, "sold": Look.SOLD,
    "printed": Look.PRINTED, "paying": Look.PAYING_FAN, "used": Look.USED, "blocked": Look.BLOCKED,
    **{look.name: look for look in _HOUSE_LOOKS},
}  # fmt: skip
"""How a seat stands; drawn by the map's own strokes."""
_HEATS = {"few": Heat.FEW, "sold_out": Heat.NONE}
"""What is left in a section seen from afar."""
_SOMETIMES = {
    "paying": tuple(look for look in Look if Look.PAYING <= look <= Look.PAYING_HOUSE),
    "printed": (Look.PRINTED,), "used": (Look.USED,),
}  # fmt: skip
"""How seats stand on some evenings only; explained while a seat does."""
_MOST_LINES = 4
"""A legend that wants more lines says the house's kinds in tool tips: the map needs the room."""


@dataclass(frozen=True, slots=True)
class LegendCategory:
    """A price category: `color` is `#RRGGBB`, empty for the theme's colour of `category_no`."""

    category_no: int
    color: str
    name: str
    prices: str


@dataclass(frozen=True, slots=True)
class LegendWords:
    """What the rings and marks mean, in the person's language."""

    mine: str
    till: str
    fan: str
    house: str
    sold: str
    blocked: str
    accessible: str
    companion: str
    restricted: str
    printed: str = ""
    few: str = ""
    sold_out: str = ""
    house_kinds: tuple[str, ...] = ()
    """For whom the house keeps seats, by `HouseKind`; without them these seats are explained as the house's alone."""
    house_letters: tuple[str, ...] = HOUSE_LETTERS
    paying: str = ""
    used: str = ""


class MapLegend(QWidget):
    """`categories_dimmed` carries the categories to put back, as a list of numbers; an empty one shows all."""

    categories_dimmed = Signal(object)

    def __init__(self, theme: Theme, words: LegendWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: list[_CategoryChip] = []
        kept = [(look.name, words.house_kinds[house_kind_of(look)]) for look in _HOUSE_LOOKS if words.house_kinds]
        self._marks = [
            _Mark(theme, kind, text, words.house_letters)
            for kind, text in (
                ("few", words.few), ("sold_out", words.sold_out),
                ("mine", words.mine), ("till", words.till), ("fan", words.fan), ("house", words.house), *kept,
                ("paying", words.paying), ("sold", words.sold), ("printed", words.printed), ("used", words.used),
                ("blocked", words.blocked),
                ("accessible", words.accessible),
                ("companion", words.companion), ("restricted", words.restricted),
            )
        ]  # fmt: skip
        self._flow = FlowLayout(self, theme.space("tight"))
        self._flow.setContentsMargins(*[theme.space("small")] * 4)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        for mark in self._marks:
            self._flow.addWidget(mark)
        self._sometimes: frozenset[str] = frozenset()
        self._worded = True
        self._far = self._keeps_room = False
        self._flags = 0
        self._seats = True
        self._house_kinds: frozenset[int] = frozenset()
        self._show_marks()

    def show_house_kinds(self, kinds: Iterable[int]) -> None:
        """Explain the letters of these kinds (`HouseKind`) and of no other."""
        wanted = frozenset(int(kind) for kind in kinds)
        if wanted != self._house_kinds:
            self._house_kinds = wanted
            self._show_marks()

    def show_flags(self, flags: int) -> None:
        """Explain the shapes of these flags (of the plan's seats, or-ed) and of no other."""
        self._flags = flags
        self._show_marks()

    def show_seats(self, there: bool) -> None:  # said by what it sets
        """Whether the plan has seats at all: nothing explains how a seat stands where there is none."""
        if there != self._seats:
            self._seats = there
            self._show_marks()

    def show_states(self, states: npt.NDArray[np.uint8]) -> None:
        """Explain a mark that not every evening has when one of these state bytes shows it."""
        there = set(LOOK_OF_STATE[np.flatnonzero(np.bincount(states, minlength=1))].tolist())
        sometimes = frozenset(kind for kind, looks in _SOMETIMES.items() if there.intersection(looks))
        if sometimes != self._sometimes:
            self._sometimes = sometimes
            self._show_marks()

    def show_far(self, far: bool, *, keeps_room: bool = False) -> None:  # said by what it sets
        """Explain what a map seen from afar shows of whole sections, or how single seats stand.

        `keeps_room`: be as high as if single seats were explained too.
        """
        if (far, keeps_room) != (self._far, self._keeps_room):
            self._far, self._keeps_room = far, keeps_room
            self._show_marks()

    @property
    def is_far(self) -> bool:
        """Whether whole sections are explained, and not single seats."""
        return self._far

    @property
    def keeps_room(self) -> bool:
        """Whether what is not explained from afar keeps its room."""
        return self._keeps_room

    def show_marks(self, worded: bool) -> None:
        """Whether words stand beside rings and marks; in a low window they are in the marks' tool tips."""
        self._worded = worded
        self._settle_words()

    @property
    def explained(self) -> tuple[str, ...]:
        """The rings, marks and shapes that are explained now, in words."""
        return tuple(mark.accessibleName() for mark in self._marks if not mark.isHidden())

    def _show_marks(self) -> None:
        for mark in self._marks:
            mark.keep_room(self._keeps_room and self._explains(mark, far=False))
            mark.setVisible(self._explains(mark, far=self._far))
        self._settle_words()

    def _settle_words(self) -> None:
        """Words beside all marks, if they are wanted, or beside all but the house's kinds where that is too much."""
        for mark in self._marks:
            mark.set_worded(self._worded)
        self._flow.invalidate()
        line = QFontMetrics(self._theme.font("caption")).height() + _PAD_PX + self._theme.space("tight")
        if self._worded and self.width() and self._flow.heightForWidth(self.width()) > (_MOST_LINES + 1) * line:
            for mark in self._marks:
                mark.set_worded(not mark.house_kind)
            self._flow.invalidate()
        self.updateGeometry()

    def _explains(self, mark: _Mark, *, far: bool) -> bool:
        if not self._seats:
            return False
        if mark.kind in _HEATS or far:
            return far and mark.kind in _HEATS
        if mark.house_kind:
            return mark.house_kind in self._house_kinds
        if mark.flag:
            return bool(mark.flag & self._flags)
        return mark.kind not in _SOMETIMES or mark.kind in self._sometimes

    @property
    def chips(self) -> tuple[_CategoryChip, ...]:
        """The categories' buttons."""
        return tuple(self._chips)

    @property
    def chosen(self) -> tuple[int, ...]:
        """Categories that are brought forward; none: all are shown alike."""
        return tuple(chip.category_no for chip in self._chips if chip.isChecked())

    def choose(self, categories: tuple[int, ...]) -> None:
        """Bring exactly these categories forward, as far as the plan has them."""
        for chip in self._chips:
            chip.blockSignals(True)
            chip.setChecked(chip.category_no in categories)
            chip.blockSignals(False)
            chip.update()
        self._on_chip_toggled()

    def show_categories(self, categories: tuple[LegendCategory, ...]) -> None:
        """Name the categories of the plan that is shown; the choice among them stays."""
        chosen = self.chosen
        for chip in self._chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        for mark in self._marks:
            self._flow.removeWidget(mark)
        self._chips = []
        for category in categories:
            chip = _CategoryChip(self._theme, category)
            chip.toggled.connect(self._on_chip_toggled)
            self._chips.append(chip)
            self._flow.addWidget(chip)
        for mark in self._marks:
            self._flow.addWidget(mark)
        self.choose(chosen)
        self._settle_words()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle_words()

    def _on_chip_toggled(self) -> None:
        chosen = self.chosen
        others = [chip.category_no for chip in self._chips if chip.category_no not in chosen]
        self.categories_dimmed.emit(others if chosen else [])


class _CategoryChip(QAbstractButton):
    """A category: swatch, name, prices."""

    def __init__(self, theme: Theme, category: LegendCategory) -> None:
        super().__init__()
        self._theme = theme
        self.category_no = category.category_no
        self._swatch = QColor(category.color) if category.color else theme.category_color(category.category_no)
        self._name = category.name
        self._prices = category.prices
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{category.name}, {category.prices}")

    def sizeHint(self) -> QSize:
        name = QFontMetrics(self._theme.font("caption", bold=True)).horizontalAdvance(self._name)
        metrics = QFontMetrics(self._theme.font("caption"))
        prices = metrics.horizontalAdvance(self._prices)
        return QSize(2 * _PAD_PX + _MARK_PX + 2 * _GAP_PX + name + prices, metrics.height() + _PAD_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme, painter = self._theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        pressed = self.isChecked() or self.isDown()
        painter.setPen(QPen(theme.color("focus"), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        hovered = self.underMouse()
        if pressed or hovered or self.hasFocus():
            painter.setBrush(theme.color("accent_soft" if pressed else "surface_sunken"))
            painter.drawRoundedRect(box, theme.radii["small"], theme.radii["small"])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._swatch)
        line = _Line(self, painter)
        self._paint_swatch(painter, line.box(_MARK_PX).adjusted(1, 1, -1, -1))
        line.text(self._name, theme.font("caption", bold=True), theme.color("text"))
        line.text(self._prices, theme.font("caption"), theme.color("text_muted"))
        painter.end()

    def _paint_swatch(self, painter: QPainter, box: QRectF) -> None:
        painter.save()
        painter.translate(box.topLeft())
        body = outline(box.width(), 0.0, 0)
        painter.drawPath(body)
        if self._theme.patterned:
            tone = MapPalette.without_plan(self._theme).pattern_tone(self._swatch)
            paint_pattern(painter, body, self.category_no, tone, box.width())
        painter.restore()


class _Mark(QWidget):
    """A ring or mark of the map, and what it means."""

    def __init__(self, theme: Theme, kind: str, text: str, letters: tuple[str, ...]) -> None:
        super().__init__()
        self._letters = letters
        self._theme = theme
        self.kind = kind
        self.flag = _FLAGS.get(kind, 0)
        self.house_kind = house_kind_of(_LOOKS[kind]) if kind in _LOOKS else HouseKind.UNKNOWN
        self._text = text
        self._worded = True
        self.setAccessibleName(text)

    def keep_room(self, keep: bool) -> None:  # said by what it sets
        """Whether the mark takes its room while it is hidden."""
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(keep)
        self.setSizePolicy(policy)

    def set_worded(self, worded: bool) -> None:
        """Whether the words stand beside the mark or in its tool tip."""
        self._worded = worded
        self.setToolTip("" if worded else self._text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("caption"))
        if not self._worded:
            return QSize(_PAD_PX + _MARK_PX, metrics.height() + _PAD_PX)
        return QSize(
            2 * _PAD_PX + _MARK_PX + _GAP_PX + metrics.horizontalAdvance(self._text), metrics.height() + _PAD_PX
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = _Line(self, painter, _PAD_PX if self._worded else _PAD_PX / 2)
        self._paint_mark(painter, line.box(_MARK_PX))
        if self._worded:
            line.text(self._text, self._theme.font("caption"), self._theme.color("text_muted"))
        painter.end()

    def _paint_mark(self, painter: QPainter, box: QRectF) -> None:
        theme = self._theme
        painter.save()
        painter.translate(box.topLeft())
        if self.kind in _HEATS:
            palette = MapPalette.without_plan(theme)
            painter.fillRect(QRectF(0, 0, box.width(), box.height()), palette.bed)
            painter.fillRect(QRectF(0, 0, box.width(), box.height()), heat_brush(palette, _HEATS[self.kind], 1.0))
        elif self.flag:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("text_muted"))
            painter.drawPath(outline(box.width(), 0.0, self.flag))
        else:
            paint_seat(
                painter, MapPalette.without_plan(theme, self._letters), _LOOKS[self.kind], 0, 0, round(box.width())
            )
        painter.restore()


class _Line:
    """Draws things one after the other, in the widget's direction of writing."""

    def __init__(self, widget: QWidget, painter: QPainter, start_px: float = _PAD_PX) -> None:
        self._widget = widget
        self._painter = painter
        self._at = float(start_px)

    def box(self, size: int) -> QRectF:
        """A square for a mark."""
        place = QPointF(self._left(size), (self._widget.height() - size) / 2)
        self._at += size + _GAP_PX
        return QRectF(place.x(), place.y(), size, size)

    def text(self, text: str, font: QFont, colour: QColor) -> None:
        """A word."""
        self._painter.setFont(font)
        self._painter.setPen(colour)
        width = self._painter.fontMetrics().horizontalAdvance(text)
        area = QRectF(self._left(width), 0, width + 1, self._widget.height())
        self._painter.drawText(
            area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute, text
        )
        self._at += width + _GAP_PX

    def _left(self, width: float) -> float:
        return self._widget.width() - self._at - width if self._widget.isRightToLeft() else self._at
