"""One ticket drawn with QPainter: words on the left, the QR code on the right behind a tear line (mirrored for
languages that run from right to left).

Everything is laid out in millimetres and drawn in device dots. The QR code's modules are whole dots, with a quiet zone
of four modules, as half a dot of smear is what a gate's scanner cannot read (K2). Text is shaped by Qt, so that Arabic
joins and Japanese shows (K1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import segno
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter, QPen

from app.devices.ticket_printer import TicketFace, TicketSheet
from app.i18n.figures import Figures
from backend_client.plan_names import BOOTH, TABLE

MM_PER_INCH: Final = 25.4
QUIET_MODULES: Final = 4
_MIN_MODULE_MM: Final = 0.33
_MAX_QR_MM: Final = 38.0
_MARGIN_MM: Final = 3.0
_MIN_TEXT_MM: Final = 1.9
_PLACE_MM: Final = 7.2

Translate = Callable[[str], str]


class CodeTooWideError(ValueError):
    """The code needs modules too small to be scanned from this stock."""

    code = "code-too-wide"


@dataclass(frozen=True, slots=True)
class QrRaster:
    """A QR code as rows of modules and the dots of one module; `side` includes the quiet zone, in dots."""

    rows: tuple[bytes, ...]
    module: int

    @property
    def side(self) -> int:
        return (len(self.rows) + 2 * QUIET_MODULES) * self.module


def qr_raster(text: str, room_dots: int, dpi: int) -> QrRaster:
    """The QR code of `text` in the largest whole module that fits `room_dots`.

    Raises:
        CodeTooWideError: a module would be narrower than 0.33 mm.
    """
    rows = tuple(bytes(row) for row in segno.make(text, error="m", micro=False, boost_error=False).matrix)
    module = room_dots // (len(rows) + 2 * QUIET_MODULES)
    if module * MM_PER_INCH / dpi < _MIN_MODULE_MM:
        raise CodeTooWideError(f"{len(rows)} modules do not fit {room_dots} dots at {dpi} dpi")
    return QrRaster(rows, module)


@dataclass(frozen=True, slots=True)
class TicketDrawing:
    """Draws tickets of one sheet; `dpi` is the device's."""

    sheet: TicketSheet
    figures: Figures
    translate: Translate
    dpi: int
    right_to_left: bool

    def dots(self, mm: float) -> int:
        """Millimetres in whole device dots."""
        return round(mm * self.dpi / MM_PER_INCH)

    def draw(self, painter: QPainter, ticket: TicketFace, area: QRect) -> None:
        """Draw `ticket` into `area` (device dots).

        Raises:
            CodeTooWideError: see `qr_raster`.
        """
        margin = self.dots(_MARGIN_MM)
        caption = self.dots(3.4)
        room = min(area.height() - margin - caption, self.dots(_MAX_QR_MM))
        raster = qr_raster(ticket.code, room, self.dpi)
        stub_width = raster.side + margin
        stub = QRect(area.right() + 1 - stub_width - margin // 2, area.top(), stub_width, area.height())
        words = QRect(area.left() + margin, area.top() + margin, stub.left() - area.left() - 2 * margin,
                      area.height() - 2 * margin)  # fmt: skip
        if self.right_to_left:
            stub = _mirrored(stub, area)
            words = _mirrored(words, area)
        self._draw_tear_line(painter, area, stub)
        self._draw_code(painter, ticket, raster, stub, caption)
        self._draw_words(painter, ticket, words)

    def _draw_tear_line(self, painter: QPainter, area: QRect, stub: QRect) -> None:
        pen = QPen(QColor(Qt.GlobalColor.black), max(self.dots(0.15), 1))
        pen.setDashPattern([6, 6])
        painter.setPen(pen)
        x = stub.right() + 1 if self.right_to_left else stub.left()
        painter.drawLine(x, area.top() + self.dots(2), x, area.bottom() - self.dots(2))

    def _draw_code(self, painter: QPainter, ticket: TicketFace, raster: QrRaster, stub: QRect, caption: int) -> None:
        left = stub.center().x() - raster.side // 2
        top = stub.top() + (stub.height() - raster.side - caption) // 2 + self.dots(0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(Qt.GlobalColor.black))
        offset = QUIET_MODULES * raster.module
        for y, row in enumerate(raster.rows):
            for x, length in _runs(row):
                painter.drawRect(left + offset + x * raster.module, top + offset + y * raster.module,
                                 length * raster.module, raster.module)  # fmt: skip
        line = QRectF(stub.left(), top + raster.side - self.dots(0.6), stub.width(), caption)
        self._text(painter, line, ticket.code, 2.4, centred=True)

    def _draw_words(self, painter: QPainter, ticket: TicketFace, area: QRect) -> None:
        sheet, figures = self.sheet, self.figures
        bar = QRectF(area)
        self._heading(painter, self._line(bar, 0, 7.9), sheet.event_name)
        day = figures.long_date(sheet.starts_at, sheet.zone)
        at = figures.time(sheet.starts_at, sheet.zone)
        self._text(painter, self._line(bar, 8.2, 4.6), figures.joined((day, at)), 3.6)
        self._text(painter, self._line(bar, 13.0, 4.4), sheet.venue_name, 3.4)
        painter.setPen(QPen(QColor(Qt.GlobalColor.black), max(self.dots(0.2), 1)))
        rule = area.top() + self.dots(19.2)
        painter.drawLine(area.left(), rule, area.right(), rule)
        self._draw_place(painter, ticket, QRectF(area.left(), rule + self.dots(1.6), area.width(), self.dots(13)))
        price = figures.joined((ticket.price_type, figures.money(ticket.amount_minor, ticket.currency)))
        self._text(painter, self._line(bar, 35.0, 4.6), price, 3.6, bold=True)
        order = f"{self.translate('Order')} {sheet.order_number}"
        self._text(painter, self._line(bar, 39.9, 3.6), order, 2.7)

    def _draw_place(self, painter: QPainter, ticket: TicketFace, area: QRectF) -> None:
        """Section, row and seat, large: what an usher reads at arm's length. A place without a number is its area."""
        if not ticket.row and not ticket.number:
            places = [(self.translate("Area without numbered seats"), ticket.section, 1.0)]
        else:
            places = self._numbered(ticket)
        left = area.left()
        for (caption, value, _share), width in zip(places, self._widths(places, area.width()), strict=True):
            x = area.right() - (left - area.left()) - width if self.right_to_left else left
            cell = QRectF(x, area.top(), width - self.dots(2), area.height())
            self._text(painter, self._line(cell, 0, 3.2), caption, 2.5)
            self._text(painter, self._line(cell, 3.4, 9.0), value or "–", _PLACE_MM, bold=True)
            left += width

    def _widths(self, places: list[tuple[str, str, float]], room: float) -> list[float]:
        """The width of each part, in dots: its share; where one needs more, the captions', and the rest by need."""
        gap = self.dots(3)
        least = [self._advance(caption, 2.5) + gap for caption, _value, _share in places]
        wanted = [max(self._advance(value, _PLACE_MM, bold=True) + gap, floor)
                  for (_caption, value, _share), floor in zip(places, least, strict=True)]  # fmt: skip
        shares = [room * share for _caption, _value, share in places]
        if all(width <= share for width, share in zip(wanted, shares, strict=True)):
            return shares
        more = [width - floor for width, floor in zip(wanted, least, strict=True)]
        rest = max(room - sum(least), 0.0) / (sum(more) or 1.0)
        return [floor + rest * extra for floor, extra in zip(least, more, strict=True)]

    def _numbered(self, ticket: TicketFace) -> list[tuple[str, str, float]]:
        """Captions, what stands under them and their shares of the width. A booth may be called by its one seat."""
        section = (self.translate("Section"), ticket.section, 0.5)
        if ticket.row_kind == BOOTH and not ticket.row:
            return [section, (self.translate("Booth"), ticket.number, 0.5)]
        captions = {TABLE: self.translate("Table"), BOOTH: self.translate("Booth")}
        row = captions.get(ticket.row_kind) or self.translate("Row")
        return [section, (row, ticket.row, 0.25), (self.translate("Seat"), ticket.number, 0.25)]

    def _heading(self, painter: QPainter, area: QRectF, text: str) -> None:
        """The event's name: large on one line, or on two when it is long."""
        font, shown = self._fit(text, 6.0, area.width(), bold=True)
        if shown == text and font.pixelSize() >= self.dots(4.4):
            self._text(painter, area, text, 6.0, bold=True)
            return
        first, rest = _halves(text)
        self._text(painter, self._line(area, 0, 3.9), first, 3.7, bold=True)
        self._text(painter, self._line(area, 3.9, 3.9), rest, 3.7, bold=True)

    def _line(self, area: QRectF, top_mm: float, height_mm: float) -> QRectF:
        return QRectF(area.left(), area.top() + self.dots(top_mm), area.width(), self.dots(height_mm))

    def _text(
        self, painter: QPainter, area: QRectF, text: str, size_mm: float, *, bold: bool = False, centred: bool = False
    ) -> None:
        """One line of text of `size_mm`; smaller when too long, cut with an ellipsis as a last resort."""
        font, shown = self._fit(text, size_mm, area.width(), bold=bold)
        painter.setFont(font)
        painter.setPen(QColor(Qt.GlobalColor.black))
        side = Qt.AlignmentFlag.AlignRight if self.right_to_left else Qt.AlignmentFlag.AlignLeft
        across = Qt.AlignmentFlag.AlignHCenter if centred else side | Qt.AlignmentFlag.AlignAbsolute
        flags = across | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(area, int(flags.value | Qt.TextFlag.TextSingleLine.value), shown)

    def _advance(self, text: str, size_mm: float, *, bold: bool = False) -> float:
        font = QFont(QGuiApplication.font())
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        font.setPixelSize(self.dots(size_mm))
        return QFontMetricsF(font).horizontalAdvance(text)

    def _fit(self, text: str, size_mm: float, width: float, *, bold: bool) -> tuple[QFont, str]:
        font = QFont(QGuiApplication.font())
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        size = size_mm
        while True:
            font.setPixelSize(self.dots(size))
            metrics = QFontMetricsF(font)
            if metrics.horizontalAdvance(text) <= width:
                return font, text
            if size <= max(_MIN_TEXT_MM, size_mm / 2):
                return font, metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            size *= 0.93


def _halves(text: str) -> tuple[str, str]:
    """The text in two parts, at the blank nearest to its middle; in the middle where there is none."""
    middle = len(text) // 2
    blanks = [place for place, letter in enumerate(text) if letter == " "]
    cut = min(blanks, key=lambda place: abs(place - middle), default=middle)
    return text[:cut].strip(), text[cut:].strip()


def _mirrored(part: QRect, area: QRect) -> QRect:
    return QRect(area.left() + area.right() - part.right(), part.top(), part.width(), part.height())


def _runs(row: bytes) -> list[tuple[int, int]]:
    """(start, length) of each run of dark modules: one rectangle a run leaves no hairline between modules."""
    runs: list[tuple[int, int]] = []
    for x, dark in enumerate(row):
        if not dark:
            continue
        if runs and runs[-1][0] + runs[-1][1] == x:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((x, 1))
    return runs
