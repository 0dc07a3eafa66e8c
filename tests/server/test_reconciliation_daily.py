"""The daily comparison: one planted difference of every kind, each found exactly once, nothing else reported (R27)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from booking.domain.errors import InvalidRequestError, RunNotFoundError
from booking.domain.item_actions import ItemAction
from booking.domain.items import ReconciliationRun, RunState
from booking.domain.model import PaymentStep, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments.provider import MovementPage, MovementStatus, ProviderAwayError, ProviderMovement
from booking.payments.sandbox_client import SandboxProvider
from booking.services import daily_reconciliation, drive_operation, settle_items, take_payment
from booking.services.orders import order_as_it_stands
from booking.store import reconciliation_queries_runs
from booking.store.database import Database
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.server.box_office import Clock, Desk, count, digest_of, till
from tests.server.reconciliation_house import House, open_house

PAGE = 3


@dataclass
class Books:
    """The sandbox's own list, as a provider that can be made to tell it otherwise, and to fail."""

    sandbox: SandboxProvider
    removed: set[str] = field(default_factory=set)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: list[ProviderMovement] = field(default_factory=list)
    failures: int = 0
    asked: int = 0
    on_page: Callable[[], None] = lambda: None
    name: str = "sandbox"

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        self.asked += 1
        if self.failures:
            self.failures -= 1
            raise ProviderAwayError("nobody answers")
        self.on_page()
        told: list[ProviderMovement] = []
        page = MovementPage((), "0")
        while page.cursor:
            page = await self.sandbox.list_movements(since, until, "" if page.cursor == "0" else page.cursor)
            told += page.movements
        shown = [
            replace(each, **self.changed.get(each.idempotency_key, {}))
            for each in told
            if each.idempotency_key not in self.removed
        ] + [each for each in self.added if since <= each.at < until]
        start = int(cursor or 0)
        after = start + PAGE
        return MovementPage(tuple(shown[start:after]), str(after) if after < len(shown) else "")


@dataclass
class Comparison:
    house: House
    books: Books

    @property
    def providers(self) -> daily_reconciliation.Providers:
        return {"sandbox": self.books}  # type: ignore[dict-item]

    async def run(self, provider: str = "sandbox", day: date | None = None) -> ReconciliationRun:
        """A comparison of today, driven to its end."""
        day = day or datetime.now(UTC).date()
        begun = await daily_reconciliation.start_run(
            self.house.db, self.house.ana, provider, day, key=str(uuid4()), digest=b""
        )
        assert await daily_reconciliation.drive_run(self.house.db, self.providers, begun.value.run_id) is not None
        return await daily_reconciliation.read_run(self.house.db, begun.value.run_id)

    async def keys(self, step: PaymentStep) -> dict[str, str]:
        """kind → our key, of the operations of an order."""
        operations = (await order_as_it_stands(self.house.db, step.order.order_id)).operations
        return {op.kind.value: op.idempotency_key for op in operations}

    async def reference(self, step: PaymentStep) -> str:
        operations = (await order_as_it_stands(self.house.db, step.order.order_id)).operations
        return next(op.provider_ref for op in operations if op.kind is OperationKind.AUTHORIZE)


@pytest.fixture
async def comparison(database: Database) -> AsyncIterator[Comparison]:
    async with open_house(database) as house:
        yield Comparison(house, Books(house.provider))


def moved(kind: OperationKind, ref: str, amount: int = 8_000, **members: Any) -> ProviderMovement:
    """A movement that our ledger does not explain."""
    made = ProviderMovement(
        ref, "", kind, amount, "EUR", datetime.now(UTC) - timedelta(seconds=5), MovementStatus.SUCCEEDED,
        movement_ref=f"m-{kind}-{ref}-{amount}",
    )  # fmt: skip
    return replace(made, **members)


async def provider_only(c: Comparison) -> None:
    c.books.added += [moved(OperationKind.AUTHORIZE, "ch_x"), moved(OperationKind.CAPTURE, "ch_x")]


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


async def refund_provider_only(c: Comparison) -> None:
    c.books.added.append(moved(OperationKind.REFUND, await c.reference(await c.house.sell()), 4_000))


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


