"""The part of the table of routes that is about what only a person can settle, and about comparing days."""

from __future__ import annotations

from typing import Final

from backend_client import wire
from booking.web.calls import Answer, KeyRule, QueryParameter, Route
from booking.web.handlers import reconciliation, reconciliation_runs
from booking.web.who import ADMINS, LEADERS, OPERATORS, SELLERS

_ITEMS: Final = "/v1/reconciliation/items"
_RUNS: Final = "/v1/reconciliation/runs"
_SETTINGS: Final = "/v1/reconciliation/settings"
_EVIDENCE_BODY: Final = 1024 * 1024
_READS = KeyRule.READS
_KEYED = KeyRule.REQUIRED
_FILTER: Final = (
    QueryParameter("state", "string", "`open`, `awaiting-approval`, `resolved` or `all`; the first two without it"),
    QueryParameter("kind", "string", "Of this kind alone"),
    QueryParameter("event", "integer", "Of this event alone"),
    QueryParameter("provider", "string", "Of this provider or terminal protocol alone"),
    QueryParameter("min_minor", "integer", "Of so much at least"),
    QueryParameter(
        "q", "string", "An order number or its beginning, a provider's reference, an order's or operation's id"
    ),
)
_PAGE: Final = (
    QueryParameter("after", "string", "`next` of the page before"),
    QueryParameter("limit", "integer", "So many at most: 1 to 200, else 50"),
)

RECONCILIATION_ROUTES: Final[tuple[Route, ...]] = (
    Route(
        "GET", _ITEMS, reconciliation.list_items, OPERATORS, "What only a person can settle, oldest first", _READS,
        (Answer(200, wire.ItemList),), query=(*_FILTER, *_PAGE),
    ),
    Route(
        "GET", f"{_ITEMS}.csv", reconciliation.items_csv, OPERATORS, "The same as a file for a spreadsheet", _READS,
        (Answer(200, media_type="text/csv", words="Comma-separated values, streamed"),), query=_FILTER,
    ),
    Route(
        "GET", f"{_ITEMS}/{{item_id}}", reconciliation.read_item, OPERATORS,
        "One item, what happened around it, and what may be done", _READS, (Answer(200, wire.ItemDetail),),
    ),
    Route(
        "POST", f"{_ITEMS}/{{item_id}}/actions", reconciliation.act, LEADERS,
        "Do what its state allows, or ask a second person for it", _KEYED, (Answer(200, wire.ItemDetail),),
        wire.ItemActionRequest,
    ),
    Route(
        "POST", f"{_ITEMS}/{{item_id}}/approval", reconciliation.decide, LEADERS,
        "A second person's word on what was asked", _KEYED, (Answer(200, wire.ItemDetail),), wire.ApprovalDecision,
    ),
    Route(
        "GET", "/v1/tills", reconciliation.list_tills, OPERATORS, "Tills that can give back what is owed", _READS,
        (Answer(200, wire.TillList),),
    ),
    Route(
        "GET", _SETTINGS, reconciliation.read_settings, OPERATORS, "How items are dealt with", _READS,
        (Answer(200, wire.ReconciliationSettings),),
    ),
    Route(
        "PUT", _SETTINGS, reconciliation.change_settings, ADMINS, "Change that, from the version named", _KEYED,
        (Answer(200, wire.ReconciliationSettings),), wire.ReconciliationSettingsChange,
    ),
    Route(
        "POST", _RUNS, reconciliation_runs.start_run, LEADERS, "Compare a day of a provider with our ledger", _KEYED,
        (Answer(201, wire.ReconciliationRun),), wire.ReconciliationRunRequest,
    ),
    Route(
        "GET", _RUNS, reconciliation_runs.list_runs, OPERATORS, "The newest comparisons", _READS,
        (Answer(200, wire.ReconciliationRunList),),
    ),
    Route(
        "GET", f"{_RUNS}/{{run_id}}", reconciliation_runs.read_run, OPERATORS, "A comparison, with its progress",
        _READS, (Answer(200, wire.ReconciliationRun),),
    ),
    Route(
        "POST", "/v1/terminal-totals", reconciliation_runs.report_totals, SELLERS, "Report a terminal's end of day",
        _KEYED, (Answer(201, wire.TerminalTotals),), wire.TerminalTotalsReport, _EVIDENCE_BODY,
    ),
)  # fmt: skip
