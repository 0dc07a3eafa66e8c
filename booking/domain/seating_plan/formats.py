"""The plan formats that can be read, and the choice among them by content. A new format is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.pretix_reader import FORMAT, read_pretix

_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class PlanReader(Protocol):
    """Reads one format: never raises, reports everything at once, mends only what `repair` allows."""

    def __call__(self, data: bytes, *, repair: bool = False) -> PlanReading: ...


@dataclass(frozen=True, slots=True)
class PlanFormat:
    """`recognises` looks at the bytes only as far as it must to tell this format from the others."""

    name: str
    title: str
    recognises: Callable[[bytes], bool]
    read: PlanReader


def _is_json(data: bytes) -> bool:
    return data.startswith(_MARKS) or data.lstrip()[:1] in {b"{", b"["}


FORMATS: tuple[PlanFormat, ...] = (PlanFormat(FORMAT, "pretix seating plan (JSON)", _is_json, read_pretix),)


def read_plan(data: bytes, *, repair: bool = False) -> PlanReading:
    """Read a plan in whichever known format the bytes are; a fault `unknown-format` when they are in none."""
    for plan_format in FORMATS:
        if plan_format.recognises(data):
            return plan_format.read(data, repair=repair)
    findings = Findings()
    known = ", ".join(plan_format.title for plan_format in FORMATS)
    findings.fault("", FindingCode.UNKNOWN_FORMAT, f"this is no plan in a format that can be read: {known}")
    return findings.reading("unknown", None, PlanCounts())
