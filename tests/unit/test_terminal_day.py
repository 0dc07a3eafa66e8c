"""The terminal's end of day: journaled before, reported once, told again when lost, never guessed (R27, T3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.actions.close_terminal_day import DayNotReportedError, DayNotToldError, close_terminal_day, report_days
from app.actions.pay_card import pay_card
from app.core.errors import NotAllowedError, NoTerminalError, TerminalUnsettledError
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import TerminalRefusedError, TerminalUnavailableError
from app.devices.fake_terminal import Decline, LoseLine, Unreachable
from app.journal.async_journal import AsyncJournal
from backend_client.testing import Fault
from tests.unit.counter import Counter, make_counter, open_journal


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> Counter:
    made = make_counter(journal)
    await made.open()
    return made


async def sell(counter: Counter, seat: int) -> None:
    await counter.hold(seat)
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    counter.desk.store.put_sale(None)


def totals(counter: Counter) -> list[int]:
    return [report.total_minor for report in counter.server.house.terminal_totals]


async def test_totals_are_reported_with_what_bounds_them(counter: Counter) -> None:
    await sell(counter, 0)
    await sell(counter, 1)
    answer = await close_terminal_day(counter.desk)
    assert (answer.total_minor, answer.ours_minor, answer.difference_minor) == (9000, 9000, 0)
    (report,) = counter.server.house.terminal_totals
    assert (report.provider, report.terminal_id, report.currency) == ("zvt", "52500041", "EUR")
    assert (report.first_receipt, report.last_receipt) == (1, 2)
    assert [(one.scheme, one.count, one.amount_minor) for one in report.totals] == [("Visa", 2, 9000)]
    assert await counter.desk.journal.open_days() == ()


async def test_totals_that_could_not_be_reported_are_reported_later_and_once(
    counter: Counter, journal: AsyncJournal
) -> None:
    await sell(counter, 0)
    counter.server.fail(Fault.BUSY, "/terminal-totals", times=99)
    with pytest.raises(DayNotReportedError):
        await close_terminal_day(counter.desk)
    counter.server.heal()
    again = counter.restart(journal)
    await again.open()
    assert await report_days(again.desk) == 0
    assert await report_days(again.desk) == 0
    assert totals(again) == [4500]


async def test_a_day_that_waits_to_be_told_is_not_closed_again(counter: Counter) -> None:
    """Else the clerk heard of an empty day that agrees, and of the real one never."""
    await sell(counter, 0)
    counter.server.fail(Fault.BUSY, "/terminal-totals", times=99)
    for _again in range(2):
        with pytest.raises(DayNotReportedError) as caught:
            await close_terminal_day(counter.desk)
        assert caught.value.report.total_minor == 4500
    assert len(await counter.desk.journal.open_days()) == 1
    counter.server.heal()
    assert (await close_terminal_day(counter.desk)).total_minor == 4500
    assert totals(counter) == [4500]


async def test_a_day_with_sales_since_the_one_that_waits_is_closed_of_its_own(counter: Counter) -> None:
    await sell(counter, 0)
    counter.server.fail(Fault.BUSY, "/terminal-totals", times=99)
    with pytest.raises(DayNotReportedError):
        await close_terminal_day(counter.desk)
    counter.server.heal()
    await sell(counter, 1)
    await close_terminal_day(counter.desk)
    assert await report_days(counter.desk) == 0
    assert len(totals(counter)) == 2


async def test_totals_whose_answer_was_lost_are_stored_once(counter: Counter) -> None:
    await sell(counter, 0)
    counter.server.fail(Fault.ANSWER_LOST, "/terminal-totals", times=99)
    with pytest.raises(DayNotReportedError):
        await close_terminal_day(counter.desk)
    counter.server.heal()
    assert await report_days(counter.desk) == 0
    assert totals(counter) == [4500]


async def test_t3_a_day_whose_answer_was_lost_is_told_by_the_last_transaction(counter: Counter) -> None:
    await sell(counter, 0)
    counter.terminal.play(LoseLine(booked=True))
    with pytest.raises(DayNotToldError):
        await close_terminal_day(counter.desk)
    assert await report_days(counter.desk) == 0
    assert totals(counter) == [4500]


async def test_a_day_that_was_not_closed_after_all_is_said_and_can_be_closed(counter: Counter) -> None:
    await sell(counter, 0)
    counter.terminal.play(LoseLine(booked=False))
    with pytest.raises(DayNotToldError):
        await close_terminal_day(counter.desk)
    assert await report_days(counter.desk) == 0
    assert NoticeCode.DAY_NOT_TOLD in counter.notices
    assert totals(counter) == []
    assert (await close_terminal_day(counter.desk)).total_minor == 4500


async def test_a_terminal_that_cannot_be_asked_now_is_asked_later(counter: Counter) -> None:
    await sell(counter, 0)
    counter.terminal.play(LoseLine(booked=True))
    with pytest.raises(DayNotToldError):
        await close_terminal_day(counter.desk)
    counter.terminal.silent = True
    assert await report_days(counter.desk) == 1
    counter.terminal.silent = False
    assert await report_days(counter.desk) == 0
    assert totals(counter) == [4500]


@pytest.mark.parametrize(
    ("scene", "error"), [(Decline("not-possible"), TerminalRefusedError), (Unreachable(), TerminalUnavailableError)]
)
async def test_a_day_that_was_refused_leaves_nothing_open(
    counter: Counter, scene: Decline | Unreachable, error: type[Exception]
) -> None:
    counter.terminal.play(scene)
    with pytest.raises(error):
        await close_terminal_day(counter.desk)
    assert await counter.desk.journal.open_days() == ()
    assert totals(counter) == []


async def test_a_day_waits_for_a_payment_that_is_not_settled(counter: Counter) -> None:
    """The end of the day would take the place of the only proof there is."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    counter.terminal.silent = True
    with pytest.raises(TerminalUnsettledError):
        await close_terminal_day(counter.desk)
    assert counter.terminal.day is None
    counter.terminal.silent = False
    assert (await close_terminal_day(counter.desk)).total_minor == 4500


