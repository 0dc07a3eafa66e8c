"""What the controller of admission is told of an event, out of the newest second (R20)."""

from __future__ import annotations

from booking import sql
from booking.domain.admission_control_signals import AdmissionSignals
from booking.domain.figures import Figure
from booking.figures.model import Second, unpack_known
from booking.store.database import Database


async def newest_second(db: Database) -> Second | None:
    """The newest second that was added up; None before the first, or when another release wrote it otherwise.

    Its `measured_at` says how old it is.

    Raises:
        AuthorityAwayError: the database cannot be reached.
    """
    row = await db.fetchrow(sql.query("read_newest_second"))
    return None if row is None else unpack_known(row["body"], Second)


def signals_of(second: Second, event_id: int) -> AdmissionSignals:
    """The event's own figures where there are such, the whole system's otherwise; None for what is not known."""
    house, event = second.house.get, second.events.get(event_id)
    own = {} if event is None else event.figures
    return AdmissionSignals(
        queue_age_ms=house(Figure.QUEUE_AGE_MS),
        hold_p99_ms=house(Figure.HOLD_P99_MS),
        lock_waits=house(Figure.LOCK_WAITS),
        ticketing_lag_s=house(Figure.TICKETING_LAG_S),
        payment_error_share=house(Figure.PAYMENT_ERROR_SHARE),
        payments_unknown=house(Figure.PAYMENTS_UNKNOWN),
        completion_share=own.get(Figure.COMPLETION_SHARE),
        active_shoppers=own.get(Figure.SHOPPERS_ACTIVE),
        departures_per_minute=own.get(Figure.DEPARTURES_PER_MIN),
        seats_free=own.get(Figure.SEATS_FREE),
    )
