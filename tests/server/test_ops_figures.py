"""Each figure of the whole system shows what was planted (R20, R32, R42)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from backend_client import wire
from booking import sql
from booking.domain.errors import AuthorityAwayError, BusyError
from booking.domain.figures import Figure
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.figures import house as house_figures
from booking.figures.house import CHANGES_OF_S, HouseReader
from booking.figures.model import EventPart, Second
from booking.figures.signals import newest_second, signals_of
from booking.services import issue_tickets, sequence_feed, settle_items
from booking.services.expire_holds import ExpiryMessages
from booking.services.service_account import ServiceAccount
from booking.store.connection import Record
from booking.store.database import Database
from booking.workers.admission_signals import Signals
from booking.workers.admission_worker import Controller
from booking.workers.room_line import RoomLine
from tests.server.box_office import ADULT_PRICE, Clock, Desk, fan, make_event, released, reported, till
from tests.server.general_admission import make_tier
from tests.server.ops_house import OpsHouse, ops_house
from tests.server.web_api import read

TTL_S = 300


@pytest.fixture
async def event_id(sound_database: Database, clock: Clock) -> int:
    await sequence_feed.prepare(sound_database)
    await issue_tickets.prepare(sound_database)
    await ExpiryMessages(sound_database).prepare()
    await clock.stand_at(await clock.now())
    return await make_event(sound_database)


@pytest.fixture
async def house(sound_database: Database, clock: Clock, event_id: int) -> AsyncIterator[OpsHouse]:
    async with ops_house(sound_database, clock) as house:
        yield house


@pytest.fixture
def desk(sound_database: Database, event_id: int) -> Desk:
    return Desk(sound_database, till(), event_id)


def event_of(second: Second, event_id: int) -> EventPart:
    return second.events[event_id]


async def test_who_shops_what_is_free_and_what_was_held_since_the_last_second(
    house: OpsHouse, desk: Desk, event_id: int
) -> None:
    await house.second()
    await Desk(desk.db, fan(), event_id).hold(1, 2)
    await desk.hold(3)
    await desk.sell(4)
    found = event_of(await house.second(after_s=16), event_id).figures  # seats of no map are counted each 15 s
    assert (found[Figure.SHOPPERS_ACTIVE], found[Figure.HOLDS_MADE_PER_S]) == (2, 3 / 16)


async def test_seats_that_no_map_is_kept_of_are_counted_in_the_database(
    desk: Desk, event_id: int, clock: Clock
) -> None:
    """Among them those of general admission, B13: what has run out is free, whoever sweeps."""
    await make_tier(desk.db, event_id, capacity=50)
    await desk.sell(4)
    await desk.hold(1, 2)
    expired = await desk.hold(5)
    await desk.hold(6)
    await desk.db.fetch("UPDATE holds SET expires_at = booking_now() WHERE hold_id = $1", expired.hold_id)
    await desk.db.fetch("UPDATE seats SET hold_expires_at = booking_now() WHERE seat_no = 5")
    async with ops_house(desk.db, clock) as house:
        found = event_of(await house.second(), event_id).figures
    assert (found[Figure.SEATS_FREE], found[Figure.SEATS_HELD], found[Figure.SEATS_SOLD]) == (36 + 50, 3, 1)
    assert found[Figure.SHOPPERS_ACTIVE] == 2


async def test_seats_that_could_not_be_counted_again_are_not_known(
    house: OpsHouse, event_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A count of long ago would be told as of now, and the controller lets people in for free seats."""
    monkeypatch.setattr(house_figures, "COUNT_SEATS_EVERY_S", 0.0)
    assert event_of(await house.second(), event_id).figures[Figure.SEATS_FREE] == 40
    fetch = house.figures_db.fetch

    async def busy(query: str, *arguments: object) -> list[Record]:
        if "count_seats" in query:
            raise BusyError("The database takes too long.")
        return await fetch(query, *arguments)

    with monkeypatch.context() as slow:
        slow.setattr(house.figures_db, "fetch", busy)
        assert Figure.SEATS_FREE not in event_of(await house.second(), event_id).figures
    assert event_of(await house.second(), event_id).figures[Figure.SEATS_FREE] == 40


