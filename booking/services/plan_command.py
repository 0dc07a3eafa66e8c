"""The verb `plan`: check a seating-plan file, import it, export a stored plan.

    python -m booking plan check FILE [--format F] [--seat-pattern P] [--repair NAME] [--focal X,Y] [--views DIR]
                                 [--json] [--document OUT]
    python -m booking plan import FILE --venue NAME --zone ZONE [the same] [--dsn DSN]
    python -m booking plan export ID [--version N] [--format pretix|taquilla] [--plain] [--output FILE] [--dsn DSN]

The format is found from the content: our own, pretix, seats.io, SVG, CSV as a list or as a drawing in cells. Everything
that is wrong with a file is said at once, each with its place. Exit codes: 0 done, 1 the file has faults or there is no
such plan, 2 wrong use, 3 the database cannot be reached. JSON keys: format, seats, ga_capacity, sections, categories,
faults, warnings, repairs (each a list of {pointer, code, message, repair?}); derived (focal_point{x, y, from}, rows,
row_parts, divided_rows, seat_radius, floors, standing) when there are no faults; import adds plan_id, version, is_new.
OUT gets a plan without faults as consoles are given it (`Plan` of the wire), to look at it without storing it.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from booking.domain.errors import BookingError, NotFoundError, RequestError
from booking.domain.seating_plan.document import encode_document
from booking.domain.seating_plan.faults import Findings, PlanReading
from booking.domain.seating_plan.formats import FORMATS, read_plan
from booking.domain.seating_plan.json_source import MAX_BYTES
from booking.domain.seating_plan.model import MAX_COORDINATE, MAX_LABEL, Point, SeatingPlan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.pretix_writer import left_out, write_pretix
from booking.domain.seating_plan.repairs import ALL_WORD, REPAIR_WORDS, chosen_repairs
from booking.domain.seating_plan.seat_pattern import SeatPatternError, parse_pattern
from booking.domain.seating_plan.views import IMAGE_SUFFIXES, MAX_VIEW_BYTES, views_of_files
from booking.services.import_plan import ImportedPlan, export_plan, import_plan
from booking.services.plan_report import PlanReport
from booking.store.database import Database

DONE, FOUND_FAULTS, WRONG_USE, UNREACHABLE = range(4)
_PRETIX, _OWN = "pretix", "taquilla"
_REPAIR = "--repair"
_NOT_STORED = UUID(int=0)


def main(arguments: Sequence[str]) -> int:
    """Run `taquilla plan …`; the exit code."""
    parser = _parser()
    chosen = parser.parse_args(_with_named_repairs(arguments))
    if chosen.action != "check" and not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    try:
        return _run(chosen)
    except OSError as error:
        _say(f"{error.filename or chosen.action}: {error.strerror or error}")
        return WRONG_USE
    except BookingError as error:
        for line in (str(error), *(f"  {fault.pointer}  {fault.message}" for fault in error.fields)):
            _say(line)
        if isinstance(error, NotFoundError):
            return FOUND_FAULTS
        return WRONG_USE if isinstance(error, RequestError) else UNREACHABLE


def _with_named_repairs(arguments: Sequence[str]) -> list[str]:
    """A bare --repair, wherever it stands, means all of them: what follows it may be the file."""
    named: list[str] = []
    for place, word in enumerate(arguments):
        named.append(word)
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if word == _REPAIR and not _names_repairs(following):
            named.append(ALL_WORD)
    return named


def _names_repairs(word: str) -> bool:
    try:
        chosen_repairs([word])
    except ValueError:
        return False
    return bool(word)


def _parser() -> argparse.ArgumentParser:
    repairs = "; ".join(f"{repair}: {words}" for repair, words in REPAIR_WORDS.items())
    parser = argparse.ArgumentParser(prog="taquilla plan", description="Check, import and export seating plans.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|import|export")
    check = actions.add_parser("check", help="say everything that is wrong with a plan file")
    load = actions.add_parser("import", help="store a plan file at a venue; nothing is stored when it has faults")
    for reader in (check, load):
        reader.add_argument("file", type=Path, help="the plan file")
        reader.add_argument("--format", choices=tuple(FORMATS), default="", help="default: found from the content")
        reader.add_argument("--seat-pattern", type=_pattern, metavar="P", help=_PATTERN_HELP)
        reader.add_argument("--focal", type=_point, metavar="X,Y", help="where people look, in plan units")
        reader.add_argument("--views", type=Path, metavar="DIR", help=_VIEWS_HELP)
        reader.add_argument(
            _REPAIR,
            action="append",
            type=_repair_names,
            default=[],
            metavar="NAME",
            help=f"mend what can be mended safely, and say what was; without a name all, or none. {repairs}",
        )
        reader.add_argument("--json", action="store_true", help="the report as JSON")
    check.add_argument("--document", type=Path, metavar="OUT", help="write the plan as consoles are given it")
    load.add_argument("--venue", required=True, help="name of the venue; made when there is none")
    load.add_argument("--zone", required=True, help="its time zone, such as Europe/Lisbon")
    export = actions.add_parser("export", help="write a stored plan to standard output or a file")
    export.add_argument("plan_id", type=UUID, metavar="ID", help="the plan's id")
    export.add_argument("--version", type=int, help="default: the newest")
    export.add_argument("--format", choices=(_PRETIX, _OWN), default=_PRETIX, help="default: pretix")
    export.add_argument("--plain", action="store_true", help="pretix without the members that we add to it")
    export.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    for writer in (load, export):
        writer.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    return parser


_PATTERN_HELP = (
    "how seats of an SVG are named: seat-{section}-{row}-{number} for ids, or attributes as in "
    "'data-row={row} data-seat={number}'"
)

_VIEWS_HELP = (
    "a folder of images of what people see, each named as its section or as the id of its seat: 'Stalls left.jpg'"
)


def _pattern(text: str) -> str:
    try:
        return parse_pattern(text).text
    except SeatPatternError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _repair_names(text: str) -> str:
    try:
        chosen_repairs([text])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _point(text: str) -> Point:
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is no point: expected X,Y such as 225,33.5') from None
    if not all(math.isfinite(value) and abs(value) <= MAX_COORDINATE for value in (x, y)):
        raise argparse.ArgumentTypeError(f"expected numbers from {-MAX_COORDINATE:g} to {MAX_COORDINATE:g}")
    return Point(x, y)


def _run(chosen: argparse.Namespace) -> int:
    if chosen.action == "export":
        return asyncio.run(_export(chosen))
    reading = _read_file(chosen)
    stored: ImportedPlan | None = None
    if chosen.action == "import" and reading.plan is not None:
        stored = asyncio.run(_import(chosen, reading))
    if chosen.action == "check" and chosen.document is not None and reading.plan is not None:
        chosen.document.write_bytes(encode_document(reading.plan, _NOT_STORED, 1))
    report = PlanReport(str(chosen.file), reading, stored, focal_corrected=chosen.focal is not None)
    sys.stdout.write(report.as_json() if chosen.json else report.as_text())
    return DONE if reading.plan is not None else FOUND_FAULTS


def _read_file(chosen: argparse.Namespace) -> PlanReading:
    path: Path = chosen.file
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)  # the reader refuses what is longer
    name = "".join(sign for sign in path.stem if sign.isprintable())[:MAX_LABEL].strip()
    options = ReadOptions(chosen_repairs(chosen.repair), chosen.seat_pattern or "", name, chosen.focal)
    reading = read_plan(data, options, format_name=chosen.format)
    return reading if chosen.views is None or reading.plan is None else _with_views(reading, reading.plan, chosen.views)


def _with_views(reading: PlanReading, plan: SeatingPlan, folder: Path) -> PlanReading:
    """The plan with the images of the folder, in place of any that it came with; other files are left alone."""
    files = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in IMAGE_SUFFIXES:
            with path.open("rb") as file:
                files[path.name] = file.read(MAX_VIEW_BYTES + 1)  # what is longer is refused
    findings = Findings()
    views = views_of_files(plan, files, findings)
    whole = None if findings.faults else replace(plan, views=views)
    return replace(reading, plan=whole, faults=tuple(findings.faults))


async def _import(chosen: argparse.Namespace, reading: PlanReading) -> ImportedPlan | None:
    if reading.plan is None:
        return None
    db = await Database.open(chosen.dsn, application="taquilla plan")
    try:
        return await import_plan(
            db,
            chosen.venue,
            chosen.zone,
            reading.plan,
            repairs=reading.repairs,
            source_format=reading.format,
            principal="command-line",
        )
    finally:
        await db.close()


async def _export(chosen: argparse.Namespace) -> int:
    db = await Database.open(chosen.dsn, application="taquilla plan")
    try:
        plan = await export_plan(db, chosen.plan_id, chosen.version)
    finally:
        await db.close()
    if plan.views and chosen.format == _PRETIX:
        _say(f"left out, because the pretix format cannot say it: {len(plan.views)} views from seats")
    if chosen.plain and chosen.format == _PRETIX:
        for lost in left_out(plan):
            _say(f"left out, because the plain format cannot say it: {lost}")
    own = chosen.format == _OWN
    data = (write_own(plan, indent=1) if own else write_pretix(plan, indent=1, plain=chosen.plain)) + b"\n"
    if chosen.output is not None:
        chosen.output.write_bytes(data)
        return DONE
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    return DONE


def _say(line: str) -> None:
    sys.stderr.write(f"taquilla plan: {line}\n")
