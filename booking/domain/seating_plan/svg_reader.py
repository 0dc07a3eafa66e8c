"""Reader of seating plans drawn as SVG: shapes whose id or data attributes name a seat (seat_pattern.py).

A seat stands in the middle of its shape (circle, ellipse, rectangle, polygon, path, a `use` of one, or a group), with
every transform around it resolved. `data-category` gives a seat its category, `data-accessible` marks it. Other shapes
and texts become areas of the plan. Rows follow their seats along the drawing (row_order.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from booking.domain.seating_plan.category_book import CategoryBook
from booking.domain.seating_plan.drafts import Naming, PlanDraft, RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.model import MAX_LABEL, MAX_SEATS, Area, Point, SeatFlag
from booking.domain.seating_plan.options import DEFAULT_OPTIONS, ReadOptions
from booking.domain.seating_plan.plan_rules import finish
from booking.domain.seating_plan.row_order import order_along
from booking.domain.seating_plan.sayings import Says
from booking.domain.seating_plan.seat_pattern import USUAL_PATTERNS, SeatPattern, SeatPatternError, parse_pattern
from booking.domain.seating_plan.svg_drawing import Drawing
from booking.domain.seating_plan.svg_pictures import pictures_of
from booking.domain.seating_plan.svg_shapes import SeatNumbers, areas_of
from booking.domain.seating_plan.svg_source import Element, load_elements

FORMAT = "svg"
MAIN_SECTION = "Main"

_NAMING = Naming(guid_word="id")
_YES = frozenset({"", "true", "yes", "1", "accessible"})


def read_svg(data: bytes, options: ReadOptions = DEFAULT_OPTIONS) -> PlanReading:
    """Read a drawing; never raises."""
    findings = Findings(options.repairs)
    elements = load_elements(data, findings)
    pattern = None if elements is None else _pattern_for(elements, options.seat_pattern, findings)
    if elements is None or pattern is None:
        return findings.reading(FORMAT, None, PlanCounts())
    return _SvgReader(findings, elements, pattern).read(options.name)


def _pattern_for(elements: list[Element], text: str, findings: Findings) -> SeatPattern | None:
    """The user's pattern, or of the usual ones that which finds most seats."""
    try:
        if text:
            return parse_pattern(text)
    except SeatPatternError as error:
        findings.fault("", FindingCode.PATTERN_UNKNOWN, error.saying)
        return None
    candidates = [parse_pattern(usual) for usual in USUAL_PATTERNS]
    counts = [sum(pattern.match(element.attributes) is not None for element in elements) for pattern in candidates]
    if max(counts):
        return candidates[counts.index(max(counts))]
    message = Says.SEATS_NOT_NAMED.of(text=USUAL_PATTERNS[0])
    findings.fault("", FindingCode.NO_SEATS, message)
    return None


@dataclass(slots=True)
class _Seats:
    """Seats by section and row, both in the order in which the drawing first names them."""

    sections: dict[str, dict[str, list[SeatDraft]]] = field(default_factory=dict)
    count: int = 0


