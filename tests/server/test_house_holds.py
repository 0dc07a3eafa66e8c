"""Seats that the house keeps back (R9): by kind, with a reason, until their time; races with buyers; audit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.control import HouseHold, HouseHoldKind, HouseWish
from booking.domain.errors import (
    BookingError,
    EventStateConflictError,
    HouseHoldNotFoundError,
    InvalidRequestError,
    KeyReusedError,
    SeatsTakenError,
    SeatUnknownError,
)
from booking.domain.model import Hold
from booking.domain.states import OperationKind
from booking.services import house_holds
from booking.services.hold_seats import hold_seats
from booking.services.sweep_expired import sweep_once
from booking.store.control_calls import release_due_house_holds
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, digest_of, fan, make_event, seat_states, till
from tests.server.web_api import Api, api_over, problem, read

FREE, HELD, PAYING, SOLD, BLOCKED = range(5)


async def keep(
    db: Database,
    event_id: int,
    *seats: int,
    kind: HouseHoldKind = HouseHoldKind.PROMOTER,
    release_at: datetime | None = None,
    caller: Caller | None = None,
    key: str | None = None,
) -> HouseHold:
    """Keep seats back, as a supervisor unless it is somebody else."""
    wish = HouseWish(kind, "a guest list", seats, release_at)
    outcome = await house_holds.keep_seats_back(
        db, caller or till(Role.SUPERVISOR), event_id, wish, key=key or str(uuid4()), digest=digest_of(wish)
    )
    return outcome.value


async def release(db: Database, house: HouseHold, *seats: int) -> HouseHold:
    outcome = await house_holds.release_house_hold(
        db, till(Role.SUPERVISOR), house.house_hold_id, seats, "not wanted", key=str(uuid4()), digest=digest_of(seats)
    )
    return outcome.value


async def statuses(db: Database, event_id: int, *seats: int) -> list[int]:
    states = await seat_states(db, event_id)
    return [states[seat][0] for seat in seats]


@pytest.mark.parametrize("kind", list(HouseHoldKind))
async def test_seats_are_kept_back_for_each_kind_of_guest_and_no_buyer_gets_them(
    sound_database: Database, kind: HouseHoldKind
) -> None:
    event_id = await make_event(sound_database)
    house = await keep(sound_database, event_id, 3, 1, 2, kind=kind)
    assert (house.kind, house.reason, [seat.seat_no for seat in house.seats]) == (kind, "a guest list", [1, 2, 3])
    assert house.seats[0].row == "A"
    with pytest.raises(SeatsTakenError) as refused:
        await Desk(sound_database, fan(), event_id).hold(2, 4)
    assert [seat.seat_no for seat in refused.value.seats] == [2]


async def test_it_is_all_or_nothing_and_each_lost_seat_is_named(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    await Desk(sound_database, fan(), event_id).hold(5)
    await Desk(sound_database, till(), event_id).sell(7)
    await keep(sound_database, event_id, 9)
    with pytest.raises(SeatsTakenError) as refused:
        await keep(sound_database, event_id, 4, 5, 6, 7, 8, 9)
    assert [seat.seat_no for seat in refused.value.seats] == [5, 7, 9]
    with pytest.raises(SeatUnknownError) as unknown:
        await keep(sound_database, event_id, 4, 40, 41)
    assert [seat.seat_no for seat in unknown.value.seats] == [40, 41]
    assert await statuses(sound_database, event_id, 4, 6, 8) == [FREE, FREE, FREE]


async def test_two_thousand_seats_are_kept_back_in_one_call(sound_database: Database) -> None:
    event_id = await make_event(sound_database, seats=2_100)
    house = await keep(sound_database, event_id, *range(2_000))
    assert len(house.seats) == 2_000
    assert (
        await count(sound_database, "SELECT count(*) FROM seats WHERE event_id = $1 AND status = 4", event_id) == 2_000
    )
    assert (await release(sound_database, house)).seats == ()


async def test_a_seat_of_an_expired_hold_is_free_for_the_house_with_the_sweeper_stopped(
    sound_database: Database, clock: Clock
) -> None:
    """R5: expiry is in the predicate, for the house as for a buyer."""
    event_id = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event_id)
    await desk.hold(1, 2)
    dead = Desk(sound_database, fan(), event_id)
    await dead.check_out(await dead.hold(3))
    await clock.move(seconds=301)
    house = await keep(sound_database, event_id, 1, 2, 3)
    await sweep_once(sound_database)
    listed = await house_holds.list_house_holds(sound_database, event_id)
    assert listed.house_holds == (house,)
    assert await statuses(sound_database, event_id, 1, 2, 3) == [BLOCKED] * 3


async def test_some_seats_are_released_then_the_rest_and_the_house_hold_has_ended(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    house = await keep(sound_database, event_id, 1, 2, 3)
    some = await release(sound_database, house, 2)
    assert ([seat.seat_no for seat in some.seats], some.released_at) == ([1, 3], None)
    await Desk(sound_database, fan(), event_id).hold(2)
    rest = await release(sound_database, house)
    assert rest.seats == ()
    assert rest.released_at is not None
    again = await release(sound_database, house)
    assert again.released_at == rest.released_at
    assert await statuses(sound_database, event_id, 1, 2, 3) == [FREE, HELD, FREE]


async def test_seats_that_it_does_not_keep_are_named_and_nothing_is_released(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    house = await keep(sound_database, event_id, 1, 2)
    await keep(sound_database, event_id, 3)
    with pytest.raises(SeatUnknownError) as refused:
        await release(sound_database, house, 1, 3, 4)
    assert [seat.seat_no for seat in refused.value.seats] == [3, 4]
    assert await statuses(sound_database, event_id, 1, 2, 3) == [BLOCKED] * 3


async def test_at_the_very_instant_of_its_release_a_buyer_gets_the_seat_with_the_sweeper_stopped(
    sound_database: Database, clock: Clock
) -> None:
    """R5: the release time is in the predicate; before it by a microsecond the seat is the house's."""
    event_id = await make_event(sound_database)
    release_at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    house = await keep(sound_database, event_id, 1, 2, release_at=release_at)
    await clock.stand_at(release_at - timedelta(microseconds=1))
    with pytest.raises(SeatsTakenError):
        await Desk(sound_database, fan(), event_id).hold(1)
    await clock.stand_at(release_at)
    hold = await Desk(sound_database, fan(), event_id).hold(1)
    assert [seat.seat_no for seat in hold.seats] == [1]
    # What is left is tidied; the buyer's seat stays the buyer's.
    assert await release_due_house_holds(sound_database, 10) == 1
    assert await statuses(sound_database, event_id, 1, 2) == [HELD, FREE]
    listed = (await house_holds.list_house_holds(sound_database, event_id)).house_holds
    assert [(one.house_hold_id, one.seats, one.released_at) for one in listed] == [
        (house.house_hold_id, (), release_at)
    ]
    assert await release_due_house_holds(sound_database, 10) == 0


