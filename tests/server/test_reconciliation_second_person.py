"""Acts above the limit take two persons: one asks, another approves; nobody does both halves (R33)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from booking.domain.errors import (
    ActionNotAllowedError,
    InvalidRequestError,
    ItemChangedError,
    SecondPersonNeededError,
)
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemState
from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.services import settle_items
from booking.store.database import Database
from tests.server.box_office import count
from tests.server.reconciliation_house import (
    House,
    failed_capture,
    offered,
    open_house,
    stray_charge,
    unknown_authorization,
)


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


class TestSecondPerson:
    async def test_above_the_limit_nothing_happens_until_another_person_approves(self, house: House) -> None:
        _, item = await failed_capture(house)
        await house.limit(7_999)
        asked = await house.act(item, ItemAction.CAPTURE)
        assert asked.item.state is ItemState.AWAITING_APPROVAL
        assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'capture'") == 1
        assert offered(asked) == [ItemAction.NOTE]
        with pytest.raises(SecondPersonNeededError):
            await house.decide(asked, house.ana, approve=True)
        seen = await house.read(item.item.item_id, house.bo)
        assert seen.approval is not None
        assert seen.approval.may_decide
        done = await house.decide(seen, house.bo, approve=True)
        assert (done.item.state, done.approval) == (ItemState.OPEN, None)
        assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'capture'") == 2
        titles = [entry.title for entry in done.timeline if entry.kind == "person"]
        assert titles == ["approval-asked", "approval-given", "act-capture"]
        await house.work()
        assert await house.open_kinds() == []

    async def test_at_the_limit_one_person_is_enough(self, house: House) -> None:
        _, item = await failed_capture(house)
        await house.limit(8_000)
        assert (await house.act(item, ItemAction.CAPTURE)).item.state is ItemState.OPEN
        await house.work()

    async def test_the_limit_counts_what_one_person_pays_back_in_slices(self, house: House) -> None:
        step = await house.sell()
        item = await house.act(await stray_charge(house, 8_000), ItemAction.ATTACH, order_id=step.order.order_id)
        await house.limit(5_000)
        item = await house.act(await house.read(item.item.item_id), ItemAction.REFUND, amount_minor=4_000)
        (operation,) = [op for op in item.operations if op.kind is OperationKind.REFUND]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 4_000)
        item = await house.read(item.item.item_id)
        assert [each.needs_second_person for each in item.actions if each.action is ItemAction.REFUND] == [True]
        within = await house.act(item, ItemAction.REFUND, amount_minor=1_000)
        assert within.approval is None
        (operation,) = [op for op in within.operations if op.status == "CREATED"]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 1_000)
        above = await house.act(await house.read(item.item.item_id), ItemAction.REFUND, amount_minor=1)
        assert above.approval is not None

    async def test_all_that_can_go_back_is_asked_for_as_its_amount(self, house: House) -> None:
        """What a second person approves is what the first one saw, though more is free by then."""
        step = await house.sell()
        item = await house.act(await stray_charge(house, 8_000), ItemAction.ATTACH, order_id=step.order.order_id)
        running = await house.act(item, ItemAction.REFUND, amount_minor=3_000)
        assert offered(running) == [ItemAction.ASK_AGAIN, ItemAction.NOTE]  # nothing more while one is under way
        (operation,) = [op for op in running.operations if op.kind is OperationKind.REFUND]
        await house.record(operation.operation_id, ResultOutcome.SUCCEEDED, 3_000)
        await house.limit(0)
        asked = await house.act(await house.read(item.item.item_id), ItemAction.REFUND)
        assert asked.approval is not None
        assert asked.approval.amount_minor == 5_000

    async def test_a_currency_may_have_a_limit_of_its_own(self, house: House) -> None:
        _, item = await failed_capture(house)
        await house.db.fetch("""UPDATE reconciliation_settings SET limits_by_currency = '{"EUR": 10}'""")
        assert [each.needs_second_person for each in item.actions] == [False] * 4
        seen = await house.read(item.item.item_id)
        assert [each.needs_second_person for each in seen.actions] == [True, True, True, False]

    async def test_who_asked_may_withdraw_and_another_may_refuse(self, house: House) -> None:
        _, item = await failed_capture(house)
        await house.limit(0)
        for caller in (house.ana, house.bo):
            asked = await house.act(await house.read(item.item.item_id), ItemAction.CAPTURE)
            left = await house.decide(asked, caller, approve=False)
            assert (left.item.state, left.approval) == (ItemState.OPEN, None)
        decisions = await house.db.fetch("SELECT decision FROM item_approvals ORDER BY decision")
        assert [row["decision"] for row in decisions] == ["refused", "withdrawn"]
        assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'capture'") == 1

    async def test_nothing_waits_nothing_is_decided(self, house: House) -> None:
        _, item = await failed_capture(house)
        with pytest.raises(ActionNotAllowedError):
            await house.decide(item, house.bo, approve=True)

    async def test_an_item_that_ends_meanwhile_overtakes_what_was_asked(self, house: House) -> None:
        step, item = await unknown_authorization(house)
        await house.limit(0)
        asked = await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="x", outcome=ResultOutcome.DECLINED)
        await house.record(step.operation.operation_id, ResultOutcome.DECLINED, code="card-declined")
        await settle_items.end_settled_items(house.db)
        decision = await house.db.fetch("SELECT decision FROM item_approvals")
        assert decision[0]["decision"] == "overtaken"
        with pytest.raises(ItemChangedError):
            await house.decide(asked, house.bo, approve=True)
        ended = await house.read(item.item.item_id)
        assert "approval-overtaken" in [entry.title for entry in ended.timeline]

    async def test_what_is_not_allowed_any_more_cannot_be_approved_and_stays_asked(self, house: House) -> None:
        step, item = await unknown_authorization(house)
        await house.limit(0)
        await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="x", outcome=ResultOutcome.DECLINED)
        await house.record(step.operation.operation_id, ResultOutcome.DECLINED, code="card-declined")
        seen = await house.read(item.item.item_id, house.bo)
        with pytest.raises(InvalidRequestError):  # it has its answer: nobody is to say another one
            await house.decide(seen, house.bo, approve=True)
        assert (await house.read(item.item.item_id)).approval is not None
