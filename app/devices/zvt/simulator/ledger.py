"""What the simulated terminal has stored: it survives a restart when it has a file (written whole, synced, renamed)."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.devices.card_terminal import DayTotals, SchemeTotal

PAYMENT, REFUND = "payment", "refund"
SCHEME = "Visa"
"""Every card that the simulated terminal is shown."""


@dataclass(frozen=True, slots=True)
class Booking:
    """One stored transaction. `at` is the terminal's local time, ISO; `original_trace` marks a reversal.

    `day` is the end of day that covers it, 0 before any.
    """

    trace: int
    receipt_no: int
    amount_minor: int
    currency: str
    at: str
    original_trace: int | None = None
    reversed: bool = False
    kind: str = PAYMENT
    day: int = 0

    @property
    def clock(self) -> datetime:
        return datetime.fromisoformat(self.at)

    @property
    def stands(self) -> bool:
        """Money moved and stayed where it went."""
        return self.original_trace is None and not self.reversed


@dataclass(frozen=True, slots=True)
class Closing:
    """One end of day. `after` is how many bookings were stored when it was made."""

    day: int
    at: str
    currency: str
    total_minor: int
    payments: int
    payments_minor: int
    refunds: int
    refunds_minor: int
    first_receipt: int
    last_receipt: int
    after: int

    @property
    def clock(self) -> datetime:
        return datetime.fromisoformat(self.at)

    @property
    def totals(self) -> DayTotals:
        """As the terminal tells it: every transaction counts, refunds are taken off."""
        counted = self.payments + self.refunds
        schemes = (SchemeTotal(SCHEME, counted, self.total_minor),) if counted else ()
        return DayTotals(self.total_minor, schemes, self.first_receipt or None, self.last_receipt or None)


@dataclass(slots=True)
class Ledger:
    """Bookings, oldest first, ends of day, and the two counters that name bookings."""

    path: Path | None = None
    trace: int = 0
    receipt_no: int = 0
    bookings: list[Booking] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path | None) -> Ledger:
        """The ledger in `path`, an empty one when there is no such file."""
        ledger = cls(path)
        if path is not None and path.exists():
            stored = json.loads(path.read_text("utf-8"))
            ledger.trace, ledger.receipt_no = stored["trace"], stored["receipt_no"]
            ledger.bookings = [Booking(**booking) for booking in stored["bookings"]]
            ledger.closings = [Closing(**closing) for closing in stored.get("closings", ())]
        return ledger

    def next_trace(self) -> int:
        """Count up; traces of declined attempts are used up too."""
        self.trace = self.trace % 999_999 + 1
        return self.trace

    def book(self, amount_minor: int, currency: str, at: datetime, kind: str = PAYMENT) -> Booking:
        """Store a payment or a refund, durably, before anybody hears of it."""
        self.receipt_no = self.receipt_no % 9_999 + 1
        booking = Booking(
            self.next_trace(), self.receipt_no, amount_minor, currency, at.isoformat(timespec="seconds"), kind=kind
        )
        self.bookings.append(booking)
        self._save()
        return booking

    def find(self, receipt_no: int) -> Booking | None:
        """The newest transaction under that receipt number that is no reversal."""
        found = [b for b in self.bookings if b.receipt_no == receipt_no and b.original_trace is None]
        return found[-1] if found else None

    def last(self) -> Booking | Closing | None:
        """The last transaction of any kind."""
        if self.closings and self.closings[-1].after == len(self.bookings):
            return self.closings[-1]
        return self.bookings[-1] if self.bookings else None

    def last_payment(self) -> Booking | None:
        """The last payment that stands."""
        standing = [b for b in self.bookings if b.stands and b.kind == PAYMENT]
        return standing[-1] if standing else None

    def reverse(self, booking: Booking, at: datetime) -> Booking:
        """Take `booking` back; the reversal is a transaction of its own under the same receipt number."""
        place = self.bookings.index(booking)
        self.bookings[place] = replace(booking, reversed=True)
        reversal = replace(
            booking,
            trace=self.next_trace(),
            at=at.isoformat(timespec="seconds"),
            original_trace=booking.trace,
            reversed=False,
            day=0,
        )
        self.bookings.append(reversal)
        self._save()
        return reversal

    def close_day(self, currency: str, at: datetime) -> Closing:
        """Settle what stands since the last end of day; a day of refunds alone totals 0: no field is signed."""
        day = len(self.closings) + 1
        open_ones = [b for b in self.bookings if b.day == 0]
        payments = [b.amount_minor for b in open_ones if b.stands and b.kind == PAYMENT]
        refunds = [b.amount_minor for b in open_ones if b.stands and b.kind == REFUND]
        receipts = [b.receipt_no for b in open_ones]
        closing = Closing(
            day=day,
            at=at.isoformat(timespec="seconds"),
            currency=open_ones[-1].currency if open_ones else currency,
            total_minor=max(sum(payments) - sum(refunds), 0),
            payments=len(payments),
            payments_minor=sum(payments),
            refunds=len(refunds),
            refunds_minor=sum(refunds),
            first_receipt=receipts[0] if receipts else 0,
            last_receipt=receipts[-1] if receipts else 0,
            after=len(self.bookings),
        )
        self.bookings = [replace(b, day=day) if b.day == 0 else b for b in self.bookings]
        self.closings.append(closing)
        self._save()
        return closing

    def rows(self) -> list[dict[str, Any]]:
        """All bookings as JSON-ready rows."""
        return [asdict(booking) for booking in self.bookings]

    def closing_rows(self) -> list[dict[str, Any]]:
        """All ends of day as JSON-ready rows."""
        return [asdict(closing) for closing in self.closings]

    def _save(self) -> None:
        if self.path is None:
            return
        stored = {
            "trace": self.trace,
            "receipt_no": self.receipt_no,
            "bookings": self.rows(),
            "closings": self.closing_rows(),
        }
        draft = self.path.with_suffix(".draft")
        with draft.open("w", encoding="utf-8") as file:
            file.write(json.dumps(stored, indent=1))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
