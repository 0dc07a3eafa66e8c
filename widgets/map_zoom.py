"""Buttons over the map that zoom in, zoom out and show the whole plan, for hands that have no wheel."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QToolButton

from widgets.seat_map import SeatMapWidget
from widgets.theme import Theme

_ICON_PX = 14
_BUTTON_PX = 28
_FINE = 4


@dataclass(frozen=True, slots=True)
class ZoomWords:
    """What the buttons are called; the keys that do the same are shown beside it."""

    zoom_in: str
    zoom_out: str
    fit: str
    key_in: str
    key_out: str
    key_fit: str


class MapZoom(QFrame):
    """Lies in the lower corner of a map, on the side where lines end, and stays there when the map is resized.

    The keyboard stays on the map when a button is clicked; Tab reaches the buttons all the same.
    """

    def __init__(self, theme: Theme, seat_map: SeatMapWidget, words: ZoomWords) -> None:
        super().__init__(seat_map)
        self._map = seat_map
        self._margin = theme.space("medium")
        self.setProperty("surface", "card")
        # The map itself is never mirrored; what lies over it follows the direction of the window.
        self.setLayoutDirection(QApplication.layoutDirection())
        ink = theme.color("text")
        self.zoom_in = self._button(words.zoom_in, words.key_in, _icon("in", ink))
        self.zoom_out = self._button(words.zoom_out, words.key_out, _icon("out", ink))
        self.fit = self._button(words.fit, words.key_fit, _icon("fit", ink))
        inside = QHBoxLayout(self)
        inside.setContentsMargins(*[theme.space("hair")] * 4)
        inside.setSpacing(theme.space("hair"))
        for button in (self.zoom_in, self.zoom_out, self.fit):
            inside.addWidget(button)
        self.zoom_in.clicked.connect(self._on_zoom_in_clicked)
        self.zoom_out.clicked.connect(self._on_zoom_out_clicked)
        self.fit.clicked.connect(self._on_fit_clicked)
        seat_map.installEventFilter(self)
        self._place()

    def _button(self, name: str, key: str, icon: QIcon) -> QToolButton:
        button = QToolButton()
        button.setIcon(icon)
        button.setIconSize(QSize(_ICON_PX, _ICON_PX))
        button.setAccessibleName(name)
        button.setToolTip(f"{name} ({key})")
        button.setProperty("role", "inline")
        button.setFixedSize(_BUTTON_PX, _BUTTON_PX)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        return button

    def _place(self) -> None:
        size = self.sizeHint()
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = self._margin if mirrored else self._map.width() - size.width() - self._margin
        self.setGeometry(left, self._map.height() - size.height() - self._margin, size.width(), size.height())

    def _on_zoom_in_clicked(self) -> None:
        self._map.zoom_by_steps(1)

    def _on_zoom_out_clicked(self) -> None:
        self._map.zoom_by_steps(-1)

    def _on_fit_clicked(self) -> None:
        self._map.fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._map and event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
            self._place()
        return super().eventFilter(watched, event)


def _icon(kind: str, ink: QColor) -> QIcon:
    """Drawn, so that no font decides how it looks; fine enough for screens of four times the density."""
    picture = QPixmap(_ICON_PX * _FINE, _ICON_PX * _FINE)
    picture.setDevicePixelRatio(_FINE)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(ink, 2)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    half = _ICON_PX / 2
    if kind == "fit":
        _draw_corners(painter, QRectF(1, 1, _ICON_PX - 2, _ICON_PX - 2))
    else:
        painter.drawLine(QPointF(1, half), QPointF(_ICON_PX - 1, half))
        if kind == "in":
            painter.drawLine(QPointF(half, 1), QPointF(half, _ICON_PX - 1))
    painter.end()
    return QIcon(picture)


def _draw_corners(painter: QPainter, box: QRectF) -> None:
    """The four corners of a frame."""
    reach = box.width() / 3
    for x, inwards_x in ((box.left(), reach), (box.right(), -reach)):
        for y, inwards_y in ((box.top(), reach), (box.bottom(), -reach)):
            painter.drawPolyline([QPointF(x + inwards_x, y), QPointF(x, y), QPointF(x, y + inwards_y)])
