"""Crowds on a few seats, through real API processes and through one: one winner, no error outside (B1, B9, G5, G6)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from backend_client import wire
from booking.domain import errors
from booking.domain.errors import BookingError
from booking.domain.model import Hold, OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.services import sign_in
from booking.services.hold_seats import hold_seats, release_hold
from booking.services.orders import cancel_order
from booking.services.take_payment import report_device_result
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, fan, make_event, till
from tests.server.postgres_proxy import Cut, Relay, relay
from tests.server.web_process import running

DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
CLIENTS, CROWD = 50, 2_000


# ---------------------------------------------------------------- through two API processes


@pytest.fixture
async def two_apis(dsn: str, sound_database: Database, tmp_path: Path) -> AsyncIterator[list[httpx.AsyncClient]]:
    limits = httpx.Limits(max_connections=CLIENTS)
    async with AsyncExitStack() as stack:
        apis = [await stack.enter_async_context(running("serve", "--dsn", dsn, folder=tmp_path)) for _ in range(2)]
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=api.url, trust_env=False, timeout=30, limits=limits)
            )
            for api in apis
        ]


async def test_b9_groups_that_overlap_storm_two_api_processes_without_an_error_outside(
    two_apis: list[httpx.AsyncClient], sound_database: Database
) -> None:
    """{A,B}, {B,A}, {A,C}: a wins whole, the others get nothing and are told what was lost; no deadlock, no 500."""
    event_id = await make_event(sound_database, seats=4)
    groups = [(0, 1), (1, 0), (0, 2)]
    for _ in range(4):
        tokens = [(await sign_in.create_account(sound_database)).access_token for _ in range(CLIENTS)]

        async def want(n: int, token: str) -> httpx.Response:
            return await two_apis[n % 2].post(
                f"/v1/events/{event_id}/holds",
                json={"seats": groups[n % 3]},
                headers={"Authorization": f"Bearer {token}", wire.IDEMPOTENCY_KEY_HEADER: str(uuid4())},
            )

        answers = await asyncio.gather(*(want(n, token) for n, token in enumerate(tokens)))
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CLIENTS - 1}
        won = msgspec.json.decode(next(a.content for a in answers if a.status_code == 201), type=wire.Hold)
        taken = {seat.seat_no for seat in won.seats}
        for n, answer in enumerate(answers):
            if answer.status_code == 409:
                problem = msgspec.json.decode(answer.content, type=wire.Problem)
                assert problem.code is wire.ErrorCode.SEATS_TAKEN
                assert {seat.seat_no for seat in problem.seats} == taken & set(groups[n % 3])
        await sound_database.fetch("SELECT release_hold('', true, hold_id) FROM holds WHERE status = 'HELD'")
    assert await count(sound_database, DEADLOCKS) == 0


# ---------------------------------------------------------------- thousands through one process


async def outcome_of(step: Awaitable[Hold]) -> Hold | BookingError:
    """A step's answer, or its refusal; anything else is a failure of the test."""
    try:
        return await step
    except BookingError as error:
        return error


async def test_two_thousand_clients_of_one_process_want_one_seat(sound_database: Database) -> None:
    """Whoever is told that too much waits asks again under the same key, as clients do: nobody stays without a word."""
    event_id = await make_event(sound_database, seats=2)
    await Desk(sound_database, fan(), event_id).hold(1)  # connections and labels are there
    shed = 0

    async def insist(desk: Desk) -> Hold | BookingError:
        nonlocal shed
        key = str(uuid4())
        while isinstance(answer := await outcome_of(desk.hold(0, key=key)), errors.BusyError):
            shed += 1
            await asyncio.sleep(0.05)
        return answer

    start = monotonic()
    answers = await asyncio.gather(*(insist(Desk(sound_database, fan(), event_id)) for _ in range(CROWD)))
    seconds = monotonic() - start
    print(f"{CROWD} clients, one seat: {seconds * 1000:.0f} ms for all answers, {shed} of them asked again")
    assert Counter(type(answer).__name__ for answer in answers) == {"Hold": 1, "SeatsTakenError": CROWD - 1}
    lost = {tuple(seat.seat_no for seat in a.seats) for a in answers if isinstance(a, errors.SeatsTakenError)}
    assert lost == {(0,)}
    assert await count(sound_database, "SELECT count(*) FROM holds") == 2
    assert await count(sound_database, "SELECT version FROM seats WHERE seat_no = 0") == 1


# ---------------------------------------------------------------- answers lost after the commit, or before it


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def relayed(dsn: str, short_folder: str) -> AsyncIterator[tuple[Relay, Database]]:
    async with relay(dsn, short_folder) as (relaying, through):
        db = await Database.open(through)
        yield relaying, db
        await db.close()


Step = Callable[[Database, Desk], Awaitable[Callable[[], Awaitable[Any]]]]
KEY, MARK = "cut-this-key", b"cut-this-key"


async def release(db: Database, desk: Desk) -> Callable[[], Awaitable[Any]]:
    held = await desk.hold(1)
    return lambda: release_hold(db, desk.caller, held.hold_id, key=KEY, digest=b"d")


async def cancel(db: Database, desk: Desk) -> Callable[[], Awaitable[Any]]:
    order = await desk.check_out(await desk.hold(1))
    return lambda: cancel_order(db, desk.caller, order.order_id, "why", False, key=KEY, digest=b"d")


async def report(db: Database, desk: Desk) -> Callable[[], Awaitable[Any]]:
    step = await desk.pay(await desk.check_out(await desk.hold(1)), OperationKind.SALE)
    result = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE)
    return lambda: report_device_result(db, desk.caller, step.operation.operation_id, result, key=KEY, digest=b"d")


async def hold_again(db: Database, desk: Desk) -> Callable[[], Awaitable[Any]]:
    return lambda: hold_seats(db, desk.caller, desk.event_id, [1, 2], key=KEY, digest=b"d")


@pytest.mark.parametrize("after_the_answer", [False, True], ids=["before commit", "after commit"])
@pytest.mark.parametrize("step", [hold_again, release, cancel, report])
async def test_g5_a_step_whose_answer_is_lost_happens_once(
    sound_database: Database, relayed: tuple[Relay, Database], step: Step, after_the_answer: bool
) -> None:
    relaying, db = relayed
    desk = Desk(sound_database, till(), await make_event(sound_database))
    call = await step(db, desk)
    before = await count(sound_database, "SELECT count(*) FROM outbox")
    # A statement is prepared first, with the key nowhere in it: the cut is at the call itself.
    relaying.cut = Cut(MARK, after_the_answer)
    await call()
    assert relaying.cut.done == 1
    after = await count(sound_database, "SELECT count(*) FROM outbox")
    seats = await sound_database.fetch("SELECT seat_no, status, version FROM seats WHERE seat_no < 3")
    await call()
    assert await count(sound_database, "SELECT count(*) FROM outbox") == after > before
    assert await sound_database.fetch("SELECT seat_no, status, version FROM seats WHERE seat_no < 3") == seats
