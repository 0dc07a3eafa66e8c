"""Best available in the authority: one transaction, every rule of a hold, crowds, lost races and their offers (R30)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import numpy as np
import pytest

from backend_client import wire
from booking.domain import errors
from booking.domain.best_available import Block, candidates
from booking.domain.caller import Role
from booking.domain.model import AccessCodeTerms, BestAvailable, OrphanRule
from booking.domain.replay import Outcome
from booking.domain.seating_plan.generators import stadium
from booking.services.access_codes import set_access_code
from booking.services.hold_seats import hold_seats, read_hold, release_hold
from booking.store.block_calls import hold_best_block
from booking.store.block_source import FreeSeats
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, digest_of, fan, make_event, seat_states, till
from tests.server.drawn_event import BUSY_PAUSE_S, BUSY_TRIES, best, drawn_event, event_on, seats_of
from tests.server.web_api import api_over, problem, read
from tests.unit.seat_rows import plan_of

CALL = "booking.services.best_available.hold_best_block"


async def blocks_left(db: Database, event: int, size: int) -> tuple[Block, ...]:
    """Blocks that the true states would still allow."""
    row = await db.blocks.event(event)
    assert row is not None
    plan = await db.blocks.plan(row)
    free = await db.blocks.true_free_seats(event)
    return candidates(plan, free, BestAvailable(size), row.orphan_rule)


async def no_view(event_id: int) -> FreeSeats | None:
    """A program that has no view of the seats."""
    del event_id
    return None


# ---------------------------------------------------------------- crowds


async def test_two_hundred_at_once_all_win_while_stock_is_there(
    sound_database: Database, other_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes; and most win at their first call, because they begin at blocks of their own."""
    event = await event_on(sound_database, stadium(12_000))
    asked: list[object] = []
    real = hold_best_block

    async def counted(*args: Any) -> Any:
        asked.append(args)
        return await real(*args)

    monkeypatch.setattr(CALL, counted)
    sides = [sound_database, other_database]
    outcomes = await asyncio.gather(*(best(sides[n % 2], event, BestAvailable(1 + n % 6)) for n in range(200)))
    taken = Counter(seat for outcome in outcomes for seat in seats_of(outcome.value))
    assert max(taken.values()) == 1
    assert len(taken) == sum(1 + n % 6 for n in range(200))
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1") == len(taken)
    for outcome in outcomes:
        seats = seats_of(outcome.value)
        assert seats == list(range(seats[0], seats[0] + len(seats)))
        assert len({seat.row for seat in outcome.value.seats}) == 1
    print(f"{len(asked)} calls for 200 buyers")
    assert len(asked) <= 220


async def test_two_hundred_over_http_all_win(sound_database: Database) -> None:
    """Through the API, whose own view of the seats is always a little late: no 500, no seat twice."""
    event = await event_on(sound_database, stadium(12_000))
    async with api_over(sound_database) as api:
        tokens = [await api.fan() for _ in range(200)]

        async def buy(count: int, token: str) -> httpx.Response:
            wish = {"best_available": {"count": count}}
            answer = await api.call("POST", f"/v1/events/{event}/holds", wish, token=token, key="k")
            for _ in range(BUSY_TRIES):
                if answer.status_code == 503:
                    await asyncio.sleep(BUSY_PAUSE_S)
                    answer = await api.call("POST", f"/v1/events/{event}/holds", wish, token=token, key="k")
            return answer

        answers = await asyncio.gather(*(buy(1 + n % 4, token) for n, token in enumerate(tokens)))
    holds = [read(answer, wire.Hold, 201) for answer in answers]
    taken = [seat.seat_no for hold in holds for seat in hold.seats]
    assert len(taken) == len(set(taken)) == sum(1 + n % 4 for n in range(200))
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1") == len(taken)


@pytest.mark.parametrize("rule", OrphanRule)
async def test_a_crowd_sells_the_house_out_and_the_rest_are_told(sound_database: Database, rule: OrphanRule) -> None:
    event = await make_event(sound_database, seats=120, orphan_rule=str(rule))
    outcomes = await asyncio.gather(
        *(best(sound_database, event, BestAvailable(2)) for _ in range(70)), return_exceptions=True
    )
    lost = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert {type(error) for error in lost} == {errors.NoBlockLeftError}
    sold = await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1")
    assert sold == 2 * (70 - len(lost)) >= 84
    blocks = await blocks_left(sound_database, event, 2)
    assert blocks == (), "somebody was told that none is left"


