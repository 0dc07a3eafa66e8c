"""The live chart as a PDF or on a printer of the computer, while the console goes on.

The pages are drawn in the interface's thread in slices, with a turn of the loop between two; packing the pictures,
which takes longest, and the disk or the printer are a worker's. Qt's devices are made and let go in the interface's
thread.
"""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPagedPaintDevice, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo

from app.bridge.ticket_pdf import write_pdf
from widgets.chart_page import PX_PER_INCH, Chart, ChartDrawing, DrawnPage, put_on_paper

DPI: Final = 200
_MARGIN_MM: Final = 12.0
_DRAWN_SHARE: Final = 0.4
"""So much of the work is done once the pages are drawn."""


class ChartStoppedError(Exception):
    """Somebody stopped the work; nothing was written, and a printer was told to drop what it had."""

    code = "chart-stopped"


class ChartWork:
    """One chart on its way: how far it is, and whether it is wished no more. `stop` may be called in any thread."""

    def __init__(self, told: Callable[[float], None] = lambda _: None) -> None:
        self.done = 0.0
        self._told = told
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Stop at the next turn."""
        self._stopped.set()

    def reach(self, share: float) -> None:
        """So much is done, from 0 to 1; let other threads run.

        Raises:
            ChartStoppedError: `stop` was called.
        """
        if self._stopped.is_set():
            raise ChartStoppedError
        self.done = max(self.done, share)
        time.sleep(0)

    def tell(self) -> None:
        """Say how far it is; in the interface's thread."""
        self._told(self.done)


class Paper(Enum):
    """Sheets that the chart is drawn for."""

    A4 = "A4"
    A3 = "A3"


_SIZES = {Paper.A4: QPageSize.PageSizeId.A4, Paper.A3: QPageSize.PageSizeId.A3}
_TOLD_EVERY_S = 0.05


def printer_names() -> list[str]:
    """The printers that the computer knows, the usual one first."""
    usual = QPrinterInfo.defaultPrinterName()
    names: list[str] = list(QPrinterInfo.availablePrinterNames())
    return sorted(names, key=lambda name: (name != usual, name))


def chart_pdf(chart: Chart, paper: Paper) -> bytes:
    """The chart as a PDF, here and now.

    Raises:
        OSError: Qt cannot draw it.
    """
    drawing, work = ChartDrawing(chart), ChartWork()
    with _pdf(drawing, paper) as (device, buffer):
        pages = [page for page in drawing.pages(*_sheet(device)) if page is not None]
        _write(device, pages, work)
        return bytes(buffer.data().data())


async def save_chart(chart: Chart, paper: Paper, path: Path, work: ChartWork | None = None) -> None:
    """Write the chart to a file: the whole of it, on the disk, or nothing.

    Raises:
        OSError: the file cannot be written.
        ChartStoppedError: see there.
    """
    work = work or ChartWork()
    drawing = ChartDrawing(chart)
    with _pdf(drawing, paper) as (device, buffer):
        pages = await _drawn(drawing, device, work)

        def write() -> None:
            _write(device, pages, work)
            work.reach(1.0)
            write_pdf(path, bytes(buffer.data().data()))

        await _in_worker(write, work)


async def print_chart(chart: Chart, paper: Paper, printer_name: str, work: ChartWork | None = None) -> None:
    """Send the chart to a printer.

    Raises:
        OSError: the printer is gone or does not take it.
        ChartStoppedError: see there.
    """
    work = work or ChartWork()
    info = QPrinterInfo.printerInfo(printer_name)
    if info.isNull():
        raise OSError(errno.ENODEV, "the printer is gone", printer_name)
    drawing = ChartDrawing(chart)
    printer = QPrinter(info, QPrinter.PrinterMode.HighResolution)
    printer.setResolution(DPI)
    printer.setDocName(chart.title)
    _lay_out(printer, drawing, paper)
    pages = await _drawn(drawing, printer, work)
    try:
        await _in_worker(lambda: _write(printer, pages, work), work)
    except ChartStoppedError:
        printer.abort()
        raise


async def _drawn(drawing: ChartDrawing, device: QPagedPaintDevice, work: ChartWork) -> list[DrawnPage]:
    """All pages, with a turn of the loop after each slice."""
    pages: list[DrawnPage] = []
    for page in drawing.pages(*_sheet(device)):
        await asyncio.sleep(0)
        if page is not None:
            pages.append(page)
        work.reach(_DRAWN_SHARE * len(pages) / drawing.chart.pages)
        work.tell()
    return pages


async def _in_worker(write: Callable[[], None], work: ChartWork) -> None:
    """Run it in a worker and tell how far it is; who is cancelled stops it and waits for its end."""
    writing = asyncio.ensure_future(asyncio.to_thread(write))
    try:
        while not writing.done():
            await asyncio.wait({writing}, timeout=_TOLD_EVERY_S)
            work.tell()
    except asyncio.CancelledError:
        work.stop()
        await asyncio.wait({writing})
        writing.exception()  # taken note of: it was stopped
        raise
    writing.result()


@contextmanager
def _pdf(drawing: ChartDrawing, paper: Paper) -> Iterator[tuple[QPdfWriter, QBuffer]]:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(DPI)
    writer.setTitle(drawing.chart.title)
    writer.setCreator("Taquilla")
    _lay_out(writer, drawing, paper)
    yield writer, buffer


def _lay_out(device: QPagedPaintDevice, drawing: ChartDrawing, paper: Paper) -> None:
    wide = QPageLayout.Orientation.Landscape if drawing.is_wide else QPageLayout.Orientation.Portrait
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    device.setPageLayout(QPageLayout(QPageSize(_SIZES[paper]), wide, margins, QPageLayout.Unit.Millimeter, QMarginsF()))


def _sheet(device: QPagedPaintDevice) -> tuple[QSizeF, float]:
    """What can be printed on, in logical px, and how many px of the device each of them is."""
    inner = device.pageLayout().paintRect(QPageLayout.Unit.Inch)
    size = QSizeF(inner.width() * PX_PER_INCH, inner.height() * PX_PER_INCH)
    return size, device.logicalDpiX() / PX_PER_INCH


def _write(device: QPagedPaintDevice, pages: Sequence[DrawnPage], work: ChartWork) -> None:
    """Put drawn pages on a device; in any thread."""
    painter = QPainter()
    if not painter.begin(device):
        raise OSError(errno.EIO, "the chart cannot be drawn")
    try:
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
        for number, page in enumerate(pages):
            if number and not device.newPage():
                raise OSError(errno.EIO, "the chart cannot be drawn to the end")
            share = (1 - _DRAWN_SHARE) / len(pages)
            first = _DRAWN_SHARE + number * share
            painter.save()
            painter.scale(page.dpr, page.dpr)
            put_on_paper(painter, page, partial(_reach, work, first, share))
            painter.restore()
    finally:
        painter.end()


def _reach(work: ChartWork, first: float, share: float, done: float) -> None:
    work.reach(first + share * done)
