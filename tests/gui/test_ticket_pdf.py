"""Tickets as PDF: the page is the stock, every QR code decodes at the printer's own resolution, names are shaped."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
import zxingcpp
from PIL import Image

from app.bridge.ticket_face import QUIET_MODULES, CodeTooWideError, qr_raster
from app.bridge.ticket_pdf import PdfTicketPrinter, Stock, drawn, write_pdf
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketFace, TicketSheet
from widgets.theme import Theme

MM = 25.4
CODES = tuple(f"T-4Q7Z90AM3KX{number:05}WQ2" for number in range(7))
SHEET = TicketSheet(
    print_job_id="0198a1",
    order_number="TQ-000123",
    event_name="La Traviata",
    venue_name="Teatro Real, Madrid",
    starts_at=datetime(2026, 12, 4, 19, 30, tzinfo=UTC),
    zone="Europe/Madrid",
    language="en",
    tickets=tuple(
        TicketFace(f"t{number}", "Stalls", "AA", str(number + 1), "Adult", 4550, "EUR", code)
        for number, code in enumerate(CODES)
    ),
)


def pages_of(path: Path, dpi: int = 203) -> list[Image.Image]:
    document = pypdfium2.PdfDocument(path)
    try:
        return [page.render(scale=dpi / 72).to_pil().convert("L") for page in document]
    finally:
        document.close()


def sizes_mm(path: Path) -> list[tuple[float, float]]:
    document = pypdfium2.PdfDocument(path)
    try:
        return [(width * MM / 72, height * MM / 72) for width, height in (page.get_size() for page in document)]
    finally:
        document.close()


def codes_on(image: Image.Image) -> list[str]:
    return sorted(found.text for found in zxingcpp.read_barcodes(image))


def draw_sheet(path: Path, sheet: TicketSheet, stock: Stock, dpi: int) -> None:
    write_pdf(path, drawn(sheet, stock, dpi))


def print_on(printer: PdfTicketPrinter, sheet: TicketSheet = SHEET) -> PrintOutcome:
    return asyncio.run(printer.print_tickets(sheet))


@pytest.mark.parametrize("stock", [Stock(), Stock(150, 60), Stock(82.5, 51)])
def test_a_page_is_the_ticket_stock_within_half_a_millimetre_k11(theme: Theme, tmp_path: Path, stock: Stock) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, SHEET, stock, 203)
    sizes = sizes_mm(path)
    assert len(sizes) == len(CODES)
    for width, height in sizes:
        assert width == pytest.approx(stock.width_mm, abs=0.5)
        assert height == pytest.approx(stock.height_mm, abs=0.5)


@pytest.mark.parametrize("dpi", [203, 300])
def test_each_qr_code_decodes_at_the_printers_resolution(theme: Theme, tmp_path: Path, dpi: int) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, SHEET, Stock(), dpi)
    assert [codes_on(page) for page in pages_of(path, dpi)] == [[code] for code in CODES]


def test_a4_takes_several_tickets_and_all_of_them_decode_k11(theme: Theme, tmp_path: Path) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, SHEET, Stock(on_a4=True), 203)
    assert [codes_on(page) for page in pages_of(path)] == [sorted(CODES[:5]), sorted(CODES[5:])]
    for width, height in sizes_mm(path):
        assert width == pytest.approx(210, abs=0.5)
        assert height == pytest.approx(297, abs=0.5)


def test_modules_are_whole_dots_with_a_quiet_zone_k2(theme: Theme, tmp_path: Path) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, replace(SHEET, tickets=SHEET.tickets[:1]), Stock(), 203)
    page = np.array(pages_of(path)[0])
    raster = qr_raster(CODES[0], 10_000, 203)
    found = zxingcpp.read_barcodes(Image.fromarray(page))[0].position
    left, top, right = found.top_left.x, found.top_left.y, found.top_right.x
    module = round((right - left) / len(raster.rows))
    dark = page[top : top + 7 * module, left : left + 7 * module] < 128
    # The finder's upper edge is seven whole modules wide: sharp to the dot.
    assert int(dark[module // 2].sum()) == 7 * module
    quiet = page[top - QUIET_MODULES * module + 2 : top - 2, left:right]
    assert int(quiet.min()) > 200


def test_a_code_too_wide_for_the_stock_is_refused_not_shrunk_k2(theme: Theme, tmp_path: Path) -> None:
    with pytest.raises(CodeTooWideError):
        qr_raster("X" * 400, 200, 203)
    long = replace(SHEET, tickets=(replace(SHEET.tickets[0], code="X" * 2000),))
    outcome = print_on(PdfTicketPrinter(tmp_path, Stock()), long)
    assert outcome.state is PrintState.FAILED
    assert not list(tmp_path.glob("*.pdf"))


def test_every_ticket_is_acknowledged_and_the_file_is_named(theme: Theme, tmp_path: Path) -> None:
    outcome = print_on(PdfTicketPrinter(tmp_path / "tickets", Stock()))
    assert outcome.state is PrintState.CONFIRMED
    assert outcome.printed == tuple(ticket.ticket_id for ticket in SHEET.tickets)
    assert Path(outcome.location).name == "TQ-000123-0198a1.pdf"
    assert not list((tmp_path / "tickets").glob("*.part"))


def test_the_same_print_job_is_drawn_once_k7(theme: Theme, tmp_path: Path) -> None:
    printer = PdfTicketPrinter(tmp_path, Stock())
    first = print_on(printer)
    before = Path(first.location).read_bytes()
    again = print_on(printer)
    assert again.state is PrintState.CONFIRMED
    assert again.location == first.location
    assert Path(again.location).read_bytes() == before


def test_a_folder_that_cannot_be_written_fails_and_does_not_raise(theme: Theme, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert print_on(PdfTicketPrinter(blocked, Stock())).state is PrintState.FAILED


@pytest.mark.parametrize(
    ("language", "name"),
    [("ar", "ليلة الأوبرا الكبرى في قرطبة"), ("ja", "椿姫・夜の特別公演"), ("pt", "Ópera à noite — São João")],
)
def test_names_of_every_script_are_drawn_and_the_code_still_decodes_k1(
    theme: Theme, tmp_path: Path, language: str, name: str
) -> None:
    path = tmp_path / "tickets.pdf"
    sheet = replace(SHEET, event_name=name, language=language, tickets=SHEET.tickets[:1])
    draw_sheet(path, sheet, Stock(), 203)
    page = pages_of(path)[0]
    assert codes_on(page) == [CODES[0]]
    boxes = tmp_path / "boxes.pdf"
    draw_sheet(boxes, replace(sheet, event_name="\U0010fffd" * len(name)), Stock(), 203)
    width = page.width
    side = (width // 2, 0, width, 100) if language == "ar" else (0, 0, width // 2, 100)
    assert page.crop(side).tobytes() != pages_of(boxes)[0].crop(side).tobytes()


def test_arabic_tickets_run_from_right_to_left_k1(theme: Theme, tmp_path: Path) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, replace(SHEET, language="ar", tickets=SHEET.tickets[:1]), Stock(), 203)
    page = pages_of(path)[0]
    place = zxingcpp.read_barcodes(page)[0].position
    assert place.top_right.x < page.width / 2


@pytest.mark.parametrize("name", ["Long " * 40, "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww", ""])
def test_a_long_name_stays_on_its_side_of_the_tear_line(theme: Theme, tmp_path: Path, name: str) -> None:
    path = tmp_path / "tickets.pdf"
    draw_sheet(path, replace(SHEET, event_name=name or " ", tickets=SHEET.tickets[:1]), Stock(), 203)
    page = pages_of(path)[0]
    place = zxingcpp.read_barcodes(page)[0].position
    assert codes_on(page) == [CODES[0]]
    margin = np.array(page.crop((place.top_left.x - 28, 0, place.top_left.x - 8, 60)))
    assert int((margin < 128).sum()) < 60  # the tear line at most