async def test_b9_best_available_against_hand_picked_seats(sound_database: Database) -> None:
    """Everybody wants the same row, some by hand: nobody gets part of what they wanted, and no seat goes twice."""
    event = await make_event(sound_database, seats=20)
    steps = [best(sound_database, event, BestAvailable(3)) for _ in range(10)]
    steps += [
        hold_seats(sound_database, fan(), event, seats, key=str(uuid4()), digest=digest_of(seats))
        for seats in ([8, 9], [9, 10], [10, 11], [2, 3], [3, 4])
    ]
    outcomes = await asyncio.gather(*steps, return_exceptions=True)
    held = [seats_of(outcome.value) for outcome in outcomes if isinstance(outcome, Outcome)]
    refused = [outcome for outcome in outcomes if not isinstance(outcome, Outcome)]
    assert all(isinstance(error, (errors.SeatsTakenError, errors.NoBlockLeftError)) for error in refused), refused
    taken = [seat for seats in held for seat in seats]
    assert len(taken) == len(set(taken))
    assert {len(seats) for seats in held} <= {2, 3}
    states = await seat_states(sound_database, event)
    assert sorted(taken) == sorted(seat for seat, (status, _, _) in states.items() if status == 1)


# ---------------------------------------------------------------- the rules of a hold


async def test_the_same_key_gives_the_same_block_again(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, seats=20)
    caller, key = fan(), str(uuid4())
    first = await best(sound_database, event, BestAvailable(4), caller, key=key)
    again = await asyncio.gather(
        *(best(sound_database, event, BestAvailable(4), caller, key=key) for _ in range(5))
    )  # fmt: skip
    assert not first.replayed
    assert all(one.replayed and one.value.hold_id == first.value.hold_id for one in again)
    while await count(sound_database, "SELECT count(*) FROM seats WHERE status = 0"):
        await best(sound_database, event, BestAvailable(1))
    await clock.move(seconds=301)
    late = await best(sound_database, event, BestAvailable(4), caller, key=key)
    assert late.replayed
    assert (late.value.status, seats_of(late.value)) == ("EXPIRED", seats_of(first.value))
    with pytest.raises(errors.KeyReusedError):
        await best(sound_database, event, BestAvailable(3), caller, key=key)


async def test_one_key_asked_twice_at_once_is_one_hold(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database, seats=200)
    caller, key = fan(), str(uuid4())
    outcomes = await asyncio.gather(
        *(best(db, event, BestAvailable(2), caller, key=key) for db in [sound_database, other_database] * 10)
    )
    assert len({outcome.value.hold_id for outcome in outcomes}) == 1
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1


async def test_limits_are_those_of_every_hold(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=40, max_per_account=3)
    caller = fan()
    with pytest.raises(errors.AccountLimitError):
        await best(sound_database, event, BestAvailable(4), caller)
    await best(sound_database, event, BestAvailable(3), caller)
    with pytest.raises(errors.OpenHoldExistsError):
        await best(sound_database, event, BestAvailable(1), caller)
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status <> 0") == 3


async def test_only_an_event_on_sale_has_a_best_seat(sound_database: Database) -> None:
    paused = await make_event(sound_database, seats=4, status="PAUSED")
    with pytest.raises(errors.EventNotOnSaleError):
        await best(sound_database, paused, BestAvailable(1))
    with pytest.raises(errors.EventNotFoundError):
        await best(sound_database, paused + 1, BestAvailable(1))
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


async def test_expired_holds_and_dead_sales_are_free_with_no_sweeper(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, seats=4)
    await Desk(sound_database, fan(), event).hold(0, 1)
    desk = Desk(sound_database, till(), event)
    await desk.check_out(await desk.hold(2, 3))
    with pytest.raises(errors.NoBlockLeftError):
        await best(sound_database, event, BestAvailable(1))
    await clock.move(seconds=3_600)
    assert seats_of((await best(sound_database, event, BestAvailable(4))).value) == [0, 1, 2, 3]


async def test_what_is_not_there_is_said_in_words(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["...", "."])
    with pytest.raises(errors.NoBlockLeftError, match="No 4 seats beside each other are left; 3 beside each other are"):
        await best(sound_database, event, BestAvailable(4))
    await best(sound_database, event, BestAvailable(3))
    with pytest.raises(errors.NoBlockLeftError, match="single seats are"):
        await best(sound_database, event, BestAvailable(2))
    with pytest.raises(errors.NoBlockLeftError, match="No seat is left where you asked for them"):
        await best(sound_database, event, BestAvailable(1, accessible=1))
    await best(sound_database, event, BestAvailable(1))
    with pytest.raises(errors.NoBlockLeftError, match=r"No 2 seats beside each other are left\.$"):
        await best(sound_database, event, BestAvailable(2))


# ---------------------------------------------------------------- the choice


