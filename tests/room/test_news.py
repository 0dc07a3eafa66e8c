"""Who waits for news, and how soon he may come again: only the room knows whom it has kept, so it says so (R19)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from booking.room import fan_routes
from booking.room.callers import Callers
from booking.room.calls import Services
from booking.room.house import House
from booking.room.settings import Queueing, Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.web import RoomApplication
from tests.room.people import EVENT, OPENS_AT, Clock
from tests.room.room_process import KEY_ID, SECRET, Visitor, access_token


@pytest.fixture
async def fan(tmp_path: Path) -> AsyncIterator[Visitor]:
    """Somebody in the line of a room that opens in a minute."""
    store = SqliteStore(tmp_path / "room.sqlite")
    house = House(store, await store.load(), clock=Clock())
    await house.prepare()
    house.account_keys = {KEY_ID: SECRET}
    await house.open_room(EVENT, OPENS_AT, Settings(queueing=Queueing.FIFO), "ops", "test")
    app = RoomApplication(Services(house, Callers(house)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://room") as client:
        fan = Visitor(client, access_token())
        await fan.join()
        yield fan
    await house.stop()


async def test_only_who_was_kept_for_news_may_come_again_at_once(fan: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd that comes again soon because its answers were slow would be what makes them slow."""
    tag = (await fan.look()).headers["ETag"]
    kept = await fan.look(wait=1, If_None_Match=tag)
    assert (kept.status_code, kept.headers["Retry-After"]) == (304, "2")
    monkeypatch.setattr(fan_routes, "MOST_WAITING", 0)
    full = await fan.look(wait=1, If_None_Match=tag)
    assert full.status_code == 304
    assert int(full.headers["Retry-After"]) >= 10
