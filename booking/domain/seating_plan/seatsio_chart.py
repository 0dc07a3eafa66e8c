"""Walk through a seats.io sub-chart and the sections in it: seats, tables, booths, standing areas, in plan units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from booking.domain.seating_plan.category_book import CategoryBook
from booking.domain.seating_plan.drafts import RowDraft, SeatDraft, SectionDraft, StandingDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import (
    MAX_AREAS,
    MAX_PLACES,
    MAX_ROWS,
    MAX_SEATS,
    MAX_SECTIONS,
    MAX_STANDING,
    Area,
    AreaShape,
    LabelPosition,
    Point,
    SeatFlag,
    Table,
    TableKind,
)
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Saying, Says, Thing
from booking.domain.seating_plan.seatsio_shapes import read_ground, read_shape, read_text, section_scale

MAIN_SECTION = "Main"

_UNKNOWN_LABEL = "?"
_SEAT_MARKS = {
    "accessible": SeatFlag.ACCESSIBLE,
    "companionSeat": SeatFlag.COMPANION,
    "restrictedView": SeatFlag.RESTRICTED_VIEW,
}
_NOT_KEPT = {
    "icons": Thing.ICONS, "imageObjects": Thing.IMAGES, "lines": Thing.LINES, "backgroundImage": Thing.BACKGROUND,
    "referenceChart": Thing.REFERENCE_CHART,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sub-chart lies: a point of its own at `scale` times its coordinates, from `dx`, `dy`."""

    section: str = ""
    main: str = MAIN_SECTION
    category: str | None = None
    floor_no: int = 0
    dx: float = 0.0
    dy: float = 0.0
    scale: float = 1.0

    def at(self, point: Point) -> Point:
        return Point(round(self.dx + point.x * self.scale, 6), round(self.dy + point.y * self.scale, 6))


