"""One seat for staff: who has it and since when, what it costs, and every event on it (R13).

The history is built from what is kept for ever: holds, orders and their lines, payment operations, tickets, print
jobs, house holds, the audit log. The outbox is not read, so its retention takes nothing away: no fact about money or
about who had the seat, however old. Two things are not in what is kept, and so in no history: who released a hold by
hand (its owner, a supervisor, or the end of the event), and, for the seconds until it is swept, a hold that has run out
and whose seat somebody else took.

What it costs: holds that end without a sale leave a row for each seat (`ended_hold_seats`, written by a trigger as they
end), and lines of an order that is not confirmed have an index by seat; making a hold writes nothing more than it did.
An index of holds by their arrays of seats would have to be kept by every hold, and a scan of the outbox knows no seat.
"""

from __future__ import annotations

from booking.domain.errors import SeatUnknownError
from booking.domain.model import MAX_SEAT_NO, SeatRef
from booking.domain.seat_detail import SeatDetail
from booking.services.read_events import read_event
from booking.store import seat_detail_queries
from booking.store.database import Database


async def read_seat(db: Database, event_id: int, seat_no: int) -> SeatDetail:
    """A seat as it stands now, with the newest `HISTORY_LIMIT` items of its history, oldest first.

    `history_complete` is False when there are more.

    Raises:
        EventNotFoundError: there is no such event.
        SeatUnknownError: its plan has no such seat.
        BusyError, AuthorityAwayError: ask again later.
    """
    known = 0 <= seat_no <= MAX_SEAT_NO and 0 <= event_id < 2**31
    detail = await seat_detail_queries.read_seat_detail(db, event_id, seat_no) if known else None
    if detail is None:
        await read_event(db, event_id)
        raise SeatUnknownError("The plan of this event has no such seat.", seats=(SeatRef(seat_no),))
    return detail
