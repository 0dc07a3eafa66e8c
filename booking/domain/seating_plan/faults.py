"""What a reader found in a plan file: faults refuse it, warnings do not, repairs say what was changed (case I3).

A reader reports everything at once and raises nothing. Each finding points into the file with a JSON pointer
(RFC 6901), or `line:column` for formats that are not JSON, and carries a stable kebab-case code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from booking.domain.seating_plan.model import SeatingPlan


class FindingCode(StrEnum):
    """Stable codes; scripts branch on these."""

    UNKNOWN_FORMAT = "unknown-format"
    FILE_TOO_LARGE = "file-too-large"
    BAD_ENCODING = "bad-encoding"
    BYTE_ORDER_MARK = "byte-order-mark"
    INVALID_JSON = "invalid-json"
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
    CATEGORY_REPEATS = "category-repeats"
    CATEGORY_UNUSED = "category-unused"
    LABEL_CONFUSABLE = "label-confusable"
    LABEL_PADDED = "label-padded"
    SECTION_REPEATS = "section-repeats"
    SECTION_WITHOUT_ROWS = "section-without-rows"
    ROW_REPEATS = "row-repeats"
    ROW_WITHOUT_SEATS = "row-without-seats"
    NO_SEATS = "no-seats"
    SEAT_NUMBER_REPEATS = "seat-number-repeats"
    SEATS_COINCIDE = "seats-coincide"
    GUID_MISSING = "guid-missing"
    GUID_REPEATS = "guid-repeats"
    GUID_FROM_UUID = "guid-from-uuid"
    GUID_GENERATED = "guid-generated"
    ROW_DROPPED = "row-dropped"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing at one place; `message` says in plain words what is wrong and, where known, what to do."""

    pointer: str
    code: FindingCode
    message: str


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
    """Collects findings while a file is read."""

    faults: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    repairs: list[Finding] = field(default_factory=list)

    def fault(self, pointer: str, code: FindingCode, message: str) -> None:
        self.faults.append(Finding(pointer, code, message))

    def warn(self, pointer: str, code: FindingCode, message: str) -> None:
        self.warnings.append(Finding(pointer, code, message))

    def repaired(self, pointer: str, code: FindingCode, message: str) -> None:
        self.repairs.append(Finding(pointer, code, message))

    def reading(self, format_name: str, plan: SeatingPlan | None, counts: PlanCounts) -> PlanReading:
        """Close the collection; a plan with faults is dropped here, at one place."""
        return PlanReading(
            format=format_name,
            plan=None if self.faults else plan,
            counts=counts,
            faults=tuple(sorted(self.faults, key=_place)),
            warnings=tuple(sorted(self.warnings, key=_place)),
            repairs=tuple(sorted(self.repairs, key=_place)),
        )


def _place(finding: Finding) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Order by pointer, indices as numbers: /zones/2 stands before /zones/10."""
    return tuple(_token_order(token) for token in finding.pointer.split("/")), finding.code


def _token_order(token: str) -> tuple[int, int, str]:
    if token.isascii() and token.isdecimal() and len(token) <= 9:
        return 0, int(token), ""
    return 1, 0, token
