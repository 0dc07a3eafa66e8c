"""What a supervisor has a provider do at the real windows: a charge captured after all, another one let go (R33)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

from backend_client.wire import ItemAction, ItemState, OperationKind, OperationStatus
from booking.domain.model import OperationResult, ResultOutcome
from booking.services import take_payment
from booking.store.database import Database
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import StackFacts, check_invariants
from tests.gui.conftest import QLoop, until
from tests.server.box_office import make_event
from tests.windows.stage import Till, console_on, database_of
from tests.windows.test_items import (
    CURRENCY,
    act,
    choose,
    limit,
    open_item,
    order_to_pay,
    page_of,
    plan_faults,
    said_of,
)
from widgets.theme import Theme

Json = dict[str, Any]
ALWAYS = 1_000


async def paid_and_not_captured(stack: StackFacts, db: Database, event_id: int, seat: int) -> Json:
    """A fan's order, confirmed by its authorization; the provider has refused the capture for a while."""
    order = await order_to_pay(stack, event_id, seat)
    await decline_here(db, order, OperationKind.CAPTURE)
    return order


async def decline_here(db: Database, order: Json, kind: OperationKind) -> None:
    """The provider refused it for a while: that is known here, and its books keep nothing of it."""
    async with asyncio.timeout(60):
        while (operation_id := await operation_of(db, order, kind)) is None:
            await asyncio.sleep(0.05)
    refused = OperationResult(ResultOutcome.DECLINED, 0, decline_code="try-later")
    await take_payment.record_result(db, operation_id, refused, source="provider:sandbox")


async def operation_of(db: Database, order: Json, kind: OperationKind) -> UUID | None:
    rows = await db.fetch(
        "SELECT operation_id FROM payment_operations WHERE order_id = $1::text::uuid AND kind = $2",
        order["order_id"], kind.value,
    )  # fmt: skip
    return rows[0]["operation_id"] if rows else None


async def taken_back(stack: StackFacts, db: Database, order: Json) -> None:
    """A colleague has taken the order back elsewhere; the provider has refused to let its authorization go."""
    async with client(stack.api_url) as http:
        boss = await Buyer.staff(http, "ada", stack.passwords["ada"])
        found = (await boss.get("/v1/reconciliation/items?limit=200")).json()["items"]
        (item,) = [one for one in found if one["order_number"] == order["number"]]
        body = {"action": "take-back", "version": item["version"], "reason": "The buyer does not come"}
        answer = await boss.post(f"/v1/reconciliation/items/{item['item_id']}/actions", body)
        assert answer.status_code == 200, answer.text
    await decline_here(db, order, OperationKind.VOID)


def done(till: Till, kind: OperationKind) -> bool:
    """Whether the open item shows that the provider has done it."""
    detail = till.store.inbox.detail
    return detail is not None and any(
        one.kind is kind and one.status is OperationStatus.SUCCEEDED for one in detail.operations
    )


def look_again(till: Till) -> bool:
    """As a person who waits does."""
    page_of(till).reload.click()
    return False


async def have_it_done(till: Till, order: Json, action: ItemAction, kind: OperationKind) -> None:
    """Open what waits about the order, and press the button twice."""
    stack = till.stack
    item_id = await open_item(till, order["number"])
    await choose(till, action, "Their support says that it works again")
    await act(till, clicks=2)
    assert await said_of(stack, item_id, action) == 1, "two clicks are one act"
    await until(lambda: done(till, kind) or look_again(till), f"the {kind}")
    await until(lambda: ended(till) or look_again(till), "the item to end")


def ended(till: Till) -> bool:
    detail = till.store.inbox.detail
    return detail is not None and detail.item.state is ItemState.RESOLVED


async def charges_of(stack: StackFacts, db: Database, order: Json) -> Json:
    """The provider's book of the order's authorization."""
    rows = await db.fetch(
        "SELECT provider_ref FROM payment_operations WHERE order_id = $1::text::uuid AND kind = 'authorize'",
        order["order_id"],
    )  # fmt: skip
    async with client(stack.sandbox_url) as http:
        told = (await http.get("/control/ledger")).json()["charges"]
    (found,) = [one for one in told if one["charge"] == rows[0]["provider_ref"]]
    return dict(found)


def test_a_capture_and_a_void_that_the_provider_refused_are_done_after_all(
    stack: StackFacts, qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        await limit(stack, None)
        await plan_faults(stack, ("capture", "status-503", ALWAYS), ("void", "status-503", ALWAYS))
        async with database_of(stack) as db:
            event_id = await make_event(db, 20, currency=CURRENCY)
            kept = await paid_and_not_captured(stack, db, event_id, 0)
            gone = await paid_and_not_captured(stack, db, event_id, 1)
            await taken_back(stack, db, gone)
            await plan_faults(stack)
            async with console_on(stack, tmp_path / "sofia", "sofia") as till:
                await have_it_done(till, kept, ItemAction.CAPTURE, OperationKind.CAPTURE)
                await have_it_done(till, gone, ItemAction.VOID, OperationKind.VOID)
            book = await charges_of(stack, db, kept)
            assert (book["captured"], book["refunded"]) == (kept["amount_minor"], 0)
            book = await charges_of(stack, db, gone)
            assert (book["captured"], book["status"]) == (0, "voided")
        assert await check_invariants(stack.dsn) == []

    qloop.run(scene(), 180)