async def test_a_seat_whose_time_has_come_is_kept_back_anew_for_somebody_else(
    sound_database: Database, clock: Clock
) -> None:
    event_id = await make_event(sound_database)
    first = await keep(sound_database, event_id, 1, 2, release_at=await clock.now() + timedelta(minutes=1))
    await clock.move(seconds=61)
    second = await keep(sound_database, event_id, 1, kind=HouseHoldKind.PRESS)
    assert await release_due_house_holds(sound_database, 10) == 1
    assert await statuses(sound_database, event_id, 1, 2) == [BLOCKED, FREE]
    kept = {
        one.house_hold_id: [seat.seat_no for seat in one.seats]
        for one in (await house_holds.list_house_holds(sound_database, event_id)).house_holds
    }
    assert kept == {first.house_hold_id: [], second.house_hold_id: [1]}


async def test_the_sweeper_frees_no_seat_that_another_house_hold_took_over_while_it_looked(
    sound_database: Database, clock: Clock
) -> None:
    """R9: what the sweeper has seen before its locks is a hint; here it stands still between its look and its locks."""
    event_id = await make_event(sound_database)
    due = await keep(sound_database, event_id, 1, 2, release_at=await clock.now() + timedelta(seconds=5))
    await clock.move(seconds=6)
    async with sound_database.transaction() as gate:
        await gate.execute(
            "ALTER FUNCTION seats_of_house_hold(uuid) RENAME TO seats_seen;"
            "CREATE FUNCTION seats_of_house_hold(p_house uuid) RETURNS integer[] LANGUAGE plpgsql AS $$"
            " DECLARE v_seen integer[] := seats_seen(p_house);"
            f" BEGIN IF p_house = '{due.house_hold_id}' THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF;"
            " RETURN v_seen; END $$"
        )
    async with sound_database.transaction() as gate:
        await gate.execute("SELECT pg_advisory_xact_lock(4711)")
        sweeping = asyncio.create_task(release_due_house_holds(sound_database, 10))
        while not await count(
            sound_database, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"
        ):
            await asyncio.sleep(0)
        house = await keep(sound_database, event_id, 1)
    await sweeping
    assert await statuses(sound_database, event_id, 1, 2) == [BLOCKED, FREE]
    with pytest.raises(SeatsTakenError):
        await Desk(sound_database, fan(), event_id).hold(1)
    assert [seat.seat_no for seat in house.seats] == [1]