async def test_seats_come_from_the_maps_as_long_as_somebody_numbers_the_changes(
    house: OpsHouse, desk: Desk, event_id: int, clock: Clock
) -> None:
    feed = await house.api.app.services.seats.feed(event_id)
    await desk.hold(1, 2)
    await desk.db.fetch("INSERT INTO feed_heartbeat VALUES (true, booking_now())")
    await house.second()
    assert event_of(await house.second(), event_id).figures[Figure.SEATS_FREE] == 40, "the map has not heard of it yet"
    await clock.move(seconds=10)
    await house.second()
    assert event_of(await house.second(), event_id).figures[Figure.SEATS_FREE] == 38, "no map is believed that is old"
    assert feed.followers == 0


async def test_holds_that_nobody_tidied_up_are_the_expiry_backlog(house: OpsHouse, desk: Desk) -> None:
    """B13 as operators see it: no shopper, two overdue holds, since when."""
    await house.second()
    await desk.hold(1)
    await desk.hold(2, 3)
    found = (await house.second(after_s=TTL_S + 7)).house
    assert (found[Figure.EXPIRY_BACKLOG], found[Figure.EXPIRY_OLDEST_S], found[Figure.SHOPPERS_ACTIVE]) == (2, 7, 0)
    await desk.db.fetch("SELECT sweep_expired(10)")
    found = (await house.second()).house
    assert (found[Figure.EXPIRY_BACKLOG], found[Figure.EXPIRY_OLDEST_S]) == (0, 0)


async def test_who_left_in_a_minute_who_bought_and_whose_time_ran_out(
    house: OpsHouse, desk: Desk, event_id: int, clock: Clock
) -> None:
    await house.second()
    await desk.sell(1)
    await desk.sell(2)
    await released(desk.db, desk.caller, (await desk.hold(3)).hold_id)
    await desk.hold(4)
    await house.seconds(5)
    found = event_of(await house.second(), event_id).figures
    assert found[Figure.COMPLETION_SHARE] == pytest.approx(2 / 3)
    assert found[Figure.DEPARTURES_PER_MIN] == pytest.approx(3 * 60 / 6)
    assert found[Figure.ORDERS_CONFIRMED_PER_MIN] == pytest.approx(2 * 60 / 6)
    assert found[Figure.HOLD_EXPIRY_SHARE] == 0
    await clock.move(seconds=TTL_S - 50)  # the minute before is over, the last hold has some time left
    await house.second()
    await house.second(after_s=50)
    found = event_of(await house.second(), event_id).figures
    assert (found[Figure.HOLD_EXPIRY_SHARE], found[Figure.COMPLETION_SHARE]) == (1, 0), "nobody has swept"


async def test_payments_without_an_answer_by_age_and_amount(house: OpsHouse, desk: Desk, event_id: int) -> None:
    step = await desk.sell(1, 2, kind=OperationKind.SALE)
    await reported(desk.db, desk.caller, step.operation.operation_id, OperationResult(ResultOutcome.UNKNOWN, 0))
    await house.clock.move(seconds=100)
    step = await desk.sell(3, kind=OperationKind.SALE)
    await reported(desk.db, desk.caller, step.operation.operation_id, OperationResult(ResultOutcome.UNKNOWN, 0))
    second = await house.second(after_s=20)
    found = second.unknown_payments
    assert [(one.currency, one.from_s, one.up_to_s, one.count, one.amount_minor) for one in found] == [
        ("EUR", 0, 60, 1, ADULT_PRICE), ("EUR", 60, 300, 1, 2 * ADULT_PRICE),
    ]  # fmt: skip
    assert second.house[Figure.PAYMENTS_UNKNOWN] == event_of(second, event_id).figures[Figure.PAYMENTS_UNKNOWN] == 2
    assert second.house[Figure.PAYMENTS_UNKNOWN_OLDEST_S] == 120


async def test_a_payment_on_its_way_is_not_unknown_until_it_is_late(house: OpsHouse, desk: Desk) -> None:
    await desk.sell(1, kind=OperationKind.SALE)
    await desk.db.fetch("UPDATE payment_operations SET status = 'SENT', updated_at = booking_now()")
    assert (await house.second()).house[Figure.PAYMENTS_UNKNOWN] == 0
    assert (await house.second(after_s=4)).house[Figure.PAYMENTS_UNKNOWN] == 1


async def test_readers_of_the_outbox_that_are_behind_and_tickets_that_wait(house: OpsHouse, desk: Desk) -> None:
    await desk.hold(1)
    await house.clock.move(seconds=3)
    await desk.sell(2)
    second = await house.second(after_s=4)
    assert (second.house[Figure.OUTBOX_OLDEST_S], second.house[Figure.TICKETING_LAG_S]) == (7, 4)
    assert (
        second.house[Figure.OUTBOX_LAG] == max(one.backlog for one in second.consumers if one.name == "sequencer") > 3
    )
    await issue_tickets.issue_new(desk.db)
    await sequence_feed.tick(desk.db)
    second = await house.second()
    assert (second.house[Figure.OUTBOX_LAG], second.house[Figure.TICKETING_LAG_S]) == (0, 0)


