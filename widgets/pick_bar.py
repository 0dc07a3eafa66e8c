"""What a clerk reaches for while picking, in one line over the map: how many, best available, where, undo, find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QApplication, QBoxLayout, QButtonGroup, QToolButton, QWidget

from widgets.build import label, row
from widgets.choice_box import ChoiceBox
from widgets.find_box import FindBox
from widgets.places_button import PlacesButton, PlacesChoice
from widgets.theme import Theme

_ICON_PX = 16
_FINE = 4
_DIGIT_PX = 28
_HIGH_PX = 32
_FIND_PX, _LEAST_FIND_PX = 150, 72
_SECTION_PX, _MOST_SECTION_PX = 140, 190
_ONE_SECTION = 2
"""Choices where there is nothing to choose: all sections, and the only one."""
_AROUND_PX = 48


@dataclass(frozen=True, slots=True)
class PickBarWords:
    """What the parts are called, and the keys that do the same."""

    together: str
    together_each: tuple[str, ...]
    """What a screen reader says of each number, from 1."""
    best: str
    next_best: str
    everywhere: str
    where: str
    undo: str
    redo: str
    find: str
    key_best: str
    key_where: str
    key_undo: str
    key_redo: str
    key_find: str
    places: str
    key_places: str


class PickBar(QWidget):
    """Wishes go out as signals; what is shown comes in. In a narrow window the parts that have keys step back."""

    count_chosen = Signal(int)
    best_requested = Signal()
    section_chosen = Signal(int)
    """A section, or -1 for all of them."""
    undo_requested = Signal()
    redo_requested = Signal()
    places_chosen = Signal(int)
    """A kind of places without numbers."""

    def __init__(self, theme: Theme, words: PickBarWords, over: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self._words = words
        self._gap = theme.space("tight")
        self._counts = QButtonGroup(self)
        self.search = FindBox(theme, over, words.find, words.key_find)
        self.best = QToolButton()
        self.rank = label(tone="muted", kind="caption")
        self.where = ChoiceBox(theme)
        self.places = PlacesButton(words.places, words.key_places)
        self.undo = _icon_button(theme, words.undo, words.key_undo, back=True)
        self.redo = _icon_button(theme, words.redo, words.key_redo, back=False)
        self._caption = label(words.together, tone="muted", kind="caption")
        self._may_sell = True
        self._seats = True
        self._build()

    @property
    def counts(self) -> tuple[QToolButton, ...]:
        """The numbers, from 1."""
        return tuple(button for button in self._counts.buttons() if isinstance(button, QToolButton))

    def show_count(self, count: int) -> None:
        """How many seats a click takes."""
        self._counts.button(count).setChecked(True)

    def show_best(self, rank: str) -> None:
        """Which of the best is shown; empty when none is."""
        self.rank.setText(rank)
        self._name_best(self._words.next_best if rank else self._words.best)
        self._fit()

    def show_history(self, *, can_undo: bool, can_redo: bool) -> None:
        """Whether there is anything to take back, or to do again."""
        self.undo.setEnabled(can_undo)
        self.redo.setEnabled(can_redo)

    def show_sections(self, sections: Sequence[tuple[int, str]], chosen: int) -> None:
        """The sections that have seats; `chosen` is -1 for all."""
        self.where.clear()
        self.where.add_choice(self._words.everywhere, "", -1)
        for number, name in sections:
            self.where.add_choice(name, "", number)
        self.choose_section(chosen)
        self._fit()

    def choose_section(self, section_no: int) -> None:
        """Show a section as the chosen one."""
        self.where.setCurrentIndex(max(self.where.findData(section_no), 0))

    def show_places(self, choices: Sequence[PlacesChoice]) -> None:
        """The kinds of places without numbers; none, and the button is gone."""
        self.places.show_choices(choices)
        self._fit()

    def show_seats(self, there: bool) -> None:  # said by what it sets
        """Whether there are seats to be found and ranked, or places without numbers alone."""
        self._seats = there
        self.search.setVisible(there)
        self._fit()

    def set_picking(self, *, may_sell: bool, picks: bool) -> None:
        """Whether this person sells at all, and whether seats may be picked at this step of the sale."""
        self._may_sell = may_sell
        self._fit()
        for button in (*self.counts, self.best, self.places):
            button.setEnabled(picks)
        self.where.setEnabled(picks)
        if not picks:
            self.show_history(can_undo=False, can_redo=False)

    def _build(self) -> None:
        theme, words = self._theme, self._words
        line = row(theme, gap="tight", parent=self)
        line.setContentsMargins(theme.space("small"), theme.space("tight"), theme.space("small"), theme.space("tight"))
        self._add_counts(line)
        line.addSpacing(theme.space("small"))
        self.where.ensurePolished()
        self.where.setFixedWidth(max(_SECTION_PX, min(self.where.width_of(words.everywhere), _MOST_SECTION_PX)))
        self.where.setAccessibleName(words.where)
        self.where.setToolTip(f"{words.where} ({words.key_where})")
        self.best.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for button in (self.best, self.where, self.search):
            button.setProperty("role", "bar")
        for part in (self.best, self.where, self.rank, self.places):
            line.addWidget(part)
        line.addStretch(1)
        for part in (self.undo, self.redo):
            line.addWidget(part)
        line.addSpacing(theme.space("tight"))
        self.search.setMinimumWidth(_LEAST_FIND_PX)
        self.search.setMaximumWidth(_FIND_PX + 60)
        line.addWidget(self.search)
        self.show_best("")
        self._connect()

    def _add_counts(self, line: QBoxLayout) -> None:
        theme, words = self._theme, self._words
        line.addWidget(self._caption)
        line.addSpacing(theme.space("hair"))
        for count, spoken in enumerate(words.together_each, start=1):
            button = QToolButton()
            button.setText(str(count))
            button.setCheckable(True)
            button.setProperty("role", "digit")
            button.setAccessibleName(spoken)
            button.setToolTip(f"{spoken} ({count})")
            button.setFixedWidth(_DIGIT_PX)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self._counts.addButton(button, count)
            line.addWidget(button)
        self._counts.setExclusive(True)

    def _connect(self) -> None:
        self._counts.idClicked.connect(self.count_chosen)
        self.best.clicked.connect(self._on_best_clicked)
        self.where.activated.connect(self._on_where_activated)
        self.places.chosen.connect(self.places_chosen)
        self.undo.clicked.connect(self._on_undo_clicked)
        self.redo.clicked.connect(self._on_redo_clicked)

    def _fit(self) -> None:
        """Show what this person uses, as far as there is room: the least needed goes first."""
        least_first: list[QWidget] = [self._caption, self.where, self.rank, self.redo, self.undo]
        shown: set[QWidget] = {*self.counts, self.best, *least_first} if self._may_sell else set()
        if self.where.count() <= _ONE_SECTION:
            shown.discard(self.where)
        if not self._seats:
            shown -= {self.best, self.where, self.rank}
        if self._may_sell and self.places.choices:
            shown.add(self.places)
        every = [*self.counts, self.best, self.places, *least_first]
        room = self.width() - _FIND_PX - _AROUND_PX
        for part in least_first:
            if sum(_least_width(one) + self._gap for one in every if one in shown) > room:
                shown.discard(part)
        for part in every:
            part.setVisible(part in shown)

    def _name_best(self, name: str) -> None:
        self.best.setText(name)
        self.best.setAccessibleName(name)
        self.best.setToolTip(f"{name} ({self._words.key_best})")

    def _on_best_clicked(self) -> None:
        self.best_requested.emit()

    def _on_where_activated(self, index: int) -> None:
        self.section_chosen.emit(int(self.where.itemData(index)))

    def _on_undo_clicked(self) -> None:
        self.undo_requested.emit()

    def _on_redo_clicked(self) -> None:
        self.redo_requested.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _least_width(part: QWidget) -> int:
    return max(part.minimumWidth(), min(part.sizeHint().width(), part.maximumWidth()))


def _icon_button(theme: Theme, name: str, key: str, *, back: bool) -> QToolButton:
    button = QToolButton()
    icon = QIcon(_arrow(theme.color("text"), back=back))
    icon.addPixmap(_arrow(theme.color("border_strong"), back=back), QIcon.Mode.Disabled)
    button.setIcon(icon)
    button.setIconSize(QSize(_ICON_PX, _ICON_PX))
    button.setAccessibleName(name)
    button.setToolTip(f"{name} ({key})")
    button.setProperty("role", "inline")
    button.setFixedSize(_HIGH_PX, _HIGH_PX)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _arrow(ink: QColor, *, back: bool) -> QPixmap:
    """A bent arrow: back for undo, forth for redo; turned round where lines begin on the right."""
    picture = QPixmap(_ICON_PX * _FINE, _ICON_PX * _FINE)
    picture.setDevicePixelRatio(_FINE)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if back == (QApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft):
        painter.translate(_ICON_PX, 0)
        painter.scale(-1, 1)
    pen = QPen(ink, 1.8)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    path = QPainterPath(QPointF(2.5, 6.0))
    path.lineTo(9.5, 6.0)
    path.arcTo(QRectF(5.5, 6.0, 8.0, 7.5), 90, -180)
    path.lineTo(6.0, 13.5)
    painter.drawPath(path)
    painter.drawPolyline([QPointF(5.8, 2.6), QPointF(2.4, 6.0), QPointF(5.8, 9.4)])
    painter.end()
    return picture
