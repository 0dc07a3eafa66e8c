"""Bringing a card sale to what the journal, the terminal and the API know. Nothing here charges (R24, R25, R31).

Called at the end of a payment, by `resolve_unknown` until it is clear, and at start for what a crash left. Every step
may be repeated: reports carry keys that follow from what they say, and a reversal is written down before it is asked.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from app.actions.ask_terminal import ask_about
from app.actions.desk import Desk
from app.actions.pay_sale import apply_order, conclude, decline_stray, find_order, look_again, report_key, stay_unknown
from app.core.sale import EndReason, Sale, SaleState, UnknownReason
from app.core.settlement import PAID_STATES, REVERSED, expired, operation_of, settled
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import CardTerminal, TerminalError, TerminalOutcome, TerminalRefusedError
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import Advice, OperationId, OperationStatus, Order, ResultAnswer, ResultOutcome, ResultReport

_ALREADY_REVERSED = "already-reversed"
_log = logging.getLogger(__name__)


async def settle_card(
    desk: Desk, sale: Sale, terminal: CardTerminal | None, *, ask: bool = True, heard: TerminalWord | None = None
) -> Sale:
    """One pass over a PAYING or UNKNOWN card sale; call again later while it stays UNKNOWN.

    `terminal` None: it cannot be spoken to now. `ask` False: its last transaction is not asked for in this pass.
    `heard` is its word just now, which counts even where the journal could not take it.

    Raises:
        BookingClientError: the API was asked and did not answer; the sale stays as it was.
    """
    record = await _record_of(desk, sale)
    if record is None:
        return await _settle_unasked(desk, sale)
    word, reason = heard or record.word, UnknownReason.TERMINAL_SILENT
    if ask and terminal is not None and (word is None or not word.definite):
        try:
            heard = await ask_about(desk, terminal, record)
        except TerminalError:
            heard = None
        else:
            reason = UnknownReason.TERMINAL_SILENT if heard is not None else UnknownReason.RECONCILING
        if heard is not None:
            await desk.journal.record_terminal_result(record.operation_id, heard)
            word = heard
    if word is None or not word.definite:
        return await _stay_unheard(desk, sale, record, reason)
    return await _report(desk, sale, record, word, terminal)


async def _record_of(desk: Desk, sale: Sale) -> TerminalRecord | None:
    if sale.payment is None or sale.payment.operation_id is None:
        return None
    return await desk.journal.terminal_attempt(sale.payment.operation_id)


async def _settle_unasked(desk: Desk, sale: Sale) -> Sale:
    """The terminal was never spoken to: nothing can be charged; an operation that was opened is declined."""
    sale = await find_order(desk, sale)
    await decline_stray(desk, sale)
    return await look_again(desk, sale)


async def _stay_unheard(desk: Desk, sale: Sale, record: TerminalRecord, reason: UnknownReason) -> Sale:
    """The terminal's word is missing: the API hears that and keeps the seats; a definite word of its own counts."""
    try:
        order = await _tell_unknown(desk, sale, record)
    except BookingClientError:
        return await stay_unknown(desk, sale, reason)
    operation = operation_of(sale, order)
    if operation is None:
        return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
    after = settled(sale, order, operation, desk.now())
    if after.state is SaleState.UNKNOWN:
        return await stay_unknown(desk, replace(sale, order=order), reason)
    await desk.journal.acknowledge_terminal_result(record.operation_id)
    return await conclude(desk, after)


async def _tell_unknown(desk: Desk, sale: Sale, record: TerminalRecord) -> Order:
    found = await find_order(desk, sale)
    order = found.order
    if order is None:
        raise LookupError("an operation without an order")
    operation = operation_of(sale, order)
    if operation is None or operation.status is not OperationStatus.SENT:
        return order
    report = ResultReport(outcome=ResultOutcome.UNKNOWN, amount_minor=0)
    if record.word is not None and record.word.final:
        report = record.word.report
    key = report_key(record.operation_id, report)
    return (await desk.client.report_result(record.operation_id, report, key=key)).order


async def _report(
    desk: Desk, sale: Sale, record: TerminalRecord, word: TerminalWord, terminal: CardTerminal | None
) -> Sale:
    """The API gets the terminal's definite word; until it has taken it, the sale is UNKNOWN."""
    try:
        key = report_key(record.operation_id, word.report)
        answer = await desk.client.report_result(record.operation_id, word.report, key=key)
    except BookingRefusedError:
        return await _after_conflict(desk, sale, word, terminal)
    except BookingClientError:
        return await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
    reversed_at_terminal = word.report.outcome is ResultOutcome.DECLINED and answer.advice is Advice.REVERSE
    if reversed_at_terminal and answer.operation.status is OperationStatus.SUCCEEDED:
        await desk.journal.mark_reversal(record.operation_id, Reversal.DONE)
    return await apply_answer(desk, sale, answer, terminal)


