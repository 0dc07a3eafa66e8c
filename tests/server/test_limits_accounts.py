"""Limits of accounts and tills, and the access codes that raise them, at the hold and at the confirmation (R8, B17)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend_client import wire
from booking.domain import errors
from booking.domain.caller import Caller, Role
from booking.domain.control import SettingsChange
from booking.domain.model import (
    AccessCode,
    AccessCodeTerms,
    BestAvailable,
    CheckoutLine,
    Hold,
    OperationResult,
    ResultOutcome,
    TierQuantity,
)
from booking.domain.states import OperationKind
from booking.services.access_codes import list_access_codes, set_access_code
from booking.services.check_out import check_out
from booking.services.control_event import change_settings
from booking.services.hold_seats import MoreOfHold, hold_seats
from booking.services.take_payment import record_result
from booking.store.database import Database
from tests.server.box_office import (
    ADULT,
    ADULT_PRICE,
    CHILD,
    CHILD_PRICE,
    Clock,
    Desk,
    count,
    digest_of,
    fan,
    make_event,
    released,
    till,
)
from tests.server.general_admission import FLOOR, make_standing
from tests.server.test_authority_races import outcome_of
from tests.server.web_api import api_over, problem, read

BALCONY_PRICE = 2_500


async def hold_with(
    db: Database, caller: Caller, event: int, *seats: int, code: str = "FRIENDS", key: str | None = None
) -> Hold:
    """A hold that names an access code."""
    outcome = await hold_seats(
        db, caller, event, seats, key=key or str(uuid4()), digest=digest_of(seats, code), access_code=code
    )
    return outcome.value


async def make_code(db: Database, event: int, code: str = "friends", **terms: Any) -> AccessCode:
    """A code of the event that raises limits to 6 unless the terms say else."""
    wanted = AccessCodeTerms(code, **{"max_per_account": 6, **terms})
    outcome = await set_access_code(
        db, till(Role.SUPERVISOR), event, wanted, key=str(uuid4()), digest=digest_of(code, terms)
    )
    return outcome.value


async def uses_of(db: Database, event: int) -> int:
    """Uses of the event's one code, as supervisors read them."""
    (code,) = (await list_access_codes(db, event)).access_codes
    return code.uses


# ------------------------------------------------------------ tickets of an account


async def test_b17_the_limit_counts_across_categories_and_price_types(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=4)
    await sound_database.fetch("INSERT INTO price_categories VALUES ($1, 1, 'Balcony', '#993366')", event)
    await sound_database.fetch("INSERT INTO prices VALUES ($1, 1, 1, 2, $2)", event, BALCONY_PRICE)
    await sound_database.fetch("UPDATE plan_seats SET category_no = 1 WHERE seat_no >= 20")
    ana = fan()

    async def buy(lines: dict[int, int], total: int) -> None:
        hold = await Desk(sound_database, ana, event).hold(*lines)
        wanted = [CheckoutLine(seat, price_type) for seat, price_type in lines.items()]
        order = (await check_out(
            sound_database, ana, hold.hold_id, wanted, total, key=str(uuid4()), digest=digest_of(wanted)
        )).value  # fmt: skip
        step = await Desk(sound_database, ana, event).pay(order, OperationKind.AUTHORIZE)
        assert step.operation.amount_minor == total
        await confirm(sound_database, step.operation.operation_id, total)

    await buy({1: ADULT, 2: CHILD}, ADULT_PRICE + CHILD_PRICE)
    await buy({21: CHILD}, BALCONY_PRICE)
    with pytest.raises(errors.AccountLimitError):
        await Desk(sound_database, ana, event).hold(3, 22)
    await Desk(sound_database, ana, event).hold(22)
    assert await count(sound_database, "SELECT sold FROM account_limits WHERE principal = $1", ana.principal) == 3


async def confirm(db: Database, operation_id: UUID, amount: int) -> None:
    """The provider says that an authorization is granted."""
    told = OperationResult(ResultOutcome.SUCCEEDED, amount, provider_ref="auth-1")
    step = await record_result(db, operation_id, told, source="provider:sandbox")
    assert step.order.status == "CONFIRMED"


async def test_b17_seats_and_places_of_one_hold_count_together(sound_database: Database) -> None:
    event = await make_standing(sound_database, max_per_account=4)
    ana = fan()

    async def hold(seats: tuple[int, ...], places: int) -> Hold:
        tiers = [TierQuantity(FLOOR, places)] if places else []
        return (await hold_seats(
            sound_database, ana, event, seats, key=str(uuid4()), digest=digest_of(seats, places), tiers=tiers
        )).value  # fmt: skip

    with pytest.raises(errors.AccountLimitError):
        await hold((1, 2), 3)
    with pytest.raises(errors.AccountLimitError):
        await hold((), 5)
    held = await hold((1, 2), 2)
    assert len(held.seats) == 2
    assert [(places.tier_id, places.quantity) for places in held.places] == [(FLOOR, 2)]
    assert await count(sound_database, "SELECT places FROM holds") == 2