@dataclass(slots=True)
class ChartWalk:
    """What was found on the way. `scale` is the chart's factor between sections and what is in them."""

    findings: Findings
    categories: CategoryBook
    scale: float
    areas: list[Area] = field(default_factory=list)
    standing: list[StandingDraft] = field(default_factory=list)
    focal: Point | None = None
    size: tuple[float, float] = (0.0, 0.0)
    seat_items: int = 0
    _sections: list[SectionDraft] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)

    def sections(self) -> list[SectionDraft]:
        """The sections that have rows, in the order of the chart."""
        return [section for section in self._sections if section.rows]

    def walk(self, sub: Members, place: Place) -> None:
        """Everything of one sub-chart."""
        if not place.section:
            width, height = sub.number("width", required=False), sub.number("height", required=False)
            self.size = max(self.size[0], width or 0.0), max(self.size[1], height or 0.0)
        section = SectionDraft(sub.pointer, place.section or place.main, floor_no=place.floor_no)
        if place.section:
            section.pointer = sub.pointer.removesuffix("/subChart")
        self._sections.append(section)
        standing = len(self.standing)
        for name, limit, read in (
            ("rows", MAX_ROWS, self._row),
            ("tables", MAX_ROWS, self._table),
            ("booths", MAX_ROWS, self._booth),
        ):
            section.rows += [row for row in self._each(sub, name, limit, read, place) if row is not None]
        for name, limit in (("generalAdmissionAreas", MAX_STANDING), ("shapes", MAX_AREAS), ("texts", MAX_AREAS)):
            self._each(
                sub,
                name,
                limit,
                {"generalAdmissionAreas": self._ga, "shapes": self._shape}.get(name, self._text),
                place,
            )
        inner = len(self._sections)
        self._each(sub, "sections", MAX_SECTIONS, self._section, place)
        self._read_focal(sub, place)
        self._warn_not_kept(sub)
        holds_something = section.rows or len(self.standing) > standing or len(self._sections) > inner
        if place.section and not holds_something:
            self._report_empty_section(section.pointer)

    def _each(
        self, parent: Members, name: str, limit: int, read: Callable[[Members, Place], RowDraft | None], place: Place
    ) -> list[RowDraft | None]:
        return [
            read(Members(self.findings, value, f"{parent.at(name)}/{index}"), place)
            for index, value in enumerate(parent.items(name, limit=limit, required=False))
        ]

    def _report_empty_section(self, pointer: str) -> None:
        if self.findings.may(Repair.DROP_EMPTY):
            message = Says.SECTION_LEFT_OUT.of(what=Thing.SECTION)
            self.findings.repaired(pointer, FindingCode.SECTION_DROPPED, message, repair=Repair.DROP_EMPTY)
        else:
            message = Says.SECTION_EMPTY.of(what=Thing.SECTION)
            self.findings.fault(pointer, FindingCode.SECTION_WITHOUT_ROWS, message, repair=Repair.DROP_EMPTY)

    def _read_focal(self, sub: Members, place: Place) -> None:
        if self.focal is None and sub.has("focalPoint") and not place.section:
            point = sub.loose_point("focalPoint")
            self.focal = None if point is None else place.at(point)

    def _warn_not_kept(self, sub: Members) -> None:
        for name, what in _NOT_KEPT.items():
            if sub.has(name) and not sub.holds_empty(name):
                self._warn_once(sub.at(name), FindingCode.NOT_KEPT, name, Says.NOT_KEPT.of(what=what))

    def _warn_once(self, pointer: str, code: FindingCode, key: str, message: Saying) -> None:
        if key not in self._warned:
            self._warned.add(key)
            self.findings.warn(pointer, code, message)

    # ---------------------------------------------------------------- sections

    def _section(self, section: Members, place: Place) -> None:
        label = self._label_of(section, FindingCode.TEXT_EMPTY, Thing.SECTION)
        top_left = section.loose_point("topLeft") if section.has("topLeft") else Point(0.0, 0.0)
        sub = section.members("subChart")
        if sub is None or top_left is None:
            return
        at = place.at(top_left)
        scale = place.scale * section_scale(section, sub, self.scale)
        name = f"{place.section}-{label}" if place.section else label
        self.walk(
            sub,
            replace(
                place,
                section=name,
                category=section.key("categoryKey") or place.category,
                dx=at.x,
                dy=at.y,
                scale=scale,
            ),
        )

    # ---------------------------------------------------------------- rows, tables, booths

    def _row(self, row: Members, place: Place) -> RowDraft | None:
        label = "" if row.holds_empty("seats") else self._label_of(row, FindingCode.ROW_LABEL_MISSING, Thing.ROW)
        draft = RowDraft(row.pointer, label, _label_position(row.text("rowLabelPosition", required=False) or ""))
        self._read_seats(row, draft, place)
        return draft

    def _table(self, table: Members, place: Place) -> RowDraft | None:
        label = self._label_of(table, FindingCode.ROW_LABEL_MISSING, Thing.TABLE)
        draft = RowDraft(table.pointer, label, table=self._table_shape(table, place, TableKind.TABLE))
        if draft.table is not None and draft.table.whole:
            message = Says.TABLES_SOLD_BY_SEAT.of()
            self._warn_once(table.at("bookAsAWhole"), FindingCode.SOLD_AS_A_WHOLE, "table", message)
        self._read_seats(table, draft, place)
        return draft

    def _booth(self, booth: Members, place: Place) -> RowDraft | None:
        label = self._label_of(booth, FindingCode.SEAT_NUMBER_MISSING, Thing.BOOTH)
        shape = self._table_shape(booth, place, TableKind.BOOTH)
        self.seat_items += 1
        seat = SeatDraft(
            booth.pointer,
            (booth.text("uuid", required=False) or "").strip(),
            "",
            label,
            None if shape is None else Point(shape.x, shape.y),
            self._category_of(booth, place.category),
        )
        return RowDraft(booth.pointer, "", seats=[seat], table=shape)

    def _table_shape(self, table: Members, place: Place, kind: TableKind) -> Table | None:
        middle = table.loose_point("center")
        if middle is None:
            return None
        radius = table.number("radius", required=False, minimum=0.0)
        is_round = table.text("type", required=False) == "round" or (radius is not None and not table.has("width"))
        width = 2 * (radius or 0.0) if is_round else table.number("width", minimum=0.0) or 0.0
        height = width if is_round else table.number("height", minimum=0.0) or 0.0
        at = place.at(middle)
        return Table(
            kind,
            AreaShape.CIRCLE if is_round else AreaShape.RECTANGLE,
            at.x,
            at.y,
            round(width * place.scale, 6),
            round(height * place.scale, 6),
            table.number("rotationAngle", required=False) or 0.0,
            table.flag("bookAsAWhole"),
        )

    def _read_seats(self, row: Members, draft: RowDraft, place: Place) -> None:
        inherited = row.key("categoryKey") or place.category
        values = row.items("seats", limit=MAX_SEATS)
        if row.has("seats") and not values:
            self._report_empty_row(row)
        for index, value in enumerate(values):
            self.seat_items += 1
            if self.seat_items <= MAX_SEATS:
                seat = Members(self.findings, value, f"{row.at('seats')}/{index}")
                draft.seats.append(self._seat(seat, place, inherited))

    def _report_empty_row(self, row: Members) -> None:
        pointer = row.at("seats")
        if self.findings.may(Repair.DROP_EMPTY):
            message = Says.ROW_LEFT_OUT.of()
            self.findings.repaired(pointer, FindingCode.ROW_DROPPED, message, repair=Repair.DROP_EMPTY)
        else:
            message = Says.ROW_EMPTY.of()
            self.findings.fault(pointer, FindingCode.ROW_WITHOUT_SEATS, message, repair=Repair.DROP_EMPTY)

    def _seat(self, seat: Members, place: Place, inherited: str | None) -> SeatDraft:
        x, y = seat.number("x"), seat.number("y")
        flags = SeatFlag.NONE
        for member, flag in _SEAT_MARKS.items():
            if seat.flag(member):
                flags |= flag
        return SeatDraft(
            seat.pointer,
            (seat.text("uuid", required=False) or "").strip(),
            "",
            self._number_of(seat),
            None if x is None or y is None else place.at(Point(x, y)),
            self._category_of(seat, inherited) if seat.is_object else 0,
            flags,
        )

    def _number_of(self, seat: Members) -> str:
        """The label; empty where it is missing, which seats.io shows as a question mark."""
        label = seat.label("label", required=False) if seat.has("label") else ""
        if label is None or not seat.is_object:
            return ""
        if label.strip() not in ("", _UNKNOWN_LABEL):
            return label
        if not self.findings.may(Repair.NUMBER_SEATS):
            message = Says.SEAT_UNLABELLED.of(text=label)
            self.findings.fault(seat.at("label"), FindingCode.SEAT_NUMBER_MISSING, message, repair=Repair.NUMBER_SEATS)
        return ""

    def _category_of(self, members: Members, inherited: str | None) -> int:
        return self.categories.number_of(members.key("categoryKey") or inherited, members.at("categoryKey"))

    def _label_of(self, members: Members, code: FindingCode, what: Thing) -> str:
        label = members.label("label", required=False) if members.has("label") else ""
        if label is not None and label.strip() in ("", _UNKNOWN_LABEL) and members.is_object:
            self.findings.fault(members.at("label"), code, Says.LABEL_MISSING.of(what=what))
        return label or ""

    # ---------------------------------------------------------------- standing areas, shapes, texts

    def _ga(self, area: Members, place: Place) -> None:
        label = self._label_of(area, FindingCode.TEXT_EMPTY, Thing.STANDING_AREA)
        capacity = area.whole("capacity", minimum=1, maximum=MAX_PLACES)
        number = self._category_of(area, place.category)
        if area.flag("bookAsAWhole"):
            message = Says.AREAS_SOLD_BY_PLACE.of()
            self._warn_once(area.at("bookAsAWhole"), FindingCode.SOLD_AS_A_WHOLE, "area", message)
        ground = read_ground(area, place.at, place.scale, place.floor_no)
        if capacity is not None and ground is not None:
            name = f"{place.section}-{label}" if place.section else label
            self.standing.append(StandingDraft(area.at("label"), name, capacity, number, ground))

    def _shape(self, shape: Members, place: Place) -> None:
        area = read_shape(shape, place.at, place.scale, place.floor_no)
        if area is not None:
            self.areas.append(area)

    def _text(self, text: Members, place: Place) -> None:
        area = read_text(text, place.at, place.scale, place.floor_no)
        if area is not None:
            self.areas.append(area)


def _label_position(text: str) -> LabelPosition:
    """seats.io names them label-position-…, with invisible for none."""
    words = text.lower()
    starts = any(word in words for word in ("start", "left", "first", "begin"))
    ends = any(word in words for word in ("end", "right", "last"))
    both = "both" in words or (starts and ends)
    if both:
        return LabelPosition.BOTH
    return LabelPosition.START if starts else LabelPosition.END if ends else LabelPosition.NONE
