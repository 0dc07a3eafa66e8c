"""Settings, pause, resume and cancel of an event under sales: versions, audit, and what becomes of sales under way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.control import EventSettings, SettingsChange
from booking.domain.errors import (
    BookingError,
    EventNotFoundError,
    EventNotOnSaleError,
    EventStateConflictError,
    InvalidRequestError,
    KeyReusedError,
    SettingsChangedError,
)
from booking.domain.model import EventDetail, EventStatus, OperationResult, OrphanRule, ResultOutcome
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind, OrderStatus
from booking.services import control_event
from booking.services.control_event import wait_for_sales_under_way
from booking.services.hold_seats import read_hold
from booking.services.orders import read_order
from booking.services.take_payment import record_result
from booking.store import control_calls
from booking.store.database import Database
from booking.store.sale_calls import KeyUse, mark_sent
from tests.server.box_office import Clock, Desk, count, digest_of, fan, make_event, seat_states, till
from tests.server.web_api import Api, api_over, problem, read

FREE, HELD, PAYING, SOLD, BLOCKED = range(5)
PAUSED, ON_SALE, CANCELLED = EventStatus.PAUSED, EventStatus.ON_SALE, EventStatus.CANCELLED


async def set_to(
    db: Database, event_id: int, expected: int, change: SettingsChange, key: str | None = None
) -> EventSettings:
    outcome = await control_event.change_settings(
        db,
        till(Role.OPS),
        event_id,
        expected,
        change,
        "a long queue",
        key=key or str(uuid4()),
        digest=digest_of(change),
    )
    return outcome.value


async def turn(db: Database, event_id: int, expected: int, status: EventStatus) -> Outcome[EventDetail]:
    return await control_event.change_status(
        db, till(Role.SUPERVISOR), event_id, expected, status, "the stage is wet", key=str(uuid4()), digest=b""
    )


# ---------------------------------------------------------------- settings


async def test_settings_change_by_name_and_the_others_stay(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    before = await control_event.read_settings(sound_database, event_id)
    after = await set_to(
        sound_database, event_id, 1, SettingsChange(hold_ttl_s=120, orphan_rule=OrphanRule.STRICT, paying_cap=50)
    )
    assert (before.version, before.hold_ttl_s, before.orphan_rule) == (1, 300, OrphanRule.OFF)
    assert (after.version, after.hold_ttl_s, after.orphan_rule, after.paying_cap) == (2, 120, OrphanRule.STRICT, 50)
    assert (after.grace_s, after.max_per_account, after.max_per_card) == (120, 6, 6)


async def test_a_change_of_the_time_to_live_touches_new_holds_alone(sound_database: Database) -> None:
    """R4: what was promised to a buyer stays."""
    event_id = await make_event(sound_database)
    buyer = Desk(sound_database, fan(), event_id)
    hold = await buyer.hold(1)
    await set_to(sound_database, event_id, 1, SettingsChange(hold_ttl_s=30))
    assert (await read_hold(sound_database, buyer.caller, hold.hold_id)).expires_at == hold.expires_at
    new = await Desk(sound_database, fan(), event_id).hold(2)
    assert new.expires_at - new.created_at == timedelta(seconds=30)
    assert hold.expires_at - hold.created_at == timedelta(seconds=300)


async def test_a_lowered_limit_binds_from_now_on_and_breaks_no_rule_for_what_was_sold(
    sound_database: Database, clock: Clock
) -> None:
    event_id = await make_event(sound_database)
    buyer = Desk(sound_database, fan(), event_id)
    await buyer.hold(1, 2, 3, 4)
    await set_to(sound_database, event_id, 1, SettingsChange(max_per_account=2))
    with pytest.raises(BookingError) as refused:
        await Desk(sound_database, fan(), event_id).hold(5, 6, 7)
    assert refused.value.code == "account-limit"


async def test_of_two_changes_made_from_one_version_the_second_is_refused(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    tries = [set_to(sound_database, event_id, 1, SettingsChange(grace_s=grace)) for grace in (30, 60)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(one).__name__ for one in outcomes) == ["EventSettings", "SettingsChangedError"]
    assert (await control_event.read_settings(sound_database, event_id)).version == 2


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (SettingsChange(), ""),
        (SettingsChange(hold_ttl_s=0), "/hold_ttl_s"),
        (SettingsChange(hold_ttl_s=901), "/hold_ttl_s"),
        (SettingsChange(grace_s=-1), "/grace_s"),
        (SettingsChange(max_per_card=True), "/max_per_card"),
        (SettingsChange(paying_cap=1_000_001), "/paying_cap"),
    ],
)
async def test_a_setting_out_of_bounds_is_named_and_nothing_changes(
    sound_database: Database, change: SettingsChange, pointer: str
) -> None:
    event_id = await make_event(sound_database)
    with pytest.raises(InvalidRequestError) as refused:
        await set_to(sound_database, event_id, 1, change)
    assert [fault.pointer for fault in refused.value.fields] == [pointer]
    assert (await control_event.read_settings(sound_database, event_id)).version == 1


@pytest.mark.parametrize("hold_ttl_s", [10, 9, 1])
async def test_a_hold_that_could_never_be_paid_is_refused_by_name(sound_database: Database, hold_ttl_s: int) -> None:
    """The least time to pay is ten seconds: whoever holds for no longer sells nothing. Nothing is spent or written."""
    event_id = await make_event(sound_database)
    change = SettingsChange(hold_ttl_s=hold_ttl_s, grace_s=5)
    with pytest.raises(InvalidRequestError) as refused:
        await set_to(sound_database, event_id, 1, change)
    assert [fault.pointer for fault in refused.value.fields] == ["/hold_ttl_s"]
    assert (await control_event.read_settings(sound_database, event_id)).version == 1
    assert await audited(sound_database, "settings-changed") == []
    assert (await set_to(sound_database, event_id, 1, SettingsChange(hold_ttl_s=11))).hold_ttl_s == 11


async def test_the_database_itself_keeps_holds_longer_than_payments(sound_database: Database) -> None:
    """Whoever writes past the service, and the other setting of the two."""
    event_id = await make_event(sound_database)
    for column, value in (("hold_ttl_s", 10), ("min_time_to_pay_s", 300)):
        with pytest.raises(InvalidRequestError):
            await sound_database.fetch(f"UPDATE events SET {column} = $2 WHERE event_id = $1", event_id, value)


async def test_the_same_key_changes_settings_once(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    ops = till(Role.OPS)
    change = SettingsChange(grace_s=60)
    for replayed in (False, True):
        outcome = await control_event.change_settings(
            sound_database, ops, event_id, 1, change, "why", key="k", digest=digest_of(change)
        )
        assert (outcome.replayed, outcome.value.version) == (replayed, 2)
    with pytest.raises(KeyReusedError):
        await control_event.change_settings(
            sound_database, ops, event_id, 2, change, "why", key="k", digest=digest_of("another")
        )


async def audited(db: Database, action: str) -> list[tuple[str, str, Any]]:
    rows = await db.fetch("SELECT principal, reason, detail FROM audit_log WHERE action = $1 ORDER BY audit_id", action)
    return [(row["principal"], row["reason"], json.loads(row["detail"])) for row in rows]


async def test_each_change_is_audited_who_when_from_to_why(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    await set_to(sound_database, event_id, 1, SettingsChange(hold_ttl_s=120, max_per_account=4))
    await turn(sound_database, event_id, 2, PAUSED)
    ((_, why, settings),) = await audited(sound_database, "settings-changed")
    assert (why, settings["from"], settings["to"], settings["version"]) == (
        "a long queue", {"hold_ttl_s": 300, "max_per_account": 6}, {"hold_ttl_s": 120, "max_per_account": 4}, 2,
    )  # fmt: skip
    ((who, why, status),) = await audited(sound_database, "event-status-changed")
    assert (why, status["from"], status["to"], status["version"]) == ("the stage is wet", "ON_SALE", "PAUSED", 3)
    assert who.startswith("device:")
    assert status["staff_id"] is not None


# ---------------------------------------------------------------- pause and resume


async def test_a_paused_event_takes_no_new_holds_and_lets_sales_under_way_finish(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    buyer = Desk(sound_database, fan(), event_id)
    hold = await buyer.hold(1)
    paying = Desk(sound_database, till(), event_id)
    order = await paying.check_out(await paying.hold(2))
    detail = (await turn(sound_database, event_id, 1, PAUSED)).value
    assert (detail.status, detail.settings_version) == (PAUSED, 2)
    with pytest.raises(EventNotOnSaleError):
        await Desk(sound_database, fan(), event_id).hold(3)
    assert (await paying.pay(order, OperationKind.CASH)).order.status is OrderStatus.CONFIRMED
    await buyer.pay(await buyer.check_out(hold), OperationKind.AUTHORIZE)
    assert (await turn(sound_database, event_id, 2, ON_SALE)).value.status is ON_SALE
    await Desk(sound_database, fan(), event_id).hold(3)


# From before any hold is made until after all of them are: somewhere between, they race.
PAUSES_AFTER_S = (0.0, *(0.001 * 2**power for power in range(9)))


async def test_when_a_pause_is_answered_no_hold_is_still_to_be_made(
    sound_database: Database, other_database: Database
) -> None:
    """Holds race the pause from two processes: whatever is made later than its answer would show here."""
    event_id = await make_event(sound_database, seats=40 * len(PAUSES_AFTER_S))

    async def buyer(db: Database, seat: int) -> bool:
        try:
            await Desk(db, fan(), event_id).hold(seat)
        except EventNotOnSaleError:
            return False
        return True

    version = 1
    for turn_no, after_s in enumerate(PAUSES_AFTER_S):
        crowd = [
            asyncio.create_task(buyer(db, 40 * turn_no + place * 2 + which))
            for place in range(20)
            for which, db in enumerate((sound_database, other_database))
        ]
        await asyncio.sleep(after_s)
        await turn(other_database, event_id, version, PAUSED)
        held = await count(sound_database, "SELECT count(*) FROM holds")
        await asyncio.gather(*crowd)
        assert await count(sound_database, "SELECT count(*) FROM holds") == held
        await turn(other_database, event_id, version + 1, ON_SALE)
        version += 2
    assert await count(sound_database, "SELECT count(*) FROM holds") > 0


async def test_a_pause_waits_for_a_sale_that_began_before_it(sound_database: Database, dsn: str) -> None:
    slow = await asyncpg.connect(dsn)
    try:
        transaction = slow.transaction()
        await transaction.start()
        await slow.fetch("SELECT status FROM events")
        waiting = asyncio.create_task(wait_for_sales_under_way(sound_database))
        for _ in range(5):
            await sound_database.fetch("SELECT 1")
        assert not waiting.done()
        await transaction.rollback()
        async with asyncio.timeout(60):
            await waiting
    finally:
        await slow.close()


@pytest.mark.parametrize(
    ("now", "then"), [("ON_SALE", ON_SALE), ("PAUSED", PAUSED), ("CANCELLED", ON_SALE), ("CANCELLED", CANCELLED)]
)
async def test_an_event_turns_only_where_it_may(sound_database: Database, now: str, then: EventStatus) -> None:
    event_id = await make_event(sound_database, status=now)
    with pytest.raises(EventStateConflictError):
        await turn(sound_database, event_id, 1, then)
    assert await audited(sound_database, "event-status-changed") == []


async def test_a_change_of_status_names_its_version_and_its_event(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    with pytest.raises(SettingsChangedError):
        await turn(sound_database, event_id, 7, PAUSED)
    for unknown in (event_id + 1, -1, 2**31):
        with pytest.raises(EventNotFoundError):
            await turn(sound_database, unknown, 1, PAUSED)


# ---------------------------------------------------------------- cancel


async def test_a_cancelled_event_frees_what_is_unpaid_and_keeps_what_is_sold(sound_database: Database) -> None:
    event_id = await make_event(sound_database)
    holder, parked, chosen = (Desk(sound_database, fan(), event_id) for _ in range(3))
    hold = await holder.hold(1)
    order = await parked.check_out(await parked.hold(2))
    unsent = await chosen.pay(await chosen.check_out(await chosen.hold(3)), OperationKind.AUTHORIZE)
    sold = await Desk(sound_database, till(), event_id).sell(4)
    assert (await turn(sound_database, event_id, 1, CANCELLED)).value.status is CANCELLED
    states = await seat_states(sound_database, event_id)
    assert [states[seat][0] for seat in (1, 2, 3, 4)] == [FREE, FREE, FREE, SOLD]
    assert (await read_hold(sound_database, holder.caller, hold.hold_id)).status == "RELEASED"
    for desk, one in ((parked, order), (chosen, unsent.order)):
        assert (await read_order(sound_database, desk.caller, one.order_id)).status is OrderStatus.CANCELLED
    assert await mark_sent(sound_database, unsent.operation.operation_id) is False
    boss = till(Role.SUPERVISOR)
    assert (await read_order(sound_database, boss, sold.order.order_id)).status is OrderStatus.CONFIRMED
    with pytest.raises(EventNotOnSaleError):
        await Desk(sound_database, fan(), event_id).hold(5)


async def test_the_same_key_goes_on_with_a_cancellation_whose_api_died_after_its_first_commit(
    sound_database: Database,
) -> None:
    """G5: the status is committed first; what ends the unpaid sales may be begun again by whoever repeats the call."""
    event_id = await make_event(sound_database)
    await Desk(sound_database, fan(), event_id).hold(1)
    boss = till(Role.ADMIN)
    await control_calls.change_event_status(
        sound_database, boss, event_id, 1, CANCELLED, "the stage is wet", KeyUse("k", b"d")
    )
    assert (await seat_states(sound_database, event_id))[1][0] == HELD
    outcome = await control_event.change_status(
        sound_database, boss, event_id, 1, CANCELLED, "the stage is wet", key="k", digest=b"d"
    )
    assert (outcome.replayed, outcome.value.status) == (True, CANCELLED)
    assert (await seat_states(sound_database, event_id))[1][0] == FREE


async def test_a_late_success_in_a_cancelled_event_is_given_back(sound_database: Database) -> None:
    """R25: the charge was under way; the order waits for its result, and the money goes back."""
    event_id = await make_event(sound_database)
    buyer = Desk(sound_database, fan(), event_id)
    step = await buyer.sell(1, kind=OperationKind.AUTHORIZE)
    assert await mark_sent(sound_database, step.operation.operation_id)
    await turn(sound_database, event_id, 1, CANCELLED)
    assert (await seat_states(sound_database, event_id))[1][0] == PAYING
    paid = OperationResult(ResultOutcome.SUCCEEDED, step.order.amount_minor, "ref")
    await record_result(sound_database, step.operation.operation_id, paid, source="provider:sandbox")
    order = await read_order(sound_database, buyer.caller, step.order.order_id)
    assert order.status is OrderStatus.CANCELLED
    assert [one.kind for one in order.operations] == [OperationKind.AUTHORIZE, OperationKind.VOID]
    assert (await seat_states(sound_database, event_id))[1][0] == FREE


async def test_a_late_decline_in_a_cancelled_event_leaves_nothing_that_can_be_paid(
    sound_database: Database, clock: Clock
) -> None:
    event_id = await make_event(sound_database)
    buyer = Desk(sound_database, fan(), event_id)
    step = await buyer.sell(1, kind=OperationKind.AUTHORIZE)
    assert await mark_sent(sound_database, step.operation.operation_id)
    await turn(sound_database, event_id, 1, CANCELLED)
    declined = OperationResult(ResultOutcome.DECLINED, step.order.amount_minor, "ref", decline_code="no")
    await record_result(sound_database, step.operation.operation_id, declined, source="provider:sandbox")
    order = await read_order(sound_database, buyer.caller, step.order.order_id)
    with pytest.raises(EventNotOnSaleError):
        await buyer.pay(order, OperationKind.AUTHORIZE)


async def test_an_event_is_cancelled_in_a_storm_and_nothing_unpaid_is_left(
    sound_database: Database, other_database: Database
) -> None:
    event_id = await make_event(sound_database, seats=240)

    async def buyer(db: Database, seat: int) -> str:
        try:
            desk = Desk(db, fan(), event_id)
            order = await desk.check_out(await desk.hold(seat))
            await desk.pay(order, OperationKind.AUTHORIZE)
        except BookingError as error:
            return error.code
        return ""

    crowd = [
        asyncio.create_task(buyer(db, place * 2 + which))
        for place in range(60)
        for which, db in enumerate((sound_database, other_database))
    ]
    while await count(sound_database, "SELECT count(*) FROM orders") < 10:
        await asyncio.sleep(0)
    await turn(other_database, event_id, 1, CANCELLED)
    outcomes = set(await asyncio.gather(*crowd))
    assert outcomes <= {"", "event-not-on-sale", "hold-not-open", "hold-expired", "order-not-payable"}
    assert await count(sound_database, "SELECT count(*) FROM holds WHERE ended_at IS NULL") == 0
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status <> 0") == 0
    assert await count(sound_database, "SELECT count(*) FROM orders WHERE status <> 'CANCELLED'") == 0


# ---------------------------------------------------------------- HTTP


@pytest.fixture
async def api(sound_database: Database) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def test_operators_set_pause_resume_and_cancel_over_http(api: Api) -> None:
    event_id = await make_event(api.db)
    ops = await api.staff(Role.OPS)
    path = f"/v1/events/{event_id}"
    body = wire.EventSettingsChange(expected_version=1, reason="slow terminals", grace_s=240)
    changed = await api.call("PUT", f"{path}/settings", body, token=ops, key="once")
    assert read(changed, wire.EventSettings).grace_s == 240
    again = await api.call("PUT", f"{path}/settings", body, token=ops, key="once")
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    stale = await api.call("PUT", f"{path}/settings", body, token=ops)
    assert "again" in problem(stale, wire.ErrorCode.SETTINGS_CHANGED).detail
    for verb, version, status in (("pause", 2, "PAUSED"), ("resume", 3, "ON_SALE")):
        turned = await api.call(
            "POST", f"{path}/{verb}", wire.EventStatusChange(expected_version=version, reason="a test"), token=ops
        )
        assert read(turned, wire.EventDetail).status == status
    boss = await api.staff(Role.SUPERVISOR)
    end = wire.EventStatusChange(expected_version=4, reason="the hall is flooded")
    assert read(await api.call("POST", f"{path}/cancel", end, token=boss), wire.EventDetail).status == "CANCELLED"
    problem(
        await api.call("POST", f"{path}/resume", wire.EventStatusChange(expected_version=5, reason="no"), token=ops),
        wire.ErrorCode.EVENT_STATE_CONFLICT,
    )
    empty = await api.call("PUT", f"{path}/settings", {"expected_version": 5, "reason": "x"}, token=ops)
    problem(empty, wire.ErrorCode.INVALID_REQUEST)
    wrong = await api.call("PUT", f"{path}/settings", {"expected_version": 5, "reason": "x", "grace_s": 1e9}, token=ops)
    assert problem(wrong, wire.ErrorCode.INVALID_REQUEST).fields[0].pointer == "/grace_s"
