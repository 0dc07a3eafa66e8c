"""No single seat is orphaned: strict, lenient, off; under locks, also when two holds of one row meet (B9)."""

from __future__ import annotations

import asyncio
import random
from uuid import uuid4

import asyncpg
import numpy as np
import pytest

from booking import sql
from booking.domain import errors
from booking.domain.errors import BookingError
from booking.domain.model import BestAvailable, OrphanRule
from booking.domain.orphans import orphans_of
from booking.domain.seating_plan.columns import columns_of_plan, part_starts
from booking.domain.seating_plan.generators import small_hall
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from booking.services.hold_seats import hold_seats
from booking.services.import_plan import import_plan
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, digest_of, fan, make_event, till
from tests.server.drawn_event import ZONE, drawn_event, event_on, patient
from tests.unit.seat_rows import blocks_of, plan_of

STRICT, LENIENT, OFF = OrphanRule.STRICT, OrphanRule.LENIENT, OrphanRule.OFF


async def singles(db: Database, event: int) -> list[int]:
    """Free seats with no free neighbour in their row part, as the plan has it."""
    row = await db.blocks.event(event)
    assert row is not None
    plan = await db.blocks.plan(row)
    free = await db.blocks.true_free_seats(event)
    found = []
    for seat in np.flatnonzero(free).tolist():
        before = seat > 0 and free[seat - 1] and not plan.starts_part[seat]
        behind = seat + 1 < len(free) and free[seat + 1] and not plan.starts_part[seat + 1]
        if not (before or behind or plan.accessible[seat]):
            found.append(seat)
    return found


# ---------------------------------------------------------------- the rule


async def test_a_strict_event_refuses_by_name_what_would_be_left_single(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["... ....", "..."], STRICT)
    desk = Desk(sound_database, fan(), event)
    with pytest.raises(errors.SeatOrphanedError) as caught:
        await desk.hold(1)
    assert [(seat.seat_no, seat.row) for seat in caught.value.seats] == [(0, "10"), (2, "10")]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0
    with pytest.raises(errors.SeatOrphanedError) as caught:
        await desk.hold(0, 1)
    assert [seat.seat_no for seat in caught.value.seats] == [2]
    assert [seat.seat_no for seat in caught.value.offer] == [3, 4], "the nearest two that leave none single"
    assert [seat.seat_no for seat in (await desk.hold(2, 3, 4)).seats] == [2, 3, 4]
    assert await singles(sound_database, event) == []


async def test_a_lenient_event_refuses_only_what_could_be_avoided(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["...", "......"], LENIENT)
    assert len((await Desk(sound_database, fan(), event).hold(0, 1)).seats) == 2, "any two of three leave one"
    with pytest.raises(errors.SeatOrphanedError):
        await Desk(sound_database, fan(), event).hold(4, 5)
    await Desk(sound_database, fan(), event).hold(3, 4)
    assert await singles(sound_database, event) == [2]


async def test_without_the_rule_any_choice_is_right(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["..."])
    await Desk(sound_database, fan(), event).hold(1)
    assert await singles(sound_database, event) == [0, 2]


async def test_an_expired_neighbour_counts_as_free(sound_database: Database, clock: Clock) -> None:
    event = await drawn_event(sound_database, ["....."], STRICT)
    await Desk(sound_database, fan(), event).hold(3, 4)
    with pytest.raises(errors.SeatOrphanedError):
        await Desk(sound_database, fan(), event).hold(0, 1)
    await clock.move(seconds=3_600)
    assert len((await Desk(sound_database, fan(), event).hold(0, 1)).seats) == 2


async def test_tills_are_refused_as_well_and_a_replay_never_is(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["...."], STRICT)
    desk, key = Desk(sound_database, till(), event), str(uuid4())
    with pytest.raises(errors.SeatOrphanedError):
        await desk.hold(1)
    first = await desk.hold(0, 1, key=key)
    await desk.hold(2, 3)
    again = await hold_seats(sound_database, desk.caller, event, (0, 1), key=key, digest=digest_of((0, 1)))
    assert again.replayed
    assert again.value.hold_id == first.hold_id


async def test_the_database_and_the_domain_say_the_same(sound_database: Database) -> None:
    """Many states and choices drawn at random, compared in one query for each rule."""
    words = ["..........", "A.C. ....R", ". .. ...", "....AA....", "."]
    plan = blocks_of(*words)
    event = await drawn_event(sound_database, words)
    chance = random.Random(6)
    refused = 0
    for rule in OrphanRule:
        await sound_database.fetch("UPDATE events SET orphan_rule = $2 WHERE event_id = $1", event, str(rule))
        for _ in range(40):
            free = np.array([chance.random() < 0.7 for _ in range(plan.seat_count)])
            free[0] = True
            await sound_database.fetch(
                "UPDATE seats s SET status = CASE WHEN ($2::boolean[])[s.seat_no + 1] THEN 0 ELSE 4 END,"
                " holder = CASE WHEN ($2::boolean[])[s.seat_no + 1] THEN 0 ELSE 3 END WHERE event_id = $1",
                event, free.tolist(),
            )  # fmt: skip
            open_seats = np.flatnonzero(free).tolist()
            picks = [chance.sample(open_seats, min(len(open_seats), chance.randint(1, 4))) for _ in range(20)]
            picks += [[seat, seat + 1] for seat in open_seats if seat + 1 in open_seats]
            rows = await sound_database.fetch(
                "SELECT orphans_of($1, ARRAY(SELECT jsonb_array_elements_text(p)::integer)) AS orphans"
                " FROM jsonb_array_elements($2::text::jsonb) WITH ORDINALITY AS a (p, n) ORDER BY n",
                event, str(picks),
            )  # fmt: skip
            for pick, row in zip(picks, rows, strict=True):
                expected = list(orphans_of(rule, free, plan.part_no, plan.accessible, pick))
                assert row["orphans"] == expected, (rule, pick, np.flatnonzero(~free).tolist())
                refused += bool(expected)
    assert refused > 500
    await sound_database.fetch("UPDATE seats SET status = 0, holder = 0")


