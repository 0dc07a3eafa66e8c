"""The live chart on paper: the map as it stands now, what its colours mean, of which event and of what time.

One page for each floor. A page is drawn in the interface's thread, in slices, because names are made of pixmaps and the
legend is a widget; what comes of it, one picture and recorded words, may be put on paper by any thread. Lengths are
logical px of 1/96 inch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QPicture, QRegion
from PySide6.QtWidgets import QApplication, QWidget

from widgets.map_legend import LegendCategory, LegendWords, MapLegend
from widgets.seat_map import SeatMapPlan, SeatMapTexts
from widgets.seat_map.camera import Camera
from widgets.seat_map.floors import floor_count, lay_apart
from widgets.seat_map.renderer import Level, Stats
from widgets.seat_map.scene import Scene
from widgets.theme import Theme

PX_PER_INCH = 96.0
_GAP_PX = 10.0
_RULE_PX = 1.0
_FINER = 1.5
_STRIP_PX = 64
_NO_SEATS: npt.NDArray[np.int64] = np.empty(0, np.int64)
_NO_KINDS: npt.NDArray[np.uint8] = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What is printed. `states` are the staff bytes by seat number; `title`, `lines` and `stamp` are whole texts.

    `page_of` writes which page of how many this is; `house_kinds` are seats that the house keeps back and their kinds.
    """

    plan: SeatMapPlan
    states: npt.NDArray[np.uint8]
    mine: tuple[int, ...]
    standing: Mapping[str, int]
    theme: Theme
    texts: SeatMapTexts
    categories: tuple[LegendCategory, ...]
    words: LegendWords
    title: str
    lines: tuple[str, ...]
    stamp: str
    page_of: str = "{page} / {pages}"
    house_kinds: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]] = (_NO_SEATS, _NO_KINDS)

    @property
    def pages(self) -> int:
        """One for each floor."""
        return floor_count(self.plan)


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """`picture` lies at `at`, `dpr` of its px to a logical px; `words` are over it, in logical px."""

    picture: QImage
    at: QPointF
    dpr: float
    words: QPicture


