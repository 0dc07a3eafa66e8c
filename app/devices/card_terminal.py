"""The card terminal as the rest of the console sees it, whatever protocol it speaks (R30, R31, DESIGN §3).

A payment ends in one of three ways, and only the terminal's own word makes the first two:

- APPROVED: the terminal booked `amount_minor` (which may be less than was asked: believe this figure, never your own);
- DECLINED: the terminal said that nothing was booked, or that what it had booked is reversed;
- UNKNOWN: the line or the terminal went away after the request had left. Ask `last_transaction`; never charge again.

Errors (all are `TerminalError` and carry a kebab-case `code`) say that nothing was begun:

    TerminalError
    ├── TerminalUnavailableError   no connection or no registration; no payment was sent       terminal-unavailable
    ├── TerminalBusyError          another command of ours is running on this terminal          terminal-busy
    ├── TerminalRefusedError       it refused the registration, an enquiry or a reversal           terminal-refused
    ├── UnsupportedCurrencyError   the terminal's protocol has no number for this currency       unsupported-currency
    └── UnsupportedAmountError     the terminal's protocol cannot carry this amount              unsupported-amount
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Protocol


class TerminalOutcome(StrEnum):
    APPROVED = "approved"
    DECLINED = "declined"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """The till's answer to an approval: goods issued, or reverse it at once (the hold was lost)."""

    ACCEPT = "accept"
    REVERSE = "reverse"


class Progress(StrEnum):
    """What the terminal is doing now, as far as it tells; for the clerk's eyes only."""

    CONNECTING = "connecting"
    PRESENT_CARD = "present-card"
    ENTER_PIN = "enter-pin"
    ASKING_HOST = "asking-host"
    PLEASE_WAIT = "please-wait"
    REMOVE_CARD = "remove-card"
    APPROVED = "approved"
    DECLINED = "declined"
    FINISHING = "finishing"


class Readiness(StrEnum):
    READY = "ready"
    NOT_READY = "not-ready"


@dataclass(frozen=True, slots=True)
class EvidenceStep:
    """One frame or event of a conversation, without card numbers, track data or passwords (R43).

    `direction` is `sent`, `received` or `note`; `body` is at most 4,000 characters.
    """

    at: datetime
    direction: str
    body: str


@dataclass(frozen=True, slots=True)
class SchemeTotal:
    """What a terminal counted of one card scheme since its last end of day; `scheme` in the terminal's words."""

    scheme: str
    count: int
    amount_minor: int


@dataclass(frozen=True, slots=True)
class DayTotals:
    """A terminal's end of day: what it booked since the last one. The receipts' numbers bound what it covers."""

    total_minor: int
    schemes: tuple[SchemeTotal, ...] = ()
    first_receipt: int | None = None
    last_receipt: int | None = None


@dataclass(frozen=True, slots=True)
class TerminalResult:
    """What a terminal said about one transaction.

    `amount_minor` is the terminal's figure, 0 when nothing was booked or nothing is known. `trace` and `receipt_no`
    name the transaction at the terminal (None: not told). UNKNOWN keeps whatever was heard before the line went:
    an approval that was heard but not completed has `amount_minor`, `trace` and `receipt_no`. `decline_code` is
    kebab-case. `reversed_at_terminal` says that the terminal booked it and took it back. `original_trace` is set when
    this transaction is itself the reversal of another. `booked_at` is aware UTC, from the terminal's own clock.
    `totals` is set when this is an end of day and no payment.
    """

    outcome: TerminalOutcome
    amount_minor: int
    currency: str
    trace: int | None = None
    receipt_no: int | None = None
    card_brand: str = ""
    card_last4: str = ""
    decline_code: str = ""
    terminal_id: str = ""
    booked_at: datetime | None = None
    original_trace: int | None = None
    reversed_at_terminal: bool = False
    receipt_lines: tuple[str, ...] = ()
    evidence: tuple[EvidenceStep, ...] = ()
    totals: DayTotals | None = None


@dataclass(frozen=True, slots=True)
class TerminalStatus:
    """Answer of a status enquiry; `detail` is the terminal's own code or text for a technician."""

    readiness: Readiness
    detail: str = ""


ProgressCallback = Callable[[Progress], None]
ResultCallback = Callable[[TerminalResult], Awaitable[Verdict]]


class TerminalError(Exception):
    """Base: the terminal could not be used, and nothing was begun."""

    code: ClassVar[str] = "terminal-error"


class TerminalUnavailableError(TerminalError):
    code = "terminal-unavailable"


class TerminalBusyError(TerminalError):
    code = "terminal-busy"


class TerminalRefusedError(TerminalError):
    """`decline_code` is the terminal's reason, e.g. `already-reversed`, `reversal-not-possible`, `terminal-busy`."""

    code = "terminal-refused"

    def __init__(self, message: str, decline_code: str) -> None:
        super().__init__(message)
        self.decline_code = decline_code


class UnsupportedCurrencyError(TerminalError):
    code = "unsupported-currency"


class UnsupportedAmountError(TerminalError):
    code = "unsupported-amount"


class CardTerminal(Protocol):
    """A card terminal at this counter. One command runs at a time; a second one raises `TerminalBusyError`."""

    @property
    def provider(self) -> str:
        """The protocol's name, as `PaymentRequest.provider` says it (`zvt`)."""
        ...

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        """Ask the terminal to book a sale and wait for its last word.

        `on_result` is awaited, for about 3 s at most, when the terminal has approved and waits to hear whether goods
        are issued; a late or failing verdict counts as ACCEPT (settle later, DESIGN §3), and the coroutine is left to
        run to its end. Raises `TerminalError` only when no request has left for the terminal.
        """
        ...

    async def abort(self) -> None:
        """Wish that the running payment ends. Only a wish: `pay` still returns the truth (T9). No-op when idle."""
        ...

    async def last_transaction(self) -> TerminalResult | None:
        """The last transaction that the terminal stored, for recovery (T4).

        None means that the terminal named none, which proves nothing: some answer so by configuration.
        """
        ...

    async def reverse(
        self, receipt_no: int, *, amount_minor: int | None = None, original_trace: int | None = None
    ) -> TerminalResult:
        """Reverse the transaction that `receipt_no` names (T6); amount and trace are compared with the answer.

        APPROVED: reversed, and the terminal named the receipt that was asked for. UNKNOWN: no answer, or the terminal
        named another transaction (`decline_code` `reversed-another`) or none that could be compared
        (`reversal-not-verified`): raise an alarm, do not repeat. Raises `TerminalRefusedError` when nothing was
        reversed (`already-reversed`, `reversal-not-possible`, …).
        """
        ...

    async def refund(self, amount_minor: int, currency: str, *, on_progress: ProgressCallback) -> TerminalResult:
        """Give money to a card, with no reference to what was paid; the buyer presents the card.

        The same three ends as `pay`; there is no verdict, since money that went back is not taken again by itself.
        Raises `TerminalError` only when no request has left for the terminal.
        """
        ...

    async def end_of_day(self) -> TerminalResult:
        """Close the terminal's day. APPROVED: it is closed, `totals` as told (None: it told none).

        UNKNOWN: no answer; it may be closed, and `last_transaction` may tell its totals. Raises
        `TerminalRefusedError` when the terminal said that it is not, other `TerminalError`s when it was not asked.
        """
        ...

    async def status(self) -> TerminalStatus:
        """Whether the terminal is reachable and ready."""
        ...

    async def close(self) -> None:
        """Drop the connection; a running payment ends UNKNOWN."""
        ...
