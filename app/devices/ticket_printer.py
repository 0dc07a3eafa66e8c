"""The ticket printer as the rest of the console sees it (R30, K7).

A print whose end is not known is UNKNOWN and is never repeated by itself. Implementations: the PDF printer of the
desktop shell, which draws with the same toolkit as the screen and therefore lives there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class PrintState(StrEnum):
    CONFIRMED = "confirmed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TicketFace:
    """One ticket as it is printed. `code` is what the QR says; labels and `row_kind` are those of its `SeatRef`."""

    ticket_id: str
    section: str
    row: str
    number: str
    price_type: str
    amount_minor: int
    currency: str
    code: str
    row_kind: str = ""


@dataclass(frozen=True, slots=True)
class TicketSheet:
    """The tickets of one print job. `starts_at` is aware UTC and shown in `zone` (IANA); `language` is BCP 47."""

    print_job_id: str
    order_number: str
    event_name: str
    venue_name: str
    starts_at: datetime
    zone: str
    language: str
    tickets: tuple[TicketFace, ...]


@dataclass(frozen=True, slots=True)
class PrintOutcome:
    """How a print job ended.

    `printed` holds the ids of the tickets that the printer acknowledged, each on its own (K7); `location` is a path
    for printers that write files. `reason` is why it FAILED, in kebab-case, for the clerk: `disk-full`, `no-access`,
    `code-too-wide` or `printer-trouble`; `detail` is for the log.
    """

    state: PrintState
    printed: tuple[str, ...] = ()
    location: str = ""
    detail: str = ""
    reason: str = ""


class TicketPrinter(Protocol):
    @property
    def name(self) -> str:
        """The printer as people know it; reported with the print job."""
        ...

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        """Print all tickets of `sheet`; device trouble comes back as an outcome, never as an exception."""
        ...
