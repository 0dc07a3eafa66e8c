"""Card payment at the terminal: never a second charge for one operation (R30, R31, T1–T9; DESIGN §3).

The order of things: the operation is open at the API → the attempt is in the journal → the terminal is asked → what it
says is in the journal → the API has it (for 3 s at most while the terminal waits) → goods issued, or reverse.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from app.actions.ask_terminal import ask_about, word_of
from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.actions.pay_sale import (
    apply_order,
    before_asking,
    begin_payment,
    check_out,
    leave_paying,
    never_stuck,
    open_operation,
)
from app.actions.settle_card import apply_answer, settle_card, warn_of_difference
from app.actions.settle_earlier import last_trace_of, settle_earlier
from app.core.errors import JournalError, TerminalUnsettledError
from app.core.sale import Sale, SaleState, SaleStep
from app.core.telling import Telling
from app.devices.card_terminal import CardTerminal, Progress, TerminalError, TerminalOutcome, TerminalResult, Verdict
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.errors import BookingClientError
from backend_client.wire import (
    Advice,
    OperationId,
    OperationKind,
    OperationStatus,
    ResultAnswer,
    ResultOutcome,
    ResultReport,
)

_log = logging.getLogger(__name__)
STOPPED_HERE = "stopped-at-counter"
_ENDED_BY_SOMEBODY = frozenset({"aborted", "cancelled-at-terminal"})
_TELLING = {
    TerminalOutcome.APPROVED: Telling.APPROVED,
    TerminalOutcome.DECLINED: Telling.DECLINED,
    TerminalOutcome.UNKNOWN: Telling.UNCLEAR,
}
_HEARD = frozenset(Telling)


async def pay_card(desk: Desk, *, part_minor: int | None = None) -> Sale:
    """Charge the sale at the counter to a card. A second tap while one runs is dropped (P1).

    `part_minor` charges so much of what is left, None all of it. PAID; HELD after a part that was not the last;
    DECLINED (`decline_code`), the seats stay held; UNKNOWN: nobody may charge again, `resolve_unknown` asks; or EXPIRED
    (`end_reason` says whether the card was charged and reversed).

    Raises:
        NoTerminalError, SaleNotReadyError, NotAllowedError: not now.
        PartNotPayableError: a part of nothing, or of more than is left.
        TerminalUnsettledError: an earlier card payment is open, and the terminal cannot be asked about it (yet).
        JournalBeforeAskingError: it could not be written down and the terminal was not asked; the sale is HELD.
        JournalAfterAskingError: the terminal's word could not be written down; the sale is UNKNOWN.
        TerminalError: the terminal cannot be used; nothing was charged, the sale is HELD.
        ServiceUnavailableError, BookingRefusedError, AnswerUnknownError: not begun; the sale is HELD (or EXPIRED).
    """
    with desk.once("pay") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.require_seller()
        terminal = desk.need_terminal()
        if desk.charging:
            raise TerminalUnsettledError("the terminal still works on a payment that was parked")
        async with desk.terminal_turn:
            await settle_earlier(desk, terminal)
            last_trace = await last_trace_of(desk, terminal)
            desk.store.wish_stop(False)
            try:
                sale = await begin_payment(desk, OperationKind.SALE, terminal.provider, part_minor=part_minor)
                with never_stuck(desk, sale.sale_id):
                    return await _charge(desk, terminal, sale, last_trace)
            finally:
                desk.store.wish_stop(False)


async def abort_card(desk: Desk) -> None:
    """Wish that the running card payment ends. `pay_card` still returns the truth: an approval may cross it (T9).

    A wish that comes before the terminal is asked is kept: then it is not asked at all.
    """
    sale = desk.store.sale
    if desk.terminal is None or sale is None or sale.state is not SaleState.PAYING:
        return
    if desk.store.progress_of(sale.sale_id) in _HEARD:
        return  # it has said its last word: there is nothing to stop any more
    if sale.payment is not None and sale.payment.kind is OperationKind.SALE:
        desk.store.wish_stop(True)
        await desk.terminal.abort()


async def _charge(desk: Desk, terminal: CardTerminal, sale: Sale, last_trace: int | None) -> Sale:
    async with before_asking(desk, sale.sale_id):
        sale = await check_out(desk, sale)
        try:
            opened = await open_operation(desk, sale)
        except BookingClientError as error:
            await leave_paying(desk, sale, error)
            raise
        operation = opened.operation
        sale = await desk.keep(_with_operation(sale, operation.operation_id))
    asked_before = await desk.journal.terminal_attempt(operation.operation_id)
    if operation.status is not OperationStatus.SENT or asked_before is not None:
        return await settle_card(desk, sale, terminal)
    if desk.store.stop_wished:
        return await _stop_unasked(desk, sale, operation.operation_id)
    record = TerminalRecord(
        operation_id=operation.operation_id,
        sale_id=sale.sale_id,
        amount_minor=operation.amount_minor,
        currency=operation.currency,
        started_at=desk.now(),
        last_trace=last_trace,
    )
    async with before_asking(desk, sale.sale_id):
        await desk.journal.begin_terminal_attempt(record)
    desk.charging.add(sale.sale_id)
    try:
        return await _Conversation(desk, terminal, record).hold(sale)
    finally:
        desk.charging.discard(sale.sale_id)


async def _stop_unasked(desk: Desk, sale: Sale, operation_id: OperationId) -> Sale:
    """Stopped while the operation was being opened: nothing can be charged, and the API hears that.

    Unheard, the sale is HELD with its keys: the next try is this operation, and whoever gives the sale up declines it.
    """
    report = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=STOPPED_HERE)
    try:
        answer = await desk.client.report_result(operation_id, report, key=report_key(operation_id, report))
    except BookingClientError as error:
        _log.warning("a payment that was stopped before it was asked for is not reported: %s", error.code)
        return await desk.keep(sale.after(SaleStep.PAYMENT_WITHDRAWN))
    return await apply_order(desk, sale, answer.order, answer.operation)


def _with_operation(sale: Sale, operation_id: OperationId) -> Sale:
    if sale.payment is None:
        return sale
    return replace(sale, payment=replace(sale.payment, operation_id=operation_id))


@dataclass(slots=True)
class _Conversation:
    """One payment at the terminal, from the request to its last word."""

    desk: Desk
    terminal: CardTerminal
    record: TerminalRecord
    answer: ResultAnswer | None = None
    """What the API said while the terminal waited for the verdict."""

    async def hold(self, sale: Sale) -> Sale:
        """Ask the terminal, journal and report what it says; the sale that comes of it."""
        try:
            result, word, trouble = await self._last_word()
            said_nothing = trouble is not None or word.report.decline_code == STOPPED_HERE
            telling = Telling.NOTHING if said_nothing else _TELLING[result.outcome]
            self.desk.store.put_terminal_progress(telling.value, sale.sale_id)  # it has ended there; here it goes on
            return await self._tell(sale, result, word, trouble)
        finally:
            self.desk.store.put_terminal_progress("")

    async def _last_word(self) -> tuple[TerminalResult, TerminalWord, TerminalError | None]:
        """What the terminal said, as it is journaled; and why it could not be used, if so: nothing was charged then."""
        try:
            result = await self._pay()
        except TerminalError as error:
            result = TerminalResult(TerminalOutcome.DECLINED, 0, self.record.currency, decline_code=error.code)
            return result, word_of(result), error
        except Exception:  # noqa: BLE001  # a driver's fault: money may have moved
            _log.exception("the card terminal's driver failed during a payment")
            result = TerminalResult(TerminalOutcome.UNKNOWN, 0, self.record.currency)
        return result, word_of(self._by_cause(result)), None

    async def _tell(
        self, sale: Sale, result: TerminalResult, word: TerminalWord, trouble: TerminalError | None
    ) -> Sale:
        """Journal and report the terminal's last word; the sale that comes of it."""
        desk, operation_id = self.desk, self.record.operation_id
        if self.answer is not None:
            return await self._close_answered(sale, self.answer, result)
        try:
            await desk.journal.record_terminal_result(operation_id, word)
        except JournalError:
            _log.exception("the terminal's word could not be journaled; it is reported all the same")
        sale = await settle_card(desk, sale, self.terminal, ask=False, heard=word)
        if trouble is not None:
            if sale.state is SaleState.DECLINED:
                await desk.keep(replace(sale.after(SaleStep.DECLINE_SEEN), decline_code=""))
            raise trouble
        return sale

    async def _pay(self) -> TerminalResult:
        """From here on the terminal knows of a wish to stop by itself; one that came before it never asks."""
        amount_minor, currency = self.record.amount_minor, self.record.currency
        if self.desk.store.stop_wished:
            return TerminalResult(TerminalOutcome.DECLINED, 0, currency, decline_code=STOPPED_HERE)
        return await self.terminal.pay(
            amount_minor, currency, on_progress=self._on_progress, on_result=self._on_result
        )  # fmt: skip

    def _by_cause(self, result: TerminalResult) -> TerminalResult:
        """A payment that was stopped here says so; terminals call that and a time-out the same."""
        stopped = self.desk.store.stop_wished and result.outcome is TerminalOutcome.DECLINED
        if stopped and result.decline_code in _ENDED_BY_SOMEBODY:
            return replace(result, decline_code=STOPPED_HERE)
        return result

    def _on_progress(self, progress: Progress) -> None:
        self.desk.store.put_terminal_progress(progress.value, self.record.sale_id)

    async def _on_result(self, result: TerminalResult) -> Verdict:
        """The terminal has approved and waits for our verdict: journal, report for 3 s at most, decide."""
        desk, operation_id = self.desk, self.record.operation_id
        word = word_of(result, final=False)
        try:
            await desk.journal.record_terminal_result(operation_id, word)
        except JournalError:
            _log.exception("an approval could not be journaled; it is reported all the same")
        limit_s = desk.patience.report_s
        try:
            async with asyncio.timeout(limit_s):
                key = report_key(operation_id, word.report)
                self.answer = await desk.client.report_result(operation_id, word.report, key=key, within_s=limit_s)
        except (TimeoutError, BookingClientError) as error:
            _log.warning("no word of the booking system on an approval: %s", type(error).__name__)
            return Verdict.ACCEPT
        return Verdict.REVERSE if self.answer.advice is Advice.REVERSE else Verdict.ACCEPT

    async def _close_answered(self, sale: Sale, answer: ResultAnswer, result: TerminalResult) -> Sale:
        """The API had spoken while the terminal waited; the terminal's last word says whether the verdict arrived."""
        desk, operation_id = self.desk, self.record.operation_id
        reverse = answer.advice is Advice.REVERSE
        if reverse and result.outcome is TerminalOutcome.DECLINED:
            await desk.journal.mark_reversal(operation_id, Reversal.DONE)
        elif not reverse and not await self._is_kept(result):
            warn_of_difference(desk, sale)
        return await apply_answer(desk, sale, answer, self.terminal)

    async def _is_kept(self, result: TerminalResult) -> bool:
        """Whether the terminal kept the charge that the API has confirmed; if the line died at the end, it is asked."""
        if result.outcome is not TerminalOutcome.UNKNOWN:
            return result.outcome is TerminalOutcome.APPROVED
        heard = await self.desk.journal.terminal_attempt(self.record.operation_id)
        try:
            word = await ask_about(self.desk, self.terminal, heard or self.record)
        except TerminalError:
            return False
        return word is not None and word.report.outcome is ResultOutcome.SUCCEEDED
