"""The hall drawn in cells: see csv_reader.py for what a cell may hold."""

from __future__ import annotations

import re

from booking.domain.seating_plan.category_book import CategoryBook
from booking.domain.seating_plan.csv_source import MAX_COLUMNS, Table, checked_cell
from booking.domain.seating_plan.drafts import PlanDraft, RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import (
    MAX_AREAS,
    MAX_LABEL,
    MAX_SEATS,
    Area,
    AreaShape,
    AreaText,
    Point,
    SeatFlag,
)
from booking.domain.seating_plan.row_order import order_along
from booking.domain.seating_plan.sayings import Says

PITCH = 25.0
MAIN_SECTION = "Main"
_SEAT = re.compile(r"(?:(?P<zone>[^:]*):)?\s*(?P<row>.*?)[\s._-]*(?P<number>\d+[A-Za-z]?)\s*(?P<mark>\+?)\Z")
_TEXT_SIZE = 14.0


def is_seat(cell: str) -> bool:
    """Whether a cell holds a seat."""
    return len(cell) <= MAX_LABEL and _SEAT.match(cell) is not None


class Grid:
    """One reading of one drawing: a cell is `PITCH` plan units wide and high."""

    def __init__(self, findings: Findings, table: Table) -> None:
        self._findings = findings
        self._table = table
        self._categories = CategoryBook(findings, grows=True)
        self._sections: dict[str, dict[str, list[SeatDraft]]] = {}
        self._areas: list[Area] = []
        self._seats = 0

    def read(self, name: str) -> PlanDraft:
        for line_no, cells in self._table.lines:
            for column, cell in enumerate(cells[:MAX_COLUMNS], start=1):
                if cell.strip():
                    self._cell(line_no, column, cell)
            if len(cells) > MAX_COLUMNS:
                message = Says.CELLS_TOO_MANY.of(count=len(cells), most=MAX_COLUMNS)
                self._findings.fault(f"{line_no}:{MAX_COLUMNS + 1}", FindingCode.TOO_MANY, message)
        self._categories.check()
        return PlanDraft(
            name,
            "",
            self._categories.categories,
            self._categories.unused(),
            [_section(title, rows) for title, rows in self._sections.items()],
            self._areas,
            seat_items=self._seats,
        )

    def _cell(self, line: int, column: int, cell: str) -> None:
        text = checked_cell(self._findings, line, column, cell)
        if text is None:
            return
        at = Point(column * PITCH, line * PITCH)
        if text.startswith("#"):
            self._text(text[1:].strip(), at)
            return
        found = _SEAT.match(text)
        if found is None:
            message = Says.CELL_NO_SEAT.of(text=text)
            self._findings.fault(f"{line}:{column}", FindingCode.CELL_UNKNOWN, message)
            return
        self._seats += 1
        if self._seats > MAX_SEATS:
            return
        zone = (found["zone"] or "").strip() or MAIN_SECTION
        pointer = f"{line}:{column}"
        seat = SeatDraft(
            pointer,
            "",
            "",
            found["number"],
            at,
            self._categories.number_of(zone if found["zone"] else None, pointer),
            SeatFlag.ACCESSIBLE if found["mark"] else SeatFlag.NONE,
        )
        self._sections.setdefault(zone, {}).setdefault(found["row"].strip() or str(line), []).append(seat)

    def _text(self, words: str, at: Point) -> None:
        if words and len(self._areas) < MAX_AREAS:
            text = AreaText(words, at.x, at.y, _TEXT_SIZE)
            self._areas.append(Area(AreaShape.TEXT, at.x, at.y, text=text))


def _section(title: str, rows: dict[str, list[SeatDraft]]) -> SectionDraft:
    drafts = [RowDraft(seats[0].pointer, label, seats=_along(seats)) for label, seats in rows.items()]
    return SectionDraft(drafts[0].pointer, title, rows=drafts)


def _along(seats: list[SeatDraft]) -> list[SeatDraft]:
    places = [seat.at or Point(0.0, 0.0) for seat in seats]
    return [seats[index] for index in order_along(places, [seat.number for seat in seats])]
