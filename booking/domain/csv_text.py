"""Comma-separated values that a spreadsheet only reads, and never runs (case I5)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

BOM: Final = "\ufeff"
"""Some spreadsheets take a file for their own code page without it."""

_RUNS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Cell = str | int | Decimal | None


def csv_line(cells: Iterable[Cell]) -> str:
    """One line with its end. Numbers stay numbers, −5.00 as well; a text that a spreadsheet would run gets a `'`."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_shown(cell) for cell in cells])
    return line.getvalue()


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        # Spaces before it do not stop a spreadsheet.
        return f"'{cell}" if cell.lstrip(" \u00a0").startswith(_RUNS) else cell
    return str(cell)
