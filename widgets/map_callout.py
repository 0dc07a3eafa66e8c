"""A word said on the map beside the seats that it is about, with one way out: take what is offered instead."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QToolButton, QWidget

from widgets.async_button import AsyncButton
from widgets.build import column, label, row
from widgets.focus import take_focus
from widgets.seat_map import SeatMapWidget
from widgets.theme import Theme

_WIDTH_PX = 344
_EDGE_PX = 8
_AWAY_PX = 14
_CLOSE_PX = 24


class MapCallout(QFrame):
    """Hidden until told something. It stands beside its seats, follows them, and covers none that matters."""

    taken = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, seat_map: SeatMapWidget, close_words: str) -> None:
        super().__init__(seat_map)
        self._theme = theme
        self._map = seat_map
        self._about: tuple[int, ...] = ()
        self.setProperty("surface", "card")
        self.setLayoutDirection(QApplication.layoutDirection())
        self._title = label(kind="lead", wrap=True)
        self._detail = label(tone="muted", wrap=True)
        self.take = AsyncButton(role="primary")
        self.take.set_calm()
        self.close_button = QToolButton()
        self.close_button.setText("✕")
        self.close_button.setProperty("role", "inline")
        self.close_button.setFixedSize(_CLOSE_PX, _CLOSE_PX)
        self.close_button.setAccessibleName(close_words)
        self.close_button.setToolTip(close_words)
        self._build()
        self.take.action_requested.connect(self._on_take_action_requested)
        self.close_button.clicked.connect(self._on_close_clicked)
        seat_map.view_changed.connect(self._place)
        seat_map.installEventFilter(self)
        self.hide()

    @property
    def title(self) -> str:
        return self._title.text()

    @property
    def detail(self) -> str:
        return self._detail.text()

    def tell(self, seats: tuple[int, ...], title: str, detail: str, action: str, key: str) -> None:
        """Say it beside these seats; an empty `action` offers nothing but to close."""
        self._about = seats
        self._title.setText(title)
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        self.take.set_label(action)
        self.take.set_key_hint(key)
        self.take.set_busy(False)
        self.take.setVisible(bool(action))
        self.setAccessibleName(title)
        self.setAccessibleDescription(detail)
        self.show()
        self.raise_()
        self._place()
        self._map.say(f"{title}. {detail}" if detail else title)

    def clear(self) -> None:
        """Nothing is to be said; the keyboard goes back to the map if it was here."""
        had_keyboard = self.isAncestorOf(QApplication.focusWidget() or QWidget())
        self._about = ()
        self.hide()
        if had_keyboard:
            take_focus(self._map)

    def focus_take(self) -> None:
        """Put the keyboard on the way out, for things that nobody can go on without deciding."""
        take_focus(self.take if not self.take.isHidden() else self.close_button)

    def _build(self) -> None:
        inside = column(self._theme, margin="medium", gap="tight", parent=self)
        head = row(self._theme, gap="small")
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        inside.addLayout(head)
        inside.addWidget(self._detail)
        inside.addSpacing(self._theme.space("tight"))
        inside.addWidget(self.take)

    def _place(self) -> None:
        if self.isHidden() or not self._about:
            return
        width = min(_WIDTH_PX, self._map.width() - 2 * _EDGE_PX)
        self.setFixedWidth(width)
        layout = self.layout()
        # With the frame's own edges, which the style adds around the layout.
        height = layout.totalHeightForWidth(width) if layout is not None and layout.hasHeightForWidth() else -1
        self.resize(width, height if height > 0 else self.sizeHint().height())
        self.move(self._best_place(self.size()))

    def _best_place(self, size: QSize) -> QPoint:
        """Above the seats, below them or beside them: where it covers the fewest seats that matter."""
        area = self._map.rect().adjusted(_EDGE_PX, _EDGE_PX, -_EDGE_PX, -_EDGE_PX)
        seats = [self._map.seat_rect(seat) for seat in self._about]
        around = QRect(seats[0])
        for seat in seats:
            around = around.united(seat)
        middle = around.center()
        wished = (
            QPoint(middle.x() - size.width() // 2, around.top() - _AWAY_PX - size.height()),
            QPoint(middle.x() - size.width() // 2, around.bottom() + _AWAY_PX),
            QPoint(around.right() + _AWAY_PX, middle.y() - size.height() // 2),
            QPoint(around.left() - _AWAY_PX - size.width(), middle.y() - size.height() // 2),
        )
        places = [_clamped(place, size, area) for place in wished]
        marked = [*seats, *(self._map.seat_rect(seat) for seat in self._map.marked_seats)]
        return min(places, key=lambda place: sum(QRect(place, size).intersects(seat) for seat in marked))

    def _on_take_action_requested(self) -> None:
        self.taken.emit()

    def _on_close_clicked(self) -> None:
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._map and event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
            self._place()
        return super().eventFilter(watched, event)


def _clamped(place: QPoint, size: QSize, area: QRect) -> QPoint:
    left = min(max(place.x(), area.left()), max(area.left(), area.right() - size.width()))
    top = min(max(place.y(), area.top()), max(area.top(), area.bottom() - size.height()))
    return QPoint(left, top)
