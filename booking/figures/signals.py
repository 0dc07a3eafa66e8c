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
    """What only the processes know: how holds fare in the whole system, and the event's free seats. The rest is read
    in the same moment as the decision is made (`workers.admission_signals`), and has one source alone.
    """
    event = second.events.get(event_id)
    return AdmissionSignals(
        queue_age_ms=second.house.get(Figure.QUEUE_AGE_MS),
        hold_p99_ms=second.house.get(Figure.HOLD_P99_MS),
        seats_free=None if event is None else event.figures.get(Figure.SEATS_FREE),
    )