async def test_a_house_hold_and_a_buyer_on_the_same_seats_one_of_them_wins_whole(
    sound_database: Database, other_database: Database
) -> None:
    """R3: a hundred times; never both, never halves, and one of them each time."""
    event_id = await make_event(sound_database, seats=400, max_per_account=10_000)
    won = {"house": 0, "buyer": 0}
    for first in range(0, 400, 4):
        seats = (first, first + 1, first + 2)
        tries = [
            keep(other_database, event_id, *seats),
            Desk(sound_database, fan(), event_id).hold(*seats[1:], first + 3),
        ]
        outcomes = await asyncio.gather(*(tries if first % 8 else tries[::-1]), return_exceptions=True)
        winners = [one for one in outcomes if not isinstance(one, BaseException)]
        assert len(winners) == 1, outcomes
        assert all(isinstance(one, SeatsTakenError) for one in outcomes if one not in winners)
        won["house" if isinstance(winners[0], HouseHold) else "buyer"] += 1
        expected = [BLOCKED] * 3 + [FREE] if isinstance(winners[0], HouseHold) else [FREE, HELD, HELD, HELD]
        assert await statuses(sound_database, event_id, *range(first, first + 4)) == expected
    assert sum(won.values()) == 100


async def test_a_till_sells_out_of_a_house_hold_that_it_names_and_nobody_else_does(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    house = await keep(sound_database, event_id, 1, 2, 3)
    other = await keep(sound_database, event_id, 4)
    desk = Desk(sound_database, till(), event_id)

    async def take(caller: Caller, named: HouseHold, *seats: int) -> Hold:
        outcome = await hold_seats(
            sound_database, caller, event_id, seats, key=str(uuid4()), digest=digest_of(seats),
            house_hold_id=named.house_hold_id,
        )  # fmt: skip
        return outcome.value

    with pytest.raises(BookingError):
        await take(desk.caller, other, 1, 2)
    with pytest.raises(BookingError):
        await take(fan(), house, 1, 2)
    hold = await take(desk.caller, house, 1, 2)
    await desk.pay(await desk.check_out(hold), OperationKind.CASH)
    rest = await release(sound_database, house)
    assert rest.released_at is not None
    assert await statuses(sound_database, event_id, 1, 2, 3, 4) == [SOLD, SOLD, FREE, BLOCKED]


async def test_the_same_key_makes_one_house_hold_and_another_request_under_it_is_refused(
    sound_database: Database,
) -> None:
    """R6, also for two calls at once."""
    event_id = await make_event(sound_database)
    boss = till(Role.ADMIN)
    twice = await asyncio.gather(*(keep(sound_database, event_id, 1, 2, caller=boss, key="k") for _ in range(2)))
    assert twice[0].house_hold_id == twice[1].house_hold_id
    with pytest.raises(KeyReusedError):
        await keep(sound_database, event_id, 3, caller=boss, key="k")
    assert await count(sound_database, "SELECT count(*) FROM house_holds") == 1


async def test_maps_are_told_of_what_is_kept_back_and_released(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
    house = await keep(sound_database, event_id, 1, 2, release_at=until)
    await release(sound_database, house, 1)
    rows = await sound_database.fetch(
        "SELECT type, seats, seat_states, until FROM outbox WHERE aggregate_id = $1 ORDER BY id", house.house_hold_id
    )
    assert [tuple(row) for row in rows] == [
        ("seats-kept-back", [1, 2], [4 + 3 * 8] * 2, until),
        ("seats-released", [1], [0], None),
    ]


async def test_who_kept_back_and_who_released_is_in_the_audit_log(sound_database: Database, clock: Clock) -> None:
    event_id = await make_event(sound_database)
    boss = Caller.at_till(uuid4(), uuid4(), Role.SUPERVISOR, "Ana Duarte")
    house = await keep(sound_database, event_id, 1, 2, caller=boss, release_at=await clock.now() + timedelta(minutes=5))
    assert house.created_by == "Ana Duarte"
    await release(sound_database, house, 1)
    await clock.move(seconds=301)
    await release_due_house_holds(sound_database, 10)
    rows = await sound_database.fetch(
        "SELECT principal, action, reason, detail FROM audit_log WHERE subject = $1 ORDER BY audit_id",
        str(house.house_hold_id),
    )
    assert [(row["action"], row["reason"], json.loads(row["detail"])["seats"]) for row in rows] == [
        ("house-hold-made", "a guest list", [1, 2]),
        ("house-hold-released", "not wanted", [1]),
        ("house-hold-released", "its time had come", [2]),
    ]
    assert (rows[0]["principal"], json.loads(rows[0]["detail"])["staff_id"]) == (boss.principal, str(boss.staff_id))
    assert rows[2]["principal"] == "authority"


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        (HouseWish(HouseHoldKind.OTHER, "x", ()), "/seats"),
        (HouseWish(HouseHoldKind.OTHER, "x", (1, 1)), "/seats"),
        (HouseWish(HouseHoldKind.OTHER, "x", (-1,)), "/seats"),
        (HouseWish(HouseHoldKind.OTHER, "x", tuple(range(2_001))), "/seats"),
        (HouseWish(HouseHoldKind.OTHER, "x", (1,), datetime(2020, 1, 1, tzinfo=UTC)), "/release_at"),
        (HouseWish(HouseHoldKind.OTHER, "x", (1,), datetime(2099, 1, 1)), "/release_at"),  # noqa: DTZ001 - the fault
        (HouseWish(HouseHoldKind.OTHER, "x\x00", (1,)), "/reason"),
    ],
)
async def test_a_bad_request_names_its_field_and_changes_nothing(
    sound_database: Database, wish: HouseWish, pointer: str
) -> None:
    event_id = await make_event(sound_database)
    with pytest.raises(InvalidRequestError) as refused:
        await house_holds.keep_seats_back(
            sound_database, till(Role.ADMIN), event_id, wish, key="k", digest=digest_of(wish)
        )
    assert [fault.pointer for fault in refused.value.fields] == [pointer]
    assert await count(sound_database, "SELECT count(*) FROM house_holds") == 0
    assert await statuses(sound_database, event_id, 1) == [FREE]


