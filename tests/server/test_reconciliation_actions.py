"""Acts on items: only what the state allows, from the version seen, with reason and second person, audited (R33)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import msgspec
import pytest
from uuid_utils.compat import uuid7

from booking.domain import item_actions as table
from booking.domain.caller import Role
from booking.domain.errors import (
    ActionNotAllowedError,
    BookingError,
    ForbiddenError,
    InvalidRequestError,
    ItemChangedError,
    ItemNotFoundError,
    KeyReusedError,
)
from booking.domain.item_actions import ALLOWED, ItemAction, Situation
from booking.domain.items import ItemState, ItemWish
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind, SeatStatus
from booking.payments.sandbox_faults import Fault, Planned
from booking.payments.sandbox_ledger import ChargeStatus
from booking.services import drive_operation, item_actions, settle_items, take_payment
from booking.services.issue_tickets import issue_new, prepare
from booking.services.orders import order_as_it_stands
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, digest_of, reported, seat_states, till
from tests.server.reconciliation_house import House, failed_capture, offered, open_house, unknown_authorization
from tests.server.refund_desk import issued, pay_part, provider_says, refund


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


async def test_the_table_and_the_database_allow_the_same(database: Database) -> None:
    for situation in Situation:
        rows = await database.fetch(
            "SELECT actions_of_situation($1) AS actions, needs_outcome($1) AS outcome", situation.value
        )
        assert tuple(rows[0]["actions"]) == ALLOWED[situation], situation
        assert rows[0]["outcome"] == (situation in table.NEEDS_OUTCOME), situation


async def test_a_supervisor_decides_an_unknown_payment_with_evidence(house: House) -> None:
    step, item = await unknown_authorization(house)
    assert offered(item) == [ItemAction.ASK_AGAIN, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    with pytest.raises(InvalidRequestError) as refused:
        await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="bank 12")
    assert [fault.pointer for fault in refused.value.fields] == ["/outcome"]
    done = await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="bank 12", outcome=ResultOutcome.DECLINED)
    assert done.item.state is ItemState.RESOLVED
    (operation,) = done.operations
    assert operation.status == "DECLINED"
    decided_by = await house.db.fetch("SELECT decided_by FROM payment_operations")
    assert decided_by[0]["decided_by"] == f"supervisor:{house.ana.staff_id}"
    assert {seat[0] for seat in (await seat_states(house.db, house.event_id)).values()} <= {
        SeatStatus.AVAILABLE, SeatStatus.HELD,
    }  # fmt: skip
    assert (await order_as_it_stands(house.db, step.order.order_id)).status in {"PENDING", "EXPIRED"}


async def test_money_that_a_supervisor_vouches_for_confirms_the_order(house: House) -> None:
    step, item = await unknown_authorization(house)
    done = await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="pi 7", outcome=ResultOutcome.SUCCEEDED)
    assert done.order is not None
    assert done.order.status == "CONFIRMED"
    assert [entry.title for entry in done.timeline if entry.title in ("act-settled-outside", "evidence-given")] != []
    assert done.item.resolution == "settled outside: pi 7"
    assert step.order.order_id == done.item.order_id


async def test_asking_again_waits_for_the_worker_and_the_item_ends_with_the_answer(house: House) -> None:
    """The round that ends items need not have been: nobody is shown an open item beside the answer that settles it."""
    step, item = await unknown_authorization(house)
    asking = asyncio.create_task(house.act(item, ItemAction.ASK_AGAIN, wait_s=60))
    while not asking.done():
        await house.worker.work_once()
        await asyncio.sleep(0.02)
    heard = await asking
    assert heard.order is not None
    assert heard.order.status == "CONFIRMED"
    assert (heard.item.state, heard.item.resolved_by) == (ItemState.RESOLVED, "authority")
    await house.work()
    ended = await house.read(item.item.item_id)
    assert (ended.item.state, ended.item.resolved_by) == (ItemState.RESOLVED, "authority")
    assert house.sandbox.ledger.charges[next(iter(house.sandbox.ledger.charges))].status is ChargeStatus.CAPTURED
    assert step.order.order_id == ended.item.order_id


async def test_a_refused_capture_is_tried_again_and_tickets_wait_for_it(house: House) -> None:
    step, item = await failed_capture(house)
    await prepare(house.db)
    assert await issue_new(house.db) == 0
    acts = [ItemAction.CAPTURE, ItemAction.TAKE_BACK, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    assert offered(item) == acts
    open_item = await house.act(item, ItemAction.CAPTURE)
    assert open_item.item.state is ItemState.OPEN
    assert offered(open_item) == [ItemAction.ASK_AGAIN, ItemAction.NOTE]
    await house.work()
    assert (await house.read(item.item.item_id)).item.resolution == "captured"
    assert await issue_new(house.db) == 2
    assert [charge.captured for charge in house.sandbox.ledger.charges.values()] == [step.order.amount_minor]


async def test_what_was_captured_at_the_second_try_can_be_refunded(house: House) -> None:
    """P26, R25: the capture that was refused stands beside the one that took the money."""
    step, item = await failed_capture(house)
    await house.act(item, ItemAction.CAPTURE)
    await house.work()
    tickets = await issued(house.db, house.ana, step.order.order_id)
    await refund(house.db, house.ana, step.order.order_id, tickets)
    await house.work(2)
    assert (await order_as_it_stands(house.db, step.order.order_id)).status == "REFUNDED"
    assert [charge.refunded for charge in house.sandbox.ledger.charges.values()] == [step.order.amount_minor]
    assert await house.open_kinds() == []


@pytest.mark.parametrize("refused_again", [False, True])
async def test_what_an_accepted_refund_still_owes_is_paid_back_by_a_person(house: House, refused_again: bool) -> None:
    """P19, R25: of two cards one took its part back, so that the tickets are void; the other's part is owed."""
    desk = Desk(house.db, house.ana, house.event_id)
    order = await desk.check_out(await desk.hold(0, 1, 2))
    for amount, in_parts in ((5_000, True), (7_000, False)):
        part = (await pay_part(desk, order, OperationKind.AUTHORIZE, amount, in_parts=in_parts)).operation
        await drive_operation.take_at_once(house.db, house.provider, part)
    await house.work()
    tickets = await issued(house.db, house.ana, order.order_id)
    newest, other = (await refund(house.db, house.ana, order.order_id, tickets[:2])).value.refunds
    assert (newest.amount_minor, other.amount_minor) == (7_000, 1_000)
    await provider_says(house.db, newest)
    await provider_says(house.db, other, ResultOutcome.DECLINED, code="card-closed")
    item = await house.item("refund-failed")
    # Not all that the charge has: the third ticket is good.
    assert [each.most_minor for each in item.actions if each.action is ItemAction.REFUND] == [1_000]
    acted = await house.act(item, ItemAction.REFUND)
    await settle_items.end_settled_items(house.db)
    assert await house.open_kinds() == ["refund-failed"]
    again = next(op for op in acted.operations if op.kind is OperationKind.REFUND and op.status == "CREATED")
    if refused_again:
        await provider_says(house.db, again, ResultOutcome.DECLINED, code="card-closed")
        await settle_items.end_settled_items(house.db)
        acted = await house.act(await house.item("refund-failed"), ItemAction.REFUND)
        again = next(op for op in acted.operations if op.kind is OperationKind.REFUND and op.status == "CREATED")
    order = await provider_says(house.db, again)
    await settle_items.end_settled_items(house.db)
    assert (await house.open_kinds(), order.status) == ([], "PARTLY_REFUNDED")


