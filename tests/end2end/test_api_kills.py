"""The API killed between the authority's commit and the buyer's answer: the key finds what was committed (R40)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.end2end.conftest import OpenEvent
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import Process, StackFacts, api_process, check_invariants, kill, until
from tests.end2end.proxies import Address, CommittedStatement, FaultProxy, Hook, HttpAnswer, Tap, Trap

SOCKET = ".s.PGSQL.5432"


async def expect_no_answer(fan: Buyer, event_id: int, seats: list[int], key: str) -> None:
    with pytest.raises(httpx.TransportError):
        await fan.hold(event_id, seats, key=key)


async def prove_that_the_hold_stands(stack: StackFacts, token: str, event_id: int, seats: list[int], key: str) -> None:
    """The same key finds the committed hold at another API; another buyer is refused the seats."""
    async with client(stack.api_url) as http:
        fan, other = Buyer(http, token), await Buyer.new_fan(http)
        refused = await other.hold(event_id, seats)
        assert (refused.status_code, refused.json()["code"]) == (409, "seats-taken")
        again = await fan.hold(event_id, seats, key=key)
        assert again.status_code == 201
        assert again.headers["Idempotent-Replayed"] == "true"
        assert sorted(seat["seat_no"] for seat in again.json()["seats"]) == sorted(seats)
    assert await check_invariants(stack.dsn) == []


async def test_api_dies_after_the_commit_when_its_answer_is_on_the_way(
    stack: StackFacts, open_event: OpenEvent, tmp_path: Path
) -> None:
    seats, key = open_event.take(3), str(uuid4())
    async with api_process(stack.dsn, stack.sandbox_url, tmp_path) as (api, url):
        trap = Trap(killer(lambda: api))
        tap: Callable[[], Tap] = lambda: HttpAnswer(trap, r"POST /v1/events/\d+/holds")  # noqa: E731
        async with (
            FaultProxy(Address(port=httpx.URL(url).port), tap) as proxy,
            client(f"http://127.0.0.1:{proxy.port}") as http,
        ):
            fan = await Buyer.new_fan(http)
            await expect_no_answer(fan, open_event.event_id, seats, key)
        assert trap.sprung.is_set()
        await until(lambda: not api.running, 5, "the API's death")
    await prove_that_the_hold_stands(stack, fan.token, open_event.event_id, seats, key)


async def test_api_dies_after_the_commit_before_it_hears_of_it(
    stack: StackFacts, open_event: OpenEvent, tmp_path: Path
) -> None:
    """PostgreSQL has said `committed`; the bytes never reach the API."""
    assert stack.database_socket is not None
    seats, key = open_event.take(3), str(uuid4())
    found: list[Process] = []
    trap = Trap(killer(lambda: found[0]), armed=False)
    with tempfile.TemporaryDirectory(prefix="taquilla-proxy-") as folder:
        path = Path(folder) / SOCKET
        tap: Callable[[], Tap] = lambda: CommittedStatement(trap, "hold_seats_batch")  # noqa: E731
        async with FaultProxy(Address(path=stack.database_socket / SOCKET), tap, path=path):
            dsn = stack.dsn.split("?")[0] + f"?host={quote(folder, safe='')}"
            async with api_process(dsn, stack.sandbox_url, tmp_path) as (api, url), client(url) as http:
                found.append(api)
                fan = await Buyer.new_fan(http)
                trap.armed = True
                await expect_no_answer(fan, open_event.event_id, seats, key)
                assert trap.sprung.is_set()
                await until(lambda: not api.running, 5, "the API's death")
    await prove_that_the_hold_stands(stack, fan.token, open_event.event_id, seats, key)


def killer(process: Callable[[], Process]) -> Hook:
    """A hook that kills the process."""

    async def hook() -> None:
        kill(process().pid)

    return hook
