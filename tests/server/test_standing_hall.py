"""A hall with standing places alone on the real authority: drawn, put on sale, sold, and changed (R11, R13, I4)."""

from __future__ import annotations

import json
from datetime import datetime
from uuid import uuid4

import pytest

from booking.domain.errors import BookingError, TierSoldOutError
from booking.domain.model import BestAvailable
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.states import OperationKind
from booking.services.create_event import EventSpec, create_event
from booking.services.hold_seats import hold_seats
from booking.services.import_plan import ImportedPlan, import_plan
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, fan, till
from tests.server.general_admission import Counter, counted
from tests.server.web_api import api_over
from tests.unit.test_seating_plan_standing import CLUB, plan_of

ZONE = "Europe/Lisbon"
EVENING = datetime.fromisoformat("2027-06-18T20:30")


async def evening(database: Database, stored: ImportedPlan) -> int:
    return await create_event(
        database,
        EventSpec(
            name="A concert", plan_id=stored.plan_id, plan_version=stored.version, starts_at=EVENING, zone=ZONE,
            currency="EUR", price_types=("Adult",), prices={"Floor": (ADULT_PRICE,), "Gallery": (ADULT_PRICE,)},
        ),
    )  # fmt: skip


@pytest.fixture
async def club(database: Database) -> tuple[Database, int]:
    return database, await evening(database, await import_plan(database, "Club", ZONE, plan_of()))


async def test_its_areas_are_sold_to_the_last_place(club: tuple[Database, int]) -> None:
    database, event_id = club
    step = await Counter(database, till(), event_id).sell(6, kind=OperationKind.CASH)
    assert step.operation.amount_minor == 6 * ADULT_PRICE
    assert {tier_id for tier_id, *_ in await counted(database, event_id)} == {1, 2}
    await database.fetch("UPDATE ga_tiers SET capacity = 8 WHERE event_id = $1 AND tier_id = 1 RETURNING 1", event_id)
    with pytest.raises(TierSoldOutError):
        await Counter(database, fan(), event_id).hold(3)
    assert (await Counter(database, fan(), event_id).hold(2)).places[0].name == "Pit"


async def test_nobody_can_hold_a_seat_of_it(club: tuple[Database, int]) -> None:
    database, event_id = club
    with pytest.raises(BookingError):
        await hold_seats(database, fan(), event_id, (0,), key=str(uuid4()), digest=b"d" * 32)
    with pytest.raises(BookingError) as refused:
        await hold_seats(
            database, fan(), event_id, (), key=str(uuid4()), digest=b"e" * 32, best_available=BestAvailable(2)
        )
    assert refused.value.code == "no-block-left"


async def test_readers_see_an_empty_map_with_full_areas(club: tuple[Database, int]) -> None:
    database, event_id = club
    async with api_over(database) as api:
        detail = await api.client.get(f"/v1/events/{event_id}")
        assert detail.status_code == 200, detail.text
        assert [(tier["name"], tier["capacity"]) for tier in detail.json()["tiers"]] == [("Pit", 400), ("Gallery", 120)]
        seats = await api.client.get(f"/v1/events/{event_id}/seats")
        assert seats.status_code == 200, seats.text
        listed = (await api.client.get("/v1/events")).json()["events"]
        assert [one["seat_count"] for one in listed] == [0]


async def test_another_version_of_it_is_the_next_and_seats_may_be_added(club: tuple[Database, int]) -> None:
    database, _ = club
    seats = [{"number": str(place), "x": 100.0 + 25 * place, "y": 420.0, "category": "Floor"} for place in range(4)]
    plan = plan_with(seats)
    stored = await import_plan(database, "Club", ZONE, plan)
    assert (stored.version, stored.is_new) == (2, True)
    back = await import_plan(database, "Club", ZONE, plan_of())
    assert (back.version, back.is_new) == (1, False)
    assert await evening(database, stored) > 0


def plan_with(seats: list[dict[str, object]]) -> SeatingPlan:
    """The club with a row of seats at its bar."""
    body = CLUB | {"sections": [{"name": "Bar", "rows": [{"label": "1", "seats": seats}]}]}
    plan = read_plan(json.dumps(body).encode()).plan
    assert plan is not None
    return plan
