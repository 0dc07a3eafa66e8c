"""Before the terminal is asked for money: what it was asked before must be known first (R31).

Anything new takes the place of the terminal's last transaction, and with it the proof of the one before.
"""

from __future__ import annotations

from app.actions.ask_terminal import NOT_BOOKED, ask_about
from app.actions.desk import Desk
from app.core.errors import TerminalUnsettledError
from app.devices.card_terminal import CardTerminal, TerminalError
from app.journal.terminal_record import Asked, TerminalRecord, TerminalWord
from backend_client.wire import OperationId


async def settle_earlier(desk: Desk, terminal: CardTerminal) -> None:
    """Ask about the newest attempt while the terminal can still tell of it.

    Raises:
        TerminalUnsettledError: the terminal cannot be asked about it.
    """
    newest = await desk.journal.newest_attempt()
    if newest is None or newest.acknowledged or (newest.word is not None and newest.word.definite):
        return
    try:
        word = await ask_about(desk, terminal, newest)
    except TerminalError as error:
        raise TerminalUnsettledError("the terminal must be asked about an earlier payment first") from error
    if word is not None:
        await keep_word(desk, newest, word)
    desk.wake.set()


async def unsettled(desk: Desk, operation_id: OperationId) -> TerminalRecord | None:
    """The attempt as the journal has it now; None once the API has taken its outcome, or it is forgotten."""
    record = await desk.journal.terminal_attempt(operation_id)
    return None if record is None or record.acknowledged else record


async def keep_word(desk: Desk, record: TerminalRecord, word: TerminalWord) -> None:
    """Journal the terminal's word. Money that it has not given back after all may be asked for again."""
    if record.asked is not Asked.SALE and word.report.decline_code == NOT_BOOKED:
        await desk.journal.forget_terminal_attempt(record.operation_id)
    else:
        await desk.journal.record_terminal_result(record.operation_id, word)


async def last_trace_of(desk: Desk, terminal: CardTerminal) -> int | None:
    """The newest trace known before the terminal is asked; one that is new to this counter is asked once."""
    known = await desk.journal.last_trace()
    if known is not None:
        return known
    last = await terminal.last_transaction()
    return None if last is None else last.trace
