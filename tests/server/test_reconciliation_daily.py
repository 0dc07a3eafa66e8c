"""The daily comparison: one planted difference of every kind, each found exactly once, nothing else reported (R27)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from booking.domain.item_actions import ItemAction
from booking.domain.items import RunState
from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.services import drive_operation, take_payment
from booking.services.orders import order_as_it_stands
from booking.store import reconciliation_queries
from booking.store.database import Database
from tests.server.box_office import count
from tests.server.reconciliation_books import (
    Books,
    Comparison,
    everything_that_is_right,
    moved,
    provider_only,
    refund_provider_only,
)
from tests.server.reconciliation_house import open_house


@pytest.fixture
async def comparison(database: Database) -> AsyncIterator[Comparison]:
    async with open_house(database) as house:
        yield Comparison(house, Books(house.provider))


async def ours_only(c: Comparison) -> None:
    c.books.removed.add((await c.keys(await c.house.sell()))["capture"])


async def amount_differs(c: Comparison) -> None:
    c.books.changed[(await c.keys(await c.house.sell()))["capture"]] = {"amount_minor": 7_999}


async def currency_differs(c: Comparison) -> None:
    c.books.changed[(await c.keys(await c.house.sell()))["capture"]] = {"currency": "USD"}


async def state_differs(c: Comparison) -> None:
    """Captured there by hand, voided here."""
    step = await c.house.open_payment()
    await c.house.db.fetch("UPDATE events SET status = 'CANCELLED'")
    await drive_operation.take_at_once(c.house.db, c.house.provider, step.operation)
    await c.house.db.fetch("UPDATE events SET status = 'ON_SALE'")
    await c.house.work(2)
    assert (await c.keys(step)).keys() == {"authorize", "void"}
    c.books.added.append(moved(OperationKind.CAPTURE, await c.reference(step)))


async def duplicate_charge(c: Comparison) -> None:
    key = (await c.keys(await c.house.sell()))["authorize"]
    c.books.added += [
        moved(OperationKind.AUTHORIZE, "ch_twice", idempotency_key=key), moved(OperationKind.CAPTURE, "ch_twice"),
    ]  # fmt: skip


async def ticket_without_money(c: Comparison) -> None:
    """Somebody marked the capture as refused in the database, and nobody was told."""
    step = await c.house.sell()
    await c.house.db.fetch(
        "UPDATE payment_operations SET status = 'DECLINED' WHERE order_id = $1 AND kind = 'capture'",
        step.order.order_id,
    )
    c.books.removed.add((await c.keys(step))["capture"])


async def money_without_ticket(c: Comparison) -> None:
    step = await c.house.sell()
    await c.house.db.fetch("UPDATE tickets SET status = 'VOID' WHERE order_id = $1", step.order.order_id)
    await c.house.db.fetch(
        "UPDATE orders SET confirmed_at = confirmed_at - interval '15 min' WHERE order_id = $1", step.order.order_id
    )


PLANTED = {
    "provider-only": provider_only,
    "ours-only": ours_only,
    "amount-differs": amount_differs,
    "currency-differs": currency_differs,
    "state-differs": state_differs,
    "refund-provider-only": refund_provider_only,
    "duplicate-charge": duplicate_charge,
    "ticket-without-money": ticket_without_money,
    "money-without-ticket": money_without_ticket,
}


async def test_a_day_on_which_all_is_right_has_no_difference(comparison: Comparison) -> None:
    await everything_that_is_right(comparison)
    run = await comparison.run()
    assert (run.state, run.differences, run.opened_items) == (RunState.DONE, {}, 0)
    assert (run.read, run.matched) == (5, 5)  # two authorizations, two captures, and one that was declined
    assert run.expected == 4
    assert comparison.books.asked == 2
    assert await comparison.house.open_kinds() == []
    assert await count(comparison.house.db, "SELECT count(*) FROM run_movements") == 0


@pytest.mark.usefixtures("breaks_rules")
@pytest.mark.parametrize("kind", PLANTED)
async def test_each_kind_of_difference_is_found_once_and_nothing_else(comparison: Comparison, kind: str) -> None:
    await everything_that_is_right(comparison)
    await PLANTED[kind](comparison)
    run = await comparison.run()
    assert (run.differences, run.opened_items) == ({kind: 1}, 1)
    again = await comparison.run()
    assert (again.differences, again.opened_items) == ({kind: 1}, 0)
    assert await comparison.house.open_kinds() == [kind]


@pytest.mark.usefixtures("breaks_rules")
async def test_one_of_every_kind_at_once_and_each_item_has_its_evidence(comparison: Comparison) -> None:
    await everything_that_is_right(comparison)
    for plant in PLANTED.values():
        await plant(comparison)
    run = await comparison.run()
    assert run.differences == dict.fromkeys(PLANTED, 1)
    assert await comparison.house.open_kinds() == sorted(PLANTED)
    for kind in PLANTED:
        item = await comparison.house.item(kind)
        assert item.item.amount_minor > 0
        assert item.item.words
        assert "difference-found" in [entry.title for entry in item.timeline]


async def test_what_a_person_has_settled_is_not_found_again(comparison: Comparison) -> None:
    await provider_only(comparison)
    await comparison.run()
    item = await comparison.house.item("provider-only")
    await comparison.house.act(item, ItemAction.SETTLED_OUTSIDE, reference="refunded in the dashboard")
    run = await comparison.run()
    assert (run.differences, run.opened_items) == ({}, 0)
    assert await comparison.house.open_kinds() == []


async def test_what_is_right_the_next_time_ends_its_item(comparison: Comparison) -> None:
    await ours_only(comparison)
    assert (await comparison.run()).differences == {"ours-only": 1}
    comparison.books.removed.clear()  # the provider lists it late
    assert (await comparison.run()).differences == {}
    resolved = await comparison.house.db.fetch("SELECT resolved_by, resolution FROM reconciliation_items")
    assert resolved[0]["resolved_by"] == "authority"
    assert resolved[0]["resolution"].startswith("not found any more")


@pytest.mark.parametrize("between_s", [0, 0.3], ids=["at-once", "a-worker-that-pauses-between-answer-and-end"])
async def test_asking_again_about_what_only_we_have_ends_the_item_when_the_provider_agrees(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch, between_s: float
) -> None:
    note = reconciliation_queries.note_reconfirmed

    async def note_later(db: Database, operation_id: UUID, outcome: str, amount_minor: int) -> None:
        await asyncio.sleep(between_s)
        await note(db, operation_id, outcome, amount_minor)

    monkeypatch.setattr(reconciliation_queries, "note_reconfirmed", note_later)
    await ours_only(comparison)
    await comparison.run()
    item = await comparison.house.item("ours-only")
    asking = asyncio.create_task(comparison.house.act(item, ItemAction.ASK_AGAIN, wait_s=60))
    while not asking.done():
        await comparison.house.worker.work_once()
        await asyncio.sleep(0.02)
    assert (await asking).item.resolution == "the provider says so as well"
    assert await count(
        comparison.house.db,
        "SELECT count(*) FROM payment_operations WHERE status = 'SUCCEEDED' AND next_attempt_at IS NOT NULL",
    ) == 0  # fmt: skip


async def test_what_the_provider_knows_and_we_do_not_is_asked_about_at_once(comparison: Comparison) -> None:
    step = await comparison.house.open_payment()
    await take_payment.mark_sent(comparison.house.db, step.operation.operation_id)
    await comparison.house.provider.authorize(step.operation)  # the answer was lost
    await comparison.house.record(step.operation.operation_id, ResultOutcome.UNKNOWN)
    await comparison.house.db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() + interval '1 h'")
    assert (await comparison.run()).differences == {}
    await comparison.house.worker.work_once()
    assert (await order_as_it_stands(comparison.house.db, step.order.order_id)).status == "CONFIRMED"
