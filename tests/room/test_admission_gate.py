"""The gate at the authority, over the real API and PostgreSQL: who holds, what a purchase spends (W3, W4, W6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from time import time
from uuid import uuid4

import pytest

from backend_client import wire
from booking.domain.admission_token import SKEW_S, session_digest
from booking.domain.caller import Caller, Role
from booking.domain.errors import AdmissionRefusedError
from booking.room.key_ring import KeyRing
from booking.store.database import Database
from tests.room.gate_house import Shopper, publish, ring_of
from tests.server.box_office import Desk, count, make_event
from tests.server.web_api import Api, api_over, problem


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


@pytest.fixture
async def ring(database: Database) -> KeyRing:
    return await ring_of(database)


@pytest.fixture
async def event(database: Database) -> int:
    return await make_event(database, 40, admission=True)


def reason_of(answer: wire.Problem) -> str:
    return answer.fields[0].message


async def test_an_event_without_a_room_sells_as_before(api: Api, ring: KeyRing) -> None:
    event = await make_event(api.db, 40)
    shopper = await Shopper.come(api, ring, event)
    assert (await shopper.hold(1)).status_code == 201


async def test_no_token_no_hold(api: Api, ring: KeyRing, event: int) -> None:
    """W6: 403, and no hold."""
    shopper = await Shopper.come(api, ring, event)
    problem(await shopper.hold(1), wire.ErrorCode.ADMISSION_REQUIRED)
    assert await count(api.db, "SELECT count(*) FROM holds") == 0
    assert (await shopper.hold(1, shopper.admission())).status_code == 201


async def test_a_token_that_is_not_good_here_holds_nothing(api: Api, ring: KeyRing, event: int) -> None:
    """W6, through the API: another's, another event's, an old one, one too early, of an unknown key, a copied one."""
    shopper, now = await Shopper.come(api, ring, event), int(time())
    stranger = KeyRing()
    stranger.rotate(time())
    other_ring = Shopper(api, stranger, event, shopper.account_id, shopper.token)
    attacks = {
        "event": shopper.admission(event_id=event + 1),
        "account": shopper.admission(account_id=uuid4()),
        "expired": shopper.admission(not_before=now - 90, expires_at=now - SKEW_S),
        "early": shopper.admission(not_before=now + 30),
        "key": other_ring.admission(),
        "session": shopper.admission(session=session_digest("another browser")),
        "malformed": "nonsense",
        "forged": shopper.admission()[:-4] + "AAAA",
    }
    for reason, token in attacks.items():
        assert reason_of(problem(await shopper.hold(1, token), wire.ErrorCode.ADMISSION_REFUSED)) == reason
    assert await count(api.db, "SELECT count(*) FROM holds") == 0
    counted = api.app.services.admission
    assert counted is not None
    assert {name for name in counted.counts if counted.counts[name]} == {f"refused:{reason}" for reason in attacks}


async def test_a_copy_in_a_second_session_is_refused_once_the_other_took_over(
    api: Api, ring: KeyRing, event: int
) -> None:
    shopper = await Shopper.come(api, ring, event)
    phone = shopper.admission()
    hold = await shopper.hold(1, phone)
    assert hold.status_code == 201
    await api.call("DELETE", f"/v1/holds/{hold.json()['hold_id']}", token=shopper.token)
    laptop = shopper.admission(generation=2, session=session_digest("the laptop's own secret"))
    assert (await shopper.hold(2, laptop, "the laptop's own secret")).status_code == 201
    assert reason_of(problem(await shopper.hold(3, phone), wire.ErrorCode.ADMISSION_REFUSED)) == "superseded"
    same_generation = shopper.admission(generation=2)
    refused = problem(await shopper.hold(3, same_generation), wire.ErrorCode.ADMISSION_REFUSED)
    assert reason_of(refused) == "superseded"


async def test_a_purchase_spends_the_slot_and_every_token_of_it(api: Api, ring: KeyRing, event: int) -> None:
    """W3: also one that was signed before the purchase and never used, and one of a session that took over since."""
    shopper = await Shopper.come(api, ring, event)
    await shopper.buy(await shopper.hold(1, shopper.admission()))
    for token in (shopper.admission(), shopper.admission(generation=9), shopper.admission(expires_at=int(time()) + 90)):
        assert reason_of(problem(await shopper.hold(2, token), wire.ErrorCode.ADMISSION_REFUSED)) == "spent"
    shopper.slot_id = uuid4()
    assert (await shopper.hold(2, shopper.admission(generation=10))).status_code == 201


async def test_a_hold_that_was_answered_is_answered_again_after_the_purchase(
    api: Api, ring: KeyRing, event: int
) -> None:
    """R6: a replay asks for nothing new, so it needs no turn."""
    shopper = await Shopper.come(api, ring, event)
    first = await shopper.hold(1, shopper.admission(), key="the-key-of-this-hold")
    await shopper.buy(first)
    again = await shopper.hold(1, shopper.admission(), key="the-key-of-this-hold")
    assert (again.status_code, again.json()["hold_id"]) == (201, first.json()["hold_id"])
    assert again.headers[wire.REPLAYED_HEADER] == "true"


async def test_no_way_to_a_hold_goes_past_the_room(api: Api, ring: KeyRing, event: int) -> None:
    """The database asks as well: without the gate in front a fan holds nothing, alone or in a batch."""
    shopper = await Shopper.come(api, ring, event)
    desks = [Desk(api.db, Caller.fan(uuid4()), event) for _ in range(20)]
    refused = await asyncio.gather(*(desk.hold(seat) for seat, desk in enumerate(desks)), return_exceptions=True)
    assert {type(one) for one in refused} == {AdmissionRefusedError}
    assert (await shopper.hold(30, shopper.admission())).status_code == 201


async def test_tills_are_not_asked_and_are_counted(api: Api, event: int) -> None:
    token = await api.staff(Role.CLERK)
    held = await api.call("POST", f"/v1/events/{event}/holds", {"seats": [1]}, token=token)
    assert held.status_code == 201
    assert api.app.services.admission is not None
    assert api.app.services.admission.counts == {"excepted": 1}


async def test_keys_change_while_the_api_runs(api: Api, ring: KeyRing, event: int) -> None:
    shopper = await Shopper.come(api, ring, event)
    old = shopper.admission()
    gate = api.app.services.admission
    assert gate is not None
    ring.rotate(time(), at_once=True)
    await publish(api.db, ring)
    gate._asks.clear()  # as a second later
    assert reason_of(problem(await shopper.hold(1, old), wire.ErrorCode.ADMISSION_REFUSED)) == "key"
    gate._keys_read_at = float("-inf")
    assert (await shopper.hold(1, shopper.admission())).status_code == 201


async def test_two_rooms_of_one_database_leave_each_others_keys_alone(api: Api, ring: KeyRing, event: int) -> None:
    """Each names its own: one that retired all keys but its own would turn away the fans of the other."""
    other = await ring_of(api.db)
    assert api.app.services.admission is not None
    for seat, room in enumerate((ring, other, ring)):
        await publish(api.db, room)
        api.app.services.admission._asks.clear()
        shopper = await Shopper.come(api, room, event)
        assert (await shopper.hold(seat, shopper.admission())).status_code == 201


async def test_a_room_that_is_never_heard_again_keeps_its_keys_for_a_day(api: Api, ring: KeyRing, event: int) -> None:
    assert api.app.services.admission is not None
    shopper = await Shopper.come(api, ring, event)
    await api.db.fetch("UPDATE admission_keys SET published_at = published_at - interval '25 hours'")
    api.app.services.admission._asks.clear()
    refused = await shopper.hold(1, shopper.admission())
    assert reason_of(problem(refused, wire.ErrorCode.ADMISSION_REFUSED)) == "key"
    await publish(api.db, ring)
    api.app.services.admission._asks.clear()
    assert (await shopper.hold(1, shopper.admission())).status_code == 201


async def test_the_slot_is_over_for_the_database_too(api: Api, ring: KeyRing, event: int) -> None:
    """W4: a session whose slot has ended holds nothing, whatever a process may still believe of its token."""
    shopper = await Shopper.come(api, ring, event)
    assert (await shopper.hold(1, shopper.admission())).status_code == 201
    past = timedelta(seconds=SKEW_S + 1)
    await api.db.fetch("UPDATE admission_sessions SET slot_ends_at = booking_now() - $1::interval", past)
    desk = Desk(api.db, Caller.fan(shopper.account_id), event)
    with pytest.raises(AdmissionRefusedError):
        await desk.hold(2)


async def test_admission_is_set_like_every_setting(api: Api, ring: KeyRing) -> None:
    event = await make_event(api.db, 40)
    change = {"expected_version": 1, "reason": "the opening", "admission": True}
    supervisor = await api.staff(Role.SUPERVISOR)
    changed = await api.call("PUT", f"/v1/events/{event}/settings", change, token=supervisor)
    assert (changed.status_code, changed.json()["admission"]) == (200, True)
    shopper = await Shopper.come(api, ring, event)
    problem(await shopper.hold(1), wire.ErrorCode.ADMISSION_REQUIRED)
    assert await count(api.db, "SELECT count(*) FROM audit_log WHERE subject = $1", str(event)) == 1
