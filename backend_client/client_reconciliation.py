"""Calls about what only a person can settle, and about comparing days."""

from __future__ import annotations

from datetime import date

from backend_client.client_base import ClientBase
from backend_client.client_money_back import query_of
from backend_client.http import Request
from backend_client.retry import ONCE
from backend_client.wire import (
    ApprovalDecision,
    EventId,
    ItemActionRequest,
    ItemDetail,
    ItemId,
    ItemList,
    ReconciliationRun,
    ReconciliationRunList,
    ReconciliationRunRequest,
    ReconciliationSettings,
    ReconciliationSettingsChange,
    RunId,
    TerminalTotals,
    TerminalTotalsReport,
    TillList,
)

_ITEMS = "/v1/reconciliation/items"
_RUNS = "/v1/reconciliation/runs"
_SETTINGS = "/v1/reconciliation/settings"


class ReconciliationCalls(ClientBase):
    """A part of `BookingClient`."""

    async def items(
        self,
        *,
        state: str = "",
        kind: str = "",
        event: EventId | None = None,
        provider: str = "",
        min_minor: int | None = None,
        q: str = "",
        after: str = "",
        limit: int | None = None,
    ) -> ItemList:
        """Items, oldest first. `state`: open, awaiting-approval, resolved or all; the first two when it is empty."""
        query = query_of(
            state=state, kind=kind, event=event, provider=provider, min_minor=min_minor, q=q, after=after, limit=limit
        )
        return await self._read(f"{_ITEMS}{query}", ItemList)

    async def items_csv(
        self,
        *,
        state: str = "",
        kind: str = "",
        event: EventId | None = None,
        provider: str = "",
        min_minor: int | None = None,
        q: str = "",
    ) -> bytes:
        """The same as a file for a spreadsheet, all pages of it (I5)."""
        query = query_of(state=state, kind=kind, event=event, provider=provider, min_minor=min_minor, q=q)
        return (await self._answer(Request("GET", f"{_ITEMS}.csv{query}"), ONCE)).content

    async def item(self, item_id: ItemId) -> ItemDetail:
        """One item: what happened around it, and what may be done with it now."""
        return await self._read(f"{_ITEMS}/{item_id}", ItemDetail)

    async def act_on_item(self, item_id: ItemId, request: ItemActionRequest, *, key: str) -> ItemDetail:
        """Do something with an item, or ask a second person for it. A refusal `item-changed`: read it again."""
        return await self._call(Request("POST", f"{_ITEMS}/{item_id}/actions", request, key), ItemDetail)

    async def tills(self) -> TillList:
        """Tills to which money that is owed can be handed: somebody is signed in there who may give it back."""
        return await self._read("/v1/tills", TillList)

    async def decide_item(self, item_id: ItemId, decision: ApprovalDecision, *, key: str) -> ItemDetail:
        """A second person's word. A refusal `second-person-needed`: who asked cannot approve."""
        return await self._call(Request("POST", f"{_ITEMS}/{item_id}/approval", decision, key), ItemDetail)

    async def reconciliation_settings(self) -> ReconciliationSettings:
        """How items are dealt with."""
        return await self._read(_SETTINGS, ReconciliationSettings)

    async def change_reconciliation_settings(
        self, change: ReconciliationSettingsChange, *, key: str
    ) -> ReconciliationSettings:
        """Other settings, from the version that was seen; for admins."""
        return await self._call(Request("PUT", _SETTINGS, change, key), ReconciliationSettings)

    async def start_run(self, provider: str, day: date, *, key: str) -> ReconciliationRun:
        """Have a day compared; read its progress with `run`."""
        body = ReconciliationRunRequest(provider=provider, day=day)
        return await self._call(Request("POST", _RUNS, body, key), ReconciliationRun)

    async def runs(self) -> ReconciliationRunList:
        """The newest comparisons."""
        return await self._read(_RUNS, ReconciliationRunList)

    async def run(self, run_id: RunId) -> ReconciliationRun:
        """A comparison as it stands."""
        return await self._read(f"{_RUNS}/{run_id}", ReconciliationRun)

    async def report_terminal_totals(self, report: TerminalTotalsReport, *, key: str) -> TerminalTotals:
        """Report what our terminal counted at its end of day."""
        return await self._call(Request("POST", "/v1/terminal-totals", report, key), TerminalTotals)
