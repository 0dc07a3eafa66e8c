"""What the end of an exchange means for the money: facts in, `TerminalResult` out, never a guess.

Payment (06 01), refund (06 31: accepted by itself)
    never sent, refused, or aborted without an approval          DECLINED
    completed without an approval but with a result not 00       DECLINED
    approved, accepted, completed                                 APPROVED
    approved, reversal asked for, then aborted or reversed        DECLINED, reversed at the terminal
    everything else: lost, malformed, contradictory, empty        UNKNOWN
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, tzinfo

from app.devices.card_terminal import DayTotals, TerminalOutcome, TerminalResult
from app.devices.zvt import codes, messages
from app.devices.zvt.exchange import Exchange, State
from app.devices.zvt.messages import StatusInformation

_FAILED_REVERSALS = {codes.ALREADY_REVERSED, codes.REVERSAL_NOT_POSSIBLE}


def result_of_status(status: StatusInformation, currency: str, zone: tzinfo, now: datetime) -> TerminalResult:
    """A told transaction as a result; `currency` stands in when the terminal names none."""
    approved = status.approved
    return TerminalResult(
        TerminalOutcome.APPROVED if approved else TerminalOutcome.DECLINED,
        (status.amount_minor or 0) if approved else 0,
        status.currency or currency,
        trace=status.trace,
        receipt_no=status.receipt_no,
        card_brand=status.card_brand,
        card_last4=status.card_last4,
        decline_code="" if approved else codes.result_name(status.result_code or 0),
        terminal_id=status.terminal_id,
        booked_at=messages.booked_at(status.clock, zone, now) if status.clock else None,
        original_trace=status.original_trace,
        totals=status.totals,
    )


def payment_result(exchange: Exchange, currency: str, zone: tzinfo, now: datetime) -> TerminalResult:
    """See the table above. Receipt lines are the caller's to add, with its evidence."""
    approval = next((status for status in exchange.statuses if status.approved), None)
    if approval is None:
        return _without_approval(exchange, currency, zone, now)
    told = result_of_status(approval, currency, zone, now)
    if exchange.malformed or exchange.state is State.LOST:
        return replace(told, outcome=TerminalOutcome.UNKNOWN)
    if exchange.accepted and exchange.state is State.COMPLETED:
        return told
    if exchange.accepted is False and _was_reversed(exchange, approval):
        return replace(
            told,
            outcome=TerminalOutcome.DECLINED,
            amount_minor=0,
            decline_code="goods-not-issued",
            reversed_at_terminal=True,
        )
    return replace(told, outcome=TerminalOutcome.UNKNOWN)


def _without_approval(exchange: Exchange, currency: str, zone: tzinfo, now: datetime) -> TerminalResult:
    unknown = TerminalResult(TerminalOutcome.UNKNOWN, 0, currency)
    if exchange.state is State.CALLING:  # given up before the first byte left
        return replace(unknown, outcome=TerminalOutcome.DECLINED, decline_code="aborted")
    last = exchange.statuses[-1] if exchange.statuses else None
    doubtful = last is not None and last.result_code in {None, codes.APPROVED}
    if exchange.malformed or doubtful or exchange.state is State.LOST:
        return unknown
    if exchange.state is State.COMPLETED and last is None:
        return unknown
    if last is not None:  # the host's reason says more than the terminal's "ended"
        return result_of_status(last, currency, zone, now)
    code = codes.ABORTED if exchange.end_code is None else exchange.end_code
    wished = exchange.abort_wished and code == codes.ABORTED
    return replace(
        unknown, outcome=TerminalOutcome.DECLINED, decline_code="aborted" if wished else codes.result_name(code)
    )


def _was_reversed(exchange: Exchange, approval: StatusInformation) -> bool:
    if exchange.state is State.ABORTED:
        return exchange.end_code not in _FAILED_REVERSALS
    return exchange.state is State.COMPLETED and any(
        status.approved and status.original_trace is not None and status.original_trace == approval.trace
        for status in exchange.statuses
    )


def reversal_result(
    told: TerminalResult, receipt_no: int, amount_minor: int | None, original_trace: int | None
) -> TerminalResult:
    """Check that the terminal reversed what was named: some reverse their last transaction, whatever they are told.

    `told` is the reversal as the terminal reported it. A difference, or nothing to compare, comes back as UNKNOWN
    with `decline_code` `reversed-another` or `reversal-not-verified`.
    """
    differs = amount_minor is not None and told.amount_minor != amount_minor
    if original_trace is not None and told.original_trace is not None:
        differs = differs or told.original_trace != original_trace
        proven = told.original_trace == original_trace
    else:
        differs = differs or (told.receipt_no is not None and told.receipt_no != receipt_no)
        proven = told.receipt_no == receipt_no
    if differs:
        return replace(told, outcome=TerminalOutcome.UNKNOWN, decline_code="reversed-another")
    if not proven:
        return replace(told, outcome=TerminalOutcome.UNKNOWN, decline_code="reversal-not-verified")
    return told


def day_result(exchange: Exchange, currency: str, zone: tzinfo, now: datetime) -> TerminalResult:
    """An end of day (06 50) that was not refused: closed when completed, otherwise nobody knows."""
    told = next((status for status in reversed(exchange.statuses) if status.totals is not None), None)
    told = told or (exchange.statuses[-1] if exchange.statuses else None)
    closed = exchange.state is State.COMPLETED and not exchange.malformed
    outcome = TerminalOutcome.APPROVED if closed else TerminalOutcome.UNKNOWN
    if told is None or (told.totals is None and told.amount_minor is None):
        return TerminalResult(outcome, 0, currency)
    heard = result_of_status(told, currency, zone, now)
    totals = told.totals or DayTotals(told.amount_minor or 0)
    return replace(heard, outcome=outcome, amount_minor=totals.total_minor, decline_code="", totals=totals)