async def test_a_cancelled_event_keeps_nothing_back_and_an_unknown_house_hold_is_not_found(
    sound_database: Database,
) -> None:
    event_id = await make_event(sound_database, status="CANCELLED")
    with pytest.raises(EventStateConflictError):
        await keep(sound_database, event_id, 1)
    with pytest.raises(HouseHoldNotFoundError):
        await house_holds.release_house_hold(sound_database, till(Role.ADMIN), uuid4(), (), "why", key="k", digest=b"")


@pytest.fixture
async def api(sound_database: Database) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def test_a_supervisor_keeps_lists_and_releases_over_http(api: Api) -> None:
    event_id = await make_event(api.db)
    token = await api.staff(Role.SUPERVISOR)
    path = f"/v1/events/{event_id}/house-holds"
    body = wire.HouseHoldRequest(kind=wire.HouseHoldKind.PRESS, reason="critics", seats=(4, 5))
    made = await api.call("POST", path, body, token=token, key="once")
    house = read(made, wire.HouseHold, 201)
    assert (house.created_by, house.released_at) == ("Some supervisor", None)
    again = await api.call("POST", path, body, token=token, key="once")
    assert (again.status_code, again.headers[wire.REPLAYED_HEADER]) == (201, "true")
    listed = read(await api.call("GET", path, token=await api.staff(Role.CLERK)), wire.HouseHoldList)
    assert listed.house_holds == (house,)
    lost = problem(await api.call("POST", path, body, token=token), wire.ErrorCode.SEATS_TAKEN)
    assert [seat.number for seat in lost.seats] == ["5", "6"]
    released = await api.call(
        "POST", f"/v1/house-holds/{house.house_hold_id}/release", wire.HouseHoldRelease(reason="late"), token=token
    )
    assert read(released, wire.HouseHold).seats == ()
    missing = await api.call(
        "POST", f"/v1/house-holds/{uuid4()}/release", wire.HouseHoldRelease(reason="late"), token=token
    )
    problem(missing, wire.ErrorCode.HOUSE_HOLD_NOT_FOUND)
    problem(await api.call("GET", "/v1/events/999/house-holds", token=token), wire.ErrorCode.EVENT_NOT_FOUND)
