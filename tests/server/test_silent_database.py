"""A database that says nothing any more, or throws sessions out: every call has an answer in time (G3, G5, B21)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import psutil
import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.states import OperationKind
from booking.services import follow_seats, sign_in
from booking.services.check_invariants import check
from booking.services.hold_seats import hold_seats
from booking.store import micro_batches
from booking.store.connection import GENERAL_LIMITS, JOB_LIMITS, Limits
from booking.store.database import Database
from booking.web.seat_tail import SeatTail
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, fan, make_event, till
from tests.server.postgres_proxy import Relay, relay
from tests.server.web_api import PASSWORD
from tests.server.web_process import Running, running

ANSWER_S = 8.0
"""Two seconds by our limits (`test_b21_the_limits_of_whoever_waits_sum_to_two_seconds`), and what a busy machine adds;
far from the ten that a worker's statement may take, and from the silence, which lasts."""
SOON_S = 60.0
BUYERS, TURNS = 6, 4
SHORT_LIMITS = Limits(lock_ms=200, statement_ms=300, idle_in_transaction_ms=300, transaction_ms=300)


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def relayed(dsn: str, short_folder: str) -> AsyncIterator[tuple[Relay, Database]]:
    async with relay(dsn, short_folder) as (relaying, through):
        db = await Database.open(through, limits=SHORT_LIMITS)
        yield relaying, db
        await db.close()


async def timed(call: Awaitable[Any]) -> tuple[float, Any]:
    start = monotonic()
    try:
        answer: Any = await call
    except errors.BookingError as error:
        answer = error
    return monotonic() - start, answer


# ---------------------------------------------------------------- the store alone


async def test_every_trip_ends_when_the_database_falls_silent_and_works_again_when_it_speaks(
    sound_database: Database, relayed: tuple[Relay, Database]
) -> None:
    relaying, db = relayed
    event = await make_event(sound_database)
    desk = Desk(db, till(), event)
    order = await desk.check_out(await desk.hold(10))  # connections of each kind are open
    asker = fan()

    async def write() -> None:
        async with db.transaction() as connection:
            await connection.execute("SELECT 1")

    relaying.silent = True
    results = await asyncio.gather(
        timed(hold_seats(db, asker, event, [1], key="same-key", digest=b"d")),
        timed(desk.check_out(await _hold_elsewhere(sound_database, desk, event))),
        timed(db.fetch("SELECT 1")),
        timed(db.pulse("SELECT 1")),
        timed(write()),
        timed(Database.open(db.dsn)),
    )
    assert all(isinstance(answer, errors.UnavailableError) for _, answer in results), results
    assert all(answer.retry_after_s for _, answer in results[:5])
    assert max(seconds for seconds, _ in results[:5]) < ANSWER_S
    assert db.hold_lanes is not None

    relaying.silent = False
    assert (await hold_seats(db, asker, event, [1], key="same-key", digest=b"d")).value.status == "HELD"
    assert await count(sound_database, "SELECT count(*) FROM holds WHERE idem_key = 'same-key'") == 1
    assert (await db.fetch("SELECT 1 AS one"))[0]["one"] == 1
    await write()
    assert (await desk.pay(order, OperationKind.CASH)).order.status == "CONFIRMED"


async def _hold_elsewhere(database: Database, desk: Desk, event: int) -> Any:
    return await Desk(database, desk.caller, event).hold(11)