async def test_a_second_refusal_has_an_item_of_its_own_and_the_first_one_ends(house: House) -> None:
    _, item = await failed_capture(house)
    again = await house.act(item, ItemAction.CAPTURE)
    newest = max((op for op in again.operations if op.kind is OperationKind.CAPTURE), key=lambda op: op.created_at)
    await house.record(newest.operation_id, ResultOutcome.DECLINED, code="expired")
    await settle_items.end_settled_items(house.db)
    assert (await house.read(item.item.item_id)).item.resolution.startswith("tried again")
    assert (await house.item("capture-failed")).item.operation_id == newest.operation_id


async def test_a_void_that_was_refused_is_tried_again(house: House) -> None:
    """R25: money that pays nothing goes back, or a person knows."""
    step = await house.open_payment()
    await take_payment.mark_sent(house.db, step.operation.operation_id)
    told = await house.provider.authorize(step.operation)
    async with house.db.transaction() as connection:  # the buyer has paid otherwise meanwhile, say
        await connection.execute(
            "UPDATE payment_operations SET void_requested = true WHERE operation_id = $1", step.operation.operation_id
        )
    await house.record(
        step.operation.operation_id, ResultOutcome.SUCCEEDED, step.operation.amount_minor, ref=told.provider_ref
    )
    operations = (await order_as_it_stands(house.db, step.order.order_id)).operations
    void = next(op for op in operations if op.kind is OperationKind.VOID)
    await house.record(void.operation_id, ResultOutcome.DECLINED, code="try-later")
    item = await house.item("void-failed")
    assert offered(item) == [ItemAction.VOID, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    await house.act(item, ItemAction.VOID)
    await house.work()
    assert await house.open_kinds() == []
    assert [charge.status for charge in house.sandbox.ledger.charges.values()] == [ChargeStatus.VOIDED]


async def test_another_amount_than_asked_can_only_be_let_go(house: House) -> None:
    step = await house.open_payment()
    await take_payment.mark_sent(house.db, step.operation.operation_id)
    told = await house.provider.authorize(replace(step.operation, amount_minor=7_000))
    await house.record(step.operation.operation_id, ResultOutcome.SUCCEEDED, 7_000, ref=told.provider_ref)
    item = await house.item("amount-mismatch")
    assert offered(item) == [ItemAction.ASK_AGAIN, ItemAction.VOID, ItemAction.SETTLED_OUTSIDE, ItemAction.NOTE]
    await house.act(item, ItemAction.VOID)
    await house.work()
    assert await house.open_kinds() == []
    assert [charge.status for charge in house.sandbox.ledger.charges.values()] == [ChargeStatus.VOIDED]


async def test_nothing_can_be_done_with_what_is_resolved_but_to_read_it(house: House) -> None:
    _, item = await unknown_authorization(house)
    done = await house.act(item, ItemAction.SETTLED_OUTSIDE, reference="x", outcome=ResultOutcome.DECLINED)
    assert done.actions == ()
    for action in (ItemAction.NOTE, ItemAction.ASK_AGAIN):
        with pytest.raises(ActionNotAllowedError):
            await house.act(done, action)


@pytest.mark.parametrize("action", [ItemAction.CAPTURE, ItemAction.VOID, ItemAction.REFUND])
async def test_what_the_state_does_not_allow_is_refused_and_changes_nothing(house: House, action: ItemAction) -> None:
    _, item = await unknown_authorization(house)
    before = await count(house.db, "SELECT count(*) FROM payment_operations")
    with pytest.raises(ActionNotAllowedError):
        await house.act(item, action)
    assert await count(house.db, "SELECT count(*) FROM payment_operations") == before
    assert (await house.read(item.item.item_id)).item.version == item.item.version


async def test_a_terminals_payment_is_asked_about_by_its_till_alone(house: House) -> None:
    caller = till()
    operation = await house.sell_at_terminal(caller)
    await house.db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() - interval '1 s'")
    await settle_items.note_silence(house.db)
    item = await house.item("no-result")
    assert next((each.action, each.why_not) for each in item.actions) == (
        ItemAction.ASK_AGAIN, "terminal-tells-itself",
    )  # fmt: skip
    with pytest.raises(ActionNotAllowedError, match="till"):
        await house.act(item, ItemAction.ASK_AGAIN)
    report = OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor)
    await reported(house.db, caller, operation.operation_id, report)
    await settle_items.end_settled_items(house.db)
    assert await house.open_kinds() == []


