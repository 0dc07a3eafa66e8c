"""The card terminal's end of day, and its totals for the daily comparison (R27).

Written down before the terminal is asked. When its answer is lost, its last transaction may tell the totals; when it
does not, that is said, and a person compares by hand.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial

from app.actions.ask_terminal import word_of
from app.actions.desk import Desk
from app.actions.each_in_turn import each_in_turn
from app.actions.settle_earlier import settle_earlier
from app.core.errors import ConsoleError, TerminalUnsettledError
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import CardTerminal, TerminalError, TerminalOutcome, TerminalResult
from app.devices.recovery import CLOCK_TOLERANCE
from app.journal.terminal_record import DayRecord
from backend_client.errors import BookingClientError, BookingRefusedError, NotSignedInError
from backend_client.wire import TerminalTotal, TerminalTotals, TerminalTotalsReport

_log = logging.getLogger(__name__)
_EVIDENCE_KEPT = 50
_TOLD_WITHIN = timedelta(hours=12)


class DayNotToldError(TerminalError):
    """The terminal may have closed its day, and its totals are not known (yet)."""

    code = "day-not-told"


class DayNotReportedError(ConsoleError):
    """The terminal has closed its day, and the booking system has not taken the totals yet; `report_days` goes on."""

    code = "day-not-reported"

    def __init__(self, report: TerminalTotalsReport) -> None:
        super().__init__("the booking system did not answer")
        self.report = report


async def close_terminal_day(desk: Desk) -> TerminalTotals:
    """Close the terminal's day and report its totals; how they compare with ours.

    A day that is closed and not reported is not closed again while nothing was asked of the terminal since: its totals
    would be lost behind those of an empty day. It is reported.

    Raises:
        NoTerminalError, NotAllowedError: not here, or not this person.
        TerminalUnsettledError: a payment is open: its proof is the terminal's last transaction.
        TerminalError: the terminal refused, or was not asked; its day is not closed.
        DayNotToldError: nobody knows yet; `report_days` asks on.
        DayNotReportedError: closed, and not reported yet; `report_days` does that.
        BookingRefusedError, NotSignedInError: closed, and the totals are not taken from here.
    """
    with desk.once("close-day") as first:
        if not first:
            raise TerminalUnsettledError("the terminal is closing its day")
        desk.require_seller()
        terminal = desk.need_terminal()
        if desk.charging:
            raise TerminalUnsettledError("the terminal still works on a payment")
        closed = await _closed_and_untold(desk)
        if closed is not None and closed.report is not None:
            return await _tell(desk, closed, closed.report)
        async with desk.terminal_turn:
            await settle_earlier(desk, terminal)
            await _refuse_open_attempts(desk)
            record = DayRecord(desk.new_key(), desk.now())
            await desk.journal.begin_day(record)
            return await _close(desk, terminal, record)


async def _refuse_open_attempts(desk: Desk) -> None:
    newest = await desk.journal.newest_attempt()
    if newest is not None and not newest.acknowledged and (newest.word is None or not newest.word.definite):
        raise TerminalUnsettledError("an earlier payment is not settled")


async def _closed_and_untold(desk: Desk) -> DayRecord | None:
    """The day that was closed last, if its totals wait to be told and the terminal was asked for nothing since."""
    days = [day for day in await desk.journal.open_days() if day.report is not None]
    if not days:
        return None
    newest = await desk.journal.newest_attempt()
    last = max(days, key=lambda day: day.asked_at)
    return last if newest is None or newest.started_at <= last.asked_at else None


async def _close(desk: Desk, terminal: CardTerminal, record: DayRecord) -> TerminalTotals:
    try:
        result = await terminal.end_of_day()
    except TerminalError:
        await desk.journal.close_day(record.day_id, reported=False)
        raise
    if result.outcome is not TerminalOutcome.APPROVED:
        desk.wake.set()
        raise DayNotToldError("the terminal did not answer")
    if result.totals is None:
        await _give_up(desk, record)
        raise DayNotToldError("the terminal told no totals")
    report = _report_of(terminal, result, record)
    await desk.journal.record_day(record.day_id, report)
    return await _tell(desk, record, report)


async def _tell(desk: Desk, record: DayRecord, report: TerminalTotalsReport) -> TerminalTotals:
    """Report it for a person who waits: that nobody answers is no reason to close the day again."""
    try:
        return await _send(desk, record, report)
    except NotSignedInError:
        raise
    except BookingClientError as error:
        if isinstance(error, BookingRefusedError) and error.is_word:
            raise
        desk.wake.set()
        raise DayNotReportedError(report) from error


def _report_of(terminal: CardTerminal, result: TerminalResult, record: DayRecord) -> TerminalTotalsReport:
    """Closed when it was asked to at the earliest: a terminal's clock counts whole seconds, and may be slow.

    Else sales just before would be looked for on the next day.
    """
    totals = result.totals
    if totals is None:
        raise DayNotToldError("the terminal told no totals")
    return TerminalTotalsReport(
        terminal_id=result.terminal_id or "unknown",
        provider=terminal.provider,
        closed_at=max(result.booked_at or record.asked_at, record.asked_at),
        currency=result.currency,
        total_minor=totals.total_minor,
        totals=tuple(
            TerminalTotal(scheme=one.scheme, count=one.count, amount_minor=one.amount_minor) for one in totals.schemes
        ),
        first_receipt=totals.first_receipt,
        last_receipt=totals.last_receipt,
        evidence=word_of(result).report.evidence[-_EVIDENCE_KEPT:],
    )


async def _send(desk: Desk, record: DayRecord, report: TerminalTotalsReport) -> TerminalTotals:
    """The same key always: totals are stored once."""
    answer = await desk.client.report_terminal_totals(report, key=record.day_id)
    await desk.journal.close_day(record.day_id, reported=True)
    return answer


async def _give_up(desk: Desk, record: DayRecord) -> None:
    await desk.journal.close_day(record.day_id, reported=False)
    desk.store.post(Notice(NoticeCode.DAY_NOT_TOLD))


async def report_days(desk: Desk) -> int:
    """One pass over ends of day that are not reported; how many are still open afterwards.

    Raises:
        BookingClientError: the API did not answer.
    """
    await each_in_turn([partial(_report_day, desk, record.day_id) for record in await desk.journal.open_days()])
    return len(await desk.journal.open_days())


async def _open_day(desk: Desk, day_id: str) -> DayRecord | None:
    """As the journal has it now: whoever closed the day may have heard and told of it meanwhile."""
    return next((record for record in await desk.journal.open_days() if record.day_id == day_id), None)


async def _report_day(desk: Desk, day_id: str) -> bool:
    record = await _open_day(desk, day_id)
    report = None if record is None else record.report or await _ask_again(desk, record.day_id)
    if record is None or report is None:
        return record is None
    try:
        await _send(desk, record, report)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        _log.warning("the totals of day %s are not taken: %s", record.day_id, error.code)
        await _give_up(desk, record)
    return True


async def _ask_again(desk: Desk, day_id: str) -> TerminalTotalsReport | None:
    """The terminal's last transaction may be that end of day. Another transaction since says nothing about it."""
    if desk.terminal is None or desk.terminal_turn.locked():
        return None
    async with desk.terminal_turn:
        record = await _open_day(desk, day_id)
        if record is None or record.report is not None:
            return None if record is None else record.report
        try:
            last = await desk.terminal.last_transaction()
        except TerminalError:
            return None
        if last is not None and _is_of(last, record):
            report = _report_of(desk.terminal, last, record)
            await desk.journal.record_day(record.day_id, report)
            return report
        await _give_up(desk, record)
    return None


def _is_of(last: TerminalResult, record: DayRecord) -> bool:
    if last.totals is None or last.booked_at is None:
        return False
    return record.asked_at - CLOCK_TOLERANCE <= last.booked_at <= record.asked_at + _TOLD_WITHIN
