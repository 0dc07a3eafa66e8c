"""The controller and real rooms: found, set with a token of its own, found again elsewhere (R20)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from backend_client import wire
from booking.domain.admission_causes import Cause
from booking.domain.caller import Role
from booking.services.service_account import ServiceAccount
from booking.services.sign_in import create_account
from booking.sql import query
from booking.store.database import Database
from booking.workers.admission_worker import Controller
from booking.workers.room_line import RoomLine
from tests.room.controller_desk import Told
from tests.room.room_process import Room, Visitor, room_running
from tests.server.box_office import make_event
from tests.server.web_api import Api, api_over


@asynccontextmanager
async def with_room(database: Database, dsn: str, folder: Path) -> AsyncIterator[tuple[Api, Visitor, int]]:
    event = await make_event(database, 40, admission=True)
    async with api_over(database) as api, room_running(folder, "--dsn", dsn) as room:
        staff = Visitor(room.client, await api.staff(Role.OPS))
        opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
        assert (await staff.call("PUT", f"/v1/rooms/{event}", opening)).status_code == 201
        yield api, staff, event


async def figures_of(staff: Visitor, event: int) -> wire.RoomFigures:
    answer = await staff.call("GET", f"/v1/rooms/{event}")
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=wire.RoomFigures)


async def test_a_room_that_is_killed_and_started_elsewhere_is_found_and_set_again(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """Its settings are durable, its address is new: the controller follows it."""
    folder = tmp_path / "data"
    account = ServiceAccount(database)
    line = RoomLine(account.token)
    controller = Controller(database, account, line, Told(database))
    event = await make_event(database, 40, admission=True)
    async with api_over(database) as api:
        ops = await api.staff(Role.OPS)

        async def steered(room: Room, version: int, rate: int) -> None:
            body = {"expected_version": version, "reason": "test", "mode": "manual", "manual_per_minute": rate}
            assert (await api.call("PUT", f"/v1/events/{event}/admission", body, token=ops)).status_code == 200
            async with asyncio.timeout(20):
                staff = Visitor(room.client, ops)
                while (await figures_of(staff, event)).settings.new_users_per_minute != rate:
                    await controller.once()
                    await asyncio.sleep(0.1)

        async with room_running(folder, "--dsn", dsn) as room:
            opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
            await Visitor(room.client, ops).call("PUT", f"/v1/rooms/{event}", opening)
            await steered(room, 0, 90)
            first = room.process.url
        await controller.once()
        assert not controller.events[event].room.is_there
        async with room_running(folder, "--dsn", dsn) as room:
            assert room.process.url != first
            await steered(room, 1, 40)
    await line.close()


@pytest.mark.parametrize("url", ["http://wait.example.org", "http://10.0.0.7:8080"])
async def test_a_token_goes_nowhere_in_the_clear(url: str) -> None:
    asked: list[httpx.Request] = []

    def hear(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(500)

    line = RoomLine(lambda: "a token", transport=httpx.MockTransport(hear))
    seen = await line.look(url, 1, None)
    assert (asked, seen.is_there) == ([], False)
    assert "neither https" in seen.problem
    refused = await line.look("https://wait.example.org", 1, None)
    assert (len(asked), refused.problem) == (1, "it answered 500")
    assert seen.problem_cause == Cause("room-address-open")
    assert refused.problem_cause == Cause("room-refused", numbers={"status": 500.0})
    await line.close()


async def test_it_finds_a_real_room_and_sets_it_with_a_token_of_its_own(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """`admission_worker.run` as the worker process runs it: the room makes itself known, and logs who set it."""
    from booking.workers import admission_worker

    async with with_room(database, dsn, tmp_path / "data") as (api, staff, event):
        await create_account(database)
        ops = await api.staff(Role.OPS)
        body = {"expected_version": 0, "reason": "test", "mode": "manual", "manual_per_minute": 90}
        assert (await api.call("PUT", f"/v1/events/{event}/admission", body, token=ops)).status_code == 200
        steering = asyncio.create_task(admission_worker.run(database), name="controller")
        try:
            async with asyncio.timeout(20):
                log: list[wire.RoomChange] = []
                while not any(one.who == "controller" for one in log):
                    await asyncio.sleep(0.1)
                    answer = await staff.call("GET", f"/v1/rooms/{event}/changes")
                    log = list(msgspec.json.decode(answer.content, type=wire.RoomChangeList).changes)
        finally:
            steering.cancel()
            await asyncio.gather(steering, return_exceptions=True)
    rooms = await database.fetch(query("list_admission_rooms"))
    assert [row["event_id"] for row in rooms] == [event]
