"""The verb `plan`: check a seating-plan file, import it, export a stored plan.

    python -m booking plan check FILE [--repair] [--json]
    python -m booking plan import FILE --venue NAME --zone ZONE [--repair] [--json] [--dsn DSN]
    python -m booking plan export ID [--version N] [--dsn DSN]

Everything that is wrong with a file is said at once, each with its place. Exit codes: 0 done, 1 the file has faults or
there is no such plan, 2 wrong use, 3 the database cannot be reached. JSON keys: format, seats, ga_capacity, sections,
categories, faults, warnings, repairs (each a list of {pointer, code, message}); import adds plan_id, version, is_new.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from booking.domain.errors import BookingError, NotFoundError, RequestError
from booking.domain.seating_plan.faults import Finding, PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.json_source import MAX_BYTES
from booking.domain.seating_plan.pretix_writer import write_pretix
from booking.services.import_plan import ImportedPlan, export_plan, import_plan
from booking.store.database import Database

DONE, FOUND_FAULTS, WRONG_USE, UNREACHABLE = range(4)
_SHOWN_OF_A_KIND = 10


def main(arguments: Sequence[str]) -> int:
    """Run `taquilla plan …`; the exit code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.action != "check" and not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    try:
        return _run(chosen)
    except OSError as error:
        _say(f"{error.filename or chosen.file}: {error.strerror or error}")
        return WRONG_USE
    except BookingError as error:
        for line in (str(error), *(f"  {fault.pointer}  {fault.message}" for fault in error.fields)):
            _say(line)
        if isinstance(error, NotFoundError):
            return FOUND_FAULTS
        return WRONG_USE if isinstance(error, RequestError) else UNREACHABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="taquilla plan", description="Check, import and export seating plans.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|import|export")
    check = actions.add_parser("check", help="say everything that is wrong with a plan file")
    load = actions.add_parser("import", help="store a plan file at a venue; nothing is stored when it has faults")
    for reader in (check, load):
        reader.add_argument("file", type=Path, help="the plan file")
        reader.add_argument("--repair", action="store_true", help="mend what can be mended safely, and say what was")
        reader.add_argument("--json", action="store_true", help="the report as JSON")
    load.add_argument("--venue", required=True, help="name of the venue; made when there is none")
    load.add_argument("--zone", required=True, help="its time zone, such as Europe/Lisbon")
    export = actions.add_parser("export", help="write a stored plan as pretix seating-plan JSON to standard output")
    export.add_argument("plan_id", type=UUID, metavar="ID", help="the plan's id")
    export.add_argument("--version", type=int, help="default: the newest")
    for writer in (load, export):
        writer.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    return parser


def _run(chosen: argparse.Namespace) -> int:
    if chosen.action == "export":
        return asyncio.run(_export(chosen.dsn, chosen.plan_id, chosen.version))
    reading = _read_file(chosen.file, repair=chosen.repair)
    stored: ImportedPlan | None = None
    if chosen.action == "import" and reading.plan is not None:
        stored = asyncio.run(_import(chosen, reading))
    report = _Report(str(chosen.file), reading, stored)
    sys.stdout.write(report.as_json() if chosen.json else report.as_text())
    return DONE if reading.plan is not None else FOUND_FAULTS


def _read_file(path: Path, *, repair: bool) -> PlanReading:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)  # the reader refuses what is longer
    return read_plan(data, repair=repair)


async def _import(chosen: argparse.Namespace, reading: PlanReading) -> ImportedPlan | None:
    if reading.plan is None:
        return None
    db = await Database.open(chosen.dsn, application="taquilla plan")
    try:
        return await import_plan(
            db, chosen.venue, chosen.zone, reading.plan, repairs=reading.repairs, principal="command-line"
        )
    finally:
        await db.close()


async def _export(dsn: str, plan_id: UUID, version: int | None) -> int:
    db = await Database.open(dsn, application="taquilla plan")
    try:
        plan = await export_plan(db, plan_id, version)
    finally:
        await db.close()
    sys.stdout.buffer.write(write_pretix(plan, indent=1) + b"\n")
    sys.stdout.flush()
    return DONE


@dataclass(frozen=True, slots=True)
class _Report:
    """What is said about one file, to a person or to a script."""

    name: str
    reading: PlanReading
    stored: ImportedPlan | None

    def as_json(self) -> str:
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
        if self.stored is not None:
            body.update(plan_id=str(self.stored.plan_id), version=self.stored.version, is_new=self.stored.is_new)
        return json.dumps(body, ensure_ascii=False, indent=2) + "\n"

    def as_text(self) -> str:
        counts = self.reading.counts
        size = f"{counts.seats:,} seats in {counts.sections} sections, {counts.categories} price categories"
        lines = [f"{self.name}: {self.reading.format}, {size}"]
        lines += _block("Faults", self.reading.faults, all_of_a_kind=True)
        lines += _block("Repairs", self.reading.repairs, all_of_a_kind=False)
        lines += _block("Warnings", self.reading.warnings, all_of_a_kind=False)
        lines.append(self._verdict())
        return "\n".join(lines) + "\n"

    def _verdict(self) -> str:
        if self.reading.faults:
            count = len(self.reading.faults)
            return f"{count} {'fault' if count == 1 else 'faults'}: this plan cannot be imported."
        if self.stored is None:
            return "No faults: this plan can be imported."
        if self.stored.is_new:
            return f"Imported as plan {self.stored.plan_id}, version {self.stored.version}."
        return f"Already there as plan {self.stored.plan_id}, version {self.stored.version}."


def _as_object(finding: Finding) -> dict[str, str]:
    return {"pointer": finding.pointer, "code": finding.code.value, "message": finding.message}


def _block(title: str, findings: Sequence[Finding], *, all_of_a_kind: bool) -> list[str]:
    """A headed list; of kinds that come by the hundred only the first ones, and how many more there are."""
    if not findings:
        return []
    lines = [f"{title}:"]
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if all_of_a_kind or shown[finding.code] <= _SHOWN_OF_A_KIND:
            place = finding.pointer or "(whole file)"
            lines.append(f"  {place}: {finding.message} [{finding.code}]")
    for code, count in shown.items():
        if not all_of_a_kind and count > _SHOWN_OF_A_KIND:
            lines.append(f"  … and {count - _SHOWN_OF_A_KIND} more [{code}]")
    return lines


def _say(line: str) -> None:
    sys.stderr.write(f"taquilla plan: {line}\n")