async def everything_that_is_right(c: Comparison) -> None:
    """What goes on in a house every day, and is no difference."""
    for _ in range(2):
        await c.house.sell()
    declined = await c.house.open_payment("card-decline")
    await drive_operation.take_at_once(c.house.db, c.house.provider, declined.operation)
    unknown = await c.house.open_payment()
    await take_payment.mark_sent(c.house.db, unknown.operation.operation_id)
    await c.house.record(unknown.operation.operation_id, ResultOutcome.UNKNOWN)
    await Desk(c.house.db, till(), c.house.event_id).sell(c.house.free_seat)
    c.house.free_seat += 1


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


async def test_asking_again_about_what_only_we_have_ends_the_item_when_the_provider_agrees(
    comparison: Comparison,
) -> None:
    await ours_only(comparison)
    await comparison.run()
    item = await comparison.house.item("ours-only")
    asking = asyncio.create_task(comparison.house.act(item, ItemAction.ASK_AGAIN, wait_s=5))
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


async def test_p32_a_page_that_fails_is_asked_for_again_from_where_it_stood(
    comparison: Comparison, clock: Clock
) -> None:
    await everything_that_is_right(comparison)
    house = comparison.house
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )
    comparison.books.failures = 2
    for _ in range(2):
        assert await daily_reconciliation.drive_due_run(house.db, comparison.providers)
        assert not await daily_reconciliation.drive_due_run(house.db, comparison.providers)  # it waits
        run = await daily_reconciliation.read_run(house.db, begun.value.run_id)
        assert run.detail.startswith("ProviderAwayError")
        await clock.move(seconds=60)
    assert await daily_reconciliation.drive_due_run(house.db, comparison.providers)
    run = await daily_reconciliation.read_run(house.db, begun.value.run_id)
    assert (run.state, run.read, run.detail) == (RunState.DONE, 5, "")


async def test_a_provider_that_never_answers_fails_the_run_and_the_next_day_has_its_own(
    comparison: Comparison, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily_reconciliation, "MOST_FAILURES", 2)
    house = comparison.house
    comparison.books.failures = 99
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )
    for _ in range(2):
        await daily_reconciliation.drive_due_run(house.db, comparison.providers)
        await clock.move(seconds=600)
    assert (await daily_reconciliation.read_run(house.db, begun.value.run_id)).state is RunState.FAILED
    comparison.books.failures = 0
    assert (await comparison.run()).state is RunState.DONE


async def test_a_killed_worker_leaves_a_run_that_another_one_ends(comparison: Comparison, clock: Clock) -> None:
    """The lease of who died runs out; pages that were read are not asked for again."""
    await everything_that_is_right(comparison)
    house, books = comparison.house, comparison.books
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )

    def die_on_the_second_page() -> None:
        if books.asked == 2:
            raise asyncio.CancelledError

    books.on_page = die_on_the_second_page
    with pytest.raises(asyncio.CancelledError):
        await daily_reconciliation.drive_due_run(house.db, comparison.providers)
    assert (await daily_reconciliation.read_run(house.db, begun.value.run_id)).read == PAGE
    assert not await daily_reconciliation.drive_due_run(house.db, comparison.providers)
    await clock.move(seconds=daily_reconciliation.LEASE.total_seconds() + 1)
    assert await daily_reconciliation.drive_due_run(house.db, comparison.providers)
    run = await daily_reconciliation.read_run(house.db, begun.value.run_id)
    assert (run.state, run.read, books.asked) == (RunState.DONE, 5, 3)


async def test_a_driver_that_lost_its_lease_changes_nothing(comparison: Comparison) -> None:
    house = comparison.house
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )
    run_id, stranger = begun.value.run_id, uuid4()
    assert not await reconciliation_queries_runs.keep_page(house.db, run_id, stranger, timedelta(minutes=1), [], "")
    assert not await reconciliation_queries_runs.end_run(house.db, run_id, stranger, 0, {}, 0, [], "")
    assert (await daily_reconciliation.read_run(house.db, run_id)).state is RunState.RUNNING


