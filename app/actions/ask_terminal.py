"""What the card terminal's last transaction proves about a payment whose result was not heard (R31, T1, T4, T6).

Only two findings are proofs: the transaction can be nothing but ours and is booked; or the terminal is ready and says,
twice, that it booked nothing since (or took ours back). Everything else is left to a person with evidence.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

from app.actions.desk import Desk
from app.devices.card_terminal import CardTerminal, Readiness, TerminalOutcome, TerminalResult
from app.devices.recovery import TerminalAttempt, matches_attempt
from app.journal.terminal_record import Asked, TerminalRecord, TerminalWord
from backend_client.wire import EvidenceItem, ResultOutcome, ResultReport

NOT_BOOKED = "not-booked-at-terminal"
TERMINAL_DIFFERS = "terminal-differs"
"""The terminal tells of a transaction that is not ours beyond doubt: evidence for a person."""
_EVIDENCE_KEPT = 200
_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC)
_OUTCOMES = {
    TerminalOutcome.APPROVED: ResultOutcome.SUCCEEDED,
    TerminalOutcome.DECLINED: ResultOutcome.DECLINED,
    TerminalOutcome.UNKNOWN: ResultOutcome.UNKNOWN,
}


class Finding(StrEnum):
    BOOKED = "booked"
    NOT_BOOKED = "not-booked"
    UNPROVEN = "unproven"


def word_of(result: TerminalResult, *, final: bool = True) -> TerminalWord:
    """A terminal's result as it is journaled and reported."""
    evidence = tuple(
        EvidenceItem(at=_of_this_century(step.at), direction=step.direction[:20], body=step.body[:4000])
        for step in result.evidence[-_EVIDENCE_KEPT:]
    )
    report = ResultReport(
        outcome=_OUTCOMES[result.outcome],
        amount_minor=result.amount_minor,
        provider_ref="" if result.receipt_no is None else f"{result.terminal_id}/{result.receipt_no}/{result.trace}",
        decline_code=result.decline_code[:100],
        card_brand=result.card_brand[:60],
        evidence=evidence,
    )
    return TerminalWord(report, result.trace, result.receipt_no, final)


def _of_this_century(at: datetime) -> datetime:
    """The API refuses other instants: a till whose clock has lost its battery must still get its result across."""
    return min(max(at, _EARLIEST), _LATEST)


def find_in(last: TerminalResult | None, record: TerminalRecord) -> Finding:
    """What `last`, the terminal's last transaction, says about the attempt of `record`."""
    if last is None or last.trace is None:
        return Finding.UNPROVEN
    if record.last_trace is not None and last.trace == record.last_trace:
        return Finding.NOT_BOOKED
    if record.asked is not Asked.SALE:
        return Finding.BOOKED if _took_back(last, record) else Finding.UNPROVEN
    heard_trace = None if record.word is None else record.word.trace
    if last.original_trace is not None:
        return Finding.NOT_BOOKED if last.original_trace == heard_trace else Finding.UNPROVEN
    if last.reversed_at_terminal and last.trace == heard_trace:
        return Finding.NOT_BOOKED
    attempt = TerminalAttempt(record.amount_minor, record.currency, record.started_at, record.last_trace)
    return Finding.BOOKED if matches_attempt(last, attempt) else Finding.UNPROVEN


def _took_back(last: TerminalResult, record: TerminalRecord) -> bool:
    """Whether `last` is the reversal or the refund that `record` asked for, beyond doubt."""
    attempt = TerminalAttempt(record.amount_minor, record.currency, record.started_at, record.last_trace)
    if record.asked is Asked.REFUND:
        return matches_attempt(last, attempt)
    named = last.original_trace is not None and (
        last.original_trace == record.target_trace if record.target_trace else last.receipt_no == record.target_receipt
    )
    return named and matches_attempt(replace(last, original_trace=None), attempt)


async def ask_about(desk: Desk, terminal: CardTerminal, record: TerminalRecord) -> TerminalWord | None:
    """The terminal's final word about an attempt; None when it proves nothing.

    A later payment has taken the place of "the last transaction": then it is not asked. A transaction that is not
    beyond doubt ours is told once, as evidence: an UNKNOWN word with the code `terminal-differs`.

    Raises:
        TerminalError: it cannot be asked now.
    """
    newest = await desk.journal.newest_attempt()
    if newest is None or newest.operation_id != record.operation_id:
        return None
    last = await terminal.last_transaction()
    finding = find_in(last, record)
    if finding is Finding.BOOKED and last is not None:
        return word_of(last)
    if finding is Finding.UNPROVEN:
        return _differing(last, record)
    if (await terminal.status()).readiness is not Readiness.READY:
        return None
    await desk.sleep(desk.patience.settle_s)
    again = await terminal.last_transaction()
    if find_in(again, record) is Finding.BOOKED and again is not None:
        return word_of(again)
    if find_in(again, record) is not Finding.NOT_BOOKED:
        return None
    return TerminalWord(ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=NOT_BOOKED))


def _differing(last: TerminalResult | None, record: TerminalRecord) -> TerminalWord | None:
    told = record.word is not None and record.word.report.decline_code == TERMINAL_DIFFERS
    if last is None or told or (record.word is not None and record.word.report.outcome is ResultOutcome.SUCCEEDED):
        return None
    said = word_of(last).report
    report = ResultReport(
        outcome=ResultOutcome.UNKNOWN, amount_minor=0, decline_code=TERMINAL_DIFFERS, provider_ref=said.provider_ref,
        evidence=said.evidence,
    )  # fmt: skip
    return TerminalWord(report)