async def test_tickets_that_were_never_issued_are_a_difference(house: OpsHouse, desk: Desk) -> None:
    """B14 as operators see it."""
    await desk.sell(1, 2)
    await house.clock.move(seconds=3_000)
    assert await settle_items.note_missing_tickets(desk.db) == 1
    found = (await house.second()).house
    assert (found[Figure.TICKET_DIFFERENCES], found[Figure.ITEMS_OPEN]) == (2, 1)


async def test_the_sequencers_silence(house: OpsHouse, desk: Desk) -> None:
    assert Figure.SEQUENCER_SILENT_S not in (await house.second()).house, "none has ever run"
    await desk.db.fetch("INSERT INTO feed_heartbeat VALUES (true, booking_now())")
    assert (await house.second(after_s=9)).house[Figure.SEQUENCER_SILENT_S] == 9


async def test_attempts_conflicts_and_latencies_of_holds(house: OpsHouse, event_id: int) -> None:
    await house.second()
    for _ in range(4):
        await house.api.call("POST", f"/v1/events/{event_id}/holds", {"seats": [7]}, token=await house.api.fan())
    await house.api.call("GET", "/v1/holds/none", token=await house.api.fan())
    second = await house.second()
    assert second.house[Figure.HOLD_CONFLICT_SHARE] == 0.75
    assert second.house[Figure.HOLD_ATTEMPTS_PER_S] > 0
    assert 0 < second.house[Figure.HOLD_P50_MS] <= second.house[Figure.HOLD_P99_MS] < 60_000
    (own,) = second.processes
    assert (own.figures[Figure.HOLD_CONFLICT_SHARE], own.silent, own.kind) == (0.75, False, "api")
    later = await house.second(after_s=11)
    assert Figure.HOLD_CONFLICT_SHARE not in later.house, "nothing is said of ten seconds in which nobody tried"
    assert Figure.HOLD_P99_MS not in later.house


async def test_errors_of_payment_providers(house: OpsHouse) -> None:
    await house.second()
    meter = house.api.app.services.meter
    for is_error in (True, False, False, False):
        meter.provider_answered(is_error)
    assert (await house.second()).house[Figure.PAYMENT_ERROR_SHARE] == 0.25


async def test_a_pool_that_is_asked_for_more_than_it_has(house: OpsHouse, database: Database) -> None:
    await house.second()
    async with database.transaction(), database.transaction(), database.transaction():
        pass
    (own,) = (await house.second()).processes
    general = next(pool for pool in own.pools if pool.name == "general")
    assert (general.in_use, general.most) == (3, 6)
    assert own.figures[Figure.POOL_USE_SHARE] == 0.5


async def test_the_server_itself(house: OpsHouse) -> None:
    await house.second()
    found = (await house.second()).house
    assert 0 < found[Figure.DATABASE_CONNECTION_SHARE] < 1
    assert found[Figure.DATABASE_COMMITS_PER_S] >= 0
    assert found[Figure.DEADLOCKS_PER_MIN] == found[Figure.LOCK_WAITS] == found[Figure.LOCK_WAIT_OLDEST_S] == 0
    assert found[Figure.DATABASE_ANSWER_MS] > 0


async def test_a_part_that_does_not_answer_in_time_is_not_known_and_the_locks_are_told_all_the_same(
    house: OpsHouse, database: Database
) -> None:
    await house.second()
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE holds IN ACCESS EXCLUSIVE MODE")
        second = await house.second()
    assert not house.watch.standing.is_away, "it has answered what it could"
    assert second.house.keys() >= {Figure.LOCK_WAITS, Figure.DATABASE_CONNECTION_SHARE, Figure.REQUESTS_PER_S}
    assert second.house.keys().isdisjoint({Figure.SHOPPERS_ACTIVE, Figure.EXPIRY_BACKLOG}), "never 0 for not known"
    assert Figure.SHOPPERS_ACTIVE in (await house.second()).house