async def test_filters_and_accessible_places(sound_database: Database) -> None:
    event = await event_on(sound_database, plan_of(["1111", "2222"], ["AC..CA", "3333"]))
    wishes = {
        BestAvailable(2): [2, 3],
        BestAvailable(2, categories=(2,)): [6, 7],
        BestAvailable(2, sections=(1,)): [10, 11],
        BestAvailable(2, sections=(1,), accessible=1): [8, 9],
        BestAvailable(2, categories=(3, 2), sections=(1,)): [15, 16],
    }
    for wish, expected in wishes.items():
        assert seats_of((await best(sound_database, event, wish)).value) == expected, wish
    with pytest.raises(errors.NoBlockLeftError):
        await best(sound_database, event, BestAvailable(1, categories=(0,), sections=(0,)))


async def test_b18_a_category_or_section_that_the_plan_has_not_is_named(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["...."])
    wish = BestAvailable(2, categories=(0, 4), sections=(7,))
    with pytest.raises(errors.InvalidRequestError) as caught:
        await best(sound_database, event, wish)
    assert [field.pointer for field in caught.value.fields] == [
        "/best_available/categories/1",
        "/best_available/sections/0",
    ]
    assert await count(sound_database, "SELECT count(*) FROM account_limits") == 0


@pytest.mark.parametrize("value", ["-1", "0", "1.5", '"1"', "true", "null", "1e9", "9223372036854775808"])
async def test_b18_a_count_of_the_wrong_kind_writes_no_row(sound_database: Database, value: str) -> None:
    event = await make_event(sound_database, seats=4)
    async with api_over(sound_database) as api:
        body = b'{"best_available":{"count":%s}}' % value.encode()
        refusal = await api.call("POST", f"/v1/events/{event}/holds", body, token=await api.fan())
    fields = problem(refusal, wire.ErrorCode.INVALID_REQUEST).fields
    assert [field.pointer for field in fields] == ["/best_available/count"]
    assert await count(sound_database, "SELECT count(*) FROM account_limits") == 0


async def test_a_view_that_is_late_costs_a_second_look(sound_database: Database) -> None:
    """The view says that all is free; the database decides, and the true states are read once."""
    event = await make_event(sound_database, seats=200)
    await Desk(sound_database, till(), event).hold(199)
    await sound_database.fetch("UPDATE events SET max_open_holds_till = 1000 WHERE event_id = $1", event)
    for first in range(0, 198, 6):
        await Desk(sound_database, till(), event).hold(*range(first, first + 6))

    async def late(event_id: int) -> FreeSeats:
        assert event_id == event
        return np.ones(200, np.bool_)

    sound_database.blocks.live_free = late
    assert seats_of((await best(sound_database, event, BestAvailable(1))).value) == [198]
    with pytest.raises(errors.NoBlockLeftError):
        await best(sound_database, event, BestAvailable(1))


async def test_a_view_of_another_plan_is_not_used(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=4)

    async def other(event_id: int) -> FreeSeats:
        return np.ones(event_id + 1_000, np.bool_)

    sound_database.blocks.live_free = other
    assert seats_of((await best(sound_database, event, BestAvailable(4))).value) == [0, 1, 2, 3]
    sound_database.blocks.live_free = no_view
    with pytest.raises(errors.NoBlockLeftError):
        await best(sound_database, event, BestAvailable(1))


