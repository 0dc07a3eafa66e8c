"""The live chart on paper: the map as it stands now, what its colours mean, of which event and of what time.

One page for each floor. Lengths are logical px of 1/96 inch; the painter is scaled to the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QRegion
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What is printed. `states` are the staff bytes by seat number; `title`, `lines` and `stamp` are whole texts.

    `page_of` writes which page of how many this is.
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

    @property
    def pages(self) -> int:
        """One for each floor."""
        return floor_count(self.plan)

    @property
    def is_wide(self) -> bool:
        """Whether the plan lies better on a page that is wider than high."""
        scene = Scene(lay_apart(self.plan), self.theme, self.texts.write_count, Stats())
        return scene.bounds.width >= scene.bounds.height * 0.9


def on_paper(theme: Theme) -> Theme:
    """A theme whose map lies on white: paper needs no ink between the blocks of seats."""
    paper = theme.map_colors["paper"]
    return replace(theme, map_colors={**theme.map_colors, "ground": paper, "bed": paper})


def paint_page(painter: QPainter, chart: Chart, page: int, size: QSizeF, dpr: float) -> None:
    """Paint one page; the painter counts logical px and `dpr` is device px for each of them."""
    painter.setLayoutDirection(QApplication.layoutDirection())
    top = _paint_head(painter, chart, size)
    legend = _legend(chart, size.width())
    foot = _paint_foot(painter, chart, page, size)
    scene = Scene(lay_apart(chart.plan), chart.theme, chart.texts.write_count, Stats())
    scene.states.set_all(chart.states)
    scene.states.set_mine(chart.mine)
    scene.standing.set_free(chart.standing)
    scene.show_floor(page)
    low = foot - _GAP_PX - legend.height()
    area = QRectF(0, top + _GAP_PX, size.width(), low - top - 2 * _GAP_PX)
    legend.show_far(_paint_map(painter, scene, chart, area, dpr) is Level.FAR)
    painter.save()
    painter.translate(0, low)
    legend.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
    painter.restore()
    legend.deleteLater()


def _paint_map(painter: QPainter, scene: Scene, chart: Chart, area: QRectF, dpr: float) -> Level:
    """Paper is read from nearer than a screen: names come at a smaller size, and so earlier."""
    size, dpr = area.size() * _FINER, dpr / _FINER
    camera = Camera()
    camera.resize(size.width(), size.height())
    camera.set_plan(scene.bounds, scene.seat_diameter)
    renderer = scene.renderer
    renderer.resize(round(size.width() * dpr), round(size.height() * dpr), dpr)
    scene.redraw(camera, dpr)
    whole = QRect(0, 0, round(size.width()), round(size.height()))
    painter.save()
    painter.translate(area.topLeft())
    painter.scale(1 / _FINER, 1 / _FINER)
    painter.setClipRect(QRectF(whole))
    scene.blit(painter, dpr)
    scene.paint_labels(painter, QRegion(whole), dpr)
    scene.standing.paint(painter, whole, camera, scene.palette, chart.texts.write_places)
    painter.restore()
    return renderer.level


def _legend(chart: Chart, width: float) -> MapLegend:
    legend = MapLegend(chart.theme, chart.words)
    legend.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    legend.show_categories(chart.categories)
    legend.show_flags(int(np.bitwise_or.reduce(chart.plan.flags)) if chart.plan.seat_count else 0)
    legend.show_states(chart.states)
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
