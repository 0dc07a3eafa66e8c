"""What is said about one plan file, to a person or to a script: all that is wrong, and what was derived from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from booking.domain.seating_plan.columns import columns_of_plan, part_starts
from booking.domain.seating_plan.derived import FocalSource, focal_with_source, seat_radius
from booking.domain.seating_plan.faults import Finding, PlanReading
from booking.domain.seating_plan.model import SeatingPlan
from booking.services.import_plan import ImportedPlan

_SHOWN_OF_A_KIND = 10
_SHOWN_ROWS = 12
_LISTED_ROWS = 500
_FOCAL_WORDS = {
    FocalSource.PLAN: "as the plan says",
    FocalSource.CORRECTED: "as corrected with --focal",
    FocalSource.STAGE: "the middle of the stage or pitch that the drawing names",
    FocalSource.UPPER_EDGE: "a guess, the middle of the upper edge: the plan names no stage",
}


@dataclass(frozen=True, slots=True)
class DividedRow:
    """A row that an aisle or a pillar divides: how many seats sit side by side in each part."""

    section: str
    row: str
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanReport:
    """One reading; `stored` once it was imported, `focal_corrected` when --focal was given."""

    name: str
    reading: PlanReading
    stored: ImportedPlan | None = None
    focal_corrected: bool = False

    def as_json(self) -> str:
        """The report for scripts; see plan_command for its keys."""
        counts = self.reading.counts
        body: dict[str, object] = {
            "format": self.reading.format,
            "seats": counts.seats,
            "ga_capacity": counts.ga_capacity,
            "sections": counts.sections,
            "categories": counts.categories,
            "faults": [_as_object(finding) for finding in self.reading.faults],
            "warnings": [_as_object(finding) for finding in self.reading.warnings],
            "repairs": [_as_object(finding) for finding in self.reading.repairs],
        }
        if self.reading.plan is not None:
            body["derived"] = self._derived(self.reading.plan)
        if self.stored is not None:
            body.update(plan_id=str(self.stored.plan_id), version=self.stored.version, is_new=self.stored.is_new)
        return json.dumps(body, ensure_ascii=False, indent=2) + "\n"

    def as_text(self) -> str:
        """The report for people."""
        counts = self.reading.counts
        size = f"{counts.seats:,} seats in {counts.sections} sections, {counts.categories} price categories"
        if counts.ga_capacity:
            size += f", {counts.ga_capacity:,} standing places"
        lines = [f"{self.name}: {self.reading.format}, {size}"]
        lines += _block("Faults", self.reading.faults, all_of_a_kind=True)
        lines += _block("Repairs", self.reading.repairs, all_of_a_kind=False)
        lines += _block("Warnings", self.reading.warnings, all_of_a_kind=False)
        if self.reading.plan is not None:
            lines += self._derived_lines(self.reading.plan)
        lines.append(self._verdict())
        return "\n".join(lines) + "\n"

    def _derived(self, plan: SeatingPlan) -> dict[str, object]:
        focal, source = self._focal(plan)
        divided, parts = _divided_rows(plan)
        return {
            "focal_point": {"x": focal[0], "y": focal[1], "from": source.value},
            "seat_radius": seat_radius(plan),
            "rows": len(plan.rows()),
            "row_parts": parts,
            "divided_rows": [
                {"section": row.section, "row": row.row, "parts": row.parts} for row in divided[:_LISTED_ROWS]
            ],
            "floors": list(plan.floors),
            "standing": [{"name": area.name, "capacity": area.capacity} for area in plan.standing],
        }

    def _derived_lines(self, plan: SeatingPlan) -> list[str]:
        (x, y), source = self._focal(plan)
        divided, parts = _divided_rows(plan)
        lines = [
            "Derived, for you to check:",
            f"  People look at ({x:g}, {y:g}), {_FOCAL_WORDS[source]}. --focal X,Y corrects it.",
            f"  {len(plan.rows()):,} rows in {parts:,} parts without a gap; only seats of one part are neighbours.",
        ]
        lines += [
            f"    {row.section}, row {row.row}: {' + '.join(map(str, row.parts))}" for row in divided[:_SHOWN_ROWS]
        ]
        if len(divided) > _SHOWN_ROWS:
            lines.append(f"    … and {len(divided) - _SHOWN_ROWS:,} more divided rows")
        return lines

    def _focal(self, plan: SeatingPlan) -> tuple[tuple[float, float], FocalSource]:
        point, source = focal_with_source(plan)
        if self.focal_corrected:
            source = FocalSource.CORRECTED
        return (point.x, point.y), source

    def _verdict(self) -> str:
        if self.reading.faults:
            count = len(self.reading.faults)
            verdict = f"{count} {'fault' if count == 1 else 'faults'}: this plan cannot be imported."
            offered = sorted({fault.repair for fault in self.reading.faults if fault.repair})
            flags = " ".join(f"--repair {name}" for name in offered)
            return f"{verdict}\nSome can be mended: {flags}" if offered else verdict
        if self.stored is None:
            return "No faults: this plan can be imported."
        if self.stored.is_new:
            return f"Imported as plan {self.stored.plan_id}, version {self.stored.version}."
        return f"Already there as plan {self.stored.plan_id}, version {self.stored.version}."


def _divided_rows(plan: SeatingPlan) -> tuple[list[DividedRow], int]:
    """The rows of more than one part, and the number of all parts."""
    columns = columns_of_plan(plan)
    starts = part_starts(columns)
    ends = np.cumsum(columns.row_counts)
    divided: list[DividedRow] = []
    for (section_no, row), end in zip(plan.rows(), ends.tolist(), strict=True):
        own = np.flatnonzero(starts[end - len(row.seats) : end])
        if len(own) > 1:
            sizes = np.diff(np.append(own, len(row.seats))).tolist()
            divided.append(DividedRow(plan.sections[section_no].name, row.label, tuple(sizes)))
    return divided, int(starts.sum())


def _as_object(finding: Finding) -> dict[str, str]:
    """With `repair` where one is offered or was made."""
    body = {"pointer": finding.pointer, "code": finding.code.value, "message": finding.message}
    return body | ({"repair": str(finding.repair)} if finding.repair else {})


def _block(title: str, findings: Sequence[Finding], *, all_of_a_kind: bool) -> Iterator[str]:
    """A headed list; of kinds that come by the hundred only the first ones, and how many more there are."""
    if findings:
        yield f"{title}:"
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if all_of_a_kind or shown[finding.code] <= _SHOWN_OF_A_KIND:
            place = finding.pointer or "(whole file)"
            yield f"  {place}: {finding.message} [{finding.code}]"
    for code, count in shown.items():
        if not all_of_a_kind and count > _SHOWN_OF_A_KIND:
            yield f"  … and {count - _SHOWN_OF_A_KIND} more [{code}]"
