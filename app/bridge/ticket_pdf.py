"""The ticket printer that writes PDF files: pages of the ticket stock, or A4 with several tickets and cut marks (K11).

A sheet is drawn in memory: Qt's own writer loses what a full disk does not take, and says nothing. Python writes the
bytes, and a file appears under its final name only when all of them are on the disk. So a file that exists is a job
that is done: asked again for the same print job, the printer answers with that file and draws nothing (K7).
"""

from __future__ import annotations

import asyncio
import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRect, QSizeF
from PySide6.QtGui import QPageLayout, QPageSize, QPainter, QPdfWriter

from app.bridge.ticket_face import MM_PER_INCH, CodeTooWideError, TicketDrawing
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketSheet
from app.i18n.catalogue import language_of, read_catalogue
from app.i18n.figures import Figures
from app.whole_file import write_whole

_A4_MM: Final = (210.0, 297.0)
_CUT_MARK_MM: Final = 4.0
_BEGIN, _END = b"%PDF-", b"%%EOF"
_REASONS: Final = {
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EFBIG: "disk-full",
    errno.EACCES: "no-access",
    errno.EPERM: "no-access",
    errno.EROFS: "no-access",
}


@dataclass(frozen=True, slots=True)
class Stock:
    """The paper: one ticket's size in millimetres; `on_a4` puts as many as fit on a sheet of A4."""

    width_mm: float = 140.0
    height_mm: float = 50.0
    on_a4: bool = False

    @property
    def page_mm(self) -> tuple[float, float]:
        return _A4_MM if self.on_a4 else (self.width_mm, self.height_mm)

    @property
    def tickets_per_page(self) -> int:
        return max(int((_A4_MM[1] - 20) // self.height_mm), 1) if self.on_a4 else 1


class PdfTicketPrinter:
    """A `TicketPrinter` that writes one PDF for each print job into `folder`."""

    def __init__(self, folder: Path, stock: Stock, dpi: int = 203) -> None:
        self._folder = folder
        self._stock = stock
        self._dpi = dpi

    @property
    def name(self) -> str:
        return "PDF"

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        """See `TicketPrinter.print_tickets`. A sheet is drawn here within milliseconds; a worker waits for the disk."""
        path = self._folder / f"{sheet.order_number}-{sheet.print_job_id}.pdf"
        printed = tuple(ticket.ticket_id for ticket in sheet.tickets)
        try:
            if await asyncio.to_thread(path.exists):
                return PrintOutcome(PrintState.CONFIRMED, printed, str(path), "already written")
            await asyncio.to_thread(_write_into_folder, path, drawn(sheet, self._stock, self._dpi))
        except OSError as error:
            reason = _REASONS.get(error.errno or 0, "printer-trouble")
            return PrintOutcome(PrintState.FAILED, detail=str(error), reason=reason)
        except CodeTooWideError as error:
            return PrintOutcome(PrintState.FAILED, detail=str(error), reason=error.code)
        return PrintOutcome(PrintState.CONFIRMED, printed, str(path))


def write_pdf(path: Path, body: bytes) -> None:
    """Write a PDF to `path`: the whole file, on the disk, or none. Call it from a worker thread.

    Raises:
        OSError: the file cannot be written.
    """

    def require_whole(fresh: Path) -> None:
        """Some file systems find out late that they have no room."""
        read = fresh.read_bytes()
        if not (len(read) == len(body) and read.startswith(_BEGIN) and read.rstrip().endswith(_END)):
            raise OSError(errno.EIO, "the file on the disk is not what was written", str(fresh))

    write_whole(path, body, require_whole)


def _write_into_folder(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_pdf(path, body)


def drawn(sheet: TicketSheet, stock: Stock, dpi: int) -> bytes:
    """All tickets of `sheet` as a PDF.

    Raises:
        CodeTooWideError: a code does not fit the stock.
        OSError: Qt cannot draw.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    _draw(QPdfWriter(buffer), sheet, stock, dpi)
    body = bytes(buffer.data().data())
    if not (body.startswith(_BEGIN) and body.rstrip().endswith(_END)):
        raise OSError(errno.EIO, "the tickets were not drawn to the end")
    return body


def _draw(writer: QPdfWriter, sheet: TicketSheet, stock: Stock, dpi: int) -> None:
    language = language_of(sheet.language)
    drawing = TicketDrawing(
        sheet, Figures(language.locale), read_catalogue(language).gettext, dpi, language.right_to_left
    )
    _set_up(writer, sheet, stock, dpi)
    painter = QPainter()
    if not painter.begin(writer):
        raise OSError(errno.EIO, "the tickets cannot be drawn")
    try:
        for index, ticket in enumerate(sheet.tickets):
            place = index % stock.tickets_per_page
            if index and place == 0:
                writer.newPage()
            area = _place(stock, place, dpi)
            if stock.on_a4:
                _draw_cut_marks(painter, area, drawing.dots(_CUT_MARK_MM))
            drawing.draw(painter, ticket, area)
    finally:
        painter.end()


def _set_up(writer: QPdfWriter, sheet: TicketSheet, stock: Stock, dpi: int) -> None:
    writer.setResolution(dpi)
    writer.setTitle(f"{sheet.event_name} – {sheet.order_number}")
    writer.setCreator("Taquilla")
    page = QPageSize(QSizeF(*stock.page_mm), QPageSize.Unit.Millimeter, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF(), QPageLayout.Unit.Millimeter))


def _place(stock: Stock, place: int, dpi: int) -> QRect:
    """Where ticket number `place` of its page stands, in device dots."""
    width, height = (round(mm * dpi / MM_PER_INCH) for mm in (stock.width_mm, stock.height_mm))
    if not stock.on_a4:
        return QRect(0, 0, width, height)
    page_width, page_height = (round(mm * dpi / MM_PER_INCH) for mm in _A4_MM)
    top = (page_height - stock.tickets_per_page * height) // 2
    return QRect((page_width - width) // 2, top + place * height, width, height)


def _draw_cut_marks(painter: QPainter, area: QRect, length: int) -> None:
    for x, outward in ((area.left(), -1), (area.right(), 1)):
        for y in (area.top(), area.bottom()):
            painter.drawLine(x + outward * length // 4, y, x + outward * length, y)