async def test_a_day_needs_a_terminal_and_a_seller(counter: Counter) -> None:
    terminal, counter.desk.terminal = counter.desk.terminal, None
    with pytest.raises(NoTerminalError):
        await close_terminal_day(counter.desk)
    counter.desk.terminal = terminal
    counter.desk.store.put_session(None)
    with pytest.raises(NotAllowedError):
        await close_terminal_day(counter.desk)


async def test_a_day_of_an_older_end_of_day_is_not_taken_for_this_one(counter: Counter) -> None:
    await sell(counter, 0)
    await close_terminal_day(counter.desk)
    assert counter.terminal.day is not None
    assert counter.terminal.day.booked_at is not None
    counter.terminal.day = replace(counter.terminal.day, booked_at=counter.terminal.day.booked_at.replace(year=2020))
    counter.terminal.play(LoseLine(booked=False))
    with pytest.raises(DayNotToldError):
        await close_terminal_day(counter.desk)
    assert await report_days(counter.desk) == 0
    assert totals(counter) == [4500]


async def test_a_day_that_was_heard_while_another_was_reported_is_not_given_up(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass over open days goes on with what the journal has at each one's turn, not with what it had before."""
    await sell(counter, 0)
    desk = counter.desk
    counter.server.fail(Fault.BUSY, "/terminal-totals", times=99)
    with pytest.raises(DayNotReportedError):
        await close_terminal_day(desk)
    (told,) = await desk.journal.open_days()
    assert told.report is not None
    counter.server.heal()
    unheard = replace(told, day_id="later", report=None)
    await desk.journal.begin_day(unheard)
    real = desk.client.report_terminal_totals

    async def slow(report: Any, *, key: str) -> Any:
        if key == told.day_id:
            await desk.journal.record_day(unheard.day_id, report)  # the clerk's own closing has heard its totals
            await sell(counter, 1)  # and something else is the terminal's last transaction by now
        return await real(report, key=key)

    monkeypatch.setattr(desk.client, "report_terminal_totals", slow)
    assert await report_days(desk) == 0
    assert NoticeCode.DAY_NOT_TOLD not in counter.notices
    assert len(totals(counter)) == 2
