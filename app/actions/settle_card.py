"""Bringing a card sale to what the journal, the terminal and the API know. Nothing here charges (R24, R25, R31).

Called at the end of a payment, by `resolve_unknown` until it is clear, and at start for what a crash left. Every step
may be repeated: reports carry keys that follow from what they say, and a reversal is written down before it is asked.
"""

from __future__ import annotations

from dataclasses import replace

from app.actions.ask_terminal import ask_about
from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.actions.pay_sale import apply_order, conclude, decline_stray, find_order, look_again, stay_unknown
from app.actions.reverse_card import take_back, tell_reversed
from app.core.sale import EndReason, Sale, SaleState, UnknownReason
from app.core.settlement import (
    GONE_STATES,
    PAID_STATES,
    REVERSED,
    expired,
    not_back_yet,
    operation_of,
    settled,
    to_return,
)
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import CardTerminal, TerminalError
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import Advice, OperationStatus, Order, ResultAnswer, ResultOutcome, ResultReport


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
            reason = UnknownReason.RECONCILING
        if heard is not None:
            await desk.journal.record_terminal_result(record.operation_id, heard)
            word = heard
    if word is None or not word.definite:
        return await _stay_unheard(desk, sale, replace(record, word=word), reason, news=heard is not None)
    if record.reversal is Reversal.DONE and word.report.outcome is ResultOutcome.SUCCEEDED:
        return await _report(desk, sale, record, _gone(word), terminal)  # never sold for a charge that is back
    if sale.leaving and word.report.outcome is ResultOutcome.SUCCEEDED:
        return await _report_gone(desk, sale, record, word, terminal)
    return await _report(desk, sale, record, word, terminal)


async def _report_gone(
    desk: Desk, sale: Sale, record: TerminalRecord, word: TerminalWord, terminal: CardTerminal | None
) -> Sale:
    """The buyer has left and the card was charged: it is taken back first, and then nothing is sold.

    The API hears of the charge and of its end together. What cannot be taken back here is paid, and is refunded.
    """
    current = await desk.journal.terminal_attempt(record.operation_id) or record
    reversal = await take_back(desk, replace(current, word=current.word or word), terminal)
    if reversal is Reversal.NONE:
        return await stay_unknown(desk, sale, UnknownReason.TERMINAL_SILENT)
    if reversal is not Reversal.DONE:
        after = await _report(desk, replace(sale, leaving=False), record, word, terminal)
        desk.store.post(Notice(NoticeCode.LEFT_CHARGED, (), sale.total_minor, sale.currency, sale_id=sale.sale_id))
        return after
    return await _report(desk, sale, record, _gone(word), terminal)


def _gone(word: TerminalWord) -> TerminalWord:
    """The terminal's word about a charge that it has taken back."""
    gone = ResultReport(
        outcome=ResultOutcome.DECLINED, amount_minor=0, provider_ref=word.report.provider_ref, decline_code=REVERSED,
        card_brand=word.report.card_brand, evidence=word.report.evidence,
    )  # fmt: skip
    return replace(word, report=gone)


async def _record_of(desk: Desk, sale: Sale) -> TerminalRecord | None:
    if sale.payment is None or sale.payment.operation_id is None:
        return None
    return await desk.journal.terminal_attempt(sale.payment.operation_id)


async def _settle_unasked(desk: Desk, sale: Sale) -> Sale:
    """The terminal was never spoken to: nothing can be charged; an operation that was opened is declined."""
    sale = await find_order(desk, sale)
    await decline_stray(desk, sale)
    return await look_again(desk, sale)


async def _stay_unheard(desk: Desk, sale: Sale, record: TerminalRecord, reason: UnknownReason, *, news: bool) -> Sale:
    """The terminal's word is missing: the API hears that and keeps the seats; a definite word of its own counts."""
    try:
        order = await _tell_unknown(desk, sale, record, news=news)
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


async def _tell_unknown(desk: Desk, sale: Sale, record: TerminalRecord, *, news: bool) -> Order:
    found = await find_order(desk, sale)
    order = found.order
    if order is None:
        raise LookupError("an operation without an order")
    operation = operation_of(sale, order)
    if operation is None or (operation.status is not OperationStatus.SENT and not news):
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
    except BookingRefusedError as error:
        if not error.is_word:  # nobody signed in, or somebody who may not: nothing is known of this payment by it
            return await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
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
    reversal = await take_back(desk, await _record_of(desk, sale), terminal)
    if reversal is Reversal.NONE:
        return await stay_unknown(desk, replace(sale, order=answer.order), UnknownReason.TERMINAL_SILENT)
    told = await tell_reversed(desk, operation_id) if reversal is Reversal.DONE else None
    await desk.journal.acknowledge_terminal_result(operation_id)
    if answer.order.status in PAID_STATES:
        return await apply_order(desk, sale, answer.order, answer.operation)
    if told is not None and told.operation.status is OperationStatus.DECLINED and told.order.status not in GONE_STATES:
        # Another amount was booked, and is back: the seats are still held, and can be paid for.
        return await apply_order(desk, sale, told.order, told.operation)
    if not_back_yet(answer.order):
        return await conclude(desk, to_return(replace(sale, order=answer.order)))
    reason = EndReason.CARD_REVERSED if reversal is Reversal.DONE else EndReason.CHARGE_TO_RETURN
    return await conclude(desk, expired(replace(sale, order=answer.order), reason))


async def _after_conflict(desk: Desk, sale: Sale, word: TerminalWord, terminal: CardTerminal | None) -> Sale:
    """The API holds another definite result, or does not take ours: its word counts, and the difference is said."""
    found = await find_order(desk, sale)
    if found.order is None or sale.payment is None or sale.payment.operation_id is None:
        return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
    after = settled(sale, found.order, operation_of(sale, found.order), desk.now())
    charged = word.report.outcome is ResultOutcome.SUCCEEDED
    if charged and after.state is not SaleState.PAID:
        if await take_back(desk, await _record_of(desk, sale), terminal) is not Reversal.DONE:
            return await stay_unknown(desk, replace(sale, order=found.order), UnknownReason.RECONCILING)
    elif charged is not (after.state is SaleState.PAID):
        warn_of_difference(desk, sale)
    if after.state is SaleState.UNKNOWN:
        return await stay_unknown(desk, replace(sale, order=found.order), UnknownReason.RECONCILING)
    await desk.journal.acknowledge_terminal_result(sale.payment.operation_id)
    return await conclude(desk, after)


def warn_of_difference(desk: Desk, sale: Sale) -> None:
    """The terminal and the booking system do not agree about a charge: a supervisor must hear of it."""
    desk.store.post(Notice(NoticeCode.TERMINAL_DIFFERS, (), sale.total_minor, sale.currency, sale_id=sale.sale_id))
