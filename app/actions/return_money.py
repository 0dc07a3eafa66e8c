"""Money that goes back at this counter: to a card at its terminal, or out of the drawer (R25, R33, T6).

The operation is open at the API before; the journal has it before the terminal is asked; its word is journaled, then
reported. Cash that the clerk has paid out is journaled, then reported, and asked for by nobody meanwhile. A charge is
taken back by its receipt (06 30) where the terminal still can, else the buyer presents the card (06 31). Nothing is
asked twice while nobody knows what became of the first time.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from app.actions.ask_terminal import NOT_BOOKED, ask_about, word_of
from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.actions.each_in_turn import each_in_turn
from app.actions.leave_sale import finish_return
from app.actions.pay_out import pay_out, read_paid_out, tell_paid_out, tell_return
from app.actions.pay_sale import CASH
from app.actions.settle_earlier import keep_word, last_trace_of, settle_earlier, unsettled
from app.core.errors import JournalAfterAskingError, JournalBeforeAskingError, JournalError, SaleNotReadyError
from app.core.refund import returns_here
from app.core.sale import Sale, SaleState
from app.core.settlement import with_paid_out
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import (
    CardTerminal,
    Progress,
    TerminalError,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
)
from app.journal.terminal_record import Asked, CashReturn, TerminalRecord, TerminalWord
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import (
    OperationId,
    OperationStatus,
    Order,
    OrderId,
    PaymentOperation,
    ResultOutcome,
    ResultReport,
)

_log = logging.getLogger(__name__)
_TOO_LATE = frozenset({"reversal-not-possible", "not-possible"})
_DECIDED = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})
NOT_RETURNED = "not-returned-here"
"""Decline code of money that a clerk could not give back: a supervisor does."""


class ReturnDeclinedError(TerminalError):
    """The terminal gave nothing back, for the reason `decline_code`; it may be tried again, with another card too."""

    code = "return-declined"

    def __init__(self, decline_code: str) -> None:
        super().__init__(f"nothing was given back: {decline_code}")
        self.decline_code = decline_code


def returns_of(desk: Desk, order: Order) -> tuple[PaymentOperation, ...]:
    """What of an order is to go back at this counter and is not known to be back, in the order in which it is shown."""
    return returns_here(with_paid_out(order, desk.store.paid_out), desk.client.device_id)


async def return_money(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    """Give the money of one refund back, and report it; the operation as the API has it then.

    Cash: call it when the clerk has paid it out. A card: the terminal is asked; UNKNOWN is asked about by itself.

    Raises:
        ReturnDeclinedError: the terminal gave nothing back; the operation is as before.
        NoTerminalError, SaleNotReadyError, NotAllowedError: not now, not here, or not this person.
        TerminalUnsettledError, TerminalError: nothing was begun.
        JournalBeforeAskingError: it could not be written down, and nothing was begun.
        JournalAfterAskingError: what was done could not be written down. The API has been told of it, except for cash
            while it does not answer: then it knows nothing, and a person must tell it.
        BookingClientError: done, and not reported yet; `follow_returns` does that. Or nothing was begun with a card,
            because it cannot be read whether the money still goes back here.
    """
    with desk.once("return-money") as first:
        if not first:
            return operation
        desk.require_seller()
        await read_paid_out(desk)
        if operation.operation_id not in {one.operation_id for one in returns_of(desk, order)}:
            raise SaleNotReadyError("this money does not go back at this counter")
        try:
            return await _return(desk, order, operation)
        finally:
            await _show_returned(desk, order.order_id)


async def _return(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    if operation.provider == CASH:
        return await pay_out(desk, order, operation)
    terminal = desk.need_terminal()
    async with desk.terminal_turn:
        return await _return_to_card(desk, terminal, order, operation)


async def _show_returned(desk: Desk, order_id: OrderId) -> None:
    """The sale that waits for it, if any, as the API has it now; it ends with the last of its money."""
    shown = () if desk.store.sale is None else (desk.store.sale,)
    for sale in (*desk.store.parked, *shown):
        if sale.order is None or sale.order.order_id != order_id or sale.state is not SaleState.RETURNING:
            continue
        with suppress(
            BookingClientError, JournalError, SaleNotReadyError
        ):  # what became of the money is told, not this
            now = await desk.until_asked(sale)
            with desk.asking(now):
                await look_at_returns(desk, now)


async def look_at_returns(desk: Desk, sale: Sale) -> Sale:
    """A RETURNING sale as the API has it now; nobody else works on it meanwhile (`Desk.asking`).

    Raises:
        BookingClientError: it does not answer.
    """
    if sale.order is None or sale.state is not SaleState.RETURNING:
        return sale
    order = await desk.client.order(sale.order.order_id)
    return await finish_return(desk, await desk.keep_fact(replace(sale, order=order)))


async def give_up_return(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    """The money cannot be given back here (the card is not at hand, …): a supervisor sees to it.

    Raises:
        SaleNotReadyError: the terminal is being asked, or has been and nobody knows what it did.
        BookingClientError: not reported.
    """
    with desk.once("give-up-return") as first:
        if not first:
            return operation
        desk.require_seller()
        record = await desk.journal.terminal_attempt(operation.operation_id)
        if operation.operation_id not in {one.operation_id for one in returns_of(desk, order)} or record is not None:
            raise SaleNotReadyError("it is not known whether this money went back")
        report = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=NOT_RETURNED)
        told = await tell_return(desk, operation, report)
        await _show_returned(desk, order.order_id)
        return told


# ------------------------------------------------------------ to a card


@dataclass(frozen=True, slots=True)
class _Target:
    """The booking that goes back, as its reference names it."""

    receipt_no: int
    trace: int | None


def _target_of(order: Order, operation: PaymentOperation) -> _Target | None:
    """Only a whole charge, and only where it was made: another terminal has another booking under that receipt (T6).

    Its reference is `terminal/receipt/trace`.
    """
    charge = next((one for one in order.operations if one.operation_id == operation.parent_id), None)
    if charge is None or charge.amount_minor != operation.amount_minor or charge.device_id != operation.device_id:
        return None
    parts = charge.provider_ref.split("/")
    if len(parts) != 3 or not parts[1].isdecimal():
        return None
    return _Target(int(parts[1]), int(parts[2]) if parts[2].isdecimal() else None)


async def _return_to_card(
    desk: Desk, terminal: CardTerminal, order: Order, operation: PaymentOperation
) -> PaymentOperation:
    record = await desk.journal.terminal_attempt(operation.operation_id)
    if record is not None:
        settled = await _settle(desk, terminal, record)
        if settled is not None:
            return settled
        if await desk.journal.terminal_attempt(operation.operation_id) is not None:
            return operation  # nobody knows what became of it: it is not asked for again
    await settle_earlier(desk, terminal)
    order = await desk.client.order(order.order_id)  # what is shown may be old: a supervisor may have taken it away
    operation = _still_owed(desk, order, operation)
    target = _target_of(order, operation)
    if target is not None:
        try:
            return await _ask(desk, terminal, order, operation, target)
        except TerminalRefusedError as error:
            if error.decline_code not in _TOO_LATE:
                raise
            _log.info("receipt %s cannot be reversed any more: %s", target.receipt_no, error.decline_code)
    return await _ask(desk, terminal, order, operation, None)


def _still_owed(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    owed = (one for one in returns_of(desk, order) if one.operation_id == operation.operation_id)
    found = next(owed, None)
    if found is None:
        raise SaleNotReadyError("this money does not go back at this counter any more")
    return found


async def _ask(
    desk: Desk, terminal: CardTerminal, order: Order, operation: PaymentOperation, target: _Target | None
) -> PaymentOperation:
    """Journal, ask, journal, report. What says that nothing was done is forgotten and raised."""
    record = TerminalRecord(
        operation_id=operation.operation_id,
        sale_id=None,
        amount_minor=operation.amount_minor,
        currency=operation.currency,
        started_at=desk.now(),
        last_trace=await last_trace_of(desk, terminal),
        asked=Asked.REFUND if target is None else Asked.REVERSAL,
        order_id=order.order_id,
        target_receipt=None if target is None else target.receipt_no,
        target_trace=None if target is None else target.trace,
    )
    try:
        await desk.journal.begin_terminal_attempt(record)
    except JournalError as error:
        raise JournalBeforeAskingError(str(error)) from error
    try:
        result = await _speak(desk, terminal, record, target)
    except TerminalError:
        await desk.journal.forget_terminal_attempt(record.operation_id)
        raise
    if result.outcome is TerminalOutcome.DECLINED:
        await desk.journal.forget_terminal_attempt(record.operation_id)
        raise ReturnDeclinedError(result.decline_code)
    word = word_of(result)
    unwritten = await _write_down(desk, record, word)
    if result.outcome is TerminalOutcome.UNKNOWN:
        code = NoticeCode.TERMINAL_DIFFERS if result.decline_code else NoticeCode.PAYMENT_UNKNOWN
        desk.store.post(Notice(code, (), record.amount_minor, record.currency))
        desk.wake.set()
    try:
        told = await _report(desk, record, word)
    except JournalError as error:
        raise JournalAfterAskingError(str(error)) from error
    if unwritten is not None:
        raise JournalAfterAskingError(str(unwritten)) from unwritten
    return told


async def _write_down(desk: Desk, record: TerminalRecord, word: TerminalWord) -> JournalError | None:
    """The terminal's word into the journal; a disk that is full does not keep it from the booking system."""
    try:
        await desk.journal.record_terminal_result(record.operation_id, word)
    except JournalError as error:
        _log.warning("the terminal's word about refund %s is not written down: %s", record.operation_id, error)
        return error
    return None