# ---------------------------------------------------------------- races


async def test_two_holds_cannot_leave_a_seat_single_between_them(
    sound_database: Database, other_database: Database
) -> None:
    """Seats 2 and 4 are each right alone; together they leave 3. Two processes, at one moment, row by row."""
    event = await make_event(sound_database, seats=600, orphan_rule="strict", max_open_holds_till=1_000)

    async def race(first: int) -> None:
        barrier = asyncio.Barrier(2)

        async def want(db: Database, *seats: int) -> str:
            desk, key = Desk(db, till(), event), str(uuid4())
            await barrier.wait()
            try:
                await patient(lambda: desk.hold(*seats, key=key))
            except BookingError as error:
                return error.code
            return ""

        codes = await asyncio.gather(
            want(sound_database, first + 1, first + 2), want(other_database, first + 4, first + 5)
        )
        assert sorted(codes) == ["", "seat-orphaned"], codes

    # Seat 0 of each row is gone, so that 1 and 2 leave nothing behind on their left.
    for first in range(0, 600, 20):
        await sound_database.fetch(
            "UPDATE seats SET status = 4, holder = 3 WHERE event_id = $1 AND seat_no = $2", event, first
        )
    for start in range(0, 600, 120):
        await asyncio.gather(*(race(first) for first in range(start, start + 120, 20)))
    assert await singles(sound_database, event) == []
    assert await count(sound_database, "SELECT count(*) FROM holds") == 30
    await sound_database.fetch("UPDATE seats SET status = 0, holder = 0 WHERE status = 4")


async def test_the_second_waits_for_the_seat_between_and_is_refused(sound_database: Database, dsn: str) -> None:
    """The interleaving itself: the first has taken its seats and not committed when the second asks."""
    event = await drawn_event(sound_database, ["......"], STRICT)
    first, watcher = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    try:
        transaction = first.transaction()
        await transaction.start()
        taken = await first.fetchrow(
            "SELECT * FROM hold_seats_batch(ARRAY[$1::integer], ARRAY['till:x'], ARRAY['till'], ARRAY['k'],"
            " ARRAY['d'::bytea], ARRAY[gen_random_uuid()], ARRAY[NULL::uuid], ARRAY[NULL::uuid],"
            " ARRAY[1], ARRAY[2], ARRAY[0, 1], true, false)",
            event,
        )
        assert taken is not None
        assert taken["code"] == ""
        second = asyncio.create_task(Desk(sound_database, fan(), event).hold(3, 4, 5))
        while not await watcher.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            assert not second.done(), "nobody waited for the seat between"
            await asyncio.sleep(0)
        await transaction.commit()
        with pytest.raises(errors.SeatOrphanedError) as caught:
            await second
        assert [seat.seat_no for seat in caught.value.seats] == [2]
    finally:
        await first.close()
        await watcher.close()


@pytest.mark.parametrize("rule", [STRICT, LENIENT])
async def test_a_crowd_leaves_no_seat_single(
    sound_database: Database, other_database: Database, rule: OrphanRule
) -> None:
    """By hand and best available, sizes mixed, two processes: no 500, nothing single in strict."""
    event = await event_on(sound_database, small_hall(), rule)
    sides = [sound_database, other_database]
    chance = random.Random(20)

    async def buy(number: int) -> str:
        db, size = sides[number % 2], 1 + number % 4
        first = chance.randrange(140)
        picked = tuple(range(first, first + size)) if number % 3 == 0 else ()
        wish = None if picked else BestAvailable(size)
        caller, key, digest = fan(), str(uuid4()), digest_of(number)
        try:
            await patient(
                lambda: hold_seats(db, caller, event, picked, key=key, digest=digest, best_available=wish)
            )  # fmt: skip
        except BookingError as error:
            return error.code
        return ""

    codes = await asyncio.gather(*(buy(number) for number in range(120)))
    assert set(codes) <= {"", "seats-taken", "seat-orphaned", "no-block-left"}, codes
    assert codes.count("") >= 30
    if rule is STRICT:
        assert await singles(sound_database, event) == []


# ---------------------------------------------------------------- neighbours in the database


@pytest.mark.parametrize(
    "plan",
    [
        teatro_aurora(),
        small_hall(),
        plan_of([".. ....", "....  ..", ". .", "...A  AC"], [". . . .", "..", "."]),
    ],
    ids=["theatre", "hall", "drawn"],
)
async def test_the_migration_parts_stored_rows_as_an_import_does(database: Database, plan: SeatingPlan) -> None:
    stored = await import_plan(database, "Hall", ZONE, plan)
    imported = await database.fetch("SELECT starts_part FROM plan_seats ORDER BY seat_no")
    assert [row["starts_part"] for row in imported] == part_starts(columns_of_plan(plan)).tolist()
    await database.fetch("UPDATE plan_seats SET starts_part = false WHERE plan_id = $1", stored.plan_id)
    migration = next(file for file in sql.migrations() if file.name == "adjacency")
    await database.fetch(migration.text[migration.text.index("WITH documents") :])
    assert await database.fetch("SELECT starts_part FROM plan_seats ORDER BY seat_no") == imported
