"""The whole plan, small, with the part in view framed: where one is, and a drag away from anywhere else.

It comes up once the map is zoomed in, in the first corner where it covers no seat that matters (picked, offered, under
the keyboard), and stays away when there is none. Its picture is drawn by a renderer of its own over the map's states,
at most once a second while seats change.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from widgets.seat_map.camera import Camera
from widgets.seat_map.marked_view import MarkedSeatMap
from widgets.seat_map.renderer import Renderer, Stats
from widgets.seat_map.scene import Scene
from widgets.theme import Theme

SHOWN_FROM_ZOOM = 1.3
"""Of the scale at which the whole plan is in view."""
REFRESH_MS = 1000
_MOST_PX = QSize(208, 148)
_SHARE = 0.28  # of the map's width and height
_LEAST_MAP_PX = QSize(420, 320)
_CLEAR_PX = 6
_UNDER_PLACE_PX = 36  # below the name of the place in view


class MiniMap(QWidget):
    """Lies over a map. `set_wished` is the person's word; it shows itself only while it has something to say."""

    def __init__(self, theme: Theme, seat_map: MarkedSeatMap, name: str) -> None:
        super().__init__(seat_map)
        self._theme = theme
        self._map = seat_map
        self._wished = True
        self._scene: Scene | None = None
        self._camera = Camera()
        self._renderer: Renderer | None = None
        self._picture = QPixmap()
        self._corner = -1
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(REFRESH_MS)
        self._refresh.timeout.connect(self._on_refresh_timeout)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        seat_map.view_changed.connect(self._on_view_changed)
        seat_map.seats_changed.connect(self._on_seats_changed)
        seat_map.marks_changed.connect(self._on_view_changed)
        seat_map.installEventFilter(self)

    @property
    def wished(self) -> bool:
        """Whether the person wants it at all."""
        return self._wished

    def set_wished(self, wished: bool) -> None:  # said by what it sets
        """Show it when there is something to show, or never."""
        self._wished = wished
        self._settle()

    @property
    def frame(self) -> QRectF:
        """The part in view, px of this widget."""
        view = self._map.camera.view()
        left, top = self._camera.to_px(view.left, view.top)
        right, bottom = self._camera.to_px(view.right, view.bottom)
        box = QRectF(QPointF(left, top), QPointF(right, bottom))
        return box.intersected(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5))

    def _settle(self) -> None:
        """Show or hide, and place."""
        place = self._place() if self._wished and self._says_something() else None
        if place is None:
            self._corner = -1
            self.hide()
            return
        resized = place.size() != self.size()
        self.setGeometry(place)
        scene = self._map.scene
        if resized or self._scene is not scene or self._camera.bounds != scene.bounds or self._picture.isNull():
            self._draw()
        self.show()
        self.update()

    def _says_something(self) -> bool:
        seat_map, camera = self._map, self._map.camera
        large = seat_map.width() >= _LEAST_MAP_PX.width() and seat_map.height() >= _LEAST_MAP_PX.height()
        return large and bool(seat_map.plan.seat_count) and camera.scale > camera.fit_scale * SHOWN_FROM_ZOOM

    def _place(self) -> QRect | None:
        """The first corner where it covers no marked seat, the one where it is before others."""
        margin = self._theme.space("medium")
        size, area = self._fitting_size(), self._map.rect().adjusted(margin, margin, -margin, -margin)
        mirrored = QApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left, right = area.left(), area.right() - size.width() + 1
        low, high = area.bottom() - size.height() + 1, area.top()
        under_place = high + (_UNDER_PLACE_PX if self._map.place_shown else 0)
        free_of_buttons = right if mirrored else left  # the zoom buttons stand in the other lower corner
        corners = [QRect(QPoint(*at), size) for at in ((free_of_buttons, low), (right, high), (left, under_place))]
        kept = [self._corner] if 0 <= self._corner < len(corners) else []
        marked = [self._map.seat_rect(seat) for seat in self._map.marked_seats]
        for corner in (*kept, *range(len(corners))):
            clear = corners[corner].adjusted(-_CLEAR_PX, -_CLEAR_PX, _CLEAR_PX, _CLEAR_PX)
            if not any(clear.intersects(seat) for seat in marked):
                self._corner = corner
                return QRect(corners[corner])
        return None

    def _fitting_size(self) -> QSize:
        bounds = self._map.camera.bounds
        most = QSize(
            min(_MOST_PX.width(), int(self._map.width() * _SHARE)),
            min(_MOST_PX.height(), int(self._map.height() * _SHARE)),
        )
        shape = QSize(max(1, round(bounds.width)), max(1, round(bounds.height)))
        return shape.scaled(most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(64, 48))

    def _draw(self) -> None:
        """The seats as they stand, once."""
        scene, dpr = self._map.scene, self.devicePixelRatioF()
        if self._renderer is None or scene is not self._scene:
            self._scene = scene
            self._renderer = Renderer(scene.plan, scene.grid, scene.states, scene.beds, self._theme, Stats())
        self._camera.resize(self.width(), self.height())
        self._camera.set_plan(scene.bounds, scene.seat_diameter)
        self._renderer.resize(math.ceil(self.width() * dpr), math.ceil(self.height() * dpr), dpr)
        self._renderer.full(self._camera)
        # A copy: a pixmap that shares the canvas' memory would make the next drawing go where nobody looks.
        self._picture = QPixmap.fromImage(self._renderer.canvas.image.copy())
        self._picture.setDevicePixelRatio(dpr)

    def _look(self, at: QPointF) -> None:
        self._map.look_at(*self._camera.to_plan(at.x(), at.y()))

    def _on_view_changed(self) -> None:
        self._settle()

    def _on_seats_changed(self) -> None:
        if self.isVisible() and not self._refresh.isActive():
            self._refresh.start()

    def _on_refresh_timeout(self) -> None:
        if self.isVisible():
            self._draw()
            self.update()

    # ------------------------------------------------------------------ Qt

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.drawPixmap(QPointF(0, 0), self._picture)
        frame = self.frame
        veil = self._theme.map_color("ground")
        veil.setAlpha(120)
        for outside in _around(QRectF(self.rect()), frame):
            painter.fillRect(outside, veil)
        painter.setPen(QPen(self._theme.color("accent"), 2.0))
        painter.drawRect(frame)
        painter.setPen(QPen(self._theme.color("border_strong"), 1.0))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._look(event.position())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._look(event.position())
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._map and event.type() in {QEvent.Type.Resize, QEvent.Type.Show}:
            self._settle()
        return super().eventFilter(watched, event)


def _around(whole: QRectF, inside: QRectF) -> tuple[QRectF, ...]:
    """The four rectangles around one in another."""
    return (
        QRectF(whole.left(), whole.top(), whole.width(), inside.top() - whole.top()),
        QRectF(whole.left(), inside.bottom(), whole.width(), whole.bottom() - inside.bottom()),
        QRectF(whole.left(), inside.top(), inside.left() - whole.left(), inside.height()),
        QRectF(inside.right(), inside.top(), whole.right() - inside.right(), inside.height()),
    )
