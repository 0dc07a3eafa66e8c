"""A disk that fills up in the middle of a sale: what is said is true at the step where the journal failed."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.actions.hold_seats import release_hold
from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import print_tickets, report_print
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.actions.return_money import ReturnDeclinedError, follow_returns, return_money, returns_of
from app.core.errors import (
    JournalAfterAskingError,
    JournalBeforeAskingError,
    JournalWriteError,
    NotAllowedError,
    NoTerminalError,
    SaleNotReadyError,
    TerminalUnsettledError,
)
from app.core.sale import PrintAttempt, Sale, SaleId, SaleState, SaleStep, UnknownReason
from app.devices.card_terminal import (
    TerminalBusyError,
    TerminalRefusedError,
    TerminalUnavailableError,
    UnsupportedCurrencyError,
)
from app.journal.journal import Journal
from app.screens.refusal_words import refusal_words
from app.screens.words import _ADVICE, advice_for
from backend_client.errors import AnswerUnknownError, ServiceUnavailableError
from backend_client.wire import EventId, OperationStatus, PaymentOperation, PrintJobId, PrintJobStatus
from tests.unit.counter import Counter, make_counter, open_journal


def state_of(counter: Counter) -> SaleState:
    """Where the sale at the counter stands now."""
    return counter.sale.state


Write = Callable[..., Awaitable[None]]


class FullDisk:
    """Journal writes fail from write number `at` on; `heal` makes room."""

    def __init__(self, counter: Counter, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.at = at
        self.writes = 0
        self.asked_at_first_failure: int | None = None
        for name in ("save_sale", "begin_terminal_attempt", "record_terminal_result", "acknowledge_terminal_result"):
            monkeypatch.setattr(counter.desk.journal, name, self._failing(getattr(counter.desk.journal, name), counter))

    def _failing(self, write: Write, counter: Counter) -> Write:
        async def write_or_fail(*arguments: object) -> None:
            self.writes += 1
            if self.writes > self.at:
                if self.asked_at_first_failure is None:
                    self.asked_at_first_failure = counter.terminal.payments_asked
                raise JournalWriteError("disk full")
            await write(*arguments)

        return write_or_fail

    def heal(self) -> None:
        self.at = 10**9


async def writes_of_a_card_sale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    journal = open_journal(tmp_path / "whole")
    whole = make_counter(journal)
    await whole.open()
    await whole.hold(0)
    disk = FullDisk(whole, monkeypatch, 10**9)
    await pay_card(whole.desk)
    await whole.desk.client.close()
    await journal.close()
    return disk.writes


async def test_wherever_the_journal_fails_the_words_about_money_are_true_c2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write of a card payment fails in turn: before asking the sale is held and not charged, after it unclear."""
    writes = await writes_of_a_card_sale(tmp_path, monkeypatch)
    after = before = 0
    for at in range(writes):
        journal = open_journal(tmp_path / str(at))
        counter = make_counter(journal)
        await counter.open()
        await counter.hold(0)
        disk = FullDisk(counter, monkeypatch, at)
        with pytest.raises(JournalWriteError) as caught:
            await pay_card(counter.desk)
        words = refusal_words("card", caught.value, counter.sale)
        if disk.asked_at_first_failure == 0:
            before += 1
            assert isinstance(caught.value, JournalBeforeAskingError), at
            assert state_of(counter) is SaleState.HELD, at
            assert counter.charged_minor == 0
            assert "No payment was asked for" in words.detail
        else:
            after += 1
            assert isinstance(caught.value, JournalAfterAskingError), at
            assert state_of(counter) is SaleState.UNKNOWN, at
            assert counter.sale.unknown_reason is UnknownReason.NOT_WRITTEN, at
            assert "do not take it again" in words.detail
            assert "othing was charged" not in words.detail
        disk.heal()
        if state_of(counter) is SaleState.UNKNOWN:
            await resolve_unknown(counter.desk)
        else:
            await pay_card(counter.desk)
        assert state_of(counter) is SaleState.PAID, at
        assert counter.charged_minor == 4500, at
        assert counter.terminal.payments_asked == 1, at
        await counter.desk.client.close()
        await journal.close()
    assert before >= 4
    assert after >= 2


