"""Card attempts that nobody waits for any more: cash was taken instead, or the sale has ended (DESIGN §3).

Their operations are still asked about and reported, and a charge that turns up goes back, by its receipt, once.
"""

from __future__ import annotations

import logging
from functools import partial

from app.actions.ask_terminal import ask_about
from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.actions.each_in_turn import each_in_turn
from app.actions.reverse_card import take_back, tell_reversed
from app.actions.settle_earlier import unsettled
from app.core.sale import SaleState
from app.core.store import Notice, NoticeCode
from app.devices.card_terminal import CardTerminal, TerminalError
from app.journal.terminal_record import Asked, Reversal, TerminalRecord, TerminalWord
from backend_client.errors import BookingRefusedError
from backend_client.wire import Advice, OperationId, OperationStatus, ResultOutcome, ResultReport

_log = logging.getLogger(__name__)
_WAITED_FOR = frozenset({SaleState.PAYING, SaleState.UNKNOWN})


async def given_up(desk: Desk) -> tuple[TerminalRecord, ...]:
    """Attempts that are not settled and that no sale in sight waits for."""
    attempts = await desk.journal.unsettled_attempts()
    waited_for = _waited_for(desk)
    return tuple(one for one in attempts if one.asked is Asked.SALE and one.operation_id not in waited_for)


def _waited_for(desk: Desk) -> frozenset[OperationId | None]:
    shown = () if desk.store.sale is None else (desk.store.sale,)
    waiting = (sale.payment for sale in (*desk.store.parked, *shown) if sale.state in _WAITED_FOR)
    return frozenset(payment.operation_id for payment in waiting if payment is not None)


async def follow_given_up(desk: Desk) -> int:
    """One pass over all of them; how many are still open afterwards.

    Raises:
        BookingClientError: the API did not answer; they stay open.
    """
    try:
        return await each_in_turn([partial(_take_turn, desk, one.operation_id) for one in await given_up(desk)])
    finally:
        desk.store.put_given_up(len(await given_up(desk)))


async def _take_turn(desk: Desk, operation_id: OperationId) -> bool:
    if desk.terminal is None or desk.terminal_turn.locked():
        return await _follow_now(desk, operation_id, None)
    async with desk.terminal_turn:
        return await _follow_now(desk, operation_id, desk.terminal)


async def _follow_now(desk: Desk, operation_id: OperationId, terminal: CardTerminal | None) -> bool:
    """The attempt as it is when its turn comes; somebody may have settled it, or a sale may wait for it again."""
    record = await unsettled(desk, operation_id)
    if record is None or operation_id in _waited_for(desk):
        return True
    return await _follow(desk, record, terminal)


async def _follow(desk: Desk, record: TerminalRecord, terminal: CardTerminal | None) -> bool:
    """True when the attempt is settled."""
    word = record.word
    if (word is None or not word.definite) and terminal is not None:
        word = await _ask(desk, terminal, record) or word
    if word is None or not word.definite:
        return await _is_settled_elsewhere(desk, record)
    key = report_key(record.operation_id, word.report)
    try:
        answer = await desk.client.report_result(record.operation_id, word.report, key=key)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        _log.warning("the word about attempt %s is not taken: %s", record.operation_id, error.code)
        await desk.journal.acknowledge_terminal_result(record.operation_id)
        return True
    if answer.advice is Advice.REVERSE and answer.operation.status is OperationStatus.SUCCEEDED:
        return await _give_back(desk, record, terminal)
    await desk.journal.acknowledge_terminal_result(record.operation_id)
    return True


async def _ask(desk: Desk, terminal: CardTerminal, record: TerminalRecord) -> TerminalWord | None:
    try:
        heard = await ask_about(desk, terminal, record)
    except TerminalError:
        return None
    if heard is not None:
        await desk.journal.record_terminal_result(record.operation_id, heard)
    return heard


async def _is_settled_elsewhere(desk: Desk, record: TerminalRecord) -> bool:
    """The API hears once more that nothing is known; when somebody else has decided it, that counts."""
    report = ResultReport(outcome=ResultOutcome.UNKNOWN, amount_minor=0)
    key = report_key(record.operation_id, report)
    answer = await desk.client.report_result(record.operation_id, report, key=key)
    decided = answer.operation.status in (OperationStatus.SUCCEEDED, OperationStatus.DECLINED)
    if decided:
        await desk.journal.acknowledge_terminal_result(record.operation_id)
    return decided


async def _give_back(desk: Desk, record: TerminalRecord, terminal: CardTerminal | None) -> bool:
    current = await desk.journal.terminal_attempt(record.operation_id)
    reversal = await take_back(desk, current, terminal)
    if reversal is Reversal.NONE:
        return False
    done = reversal is Reversal.DONE
    if done:
        await tell_reversed(desk, record.operation_id)
    await desk.journal.acknowledge_terminal_result(record.operation_id)
    code = NoticeCode.CARD_GIVEN_BACK if done else NoticeCode.CHARGE_TO_RETURN
    desk.store.post(Notice(code, (), record.amount_minor, record.currency))
    return True