async def test_a_till_cannot_race_past_its_parked_sales(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database, max_open_holds_till=3)
    counter = till()
    desks = [Desk(db, counter, event) for db in (sound_database, other_database)]
    answers = await asyncio.gather(*(outcome_of(desks[seat % 2].hold(seat)) for seat in range(20)))
    assert sum(isinstance(answer, Hold) for answer in answers) == 3
    assert sum(isinstance(answer, errors.OpenHoldExistsError) for answer in answers) == 17


async def test_a_limit_lowered_after_the_hold_refuses_before_money_is_asked_for(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=4)
    desk = Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(1, 2, 3))
    change = SettingsChange(max_per_account=2)
    await change_settings(sound_database, till(Role.OPS), event, 1, change, "too many", key="k1", digest=b"")
    with pytest.raises(errors.AccountLimitError):
        await desk.pay(order, OperationKind.AUTHORIZE)
    assert await count(sound_database, "SELECT count(*) FROM payment_operations") == 0


# ------------------------------------------------------------ access codes


async def test_b17_a_code_raises_the_limit_at_the_hold_and_at_the_confirmation(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database, max_per_account=2)
    await make_code(sound_database, event, max_per_account=5, valid_until=await clock.now() + timedelta(seconds=30))
    desk = Desk(sound_database, fan(), event)
    with pytest.raises(errors.AccountLimitError):
        await desk.hold(1, 2, 3, 4, 5)
    held = await hold_with(sound_database, desk.caller, event, 1, 2, 3, 4, 5, code="  Friends ")
    await clock.move(seconds=40)  # the code's time is over; what it gave stays
    step = await desk.pay(await desk.check_out(held), OperationKind.AUTHORIZE)
    await confirm(sound_database, step.operation.operation_id, 5 * ADULT_PRICE)
    with pytest.raises(errors.AccountLimitError):
        await desk.hold(6)


async def test_a_code_raises_no_limit_above_its_own(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=2)
    await make_code(sound_database, event, max_per_account=3)
    with pytest.raises(errors.AccountLimitError):
        await hold_with(sound_database, fan(), event, 1, 2, 3, 4)
    assert await uses_of(sound_database, event) == 0


async def test_a_code_below_the_events_limit_lowers_nothing(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=4)
    await make_code(sound_database, event, max_per_account=1)
    assert len((await hold_with(sound_database, fan(), event, 1, 2, 3, 4)).seats) == 4


async def test_a_code_is_used_once_by_an_account_however_often_it_is_named(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event, max_uses=10)
    ana = fan()
    first = await hold_with(sound_database, ana, event, 1, 2, key="k1")
    again = await hold_with(sound_database, ana, event, 1, 2, key="k1")
    assert again.hold_id == first.hold_id
    await released(sound_database, ana, first.hold_id)
    await hold_with(sound_database, ana, event, 3, 4)
    assert await uses_of(sound_database, event) == 1
    assert await count(sound_database, "SELECT count(*) FROM access_code_uses") == 1


async def test_a_hold_that_is_lost_spends_no_use(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event, max_uses=1)
    await Desk(sound_database, till(), event).hold(1)
    with pytest.raises(errors.SeatsTakenError):
        await hold_with(sound_database, fan(), event, 1, 2)
    assert await uses_of(sound_database, event) == 0
    await hold_with(sound_database, fan(), event, 3, 4)
    assert await uses_of(sound_database, event) == 1


async def test_a_code_that_is_unknown_used_up_or_over_is_refused_and_writes_nothing(
    sound_database: Database, clock: Clock
) -> None:
    event, other = await make_event(sound_database), await make_event(sound_database)
    await make_code(sound_database, other, "friends")
    await make_code(sound_database, event, "last-one", max_uses=1)
    await make_code(sound_database, event, "early", valid_until=await clock.now() + timedelta(seconds=60))
    await hold_with(sound_database, fan(), event, 0, code="last-one")
    now = await clock.now()
    await clock.stand_at(now + timedelta(seconds=59))
    held = await hold_with(sound_database, fan(), event, 9, code="early", key="in time")
    await sound_database.fetch("UPDATE access_codes SET valid_until = booking_now() WHERE code = 'early'")
    before = await count(sound_database, "SELECT count(*) FROM holds")
    for code in ("friends", "last-one", "early", "no such thing", "'; DROP TABLE holds; --", "\ud800"):
        with pytest.raises((errors.AccessCodeRefusedError, errors.InvalidRequestError)):
            await hold_with(sound_database, fan(), event, 1, code=code)
    assert await count(sound_database, "SELECT count(*) FROM holds") == before
    assert held.status == "HELD"


