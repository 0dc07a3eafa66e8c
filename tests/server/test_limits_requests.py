"""Every member of a request for a hold: refused by name when it makes no sense, obeyed otherwise (B18, P2, R3, R9)."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import msgspec
import pytest

from backend_client import wire
from booking.domain import errors
from booking.domain.caller import Caller, Role
from booking.domain.control import HouseHoldKind, HouseWish
from booking.domain.model import BestAvailable, Hold, TierQuantity
from booking.services.hold_seats import hold_seats
from booking.services.house_holds import keep_seats_back, release_house_hold
from booking.store.database import Database
from tests.server.box_office import Desk, count, digest_of, fan, make_event, seat_states, till
from tests.server.general_admission import make_standing
from tests.server.test_authority_races import outcome_of
from tests.server.web_api import api_over, problem, read

HUGE = str(2**63)
NO_NUMBERS = ["-1", "1.5", '"1"', "true", "null", "1000000000", HUGE]
NO_COUNTS = ["0", *NO_NUMBERS]


def _bodies() -> list[tuple[str, str]]:
    """(body, pointer that must be named)"""
    bodies = [(f'{{"seats": [{bad}]}}', "/seats/0") for bad in NO_NUMBERS]
    bodies += [(f'{{"best_available": {{"count": {bad}}}}}', "/best_available/count") for bad in NO_COUNTS]
    bodies += [
        (f'{{"best_available": {{"count": 2, "accessible": {bad}}}}}', "/best_available/accessible")
        for bad in [*NO_NUMBERS, "3"]
    ]
    bodies += [
        (f'{{"best_available": {{"count": 2, "{member}": [{bad}]}}}}', f"/best_available/{member}/0")
        for member in ("categories", "sections") for bad in NO_NUMBERS
    ]  # fmt: skip
    bodies += [(f'{{"tiers": [{{"tier_id": 1, "quantity": {bad}}}]}}', "/tiers/0/quantity") for bad in NO_COUNTS]
    bodies += [(f'{{"tiers": [{{"tier_id": {bad}, "quantity": 1}}]}}', "/tiers/0/tier_id") for bad in NO_NUMBERS]
    bodies += [(f'{{"seats": [1], "access_code": {bad}}}', "/access_code") for bad in ("1", "true", "null", "[]")]
    bodies += [
        (f'{{"seats": [1], "house_hold_id": {bad}}}', "/house_hold_id") for bad in ("1", "true", '"x"', '"1-2-3"')
    ]
    return [
        *bodies,
        ("{}", "/seats"),
        ('{"seats": []}', "/seats"),
        ('{"seats": [1, 1]}', "/seats"),
        ('{"seats": [1, 2, 3, 4, 5, 6, 7]}', "/seats"),
        ('{"seats": [1, 2, 3, 4], "tiers": [{"tier_id": 1, "quantity": 3}]}', "/tiers"),
        ('{"tiers": [{"tier_id": 1, "quantity": 1}, {"tier_id": 1, "quantity": 1}]}', "/tiers"),
        ('{"tiers": [{"tier_id": 1, "quantity": 4}, {"tier_id": 2, "quantity": 3}]}', "/tiers"),
        ('{"seats": [1], "best_available": {"count": 2}}', "/best_available"),
        ('{"best_available": {"count": 2}, "tiers": [{"tier_id": 1, "quantity": 1}]}', "/tiers"),
        (f'{{"seats": [1], "access_code": "{"x" * 61}"}}', "/access_code"),
    ]


async def test_b18_members_that_make_no_sense_are_refused_by_name_and_write_nothing(sound_database: Database) -> None:
    event = await make_standing(sound_database)
    path = f"/v1/events/{event}/holds"
    async with api_over(sound_database) as api:
        token = await api.fan()
        wrong = []
        for body, pointer in _bodies():
            answer = await api.call("POST", path, body.encode(), token=token)
            told = msgspec.json.decode(answer.content, type=wire.Problem)
            named = {field.pointer for field in told.fields}
            if answer.status_code != 422 or pointer not in named:
                wrong.append((body, answer.status_code, told.code, named))
        assert wrong == []
    for table in ("holds", "ga_holds", "outbox", "account_limits", "access_code_uses"):
        assert await count(sound_database, f"SELECT count(*) FROM {table}") == 0


async def test_p2_the_same_body_in_other_clothes_is_the_same_hold(sound_database: Database) -> None:
    event = await make_standing(sound_database)
    path = f"/v1/events/{event}/holds"
    async with api_over(sound_database) as api:
        token = await api.fan()
        plain = b'{"seats":[3,4],"tiers":[{"tier_id":1,"quantity":2}],"access_code":""}'
        dressed = b'{ "tiers" : [ { "quantity" : 2 , "tier_id" : 1 } ],\n "access_code":"", "seats" : [3, 4] }'
        other = b'{"seats":[3,4],"tiers":[{"tier_id":1,"quantity":1}],"access_code":""}'
        first = await api.call("POST", path, plain, token=token, key="k1")
        again = await api.call("POST", path, dressed, token=token, key="k1")
        held, same = read(first, wire.Hold, 201), read(again, wire.Hold, 201)
        assert same.hold_id == held.hold_id
        assert same.expires_at == held.expires_at
        assert [(places.tier_id, places.quantity) for places in same.places] == [(1, 2)]
        assert again.headers[wire.REPLAYED_HEADER] == "true"
        problem(await api.call("POST", path, other, token=token, key="k1"), wire.ErrorCode.KEY_REUSED)
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1


@pytest.mark.parametrize(
    ("seats", "more", "pointer"),
    [
        ((True,), {}, "/seats/0"),
        ((1.0,), {}, "/seats/0"),
        (("1",), {}, "/seats/0"),
        ((2**24,), {}, "/seats/0"),
        ((), {"best_available": BestAvailable(True)}, "/best_available/count"),
        ((), {"best_available": BestAvailable(7)}, "/best_available/count"),
        ((), {"best_available": BestAvailable(2, accessible=3)}, "/best_available/accessible"),
        ((), {"tiers": [TierQuantity(1, 0)]}, "/tiers/0/quantity"),
        ((), {"tiers": [TierQuantity(-1, 1)]}, "/tiers/0/tier_id"),
        ((), {"tiers": [TierQuantity(1, 1)], "house_hold_id": uuid4()}, "/house_hold_id"),
        ((1,), {"tiers": [TierQuantity(1, 1)], "house_hold_id": uuid4()}, "/house_hold_id"),
        ((), {"best_available": BestAvailable(1), "house_hold_id": uuid4()}, "/house_hold_id"),
    ],
)
async def test_b18_the_service_checks_what_no_wire_has_checked(
    sound_database: Database, seats: tuple[int, ...], more: dict[str, object], pointer: str
) -> None:
    event = await make_event(sound_database)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await hold_seats(sound_database, till(), event, seats, key="k1", digest=b"", **more)  # type: ignore[arg-type]
    assert [fault.pointer for fault in caught.value.fields] == [pointer]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


# ------------------------------------------------------------ seats of the house


async def kept(db: Database, event: int, *seats: int) -> UUID:
    """A house hold of these seats."""
    wish = HouseWish(HouseHoldKind.PROMOTER, "guests of the band", seats, None)
    outcome = await keep_seats_back(db, till(Role.SUPERVISOR), event, wish, key=str(uuid4()), digest=digest_of(seats))
    return outcome.value.house_hold_id


async def take(db: Database, caller: Caller, event: int, house: UUID | None, *seats: int, key: str = "") -> Hold:
    """A hold of seats that a house hold keeps back."""
    outcome = await hold_seats(
        db, caller, event, seats, key=key or str(uuid4()), digest=digest_of(seats, house), house_hold_id=house
    )
    return outcome.value


async def test_a_till_takes_seats_of_the_house_that_it_names_and_free_ones_beside_them(
    sound_database: Database,
) -> None:
    event = await make_event(sound_database)
    house = await kept(sound_database, event, 1, 2, 3)
    counter = till()
    with pytest.raises(errors.SeatsTakenError) as caught:
        await Desk(sound_database, till(), event).hold(2, 4)
    assert [seat.seat_no for seat in caught.value.seats] == [2]
    held = await take(sound_database, counter, event, house, 2, 3, 4, key="k1")
    assert (await take(sound_database, counter, event, house, 2, 3, 4, key="k1")).hold_id == held.hold_id
    states = await seat_states(sound_database, event)
    assert [states[seat][0] for seat in (1, 2, 3, 4, 5)] == [4, 1, 1, 1, 0]
    order = await Desk(sound_database, counter, event).check_out(held)
    assert len(order.lines) == 3


async def test_another_house_hold_or_none_opens_no_seat(sound_database: Database) -> None:
    event = await make_event(sound_database)
    house, other = await kept(sound_database, event, 1, 2), await kept(sound_database, event, 5)
    with pytest.raises(errors.HouseHoldNotFoundError):
        await take(sound_database, till(), event, uuid4(), 1)
    with pytest.raises(errors.SeatsTakenError) as caught:
        await take(sound_database, till(), event, house, 1, 5)
    assert [seat.seat_no for seat in caught.value.seats] == [5]
    with pytest.raises(errors.HouseHoldNotFoundError):
        await take(sound_database, till(), event, other, 1)
    with pytest.raises(errors.ForbiddenError):
        await take(sound_database, fan(), event, house, 1)
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 4") == 3


async def test_one_of_many_tills_gets_a_seat_of_the_house(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database)
    house = await kept(sound_database, event, 1, 2)
    databases = (sound_database, other_database)
    answers = await asyncio.gather(*(outcome_of(take(databases[n % 2], till(), event, house, 1, 2)) for n in range(12)))
    assert sum(isinstance(answer, Hold) for answer in answers) == 1
    lost = {type(answer) for answer in answers if not isinstance(answer, Hold)}
    assert lost <= {errors.SeatsTakenError, errors.HouseHoldNotFoundError}


async def test_a_house_hold_that_is_given_back_meanwhile_gives_its_seats_to_one(
    sound_database: Database, other_database: Database
) -> None:
    """The house gives seats back while a till takes them and a fan wants them: nobody gets half."""
    event = await make_event(sound_database)
    for seat in range(0, 20, 2):
        house = await kept(sound_database, event, seat, seat + 1)
        supervisor = till(Role.SUPERVISOR)
        await asyncio.gather(
            outcome_of(take(sound_database, till(), event, house, seat, seat + 1)),
            outcome_of(Desk(other_database, fan(), event).hold(seat, seat + 1)),
            outcome_of(
                release_house_hold(other_database, supervisor, house, (), "not wanted", key=str(uuid4()), digest=b"")
            ),
        )
        states = await seat_states(sound_database, event)
        assert states[seat][:2] == states[seat + 1][:2]


# ------------------------------------------------------------ single seats


async def test_two_holds_of_a_row_leave_no_seat_single_between_them(
    sound_database: Database, other_database: Database
) -> None:
    """{0, 1} and {3, 4} of five free seats: each alone leaves three, both would leave one."""
    event = await make_event(sound_database, seats=400, orphan_rule="strict", max_open_holds_till=100)
    for first in range(0, 400, 20):
        blocker = till()
        for part in ((5, 6, 7, 8, 9, 10), (11, 12, 13, 14, 15, 16), (17, 18, 19)):
            await Desk(sound_database, blocker, event).hold(*(first + seat for seat in part))
        answers = await asyncio.gather(
            outcome_of(Desk(sound_database, fan(), event).hold(first, first + 1)),
            outcome_of(Desk(other_database, fan(), event).hold(first + 3, first + 4)),
        )
        lost = [answer for answer in answers if isinstance(answer, errors.BookingError)]
        assert [type(answer) for answer in lost] == [errors.SeatOrphanedError]
        assert [seat.seat_no for seat in lost[0].seats] == [first + 2]


async def test_without_the_rule_a_single_seat_may_stay(sound_database: Database) -> None:
    event = await make_event(sound_database)
    assert len((await Desk(sound_database, fan(), event).hold(1, 2)).seats) == 2
