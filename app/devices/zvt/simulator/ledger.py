"""What the simulated terminal has stored: it survives a restart when it has a file (written whole, synced, renamed)."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Booking:
    """One stored transaction. `at` is the terminal's local time, ISO; `original_trace` marks a reversal."""

    trace: int
    receipt_no: int
    amount_minor: int
    currency: str
    at: str
    original_trace: int | None = None
    reversed: bool = False

    @property
    def clock(self) -> datetime:
        return datetime.fromisoformat(self.at)


@dataclass(slots=True)
class Ledger:
    """Bookings, oldest first, and the two counters that name them."""

    path: Path | None = None
    trace: int = 0
    receipt_no: int = 0
    bookings: list[Booking] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path | None) -> Ledger:
        """The ledger in `path`, an empty one when there is no such file."""
        ledger = cls(path)
        if path is not None and path.exists():
            stored = json.loads(path.read_text("utf-8"))
            ledger.trace, ledger.receipt_no = stored["trace"], stored["receipt_no"]
            ledger.bookings = [Booking(**booking) for booking in stored["bookings"]]
        return ledger

    def next_trace(self) -> int:
        """Count up; traces of declined attempts are used up too."""
        self.trace = self.trace % 999_999 + 1
        return self.trace

    def book(self, amount_minor: int, currency: str, at: datetime) -> Booking:
        """Store a payment, durably, before anybody hears of it."""
        self.receipt_no = self.receipt_no % 9_999 + 1
        booking = Booking(self.next_trace(), self.receipt_no, amount_minor, currency, at.isoformat(timespec="seconds"))
        self.bookings.append(booking)
        self._save()
        return booking

    def find(self, receipt_no: int) -> Booking | None:
        """The newest payment under that receipt number."""
        found = [b for b in self.bookings if b.receipt_no == receipt_no and b.original_trace is None]
        return found[-1] if found else None

    def last(self) -> Booking | None:
        """The last transaction of any kind."""
        return self.bookings[-1] if self.bookings else None

    def last_payment(self) -> Booking | None:
        """The last payment that stands."""
        standing = [b for b in self.bookings if b.original_trace is None and not b.reversed]
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
        )
        self.bookings.append(reversal)
        self._save()
        return reversal

    def rows(self) -> list[dict[str, object]]:
        """All bookings as JSON-ready rows."""
        return [asdict(booking) for booking in self.bookings]

    def _save(self) -> None:
        if self.path is None:
            return
        text = json.dumps({"trace": self.trace, "receipt_no": self.receipt_no, "bookings": self.rows()}, indent=1)
        draft = self.path.with_suffix(".draft")
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
