"""From the bytes of a CSV file to its cells, bounded, whatever sign separates them (case I1)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.json_source import MAX_BYTES, decode_text
from booking.domain.seating_plan.model import MAX_LABEL, MAX_SEATS
from booking.domain.seating_plan.sayings import Says

MAX_CELLS = 5_000_000
MAX_LINES = 2 * MAX_SEATS
MAX_COLUMNS = 2_000
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of cells as they stand, each with the number of its first line in the file."""

    lines: tuple[tuple[int, list[str]], ...]
    delimiter: str


def load_table(data: bytes, findings: Findings) -> Table | None:
    """The cells of a file; None after reporting why there are none. A byte order mark is left out."""
    if len(data) > MAX_BYTES:
        message = Says.FILE_TOO_LARGE.of(count=len(data), most=MAX_BYTES)
        findings.fault("", FindingCode.FILE_TOO_LARGE, message)
        return None
    text = decode_text(data, findings)
    if text is None:
        return None
    delimiter = delimiter_of(text)
    if text.count(delimiter) > MAX_CELLS or text.count("\n") > MAX_LINES:
        findings.fault("", FindingCode.TOO_MANY, Says.CELLS_OR_LINES_TOO_MANY.of(most=MAX_CELLS, lines=MAX_LINES))
        return None
    return _parse(text, delimiter, findings)


def delimiter_of(text: str) -> str:
    """The sign that separates the cells of the first line that has any."""
    first = next((line for line in text[:100_000].splitlines() if line.strip()), "")
    counts = {delimiter: first.count(delimiter) for delimiter in _DELIMITERS}
    return max(counts, key=lambda delimiter: counts[delimiter])


def _parse(text: str, delimiter: str, findings: Findings) -> Table | None:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[tuple[int, list[str]]] = []
    number = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((number, cells))
            number = reader.line_num + 1
    except csv.Error as error:
        findings.fault(f"{number}:1", FindingCode.INVALID_CSV, Says.LINE_UNREADABLE.of(line=number, detail=str(error)))
        return None
    return Table(tuple(lines), delimiter)


def checked_cell(findings: Findings, line: int, column: int, cell: str) -> str | None:
    """The text of a cell without outer spaces; None after a fault. Lines and columns count from 1."""
    text = cell.strip()
    if len(text) > MAX_LABEL:
        message = Says.CELL_TOO_LONG.of(count=len(text), most=MAX_LABEL)
        findings.fault(f"{line}:{column}", FindingCode.TEXT_TOO_LONG, message)
        return None
    if not text.isprintable():
        findings.fault(f"{line}:{column}", FindingCode.TEXT_UNPRINTABLE, Says.CELL_UNPRINTABLE.of())
        return None
    return text


def column_name(column: int) -> str:
    """As spreadsheets count columns: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name