async def test_one_silence_is_enough_to_replace_all_connections(database: Database) -> None:
    db = await Database.open(database.dsn, application="stopped", limits=SHORT_LIMITS)
    try:
        await asyncio.gather(*(db.fetch("SELECT pg_sleep(0.05)") for _ in range(4)))
        with stopped(await pids_of(database, "stopped%")) as pids:
            assert len(pids) >= 4
            with pytest.raises(errors.AuthorityAwayError):
                await db.fetch("SELECT 1")
            assert (await db.fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"] not in pids
            async with asyncio.timeout(SHORT_LIMITS.statement_s):
                await asyncio.gather(*(db.fetch("SELECT pg_sleep(0.05)") for _ in range(4)))
    finally:
        await db.close()


async def test_a_long_job_is_not_taken_for_silence(database: Database) -> None:
    db = await Database.open(database.dsn, application="job", limits=SHORT_LIMITS)
    try:
        async with db.transaction(JOB_LIMITS) as connection:
            await connection.execute("SELECT pg_sleep(1.2)")
        assert GENERAL_LIMITS.transaction_s > GENERAL_LIMITS.statement_ms / 1000
    finally:
        await db.close()


async def test_all_who_ask_for_an_event_share_one_reading_and_its_failure(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In line, ten callers of a silent database would wait ten times as long."""
    readings: list[int] = []

    async def read(_: Database, event_id: int) -> None:
        readings.append(event_id)
        await asyncio.sleep(0)
        raise errors.AuthorityAwayError

    monkeypatch.setattr(follow_seats, "read_seats", read)
    tail = SeatTail(database)
    answers = await asyncio.gather(*(tail.feed(7) for _ in range(10)), return_exceptions=True)
    assert {type(answer) for answer in answers} == {errors.AuthorityAwayError}
    assert readings == [7]
    assert tail._loading == {}, "an event that is not there leaves nothing behind"


async def test_a_hold_whose_batch_is_late_is_answered_and_carried_out_all_the_same(
    sound_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = await make_event(sound_database)
    asker = fan()
    monkeypatch.setattr(micro_batches, "ANSWER_WITHIN_S", 0.0)
    with pytest.raises(errors.AuthorityAwayError) as away:
        await hold_seats(sound_database, asker, event, [1], key="k", digest=b"d")
    assert away.value.retry_after_s
    monkeypatch.undo()
    async with asyncio.timeout(SOON_S):
        while not await count(sound_database, "SELECT count(*) FROM holds"):
            await asyncio.sleep(0.01)
    assert (await hold_seats(sound_database, asker, event, [1], key="k", digest=b"d")).replayed


# ---------------------------------------------------------------- the API


class stopped:  # noqa: N801 - reads as a word of the test
    """Processes that are stopped (SIGSTOP) inside the `with`."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids

    def __enter__(self) -> list[int]:
        for pid in self._pids:
            psutil.Process(pid).suspend()
        return self._pids

    def __exit__(self, *_: object) -> None:
        for pid in self._pids:
            if psutil.pid_exists(pid):
                psutil.Process(pid).resume()


async def pids_of(db: Database, names: str) -> list[int]:
    rows = await db.fetch(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE $1 AND datname = current_database()", names
    )
    return [row["pid"] for row in rows]


@pytest.fixture
async def api(dsn: str, tmp_path: Path) -> AsyncIterator[Running]:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        yield api


@asynccontextmanager
async def client_of(api: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=api.url, trust_env=False, timeout=60) as client:
        yield client


async def ask(
    client: httpx.AsyncClient, method: str, path: str, body: object = None, *, token: str = "", key: str = ""
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if method != "GET":
        headers["Idempotency-Key"] = key or str(uuid4())
    return await client.request(method, path, json=body, headers=headers)


async def test_a_stopped_database_is_answered_503_in_time_and_the_key_tells_afterwards(
    sound_database: Database, api: Running
) -> None:
    event = await make_event(sound_database)
    await sign_in.create_staff(sound_database, "carla", "Carla", Role.CLERK, PASSWORD)
    login = {"name": "carla", "password": PASSWORD, "device_id": str(uuid4()), "device_name": "Till"}
    key = str(uuid4())
    async with client_of(api) as client:
        tokens = [(await ask(client, "POST", "/v1/accounts")).json()["access_token"] for _ in range(3)]
        held = (await ask(client, "POST", f"/v1/events/{event}/holds", {"seats": [1]}, token=tokens[0])).json()
        checkout = {"lines": [{"seat_no": 1, "price_type_id": ADULT}], "shown_total_minor": ADULT_PRICE}
        await asyncio.gather(*(client.get("/v1/events") for _ in range(6)))

        async def clocked(call: Awaitable[httpx.Response]) -> tuple[float, httpx.Response]:
            start = monotonic()
            response = await call
            return monotonic() - start, response

        names = ("taquilla serve%", "taquilla seat feed listener")
        with stopped([pid for name in names for pid in await pids_of(sound_database, name)]):
            alive, ready, *answers = await asyncio.gather(
                clocked(client.get("/healthz")),
                clocked(client.get("/readyz")),
                clocked(ask(client, "POST", f"/v1/events/{event}/holds", {"seats": [2]}, token=tokens[1], key=key)),
                clocked(ask(client, "GET", f"/v1/holds/{held['hold_id']}", token=tokens[0])),
                clocked(ask(client, "POST", f"/v1/holds/{held['hold_id']}/checkout", checkout, token=tokens[0])),
                clocked(client.get("/v1/events")),
                clocked(client.get(f"/v1/events/{event}/seats")),
                clocked(ask(client, "POST", "/v1/accounts")),
                clocked(ask(client, "POST", "/v1/staff/login", login)),
            )
            assert (alive[1].status_code, alive[0] < ANSWER_S) == (200, True)
            assert (ready[1].status_code, ready[0] < ANSWER_S) == (503, True), ready
            for seconds, answer in answers:
                assert seconds < ANSWER_S, (answer.request.url, seconds)
                assert answer.status_code < 400 or answer.status_code == 503, answer.text
                assert answer.status_code < 400 or int(answer.headers["Retry-After"]) >= 1
            # New connections can be made, so that the API is well again while the old sessions still hang.
            await until_answered(client, 200, lambda: client.get("/readyz"))
            hold = await until_answered(
                client,
                201,
                lambda: ask(client, "POST", f"/v1/events/{event}/holds", {"seats": [2]}, token=tokens[1], key=key),
            )
            assert hold.json()["status"] == "HELD"
    assert await count(sound_database, f"SELECT count(*) FROM holds WHERE idem_key = '{key}'") == 1


async def until_answered(
    client: httpx.AsyncClient, status: int, call: Callable[[], Awaitable[httpx.Response]]
) -> httpx.Response:
    """Repeat while the answer is 503; anything else must be `status`."""
    async with asyncio.timeout(SOON_S):
        while (answer := await call()).status_code == 503:
            await asyncio.sleep(0.05)
    assert answer.status_code == status, answer.text
    return answer


async def test_one_stopped_lane_costs_a_hold_a_moment_and_not_its_answer(
    sound_database: Database, api: Running
) -> None:
    event = await make_event(sound_database)
    async with client_of(api) as client:
        token = (await ask(client, "POST", "/v1/accounts")).json()["access_token"]
        other = (await ask(client, "POST", "/v1/accounts")).json()["access_token"]
        path = f"/v1/events/{event}/holds"
        assert (await ask(client, "POST", path, {"seats": [1]}, token=other)).status_code == 201
        with stopped(await pids_of(sound_database, "taquilla serve lane")) as pids:
            assert pids
            start = monotonic()
            answer = await ask(client, "POST", path, {"seats": [2]}, token=token)
            assert monotonic() - start < ANSWER_S
            assert answer.status_code == 201, answer.text


# ---------------------------------------------------------------- sessions that are thrown out


@pytest.mark.parametrize(
    "failure",
    [
        asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress"),
        asyncpg.InterfaceError("cannot perform operation: another operation is in progress"),
    ],
    ids=["internal client error", "interface error"],
)
async def test_a_connection_in_an_unknown_state_is_thrown_away_whatever_it_was_used_for(
    database: Database, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """The driver says so when the server's farewell crosses a request. Kept, it would fail the next caller as well."""
    pid = (await database.fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"]
    with pytest.raises(errors.AuthorityAwayError) as away:
        async with database.transaction():
            raise failure
    assert away.value.retry_after_s
    assert (await database.fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"] != pid

    real = asyncpg.Connection.fetch
    broken: list[int] = []

    async def fetch(self: Any, query: str, *args: object) -> Any:
        if not broken:
            broken.append(self.get_server_pid())
            raise failure
        return await real(self, query, *args)

    monkeypatch.setattr(asyncpg.Connection, "fetch", fetch)
    repeated_on = (await database.fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"]
    assert broken
    assert repeated_on != broken[0]


async def test_thrown_out_sessions_cost_at_most_a_503_and_the_same_key_converges(
    dsn: str, database: Database, api: Running
) -> None:
    event = await make_event(database, seats=60)
    seen: Counter[tuple[str, int]] = Counter()
    over = asyncio.Event()

    def answered() -> int:
        return sum(times for (_, status), times in seen.items() if status != 503)

    async def storm() -> None:
        """Each time somebody got through: a machine that takes long to connect anew gets its answers as well."""
        while not over.is_set():
            before = answered()
            await database.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE 'taquilla serve%' AND datname = current_database()"
            )
            await asyncio.sleep(0.08)
            while answered() == before and not over.is_set():
                await asyncio.sleep(0.01)

    async def through(call: Callable[[], Awaitable[httpx.Response]], what: str, *good: int) -> httpx.Response:
        """Repeat with the same key until it is through."""
        async with asyncio.timeout(SOON_S):
            while True:
                answer = await call()
                seen[what, answer.status_code] += 1
                assert answer.status_code in {*good, 503}, (what, answer.text)
                if answer.status_code != 503:
                    return answer

    async def buyer(client: httpx.AsyncClient, seat: int) -> None:
        token = (await through(lambda: ask(client, "POST", "/v1/accounts"), "account", 201)).json()["access_token"]
        for turn in range(TURNS):
            keys = [str(uuid4()) for _ in range(3)]

            def hold(key: str = keys[0]) -> Awaitable[httpx.Response]:
                return ask(client, "POST", f"/v1/events/{event}/holds", {"seats": [seat]}, token=token, key=key)

            held = (await through(hold, "hold", 201)).json()["hold_id"]
            assert (await through(hold, "hold", 201)).json()["hold_id"] == held
            await through(lambda: ask(client, "GET", "/v1/me", token=token), "me", 200)
            if turn < TURNS - 1:
                address = f"/v1/holds/{held}"

                def release(address: str = address, key: str = keys[1]) -> Awaitable[httpx.Response]:
                    return ask(client, "DELETE", address, token=token, key=key)

                assert (await through(release, "release", 200)).json()["status"] == "RELEASED"
                continue
            body = {"lines": [{"seat_no": seat, "price_type_id": ADULT}], "shown_total_minor": ADULT_PRICE}

            def check_out(hold_id: str = held, body: object = body, key: str = keys[2]) -> Awaitable[httpx.Response]:
                return ask(client, "POST", f"/v1/holds/{hold_id}/checkout", body, token=token, key=key)

            order = (await through(check_out, "checkout", 201)).json()["order_id"]
            assert (await through(check_out, "checkout", 201)).json()["order_id"] == order

    async with client_of(api) as client:
        storming = asyncio.create_task(storm())
        await asyncio.gather(*(buyer(client, seat) for seat in range(BUYERS)))
        over.set()
        await storming
    assert {what for what, _ in seen} == {"account", "hold", "me", "release", "checkout"}
    assert await count(database, "SELECT count(*) FROM orders") == BUYERS
    assert await count(database, "SELECT count(*) FROM holds") == BUYERS * TURNS
    assert [breach for breach in (await check(dsn)).breaches if breach.rule != "clock-is-the-servers"] == []