async def test_a_replay_after_the_codes_time_is_the_hold_of_then(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event, valid_until=await clock.now() + timedelta(seconds=5))
    ana = fan()
    first = await hold_with(sound_database, ana, event, 1, 2, key="k1")
    await clock.move(seconds=10)
    assert (await hold_with(sound_database, ana, event, 1, 2, key="k1")).hold_id == first.hold_id
    with pytest.raises(errors.AccessCodeRefusedError):
        await hold_with(sound_database, fan(), event, 3, 4)


async def test_b1_the_last_uses_of_a_code_go_to_as_many_accounts(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database, seats=60, max_per_account=1)
    await make_code(sound_database, event, max_uses=3)
    answers = await asyncio.gather(
        *(
            outcome_of(hold_with((sound_database, other_database)[n % 2], fan(), event, 2 * n, 2 * n + 1))
            for n in range(20)
        )
    )
    assert sum(isinstance(answer, Hold) for answer in answers) == 3
    assert sum(isinstance(answer, errors.AccessCodeRefusedError) for answer in answers) == 17
    assert await uses_of(sound_database, event) == 3


async def test_one_account_in_a_hurry_uses_a_code_once(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event, max_uses=5)
    ana = fan()
    databases = (sound_database, other_database)
    answers = await asyncio.gather(
        *(outcome_of(hold_with(databases[n % 2], ana, event, 2 * n, 2 * n + 1)) for n in range(10))
    )
    assert sum(isinstance(answer, Hold) for answer in answers) == 1
    assert {type(answer) for answer in answers} == {Hold, errors.OpenHoldExistsError}
    assert await uses_of(sound_database, event) == 1


async def test_a_code_without_a_number_of_uses_is_counted_by_its_accounts(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event)
    await asyncio.gather(*(hold_with(sound_database, fan(), event, 2 * n, 2 * n + 1) for n in range(6)))
    assert await uses_of(sound_database, event) == 6


@pytest.mark.parametrize(
    ("seats", "more"),
    [
        ((), {"best_available": BestAvailable(4)}),
        ((), {"tiers": [TierQuantity(FLOOR, 4)]}),
        ((1, 2), {"tiers": [TierQuantity(FLOOR, 2)]}),
    ],
    ids=["best available", "places", "seats and places"],
)
async def test_b17_a_code_raises_the_limit_of_every_kind_of_hold(
    sound_database: Database, seats: tuple[int, ...], more: MoreOfHold
) -> None:
    event = await make_standing(sound_database, max_per_account=2)
    await make_code(sound_database, event, max_per_account=4, max_uses=1)

    async def ask(caller: Caller, code: str) -> Hold:
        wanted: MoreOfHold = {**more, "access_code": code}
        return (await hold_seats(sound_database, caller, event, seats, key=str(uuid4()), digest=b"", **wanted)).value

    ana = fan()
    with pytest.raises(errors.AccountLimitError):
        await ask(ana, "")
    with pytest.raises(errors.AccessCodeRefusedError):
        await ask(ana, "enemies")
    held = await ask(ana, "friends")
    assert len(held.seats) + sum(places.quantity for places in held.places) == 4
    assert await uses_of(sound_database, event) == 1
    with pytest.raises((errors.AccessCodeRefusedError, errors.SeatsTakenError)):
        await ask(fan(), "friends")


async def test_a_till_has_no_limit_that_a_code_could_raise(sound_database: Database) -> None:
    event = await make_event(sound_database)
    await make_code(sound_database, event)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await hold_with(sound_database, till(), event, 1)
    assert [fault.pointer for fault in caught.value.fields] == ["/access_code"]


# ------------------------------------------------------------ codes as supervisors make them


