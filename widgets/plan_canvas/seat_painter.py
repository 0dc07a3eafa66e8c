"""Draws rows: tables, seats with their marks and numbers, labels, who sits beside whom, what is chosen or wrong.

Each look of a seat is drawn once into a sheet, then all seats in one call: a hall of 40,000 seats takes some
milliseconds instead of a third of a second.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen, QPixmap

from widgets.plan_canvas.scene import CanvasRow, CanvasScene, CanvasSeat, CanvasTable, Chosen, Floats, Ints, look_of
from widgets.plan_canvas.view import CanvasView
from widgets.seat_map.glyphs import FRAGMENT_FIELDS, draw_fragments
from widgets.theme import Theme

_NUMBERS_FROM_PX: Final = 8.0
_LABELS_FROM_PX: Final = 4.0
_LEAST_RADIUS_PX: Final = 1.5
_RING_PX: Final = 6.5
"""How far rings of chosen and wrong seats reach beyond the seat."""
_IS_CHOSEN: Final = 1
_IS_WRONG: Final = 2
_RINGS: Final = 4
"""So many combinations of rings there are."""


class SeatPainter:
    """Paints the rows of one scene through one view."""

    def __init__(
        self, painter: QPainter, theme: Theme, scene: CanvasScene, view: CanvasView, chosen: Chosen, ratio: float
    ) -> None:
        self._painter = painter
        self._theme = theme
        self._scene = scene
        self._view = view
        self._chosen = chosen
        self._ratio = ratio
        self._radius = max(scene.radius * view.scale, _LEAST_RADIUS_PX)

    def paint(self, window: QRectF) -> None:
        """Every row that is in the window (plan units)."""
        rows = [row for row in self._scene.rows if _is_seen(row, window)]
        for row in rows:
            if row.table is not None:
                self._paint_table(row.table, is_chosen=row.key in self._chosen.rows)
        if self._scene.aisles is not None:
            for row in rows:
                self._paint_neighbours(row, self._scene.aisles.get(row.key, ()))
        self._paint_seats(rows)
        if self._radius >= _NUMBERS_FROM_PX:
            self._paint_numbers(rows, window)
        for seat in self._scene.ghosts:
            self._paint_ghost(seat)
        if self._scene.radius * self._view.scale >= _LABELS_FROM_PX:
            for row in rows:
                if row.label:
                    self._paint_row_label(row)

    # ------------------------------------------------------------ seats

    def _paint_seats(self, rows: list[CanvasRow]) -> None:
        rows = [row for row in rows if row.seats]
        if not rows:
            return
        numbers = np.concatenate([row.looks * _RINGS + self._rings_of(row) for row in rows])
        looks, which = np.unique(numbers, return_inverse=True)
        at = np.concatenate([row.at for row in rows])
        cell = 2 * math.ceil((self._radius + _RING_PX) * self._ratio)
        sheet = QPixmap(cell * len(looks), cell)
        sheet.fill(Qt.GlobalColor.transparent)
        painter = QPainter(sheet)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self._ratio, self._ratio)
        for place, number in enumerate(looks):
            color, marks = look_of(int(number) // _RINGS)
            middle = QPointF((place + 0.5) * cell / self._ratio, cell / 2 / self._ratio)
            _SeatLook(painter, self._theme, middle, self._radius).paint(color, marks, int(number) % _RINGS)
        painter.end()
        draw_fragments(self._painter, self._fragments(at, which.reshape(-1), cell), sheet)

    def _rings_of(self, row: CanvasRow) -> Ints:
        """For each seat of a row whether it has a ring, and which."""
        rings = np.zeros(len(row.seats), np.int64)
        rings[self._chosen.places_in(row)] |= _IS_CHOSEN
        if self._scene.wrong:
            rings[[place for place, seat in enumerate(row.seats) if seat.key in self._scene.wrong]] |= _IS_WRONG
        return rings

    def _fragments(self, at: Floats, which: Ints, cell: int) -> Floats:
        """One piece of the sheet for each seat, its middle on a whole pixel, so that it stays sharp."""
        fragments = np.zeros((len(at), FRAGMENT_FIELDS))
        corner = np.array((self._view.left, self._view.top))
        fragments[:, :2] = np.round((at - corner) * self._view.scale * self._ratio) / self._ratio
        fragments[:, 2] = which * cell
        fragments[:, 4] = fragments[:, 5] = cell
        fragments[:, 6] = fragments[:, 7] = 1 / self._ratio
        fragments[:, 9] = 1.0
        return fragments

    def _paint_numbers(self, rows: list[CanvasRow], window: QRectF) -> None:
        painter, radius = self._painter, self._radius
        fonts = {}
        for share in (0.95, 0.7):
            fonts[share] = QFont(self._theme.font("caption"))
            fonts[share].setPixelSize(max(6, round(radius * share)))
        inks: dict[str, QColor] = {}
        for row in rows:
            for seat in row.seats:
                if not seat.number or not window.contains(QPointF(seat.x, seat.y)):
                    continue
                painter.setFont(fonts[0.95 if len(seat.number) < 3 else 0.7])
                if seat.color not in inks:
                    inks[seat.color] = ink_on(fill_of(seat.color, self._theme), self._theme)
                painter.setPen(inks[seat.color])
                middle = self._view.to_px(seat.x, seat.y)
                box = QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, seat.number)

    def _paint_ghost(self, seat: CanvasSeat) -> None:
        """Where a seat was that is gone: dashed and crossed out."""
        painter, middle = self._painter, self._view.to_px(seat.x, seat.y)
        radius = max(self._radius, 5.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.map_color("lost"), 2, Qt.PenStyle.DashLine))
        painter.drawEllipse(middle, radius, radius)
        reach = radius * 0.5
        painter.setPen(QPen(self._theme.map_color("lost"), 2))
        painter.drawLine(middle + QPointF(-reach, -reach), middle + QPointF(reach, reach))
        painter.drawLine(middle + QPointF(-reach, reach), middle + QPointF(reach, -reach))

    # ------------------------------------------------------------ rows

    def _paint_table(self, table: CanvasTable, *, is_chosen: bool) -> None:
        painter, scale = self._painter, self._view.scale
        painter.save()
        painter.translate(self._view.to_px(table.x, table.y))
        painter.rotate(table.rotation)
        width, height = table.width * scale, table.height * scale
        box = QRectF(-width / 2, -height / 2, width, height)
        edge = QPen(self._theme.color("accent"), 2) if is_chosen else QPen(self._theme.map_color("bed_edge"), 1)
        painter.setPen(edge)
        painter.setBrush(self._theme.map_color("area"))
        if table.shape == "circle":
            painter.drawEllipse(box)
        else:
            painter.drawRoundedRect(box, 4, 4)
        painter.restore()

    def _paint_neighbours(self, row: CanvasRow, aisles: tuple[int, ...]) -> None:
        """A line from each seat to the one beside it; where an aisle is, a short bar across."""
        painter = self._painter
        places = [self._view.to_px(seat.x, seat.y) for seat in row.seats]
        lines = [QLineF(places[n - 1], places[n]) for n in range(1, len(places)) if n not in aisles]
        painter.setPen(QPen(self._theme.color("accent"), max(self._radius * 0.45, 1.5)))
        painter.drawLines(lines)
        painter.setPen(QPen(self._theme.map_color("lost"), 2))
        for place in aisles:
            gap = QLineF(places[place - 1], places[place])
            if gap.length() > 0:
                across = gap.normalVector().unitVector()
                step = QPointF(across.dx(), across.dy()) * (self._radius + 3)
                painter.drawLine(gap.center() - step, gap.center() + step)

    def _paint_row_label(self, row: CanvasRow) -> None:
        """At the ends that the plan names, in the middle of a table; other rows show it at their start."""
        painter = self._painter
        font = QFont(self._theme.font("caption", bold=True))
        font.setPixelSize(min(max(round(self._scene.radius * self._view.scale * 1.1), 8), 20))
        painter.setFont(font)
        is_chosen = row.key in self._chosen.rows
        painter.setPen(self._theme.color("accent_text") if is_chosen else self._theme.map_color("label_muted"))
        if row.table is not None:
            self._label_table(row, row.table)
            return
        if not row.seats:
            return
        wanted = row.label_position or "start"
        if wanted in {"start", "both"}:
            self._label_at(row, row.seats[0], row.seats[1] if len(row.seats) > 1 else None)
        if wanted in {"end", "both"}:
            self._label_at(row, row.seats[-1], row.seats[-2] if len(row.seats) > 1 else None)

    def _label_table(self, row: CanvasRow, table: CanvasTable) -> None:
        """In the middle; a booth's has its seat there, so its name stands above that."""
        middle = self._view.to_px(table.x, table.y)
        is_booth = len(row.seats) == 1 and (row.seats[0].x, row.seats[0].y) == (table.x, table.y)
        lift = self._radius + 8 if is_booth else 0.0
        box = QRectF(middle.x() - 60, middle.y() - 14 - lift, 120, 28)
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, row.label)

    def _label_at(self, row: CanvasRow, end: CanvasSeat, inner: CanvasSeat | None) -> None:
        away = QPointF(-1.0, 0.0)
        if inner is not None:
            length = math.hypot(end.x - inner.x, end.y - inner.y) or 1.0
            away = QPointF((end.x - inner.x) / length, (end.y - inner.y) / length)
        half = self._painter.fontMetrics().horizontalAdvance(row.label) / 2 + 4
        reach = self._scene.radius * self._view.scale + 6 + abs(away.x()) * half + abs(away.y()) * 8
        middle = self._view.to_px(end.x, end.y) + away * reach
        room = QRectF(middle.x() - half - 20, middle.y() - 14, 2 * half + 40, 28)
        self._painter.drawText(room, Qt.AlignmentFlag.AlignCenter, row.label)


