"""What the journal knows of one act with money: written before it begins, or before anybody is told of it (T4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.core.sale import SaleId
from backend_client.wire import OperationId, OrderId, ResultOutcome, ResultReport, TerminalTotalsReport


class Asked(StrEnum):
    """What the terminal was asked to do. A REVERSAL names the receipt that it takes back, a REFUND names none."""

    SALE = "sale"
    REVERSAL = "reversal"
    REFUND = "refund"


class Reversal(StrEnum):
    """Whether a booked payment has to be taken back at the terminal, and how far that went."""

    NONE = "none"
    ASKED = "asked"
    """The terminal is being asked; after a crash nobody knows whether it did, and it is not asked again by itself."""
    DONE = "done"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class TerminalWord:
    """What the terminal said, as it goes to the API. `trace` and `receipt_no` name the booking at the terminal.

    Not `final`: an approval was heard while the terminal still waited for our verdict. If the line or the console died
    then, the terminal may have taken it back, so it has to be asked again.
    """

    report: ResultReport
    trace: int | None = None
    receipt_no: int | None = None
    final: bool = True

    @property
    def definite(self) -> bool:
        """True when the terminal need not be asked any more."""
        return self.final and self.report.outcome is not ResultOutcome.UNKNOWN


@dataclass(frozen=True, slots=True)
class TerminalRecord:
    """`last_trace` is the newest trace known before the attempt. `acknowledged`: the API has taken the final word.

    A sale of the counter has `sale_id`; money that goes back has the order that it is of, and for a REVERSAL the
    receipt and the trace of what is taken back.
    """

    operation_id: OperationId
    sale_id: SaleId | None
    amount_minor: int
    currency: str
    started_at: datetime
    last_trace: int | None = None
    word: TerminalWord | None = None
    reversal: Reversal = Reversal.NONE
    acknowledged: bool = False
    asked: Asked = Asked.SALE
    order_id: OrderId | None = None
    target_receipt: int | None = None
    target_trace: int | None = None


@dataclass(frozen=True, slots=True)
class CashReturn:
    """Cash that the clerk has paid out of the drawer for a refund: written before the API is told of it.

    `refused`: the API did not take the word. It is never paid out again from here; a person compares, and
    `compared_by` says who did.
    """

    operation_id: OperationId
    order_id: OrderId
    amount_minor: int
    currency: str
    paid_at: datetime
    refused: bool = False
    order_number: str = ""
    compared_by: str = ""


@dataclass(frozen=True, slots=True)
class DayRecord:
    """One end of day of the terminal: written before it is asked. `report` None: its totals are not known yet.

    `given_up`: it cannot be told any more what the terminal counted; a person compares by hand.
    """

    day_id: str
    asked_at: datetime
    report: TerminalTotalsReport | None = None
    reported: bool = False
    given_up: bool = False