async def test_new_terms_bind_later_accounts_and_leave_a_trace(sound_database: Database) -> None:
    event = await make_event(sound_database, max_per_account=1)
    await make_code(sound_database, event, max_per_account=3, max_uses=5)
    ana = fan()
    await hold_with(sound_database, ana, event, 1, 2, 3)
    changed = await make_code(sound_database, event, "FRIENDS", max_per_account=2, max_uses=4)
    assert (changed.code, changed.max_per_account, changed.max_uses, changed.uses) == ("friends", 2, 4, 1)
    with pytest.raises(errors.AccountLimitError):
        await hold_with(sound_database, fan(), event, 4, 5, 6)
    assert await count(sound_database, "SELECT raised_to FROM account_limits WHERE principal = $1", ana.principal) == 3
    trace = await sound_database.fetch(
        "SELECT detail FROM audit_log WHERE action = 'access-code-set' ORDER BY audit_id"
    )
    assert len(trace) == 2
    assert '"max_per_account": 3' in trace[1]["detail"]
    assert '"max_per_account": 2' in trace[1]["detail"]


@pytest.mark.parametrize("max_uses", [1, None])
async def test_a_codes_uses_are_not_cut_below_what_was_used_nor_opened(
    sound_database: Database, max_uses: int | None
) -> None:
    event = await make_event(sound_database)
    await make_code(sound_database, event, max_uses=3)
    for seat in (1, 2):
        await hold_with(sound_database, fan(), event, seat)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await make_code(sound_database, event, max_uses=max_uses)
    assert [fault.pointer for fault in caught.value.fields] == ["/max_uses"]
    assert await uses_of(sound_database, event) == 2


async def test_codes_are_made_and_listed_through_the_api(sound_database: Database) -> None:
    event = await make_event(sound_database)
    path = f"/v1/events/{event}/access-codes"
    async with api_over(sound_database) as api:
        token = await api.staff(Role.SUPERVISOR)
        wanted = wire.AccessCodeRequest(code="School.Groups", max_per_account=60, max_uses=9)
        made = await api.call("POST", path, wanted, token=token, key="k1")
        again = await api.call("POST", path, wanted, token=token, key="k1")
        assert read(made, wire.AccessCode, 201).code == "school.groups"
        assert again.content == made.content
        assert again.headers[wire.REPLAYED_HEADER] == "true"
        other = wire.AccessCodeRequest(code="school.groups", max_per_account=61, max_uses=9)
        problem(await api.call("POST", path, other, token=token, key="k1"), wire.ErrorCode.KEY_REUSED)
        listed = read(await api.call("GET", path, token=token), wire.AccessCodeList)
        assert [(code.code, code.max_per_account, code.uses) for code in listed.access_codes] == [
            ("school.groups", 60, 0)
        ]
        missing = await api.call("POST", "/v1/events/999999/access-codes", wanted, token=token)
        problem(missing, wire.ErrorCode.EVENT_NOT_FOUND)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"code": "abc", "max_per_account": 2}', "/code"),
        (b'{"code": "with blanks", "max_per_account": 2}', "/code"),
        (b'{"code": "friends\\u0000", "max_per_account": 2}', "/code"),
        (b'{"code": "friends", "max_per_account": 0}', "/max_per_account"),
        (b'{"code": "friends", "max_per_account": 1.5}', "/max_per_account"),
        (b'{"code": "friends", "max_per_account": "2"}', "/max_per_account"),
        (b'{"code": "friends", "max_per_account": 9223372036854775808}', "/max_per_account"),
        (b'{"code": "friends", "max_per_account": 2, "max_uses": 0}', "/max_uses"),
        (b'{"code": "friends", "max_per_account": 2, "max_uses": true}', "/max_uses"),
        (b'{"code": "friends", "max_per_account": 2, "valid_until": "tomorrow"}', "/valid_until"),
        (b'{"code": "friends", "max_per_account": 2, "valid_until": "2026-12-01T10:00:00"}', "/valid_until"),
        # Instants are of this century: others would not even fit the database, once they are in UTC.
        (b'{"code": "friends", "max_per_account": 2, "valid_until": "9999-12-31T23:59:59-12:00"}', "/valid_until"),
        (b'{"code": "friends", "max_per_account": 2, "valid_until": "0001-01-01T00:00:00+14:00"}', "/valid_until"),
        (b'{"code": "friends", "max_per_account": 2, "valid_until": "2100-01-01T00:00:00Z"}', "/valid_until"),
    ],
)
async def test_b18_a_code_that_makes_no_sense_is_refused_by_name(
    sound_database: Database, body: bytes, pointer: str
) -> None:
    event = await make_event(sound_database)
    async with api_over(sound_database) as api:
        token = await api.staff(Role.ADMIN)
        answer = await api.call("POST", f"/v1/events/{event}/access-codes", body, token=token)
        told = problem(answer, wire.ErrorCode.INVALID_REQUEST)
        assert answer.status_code == 422
        assert [field.pointer for field in told.fields] == [pointer]
    assert await count(sound_database, "SELECT count(*) FROM access_codes") == 0
