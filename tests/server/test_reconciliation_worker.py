"""The reconciliation worker: silence becomes an item once, items end by themselves, no fault stops the rest (P32)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pytest

from booking.domain.errors import BookingError, ItemChangedError
from booking.domain.item_actions import ItemAction
from booking.domain.items import ItemState
from booking.domain.model import OperationResult, PaymentOperation, ResultOutcome
from booking.services import drive_operation, settle_items, take_payment
from booking.services.issue_tickets import issue_new, prepare
from booking.services.orders import order_as_it_stands
from booking.store import issue_queries
from booking.store.connection import Connection
from booking.store.database import Database
from booking.store.issue_queries import NewTicket
from booking.workers.payment_worker import PaymentWorker
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.server.box_office import Clock, Desk, count, till
from tests.server.reconciliation_house import House, open_house


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


async def unknown(house: House) -> PaymentOperation:
    step = await house.open_payment()
    await take_payment.mark_sent(house.db, step.operation.operation_id)
    await house.record(step.operation.operation_id, ResultOutcome.UNKNOWN)
    await house.db.fetch("UPDATE payment_operations SET created_at = created_at - interval '20 min'")
    return step.operation


async def test_silence_becomes_one_item_however_many_workers_look(house: House) -> None:
    for _ in range(3):
        await unknown(house)
    await asyncio.gather(*(settle_items.note_silence(house.db) for _ in range(4)))
    assert await house.open_kinds() == ["unknown-overdue"] * 3


async def test_a_setting_says_how_long_silence_may_last(house: House) -> None:
    await unknown(house)
    await house.db.fetch("UPDATE reconciliation_settings SET unknown_after_s = 3600")
    assert await settle_items.note_silence(house.db) == 0
    await house.db.fetch("UPDATE reconciliation_settings SET unknown_after_s = 60")
    assert await settle_items.note_silence(house.db) == 1


async def test_an_item_whose_cause_is_gone_ends_once_and_over_many_pages(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_items, "BATCH", 2)
    operations = [await unknown(house) for _ in range(5)]
    for _ in range(3):
        await settle_items.note_silence(house.db)
    for operation in operations[1:]:
        await house.record(operation.operation_id, ResultOutcome.DECLINED, code="card-declined")
    ended = await asyncio.gather(*(settle_items.end_settled_items(house.db) for _ in range(2)))
    assert sum(ended) == 4
    assert (await house.item()).item.operation_id == operations[0].operation_id


async def test_who_acts_just_then_wins_or_is_told_that_it_changed(house: House) -> None:
    operation = await unknown(house)
    await settle_items.note_silence(house.db)
    item = await house.item()
    await house.record(operation.operation_id, ResultOutcome.DECLINED, code="card-declined")
    acted, _ = await asyncio.gather(
        house.act(item, ItemAction.NOTE), settle_items.end_settled_items(house.db), return_exceptions=True
    )
    assert not isinstance(acted, BookingError) or isinstance(acted, ItemChangedError)
    await settle_items.end_settled_items(house.db)
    assert (await house.read(item.item.item_id)).item.state is ItemState.RESOLVED


async def test_tickets_that_lack_are_an_item_and_asking_again_brings_them(house: House, clock: Clock) -> None:
    """R28: the issuer has read past the order, say because of a fault that was mended since."""
    order = (await Desk(house.db, till(), house.event_id).sell(0, 1)).order
    await prepare(house.db)
    await house.db.fetch("UPDATE consumer_offsets SET snap = pg_current_snapshot() WHERE consumer = 'ticket-issuer'")
    assert await issue_new(house.db) == 0
    assert await settle_items.note_missing_tickets(house.db) == 0
    await clock.move(seconds=400)
    assert [await settle_items.note_missing_tickets(house.db) for _ in range(2)] == [1, 0]
    item = await house.item("tickets-missing")
    assert (item.item.order_id, item.item.words) == (
        order.order_id, "The order is confirmed, and 2 of its tickets are not issued.",
    )  # fmt: skip
    assert [each.action for each in item.actions] == ["ask-again", "settled-outside", "note"]
    await house.act(item, ItemAction.ASK_AGAIN)
    assert await issue_new(house.db) == 2
    await settle_items.end_settled_items(house.db)
    assert (await house.read(item.item.item_id)).item.resolution == "the tickets are issued"


async def test_p32_an_order_whose_tickets_cannot_be_issued_never_stops_the_others(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await prepare(house.db)
    steps = [await house.open_payment() for _ in range(3)]
    for step in steps:
        await drive_operation.take_at_once(house.db, house.provider, step.operation)
    bad = steps[1].order.order_id
    insert = issue_queries.insert_tickets

    async def refuse(connection: Connection, tickets: Sequence[NewTicket]) -> int:
        if any(ticket.line.order_id == bad for ticket in tickets):
            raise ValueError("a line that has no ticket")
        return await insert(connection, tickets)

    with monkeypatch.context() as patch:
        patch.setattr(issue_queries, "insert_tickets", refuse)
        assert await issue_new(house.db) == 4
    assert f"the tickets of order {bad} could not be issued" in caplog.text
    await clock.move(seconds=400)
    await settle_items.note_missing_tickets(house.db)
    item = await house.item("tickets-missing")
    assert item.item.order_id == bad
    await house.act(item, ItemAction.ASK_AGAIN)
    assert await issue_new(house.db) == 2
    await settle_items.end_settled_items(house.db)


async def test_what_nobody_sent_ends_with_the_buyers_time_without_any_provider(house: House, clock: Clock) -> None:
    step = await house.open_payment()
    await clock.move(seconds=1_000)
    await ReconciliationWorker(house.db, {}).work_once()
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert (order.status, order.operations[0].status, order.operations[0].decline_code) == (
        "EXPIRED", "DECLINED", "not-sent",
    )  # fmt: skip


async def test_p32_a_part_that_fails_never_stops_the_others(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await unknown(house)

    async def broken(_: Database) -> int:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(settle_items, "end_settled_items", broken)
    with caplog.at_level(logging.ERROR):
        await ReconciliationWorker(house.db, {}).work_once()
    assert await house.open_kinds() == ["unknown-overdue"]
    assert "items that end by themselves failed" in caplog.text


async def test_its_parts_go_on_until_it_is_stopped(house: House) -> None:
    await unknown(house)
    working = asyncio.create_task(ReconciliationWorker(house.db, {}).run())
    async with asyncio.timeout(60):
        while await house.open_kinds() == []:
            await asyncio.sleep(0.02)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


@dataclass
class Poisoned:
    """A provider whose answer about one operation cannot be read by anybody."""

    poison: str
    name: str = "sandbox"

    async def enquire(self, operation: PaymentOperation) -> OperationResult:
        if operation.idempotency_key == self.poison:
            raise RuntimeError("an answer that nobody foresaw")
        return OperationResult(ResultOutcome.DECLINED, 0, decline_code="card-declined")

    authorize = capture = void = refund = withdraw = enquire


async def test_p32_one_bad_row_never_stops_the_payment_worker_and_becomes_an_item(house: House) -> None:
    bad, *others = [await unknown(house) for _ in range(4)]
    await house.db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now()")
    await PaymentWorker(house.db, {"sandbox": Poisoned(bad.idempotency_key)}).work_once()  # type: ignore[dict-item]
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE status = 'DECLINED'") == len(others)
    await settle_items.note_silence(house.db)
    assert (await house.item()).item.operation_id == bad.operation_id


async def test_an_item_that_a_person_settled_is_not_opened_again(house: House, clock: Clock) -> None:
    await Desk(house.db, till(), house.event_id).sell(0)
    await clock.move(seconds=400)
    await settle_items.note_missing_tickets(house.db)
    await house.act(await house.item(), ItemAction.SETTLED_OUTSIDE, reference=f"by hand {uuid4()}"[:40])
    assert await settle_items.note_missing_tickets(house.db) == 0


async def test_what_people_have_settled_does_not_stand_in_the_way_of_what_is_new(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round looks at so many orders at most: those that a person has settled are none of them."""
    monkeypatch.setattr(settle_items, "BATCH", 1)
    for seat in range(2):
        await Desk(house.db, till(), house.event_id).sell(seat)
        await clock.move(seconds=400)
        assert await settle_items.note_missing_tickets(house.db) == 1
        await house.act(await house.item(), ItemAction.SETTLED_OUTSIDE, reference=f"by hand {seat}")
