"""The plan formats that can be read, and the choice among them by content. A new format is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from booking.domain.seating_plan import own_reader, pretix_reader, seatsio_reader
from booking.domain.seating_plan.csv_reader import CSV_GRID, CSV_LIST, csv_format_of, read_csv_grid, read_csv_list
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.json_source import load_json
from booking.domain.seating_plan.options import DEFAULT_OPTIONS, ReadOptions
from booking.domain.seating_plan.sayings import Says
from booking.domain.seating_plan.svg_reader import FORMAT as SVG
from booking.domain.seating_plan.svg_reader import read_svg

_JsonReader = Callable[[object, Findings], PlanReading]
_BytesReader = Callable[[bytes, ReadOptions], PlanReading]
_JSON_READERS: dict[str, _JsonReader] = {
    own_reader.FORMAT: own_reader.read_own_value,
    pretix_reader.FORMAT: pretix_reader.read_pretix_value,
    seatsio_reader.FORMAT: seatsio_reader.read_seatsio_value,
}
_BYTES_READERS: dict[str, _BytesReader] = {SVG: read_svg, CSV_LIST: read_csv_list, CSV_GRID: read_csv_grid}
FORMATS: dict[str, str] = {
    own_reader.FORMAT: "our own seating plan (JSON)",
    pretix_reader.FORMAT: "pretix seating plan (JSON)",
    seatsio_reader.FORMAT: "seats.io chart (JSON)",
    SVG: "drawing with named seats (SVG)",
    CSV_LIST: "one seat a line (CSV)",
    CSV_GRID: "the hall drawn in cells (CSV)",
}
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_UNKNOWN = "unknown"


def read_plan(data: bytes, options: ReadOptions = DEFAULT_OPTIONS, *, format_name: str = "") -> PlanReading:
    """Read a plan in the format of that name, or in whichever known format the bytes are.

    Never raises; a fault `unknown-format` when the bytes are in none.
    """
    reading = _read(data, options, format_name)
    if reading.plan is None or options.focal is None:
        return reading
    return replace(reading, plan=replace(reading.plan, focal=options.focal))


def _read(data: bytes, options: ReadOptions, format_name: str) -> PlanReading:
    if format_name in _BYTES_READERS:
        return _BYTES_READERS[format_name](data, options)
    if format_name in _JSON_READERS or _is_json(data):
        return _read_json(data, options, format_name)
    if _is_xml(data):
        return read_svg(data, options)
    found = csv_format_of(data)
    if found:
        return _BYTES_READERS[found](data, options)
    findings = Findings(options.repairs)
    known = ", ".join(FORMATS.values())
    findings.fault("", FindingCode.UNKNOWN_FORMAT, Says.FORMAT_UNKNOWN.of(known=known))
    return findings.reading(_UNKNOWN, None, PlanCounts())


def _read_json(data: bytes, options: ReadOptions, format_name: str) -> PlanReading:
    findings = Findings(options.repairs)
    value = load_json(data, findings)
    if value is None:
        return findings.reading(format_name or pretix_reader.FORMAT, None, PlanCounts())
    return _JSON_READERS[format_name or _json_format_of(value)](value, findings)


def _json_format_of(value: object) -> str:
    members = value if isinstance(value, dict) else {}
    if own_reader.MARK in members:
        return own_reader.FORMAT
    if "zones" not in members and ("subChart" in members or "subChartFloors" in members):
        return seatsio_reader.FORMAT
    return pretix_reader.FORMAT


def _is_json(data: bytes) -> bool:
    return data.startswith(_MARKS[1:]) or data.removeprefix(_MARKS[0]).lstrip()[:1] in {b"{", b"["}


def _is_xml(data: bytes) -> bool:
    return data.removeprefix(_MARKS[0]).lstrip()[:1] == b"<"
