"""Runs of the daily comparison: pages that fail, drivers that die, the hour, the zone, and what is refused (R27)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from booking.domain.errors import InvalidRequestError, RunNotFoundError
from booking.domain.items import RunState
from booking.services import daily_reconciliation, settle_items
from booking.store import reconciliation_queries_runs
from booking.store.database import Database
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.server.box_office import Clock, Desk, count, digest_of, till
from tests.server.reconciliation_books import (
    PAGE,
    Books,
    Comparison,
    everything_that_is_right,
    provider_only,
    refund_provider_only,
)
from tests.server.reconciliation_house import open_house


@pytest.fixture
async def comparison(database: Database) -> AsyncIterator[Comparison]:
    async with open_house(database) as house:
        yield Comparison(house, Books(house.provider))


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


@pytest.mark.parametrize("broken", ["list", "comparison"])
async def test_a_comparison_with_a_fault_is_tried_again_and_fails_in_the_end(
    comparison: Comparison, clock: Clock, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """P32. It neither stops the worker nor holds its day for ever, and says what is wrong, without card numbers."""
    monkeypatch.setattr(daily_reconciliation, "MOST_FAILURES", 2)
    house = comparison.house

    def fault(*_: object) -> None:
        raise LookupError("no column of 4111 1111 1111 1111\0")

    if broken == "list":
        comparison.books.on_page = fault
    else:
        monkeypatch.setattr(reconciliation_queries_runs, "read_differences", fault)
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )
    told = []
    for _ in range(2):
        assert await daily_reconciliation.drive_due_run(house.db, comparison.providers)
        assert not await daily_reconciliation.drive_due_run(house.db, comparison.providers)  # it waits
        told.append(await daily_reconciliation.read_run(house.db, begun.value.run_id))
        await clock.move(seconds=60)
    assert [run.state for run in told] == [RunState.RUNNING, RunState.FAILED]
    assert all(run.detail.startswith("LookupError: no column of ") and "4111 1111" not in run.detail for run in told)


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

    async def sometimes(db: Database, *run: Any) -> bool:
        if run[-1].kind == "provider-only":
            raise ValueError("a row that cannot be kept")
        return await kept(db, *run)

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


async def test_days_on_which_no_worker_ran_are_compared_with_the_next_one(comparison: Comparison, clock: Clock) -> None:
    house = comparison.house
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    async def days_begun(after_days: int) -> list[int]:
        await clock.stand_at(midnight + timedelta(days=after_days, hours=6))
        await daily_reconciliation.start_due_runs(house.db, comparison.providers)
        rows = await house.db.fetch("SELECT day FROM reconciliation_runs ORDER BY started_at, day")
        return [(row["day"] - midnight.date()).days for row in rows]

    assert await days_begun(0) == [-1]
    assert await days_begun(3) == [-1, 0, 1, 2]
    assert await days_begun(3) == [-1, 0, 1, 2]
    assert await days_begun(30) == [-1, 0, 1, 2, *range(21, 30)]


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
