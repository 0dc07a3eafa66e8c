"""The bot check: asked of who joins, never of who is in the queue; a silent service lets nobody in by itself (R21)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pytest

from backend_client import wire
from booking.domain.errors import BotCheckFailedError, BusyError
from booking.room.bot_check import SiteVerify
from booking.room.callers import Callers
from booking.room.calls import Services
from booking.room.house import House
from booking.room.settings import Queueing, Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.web import RoomApplication
from tests.room.people import EVENT, OPENS_AT, Clock
from tests.room.room_process import KEY_ID, SECRET, Visitor, access_token, refused, status_of


class FakeSite:
    """A siteverify service that knows one good proof."""

    def __init__(self) -> None:
        self.forms: list[dict[str, list[str]]] = []
        self.answer: httpx.Response | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        form = parse_qs(request.content.decode())
        self.forms.append(form)
        return self.answer or httpx.Response(200, json={"success": form["response"] == ["good"], "hostname": "x"})


@pytest.fixture
def site() -> FakeSite:
    return FakeSite()


@pytest.fixture
async def check(site: FakeSite) -> AsyncIterator[SiteVerify]:
    check = SiteVerify("https://checks.example/siteverify", "the secret", transport=httpx.MockTransport(site))
    yield check
    await check.close()


async def test_the_service_is_asked_with_secret_proof_and_address(check: SiteVerify, site: FakeSite) -> None:
    await check.check("good", "192.0.2.7")
    assert site.forms == [{"secret": ["the secret"], "response": ["good"], "remoteip": ["192.0.2.7"]}]
    for proof in ("bad", ""):
        with pytest.raises(BotCheckFailedError):
            await check.check(proof, None)
    assert len(site.forms) == 2


@pytest.mark.parametrize(
    "answer", [httpx.Response(500), httpx.Response(200, text="<html>"), httpx.Response(200, json={})]
)
async def test_a_service_that_says_nothing_lets_nobody_in(
    check: SiteVerify, site: FakeSite, answer: httpx.Response
) -> None:
    site.answer = answer
    with pytest.raises(BusyError):
        await check.check("good", None)


async def test_who_joins_is_checked_once(check: SiteVerify, site: FakeSite, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "room.sqlite")
    house = House(store, await store.load(), clock=Clock())
    await house.prepare()
    house.account_keys = {KEY_ID: SECRET}
    await house.open_room(EVENT, OPENS_AT, Settings(queueing=Queueing.FIFO, bot_check=True), "ops", "test")
    app = RoomApplication(Services(house, Callers(house), check))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://room") as client:
        fan, machine = Visitor(client, access_token()), Visitor(client, access_token())
        refused(await machine.join(bot_proof="bad"), wire.ErrorCode.BOT_CHECK_FAILED)
        refused(await machine.join(), wire.ErrorCode.BOT_CHECK_FAILED)
        assert status_of(await fan.join(bot_proof="good")).ahead == 0
        site.answer = httpx.Response(500)
        assert status_of(await fan.join()).ahead == 0
        assert status_of(await fan.look()).ahead == 0
        refused(await machine.join(bot_proof="good"), wire.ErrorCode.BUSY)
    assert len(house.hosted(EVENT).room.places) == 1
    await house.stop()