async def test_two_supervisors_act_at_once_and_one_wins(house: House) -> None:
    _, item = await unknown_authorization(house)
    results = await asyncio.gather(
        house.act(item, ItemAction.SETTLED_OUTSIDE, house.ana, reference="a", outcome=ResultOutcome.DECLINED),
        house.act(item, ItemAction.SETTLED_OUTSIDE, house.bo, reference="b", outcome=ResultOutcome.SUCCEEDED),
        return_exceptions=True,
    )
    lost = [each for each in results if isinstance(each, BookingError)]
    assert len(lost) == 1
    assert isinstance(lost[0], ItemChangedError)
    assert await count(house.db, "SELECT count(*) FROM audit_log WHERE action = 'item-settled-outside'") == 1


async def test_a_note_is_audited_and_changes_the_version_alone(house: House) -> None:
    _, item = await unknown_authorization(house)
    noted = await house.act(item, ItemAction.NOTE)
    assert (noted.item.version, noted.item.state) == (item.item.version + 1, ItemState.OPEN)
    row = (await house.db.fetch("SELECT * FROM audit_log WHERE action = 'item-note'"))[0]
    detail = msgspec.json.decode(row["detail"])
    assert (row["reason"], row["subject"]) == ("Seen with the bank", str(item.item.item_id))
    assert (detail["from"], detail["to"]) == ("asked-of-provider", "asked-of-provider")
    assert detail["staff_id"] == str(house.ana.staff_id)


