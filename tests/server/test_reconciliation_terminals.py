"""Terminals' ends of day against what we have of their tills: each difference an item, once, until it adds up (R27)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from booking.domain.caller import Caller
from booking.domain.errors import ForbiddenError, InvalidRequestError, KeyReusedError
from booking.domain.items import TerminalTotal, TerminalTotals, TotalsReport
from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome
from booking.services import daily_reconciliation, settle_items
from booking.services.terminal_totals import report_totals
from booking.store.database import Database
from tests.server.box_office import Clock, count, digest_of, fan, reported, till
from tests.server.reconciliation_house import House, open_house


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


async def sold(house: House, caller: Caller, outcome: ResultOutcome = ResultOutcome.SUCCEEDED) -> PaymentOperation:
    """A sale of 40.00 at the till's terminal, reported."""
    operation = await house.sell_at_terminal(caller)
    await reported(house.db, caller, operation.operation_id, OperationResult(outcome, operation.amount_minor))
    return operation


async def closing(
    house: House, caller: Caller, total: int, *, key: str | None = None, **members: object
) -> TerminalTotals:
    now = (await house.db.fetch("SELECT booking_now() AS now"))[0]["now"]
    report = TotalsReport("52500038", "zvt", now, "EUR", total)
    report = replace(report, **members)  # type: ignore[arg-type]
    outcome = await report_totals(
        house.db, caller, report, key=key or str(uuid4()), digest=digest_of(report.total_minor)
    )
    return outcome.value


async def test_a_day_that_adds_up_has_no_item(house: House) -> None:
    caller = till()
    for _ in range(2):
        await sold(house, caller)
    await sold(house, caller, ResultOutcome.DECLINED)
    await sold(house, till())  # another till's terminal
    totals = await closing(house, caller, 8_000)
    assert (totals.ours_minor, totals.difference_minor, totals.item_id) == (8_000, 0, None)


async def test_a_difference_is_an_item_with_both_sides(house: House) -> None:
    caller = till()
    await sold(house, caller)
    lines = (TerminalTotal("girocard", 1, 4_000), TerminalTotal("other", 1, 1_000))
    totals = await closing(
        house, caller, 5_000, totals=lines, evidence=(Evidence(datetime.now(UTC), "received", "04 0F 27 00"),)
    )
    assert totals.difference_minor == 1_000
    item = await house.item("terminal-total-differs")
    assert item.item.item_id == totals.item_id
    assert item.item.words == "Terminal 52500038 counted 50.00 EUR, and we have 40.00 EUR of it."
    assert {"terminal-totals", "terminal-said", "item-opened"} <= {entry.title for entry in item.timeline}


async def test_each_sale_counts_for_one_end_of_day(house: House, clock: Clock) -> None:
    caller = till()
    await sold(house, caller)
    assert (await closing(house, caller, 4_000)).difference_minor == 0
    await clock.move(seconds=60)
    assert (await closing(house, caller, 0)).difference_minor == 0
    await sold(house, caller)
    await clock.move(seconds=60)
    assert (await closing(house, caller, 4_000)).difference_minor == 0


async def test_a_result_that_comes_late_settles_the_difference(house: House) -> None:
    caller = till()
    operation = await house.sell_at_terminal(caller)
    assert (await closing(house, caller, 4_000)).difference_minor == 4_000
    await reported(house.db, caller, operation.operation_id, OperationResult(ResultOutcome.SUCCEEDED, 4_000))
    await settle_items.end_settled_items(house.db)
    assert await house.open_kinds() == []


async def test_told_twice_it_is_kept_once_and_a_later_run_finds_the_same_item(house: House) -> None:
    caller = till()
    now = datetime.now(UTC)
    first = await closing(house, caller, 100, key="k", closed_at=now)
    again = await closing(house, caller, 100, key="k", closed_at=now)
    other = await closing(house, caller, 100, closed_at=now)
    assert first.totals_id == again.totals_id == other.totals_id
    with pytest.raises(KeyReusedError):
        await closing(house, caller, 200, key="k")
    begun = await daily_reconciliation.start_run(house.db, house.ana, "zvt", now.date(), key="run", digest=b"")
    found = await daily_reconciliation.drive_run(house.db, {}, begun.value.run_id)
    assert found is not None
    assert [each.kind for each in found] == ["terminal-total-differs"]
    assert await count(house.db, "SELECT count(*) FROM reconciliation_items") == 1


async def test_only_a_till_reports(house: House) -> None:
    with pytest.raises(ForbiddenError):
        await closing(house, fan(), 0)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"provider": "sandbox"}, "/provider"),
        ({"currency": "XXX"}, "/currency"),
        ({"totals": (TerminalTotal("x", 1, 1),)}, "/totals"),
        ({"closed_at": datetime.now(UTC) + timedelta(hours=1)}, "/closed_at"),
        ({"closed_at": datetime.now(UTC) - timedelta(days=30)}, "/closed_at"),
        ({"first_receipt": -1}, "/first_receipt"),
        ({"terminal_id": "4111111111111111"}, "/terminal_id"),
        ({"terminal_id": "a\x00"}, "/terminal_id"),
        ({"total_minor": -1}, "/total_minor"),
    ],
)
async def test_a_bad_report_is_refused_by_the_name_of_its_member(
    house: House, members: dict[str, Any], pointer: str
) -> None:
    total = members.pop("total_minor", 5)
    assert isinstance(total, int)
    with pytest.raises(InvalidRequestError) as refused:
        await closing(house, till(), total, **members)
    assert [fault.pointer for fault in refused.value.fields] == [pointer]
    assert await count(house.db, "SELECT count(*) FROM terminal_totals") == 0


async def test_an_end_of_day_before_the_newest_one_is_refused(house: House) -> None:
    caller, now = till(), datetime.now(UTC)
    await closing(house, caller, 0, closed_at=now)
    with pytest.raises(InvalidRequestError):
        await closing(house, caller, 0, closed_at=now - timedelta(minutes=1))
