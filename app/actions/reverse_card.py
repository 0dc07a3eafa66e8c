"""Taking a charge back at the card terminal: by its receipt number, once, and never on a guess (R24, R25, T6)."""

from __future__ import annotations

import logging

from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.core.settlement import REVERSED
from app.devices.card_terminal import CardTerminal, TerminalError, TerminalOutcome, TerminalRefusedError
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.errors import BookingClientError
from backend_client.wire import OperationId, ResultAnswer, ResultOutcome, ResultReport

_ALREADY_REVERSED = "already-reversed"
_log = logging.getLogger(__name__)


async def take_back(desk: Desk, record: TerminalRecord | None, terminal: CardTerminal | None) -> Reversal:
    """Reverse a charge at the terminal by its receipt number, once (T6). NONE: the terminal cannot be asked now.

    What a crash left half asked is not asked for again: if the terminal's last transaction is that reversal it is DONE,
    otherwise UNCLEAR, and a person looks. So is what the terminal has not said to be booked: whatever the advice,
    nothing is reversed on a guess (R24).
    """
    if record is None or record.reversal in (Reversal.DONE, Reversal.UNCLEAR):
        return Reversal.UNCLEAR if record is None else record.reversal
    booked = record.word is not None and record.word.report.outcome is ResultOutcome.SUCCEEDED
    if not booked or record.word is None or record.word.receipt_no is None:
        return await _mark(desk, record, Reversal.UNCLEAR)
    if record.reversal is Reversal.ASKED:
        return await _ask_whether_done(desk, record, record.word, terminal)
    if terminal is None:
        return Reversal.NONE
    await _mark(desk, record, Reversal.ASKED)
    return await _mark(desk, record, await _reverse(terminal, record.word, record.word.receipt_no))


async def _ask_whether_done(
    desk: Desk, record: TerminalRecord, word: TerminalWord, terminal: CardTerminal | None
) -> Reversal:
    if terminal is None:
        return Reversal.NONE
    try:
        last = await terminal.last_transaction()
    except TerminalError:
        return Reversal.NONE
    done = last is not None and last.original_trace is not None and last.original_trace == word.trace
    return await _mark(desk, record, Reversal.DONE if done else Reversal.UNCLEAR)


async def _reverse(terminal: CardTerminal, word: TerminalWord, receipt_no: int) -> Reversal:
    """Amount and trace go along: a terminal that reverses another booking, or renumbers, is told apart by them (T6)."""
    try:
        result = await terminal.reverse(receipt_no, amount_minor=word.report.amount_minor, original_trace=word.trace)
    except TerminalRefusedError as error:
        return Reversal.DONE if error.decline_code == _ALREADY_REVERSED else Reversal.UNCLEAR
    except TerminalError:
        return Reversal.NONE  # nothing was begun
    if result.outcome is TerminalOutcome.APPROVED or result.decline_code == _ALREADY_REVERSED:
        return Reversal.DONE
    return Reversal.UNCLEAR


async def _mark(desk: Desk, record: TerminalRecord, reversal: Reversal) -> Reversal:
    await desk.journal.mark_reversal(record.operation_id, reversal)
    return reversal


async def tell_reversed(desk: Desk, operation_id: OperationId) -> ResultAnswer | None:
    """The API hears that its advice was followed, so nobody looks for the money; unheard, a supervisor is asked.

    Its answer has the order as it stands then; None when it was not heard.
    """
    report = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=REVERSED)
    try:
        return await desk.client.report_result(operation_id, report, key=report_key(operation_id, report))
    except BookingClientError as error:
        _log.warning("a reversal at the terminal is not reported: %s", error.code)
        return None
