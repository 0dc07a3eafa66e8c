"""Holds: all or nothing, replayed, limited, over at the exact instant (R3–R8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import SeatRef
from booking.domain.states import HoldStatus, SeatStatus
from booking.services.hold_seats import hold_seats, read_hold
from booking.services.read_events import list_events, read_event, read_plan_document
from booking.store.database import Database
from tests.server.box_office import (
    ADULT_PRICE,
    Clock,
    Desk,
    count,
    digest_of,
    fan,
    make_event,
    released,
    seat_states,
    till,
)


async def test_a_hold_takes_all_its_seats_under_one_deadline(sound_database: Database) -> None:
    event = await make_event(sound_database, hold_ttl_s=240)
    hold = await Desk(sound_database, fan(), event).hold(5, 3, 4)

    assert hold.status is HoldStatus.HELD
    assert [seat.seat_no for seat in hold.seats] == [3, 4, 5]
    assert hold.seats[0] == SeatRef(3, "Stalls", "A", "4")
    assert hold.expires_at - hold.created_at == timedelta(seconds=240)
    rows = await sound_database.fetch("SELECT * FROM seats WHERE event_id = $1 AND status = 1", event)
    assert {(row["seat_no"], row["hold_id"], row["hold_expires_at"]) for row in rows} == {
        (seat, hold.hold_id, hold.expires_at) for seat in (3, 4, 5)
    }


async def test_the_outbox_tells_of_a_hold_with_states_versions_and_its_end(sound_database: Database) -> None:
    event = await make_event(sound_database)
    hold = await Desk(sound_database, till(), event).hold(7, 2)

    (row,) = await sound_database.fetch("SELECT * FROM outbox")
    assert (row["type"], row["aggregate_id"], row["event_id"]) == ("seats-held", hold.hold_id, event)
    assert (row["seats"], row["seat_states"], row["seat_versions"]) == ([2, 7], [1 | 1 << 3] * 2, [1, 1])
    assert row["until"] == hold.expires_at


async def test_b9_the_loser_gets_nothing_and_learns_every_lost_seat(sound_database: Database) -> None:
    event = await make_event(sound_database)
    await Desk(sound_database, fan(), event).hold(1, 2, 3)
    before = await seat_states(sound_database, event)

    with pytest.raises(errors.SeatsTakenError) as refused:
        await Desk(sound_database, fan(), event).hold(0, 2, 3, 4)

    assert refused.value.seats == (SeatRef(2, "Stalls", "A", "3"), SeatRef(3, "Stalls", "A", "4"))
    assert await seat_states(sound_database, event) == before
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1


async def test_a_loser_writes_nothing_at_all(sound_database: Database) -> None:
    event = await make_event(sound_database)
    await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.SeatsTakenError):
        await Desk(sound_database, fan(), event).hold(1, 2)
    assert await count(sound_database, "SELECT count(*) FROM account_limits") == 1
    assert await count(sound_database, "SELECT count(*) FROM outbox") == 1


async def test_p2_the_same_key_and_digest_give_the_same_hold(sound_database: Database) -> None:
    event = await make_event(sound_database)
    caller = fan()
    first = await hold_seats(sound_database, caller, event, [4, 5], key="k", digest=b"d")
    again = await hold_seats(sound_database, caller, event, [5, 4], key="k", digest=b"d")

    assert (first.replayed, again.replayed) == (False, True)
    assert (again.value.hold_id, again.value.expires_at) == (first.value.hold_id, first.value.expires_at)
    assert await count(sound_database, "SELECT count(*) FROM outbox") == 1


async def test_p2_the_same_key_with_another_digest_is_a_conflict(sound_database: Database) -> None:
    event = await make_event(sound_database)
    caller = fan()
    await hold_seats(sound_database, caller, event, [4], key="k", digest=b"d")
    with pytest.raises(errors.KeyReusedError):
        await hold_seats(sound_database, caller, event, [5], key="k", digest=b"other")


async def test_keys_are_the_callers_own(sound_database: Database) -> None:
    event = await make_event(sound_database)
    one = await hold_seats(sound_database, fan(), event, [4], key="k", digest=b"d")
    other = await hold_seats(sound_database, fan(), event, [5], key="k", digest=b"d")
    assert one.value.hold_id != other.value.hold_id
    assert not other.replayed


async def test_a_replay_after_expiry_and_takeover_is_the_old_hold_unextended(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    caller = fan()
    first = await hold_seats(sound_database, caller, event, [4], key="k", digest=b"d")
    await clock.move(seconds=301)
    taker = await Desk(sound_database, fan(), event).hold(4)

    again = await hold_seats(sound_database, caller, event, [4], key="k", digest=b"d")

    assert again.replayed
    assert again.value.hold_id == first.value.hold_id
    assert again.value.expires_at == first.value.expires_at
    assert again.value.status is HoldStatus.EXPIRED
    assert (await seat_states(sound_database, event))[4][1] == taker.hold_id


@pytest.mark.parametrize(("early_by_us", "wins"), [(0, True), (1, False)])
async def test_a_hold_is_over_at_the_exact_instant(
    sound_database: Database, clock: Clock, early_by_us: int, wins: bool
) -> None:
    """R4: now >= expires_at is expired, to the microsecond."""
    event = await make_event(sound_database)
    held = await Desk(sound_database, fan(), event).hold(4)
    await clock.stand_at(held.expires_at - timedelta(microseconds=early_by_us))

    seen = await read_hold(sound_database, till(Role.SUPERVISOR), held.hold_id)
    assert seen.status is (HoldStatus.EXPIRED if wins else HoldStatus.HELD)
    if wins:
        taken = await Desk(sound_database, fan(), event).hold(4)
        assert taken.hold_id != held.hold_id
    else:
        with pytest.raises(errors.SeatsTakenError):
            await Desk(sound_database, fan(), event).hold(4)


async def test_b13_expired_seats_are_sold_again_with_the_sweeper_stopped(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database, seats=10, max_per_account=9)
    first = Desk(sound_database, fan(), event)
    await first.hold(0, 1, 2, 3, 4, 5)
    await Desk(sound_database, fan(), event).hold(6, 7, 8)
    await clock.move(seconds=300)

    taken = await Desk(sound_database, fan(), event).hold(2, 7)

    assert [seat.seat_no for seat in taken.seats] == [2, 7]
    open_seats = await count(
        sound_database, "SELECT count(*) FROM seats WHERE status = 1 AND hold_expires_at > booking_now()"
    )
    assert open_seats == 2


async def test_a_new_hold_on_an_expired_one_has_a_new_id_and_the_old_one_cannot_free_it(
    sound_database: Database, clock: Clock
) -> None:
    """R9, R5: the first buyer's late release touches nothing of the second one's."""
    event = await make_event(sound_database)
    first = Desk(sound_database, fan(), event)
    old = await first.hold(4, 5)
    await clock.move(seconds=301)
    new = await Desk(sound_database, fan(), event).hold(5, 6)

    await released(sound_database, first.caller, old.hold_id)

    states = await seat_states(sound_database, event)
    assert states[4][0] == SeatStatus.AVAILABLE
    assert states[5] == (SeatStatus.HELD, new.hold_id, None)


async def test_a_fan_has_one_open_hold(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    hold = await desk.hold(1)
    with pytest.raises(errors.OpenHoldExistsError):
        await desk.hold(2)
    await released(sound_database, desk.caller, hold.hold_id)
    await desk.hold(2)
    await clock.move(seconds=301)
    assert (await desk.hold(3)).status is HoldStatus.HELD


async def test_b17_the_limit_counts_tickets_bought_and_wanted(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=4)
    buyer = till()
    desk = Desk(sound_database, fan(), event)
    with pytest.raises(errors.AccountLimitError):
        await desk.hold(1, 2, 3, 4, 5)
    order = await desk.check_out(await desk.hold(1, 2, 3))
    await _settle_authorized(sound_database, desk, order)
    with pytest.raises(errors.AccountLimitError):
        await desk.hold(4, 5)
    await desk.hold(4)
    # A till sells without a named buyer: its parked sales are capped, not its tickets.
    await Desk(sound_database, buyer, event).sell(10, 11, 12, 13, 14, 15)
    await Desk(sound_database, buyer, event).sell(16, 17)


async def _settle_authorized(db: Database, desk: Desk, order: Any) -> None:
    from booking.domain.model import OperationResult, ResultOutcome
    from booking.domain.states import OperationKind
    from booking.services.take_payment import mark_sent, record_result

    step = await desk.pay(order, OperationKind.AUTHORIZE)
    assert await mark_sent(db, step.operation.operation_id)
    result = OperationResult(ResultOutcome.SUCCEEDED, order.amount_minor, "ref")
    settled = await record_result(db, step.operation.operation_id, result, source="provider:sandbox")
    assert settled.order.status == "CONFIRMED"


async def test_a_till_parks_a_capped_number_of_sales(sound_database: Database) -> None:
    event = await make_event(sound_database, max_open_holds_till=2)
    desk = Desk(sound_database, till(), event)
    await desk.hold(1)
    parked = await desk.hold(2)
    with pytest.raises(errors.OpenHoldExistsError):
        await desk.hold(3)
    await released(sound_database, desk.caller, parked.hold_id)
    assert (await desk.hold(3)).status is HoldStatus.HELD


NO_SEATS: tuple[list[Any], ...] = (
    [], [1] * 7, list(range(7)), [1, 1], [-1], [2**63], [10**9], [1.5], ["1"], [True], [None],
)  # fmt: skip


async def test_b18_what_is_no_seat_is_refused_and_writes_nothing(sound_database: Database) -> None:
    event = await make_event(sound_database)
    for seats in NO_SEATS:
        with pytest.raises(errors.InvalidRequestError) as refused:
            await hold_seats(sound_database, fan(), event, seats, key="k", digest=b"d")
        assert refused.value.fields, seats
        assert all(fault.pointer.startswith("/seats") for fault in refused.value.fields)
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


async def test_a_seat_that_the_plan_lacks_is_named(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=10)
    with pytest.raises(errors.SeatUnknownError) as refused:
        await Desk(sound_database, fan(), event).hold(9, 10, 11)
    assert [seat.seat_no for seat in refused.value.seats] == [10, 11]


async def test_g8_an_unusable_key_is_refused_by_name(sound_database: Database) -> None:
    event = await make_event(sound_database)
    for key in ("", "k" * 201, "a\x00b", "a\ud800b"):
        with pytest.raises(errors.InvalidRequestError) as refused:
            await hold_seats(sound_database, fan(), event, [1], key=key, digest=b"d")
        assert refused.value.fields[0].pointer == "header:Idempotency-Key"


async def test_an_event_that_is_not_on_sale_takes_no_holds(sound_database: Database) -> None:
    paused = await make_event(sound_database, status="PAUSED")
    early = await make_event(sound_database)
    await sound_database.fetch(
        "UPDATE events SET sale_opens_at = booking_now() + interval '1 h' WHERE event_id = $1", early
    )
    for event in (paused, early):
        with pytest.raises(errors.EventNotOnSaleError):
            await Desk(sound_database, fan(), event).hold(1)
    for nowhere in (987_654, -1, 2**40):
        with pytest.raises(errors.EventNotFoundError):
            await Desk(sound_database, fan(), nowhere).hold(1)


async def test_only_its_owner_sees_and_releases_a_hold(sound_database: Database) -> None:
    event = await make_event(sound_database)
    owner, stranger, clerk, ops, supervisor = fan(), fan(), till(), till(Role.OPS), till(Role.SUPERVISOR)
    hold = await Desk(sound_database, owner, event).hold(1)
    for caller in (stranger, clerk):
        with pytest.raises(errors.HoldNotFoundError):
            await read_hold(sound_database, caller, hold.hold_id)
    for caller in (stranger, clerk, ops):
        with pytest.raises(errors.HoldNotFoundError):
            await released(sound_database, caller, hold.hold_id)
    assert (await read_hold(sound_database, ops, hold.hold_id)).hold_id == hold.hold_id
    assert (await released(sound_database, supervisor, hold.hold_id)).status is HoldStatus.RELEASED


async def test_a_release_frees_the_seats_once(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    hold = await desk.hold(1, 2)
    first = await released(sound_database, desk.caller, hold.hold_id)
    again = await released(sound_database, desk.caller, hold.hold_id)
    assert first.status is again.status is HoldStatus.RELEASED
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'seats-released'") == 1
    assert {state for state, _, _ in (await seat_states(sound_database, event)).values()} == {SeatStatus.AVAILABLE}


async def test_a_hold_that_is_being_paid_is_not_released(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    hold = await desk.hold(1)
    order = await desk.check_out(hold)
    with pytest.raises(errors.HoldNotOpenError):
        await released(sound_database, desk.caller, hold.hold_id)
    assert (await read_hold(sound_database, desk.caller, hold.hold_id)).order_id == order.order_id


async def test_an_unknown_hold_is_not_found(sound_database: Database) -> None:
    with pytest.raises(errors.HoldNotFoundError):
        await read_hold(sound_database, fan(), uuid4())
    with pytest.raises(errors.HoldNotFoundError):
        await released(sound_database, fan(), uuid4())


async def test_events_and_plans_are_read_as_they_were_stored(sound_database: Database) -> None:
    event_id = await make_event(sound_database, seats=30)
    (summary,) = (await list_events(sound_database)).events
    event = await read_event(sound_database, event_id)
    assert (summary.event_id, event.name, event.seat_count, event.currency) == (event_id, "An evening", 30, "EUR")
    assert [(price.price_type_id, price.amount_minor) for price in event.prices] == [(1, ADULT_PRICE), (2, 1500)]
    document = await read_plan_document(sound_database, event.plan_id, event.plan_version)
    assert digest_of(document) == digest_of(
        bytes((await sound_database.fetch("SELECT document FROM plans"))[0]["document"])
    )
    with pytest.raises(errors.EventNotFoundError):
        await read_event(sound_database, 2**40)
    with pytest.raises(errors.NotFoundError):
        await read_plan_document(sound_database, uuid4(), 1)
