"""The live chart as a PDF or on a printer of the computer."""

from __future__ import annotations

import errno
from enum import Enum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPagedPaintDevice, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo

from app.bridge.ticket_pdf import write_whole
from widgets.chart_page import PX_PER_INCH, Chart, paint_page

DPI: Final = 200
_MARGIN_MM: Final = 12.0


class Paper(Enum):
    """Sheets that the chart is drawn for."""

    A4 = "A4"
    A3 = "A3"


_SIZES = {Paper.A4: QPageSize.PageSizeId.A4, Paper.A3: QPageSize.PageSizeId.A3}


def printer_names() -> list[str]:
    """The printers that the computer knows, the usual one first."""
    usual = QPrinterInfo.defaultPrinterName()
    names: list[str] = list(QPrinterInfo.availablePrinterNames())
    return sorted(names, key=lambda name: (name != usual, name))


def chart_pdf(chart: Chart, paper: Paper) -> bytes:
    """The chart as a PDF.

    Raises:
        OSError: Qt cannot draw it.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(DPI)
    writer.setTitle(chart.title)
    writer.setCreator("Taquilla")
    _paint(writer, chart, paper)
    return bytes(buffer.data().data())


def save_chart(chart: Chart, paper: Paper, path: Path) -> None:
    """Write the chart to a file: the whole of it, on the disk, or nothing.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, chart_pdf(chart, paper))


def print_chart(chart: Chart, paper: Paper, printer_name: str) -> None:
    """Send the chart to a printer.

    Raises:
        OSError: the printer is gone or does not take it.
    """
    info = QPrinterInfo.printerInfo(printer_name)
    if info.isNull():
        raise OSError(errno.ENODEV, "the printer is gone", printer_name)
    printer = QPrinter(info, QPrinter.PrinterMode.HighResolution)
    printer.setResolution(DPI)
    printer.setDocName(chart.title)
    _paint(printer, chart, paper)


def _paint(device: QPagedPaintDevice, chart: Chart, paper: Paper) -> None:
    wide = QPageLayout.Orientation.Landscape if chart.is_wide else QPageLayout.Orientation.Portrait
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    device.setPageLayout(QPageLayout(QPageSize(_SIZES[paper]), wide, margins, QPageLayout.Unit.Millimeter, QMarginsF()))
    inner = device.pageLayout().paintRect(QPageLayout.Unit.Inch)
    size = QSizeF(inner.width() * PX_PER_INCH, inner.height() * PX_PER_INCH)
    dpr = device.logicalDpiX() / PX_PER_INCH
    painter = QPainter()
    if not painter.begin(device):
        raise OSError(errno.EIO, "the chart cannot be drawn")
    try:
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
        painter.scale(dpr, dpr)
        for page in range(chart.pages):
            if page and not device.newPage():
                raise OSError(errno.EIO, "the chart cannot be drawn to the end")
            paint_page(painter, chart, page, size, dpr)
    finally:
        painter.end()