class _SvgReader:
    """One reading of one drawing."""

    def __init__(self, findings: Findings, elements: list[Element], pattern: SeatPattern) -> None:
        self._findings = findings
        self._elements = elements
        self._pattern = pattern
        self._drawing = Drawing(findings, elements)
        self._categories = CategoryBook(findings, grows=True)
        self._seats = _Seats()

    def read(self, name: str) -> PlanReading:
        seat_elements: set[int] = set()
        for index, element in enumerate(self._elements):
            named = self._pattern.match(element.attributes)
            if named is not None and self._is_seat(index, seat_elements):
                seat_elements.add(index)
                self._add_seat(index, element, named)
        if not self._seats.count:
            message = Says.PATTERN_MATCHES_NOTHING.of(text=self._pattern.text)
            self._findings.fault("", FindingCode.NO_SEATS, message)
        areas = areas_of(self._drawing, seat_elements, self._numbers())
        draft = PlanDraft(
            (self._title() or name)[:MAX_LABEL].strip(),
            "",
            self._categories.categories,
            self._categories.unused(),
            self._sections(),
            areas,
            size=self._drawing.size,
            seat_items=self._seats.count,
            has_seats_member=False,
            pictures=pictures_of(self._findings, self._drawing),
        )
        self._move_to_origin(draft)
        self._categories.check()
        return finish(self._findings, FORMAT, draft, _NAMING)

    def _is_seat(self, index: int, seats: set[int]) -> bool:
        """Not what is only defined; and of a group that is a seat, not the shapes in it that are named like it."""
        if self._drawing.is_definition(index):
            return False
        parent = self._elements[index].parent
        while parent >= 0:
            if parent in seats:
                return False
            parent = self._elements[parent].parent
        return True

    def _add_seat(self, index: int, element: Element, named: dict[str, str]) -> None:
        self._seats.count += 1
        if self._seats.count > MAX_SEATS:
            return
        if not self._drawing.is_shown(index):
            message = Says.SEAT_NOT_SHOWN.of(name=_name_of(element))
            self._findings.warn(element.pointer, FindingCode.SHAPE_UNKNOWN, message)
        at = self._drawing.middle(index)
        if at is None:
            message = Says.SEAT_SOMEWHERE.of(name=_name_of(element), text=element.tag)
            self._findings.fault(element.pointer, FindingCode.SHAPE_UNKNOWN, message)
        category = named.get("category") or element.attributes.get("data-category") or None
        seat = SeatDraft(
            element.pointer,
            element.attributes.get("id", "").strip(),
            "",
            named["number"],
            at,
            self._categories.number_of(category, element.pointer),
            _flags_of(element),
        )
        rows = self._seats.sections.setdefault(named.get("section", MAIN_SECTION), {})
        rows.setdefault(named.get("row", ""), []).append(seat)

    def _sections(self) -> list[SectionDraft]:
        sections: list[SectionDraft] = []
        for name, rows in self._seats.sections.items():
            drafts = [RowDraft(seats[0].pointer, label, seats=_along(seats)) for label, seats in rows.items()]
            sections.append(SectionDraft(drafts[0].pointer, name, rows=drafts))
        return sections

    def _numbers(self) -> SeatNumbers:
        numbers = SeatNumbers()
        for rows in self._seats.sections.values():
            for seats in rows.values():
                for seat in seats:
                    if seat.at is not None:
                        numbers.add(seat.number, seat.at)
        return numbers

    def _title(self) -> str:
        titles = [element.text for element in self._elements if element.tag == "title" and element.parent == 0]
        return " ".join("".join(titles[:1]).split())

    def _move_to_origin(self, draft: PlanDraft) -> None:
        """The view box may begin anywhere; a plan begins at 0, 0."""
        origin = self._drawing.origin
        for section in draft.sections:
            for row in section.rows:
                for seat in row.seats:
                    if seat.at is not None:
                        seat.at = Point(round(seat.at.x - origin.x, 3), round(seat.at.y - origin.y, 3))
        draft.areas = [_moved(area, origin) for area in draft.areas]


def _along(seats: list[SeatDraft]) -> list[SeatDraft]:
    placed = [seat for seat in seats if seat.at is not None]
    places = [seat.at for seat in placed if seat.at is not None]
    if len(placed) < len(seats):
        return seats  # refused anyway
    return [placed[index] for index in order_along(places, [seat.number for seat in placed])]


def _moved(area: Area, origin: Point) -> Area:
    text = area.text
    if text is not None:
        text = replace(text, x=round(text.x - origin.x, 3), y=round(text.y - origin.y, 3))
    points = tuple(Point(round(point.x - origin.x, 3), round(point.y - origin.y, 3)) for point in area.points)
    x, y = round(area.x - origin.x, 3), round(area.y - origin.y, 3)
    return replace(area, x=x, y=y, points=points, text=text)


def _name_of(element: Element) -> str:
    return element.attributes.get("id", element.tag)[:MAX_LABEL]


def _flags_of(element: Element) -> SeatFlag:
    """Marks from data attributes, or from classes of the same names."""
    classes = element.attributes.get("class", "").lower().split()
    flags = SeatFlag.NONE
    for name, flag in (
        ("accessible", SeatFlag.ACCESSIBLE),
        ("companion", SeatFlag.COMPANION),
        ("restricted-view", SeatFlag.RESTRICTED_VIEW),
    ):
        value = element.attributes.get(f"data-{name}")
        if name in classes or (value is not None and value.strip().lower() in _YES):
            flags |= flag
    return flags
