"""One seat a line: see csv_reader.py for the columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from booking.domain.seating_plan.category_book import CategoryBook
from booking.domain.seating_plan.csv_source import MAX_COLUMNS, Table, checked_cell, column_name
from booking.domain.seating_plan.drafts import Naming, PlanDraft, RowDraft, SeatDraft, SectionDraft, StandingDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import (
    MAX_COORDINATE,
    MAX_FLOORS,
    MAX_PLACES,
    MAX_SEATS,
    Area,
    AreaShape,
    Point,
    SeatFlag,
)
from booking.domain.seating_plan.pretix_additions import FLAG_NAMES
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.row_order import order_along
from booking.domain.seating_plan.sayings import Says

MAIN_SECTION = "Main"

_PITCH = 25.0
_STANDING_SIZE = 100.0
_SYNONYMS = {
    "section": ("section", "sector", "block", "zone", "bereich", "setor", "area"),
    "row": ("row", "rowlabel", "reihe", "fila"),
    "number": ("number", "seat", "seatnumber", "no", "seatno", "platz", "place", "lugar"),
    "x": ("x", "posx", "positionx"),
    "y": ("y", "posy", "positiony"),
    "category": ("category", "pricecategory", "pricezone", "kategorie", "categoria"),
    "floor": ("floor", "level"),
    "id": ("id", "guid", "seatid", "seatguid", "uuid"),
    "accessible": ("accessible", "wheelchair"),
    "companion": ("companion", "companionseat"),
    "restricted": ("restricted", "restrictedview"),
    "marks": ("marks", "flags"),
    "capacity": ("capacity", "places"),
}
_HEADER_OF = {word: header for header, words in _SYNONYMS.items() for word in words}
HEADERS = frozenset(_SYNONYMS)
_FLAG_COLUMNS = {
    "accessible": SeatFlag.ACCESSIBLE,
    "companion": SeatFlag.COMPANION,
    "restricted": SeatFlag.RESTRICTED_VIEW,
}
_YES = frozenset({"1", "true", "yes", "x", "y"})
_NO = frozenset({"", "0", "false", "no", "n"})


def header_of(cell: str) -> str:
    """The column that a header means; empty when it is not known."""
    return _HEADER_OF.get("".join(sign for sign in cell.casefold() if sign not in " _-."), "")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: its number and its cells by column."""

    number: int
    cells: dict[str, str]


