"""Rules that hold for a plan of any format: labels that can be told apart, seats at places of their own."""

from __future__ import annotations

from collections.abc import Sequence

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.labels import describe, skeleton
from booking.domain.seating_plan.sayings import Says, Thing

Placed = tuple[str, str]  # (JSON pointer, label)


def check_confusable(findings: Findings, labels: Sequence[Placed], *, what: Thing) -> None:
    """A fault for each label that looks like an earlier, different one of the same scope."""
    seen: dict[str, str] = {}
    reported: set[str] = set()
    for pointer, label in labels:
        shape = label if label.isascii() and label.isalnum() else skeleton(label)
        first = seen.setdefault(shape, label)
        if label != first and label not in reported:
            reported.add(label)
            message = Says.LABEL_LOOKS_ALIKE.of(what=what, label=describe(label), other=describe(first))
            findings.fault(pointer, FindingCode.LABEL_CONFUSABLE, message)
        elif label != label.strip() and label == first:
            message = Says.LABEL_PADDED.of(what=what, label=describe(label))
            findings.warn(pointer, FindingCode.LABEL_PADDED, message)


def check_places(findings: Findings, places: Sequence[tuple[str, float, float]]) -> None:
    """A fault for each seat that stands where an earlier seat stands (to a thousandth of a plan unit)."""
    seen: dict[tuple[float, float], str] = {}
    for pointer, x, y in places:
        first = seen.setdefault((round(x, 3), round(y, 3)), pointer)
        if first != pointer:
            findings.fault(pointer, FindingCode.SEATS_COINCIDE, Says.SEATS_COINCIDE.of(place=first))