async def _speak(desk: Desk, terminal: CardTerminal, record: TerminalRecord, target: _Target | None) -> TerminalResult:
    def show(progress: Progress) -> None:
        desk.store.put_terminal_progress(progress.value, record.order_id)

    try:
        if target is None:
            return await terminal.refund(record.amount_minor, record.currency, on_progress=show)
        show(Progress.ASKING_HOST)
        return await terminal.reverse(target.receipt_no, amount_minor=record.amount_minor, original_trace=target.trace)
    except TerminalRefusedError as error:
        if error.decline_code != "already-reversed":
            raise
        # Somebody took it back before: the money is where it belongs, but not by this operation. A person compares.
        return TerminalResult(TerminalOutcome.UNKNOWN, 0, record.currency, decline_code=error.decline_code)
    except TerminalError:
        raise
    except Exception:  # noqa: BLE001  # a driver's fault: money may have gone back
        _log.exception("the card terminal's driver failed while money went back")
        return TerminalResult(TerminalOutcome.UNKNOWN, 0, record.currency)
    finally:
        desk.store.put_terminal_progress("")


async def _report(desk: Desk, record: TerminalRecord, word: TerminalWord) -> PaymentOperation:
    """Only a definite word ends it; the API keeps asking nobody: after a while a supervisor hears."""
    key = report_key(record.operation_id, word.report)
    answer = await desk.client.report_result(record.operation_id, word.report, key=key)
    if word.definite or answer.operation.status in _DECIDED:
        await desk.journal.acknowledge_terminal_result(record.operation_id)
    return answer.operation