async def test_the_terminals_word_reaches_the_api_though_the_journal_cannot_take_it(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await counter.hold(0)

    async def full(*arguments: object) -> None:
        raise JournalWriteError("disk full")

    monkeypatch.setattr(counter.desk.journal, "record_terminal_result", full)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    [order] = counter.server.house.orders.values()
    assert [operation.status for operation in order.operations] == [OperationStatus.SUCCEEDED]


async def test_cash_that_was_booked_and_cannot_be_written_down_is_unclear_and_not_taken_twice(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await counter.hold(0)
    disk = FullDisk(counter, monkeypatch, 2)  # PAYING and the order fit, the end does not
    with pytest.raises(JournalAfterAskingError):
        await pay_cash(counter.desk, 5000)
    assert state_of(counter) is SaleState.UNKNOWN
    disk.heal()
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    [order] = counter.server.house.orders.values()
    assert len(order.operations) == 1


async def test_what_has_happened_is_shown_though_it_cannot_be_written(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seats that were given back are not shown as held; a print that ended is not shown as running."""
    await counter.hold(0)
    disk = FullDisk(counter, monkeypatch, 0)
    with pytest.raises(JournalWriteError):
        await release_hold(counter.desk)
    assert state_of(counter) is SaleState.ABANDONED
    disk.heal()
    await counter.hold(1)
    await pay_cash(counter.desk, 4500)
    disk.at = disk.writes + 2  # the job is formed and opened, its end cannot be written
    with pytest.raises(JournalWriteError):
        await print_tickets(counter.desk)
    assert state_of(counter) is SaleState.PAID


@pytest.mark.parametrize("written", [0, 1, 2])
async def test_a_print_that_cannot_be_written_down_leaves_the_counter_free_and_prints_once(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """Nobody is at the printer any more, so the sale is not shown as being printed: the clerk could not go on."""
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    disk = FullDisk(counter, monkeypatch, written)
    with pytest.raises(JournalWriteError):
        await print_tickets(counter.desk)
    assert state_of(counter) is SaleState.PAID
    assert len(counter.printer.sheets) == (written == 2)
    disk.heal()
    if not counter.printer.sheets:
        assert (await print_tickets(counter.desk)).state is SaleState.DONE
    await report_print(counter.desk, counter.sale)
    assert state_of(counter) is SaleState.DONE
    assert len(counter.printer.sheets) == 1
    assert len(counter.server.house.print_jobs) == 1


async def test_a_print_that_a_crash_left_is_not_shown_as_running_on_a_full_disk(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    begun = counter.sale.after(SaleStep.PRINT_BEGUN)
    job = PrintAttempt("key", (), PrintJobId(UUID(int=5)), PrintJobStatus.SENT)
    await counter.desk.journal.save_sale(replace(begun, print_job=job))
    again = counter.restart(counter.desk.journal)
    await again.open()
    FullDisk(again, monkeypatch, 0)
    await resume_open_sales(again.desk)
    assert again.sale.print_unclear


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    connection = journal._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    sale = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR", hold_key="x" * 100_000)
    with pytest.raises(JournalWriteError):
        journal.save_sale(sale)
    assert not connection.in_transaction
    connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    journal.save_sale(sale)
    assert journal.open_sales() == (sale,)
    journal.close()


class _LateFailure:
    """A connection whose COMMIT fails as on a full disk, and leaves its transaction open."""

    def __init__(self, inner: sqlite3.Connection) -> None:
        self.inner = inner
        self.full = True

    def execute(self, sql: str, *values: Any) -> object:
        if sql == "COMMIT" and self.full:
            raise sqlite3.OperationalError("database or disk is full")
        return self.inner.execute(sql, *values)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def test_the_journal_is_written_again_once_there_is_room_after_a_failed_commit(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    failing = _LateFailure(journal._connection)
    journal._connection = failing  # type: ignore[assignment]
    sale = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR")
    with pytest.raises(JournalWriteError):
        journal.save_sale(sale)
    failing.full = False
    journal.save_sale(sale)
    assert journal.open_sales() == (sale,)
    journal.close()


# ---------------------------------------------------------------- words that claim something


def test_no_refusal_claims_by_itself_that_nothing_happened() -> None:
    """Whether money moved is read off the sale; the text of a code is also shown where a payment is unclear."""
    claims = ("othing was", "not charged", "still held", "was not taken")
    claiming = {code for code, (title, detail) in _ADVICE.items() if any(claim in title + detail for claim in claims)}
    no_of_the_api = {
        "item-changed", "action-not-allowed", "refund-too-much", "invalid-request", "ticket-not-refundable",
        "no-such-order", "event-state-conflict", "alarm-not-found",
    }  # fmt: skip
    assert claiming == no_of_the_api, "an act that was refused as a whole, never a payment"
    asked = {code for code, (_, detail) in _ADVICE.items() if "No payment was asked" in detail}
    assert asked == {JournalBeforeAskingError.code}


@pytest.mark.parametrize(
    ("deed", "state", "said"),
    [
        ("card", SaleState.HELD, "Nothing was charged."),
        ("card", SaleState.UNKNOWN, ""),
        ("cash", SaleState.HELD, "The cash is not booked: give the money back, or try again."),
        ("exact-cash", SaleState.EXPIRED, "The cash is not booked: give the money back."),
        ("cash", SaleState.UNKNOWN, ""),
        ("print", SaleState.PAID, "The sale is paid; its tickets are not printed yet."),
        ("release", SaleState.HELD, ""),
        ("look-at-terminal", SaleState.UNKNOWN, ""),
    ],
)
def test_what_a_refusal_claims_follows_from_where_the_sale_stands(deed: str, state: SaleState, said: str) -> None:
    sale = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR", state=state)
    error = ServiceUnavailableError("away")
    plain = advice_for(error.code).detail
    assert refusal_words(deed, error, sale).detail == f"{said} {plain}".strip()
    assert refusal_words(deed, error, None).detail == plain


@pytest.mark.parametrize(
    ("deed", "state", "said"),
    [
        (
            "exact-cash",
            SaleState.HELD,
            "The cash is not booked: give the money back, or try again. The same step is never done twice.",
        ),
        ("card", SaleState.HELD, "Nothing was charged. Try again: the same step is never done twice."),
        ("cash", SaleState.UNKNOWN, advice_for("answer-unknown").detail),
    ],
)  # fmt: skip
def test_a_lost_answer_does_not_say_that_nobody_knows_beside_what_is_known(
    deed: str, state: SaleState, said: str
) -> None:
    sale = Sale(sale_id=SaleId(UUID(int=1)), event_id=EventId(1), currency="EUR", state=state)
    assert refusal_words(deed, AnswerUnknownError("lost"), sale).detail == said


# ---------------------------------------------------------------- money that goes back


async def part_to_return(counter: Counter) -> PaymentOperation:
    """A card's part, and the buyer has left."""
    await counter.hold(0)
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    assert counter.sale.order is not None
    (operation,) = returns_of(counter.desk, counter.sale.order)
    return operation


async def test_a_disk_that_is_full_before_the_terminal_is_asked_gives_nothing_back(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = await part_to_return(counter)
    disk = FullDisk(counter, monkeypatch, 0)
    assert counter.sale.order is not None
    with pytest.raises(JournalBeforeAskingError) as caught:
        await return_money(counter.desk, counter.sale.order, operation)
    assert "Nothing was given back" in refusal_words("return-money", caught.value, counter.sale).detail
    assert counter.charged_minor == 2000
    disk.heal()
    assert (await return_money(counter.desk, counter.sale.order, operation)).status is OperationStatus.SUCCEEDED
    assert counter.charged_minor == 0


async def test_money_that_went_back_and_cannot_be_written_down_is_told_and_not_given_twice(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The booking system hears of it, and the clerk is not told to try again."""
    operation = await part_to_return(counter)
    order = counter.sale.order
    assert order is not None
    disk = FullDisk(counter, monkeypatch, 1)
    with pytest.raises(JournalAfterAskingError) as caught:
        await return_money(counter.desk, order, operation)
    assert counter.charged_minor == 0
    assert "do not give it back in another way" in refusal_words("return-money", caught.value, counter.sale).detail
    there = await counter.desk.client.order(order.order_id)
    assert {one.status for one in there.operations} == {OperationStatus.SUCCEEDED}
    disk.heal()
    assert await follow_returns(counter.desk) == 0
    assert returns_of(counter.desk, there) == ()


def test_no_word_about_money_that_goes_back_speaks_of_taking_any() -> None:
    """Those that return_money raises: a clerk who gives back is never told to take cash instead."""
    raised = (
        NoTerminalError, SaleNotReadyError, NotAllowedError, TerminalUnsettledError, TerminalUnavailableError,
        TerminalBusyError, TerminalRefusedError, UnsupportedCurrencyError, JournalBeforeAskingError,
        JournalAfterAskingError, ReturnDeclinedError, ServiceUnavailableError, AnswerUnknownError,
    )  # fmt: skip
    for kind in raised:
        error = kind.__new__(kind)
        told = refusal_words("return-money", error, None)
        assert not {"take", "taken", "payment was", "charged"} & set(told.detail.lower().split()), (kind, told)
        assert "take cash" not in told.detail.lower(), kind
