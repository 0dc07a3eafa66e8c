"""Readers of seating plans as tables: one seat a line, or the hall drawn in the cells of a spreadsheet.

**List**: a header names the columns, in any order and in capitals or not: `row` and `number` (or `seat`) must be
there; `section`, `x`, `y`, `category`, `floor`, `id`, `accessible`, `companion`, `restricted`, `marks` and `capacity`
may. A line with a `capacity` and no number is a standing area. Without `x` and `y` the seats are set out in rows, in
the order of the file; with them they follow each other along their row (row_order.py).

**Grid**: a cell is `zone:seat` with `+` behind it for an accessible seat; a blank is an aisle. The seat is a row label
and a number (`B12`); a number alone is in the row of its line. A cell that begins with `#` is a text drawn there.
"""

from __future__ import annotations

from booking.domain.seating_plan.csv_grid import Grid, is_seat
from booking.domain.seating_plan.csv_list import HEADERS, SeatList, header_of
from booking.domain.seating_plan.csv_source import Table, delimiter_of, load_table
from booking.domain.seating_plan.drafts import Naming
from booking.domain.seating_plan.faults import Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.options import DEFAULT_OPTIONS, ReadOptions
from booking.domain.seating_plan.plan_rules import finish

CSV_LIST, CSV_GRID = "csv-list", "csv-grid"
_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 64 * 1024


def csv_format_of(data: bytes) -> str:
    """Which of the two a file is, by its first line; empty when it is neither.

    A list has a header of which two words are known (one may be misspelt: that is reported by the reader). A grid has
    cells of the form zone:seat, and most of its cells are seats.
    """
    try:
        text = data.removeprefix(_MARK)[:_LOOKED_AT].decode("utf-8", errors="ignore")
    except UnicodeDecodeError:
        return ""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or "\x00" in text:
        return ""
    delimiter = delimiter_of(text)
    words = {header_of(cell.strip().strip('"')) for cell in lines[0].split(delimiter)}
    if len(words & HEADERS) >= 2:
        return CSV_LIST
    cells = [cell.strip() for line in lines[:200] for cell in line.split(delimiter) if cell.strip()]
    seats = [cell for cell in cells if is_seat(cell)]
    return CSV_GRID if 2 * len(seats) >= len(cells) and any(":" in cell for cell in seats) else ""


def read_csv_list(data: bytes, options: ReadOptions = DEFAULT_OPTIONS) -> PlanReading:
    """Read one seat a line; never raises."""
    findings, table = _load(data, options)
    if table is None:
        return findings.reading(CSV_LIST, None, PlanCounts())
    seats = SeatList(findings, table)
    draft = seats.read(options.name)
    return finish(findings, CSV_LIST, draft, seats.naming)


def read_csv_grid(data: bytes, options: ReadOptions = DEFAULT_OPTIONS) -> PlanReading:
    """Read a hall drawn in cells; never raises."""
    findings, table = _load(data, options)
    if table is None:
        return findings.reading(CSV_GRID, None, PlanCounts())
    return finish(findings, CSV_GRID, Grid(findings, table).read(options.name), Naming())


def _load(data: bytes, options: ReadOptions) -> tuple[Findings, Table | None]:
    findings = Findings(options.repairs)
    return findings, load_table(data, findings)