# ------------------------------------------------------------ what was asked before


async def follow_returns(desk: Desk) -> int:
    """One pass over money that the terminal was asked to give back, and over cash that was paid out and not reported;
    how many of them are still open afterwards.

    Raises:
        BookingClientError: the API did not answer.
    """
    await read_paid_out(desk)
    paid_out = [record for record in await desk.journal.cash_returns() if not record.refused]
    asked = [record for record in await desk.journal.unsettled_attempts() if record.asked is not Asked.SALE]
    return await each_in_turn((
        *(partial(_tell_paid_out, desk, record) for record in paid_out),
        *(partial(_follow, desk, record.operation_id) for record in asked),
    ))  # fmt: skip


async def _tell_paid_out(desk: Desk, record: CashReturn) -> bool:
    await tell_paid_out(desk, record)
    await _show_returned(desk, record.order_id)
    return True


async def _follow(desk: Desk, operation_id: OperationId) -> bool:
    """True when it is settled. The attempt is read when its turn comes: the clerk may have tried again meanwhile."""
    if desk.terminal is None or desk.terminal_turn.locked():
        record = await unsettled(desk, operation_id)
        settled = None if record is None else await _settle(desk, None, record)
    else:
        async with desk.terminal_turn:
            record = await unsettled(desk, operation_id)
            settled = None if record is None else await _settle(desk, desk.terminal, record)
    if settled is not None:
        await _show_returned(desk, settled.order_id)
    return record is None or settled is not None


async def _settle(desk: Desk, terminal: CardTerminal | None, record: TerminalRecord) -> PaymentOperation | None:
    """The operation once it is known what became of it; None while nobody knows, or when nothing was done after all."""
    word = record.word
    if terminal is not None and (word is None or not word.definite):
        try:
            heard = await ask_about(desk, terminal, record)
        except TerminalError:
            heard = None
        if heard is not None:
            await keep_word(desk, record, heard)
            word = heard
    if word is not None and word.report.decline_code == NOT_BOOKED:
        return None
    if word is None:
        word = TerminalWord(ResultReport(outcome=ResultOutcome.UNKNOWN, amount_minor=0))
    try:
        operation = await _report(desk, record, word)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        _log.warning("the word about refund %s is not taken: %s", record.operation_id, error.code)
        await desk.journal.acknowledge_terminal_result(record.operation_id)
        return None
    return operation if operation.status in _DECIDED else None