async def test_a_choice_for_another_plan_is_made_again(
    sound_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan changes between the choice and the call: seat numbers of the old plan mean other seats now."""
    event = await make_event(sound_database, seats=4)
    bigger = await make_event(sound_database, seats=40)
    real = hold_best_block

    async def after_the_change(*args: Any) -> Any:
        await sound_database.fetch(
            "UPDATE events e SET plan_id = o.plan_id, plan_version = o.plan_version"
            "  FROM events o WHERE e.event_id = $1 AND o.event_id = $2",
            event, bigger,
        )  # fmt: skip
        await sound_database.fetch(
            "INSERT INTO seats (event_id, seat_no) SELECT $1, s FROM generate_series(4, 39) AS s"
            " ON CONFLICT DO NOTHING",
            event,
        )
        return await real(*args)

    monkeypatch.setattr(CALL, after_the_change)
    assert seats_of((await best(sound_database, event, BestAvailable(4))).value) == [8, 9, 10, 11]


# ---------------------------------------------------------------- locks


async def test_a_block_that_somebody_has_locked_is_passed_by(sound_database: Database, dsn: str) -> None:
    event = await make_event(sound_database, seats=40)
    other = await asyncpg.connect(dsn)
    try:
        async with other.transaction():
            await other.execute("SELECT lock_seats($1, '{9}')", event)
            held = await best(sound_database, event, BestAvailable(2))
            assert 9 not in seats_of(held.value)
            free = await other.fetch(
                "SELECT seat_no FROM seats WHERE event_id = $1 AND seat_no <> ALL ($2) FOR NO KEY UPDATE NOWAIT",
                event, seats_of(held.value),
            )  # fmt: skip
            assert len(free) == 38, "a try that failed left a lock behind"
    finally:
        await other.close()


async def test_b17_a_code_that_others_have_locked_is_waited_for_with_no_seat_in_hand(
    sound_database: Database, dsn: str
) -> None:
    """The locking rules: a code comes before seats. Hand-picked holds with that code wait for seats: a circle else."""
    event = await make_event(sound_database, seats=4)
    terms = AccessCodeTerms("friends", 6, max_uses=2)
    await set_access_code(sound_database, till(Role.SUPERVISOR), event, terms, key=str(uuid4()), digest=b"")
    other, watcher = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    try:
        async with other.transaction():
            await other.execute("SELECT FROM access_codes WHERE code = 'friends' FOR NO KEY UPDATE")
            asked = asyncio.create_task(
                hold_seats(
                    sound_database, fan(), event, (), key=str(uuid4()), digest=b"",
                    best_available=BestAvailable(2), access_code="friends",
                )
            )  # fmt: skip
            while not await watcher.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                assert not asked.done(), asked
                await asyncio.sleep(0)
            free = await other.fetch("SELECT FROM seats WHERE event_id = $1 FOR NO KEY UPDATE SKIP LOCKED", event)
            assert len(free) == 4
        assert len((await asked).value.seats) == 2
    finally:
        await other.close()
        await watcher.close()


async def test_an_own_dead_sale_that_others_have_locked_is_waited_for_with_no_seat_in_hand(
    sound_database: Database, dsn: str, clock: Clock
) -> None:
    """The locking rules: orders come before seats. Who ends that sale for its seat may want one of the block, too."""
    event = await make_event(sound_database, seats=4)
    desk = Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(3))
    await clock.move(seconds=3_600)
    other, watcher = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    try:
        async with other.transaction():
            await other.execute("SELECT FROM orders WHERE order_id = $1 FOR NO KEY UPDATE", order.order_id)
            asked = asyncio.create_task(best(sound_database, event, BestAvailable(2), caller=desk.caller))
            while not await watcher.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                assert not asked.done(), asked
                await asyncio.sleep(0)
            free = await other.fetch("SELECT FROM seats WHERE event_id = $1 FOR NO KEY UPDATE SKIP LOCKED", event)
            assert len(free) == 4
        assert len(seats_of((await asked).value)) == 2
    finally:
        await other.close()
        await watcher.close()


@pytest.mark.parametrize("outcome", ["rollback", "commit"])
async def test_the_last_block_is_waited_for(sound_database: Database, dsn: str, outcome: str) -> None:
    event = await make_event(sound_database, seats=2)
    other = await asyncpg.connect(dsn)
    watcher = await asyncpg.connect(dsn)
    try:
        transaction = other.transaction()
        await transaction.start()
        await other.execute(
            "UPDATE seats SET status = 4, holder = 3, version = version + 1 WHERE event_id = $1 AND seat_no = 1", event
        )
        asked = asyncio.create_task(best(sound_database, event, BestAvailable(2)))
        while not await watcher.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            assert not asked.done(), asked
            await asyncio.sleep(0)
        await (transaction.rollback() if outcome == "rollback" else transaction.commit())
        if outcome == "rollback":
            assert seats_of((await asked).value) == [0, 1]
        else:
            with pytest.raises(errors.NoBlockLeftError, match="single seats are"):
                await asked
            await watcher.execute("UPDATE seats SET status = 0, holder = 0, version = version + 1 WHERE status = 4")
    finally:
        await other.close()
        await watcher.close()


async def test_a_block_is_released_and_paid_like_every_hold(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=20)
    desk = Desk(sound_database, till(), event)
    held = (await best(sound_database, event, BestAvailable(2), desk.caller)).value
    order = await desk.check_out(held)
    assert [line.seat.seat_no for line in order.lines] == seats_of(held)
    caller = fan()
    other = (await best(sound_database, event, BestAvailable(2), caller)).value
    released = await release_hold(sound_database, caller, other.hold_id, key=str(uuid4()), digest=b"")
    assert released.value.status == "RELEASED"
    assert (await read_hold(sound_database, caller, other.hold_id)).status == "RELEASED"
    assert seats_of((await best(sound_database, event, BestAvailable(2))).value) == seats_of(other)