class _SeatLook:
    """Draws one look of a seat."""

    def __init__(self, painter: QPainter, theme: Theme, middle: QPointF, radius: float) -> None:
        self._painter, self._theme, self._middle, self._radius = painter, theme, middle, radius

    def paint(self, color: str, marks: int, rings: int) -> None:
        """The seat, its marks, its rings."""
        theme, painter, middle, radius = self._theme, self._painter, self._middle, self._radius
        has_color = QColor.isValidColorName(color)
        fill = fill_of(color, theme)
        painter.setBrush(QBrush(fill))
        edge = QPen(theme.map_color("sold_ink"), 1.2, Qt.PenStyle.SolidLine if has_color else Qt.PenStyle.DashLine)
        if has_color and theme.is_dark:
            edge = QPen(theme.map_color("label_muted"), 0.9)  # dark categories would sink into a dark ground
        painter.setPen(Qt.PenStyle.NoPen if has_color and not theme.is_dark else edge)
        if marks & 1:
            painter.drawRoundedRect(QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius), 3, 3)
        else:
            painter.drawEllipse(middle, radius, radius)
        self._paint_marks(marks, ink_on(fill, theme))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if rings & _IS_CHOSEN:
            painter.setPen(QPen(theme.map_color("mine_halo"), 4))
            painter.drawEllipse(middle, radius + 1.5, radius + 1.5)
            painter.setPen(QPen(theme.map_color("mine"), 1.5))
            painter.drawEllipse(middle, radius + 1.5, radius + 1.5)
        if rings & _IS_WRONG:
            painter.setPen(QPen(theme.map_color("lost"), 2, Qt.PenStyle.DotLine))
            painter.drawEllipse(middle, radius + 4.5, radius + 4.5)

    def _paint_marks(self, marks: int, ink: QColor) -> None:
        """Accessible: a square with a bar at the foot; companion: a ring inside; restricted view: a slash."""
        painter, middle, radius = self._painter, self._middle, self._radius
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ink, max(radius / 7, 1.0)))
        if marks & 1:
            foot = middle.y() + radius * 0.72
            painter.drawLine(QPointF(middle.x() - radius * 0.6, foot), QPointF(middle.x() + radius * 0.6, foot))
        if marks & 2:
            painter.drawEllipse(middle, radius * 0.8, radius * 0.8)
        if marks & 4:
            reach = radius * 0.72
            painter.drawLine(middle + QPointF(-reach, reach), middle + QPointF(reach, -reach))


def _is_seen(row: CanvasRow, window: QRectF) -> bool:
    left, top, right, bottom = row.box
    return left <= window.right() and right >= window.left() and top <= window.bottom() and bottom >= window.top()


def fill_of(color: str, theme: Theme) -> QColor:
    """The colour of a seat or area; that of the ground without one."""
    return QColor(color) if QColor.isValidColorName(color) else theme.map_color("bed")


def ink_on(fill: QColor, theme: Theme) -> QColor:
    """The ink that can be read on a colour."""
    light = 0.299 * fill.redF() + 0.587 * fill.greenF() + 0.114 * fill.blueF()
    return theme.map_color("seat_dark_ink" if light > 0.56 else "seat_light_ink")
