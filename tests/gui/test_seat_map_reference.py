"""The map against a second opinion: the same hall drawn seat by seat with plain QPainter calls, labels on.

The reference shares no drawing code with the map: discs, rings, strokes, numbers and row names are put down one after
the other with `drawEllipse`, `drawLine` and `drawText`, from the rules of the visual grammar. It takes the colours of
the theme and the rule by which a seat's square is rounded to whole pixels, which it works out by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtWidgets import QApplication

from widgets.seat_map import SeatMapPlan
from widgets.seat_map.camera import Camera
from widgets.seat_map.renderer import Stats
from widgets.seat_map.scene import Scene
from widgets.theme import Theme

ROWS, SEATS, PITCH = 9, 14, 20.0
WIDTH, HEIGHT = 680, 300
MIDDLE_X, MIDDLE_Y = 134.0, 106.0
FAINT, CLEAR = 12, 60
STATES = {"free": 0, "till": 1 | 1 << 3, "sold": 3 | 2 << 3, "printed": 3 | 2 << 3 | 64, "used": 3 | 2 << 3 | 192,
          "blocked": 4}  # fmt: skip
NUMBERS_FROM_PX, ROW_NAMES_FROM_PX = 17.0, 11.0
Pixels = npt.NDArray[np.uint8]


def hall() -> SeatMapPlan:
    """One straight block; three categories."""
    count = ROWS * SEATS
    row_no = np.repeat(np.arange(ROWS), SEATS).astype(np.int32)
    at = np.tile(np.arange(SEATS), ROWS)
    return SeatMapPlan(
        name="Hall", x=(at * PITCH + 3.7).astype(np.float32), y=(row_no * PITCH * 1.3 + 1.9).astype(np.float32),
        category=(row_no // 3).astype(np.uint8), row_no=row_no, flags=np.zeros(count, np.uint8),
        number=tuple(str(seat + 1) for seat in at.tolist()), row_section=np.zeros(ROWS, np.int32),
        row_label=tuple("ABCDEFGHJ"), row_first=np.arange(0, count, SEATS).astype(np.int32),
        row_count=np.full(ROWS, SEATS, np.int32), section_name=("Stalls",), section_x=np.zeros(1, np.float32),
        section_y=np.zeros(1, np.float32), category_name=("A", "B", "C"), category_color=("", "", ""),
    )  # fmt: skip


def states_of(plan: SeatMapPlan) -> Pixels:
    kinds = list(STATES.values())
    return np.array([kinds[seat * 7 % len(kinds)] for seat in range(plan.seat_count)], np.uint8)


@dataclass(frozen=True, slots=True)
class View:
    """Where the reference looks: centre (plan units), seat size in logical px and device pixel ratio."""

    x: float
    y: float
    seat_px: float
    dpr: float


def drawn_by_the_map(plan: SeatMapPlan, view: View, theme: Theme) -> QImage:
    scene = Scene(plan, theme, str, Stats())
    scene.states.set_all(states_of(plan))
    camera = Camera()
    camera.resize(WIDTH, HEIGHT)
    camera.set_plan(scene.bounds, scene.seat_diameter)
    camera.follows = False
    camera.x, camera.y, camera.scale = view.x, view.y, view.seat_px / scene.seat_diameter
    camera.pixel = 1 / view.dpr
    image = blank(view.dpr, theme)
    scene.renderer.resize(image.width(), image.height(), view.dpr)
    scene.redraw(camera, view.dpr)
    painter = QPainter(image)
    scene.paint(painter, QRect(0, 0, WIDTH, HEIGHT), view.dpr)
    painter.end()
    return image


def blank(dpr: float, theme: Theme) -> QImage:
    image = QImage(math.ceil(WIDTH * dpr), math.ceil(HEIGHT * dpr), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(dpr)
    image.fill(theme.map_color("ground"))
    return image


class Reference:
    """Plain calls, one seat after the other; everything in device px."""

    def __init__(self, plan: SeatMapPlan, view: View, theme: Theme) -> None:
        self.plan, self.view, self.theme = plan, view, theme
        self.scale = view.seat_px / (PITCH * 0.8) * view.dpr
        self.size = math.floor(min(view.seat_px * view.dpr, PITCH * self.scale - math.sqrt(2)))
        self.image = blank(view.dpr, theme)
        self.image.setDevicePixelRatio(1.0)
        self.painter = QPainter(self.image)
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        names = {byte: name for name, byte in STATES.items()}
        self.states = {seat: names[byte] for seat, byte in enumerate(states_of(plan).tolist())}

    def draw(self) -> QImage:
        bed = self.theme.map_color("bed")
        box = QRectF(self.px(3.7 - 17, 0).x(), self.px(0, 1.9 - 17).y(), 0, 0)
        box.setBottomRight(QPointF(self.px(3.7 + 13 * PITCH + 17, 0).x(), self.px(0, 1.9 + 8 * PITCH * 1.3 + 17).y()))
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        self.painter.fillRect(box, bed)
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for seat, state in self.states.items():
            self.seat(seat, state)
        if self.view.seat_px >= ROW_NAMES_FROM_PX:
            for row in range(ROWS):
                self.row_name(row)
        self.painter.end()
        return self.image

    def px(self, x: float, y: float) -> QPointF:
        """The plan stands on whole pixels of the screen."""
        dpr, view = self.view.dpr, self.view
        left, top = round(WIDTH * dpr / 2 - view.x * self.scale), round(HEIGHT * dpr / 2 - view.y * self.scale)
        return QPointF(x * self.scale + left, y * self.scale + top)

    def seat(self, seat: int, state: str) -> None:
        at = self.px(float(self.plan.x[seat]), float(self.plan.y[seat]))
        left, top = math.floor(at.x() - self.size / 2 + 0.5), math.floor(at.y() - self.size / 2 + 0.5)
        centre, radius, size = QPointF(left + self.size / 2, top + self.size / 2), self.size / 2 - 0.3, self.size
        fill = self.theme.category_color(int(self.plan.category[seat]))
        bed, ink = self.theme.map_color("bed"), self.theme.map_color("sold_ink")
        number: QColor | None = ink
        if state == "free":
            self.disc(centre, radius, fill)
            number = self.readable_on(fill)
        elif state == "till":
            width = max(1.25, size * 0.11)
            self.disc(centre, radius - width / 2, mixed(fill, bed, 0.30))
            self.painter.setPen(QPen(self.theme.map_color("till"), width))
            self.painter.setBrush(Qt.BrushStyle.NoBrush)
            self.painter.drawEllipse(centre, radius - width / 2, radius - width / 2)
            number = self.readable_on(mixed(fill, bed, 0.30))
        elif state == "blocked":
            self.disc(centre, radius - size * 0.06, self.theme.map_color("blocked"))
            for turn in (1, -1):
                self.stroke(centre, size * 0.20, turn, self.theme.map_color("blocked_ink"), max(1.25, size * 0.09))
            number = None
        else:
            self.disc(centre, radius - size * 0.12, mixed(fill, self.theme.map_color("sold"), 0.16))
            if state == "printed":
                self.stroke(centre, size * 0.27, -1, ink, max(1.25, size * 0.08))
            elif state == "used":
                self.disc(centre, size * 0.17, ink)
                number = None
        if number is not None and self.view.seat_px >= NUMBERS_FROM_PX:
            middle = QPointF(left + self.size // 2, top + self.size // 2)
            self.text(middle, self.plan.number[seat], round(self.size * 0.42), number, self.size * 0.72, bold=False)

    def disc(self, centre: QPointF, radius: float, color: QColor) -> None:
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(color)
        self.painter.drawEllipse(centre, radius, radius)

    def stroke(self, centre: QPointF, reach: float, turn: int, color: QColor, width: float) -> None:
        self.painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        self.painter.drawLine(centre + QPointF(-reach, -reach * turn), centre + QPointF(reach, reach * turn))

    def row_name(self, row: int) -> None:
        seats = self.plan.seats_of_row(row)
        size = round(min(max(self.view.seat_px * 0.5, 9.0), 15.0) * self.view.dpr)
        for seat, beyond in ((seats[0], -PITCH), (seats[-1], PITCH)):
            at = self.px(float(self.plan.x[seat]) + beyond, float(self.plan.y[seat]))
            inside = 0 < at.x() < self.image.width() and 0 < at.y() < self.image.height()
            if inside:
                middle = QPointF(round(at.x()), round(at.y()))
                self.text(middle, self.plan.row_label[row], size, self.theme.map_color("label_muted"), 4.0 * size)

    def text(self, at: QPointF, text: str, size: int, color: QColor, room: float, *, bold: bool = True) -> None:
        font = QFont(self.theme.font("caption", bold=bold))
        font.setPixelSize(size)
        width = QFontMetricsF(font).horizontalAdvance(text)
        if width > room:
            font.setPixelSize(max(6, math.floor(size * room / width)))
        self.painter.setFont(font)
        self.painter.setPen(color)
        self.painter.drawText(QRectF(at.x() - 60, at.y() - 60, 120, 120), Qt.AlignmentFlag.AlignCenter, text)

    def readable_on(self, fill: QColor) -> QColor:
        inks = [self.theme.map_color(token) for token in ("seat_light_ink", "seat_dark_ink")]
        return max(inks, key=lambda ink: contrast(ink, fill))


def mixed(color: QColor, ground: QColor, share: float) -> QColor:
    def between(a: int, b: int) -> int:
        return round(a * share + b * (1 - share))

    return QColor(
        between(color.red(), ground.red()), between(color.green(), ground.green()), between(color.blue(), ground.blue())
    )


def contrast(one: QColor, other: QColor) -> float:
    def light(color: QColor) -> float:
        shares = (color.redF(), color.greenF(), color.blueF())
        channel = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
        return 0.2126 * channel[0] + 0.7152 * channel[1] + 0.0722 * channel[2] + 0.05

    return max(light(one), light(other)) / min(light(one), light(other))


def channels(image: QImage) -> npt.NDArray[np.int16]:
    words = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return words[:, : image.width(), :3].astype(np.int16)


VIEWS = [View(MIDDLE_X, MIDDLE_Y, seat_px, dpr) for seat_px in (9.3, 13.1, 21.7, 34.2) for dpr in (1.0, 1.25, 1.5, 2.0)]


@pytest.mark.parametrize("theme", [Theme.light(), Theme.dark()], ids=lambda theme: theme.name)
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.seat_px}px-dpr{view.dpr}")
def test_the_map_looks_as_plain_painting_does(qapp: QApplication, view: View, theme: Theme) -> None:
    """D7: at every zoom and pixel ratio, seat for seat, number for number."""
    plan = hall()
    apart = difference(drawn_by_the_map(plan, view, theme), Reference(plan, view, theme).draw())
    assert looks_alike(apart), (float((apart > FAINT).mean()), int(apart.max()), float(apart.mean()))


@pytest.mark.parametrize(
    ("flaw", "seat_px"),
    [("state", 9.3), ("state", 21.7), ("place", 9.3), ("place", 21.7), ("number", 21.7), ("row", 21.7)],
)
def test_a_single_flaw_is_found(qapp: QApplication, flaw: str, seat_px: float) -> None:
    """The comparison can fail: one seat, one number or one row name that is wrong shows."""
    plan, view, theme = hall(), View(MIDDLE_X, MIDDLE_Y, seat_px, 1.0), Theme.light()
    seat, row = plan.seats_of_row(4)[4], 4
    assert states_of(plan)[seat] == STATES["free"]
    number, x, label = list(plan.number), plan.x.copy(), list(plan.row_label)
    number[seat] = "88" if flaw == "number" else number[seat]
    x[seat] += 2.0 if flaw == "place" else 0.0
    label[row] = "W" if flaw == "row" else label[row]
    wrong = replace(plan, number=tuple(number), x=x, row_label=tuple(label))
    reference = Reference(wrong, view, theme)
    if flaw == "state":
        reference.states = {**reference.states, seat: "blocked"}
    assert not looks_alike(difference(drawn_by_the_map(plan, view, theme), reference.draw()))


def difference(one: QImage, other: QImage) -> npt.NDArray[np.int16]:
    """Largest difference of the three channels, by pixel."""
    apart: npt.NDArray[np.int16] = np.abs(channels(one) - channels(other)).max(axis=2)
    return apart


def looks_alike(apart: npt.NDArray[np.int16]) -> bool:
    """No pixel is clearly another one; soft edges may differ faintly where letters are set by parts of pixels."""
    return int(apart.max()) <= CLEAR and float((apart > FAINT).mean()) <= 0.008 and float(apart.mean()) <= 0.3