class SeatList:
    """One reading of one list."""

    def __init__(self, findings: Findings, table: Table) -> None:
        self._findings = findings
        self._table = table
        self._columns: dict[str, int] = {}
        self._categories = CategoryBook(findings, grows=True)
        self._sections: dict[tuple[int, str], dict[str, list[SeatDraft]]] = {}
        self._standing: list[StandingDraft] = []
        self._floors: list[str] = []
        self._seats = 0

    @property
    def naming(self) -> Naming:
        """Where the cells of a seat's line are, once the header was read; a seat's pointer is its line."""
        return Naming(
            section=self._suffix("section"),
            row=self._suffix("row"),
            number=self._suffix("number"),
            place=self._suffix("x"),
            guid=self._suffix("id"),
        )

    def read(self, name: str) -> PlanDraft:
        header_is_sound = self._read_header()
        if header_is_sound:
            for number, cells in self._table.lines[1:]:
                line = self._line(number, cells)
                if line is None:
                    self._seats += 1  # broken, and said so
                else:
                    self._read_line(line)
        self._categories.check()
        draft = PlanDraft(
            name,
            "",
            self._categories.categories,
            self._categories.unused(),
            [self._section(floor_no, title, rows) for (floor_no, title), rows in self._sections.items()],
            [],
            self._standing,
            floors=tuple(self._floors) if len(self._floors) > 1 else (),
            seat_items=self._seats,
            has_seats_member=header_is_sound,
        )
        if "x" not in self._columns:
            _set_out(draft)
        return draft

    def _section(self, floor_no: int, title: str, rows: dict[str, list[SeatDraft]]) -> SectionDraft:
        drafts = [RowDraft(seats[0].pointer, label, seats=self._along(seats)) for label, seats in rows.items()]
        return SectionDraft(drafts[0].pointer, title, rows=drafts, floor_no=floor_no)

    def _along(self, seats: list[SeatDraft]) -> list[SeatDraft]:
        places = [seat.at for seat in seats if seat.at is not None]
        if "x" not in self._columns or len(places) < len(seats):
            return seats
        return [seats[index] for index in order_along(places, [seat.number for seat in seats])]

    # ---------------------------------------------------------------- header and cells

    def _read_header(self) -> bool:
        if not self._table.lines:
            self._findings.fault("1:1", FindingCode.HEADER_MISSING, Says.FILE_EMPTY.of())
            return False
        number, cells = self._table.lines[0]
        columns: dict[str, int] = {}
        if len(cells) > MAX_COLUMNS:
            self._findings.fault(f"{number}:1", FindingCode.TOO_MANY, Says.COLUMNS_TOO_MANY.of(most=MAX_COLUMNS))
            return False
        for column, cell in enumerate(cells, start=1):
            header = header_of(cell)
            pointer, letter = f"{number}:{column}", column_name(column)
            if not header:
                known = ", ".join(_SYNONYMS)
                text = cell.strip()[:80]
                message = Says.HEADER_UNKNOWN.of(line=number, column=column, letter=letter, text=text, known=known)
                self._findings.fault(pointer, FindingCode.HEADER_UNKNOWN, message)
            elif header in columns:
                message = Says.HEADER_REPEATS.of(line=number, column=column, letter=letter, name=header)
                self._findings.fault(pointer, FindingCode.HEADER_REPEATS, message)
            columns.setdefault(header, column)
        missing = [header for header in ("row", "number") if header not in columns]
        if ("x" in columns) != ("y" in columns):
            missing.append("y" if "x" in columns else "x")
        for header in missing:
            message = Says.HEADER_MISSING.of(line=number, name=header)
            self._findings.fault(f"{number}:1", FindingCode.HEADER_MISSING, message)
        columns.pop("", None)
        self._columns = columns
        return not missing

    def _line(self, number: int, cells: list[str]) -> _Line | None:
        width = len(self._table.lines[0][1])
        if len(cells) > width and any(cell.strip() for cell in cells[width:]):
            message = Says.CELLS_BEYOND.of(line=number, count=len(cells), most=width)
            self._findings.fault(f"{number}:{width + 1}", FindingCode.CELLS_BEYOND, message)
            return None
        values: dict[str, str] = {}
        for header, column in self._columns.items():
            cell = checked_cell(self._findings, number, column, cells[column - 1] if column <= len(cells) else "")
            if cell is None:
                return None
            values[header] = cell
        return _Line(number, values)

    def _at(self, line: _Line, header: str) -> str:
        return f"{line.number}{self._suffix(header)}"

    def _suffix(self, header: str) -> str:
        return f":{self._columns.get(header, 1)}"

    # ---------------------------------------------------------------- seats and standing areas

    def _read_line(self, line: _Line) -> None:
        floor_no = self._floor_of(line)
        category = self._categories.number_of(line.cells.get("category") or None, self._at(line, "category"))
        at = self._place_of(line)
        if line.cells.get("capacity") and not line.cells["number"]:
            self._standing_area(line, category, floor_no, at)
            return
        self._seats += 1
        if self._seats > MAX_SEATS:
            return
        seat = SeatDraft(
            str(line.number), line.cells.get("id", ""), "", self._number_of(line), at, category, self._flags_of(line)
        )
        rows = self._sections.setdefault((floor_no, line.cells.get("section") or MAIN_SECTION), {})
        rows.setdefault(line.cells["row"], []).append(seat)

    def _number_of(self, line: _Line) -> str:
        number = line.cells["number"]
        if not number and not self._findings.may(Repair.NUMBER_SEATS):
            message = Says.LINE_WITHOUT_SEAT_NUMBER.of(line=line.number)
            self._findings.fault(
                self._at(line, "number"), FindingCode.SEAT_NUMBER_MISSING, message, repair=Repair.NUMBER_SEATS
            )
        return number

    def _floor_of(self, line: _Line) -> int:
        name = line.cells.get("floor", "")
        if name not in self._floors:
            if len(self._floors) >= MAX_FLOORS:
                self._findings.fault(
                    self._at(line, "floor"), FindingCode.TOO_MANY, Says.FLOORS_TOO_MANY.of(most=MAX_FLOORS)
                )
                return 0
            self._floors.append(name)
        return self._floors.index(name)

    def _place_of(self, line: _Line) -> Point | None:
        if "x" not in self._columns:
            return Point(0.0, 0.0)  # set out once all seats are known
        x, y = self._coordinate(line, "x"), self._coordinate(line, "y")
        return None if x is None or y is None else Point(x, y)

    def _coordinate(self, line: _Line, header: str) -> float | None:
        text = line.cells[header]
        if self._table.delimiter != ",":
            text = text.replace(",", ".")
        try:
            value = float(text)
        except ValueError:
            message = (
                Says.CELL_NO_NUMBER.of(line=line.number, text=text)
                if text
                else Says.CELL_EMPTY.of(line=line.number, name=header)
            )
            code = FindingCode.WRONG_TYPE if text else FindingCode.CELLS_MISSING
            self._findings.fault(self._at(line, header), code, message)
            return None
        if not math.isfinite(value) or abs(value) > MAX_COORDINATE:
            message = Says.CELL_OUT_OF_RANGE.of(line=line.number, least=-MAX_COORDINATE, most=MAX_COORDINATE)
            self._findings.fault(self._at(line, header), FindingCode.OUT_OF_RANGE, message)
            return None
        return value

    def _flags_of(self, line: _Line) -> SeatFlag:
        flags = SeatFlag.NONE
        for header, flag in _FLAG_COLUMNS.items():
            value = line.cells.get(header, "").casefold()
            if value in _YES:
                flags |= flag
            elif value not in _NO:
                message = Says.CELL_NOT_YES_OR_NO.of(line=line.number, text=value)
                self._findings.fault(self._at(line, header), FindingCode.UNKNOWN_VALUE, message)
        for word in line.cells.get("marks", "").replace("|", " ").replace(",", " ").split():
            if word in FLAG_NAMES:
                flags |= FLAG_NAMES[word]
            else:
                message = Says.CELL_NO_MARK.of(line=line.number, text=word, known=", ".join(FLAG_NAMES))
                self._findings.fault(self._at(line, "marks"), FindingCode.UNKNOWN_VALUE, message)
        return flags

    def _standing_area(self, line: _Line, category: int, floor_no: int, at: Point | None) -> None:
        text = line.cells["capacity"]
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:12]) <= MAX_PLACES):
            message = Says.CELL_NO_CAPACITY.of(line=line.number, text=text, most=MAX_PLACES)
            self._findings.fault(self._at(line, "capacity"), FindingCode.OUT_OF_RANGE, message)
            return
        name = line.cells["row"] or line.cells.get("section") or ""
        if not name:
            message = Says.LINE_WITHOUT_STANDING_NAME.of(line=line.number)
            self._findings.fault(self._at(line, "row"), FindingCode.TEXT_EMPTY, message)
            return
        if at is not None:
            area = Area(AreaShape.RECTANGLE, at.x, at.y, _STANDING_SIZE, _STANDING_SIZE, floor_no=floor_no)
            self._standing.append(StandingDraft(self._at(line, "row"), name, int(text), category, area))


def _set_out(draft: PlanDraft) -> None:
    """Places for a list without any: a row a line, sections below each other, standing areas below all."""
    line = 1
    for section in draft.sections:
        for row in section.rows:
            for place, seat in enumerate(row.seats, start=1):
                seat.at = Point(place * _PITCH, line * _PITCH)
            line += 1
        line += 1
    for number, area in enumerate(draft.standing):
        left = _PITCH + number * (_STANDING_SIZE + _PITCH)
        moved = Area(
            AreaShape.RECTANGLE, left, line * _PITCH, _STANDING_SIZE, _STANDING_SIZE, floor_no=area.area.floor_no
        )
        draft.standing[number] = StandingDraft(area.name_at, area.name, area.capacity, area.category_no, moved)
