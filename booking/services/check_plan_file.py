"""What is in a plan file that somebody has in hand, before anything is stored: counts, faults, what could be mended.

The same reading as `taquilla plan check`; the console shows it and offers the repairs.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from booking.domain.errors import FieldFault, InvalidRequestError
from booking.domain.seating_plan.faults import Finding, PlanCounts, PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.repairs import DEFAULT_REPAIRS, NONE_WORD, Repair, chosen_repairs
from booking.domain.seating_plan.seat_pattern import SeatPatternError, parse_pattern

MAX_FINDINGS: Final = 1_000
"""Of a kind of finding, so many are named in an answer."""


@dataclass(frozen=True, slots=True)
class PlanFileReading:
    """`file` is the plan in our own format; None while there are faults. `offered` would mend some of them."""

    format: str
    counts: PlanCounts
    faults: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    repairs: tuple[Finding, ...]
    offered: tuple[str, ...]
    file: bytes | None


async def check_plan_file(
    data: bytes, name: str = "", repairs: tuple[str, ...] | None = None, seat_pattern: str = ""
) -> PlanFileReading:
    """Read a file in whichever format it is, with these repairs (None: those that are made by themselves).

    Raises:
        InvalidRequestError: no such repair, or a pattern that cannot be read.
    """
    return await asyncio.to_thread(look_at_plan_file, data, name, repairs, seat_pattern)


def look_at_plan_file(
    data: bytes, name: str = "", repairs: tuple[str, ...] | None = None, seat_pattern: str = ""
) -> PlanFileReading:
    """As `check_plan_file`, at once."""
    options = ReadOptions(_repairs_of(repairs), _pattern_of(seat_pattern), name.strip())
    reading: PlanReading = read_plan(data, options)
    offered = sorted({str(fault.repair) for fault in reading.faults if fault.repair})
    return PlanFileReading(
        reading.format,
        reading.counts,
        reading.faults,
        reading.warnings,
        reading.repairs,
        tuple(offered),
        None if reading.plan is None else write_own(reading.plan),
    )


def _repairs_of(names: tuple[str, ...] | None) -> frozenset[Repair]:
    if names is None:
        return DEFAULT_REPAIRS
    try:
        return chosen_repairs((NONE_WORD, *names))
    except ValueError as error:
        raise InvalidRequestError("There is no such repair.", fields=(FieldFault("/repairs", str(error)),)) from error


def _pattern_of(text: str) -> str:
    if not text.strip():
        return ""
    try:
        return parse_pattern(text.strip()).text
    except SeatPatternError as error:
        raise InvalidRequestError(
            "Seats cannot be named so.", fields=(FieldFault("/seat_pattern", str(error)),)
        ) from error
