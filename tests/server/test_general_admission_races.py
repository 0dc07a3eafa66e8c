"""General admission under many at once: exact to the last place, no deadlock, nothing lost in COMMIT (R11, G5)."""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
import tempfile
from collections import Counter as Tally
from collections.abc import Iterator

import msgspec
import pytest

from booking.domain.errors import BookingError
from booking.domain.model import TierQuantity
from booking.domain.states import OperationKind
from booking.services.hold_seats import hold_seats, release_hold
from booking.services.sweep_expired import sweep_once
from booking.store.database import Database
from tests.server.box_office import Clock, count, digest_of, fan, till
from tests.server.general_admission import FLOOR, GALLERY, Counter, counted, make_standing, make_tier, stored, tier
from tests.server.postgres_proxy import Cut, relay


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("buckets", [1, 8])
async def test_r11_200_buyers_for_100_places_from_two_processes_get_exactly_100(
    sound_database: Database, dsn: str, buckets: int
) -> None:
    event_id = await make_standing(sound_database, 100, buckets=buckets)
    crowds = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.server.place_buyers", dsn, str(event_id), "100",
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    answers: Tally[str] = Tally()
    for crowd in crowds:
        printed, _ = await crowd.communicate()
        assert crowd.returncode == 0
        answers.update(msgspec.json.decode(printed, type=dict[str, int]))
    assert answers == {"held": 100} | ({"tier-in-holds": 100} if answers["held"] == 100 else {})
    assert (await tier(sound_database, event_id)).available == 0
    assert await stored(sound_database, event_id) == await counted(sound_database, event_id)


async def test_a_batch_serves_its_buyers_in_the_order_of_their_arrival(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 30)
    await Counter(sound_database, till(), event_id).hold(1)  # connections are open

    async def buy(number: int) -> int | None:
        try:
            await Counter(sound_database, fan(), event_id).hold(1)
        except BookingError:
            return None
        return number

    before = sound_database.places.figures.batches
    won = await asyncio.gather(*(buy(number) for number in range(60)))
    assert [number for number in won if number is not None] == list(range(29))
    assert sound_database.places.figures.batches - before <= 3, "one claim serves a batch"


async def test_r11_expired_holds_are_reclaimed_by_a_crowd_exactly_once(
    sound_database: Database, other_database: Database, clock: Clock
) -> None:
    event_id = await make_standing(sound_database, 60, buckets=4)
    for _ in range(10):
        await Counter(sound_database, fan(), event_id).hold(6)
    await clock.move(seconds=300)

    async def buy(db: Database) -> str:
        try:
            await Counter(db, fan(), event_id).hold(1)
        except BookingError as refusal:
            return refusal.code
        return "held"

    sweeping = asyncio.create_task(_sweep_twice(other_database))
    won = await asyncio.gather(*(buy((sound_database, other_database)[n % 2]) for n in range(90)))
    await sweeping
    assert Tally(won) == {"held": 60, "tier-in-holds": 30}
    assert await stored(sound_database, event_id) == await counted(sound_database, event_id)


async def _sweep_twice(db: Database) -> None:
    for _ in range(2):
        await sweep_once(db)


async def test_g5_a_connection_cut_in_commit_loses_no_place_and_takes_none_twice(
    sound_database: Database, dsn: str, short_folder: str
) -> None:
    event_id = await make_standing(sound_database, 20)
    async with relay(dsn, short_folder) as (relaying, through):
        db = await Database.open(through, lanes=False)
        for seats in ((), (3,)):
            for after_the_answer in (True, False):
                key = f"cut {seats} {after_the_answer}"
                relaying.cut = Cut(key.encode(), after_the_answer)
                wanted = tuple(seat + after_the_answer for seat in seats)
                buyer = Counter(db, fan(), event_id)
                hold = await buyer.hold(2, *wanted, key=key)
                assert relaying.cut.done == 1
                assert (await buyer.hold(2, *wanted, key=key)).hold_id == hold.hold_id
        await db.close()
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 8, 0)]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 4