async def test_one_bad_difference_never_stops_the_others(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P32. It is found again by the next run."""
    await provider_only(comparison)
    await refund_provider_only(comparison)
    kept = reconciliation_queries_runs.open_difference

    async def sometimes(db: Database, provider: str, found: Any) -> bool:
        if found.kind == "provider-only":
            raise ValueError("a row that cannot be kept")
        return await kept(db, provider, found)

    monkeypatch.setattr(reconciliation_queries_runs, "open_difference", sometimes)
    run = await comparison.run()
    assert await comparison.house.open_kinds() == ["refund-provider-only"]
    assert run.detail.startswith("1 differences could not be kept")
    monkeypatch.undo()
    assert (await comparison.run()).opened_items == 1


async def test_each_day_is_compared_once_by_itself_after_its_hour(comparison: Comparison, clock: Clock) -> None:
    house = comparison.house
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = (midnight - timedelta(days=1)).date()
    await clock.stand_at(midnight + timedelta(hours=4, minutes=59))
    assert await daily_reconciliation.start_due_runs(house.db, comparison.providers) is None
    await clock.stand_at(midnight + timedelta(hours=5))
    both = await asyncio.gather(
        *(daily_reconciliation.start_due_runs(house.db, comparison.providers) for _ in range(2))
    )
    assert both == [yesterday, yesterday]
    assert await count(house.db, "SELECT count(*) FROM reconciliation_runs") == 1
    worker = ReconciliationWorker(house.db, comparison.providers)
    for _ in range(2):
        await worker.work_once()
    runs = (await daily_reconciliation.list_runs(house.db)).runs
    assert [(run.state, run.started_by, run.day) for run in runs] == [(RunState.DONE, "authority", yesterday)]


async def test_what_took_money_at_tills_is_compared_as_well(comparison: Comparison, clock: Clock) -> None:
    house = comparison.house
    await Desk(house.db, till(), house.event_id).sell(30)
    await house.sell_at_terminal(till())
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    await clock.stand_at(midnight + timedelta(days=1, hours=6))
    await ReconciliationWorker(house.db, {}).work_once()
    runs = (await daily_reconciliation.list_runs(house.db)).runs
    assert sorted(run.provider for run in runs) == ["drawer", "zvt"]


async def test_the_day_is_that_of_the_zone_of_the_settings(comparison: Comparison) -> None:
    await comparison.house.db.fetch("UPDATE reconciliation_settings SET zone = 'Asia/Tokyo'")
    await comparison.run(day=date(2026, 3, 1))
    row = (await comparison.house.db.fetch("SELECT since, until FROM reconciliation_runs"))[0]
    assert (row["since"], row["until"]) == (
        datetime(2026, 2, 28, 15, tzinfo=UTC), datetime(2026, 3, 1, 15, tzinfo=UTC),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "day", "pointer"),
    [("nobody", date(2026, 1, 1), "/provider"), ("sandbox", date(2999, 1, 1), "/day")],
)
async def test_a_run_that_makes_no_sense_is_refused(
    comparison: Comparison, provider: str, day: date, pointer: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await comparison.run(provider, day)
    assert [fault.pointer for fault in refused.value.fields] == [pointer]


async def test_the_same_key_begins_one_run_and_a_second_one_of_a_day_is_the_first(comparison: Comparison) -> None:
    house, day = comparison.house, datetime.now(UTC).date()
    first, again, other = [
        await daily_reconciliation.start_run(house.db, house.ana, "sandbox", day, key=key, digest=digest_of(day))
        for key in ("a", "a", "b")
    ]
    assert first.value.run_id == again.value.run_id == other.value.run_id
    assert (first.replayed, again.replayed) == (False, True)
    with pytest.raises(RunNotFoundError):
        await daily_reconciliation.read_run(house.db, UUID(int=1))


async def test_money_in_the_drawer_is_compared_with_tickets_as_well(comparison: Comparison) -> None:
    await everything_that_is_right(comparison)
    run = await comparison.run("drawer")
    assert (run.state, run.differences, run.read) == (RunState.DONE, {}, 0)
    found = Counter(await comparison.house.open_kinds())
    assert found == Counter()
    await settle_items.end_settled_items(comparison.house.db)
