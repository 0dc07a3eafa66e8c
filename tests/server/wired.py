"""A till over the wire with an order, for tests of what its requests may say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from booking.domain.states import OperationKind
from booking.store.database import Database
from tests.server.box_office import Desk, count
from tests.server.web_api import Api

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE


@dataclass
class Wired:
    """A clerk at a till, and an order of theirs with a terminal's sale."""

    api: Api
    db: Database
    desk: Desk
    token: str

    async def sale(self, seat: int) -> str:
        operation = (await self.desk.sell(seat, kind=SALE)).operation
        return f"/v1/payments/{operation.operation_id}/result"

    async def put(self, path: str, body: dict[str, Any], key: str | None = None) -> httpx.Response:
        return await self.api.call("PUT", path, body, token=self.token, key=key)

    async def rows(self) -> dict[str, int]:
        tables = (
            "operation_evidence",
            "reconciliation_items",
            "payment_operations",
            "idempotency",
            "outbox",
            "audit_log",
        )
        return {table: await count(self.db, f"SELECT count(*) FROM {table}") for table in tables}


EVIDENCE = {"at": "2026-01-01T00:00:00Z", "direction": "in", "body": "06 0F 00"}
