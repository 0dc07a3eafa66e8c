"""What a reader found in a plan file: faults refuse it, warnings do not, repairs say what was changed (case I3).

A reader reports everything at once and raises nothing. Each finding points into the file with a JSON pointer
(RFC 6901), or `line:column` for formats that are not JSON (the column of a table is its cell), and carries a stable
kebab-case code.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.repairs import DEFAULT_REPAIRS, Repair
from booking.domain.seating_plan.sayings import Saying, Says

MAX_OF_A_KIND = 10_000
"""Findings of one code that are kept; further ones are counted. A plan has 200,000 seats at most."""


class FindingCode(StrEnum):
    """Stable codes; scripts branch on these."""

    UNKNOWN_FORMAT = "unknown-format"
    UNKNOWN_VERSION = "unknown-version"
    MORE_OF_THIS_KIND = "more-of-this-kind"
    FILE_TOO_LARGE = "file-too-large"
    BAD_ENCODING = "bad-encoding"
    BYTE_ORDER_MARK = "byte-order-mark"
    INVALID_JSON = "invalid-json"
    INVALID_XML = "invalid-xml"
    ENTITIES_REFUSED = "entities-refused"
    TRANSFORM_UNKNOWN = "transform-unknown"
    SHAPE_UNKNOWN = "shape-unknown"
    PATTERN_UNKNOWN = "pattern-unknown"
    INVALID_CSV = "invalid-csv"
    HEADER_UNKNOWN = "header-unknown"
    HEADER_MISSING = "header-missing"
    HEADER_REPEATS = "header-repeats"
    CELL_UNKNOWN = "cell-unknown"
    CELLS_MISSING = "cells-missing"
    CELLS_BEYOND = "cells-beyond"
    TOO_DEEP = "too-deep"
    WRONG_TYPE = "wrong-type"
    MEMBER_MISSING = "member-missing"
    MEMBER_REPEATS = "member-repeats"
    UNKNOWN_MEMBER = "unknown-member"
    UNKNOWN_VALUE = "unknown-value"
    NOT_FINITE = "number-not-finite"
    OUT_OF_RANGE = "number-out-of-range"
    TEXT_EMPTY = "text-empty"
    TEXT_TOO_LONG = "text-too-long"
    TEXT_UNPRINTABLE = "text-unprintable"
    TOO_MANY = "too-many"
    COLOR_UNKNOWN = "color-unknown"
    CATEGORY_UNKNOWN = "category-unknown"
    CATEGORY_MISSING = "category-missing"
    CATEGORY_REPEATS = "category-repeats"
    CATEGORY_ADDED = "category-added"
    CATEGORY_UNUSED = "category-unused"
    LABEL_CONFUSABLE = "label-confusable"
    LABEL_PADDED = "label-padded"
    SECTION_REPEATS = "section-repeats"
    SECTION_WITHOUT_ROWS = "section-without-rows"
    SECTION_DROPPED = "section-dropped"
    ROW_REPEATS = "row-repeats"
    ROW_WITHOUT_SEATS = "row-without-seats"
    NO_SEATS = "no-seats"
    ROW_LABEL_MISSING = "row-label-missing"
    SEAT_NUMBER_MISSING = "seat-number-missing"
    SEAT_NUMBER_REPEATS = "seat-number-repeats"
    SEAT_NUMBERED = "seat-numbered"
    NUMBER_AS_TEXT = "number-as-text"
    SEATS_COINCIDE = "seats-coincide"
    SEATS_OVERLAP = "seats-overlap"
    GUID_MISSING = "guid-missing"
    GUID_REPEATS = "guid-repeats"
    GUID_FROM_UUID = "guid-from-uuid"
    GUID_GENERATED = "guid-generated"
    ROW_DROPPED = "row-dropped"
    TABLE_MOVED = "table-moved"
    SOLD_AS_A_WHOLE = "sold-as-a-whole"
    STANDING_REPEATS = "standing-repeats"
    NOT_KEPT = "not-kept"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing at one place; `saying` says in plain words what is wrong and, where known, what to do.

    `repair` names the repair that would mend it, or that did; empty when there is none.
    """

    pointer: str
    code: FindingCode
    saying: Saying
    repair: str = ""

    @property
    def message(self) -> str:
        """What is wrong, in English."""
        return self.saying.text


@dataclass(frozen=True, slots=True)
class PlanCounts:
    """What the file holds, as far as it could be read, refused or not."""

    seats: int = 0
    ga_capacity: int = 0
    sections: int = 0
    categories: int = 0


@dataclass(frozen=True, slots=True)
class PlanReading:
    """The answer of every reader. `plan` is None exactly when there are faults: nothing is half imported."""

    format: str
    plan: SeatingPlan | None
    counts: PlanCounts
    faults: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    repairs: tuple[Finding, ...] = ()


@dataclass(slots=True)
class Findings:
    """Collects findings while a file is read; `chosen` are the repairs that may be made."""

    chosen: frozenset[Repair] = DEFAULT_REPAIRS
    faults: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    repairs: list[Finding] = field(default_factory=list)
    _counts: Counter[tuple[int, FindingCode]] = field(default_factory=Counter)

    def fault(self, pointer: str, code: FindingCode, saying: Saying, *, repair: str = "") -> None:
        self._keep(self.faults, Finding(pointer, code, saying, repair))

    def warn(self, pointer: str, code: FindingCode, saying: Saying) -> None:
        self._keep(self.warnings, Finding(pointer, code, saying))

    def repaired(self, pointer: str, code: FindingCode, saying: Saying, *, repair: str = "") -> None:
        self._keep(self.repairs, Finding(pointer, code, saying, repair))

    def may(self, repair: Repair) -> bool:
        """Whether this repair was chosen."""
        return repair in self.chosen

    def _keep(self, findings: list[Finding], finding: Finding) -> None:
        kind = (id(findings), finding.code)
        self._counts[kind] += 1
        if self._counts[kind] <= MAX_OF_A_KIND:
            findings.append(finding)

    def reading(self, format_name: str, plan: SeatingPlan | None, counts: PlanCounts) -> PlanReading:
        """Close the collection; a plan with faults is dropped here, at one place."""
        return PlanReading(
            format=format_name,
            plan=None if self.faults else plan,
            counts=counts,
            faults=self._closed(self.faults),
            warnings=self._closed(self.warnings),
            repairs=self._closed(self.repairs),
        )

    def _closed(self, findings: list[Finding]) -> tuple[Finding, ...]:
        rest = [
            Finding(
                "", FindingCode.MORE_OF_THIS_KIND, Says.MORE_FINDINGS.of(count=count - MAX_OF_A_KIND, name=code.value)
            )
            for (kind, code), count in self._counts.items()
            if kind == id(findings) and count > MAX_OF_A_KIND
        ]
        return (*sorted(findings, key=_place), *rest)


def place_order(pointer: str) -> tuple[tuple[int, int, str], ...]:
    """Order by place, indices as numbers: /zones/2 stands before /zones/10, line 2 before line 10."""
    return tuple(_token_order(token) for token in re.split("[/:]", pointer))


def _place(finding: Finding) -> tuple[tuple[tuple[int, int, str], ...], str]:
    return place_order(finding.pointer), finding.code


def _token_order(token: str) -> tuple[int, int, str]:
    if token.isascii() and token.isdecimal() and len(token) <= 9:
        return 0, int(token), ""
    return 1, 0, token
