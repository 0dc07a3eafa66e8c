"""Stray charges and refunds of a provider: attached to an order, and let go or paid back from there (R27, P17)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from uuid_utils.compat import uuid7

from booking.domain.errors import (
    ActionNotAllowedError,
    OrderNotFoundError,
    RefundTooMuchError,
)
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemState
from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.services import settle_items
from booking.services.issue_tickets import issue_new, prepare
from booking.store.database import Database
from tests.server.box_office import count
from tests.server.reconciliation_house import House, failed_capture, offered, open_house, stray_charge
from tests.server.refund_desk import issued, provider_says, refund


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


class TestAttach:
    async def test_a_captured_stray_charge_is_paid_back_through_an_order(self, house: House) -> None:
        step = await house.sell()
        item = await stray_charge(house, captured=8_000)
        assert offered(item) == [ItemAction.ATTACH, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
        bound = await house.act(item, ItemAction.ATTACH, order_id=step.order.order_id)
        assert (bound.item.state, bound.item.order_id) == (ItemState.OPEN, step.order.order_id)
        refund = next(each for each in bound.actions if each.action is ItemAction.REFUND)
        assert refund.most_minor == 8_000
        with pytest.raises(RefundTooMuchError, match="8000"):
            await house.act(bound, ItemAction.REFUND, amount_minor=8_001)
        opened = await house.act(bound, ItemAction.REFUND)
        (operation,) = [op for op in opened.operations if op.kind is OperationKind.REFUND]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 8_000)
        await settle_items.end_settled_items(house.db)
        assert (await house.read(item.item.item_id)).item.resolution == "the money went back"

    async def test_of_a_stray_charge_goes_back_what_was_captured_and_not_refunded_there(self, house: House) -> None:
        """P18: of 80.00 that were authorized 50.00 were taken, and 10.00 have gone back already."""
        step = await house.sell()
        item = await stray_charge(house, captured=5_000, refunded=1_000)
        bound = await house.act(item, ItemAction.ATTACH, order_id=step.order.order_id)
        refund = next(each for each in bound.actions if each.action is ItemAction.REFUND)
        assert refund.most_minor == 4_000
        opened = await house.act(bound, ItemAction.REFUND)
        (operation,) = [op for op in opened.operations if op.kind is OperationKind.REFUND and op.status == "CREATED"]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 4_000)
        await settle_items.end_settled_items(house.db)
        assert (await house.read(item.item.item_id)).item.resolution == "the money went back"

    async def test_an_authorized_stray_charge_is_let_go(self, house: House) -> None:
        step = await house.sell()
        bound = await house.act(await stray_charge(house, captured=0), ItemAction.ATTACH, order_id=step.order.order_id)
        assert offered(bound) == [ItemAction.VOID, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
        opened = await house.act(bound, ItemAction.VOID)
        (operation,) = [op for op in opened.operations if op.kind is OperationKind.VOID]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 8_000)
        await settle_items.end_settled_items(house.db)
        assert await house.open_kinds() == []

    async def test_it_settles_an_order_whose_own_charge_brought_no_money(self, house: House) -> None:
        step, failed = await failed_capture(house)
        item = await stray_charge(house, captured=8_000)
        done = await house.act(item, ItemAction.ATTACH, order_id=step.order.order_id)
        assert done.item.state is ItemState.RESOLVED
        assert (await house.read(failed.item.item_id)).item.state is ItemState.RESOLVED
        await prepare(house.db)
        assert await issue_new(house.db) == 2

    async def test_the_tickets_that_it_pays_for_can_be_refunded(self, house: House) -> None:
        """R25: the order's own charge was lost; the money that stands for it goes back to where it came from."""
        step, _ = await failed_capture(house)
        await house.act(await stray_charge(house, captured=8_000), ItemAction.ATTACH, order_id=step.order.order_id)
        tickets = await issued(house.db, house.ana, step.order.order_id)
        (back,) = (await refund(house.db, house.ana, step.order.order_id, tickets)).value.refunds
        assert (back.provider_ref, back.amount_minor) == ("ch_stray", 8_000)
        assert (await provider_says(house.db, back)).status == "REFUNDED"

    async def test_what_went_back_there_does_not_pay_an_order(self, house: House) -> None:
        step, failed = await failed_capture(house)
        item = await stray_charge(house, captured=8_000, refunded=3_000)
        bound = await house.act(item, ItemAction.ATTACH, order_id=step.order.order_id)
        assert bound.item.state is ItemState.OPEN
        assert (await house.read(failed.item.item_id)).item.state is ItemState.OPEN

    async def test_what_the_provider_told_of_it_stands_in_its_timeline(self, house: House) -> None:
        await house.db.fetch(
            "INSERT INTO provider_events (provider, event_ref, state, next_attempt_at, body) VALUES ('sandbox', 'ev_1',"
            ' \'parked\', booking_now(), \'{"provider_ref": "ch_stray", "amount_minor": 8000}\')'
        )
        item = await stray_charge(house, captured=0)
        (told,) = [entry for entry in item.timeline if entry.kind == "webhook"]
        assert (told.title, told.source, told.amount_minor) == ("webhook-received", "sandbox", 8_000)

    async def test_the_same_charge_is_attached_once(self, house: House) -> None:
        step = await house.sell()
        bound = await house.act(await stray_charge(house, captured=0), ItemAction.ATTACH, order_id=step.order.order_id)
        await house.act(bound, ItemAction.SETTLED_OUTSIDE, reference="voided in the dashboard")
        await house.db.fetch(  # the provider lists it under another name
            "UPDATE reconciliation_items SET subject = 'sandbox:before' WHERE kind = 'provider-only'"
        )
        with pytest.raises(ActionNotAllowedError, match="before"):
            await house.act(await stray_charge(house, captured=0), ItemAction.ATTACH, order_id=step.order.order_id)

    async def test_only_to_an_order_that_is_there(self, house: House) -> None:
        item = await stray_charge(house, captured=8_000)
        with pytest.raises(OrderNotFoundError):
            await house.act(item, ItemAction.ATTACH, order_id=uuid7())


async def test_p17_a_refund_by_hand_is_recorded_and_no_ticket_changes(house: House) -> None:
    step = await house.sell()
    operation_id = step.operation.operation_id
    await house.db.fetch(
        "SELECT open_item($1, 'refund-provider-only', p, jsonb_build_object('movement_ref', 're_1', 'provider_ref',"
        " p.provider_ref, 'amount_minor', 4000), booking_now()) FROM payment_operations p WHERE operation_id = $2",
        uuid7(), operation_id,
    )  # fmt: skip
    item = await house.item("refund-provider-only")
    assert item.item.amount_minor == 4_000
    assert offered(item) == [ItemAction.ATTACH, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    done = await house.act(item, ItemAction.ATTACH, order_id=step.order.order_id)
    assert done.item.state is ItemState.RESOLVED
    (refund,) = [op for op in done.operations if op.kind is OperationKind.REFUND]
    assert (refund.status, refund.amount_minor, refund.parent_id) == ("SUCCEEDED", 4_000, operation_id)
    assert await count(house.db, "SELECT count(*) FROM tickets WHERE status <> 'VOID'") == 2