async def test_the_log_says_afterwards_how_long_the_authority_was_not_heard(
    house: OpsHouse, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.second()
    heard_at = house.watch.standing.heard_at

    async def nobody(*_: object) -> list[object]:
        raise AuthorityAwayError("Nobody answers.")

    with monkeypatch.context() as away:
        away.setattr(house.figures_db, "fetch", nobody)
        await house.watch.once()
        assert house.watch.standing.is_away
        assert house.watch.standing.own is not None
        message = house.api.app.services.ops.board.message if house.api.app.services.ops.board else None
        assert message is not None
        assert (message.authority_away, message.authority_heard_at) == (True, heard_at)
        assert [one.pid for one in message.processes] == [house.watch.standing.own.pid]
    await clock.move(seconds=7)
    once = house.figures_db.call

    async def unanswered(query: str, *args: object) -> list[Record]:
        await once(query, *args)
        raise AuthorityAwayError("The answer was lost.")

    with monkeypatch.context() as lost:
        lost.setattr(house.figures_db, "call", unanswered)
        await house.second()
    await house.second()
    answer = await house.api.call("GET", "/v1/ops/log?kind=authority", token=await house.staff())
    (entry,) = read(answer, wire.OpsLog).entries
    assert (entry.who, entry.reason, entry.action) == ("figures", "not heard for 8 s", "authority-silent")
    assert entry.cause == wire.Cause(code="authority-silent", numbers={"silent_s": 8.0})


async def test_the_controller_of_admission_is_told_of_one_event(house: OpsHouse, desk: Desk, event_id: int) -> None:
    other = await make_event(desk.db)
    await desk.hold(1)
    await house.second()
    second = await newest_second(desk.db)
    assert second is not None
    assert (signals_of(second, event_id).seats_free, signals_of(second, other).seats_free) == (39, 40)
    assert signals_of(second, 99_999).seats_free is None, "of an event that is not watched nothing is known"


async def test_the_controller_and_the_screen_mean_the_same_by_tickets_that_are_late(
    house: OpsHouse, desk: Desk, event_id: int
) -> None:
    """An order waits for its tickets; a hold that the issuer has not looked at is no order."""
    await desk.hold(1)
    await house.clock.move(seconds=7)
    signals = Signals(desk.db)
    assert (await signals.read(event_id))[0].ticketing_lag_s == 0
    await desk.sell(2)
    second = await house.second(after_s=4)
    assert (await signals.read(event_id))[0].ticketing_lag_s == second.house[Figure.TICKETING_LAG_S] == 4


async def test_history_by_the_second_and_the_minute_of_the_house_and_of_an_event(
    house: OpsHouse, desk: Desk, event_id: int, clock: Clock
) -> None:
    now = await clock.now()
    await clock.stand_at(now.replace(second=0, microsecond=0) + timedelta(minutes=1))
    await desk.hold(1)
    await house.seconds(3)
    await desk.hold(2)
    await house.second()
    token = await house.staff()
    seconds = read(
        await house.api.call(
            "GET", f"/v1/ops/history?step=second&event_id={event_id}&names=shoppers_active&from=2020-01-01T00:00:00Z",
            token=token,
        ),
        wire.OpsHistory,
    )  # fmt: skip
    assert (seconds.step_s, seconds.series, seconds.event_id) == (1, {"shoppers_active": (1, 1, 1, 2)}, event_id)
    await house.second(after_s=60)
    minutes = read(
        await house.api.call("GET", "/v1/ops/history?from=2020-01-01T00:00:00Z", token=token), wire.OpsHistory
    )
    assert len(minutes.at) == 1
    assert list(minutes.series["shoppers_active"]) == [2], "the last one of the minute"
    assert list(minutes.peaks["shoppers_active"]) == [2]
    assert list(minutes.series["holds_made_per_s"]) == [pytest.approx(1 / 3)], "the mean of those that are known"


async def test_a_minute_is_kept_once_whoever_watches(house: OpsHouse, database: Database, clock: Clock) -> None:
    await house.second()
    await house.second(after_s=60)
    async with ops_house(database, clock) as other:
        await clock.move(seconds=10)
        assert (await other.second()).watcher == other.watch.standing.process_id, "the lease of the first one is over"
        await other.second(after_s=60)
    rows = await database.fetch("SELECT event_id, minute, count(*) AS n FROM figures_minutes GROUP BY 1, 2")
    assert rows
    assert {row["n"] for row in rows} == {1}


async def test_the_minute_in_which_nobody_could_keep_it_is_kept_afterwards(
    house: OpsHouse, database: Database, clock: Clock
) -> None:
    """The authority was away when the minute was over: its seconds are still there."""
    minute = (await clock.now()).replace(second=0, microsecond=0) + timedelta(minutes=1)
    await clock.stand_at(minute + timedelta(seconds=10))
    await house.seconds(3)
    await house.second(after_s=130)
    await house.second()
    rows = await database.fetch("SELECT minute FROM figures_minutes WHERE event_id = 0 ORDER BY 1")
    assert [row["minute"] for row in rows] == [minute]
    await house.second(after_s=60)
    await house.second()
    rows = await database.fetch("SELECT minute FROM figures_minutes WHERE event_id = 0 ORDER BY 1")
    assert [row["minute"] for row in rows] == [minute, minute + timedelta(minutes=2)]


async def test_a_minute_that_cannot_be_made_holds_up_no_other(
    house: OpsHouse, database: Database, clock: Clock
) -> None:
    minute = (await clock.now()).replace(second=0, microsecond=0) + timedelta(minutes=1)
    await clock.stand_at(minute)
    await house.second()
    await database.fetch("UPDATE figures_seconds SET body = $1", OTHER_RELEASE)
    await house.second(after_s=60)
    await house.second(after_s=60)
    await house.second()
    rows = await database.fetch("SELECT minute FROM figures_minutes WHERE event_id = 0")
    assert [row["minute"] for row in rows] == [minute + timedelta(minutes=1)]


async def test_what_was_sold_is_counted_anew_when_it_could_not_be_read_for_a_minute(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each look is at more than the last one, which was too much already."""
    asked, is_busy, passed_s = [], False, 0.0
    fetch, time = database.fetch, asyncio.get_running_loop().time

    async def watched(query: str, *args: object) -> list[Record]:
        if query == sql.query("read_sale_changes"):
            asked.append(args[0])
            if is_busy:
                raise BusyError("It takes too long.")
        return await fetch(query, *args)

    monkeypatch.setattr(database, "fetch", watched)
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: time() + passed_s)
    reader = HouseReader(database)
    await reader.read(frozenset())
    assert (await reader.read(frozenset())).changes == {}
    assert asked[1] != ""
    is_busy = True
    assert (await reader.read(frozenset())).changes is None
    passed_s = CHANGES_OF_S + 1
    await reader.read(frozenset())
    assert asked[2:] == [asked[2], ""]
    is_busy = False
    assert (await reader.read(frozenset())).changes is None, "from now on it is counted"
    assert (await reader.read(frozenset())).changes == {}


async def test_history_is_of_the_databases_time(house: OpsHouse, clock: Clock) -> None:
    """A host whose clock is an hour ahead would show an empty quarter of an hour."""
    await clock.stand_at(await clock.now() - timedelta(hours=1))
    await house.seconds(2)
    answer = await house.api.call("GET", "/v1/ops/history?step=second", token=await house.staff())
    assert len(read(answer, wire.OpsHistory).at) == 2


OTHER_RELEASE = b"\x80"
"""A map without the members that this release asks for."""


async def test_a_report_of_another_release_is_left_out_and_forgotten_like_others(
    house: OpsHouse, database: Database
) -> None:
    await database.fetch(
        "INSERT INTO process_figures (process_id, kind, heard_at, body)"
        " VALUES (gen_random_uuid(), 'api', booking_now(), $1)",
        OTHER_RELEASE,
    )
    first, second = await house.second(), await house.second()
    assert second.second == first.second + 1
    assert [one.process_id for one in second.processes] == [house.watch.standing.process_id]
    await house.second(after_s=700)
    assert len(await database.fetch("SELECT FROM process_figures")) == 1


async def test_seconds_and_minutes_of_another_release_are_not_known_and_stop_nobody(
    house: OpsHouse, database: Database
) -> None:
    await house.second()
    await house.second(after_s=60)
    await house.second()
    await database.fetch("UPDATE figures_minutes SET body = $1", OTHER_RELEASE)
    await database.fetch(
        "UPDATE figures_seconds SET body = $1 WHERE second = (SELECT max(second) FROM figures_seconds)", OTHER_RELEASE
    )
    assert await newest_second(database) is None
    token = await house.staff()
    for step, known in (("second", 2), ("minute", 0)):
        path = f"/v1/ops/history?step={step}&from=2020-01-01T00:00:00Z"
        assert len(read(await house.api.call("GET", path, token=token), wire.OpsHistory).at) == known
    account = ServiceAccount(database)
    line = RoomLine(account.token)
    controller = Controller(database, account, line, Signals(database))
    await controller.once()
    assert controller.leads
    await line.close()
