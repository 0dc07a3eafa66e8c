"""Finding out whether the booking system answers while nothing else is asked of it."""

from __future__ import annotations

from app.actions.desk import Desk
from app.core.store import Connection
from backend_client.errors import BookingClientError


def is_looking_worthwhile(desk: Desk) -> bool:
    """Nobody works here, or the last call was not answered: no other call will tell soon that the system is back."""
    return desk.store.session is None or desk.store.connection is not Connection.ONLINE


async def look_for_server(desk: Desk) -> bool:
    """Ask once whether the booking system answers; the store's connection, and a feed that waits, hear the same."""
    try:
        await desk.client.look()
    except BookingClientError:
        return False
    return True