async def test_g5_a_batch_that_fails_is_decided_one_by_one(sound_database: Database) -> None:
    """One request of a batch breaks a rule of the database: the others are served all the same."""
    event_id = await make_standing(sound_database, 20)
    await Counter(sound_database, till(), event_id).hold(1)
    await sound_database.fetch(
        "CREATE FUNCTION break_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF NEW.idem_key = 'poison' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$"
    )
    await sound_database.fetch("CREATE TRIGGER t BEFORE INSERT ON holds FOR EACH ROW EXECUTE FUNCTION break_one()")
    results = await asyncio.gather(
        *(
            Counter(sound_database, fan(), event_id).hold(1, key="poison" if number == 3 else None)
            for number in range(8)
        ),
        return_exceptions=True,
    )
    assert [number for number, result in enumerate(results) if isinstance(result, BaseException)] == [3]
    assert sound_database.places.figures.failed_batches == 1
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 8, 0)]


async def test_g8_a_mixed_storm_over_two_processes_meets_no_deadlock(
    sound_database: Database, other_database: Database, clock: Clock
) -> None:
    """Seats before counters, counters in order: holds, sales, releases and the sweeper at once (README of services)."""
    db = sound_database
    event_id = await make_standing(db, 400, buckets=2, max_open_holds_till=100)
    await make_tier(db, event_id, GALLERY, 400, name="Gallery")
    chance = random.Random(11)
    before = await count(db, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")

    async def one(number: int) -> str:
        at = (db, other_database)[number % 2]
        caller = till() if number % 3 else fan()
        seats = tuple(chance.sample(range(30), chance.randint(0, 3)))
        tiers = tuple(TierQuantity(tier_id, 1) for tier_id in chance.sample((GALLERY, FLOOR), chance.randint(0, 2)))
        if not seats and not tiers:
            seats = (9,)
        try:
            hold = (await hold_seats(at, caller, event_id, seats, key="k", digest=digest_of(number), tiers=tiers)).value
            if number % 5 == 0:
                await release_hold(at, caller, hold.hold_id, key="r", digest=b"")
            elif number % 5 == 1:
                return "left to expire"
            elif number % 3:
                counter = Counter(at, caller, event_id)
                await counter.pay(await counter.check_out(hold), OperationKind.CASH)
        except BookingError as refusal:
            return refusal.code
        return "done"

    answers = Tally(await asyncio.gather(*(one(number) for number in range(80))))
    await clock.move(seconds=1_000)
    answers.update(await asyncio.gather(_swept(db), _swept(other_database), *(one(n) for n in range(80, 120))))
    assert set(answers) <= {"done", "left to expire", "seats-taken", "swept", "busy"}, answers
    assert answers["done"] > 20, answers
    await db.fetch("SELECT pg_stat_force_next_flush()")
    after = await count(db, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert after == before
    assert await stored(db, event_id) == await counted(db, event_id)


async def _swept(db: Database) -> str:
    while await sweep_once(db):
        pass
    return "swept"


async def test_r5_checkouts_at_the_deadline_and_claims_that_take_back_end_one_way_each(
    sound_database: Database, other_database: Database, clock: Clock
) -> None:
    """At the very instant: each hold is either checked out or its places are somebody else's, never both."""
    event_id = await make_standing(sound_database, 24, buckets=2, min_time_to_pay_s=0)
    buyers = [Counter(sound_database, fan(), event_id) for _ in range(12)]
    holds = [await buyer.hold(2) for buyer in buyers]
    await clock.stand_at(holds[5].expires_at)

    async def check_out(number: int) -> str:
        try:
            await buyers[number].check_out(holds[number])
        except BookingError as refusal:
            return refusal.code
        return "checked out"

    async def claim() -> str:
        try:
            await Counter(other_database, fan(), event_id).hold(3)
        except BookingError as refusal:
            return refusal.code
        return "held"

    answers = Tally(
        await asyncio.gather(*(step for n in range(12) for step in (check_out(n), claim()))),
    )
    assert answers["hold-expired"] == 6, "holds 0 to 5 have reached their deadline"
    assert answers["checked out"] == 6
    assert answers["held"] == 4, "the 12 places of the expired ones"
    assert set(answers) == {"hold-expired", "checked out", "held", "tier-in-holds"}
    assert (await tier(sound_database, event_id)).in_holds == 24
    assert await stored(sound_database, event_id) == await counted(sound_database, event_id)
