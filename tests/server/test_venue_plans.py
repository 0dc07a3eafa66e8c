"""The plans of venues over HTTP: versions, faults all at once, keys, two authors, seats under sale (I3, I4, R13)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.services.create_event import EventSpec, create_event
from booking.store.database import Database
from tests.server.web_api import Api, api_over, problem, read

ZONE = "Europe/Lisbon"
EVENING = datetime.fromisoformat("2027-06-18T20:30")


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


@pytest.fixture
async def venue_id(database: Database) -> UUID:
    made = uuid4()
    await database.fetch(
        "INSERT INTO venues (venue_id, name, zone) VALUES ($1, 'Teatro Aurora', $2) RETURNING name", made, ZONE
    )
    return made


@pytest.fixture
async def author(api: Api) -> str:
    return await api.staff(Role.SUPERVISOR)


def seat(place: int, **changes: Any) -> dict[str, Any]:
    made = {"id": f"seat-{place}", "number": str(place), "x": 20.0 * place, "y": 50.0, "category": "Stalls"}
    return made | changes


def plan_of(*seats: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "taquilla_plan": 1,
        "name": "Small hall",
        "size": {"width": 400, "height": 200},
        "categories": [{"name": "Stalls", "color": "#2f6fab"}],
        "sections": [{"name": "Parterre", "rows": [{"label": "A", "seats": list(seats)}]}],
    } | changes


async def save(
    api: Api, author: str, venue_id: UUID, plan: object, expected: int | None = None, key: str | None = None
) -> httpx.Response:
    body = {"plan": plan} | ({} if expected is None else {"expected_version": expected})
    return await api.call("POST", f"/v1/venues/{venue_id}/plans", body, token=author, key=key)


async def plans(api: Api, author: str, venue_id: UUID) -> wire.VenuePlanList:
    return read(await api.call("GET", f"/v1/venues/{venue_id}/plans", token=author), wire.VenuePlanList)


async def test_a_saved_plan_is_a_new_version_and_comes_back_as_it_went(api: Api, author: str, venue_id: UUID) -> None:
    first = read(await save(api, author, venue_id, plan_of(seat(1), seat(2)), 0), wire.SavedPlan, 201)
    grown = plan_of(seat(3), seat(1), seat(2, marks=["accessible"]))
    second = read(await save(api, author, venue_id, grown, 1), wire.SavedPlan, 201)

    assert (first.version, second.version, first.plan_id) == (1, 2, second.plan_id)
    assert (first.is_new, second.seat_count) == (True, 3)
    (plan,) = (await plans(api, author, venue_id)).plans
    assert [(version.version, version.seat_count) for version in plan.versions] == [(2, 3), (1, 2)]
    answer = await api.call("GET", f"/v1/plans/{plan.plan_id}/versions/2", token=author)
    assert answer.status_code == 200
    row = answer.json()["sections"][0]["rows"][0]
    assert [one["id"] for one in row["seats"]] == ["seat-3", "seat-1", "seat-2"]
    assert row["seats"][2]["marks"] == ["accessible"]
    again = read(await save(api, author, venue_id, answer.json(), 2), wire.SavedPlan, 201)
    assert (again.version, again.is_new) == (2, False)


async def test_all_faults_are_named_at_once_and_nothing_is_stored(
    api: Api, author: str, venue_id: UUID, database: Database
) -> None:
    broken = plan_of(seat(1), seat(1, id="other", x="far"), seat(3, category="Balcony", y=None), name="Broken")
    refused = problem(await save(api, author, venue_id, broken), wire.ErrorCode.INVALID_REQUEST)

    at = "/plan/sections/0/rows/0/seats"
    assert {field.pointer for field in refused.fields} >= {
        f"{at}/1/x",
        f"{at}/1/number",
        f"{at}/2/category",
        f"{at}/2/y",
    }
    assert all(field.message.endswith("]") for field in refused.fields)
    assert (await plans(api, author, venue_id)).plans == ()
    row = await database.fetchrow("SELECT count(*) FROM audit_log WHERE action = 'plan-imported'")
    assert row is not None
    assert row[0] == 0


@pytest.mark.parametrize("plan", [{}, [], 7, "plan", {"taquilla_plan": 2}, plan_of(), {"zones": []}])
async def test_what_is_no_plan_is_refused_by_its_place(api: Api, author: str, venue_id: UUID, plan: object) -> None:
    refused = problem(await save(api, author, venue_id, plan), wire.ErrorCode.INVALID_REQUEST)
    assert refused.fields
    assert all(field.pointer.startswith("/plan") for field in refused.fields)


async def test_a_flood_of_faults_is_counted_beyond_a_thousand(api: Api, author: str, venue_id: UUID) -> None:
    seats = [seat(place, category="Nowhere", number="") for place in range(800)]
    refused = problem(await save(api, author, venue_id, plan_of(*seats)), wire.ErrorCode.INVALID_REQUEST)
    assert len(refused.fields) == 1_001
    assert refused.fields[-1].message == "600 more"


async def test_a_key_stores_once_and_only_one_plan(api: Api, author: str, venue_id: UUID) -> None:
    key = str(uuid4())
    first = await save(api, author, venue_id, plan_of(seat(1)), key=key)
    again = await save(api, author, venue_id, plan_of(seat(1)), key=key)
    other = await save(api, author, venue_id, plan_of(seat(1), seat(2)), key=key)

    assert read(again, wire.SavedPlan, 201) == read(first, wire.SavedPlan, 201)
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    problem(other, wire.ErrorCode.KEY_REUSED)
    (plan,) = (await plans(api, author, venue_id)).plans
    assert [version.version for version in plan.versions] == [1]


async def test_the_second_of_two_authors_is_told(api: Api, author: str, venue_id: UUID) -> None:
    read(await save(api, author, venue_id, plan_of(seat(1)), 0), wire.SavedPlan, 201)
    read(await save(api, author, venue_id, plan_of(seat(1), seat(2)), 1), wire.SavedPlan, 201)
    problem(await save(api, author, venue_id, plan_of(seat(1), seat(3)), 1), wire.ErrorCode.PLAN_CHANGED)
    problem(await save(api, author, venue_id, plan_of(seat(4)), 0), wire.ErrorCode.PLAN_CHANGED)


async def test_who_saved_is_in_the_audit_log(api: Api, author: str, venue_id: UUID, database: Database) -> None:
    saved = read(await save(api, author, venue_id, plan_of(seat(1))), wire.SavedPlan, 201)
    row = await database.fetchrow(
        "SELECT principal, detail FROM audit_log WHERE action = 'plan-imported' AND subject = $1", str(saved.plan_id)
    )
    assert row is not None
    assert row["principal"].startswith("device:")
    detail = json.loads(row["detail"])
    assert (detail["seats"], detail["version"], detail["format"]) == (1, 1, "taquilla")
    assert str(UUID(detail["staff_id"])) == detail["staff_id"]


async def test_an_event_shows_at_its_plan_and_a_sold_seat_keeps_it_from_moving(
    api: Api, author: str, venue_id: UUID, database: Database
) -> None:
    saved = read(await save(api, author, venue_id, plan_of(seat(1), seat(2))), wire.SavedPlan, 201)

    event_id = await create_event(
        database,
        EventSpec(
            name="An evening", plan_id=saved.plan_id, plan_version=1, starts_at=EVENING,
            zone=ZONE, currency="EUR", price_types=("Adult",), prices={"Stalls": (4_000,)},
        ),
    )  # fmt: skip
    read(await save(api, author, venue_id, plan_of(seat(1)), 1), wire.SavedPlan, 201)
    held = await api.call("POST", f"/v1/events/{event_id}/holds", {"seats": [1]}, token=author)
    assert held.status_code == 201, held.text

    (plan,) = (await plans(api, author, venue_id)).plans
    (event,) = plan.events
    assert (int(event.event_id), event.plan_version) == (int(event_id), 1)
    change = wire.PlanChange(
        expected_version=event.settings_version, plan_version=2, reason="a new mixing desk", dry_run=True
    )
    refused = problem(
        await api.call("PUT", f"/v1/events/{event_id}/plan", change, token=author), wire.ErrorCode.PLAN_CONFLICT
    )
    assert [(one.row, one.number) for one in refused.seats] == [("A", "2")]


async def test_venues_and_what_is_not_there(api: Api, author: str, venue_id: UUID) -> None:
    venues = read(await api.call("GET", "/v1/venues", token=author), wire.VenueList)
    assert [(venue.venue_id, venue.name, venue.zone) for venue in venues.venues] == [(venue_id, "Teatro Aurora", ZONE)]
    problem(await api.call("GET", f"/v1/venues/{uuid4()}/plans", token=author), wire.ErrorCode.NOT_FOUND)
    problem(await save(api, author, uuid4(), plan_of(seat(1))), wire.ErrorCode.NOT_FOUND)
    problem(await api.call("GET", f"/v1/plans/{uuid4()}/versions/1", token=author), wire.ErrorCode.NOT_FOUND)
    for version in ("0", "x", "99999999999"):
        answer = await api.call("GET", f"/v1/plans/{uuid4()}/versions/{version}", token=author)
        assert problem(answer, wire.ErrorCode.INVALID_REQUEST).fields[0].pointer == "path:version"


async def test_a_repeated_member_inside_the_plan_is_found(api: Api, author: str, venue_id: UUID) -> None:
    raw = msgspec.json.encode({"plan": plan_of(seat(1))}).replace(b'"label":"A"', b'"label":"A","label":"B"')
    refused = problem(
        await api.call("POST", f"/v1/venues/{venue_id}/plans", raw, token=author), wire.ErrorCode.INVALID_REQUEST
    )
    assert [field.pointer for field in refused.fields] == ["/plan/sections/0/rows/0/label"]
