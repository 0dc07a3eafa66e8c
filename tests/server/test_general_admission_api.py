"""General admission over HTTP: tiers of an event, holds, checkout, orders and tickets; events with tiers (R11, B18)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.errors import InvalidRequestError
from booking.domain.seating_plan.generators import small_hall
from booking.services import issue_tickets
from booking.services.create_event import EventSpec, TierSpec, create_event
from booking.services.import_plan import import_plan
from booking.services.read_events import read_tiers
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, CHILD, CHILD_PRICE, count
from tests.server.general_admission import FLOOR, make_standing
from tests.server.web_api import api_over, problem, read


async def test_r11_a_till_sells_places_over_http_and_everybody_sees_what_is_left(sound_database: Database) -> None:
    db = sound_database
    event_id = await make_standing(db, 10)
    event = f"/v1/events/{event_id}"
    async with api_over(db) as api:
        token = await api.staff(Role.CLERK)
        wanted = {"seats": [5], "tiers": [{"tier_id": FLOOR, "quantity": 3}]}
        held = read(await api.call("POST", f"{event}/holds", wanted, token=token), wire.Hold, 201)
        assert held.places == (wire.HeldPlaces(tier_id=FLOOR, name="Floor", category_no=0, quantity=3),)
        assert read(await api.call("GET", f"/v1/holds/{held.hold_id}", token=token), wire.Hold).places == held.places
        total = 3 * ADULT_PRICE + CHILD_PRICE
        checkout = {
            "lines": [{"seat_no": 5, "price_type_id": ADULT}],
            "places": [
                {"tier_id": FLOOR, "price_type_id": ADULT, "quantity": 2},
                {"tier_id": FLOOR, "price_type_id": CHILD, "quantity": 1},
            ],
            "shown_total_minor": total,
        }
        order = read(
            await api.call("POST", f"/v1/holds/{held.hold_id}/checkout", checkout, token=token), wire.Order, 201
        )
        assert [(line.price_type_name, line.quantity, line.amount_minor) for line in order.places] == [
            ("Adult", 2, 2 * ADULT_PRICE), ("Child", 1, CHILD_PRICE),
        ]  # fmt: skip
        payment = {"kind": "cash", "provider": "drawer", "amount_minor": total, "tendered_minor": total}
        paid = await api.call("POST", f"/v1/orders/{order.order_id}/payments", payment, token=token)
        assert read(paid, wire.PaymentAnswer, 201).order.status is wire.OrderStatus.CONFIRMED
        await issue_tickets.prepare(db)
        await issue_tickets.issue_new(db)
        tickets = read(await api.call("GET", f"/v1/orders/{order.order_id}/tickets", token=token), wire.TicketList)
        assert [ticket.tier_id for ticket in tickets.tickets] == [None, FLOOR, FLOOR, FLOOR]
        tiers = read(await api.call("GET", f"{event}/tiers"), wire.TierList)
        assert tiers.tiers == (
            wire.Tier(
                tier_id=FLOOR, name="Floor", category_no=0, capacity=10, available=7, in_holds=0, sold=3, overbooked=0
            ),
        )
        assert read(await api.call("GET", event), wire.EventDetail).tiers == tiers.tiers
        assert problem(await api.call("GET", "/v1/events/999/tiers"), wire.ErrorCode.EVENT_NOT_FOUND).status == 404


async def test_w7_a_lost_tier_is_named_in_the_problem(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 2)
    async with api_over(sound_database) as api:
        path = f"/v1/events/{event_id}/holds"
        two = {"tiers": [{"tier_id": FLOOR, "quantity": 2}]}
        read(await api.call("POST", path, two, token=await api.fan()), wire.Hold, 201)
        refused = problem(await api.call("POST", path, two, token=await api.fan()), wire.ErrorCode.TIER_IN_HOLDS)
        assert (refused.status, [field.pointer for field in refused.fields]) == (409, ["/tiers/0"])
        both = {"seats": [1], "tiers": [{"tier_id": 7, "quantity": 1}]}
        unknown = problem(await api.call("POST", path, both, token=await api.fan()), wire.ErrorCode.TIER_UNKNOWN)
        assert unknown.status == 422


@pytest.mark.parametrize("quantity", [-1, 0, 1.5, "1", True, None, 10**9, 2**63])
async def test_b18_a_quantity_that_is_none_is_422_and_no_row_is_written(
    sound_database: Database, quantity: Any
) -> None:
    event_id = await make_standing(sound_database, 10)
    async with api_over(sound_database) as api:
        body = {"tiers": [{"tier_id": FLOOR, "quantity": quantity}]}
        answer = await api.call("POST", f"/v1/events/{event_id}/holds", body, token=await api.fan())
        refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert refused.status == 422
    assert any("quantity" in field.pointer for field in refused.fields)
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


# ---------------------------------------------------------------- events


async def _spec(db: Database, *tiers: TierSpec) -> EventSpec:
    hall = await import_plan(db, f"Hall {uuid4()}", "Europe/Lisbon", small_hall())
    return EventSpec(
        name="An evening", plan_id=hall.plan_id, plan_version=hall.version,
        starts_at=datetime.fromisoformat("2027-06-18T20:30"), zone="Europe/Lisbon", currency="EUR",
        price_types=("Adult",), prices={"Front": (4_000,), "Rear": (2_500,)}, tiers=tiers,
    )  # fmt: skip


async def test_an_event_is_made_with_tiers_whose_buckets_sum_to_their_stock(sound_database: Database) -> None:
    spec = await _spec(sound_database, TierSpec("Standing", "Rear", 100), TierSpec("Lawn", "Front", 31, 4))
    event_id = await create_event(sound_database, spec)
    tiers = (await read_tiers(sound_database, event_id)).tiers
    assert [(one.tier_id, one.name, one.capacity, one.available) for one in tiers] == [
        (1, "Standing", 100, 100), (2, "Lawn", 31, 31),
    ]  # fmt: skip
    rows = await sound_database.fetch("SELECT capacity FROM ga_tiers WHERE tier_id = 2 ORDER BY bucket")
    assert [row["capacity"] for row in rows] == [8, 8, 8, 7]


async def test_all_that_is_wrong_with_tiers_is_said_at_once_and_nothing_is_made(database: Database) -> None:
    spec = await _spec(
        database, TierSpec("", "Rear", 1), TierSpec("A", "Nowhere", -1), TierSpec("A", "Front", 5, 0),
        TierSpec("B", "Front", 10**8, 65),
    )  # fmt: skip
    with pytest.raises(InvalidRequestError) as refused:
        await create_event(database, spec)
    assert {fault.pointer for fault in refused.value.fields} == {
        "/tiers", "/tiers/0/name", "/tiers/1/category", "/tiers/1/capacity", "/tiers/2/buckets", "/tiers/3/capacity",
        "/tiers/3/buckets",
    }  # fmt: skip
    assert await count(database, "SELECT count(*) FROM events") == 0
