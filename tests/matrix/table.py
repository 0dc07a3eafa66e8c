"""Which pairs of an operation and a fault are played, and why the others cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Operation(StrEnum):
    """A way in which money moves."""

    AUTHORIZE = "authorize"
    AUTHORIZE_PART = "authorize a part"
    CAPTURE = "capture"
    VOID = "void"
    REFUND_WHOLE = "refund, whole"
    REFUND_PART = "refund, part"
    SUPERVISOR_CAPTURE = "supervisor's capture"
    SUPERVISOR_VOID = "supervisor's void"
    SUPERVISOR_REFUND = "supervisor's refund"
    SALE = "sale at the terminal"
    SALE_PART = "card part of a split tender"
    REVERSAL = "reversal at the terminal"
    TERMINAL_REFUND = "refund at the terminal"
    CASH = "cash"
    CASH_INSTEAD = "cash instead of an unknown card"


class Fault(StrEnum):
    """Something that goes wrong, once."""

    LOST_BEFORE = "line lost before the provider heard"
    LOST_AFTER = "line lost after the provider did it"
    HANG_BEFORE = "provider hangs before doing it"
    HANG_AFTER = "provider hangs after doing it"
    ERROR_BEFORE = "5xx, not done"
    ERROR_AFTER = "5xx, done"
    TURNED_AWAY = "429"
    BROKEN = "broken answer"
    SLOW = "slow answer"
    DECLINE = "declined"
    RESTART_BEFORE = "provider killed in the request, not done"
    RESTART_AFTER = "provider killed in the request, done"
    WEBHOOK_DUPLICATE = "event twice"
    WEBHOOK_REORDER = "event after its successor"
    WEBHOOK_SLOW = "event late"
    WEBHOOK_LOST = "event lost"
    API_DIES_SENT = "API killed after SENT was committed"
    API_DIES_ANSWERED = "API killed after the answer, before the record"
    API_DIES_RECORDED = "API killed after the record, before its answer"
    WORKER_DIES_SENT = "worker killed after SENT was committed"
    WORKER_DIES_ANSWERED = "worker killed after the answer, before the record"
    WORKER_DIES_RECORDED = "worker killed after the record"
    CONSOLE_DIES_OPENED = "console killed before the journal's entry"
    CONSOLE_DIES_JOURNALED = "console killed after the journal's entry"
    CONSOLE_DIES_DONE = "console killed when it was done, before the journal has it"
    CONSOLE_DIES_HEARD = "console killed before the report"
    CONSOLE_DIES_REPORTED = "console killed after the report"
    TERMINAL_LOST_BEFORE = "line to the terminal lost, not booked"
    TERMINAL_LOST_AFTER = "line to the terminal lost, booked"
    TERMINAL_LOST_RESULT = "line to the terminal lost after its result"
    TERMINAL_LOST_VERDICT = "line to the terminal lost after our verdict"
    TERMINAL_DEAD = "terminal dead"
    TERMINAL_RESTART = "terminal killed with a stored transaction"
    ABORT_CROSSES = "abort crosses the approval"
    OTHER_AMOUNT = "terminal books another amount"


def _group(first: Fault, last: Fault) -> frozenset[Fault]:
    faults = list(Fault)
    return frozenset(faults[faults.index(first) : faults.index(last) + 1])


ANSWERS: Final = _group(Fault.LOST_BEFORE, Fault.DECLINE)
RESTARTS: Final = frozenset({Fault.RESTART_BEFORE, Fault.RESTART_AFTER})
WEBHOOKS: Final = _group(Fault.WEBHOOK_DUPLICATE, Fault.WEBHOOK_LOST)
API_DEATHS: Final = _group(Fault.API_DIES_SENT, Fault.API_DIES_RECORDED)
WORKER_DEATHS: Final = _group(Fault.WORKER_DIES_SENT, Fault.WORKER_DIES_RECORDED)
CONSOLE_DEATHS: Final = _group(Fault.CONSOLE_DIES_OPENED, Fault.CONSOLE_DIES_REPORTED)
AT_TERMINAL: Final = _group(Fault.TERMINAL_LOST_BEFORE, Fault.OTHER_AMOUNT)

BY_PROVIDER: Final = frozenset(list(Operation)[: list(Operation).index(Operation.SALE)])
BY_SUPERVISOR: Final = frozenset({Operation.SUPERVISOR_CAPTURE, Operation.SUPERVISOR_VOID, Operation.SUPERVISOR_REFUND})
BY_TILL: Final = frozenset(Operation) - BY_PROVIDER
CHARGES_AT_TERMINAL: Final = frozenset({Operation.SALE, Operation.SALE_PART})
BACK_AT_TERMINAL: Final = frozenset({Operation.REVERSAL, Operation.TERMINAL_REFUND})
IN_CASH: Final = frozenset({Operation.CASH, Operation.CASH_INSTEAD})

Pair = tuple[Operation, Fault]

NO_PROVIDER: Final = "the money is in a terminal or in the drawer: no provider is asked, and none tells of it"
NO_WORKER: Final = "the till drives it itself: no worker speaks to a terminal or opens a drawer"
NO_TERMINAL: Final = "no terminal takes part"
NO_CONSOLE: Final = "no console drives it: whoever asks for it sends one call, and its loss is the API's death"
ACT_IS_OPENED: Final = (
    "the API only opens what a supervisor wants, in one transaction; a worker sends it, and its deaths are cells"
)
ONE_CALL: Final = "cash is one call and one transaction: there is no step in it at which a process could die"
NO_JOURNAL_ENTRY: Final = "the journal's entry of a terminal is about terminals; for cash it keeps the sale alone"
NOT_UNKNOWN: Final = "it leaves nothing unknown at the counter: cash would not be instead of anything"
NOT_ASKED: Final = "no verdict of ours is asked for when money goes back, and no result is told before it is done"
NO_ABORT: Final = "only a payment can be aborted: money that goes back is not called off at the terminal"
NO_DECLINE: Final = "nobody declines cash: it is counted and taken"

_ONLY: Final[Mapping[Pair, str]] = {
    **{
        (one, fault): ACT_IS_OPENED for one in BY_SUPERVISOR for fault in (Fault.API_DIES_SENT, Fault.API_DIES_ANSWERED)
    },
    **{(one, Fault.API_DIES_SENT): ONE_CALL for one in IN_CASH},
    **{
        (one, fault): NO_JOURNAL_ENTRY
        for one in IN_CASH
        for fault in (Fault.CONSOLE_DIES_OPENED, Fault.CONSOLE_DIES_DONE, Fault.CONSOLE_DIES_HEARD)
    },
    **{
        (Operation.CASH_INSTEAD, fault): NOT_UNKNOWN
        for fault in (
            Fault.TERMINAL_LOST_RESULT,
            Fault.TERMINAL_LOST_VERDICT,
            Fault.ABORT_CROSSES,
            Fault.OTHER_AMOUNT,
        )
    },
    **{
        (one, fault): NOT_ASKED
        for one in BACK_AT_TERMINAL
        for fault in (Fault.TERMINAL_LOST_RESULT, Fault.TERMINAL_LOST_VERDICT)
    },
    **{(one, Fault.ABORT_CROSSES): NO_ABORT for one in BACK_AT_TERMINAL},
    **{(one, Fault.DECLINE): NO_DECLINE for one in IN_CASH},
}


def reason(operation: Operation, fault: Fault) -> str:
    """Why this pair cannot be played; empty for a cell."""
    special = _ONLY.get((operation, fault))
    if special is not None:
        return special
    if operation in BY_PROVIDER:
        return NO_TERMINAL if fault in AT_TERMINAL else NO_CONSOLE if fault in CONSOLE_DEATHS else ""
    if fault in RESTARTS | WEBHOOKS | (ANSWERS - {Fault.DECLINE}):
        return NO_PROVIDER
    if fault in WORKER_DEATHS:
        return NO_WORKER
    return NO_TERMINAL if operation is Operation.CASH and fault in AT_TERMINAL else ""


CELLS: Final = tuple((one, fault) for one in Operation for fault in Fault if not reason(one, fault))


def in_words() -> str:
    """The table with its counts: a row for each operation, a column for each group of faults."""
    groups = {
        "answers": ANSWERS, "restarts": RESTARTS, "events": WEBHOOKS, "API": API_DEATHS, "worker": WORKER_DEATHS,
        "console": CONSOLE_DEATHS, "terminal": AT_TERMINAL,
    }  # fmt: skip
    width = max(map(len, Operation))
    lines = [" " * width + "".join(f"{name:>10}" for name in groups) + f"{'all':>10}"]
    for one in Operation:
        counts = [sum((one, fault) in CELLS for fault in group) for group in groups.values()]
        lines.append(f"{one:<{width}}" + "".join(f"{n or '·':>10}" for n in counts) + f"{sum(counts):>10}")
    totals = [sum((one, fault) in CELLS for one in Operation for fault in group) for group in groups.values()]
    lines.append(f"{'':<{width}}" + "".join(f"{n:>10}" for n in totals) + f"{len(CELLS):>10}")
    return "\n".join([*lines, f"{len(CELLS)} cells, {len(Operation) * len(Fault) - len(CELLS)} pairs with a reason"])
