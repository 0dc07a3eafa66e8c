"""The verb `reconcile`: one day compared from the command line, exit codes, words and JSON (design §9)."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from booking.payments.sandbox_ledger import Kind
from booking.services import daily_reconciliation
from booking.services.issue_tickets import issue_new, prepare
from booking.services.reconcile_command import main
from booking.store.database import Database
from tests.server.box_office import Desk, make_event, till
from tests.server.reconciliation_house import open_house

TODAY = datetime.now(UTC).date().isoformat()


async def compared(dsn: str, url: str, *more: str) -> int:
    """The verb in a thread of its own, because it has a loop of its own."""
    return await asyncio.to_thread(
        main, ["--dsn", dsn, "--provider", "sandbox", "--sandbox-url", url, "--day", TODAY, *more]
    )


async def test_a_day_that_agrees_is_0_and_one_that_differs_is_1(
    dsn: str, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(database) as house:
        await house.sell()
        assert await compared(dsn, house.url) == 0
        assert capsys.readouterr().out.endswith(f"sandbox, {TODAY}: 2 read, 2 agree, 0 differ, 0 new items\n")
        house.sandbox.ledger.by_hand(Kind.AUTHORIZE, amount=700, currency="EUR")
        assert await compared(dsn, house.url) == 1
        assert "provider-only" in capsys.readouterr().out
        assert await compared(dsn, house.url, "--json") == 1
        told = json.loads(capsys.readouterr().out)
    assert told["run"]["differences"] == {"provider-only": 1}
    assert told["run"]["opened_items"] == 0
    assert [(each["kind"], each["amount_minor"], each["currency"]) for each in told["differences"]] == [
        ("provider-only", 700, "EUR")
    ]


async def test_a_provider_that_is_away_is_3_and_the_run_waits_for_another_time(
    dsn: str, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("booking.services.reconcile_command.TRIES", 1)
    await make_event(database)
    assert await compared(dsn, "http://127.0.0.1:9") == 3
    assert "try 1 of 1: ProviderAwayError" in capsys.readouterr().err


async def test_a_comparison_that_a_worker_has_ended_before_is_made_anew(
    dsn: str, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That it is done is no failure, and what it found is to be told."""
    drive = daily_reconciliation.drive_run

    async def beaten(db: Database, providers: daily_reconciliation.Providers, run_id: UUID) -> None:
        monkeypatch.undo()
        assert await drive(db, providers, run_id) is not None

    async with open_house(database) as house:
        house.sandbox.ledger.by_hand(Kind.AUTHORIZE, amount=700, currency="EUR")
        monkeypatch.setattr(daily_reconciliation, "drive_run", beaten)
        assert await compared(dsn, house.url) == 1
    told = capsys.readouterr()
    assert "another process drives this comparison" in told.err
    assert "provider-only" in told.out


async def test_money_in_the_drawer_needs_no_provider(
    dsn: str, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    await Desk(database, till(), await make_event(database)).sell(1)
    await prepare(database)
    await issue_new(database)
    assert await asyncio.to_thread(main, ["--dsn", dsn, "--provider", "drawer", "--day", TODAY]) == 0
    assert "0 differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--provider", "nobody", "--day", TODAY], 2, "/provider"),
        (["--provider", "cash", "--day", "2999-01-01"], 2, "/day"),
    ],
)
async def test_wrong_use_is_2_and_says_what(
    dsn: str, database: Database, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await make_event(database)
    assert await asyncio.to_thread(main, ["--dsn", dsn, *arguments]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--provider", "sandbox"], ["--provider", "cash", "--day", "yesterday"], []])
def test_what_cannot_be_meant_is_refused_by_the_parser(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--dsn", "postgresql://nobody", *arguments])
    assert ended.value.code == 2


def test_a_database_that_is_away_is_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dsn", "postgresql://x@127.0.0.1:9/x", "--provider", "cash"]) == 3
    assert "taquilla reconcile:" in capsys.readouterr().err