async def test_the_same_key_does_it_once(house: House) -> None:
    _, item = await failed_capture(house)
    first = await house.act(item, ItemAction.CAPTURE, key="once")
    again = await house.act(item, ItemAction.CAPTURE, key="once")
    assert again.item.version == first.item.version
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'capture'") == 2
    with pytest.raises(KeyReusedError):
        await house.act(item, ItemAction.NOTE, key="once")


async def test_only_leaders_act(house: House) -> None:
    _, item = await unknown_authorization(house)
    for role in (Role.CLERK, Role.OPS):
        with pytest.raises(ForbiddenError):
            await house.act(item, ItemAction.NOTE, till(role))


@pytest.mark.parametrize(
    ("wish", "pointers"),
    [
        (ItemWish(ItemAction.NOTE, 1, "  "), ["/reason"]),
        (ItemWish(ItemAction.SETTLED_OUTSIDE, 1, "x"), ["/reference"]),
        (ItemWish(ItemAction.SETTLED_OUTSIDE, 1, "x", reference="4111111111111111"), ["/reference"]),
        (ItemWish(ItemAction.ATTACH, 1, "x"), ["/order_id"]),
        (ItemWish(ItemAction.NOTE, 1, "x", order_id=uuid7()), ["/order_id"]),
        (ItemWish(ItemAction.REFUND, 1, "x", amount_minor=0), ["/amount_minor"]),
        (ItemWish(ItemAction.VOID, 1, "x", amount_minor=5), ["/amount_minor"]),
        (ItemWish(ItemAction.NOTE, 1, "x", outcome=ResultOutcome.DECLINED), ["/outcome"]),
        (ItemWish(ItemAction.SETTLED_OUTSIDE, 1, "x", reference="x", outcome=ResultOutcome.UNKNOWN), ["/outcome"]),
        (ItemWish(ItemAction.NOTE, 1, "a\x00b"), ["/reason"]),
    ],
)
async def test_bad_input_is_refused_by_the_name_of_its_field(house: House, wish: ItemWish, pointers: list[str]) -> None:
    _, item = await unknown_authorization(house)
    with pytest.raises(InvalidRequestError) as refused:
        await item_actions.act_on_item(
            house.db, house.ana, item.item.item_id, wish, key=str(uuid4()), digest=digest_of(wish)
        )
    assert [fault.pointer for fault in refused.value.fields] == pointers


async def test_an_item_that_is_not_there_is_not_found(house: House) -> None:
    with pytest.raises(ItemNotFoundError):
        await house.read(uuid7())
    wish = ItemWish(ItemAction.NOTE, 1, "x")
    with pytest.raises(ItemNotFoundError):
        await item_actions.act_on_item(house.db, house.ana, uuid7(), wish, key="k", digest=b"")


async def test_a_crash_of_the_worker_between_claim_and_answer_loses_nothing(house: House, clock: Clock) -> None:
    step = await house.open_payment()
    house.sandbox.faults.planned.append(Planned("authorize", Fault.DROP_AFTER, 1))
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await take_payment.due_operations(house.db, 10)  # claimed by a worker that dies here
    await clock.move(seconds=1_000)
    await house.worker.work_once()
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert order.status == "CONFIRMED"


async def test_the_desk_of_a_till_is_not_touched(house: House) -> None:
    """Cash is decided in the drawer: nobody can say otherwise through an item."""
    step = await Desk(house.db, till(), house.event_id).sell(0)
    with pytest.raises(BookingError):
        await take_payment.record_result(
            house.db, step.operation.operation_id, OperationResult(ResultOutcome.DECLINED, 0),
            source=f"supervisor:{house.ana.staff_id}",
        )  # fmt: skip
