"""Comparisons of a day with a provider's list, and terminals' ends of day."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.items import TerminalTotal, TotalsReport
from booking.domain.model import Evidence
from booking.services import daily_reconciliation, terminal_totals
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_run = TypedBody(wire.ReconciliationRunRequest)
_totals = TypedBody(wire.TerminalTotalsReport)


async def start_run(call: Call) -> Response:
    """Have a day compared; the worker does it."""
    body = _run(call)
    outcome = await daily_reconciliation.start_run(
        call.db, call.signed_in, body.provider, body.day, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.ReconciliationRun)


async def list_runs(call: Call) -> Response:
    """The newest comparisons."""
    return answer(to_wire(await daily_reconciliation.list_runs(call.db), wire.ReconciliationRunList))


async def read_run(call: Call) -> Response:
    """A comparison as it stands, with its progress."""
    found = await daily_reconciliation.read_run(call.db, call.id("run_id"))
    return answer(to_wire(found, wire.ReconciliationRun))


async def report_totals(call: Call) -> Response:
    """A terminal's end of day."""
    body = _totals(call)
    report = TotalsReport(
        terminal_id=body.terminal_id,
        provider=body.provider,
        closed_at=body.closed_at,
        currency=body.currency,
        total_minor=body.total_minor,
        totals=tuple(TerminalTotal(each.scheme, each.count, each.amount_minor) for each in body.totals),
        first_receipt=body.first_receipt,
        last_receipt=body.last_receipt,
        evidence=tuple(Evidence(item.at, item.direction, item.body) for item in body.evidence),
    )
    outcome = await terminal_totals.report_totals(call.db, call.signed_in, report, key=call.key, digest=call.digest)
    return answer_outcome(outcome, wire.TerminalTotals)
