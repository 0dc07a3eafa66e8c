"""Who has a seat, and what it has been through."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.errors import SaleNotReadyError
from backend_client.wire import SeatDetail


async def read_seat(desk: Desk, seat_no: int) -> SeatDetail:
    """Ask the booking system about a seat of the open event. Nothing is kept: it is true when it is answered.

    Raises:
        SaleNotReadyError: no event is open.
        BookingClientError: it cannot be read.
    """
    event = desk.store.event
    if event is None:
        raise SaleNotReadyError("no event is open")
    return await desk.client.seat_detail(event.event_id, seat_no)