async def apply_answer(desk: Desk, sale: Sale, answer: ResultAnswer, terminal: CardTerminal | None) -> Sale:
    """What the API made of the report: paid, declined, or to be taken back because the hold is lost (R25)."""
    operation_id = answer.operation.operation_id
    charged = answer.operation.status is not OperationStatus.DECLINED
    if answer.advice is not Advice.REVERSE or not charged:
        await desk.journal.acknowledge_terminal_result(operation_id)
        return await apply_order(desk, sale, answer.order, answer.operation)
    reversal = await take_back(desk, sale, terminal)
    if reversal is Reversal.NONE:
        return await stay_unknown(desk, replace(sale, order=answer.order), UnknownReason.TERMINAL_SILENT)
    if reversal is Reversal.DONE:
        await _tell_reversed(desk, operation_id)
    await desk.journal.acknowledge_terminal_result(operation_id)
    if answer.order.status in PAID_STATES:
        return await apply_order(desk, sale, answer.order, answer.operation)
    reason = EndReason.CARD_REVERSED if reversal is Reversal.DONE else EndReason.CHARGE_TO_RETURN
    return await conclude(desk, expired(replace(sale, order=answer.order), reason))


async def _tell_reversed(desk: Desk, operation_id: OperationId) -> None:
    """The API hears that its advice was followed, so nobody looks for the money; unheard, a supervisor is asked."""
    report = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=REVERSED)
    try:
        await desk.client.report_result(operation_id, report, key=report_key(operation_id, report))
    except BookingClientError as error:
        _log.warning("a reversal at the terminal is not reported: %s", error.code)


async def _after_conflict(desk: Desk, sale: Sale, word: TerminalWord, terminal: CardTerminal | None) -> Sale:
    """The API holds another definite result, or does not take ours: its word counts, and the difference is said."""
    found = await find_order(desk, sale)
    if found.order is None or sale.payment is None or sale.payment.operation_id is None:
        return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
    after = settled(sale, found.order, operation_of(sale, found.order), desk.now())
    charged = word.report.outcome is ResultOutcome.SUCCEEDED
    if charged and after.state is not SaleState.PAID:
        if await take_back(desk, sale, terminal) is not Reversal.DONE:
            return await stay_unknown(desk, replace(sale, order=found.order), UnknownReason.RECONCILING)
    elif charged is not (after.state is SaleState.PAID):
        warn_of_difference(desk, sale)
    if after.state is SaleState.UNKNOWN:
        return await stay_unknown(desk, replace(sale, order=found.order), UnknownReason.RECONCILING)
    await desk.journal.acknowledge_terminal_result(sale.payment.operation_id)
    return await conclude(desk, after)


async def take_back(desk: Desk, sale: Sale, terminal: CardTerminal | None) -> Reversal:
    """Reverse a charge at the terminal by its receipt number, once (T6). NONE: the terminal cannot be asked now.

    What a crash left half asked is UNCLEAR and is not asked again: a person looks at the terminal. So is what the
    terminal has not said to be booked: whatever the advice, nothing is reversed on a guess (R24).
    """
    record = await _record_of(desk, sale)
    if record is None or record.reversal in (Reversal.DONE, Reversal.UNCLEAR):
        return Reversal.UNCLEAR if record is None else record.reversal
    booked = record.word is not None and record.word.report.outcome is ResultOutcome.SUCCEEDED
    if record.reversal is Reversal.ASKED or not booked or record.word is None or record.word.receipt_no is None:
        return await _mark(desk, record, Reversal.UNCLEAR)
    if terminal is None:
        return Reversal.NONE
    await _mark(desk, record, Reversal.ASKED)
    return await _mark(desk, record, await _reverse(terminal, record.word, record.word.receipt_no))


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


def warn_of_difference(desk: Desk, sale: Sale) -> None:
    """The terminal and the booking system do not agree about a charge: a supervisor must hear of it."""
    desk.store.post(Notice(NoticeCode.TERMINAL_DIFFERS, (), sale.total_minor, sale.currency, sale_id=sale.sale_id))
