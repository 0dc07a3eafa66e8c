"""Terminals' ends of day (ZVT 06 50), as their tills report them, against what we have of each till (R27)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.currencies import exponent_of
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError
from booking.domain.items import TerminalTotals, TotalsReport
from booking.domain.model import MAX_AMOUNT_MINOR, Evidence
from booking.domain.replay import Outcome
from booking.domain.text import refuse_card_numbers, refuse_strange_instants, storable_texts
from booking.services.refusals import key_use, refusal
from booking.services.take_payment import TERMINAL_PROTOCOLS
from booking.store import reconciliation_queries_runs
from booking.store.database import Database

_MAX_RECEIPT: Final = 10**9


async def report_totals(
    db: Database, caller: Caller, report: TotalsReport, *, key: str, digest: bytes
) -> Outcome[TerminalTotals]:
    """Keep an end of day; an item when it does not add up to what we have of the till since the one before.

    Told twice it is kept once. The difference is as of now: a payment that was unknown meanwhile may settle it.

    Raises:
        ForbiddenError: the caller is at no device.
        InvalidRequestError: naming what is wrong; `/closed_at` also for one before the newest end of day.
        KeyReusedError, BusyError: as they say.
    """
    use = key_use(key, digest)
    if caller.device_id is None:
        raise ForbiddenError("Ends of day are reported by the till that has the terminal.")
    checked = _checked(report)
    answer = await reconciliation_queries_runs.report_terminal_totals(db, caller, checked, use)
    if answer.code == "invalid-request":
        raise _invalid(
            FieldFault(answer.detail, "must be after the last end of day, of the last days, and not to come")
        )
    if answer.code or answer.result_id is None:
        raise refusal(answer.code, (), answer.detail)
    return Outcome(await read_totals(db, answer.result_id), answer.replayed)


async def read_totals(db: Database, totals_id: UUID) -> TerminalTotals:
    """An end of day as it compares now."""
    row = await reconciliation_queries_runs.read_terminal_totals(db, totals_id)
    return TerminalTotals(
        totals_id=row["totals_id"],
        terminal_id=row["terminal_id"],
        device_id=row["device_id"],
        closed_at=row["closed_at"],
        currency=row["currency"],
        total_minor=row["total_minor"],
        ours_minor=row["total_minor"] - row["difference"],
        difference_minor=row["difference"],
        item_id=row["item_id"],
    )


def _checked(report: TotalsReport) -> TotalsReport:
    exponent_of(report.currency)
    refuse_card_numbers({"/terminal_id": report.terminal_id})
    refuse_strange_instants({"/closed_at": report.closed_at} | _instants(report.evidence))
    faults = [] if report.provider in TERMINAL_PROTOCOLS else [FieldFault("/provider", "is no terminal protocol")]
    if not 0 <= report.total_minor <= MAX_AMOUNT_MINOR:
        faults.append(FieldFault("/total_minor", "out of range"))
    if report.totals and sum(each.amount_minor for each in report.totals) != report.total_minor:
        faults.append(FieldFault("/totals", "do not add up to total_minor"))
    receipts = {"/first_receipt": report.first_receipt, "/last_receipt": report.last_receipt}
    faults += [
        FieldFault(at, "a receipt number")
        for at, no in receipts.items()
        if no is not None and not 0 <= no < _MAX_RECEIPT
    ]
    if faults:
        raise _invalid(*faults)
    (terminal_id,) = storable_texts({"/terminal_id": report.terminal_id})
    schemes = storable_texts({f"/totals/{n}/scheme": each.scheme for n, each in enumerate(report.totals)})
    return replace(
        report,
        terminal_id=terminal_id,
        totals=tuple(replace(each, scheme=name) for each, name in zip(report.totals, schemes, strict=True)),
        evidence=_storable(report.evidence),
    )


def _instants(evidence: tuple[Evidence, ...]) -> dict[str, datetime]:
    return {f"/evidence/{n}/at": item.at for n, item in enumerate(evidence)}


def _storable(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    directions = storable_texts({f"/evidence/{n}/direction": item.direction for n, item in enumerate(evidence)})
    bodies = storable_texts({f"/evidence/{n}/body": item.body for n, item in enumerate(evidence)})
    return tuple(
        Evidence(item.at, direction, body) for item, direction, body in zip(evidence, directions, bodies, strict=True)
    )


def _invalid(*faults: FieldFault) -> InvalidRequestError:
    return InvalidRequestError("This is no end of day of a terminal.", fields=faults)
