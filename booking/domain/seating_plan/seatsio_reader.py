"""Reader of seats.io charts: the drawing that their designer exports, versions 13 to 30.

`{name, version, venueType, categories{list[{label, key, color}]}, subChart | subChartFloors[…]}`. A sub-chart has rows,
tables, booths, general-admission areas, shapes, texts, a focal point, and sections, each with a sub-chart of its own in
coordinates of its own. What has no category of its own has that of its table or section. A seat is known by its `uuid`,
which stays when labels change. The designer's own members (spacings, counters, guides) are read over in silence; what
a map would show and we do not keep is named.
"""

from __future__ import annotations

from booking.domain.seating_plan.category_book import CategoryBook, palette_color
from booking.domain.seating_plan.drafts import Naming, PlanDraft
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanReading
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import MAX_CATEGORIES, MAX_FLOORS
from booking.domain.seating_plan.plan_rules import finish
from booking.domain.seating_plan.sayings import Says
from booking.domain.seating_plan.seatsio_chart import ChartWalk, Place

FORMAT = "seatsio"

_VERSIONS = range(13, 31)
_NAMING = Naming(section="/label", row="/label", number="/label", guid="/uuid", guid_word="uuid")


def read_seatsio_value(value: object, findings: Findings) -> PlanReading:
    """Read a chart of parsed JSON; never raises."""
    chart = Members(findings, value, "")
    name = (chart.text("name", required=False) or "").strip()
    _check_version(findings, chart)
    categories = CategoryBook(findings)
    _read_categories(findings, chart, categories)
    scale = chart.number("sectionScaleFactor", required=False, minimum=1.0) or 100.0
    walk = ChartWalk(findings, categories, scale / 100.0)
    floors = _walk_floors(findings, chart, walk)
    width, height = walk.size
    draft = PlanDraft(
        name,
        chart.at("subChartFloors" if chart.has("subChartFloors") else "subChart"),
        categories.categories,
        categories.unused(),
        walk.sections(),
        walk.areas,
        walk.standing,
        (width, height) if width >= 1.0 and height >= 1.0 else None,
        walk.focal,
        floors,
        walk.seat_items,
        has_seats_member=chart.has("subChart") or chart.has("subChartFloors"),
    )
    return finish(findings, FORMAT, draft, _NAMING)


def _check_version(findings: Findings, chart: Members) -> None:
    version = chart.whole("version", minimum=0, maximum=1_000_000, required=False)
    if version is not None and version not in _VERSIONS:
        message = Says.VERSION_NOT_SEEN.of(version=version, least=_VERSIONS[0], most=_VERSIONS[-1])
        findings.warn(chart.at("version"), FindingCode.UNKNOWN_VERSION, message)


def _read_categories(findings: Findings, chart: Members, categories: CategoryBook) -> None:
    holder = chart.members("categories")
    values = holder.items("list", limit=MAX_CATEGORIES) if holder is not None else []
    categories.is_broken = holder is None or not (values or holder.holds_list("list"))
    for index, value in enumerate(values):
        pointer = f"{holder.at('list') if holder is not None else ''}/{index}"
        members = Members(findings, value, pointer)
        label = members.text("label")
        key = members.key("key")
        color = members.color("color", palette_color(index))
        categories.list_category(pointer, members.at("label"), key, label, color)
    categories.check()


def _walk_floors(findings: Findings, chart: Members, walk: ChartWalk) -> tuple[str, ...]:
    """Walk the sub-chart, or the one of each floor; the names of the floors."""
    if not chart.has("subChartFloors"):
        sub = chart.members("subChart")
        if sub is not None:
            walk.walk(sub, Place())
        return ()
    names: list[str] = []
    for index, value in enumerate(chart.items("subChartFloors", limit=MAX_FLOORS)):
        floor = Members(findings, value, f"{chart.at('subChartFloors')}/{index}")
        titles = [
            floor.text(member, required=False) for member in ("displayName", "label", "name") if floor.has(member)
        ]
        names.append(next((title for title in titles if title), f"Floor {index + 1}"))
        sub = floor.members("subChart") if floor.has("subChart") else floor
        if sub is not None:
            walk.walk(sub, Place(floor_no=index, main=names[-1]))
    return tuple(names) if len(names) > 1 else ()
