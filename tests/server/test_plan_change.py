"""Capacity and plan changes under sales (B7, I4): by guid, numbers that stay, refusals with seats, nothing lost."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator

import asyncpg
import msgspec
import pytest

from backend_client import wire
from backend_client.seat_frames import StaffStatus, decode_snapshot
from booking.domain.caller import Role
from booking.domain.control import HouseHoldKind, HouseWish, SettingsChange
from booking.domain.errors import (
    BookingError,
    EventStateConflictError,
    InvalidRequestError,
    PlanConflictError,
    SeatsTakenError,
    SettingsChangedError,
)
from booking.domain.states import OperationKind
from booking.services import control_event, house_holds
from booking.services.import_plan import ImportedPlan, export_plan
from booking.services.orders import cancel_order
from booking.services.sequence_feed import prepare, tick
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, released, seat_states, till
from tests.server.plan_change import change, evening, hall, load, names, numbers_of
from tests.server.web_api import Api, api_over, problem, read

FREE, HELD, PAYING, SOLD, BLOCKED = range(5)
OLD = {"A": names("A", *range(1, 11)), "B": names("B", *range(1, 11))}


@pytest.fixture
async def stored(sound_database: Database) -> ImportedPlan:
    return await load(sound_database, hall(OLD))


async def test_every_version_gives_a_seat_the_number_that_it_had(
    sound_database: Database, stored: ImportedPlan
) -> None:
    """I4: also with a seat gone, one put between others, rows in another order, and both again in a third version."""
    first = await numbers_of(sound_database, stored.plan_id, 1)
    changed = hall({"B": OLD["B"], "A": [*OLD["A"][:3], "A99", *OLD["A"][4:]], "C": names("C", 1, 2)})
    await load(sound_database, changed)
    second = await numbers_of(sound_database, stored.plan_id, 2)
    assert {guid: second[guid] for guid in second.keys() & first.keys()} == {
        guid: number for guid, number in first.items() if guid != "A4"
    }
    assert sorted(second[guid] for guid in ("A99", "C1", "C2")) == [20, 21, 22]
    await load(sound_database, hall({**OLD, "D": ["D1"]}))
    third = await numbers_of(sound_database, stored.plan_id, 3)
    assert {guid: third[guid] for guid in first} == first
    assert third["D1"] == 23
    assert await export_plan(sound_database, stored.plan_id, 2) == changed


async def test_the_document_of_a_version_says_the_same_numbers_and_its_rows_follow_them(
    sound_database: Database, stored: ImportedPlan
) -> None:
    await load(sound_database, hall({"A": [*OLD["A"][:3], "A99", *OLD["A"][4:]], "B": OLD["B"]}))
    row = await sound_database.fetchrow("SELECT document FROM plans WHERE version = 2")
    assert row is not None
    plan = msgspec.json.decode(row["document"], type=wire.Plan)
    assert plan.seats.guid[:4] == ("A1", "A2", "A3", "A4")
    assert (plan.seats.flags[3], plan.seats.guid[20]) == (8, "A99")
    runs = [(row.label, row.first_seat, row.seat_count) for row in plan.rows]
    assert runs == [("A", 0, 3), ("", 3, 1), ("A", 4, 6), ("B", 10, 10), ("A", 20, 1)]
    assert [plan.seats.row_no[seat] for seat in (0, 3, 4, 10, 20)] == [0, 1, 2, 3, 4]
    starts = await sound_database.fetch(
        "SELECT seat_no FROM plan_seats WHERE version = 2 AND starts_part ORDER BY seat_no"
    )
    assert [one["seat_no"] for one in starts] == [0, 3, 4, 10, 20]


async def test_sold_held_and_paying_seats_keep_their_sale_under_a_new_name(
    sound_database: Database, stored: ImportedPlan
) -> None:
    """B7: renamed with the same guid keeps the sale; new seats are free; removed free seats can no longer be had."""
    event_id = await evening(sound_database, stored)
    sold = await Desk(sound_database, till(), event_id).sell(0, 1)
    desk = Desk(sound_database, fan(), event_id)
    hold = await desk.hold(2)
    other = Desk(sound_database, fan(), event_id)
    order = await other.check_out(await other.hold(10))
    renamed = {"A1": "1a", "A3": "3a", "B1": "101", "B9": "109"}
    await load(sound_database, hall({"A": OLD["A"][:9], "B": [*OLD["B"], "B11"]}, renamed=renamed))
    report = await change(sound_database, event_id, 2)
    assert (report.kept, report.added, report.removed, report.applied) == (19, 1, 1, True)
    assert [(seat.seat_no, seat.number) for seat in report.relabelled] == [(0, "1a"), (2, "3a"), (10, "101")]
    states = await seat_states(sound_database, event_id)
    assert [states[seat][0] for seat in (0, 1, 2, 9, 10, 18, 20)] == [SOLD, SOLD, HELD, BLOCKED, PAYING, FREE, FREE]
    assert states[0][2] == sold.order.order_id
    # What was under way goes on under the numbers that it has.
    paid = await desk.pay(await desk.check_out(hold), OperationKind.AUTHORIZE)
    assert [line.seat.number for line in paid.order.lines] == ["3a"]
    assert (await other.pay(order, OperationKind.AUTHORIZE)).order.order_id == order.order_id
    with pytest.raises(SeatsTakenError):
        await Desk(sound_database, till(), event_id).hold(9)
    new = await Desk(sound_database, till(), event_id).hold(20)
    assert [(seat.row, seat.number) for seat in new.seats] == [("B", "11")]


@pytest.mark.parametrize("taken", ["sold", "paying", "held", "kept"])
async def test_a_plan_that_lacks_a_taken_seat_is_refused_with_the_seats(
    sound_database: Database, stored: ImportedPlan, taken: str
) -> None:
    event_id = await evening(sound_database, stored)
    desk = Desk(sound_database, till(), event_id)
    if taken == "sold":
        await desk.sell(3, 4)
    elif taken == "kept":
        wish = HouseWish(HouseHoldKind.TECHNICAL, "cameras", (3, 4))
        await house_holds.keep_seats_back(sound_database, till(Role.ADMIN), event_id, wish, key="k", digest=b"")
    else:
        hold = await desk.hold(3, 4)
        if taken == "paying":
            await desk.check_out(hold)
    before = await seat_states(sound_database, event_id)
    await load(sound_database, hall({"A": OLD["A"][:3], "B": OLD["B"]}))
    for dry_run in (True, False):
        with pytest.raises(PlanConflictError) as refused:
            await change(sound_database, event_id, 2, dry_run=dry_run)
        assert [(seat.seat_no, seat.row, seat.number) for seat in refused.value.seats] == [(3, "A", "4"), (4, "A", "5")]
    assert await seat_states(sound_database, event_id) == before
    assert await count(sound_database, "SELECT plan_version FROM events WHERE event_id = $1", event_id) == 1
    assert await count(sound_database, "SELECT epoch FROM event_feed WHERE event_id = $1", event_id) == 1


async def test_seats_of_expired_holds_and_dead_sales_may_go_with_the_sweeper_stopped(
    sound_database: Database, stored: ImportedPlan, clock: Clock
) -> None:
    """R5: whoever may not pay any more does not keep the house from its work."""
    event_id = await evening(sound_database, stored)
    await Desk(sound_database, fan(), event_id).hold(3)
    dead = Desk(sound_database, fan(), event_id)
    await dead.check_out(await dead.hold(4))
    await clock.move(seconds=301)
    await load(sound_database, hall({"A": OLD["A"][:3], "B": OLD["B"]}))
    assert (await change(sound_database, event_id, 2)).removed == 7
    assert (await seat_states(sound_database, event_id))[4] == (BLOCKED, None, None)


async def test_a_dry_run_says_what_would_be_and_changes_nothing(sound_database: Database, stored: ImportedPlan) -> None:
    event_id = await evening(sound_database, stored)
    await load(sound_database, hall({"A": OLD["A"][:9], "B": [*OLD["B"], "B11", "B12"]}))
    told = await change(sound_database, event_id, 2, dry_run=True)
    assert (told.kept, told.added, told.removed, told.applied) == (19, 2, 1, False)
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status <> 0") == 0
    assert await count(sound_database, "SELECT settings_version FROM events") == 1
    done = await change(sound_database, event_id, 2)
    assert (done.kept, done.added, done.removed, done.applied) == (19, 2, 1, True)


async def test_there_and_back_again_is_the_plan_of_before(sound_database: Database, stored: ImportedPlan) -> None:
    event_id = await evening(sound_database, stored)
    await load(sound_database, hall({"A": OLD["A"][:9], "B": [*OLD["B"], "B11", "B12"]}))
    await change(sound_database, event_id, 2)
    back = await change(sound_database, event_id, 1, expected=2)
    assert (back.kept, back.added, back.removed) == (19, 1, 2)
    states = await seat_states(sound_database, event_id)
    assert {seat: state[0] for seat, state in states.items()} == dict.fromkeys(range(20), FREE)
    again = await change(sound_database, event_id, 2, expected=3)
    assert (again.added, again.removed) == (2, 1)
    hold = await Desk(sound_database, fan(), event_id).hold(20, 21)
    await released(sound_database, Desk(sound_database, till(Role.ADMIN), event_id).caller, hold.hold_id)
    # A number that an order has named, paid or not, stays: an older plan has none for it.
    desk = Desk(sound_database, till(), event_id)
    order = await desk.check_out(await desk.hold(20))
    for _ in ("being paid", "cancelled"):
        with pytest.raises(PlanConflictError) as refused:
            await change(sound_database, event_id, 1, expected=4)
        assert [seat.seat_no for seat in refused.value.seats] == [20]
        await cancel_order(sound_database, desk.caller, order.order_id, "no", keep_seats=False, key="c", digest=b"")


async def test_a_category_keeps_its_number_by_name_and_a_seat_in_a_sale_keeps_its_category(
    sound_database: Database,
) -> None:
    """R10: what is being sold never changes its price under the buyer."""
    stored = await load(sound_database, hall(OLD, categories=("Stalls", "Rear"), of=dict.fromkeys(OLD["B"], 1)))
    event_id = await evening(sound_database, stored, "Stalls", "Rear")
    desk = Desk(sound_database, fan(), event_id)
    hold = await desk.hold(10)
    # Another order of the categories; B1 and B2 become Stalls.
    rear = dict.fromkeys([*OLD["A"], "B1", "B2"], 1)
    await load(sound_database, hall(OLD, categories=("Rear", "Stalls"), of=rear))
    with pytest.raises(PlanConflictError) as refused:
        await change(sound_database, event_id, 2)
    assert [seat.seat_no for seat in refused.value.seats] == [10]
    await released(sound_database, desk.caller, hold.hold_id)
    report = await change(sound_database, event_id, 2)
    assert (report.kept, report.added, report.removed) == (20, 0, 0)
    categories = await sound_database.fetch(
        "SELECT category_no FROM plan_seats WHERE version = 2 AND seat_no IN (0, 10, 12) ORDER BY seat_no"
    )
    assert [row["category_no"] for row in categories] == [0, 0, 1]


async def test_new_seats_without_a_price_are_refused(sound_database: Database, stored: ImportedPlan) -> None:
    event_id = await evening(sound_database, stored)
    plan = hall({**OLD, "C": names("C", 1, 2)}, categories=("Stalls", "Box"), of={"C1": 1, "C2": 1})
    await load(sound_database, plan)
    with pytest.raises(PlanConflictError) as refused:
        await change(sound_database, event_id, 2)
    assert [seat.seat_no for seat in refused.value.seats] == [20, 21]


async def test_bad_requests_are_refused_by_name(sound_database: Database, stored: ImportedPlan) -> None:
    event_id = await evening(sound_database, stored)
    with pytest.raises(InvalidRequestError) as refused:
        await change(sound_database, event_id, 7)
    assert [fault.pointer for fault in refused.value.fields] == ["/plan_version"]
    with pytest.raises(SettingsChangedError):
        await change(sound_database, event_id, 1, expected=2)
    boss = till(Role.ADMIN)
    await control_event.change_settings(
        sound_database, boss, event_id, 1, SettingsChange(grace_s=60), "why", key="k", digest=b""
    )
    with pytest.raises(SettingsChangedError):
        await change(sound_database, event_id, 1)
    await sound_database.fetch("UPDATE events SET status = 'CANCELLED'")
    with pytest.raises(EventStateConflictError):
        await change(sound_database, event_id, 1, expected=2)


async def test_who_changed_the_plan_from_what_to_what_and_why_is_in_the_audit_log(
    sound_database: Database, stored: ImportedPlan
) -> None:
    event_id = await evening(sound_database, stored)
    await load(sound_database, hall({**OLD, "C": ["C1"]}))
    await change(sound_database, event_id, 2)
    row = await sound_database.fetchrow("SELECT * FROM audit_log WHERE action = 'plan-changed'")
    assert row is not None
    detail = json.loads(row["detail"])
    assert (row["subject"], row["reason"]) == (str(event_id), "a platform for the cameras")
    assert (detail["from"], detail["to"], detail["report"]["added"]) == (1, 2, 1)


async def test_a_seat_that_is_just_being_taken_is_waited_for_and_then_in_the_way(
    sound_database: Database, stored: ImportedPlan, dsn: str
) -> None:
    """I4: what was read before the lock is a hint; who came first keeps the seat."""
    event_id = await evening(sound_database, stored)
    await load(sound_database, hall({"A": OLD["A"][:9], "B": OLD["B"]}))
    other = await asyncpg.connect(dsn)
    try:
        transaction = other.transaction()
        await transaction.start()
        await other.execute(
            "SELECT keep_seats_back('device:x', NULL, 'x', $1, gen_random_uuid(), 'press', 'critics', '{9}', NULL,"
            " 'k', 'd')",
            event_id,
        )
        changing = asyncio.create_task(change(sound_database, event_id, 2))
        async with asyncio.timeout(60):
            while not await count(sound_database, "SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0)
        await transaction.commit()
        with pytest.raises(PlanConflictError) as refused:
            await changing
    finally:
        await other.close()
    assert [seat.seat_no for seat in refused.value.seats] == [9]
    assert (await seat_states(sound_database, event_id))[9][0] == BLOCKED


async def test_a_plan_changes_in_a_storm_of_holds_and_checkouts_and_no_sale_is_lost(
    sound_database: Database, other_database: Database
) -> None:
    """B7, I4: what was held is sold; a change is made, or refused with the seat in its way."""
    rows = {label: names(label, *range(1, 41)) for label in "ABCDE"}
    stored = await load(sound_database, hall(rows))
    event_id = await evening(sound_database, stored)
    for extra in range(1, 6):  # versions 2 … 6: one more row each, and the first seat of row E comes and goes
        grown = {**rows, **{f"F{n}": [f"F{n}-{seat}" for seat in range(10)] for n in range(extra)}}
        await load(sound_database, hall({**grown, "E": rows["E"][extra % 2 :]}))
    sold: list[tuple[int, ...]] = []
    refused: list[str] = []
    in_the_way: list[list[int]] = []
    dice = random.Random(7)

    async def buyer(db: Database) -> None:
        first = dice.randrange(200)
        desk = Desk(db, till(), event_id)
        try:
            step = await desk.sell(*range(first, min(first + dice.randint(1, 4), 200)))
            sold.append(tuple(line.seat.seat_no for line in step.order.lines))
        except BookingError as error:
            refused.append(error.code)

    async def crowd() -> None:
        for _ in range(12):
            await asyncio.gather(*(buyer(db) for db in (sound_database, other_database) for _ in range(5)))

    async def changes() -> int:
        made = 0
        for version in range(2, 7):
            try:
                await change(other_database, event_id, version, expected=made + 1)
                made += 1
            except PlanConflictError as error:
                in_the_way.append([seat.seat_no for seat in error.seats])
        return made

    _, made = await asyncio.gather(crowd(), changes())
    assert set(refused) <= {"seats-taken", "seat-unknown"}
    assert made >= 2  # those that leave E1 alone
    assert in_the_way == [[160]] * (5 - made)
    states = await seat_states(sound_database, event_id)
    seats = [seat for one in sold for seat in one]
    assert len(seats) == len(set(seats))
    assert {seat for seat, state in states.items() if state[0] == SOLD} == set(seats)
    assert await count(sound_database, "SELECT count(*) FROM holds WHERE ended_at IS NULL") == 0


@pytest.fixture
async def api(sound_database: Database) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def test_every_map_is_loaded_anew_with_the_plan_that_it_is_of(api: Api, stored: ImportedPlan) -> None:
    """I4: the epoch rises; plan, labels and snapshot follow; what the sequencer numbers later fits the new map."""
    event_id = await evening(api.db, stored)
    await prepare(api.db)
    boss = await api.staff(Role.SUPERVISOR)
    path = f"/v1/events/{event_id}"
    old = decode_snapshot((await api.call("GET", f"{path}/seats", token=boss)).content)
    await load(api.db, hall({"A": OLD["A"][:9], "B": [*OLD["B"], "B11"]}))
    body = wire.PlanChange(expected_version=1, plan_version=2, reason="seats for the press")
    first = await api.call("PUT", f"{path}/plan", body, token=boss, key="once")
    report = read(first, wire.PlanChangeReport)
    again = await api.call("PUT", f"{path}/plan", body, token=boss, key="once")
    assert (read(again, wire.PlanChangeReport), again.headers[wire.REPLAYED_HEADER]) == (report, "true")
    async with asyncio.timeout(60):
        while True:
            await tick(api.db)
            new = decode_snapshot((await api.call("GET", f"{path}/seats", token=boss)).content)
            if new.plan_version == 2 and new.version > old.version:
                break
            await asyncio.sleep(0.02)
    assert (new.epoch, len(old.states), len(new.states)) == (old.epoch + 1, 20, 21)
    assert (new.states[9], new.states[20]) == (StaffStatus.BLOCKED, StaffStatus.AVAILABLE)
    plan = read(await api.call("GET", f"{path}/plan"), wire.Plan)
    assert (plan.version, len(plan.seats.guid)) == (2, 21)
    detail = read(await api.call("GET", path), wire.EventDetail)
    assert (detail.plan_version, detail.seat_count, detail.settings_version) == (2, 21, 2)
    stale = await api.call("PUT", f"{path}/plan", body, token=boss)
    problem(stale, wire.ErrorCode.SETTINGS_CHANGED)
    await Desk(api.db, till(), event_id).hold(0)
    taken = wire.PlanChange(expected_version=2, plan_version=1, reason="back")
    assert read(await api.call("PUT", f"{path}/plan", taken, token=boss), wire.PlanChangeReport).removed == 1