class ChartDrawing:
    """The pages of a chart as they come to be. Make it and iterate in the interface's thread."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._scene = Scene(lay_apart(chart.plan), chart.theme, chart.texts.write_count, Stats())

    @property
    def is_wide(self) -> bool:
        """Whether the plan lies better on a page that is wider than high."""
        return self._scene.bounds.width >= self._scene.bounds.height * 0.9

    def pages(self, size: QSizeF, dpr: float) -> Iterator[DrawnPage | None]:
        """Draw all pages; None after each slice that completes none, so that others have a turn."""
        scene, chart = self._scene, self.chart
        scene.set_house_letters(chart.texts.house_letters)
        scene.states.set_all(chart.states)
        scene.states.set_mine(chart.mine)
        scene.states.set_house_kinds(*chart.house_kinds)
        scene.standing.set_free(chart.standing)
        for page in range(chart.pages):
            yield None
            yield from self._page(page, size, dpr)

    def _page(self, page: int, size: QSizeF, dpr: float) -> Iterator[DrawnPage | None]:
        scene, chart = self._scene, self.chart
        words = QPicture()
        painter = QPainter(words)
        painter.setLayoutDirection(QApplication.layoutDirection())
        top = _paint_head(painter, chart, size)
        legend = _legend(chart, size.width())
        foot = _paint_foot(painter, chart, page, size)
        low = foot - _GAP_PX - legend.height()
        area = QRectF(0, top + _GAP_PX, size.width(), low - top - 2 * _GAP_PX)
        yield None
        scene.show_floor(page)
        camera = _aim(scene, area, dpr)
        yield None
        legend.show_far(scene.renderer.level is Level.FAR)
        painter.translate(0, low)
        legend.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
        painter.end()
        legend.deleteLater()
        yield None
        yield DrawnPage(_map_picture(scene, chart, camera, dpr), area.topLeft(), dpr, words)


def on_paper(theme: Theme) -> Theme:
    """A theme whose map lies on white: paper needs no ink between the blocks of seats."""
    paper = theme.map_colors["paper"]
    return replace(theme, map_colors={**theme.map_colors, "ground": paper, "bed": paper})


def put_on_paper(painter: QPainter, page: DrawnPage, turn: Callable[[float], None]) -> None:
    """Put a page on a device that has `page.dpr` px to a logical px; any thread may.

    `turn` is called with the share done after every strip of the picture: a strip is packed without letting another
    thread run. Strips overlap by a line, so that no reader of the paper sees where one ends.
    """
    painter.save()
    painter.scale(1 / page.dpr, 1 / page.dpr)
    high, left, top = page.picture.height(), page.at.x() * page.dpr, page.at.y() * page.dpr
    for first in range(0, high, _STRIP_PX):
        strip = page.picture.copy(0, first, page.picture.width(), min(_STRIP_PX + 1, high - first))
        painter.drawImage(QPointF(round(left), round(top) + first), strip)
        turn(min(1.0, (first + _STRIP_PX) / high))
    painter.restore()
    painter.save()
    painter.resetTransform()  # what was recorded is scaled to its device by itself
    page.words.play(painter)
    painter.restore()


def _aim(scene: Scene, area: QRectF, dpr: float) -> Camera:
    """Draw the seats. Paper is read from nearer than a screen: names come at a smaller size, and so earlier."""
    size, dpr = area.size() * _FINER, dpr / _FINER
    camera = Camera()
    camera.resize(size.width(), size.height())
    camera.set_plan(scene.bounds, scene.seat_diameter)
    scene.renderer.resize(round(size.width() * dpr), round(size.height() * dpr), dpr)
    scene.redraw(camera, dpr)
    return camera


def _map_picture(scene: Scene, chart: Chart, camera: Camera, dpr: float) -> QImage:
    """Seats and names in one picture of device px."""
    dpr /= _FINER
    whole = QRect(0, 0, round(camera.width), round(camera.height))
    canvas = scene.renderer.canvas
    picture = QImage(canvas.width_px, canvas.height_px, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.scale(dpr, dpr)
    scene.paint(painter, whole, dpr)
    scene.standing.paint(painter, whole, camera, scene.palette, chart.texts.write_places)
    painter.end()
    return picture


def _legend(chart: Chart, width: float) -> MapLegend:
    legend = MapLegend(chart.theme, chart.words)
    legend.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    legend.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
    legend.show_categories(chart.categories)
    legend.show_seats(bool(chart.plan.seat_count))
    legend.show_flags(int(np.bitwise_or.reduce(chart.plan.flags)) if chart.plan.seat_count else 0)
    legend.show_states(chart.states)
    legend.show_house_kinds(chart.house_kinds[1].tolist())
    legend.setFixedWidth(int(width))
    legend.setFixedHeight(legend.heightForWidth(int(width)))
    legend.show()
    return legend


def _paint_head(painter: QPainter, chart: Chart, size: QSizeF) -> float:
    """Event and what belongs to it on the side where lines begin, the time on the other; where the map may begin."""
    bold, plain = chart.theme.font("title", bold=True), chart.theme.font("body")
    top = 0.0
    painter.setPen(chart.theme.color("text"))
    stamp_px = QFontMetricsF(plain).horizontalAdvance(chart.stamp) + _GAP_PX
    for text, font in ((chart.title, bold), *((line, plain) for line in chart.lines)):
        width = size.width() - (stamp_px if font is bold else 0.0)
        top += _paint_line(painter, text, font, QRectF(0, top, size.width(), 1e4), Qt.AlignmentFlag.AlignLeading, width)
    _paint_line(painter, chart.stamp, plain, QRectF(0, 0, size.width(), 1e4), Qt.AlignmentFlag.AlignTrailing)
    painter.fillRect(QRectF(0, top + _GAP_PX / 2, size.width(), _RULE_PX), chart.theme.color("border"))
    return top + _GAP_PX / 2


def _paint_foot(painter: QPainter, chart: Chart, page: int, size: QSizeF) -> float:
    """Which floor and page; where the foot begins."""
    font = chart.theme.font("caption")
    height = QFontMetricsF(font).height()
    box = QRectF(0, size.height() - height, size.width(), height)
    painter.setPen(chart.theme.color("text_muted"))
    floor = chart.plan.floor_name[page] if chart.pages > 1 else chart.plan.name
    _paint_line(painter, floor, font, box, Qt.AlignmentFlag.AlignLeading)
    number = chart.page_of.format(page=page + 1, pages=chart.pages)
    _paint_line(painter, number, font, box, Qt.AlignmentFlag.AlignTrailing)
    return box.top() - _GAP_PX / 2


def _paint_line(
    painter: QPainter, text: str, font: QFont, box: QRectF, side: Qt.AlignmentFlag, width: float = 0.0
) -> float:
    """One line at the top of a box; its height."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width or box.width())
    place = QRectF(QPointF(box.left(), box.top()), QSizeF(box.width(), metrics.height()))
    if QApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        other = {Qt.AlignmentFlag.AlignLeading: Qt.AlignmentFlag.AlignTrailing}
        side = other.get(side, Qt.AlignmentFlag.AlignLeading)
    painter.drawText(place, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, shown)
    return metrics.height()
