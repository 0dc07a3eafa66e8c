"""What the controller is told of an event each second: read now, with what only the processes know (R20)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from booking.domain.admission_control import STALE_AFTER
from booking.domain.admission_control_signals import AdmissionSignals
from booking.figures.model import Second
from booking.figures.signals import newest_second, signals_of
from booking.store import admission_queries
from booking.store.connection import Record
from booking.store.database import Database

_FEWEST_PAYMENTS = 10
_FEWEST_DEPARTURES = 20


class Signals:
    """Reads the figures of events; the processes' own second is read once for all of them."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._second: Second | None = None

    async def refresh(self) -> None:
        """Read the newest second."""
        self._second = await newest_second(self._db)

    async def read(self, event_id: int) -> tuple[AdmissionSignals, datetime]:
        """The figures of an event, and when they were measured: the older of the two readings.

        Raises:
            AuthorityAwayError: the database cannot be asked.
        """
        row = await admission_queries.read_figures(self._db, event_id)
        own, now = own_signals(row), row["now"]
        if self._second is None:
            # Whoever feels the sale has not said anything yet.
            return own, now - 2 * STALE_AFTER
        theirs = signals_of(self._second, event_id)
        merged = replace(
            own, queue_age_ms=theirs.queue_age_ms, hold_p99_ms=theirs.hold_p99_ms, seats_free=theirs.seats_free
        )
        return merged, min(now, self._second.measured_at)


def own_signals(row: Record) -> AdmissionSignals:
    """A row of `admission_figures`. Shares of few are chance: they are not known."""
    payments, departures = row["payments"], row["departures"]
    return AdmissionSignals(
        lock_waits=float(row["lock_waits"]),
        ticketing_lag_s=max(row["ticketing_lag_s"] or 0.0, 0.0),
        payment_error_share=row["payment_errors"] / payments if payments >= _FEWEST_PAYMENTS else None,
        payments_unknown=float(row["payments_unknown"]),
        completion_share=row["bought"] / departures if departures >= _FEWEST_DEPARTURES else None,
        departures_per_minute=float(departures),
    )
