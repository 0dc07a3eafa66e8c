"""A plan file of any format over HTTP: counts, every fault with its place, repairs offered and kept (I3, S8)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.seating_plan.formats import read_plan
from booking.store.database import Database
from tests.fixtures.plans import SHARED
from tests.server.web_api import Api, api_over, problem, read

CHART: dict[str, Any] = {
    "zones": [
        {
            "name": "Parterre",
            "position": {"x": 0, "y": 0},
            "rows": [
                {
                    "row_number": "A",
                    "position": {"x": 0, "y": 0},
                    "seats": [
                        {"seat_guid": "a", "uuid": "u1", "seat_number": "1", "category": "Stalls",
                         "position": {"x": 10, "y": 10}},
                        {"seat_guid": "a", "uuid": "u2", "seat_number": "", "category": "Stalls",
                         "position": {"x": 30, "y": 10}},
                    ],
                }
            ],
        }
    ],
    "categories": [{"name": "Stalls", "color": "#1f77b4"}],
    "name": "Hall",
    "size": {"width": 100, "height": 100},
}  # fmt: skip
"""In the format of pretix: a guid that is there twice, and a seat without a number."""


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


@pytest.fixture
async def author(api: Api) -> str:
    return await api.staff(Role.SUPERVISOR)


async def look_at(api: Api, author: str, data: bytes, **more: Any) -> wire.PlanFileReport:
    body = {"data": b64encode(data).decode()} | more
    return read(await api.call("POST", "/v1/plan-files", body, token=author), wire.PlanFileReport)


async def test_faults_name_their_places_and_the_repairs_that_would_mend_them(api: Api, author: str) -> None:
    data = json.dumps(CHART).encode()
    report = await look_at(api, author, data, repairs=[])
    assert (report.format, report.seats, report.sections, report.categories) == ("pretix", 2, 1, 1)
    assert report.plan is None
    assert {fault.code for fault in report.faults} == {"guid-repeats", "text-empty"}
    assert {fault.pointer for fault in report.faults} == {
        "/zones/0/rows/0/seats/1/seat_guid", "/zones/0/rows/0/seats/1/seat_number",
    }  # fmt: skip
    assert "number-seats" in report.offered
    assert report.fault_count == 2

    mended = await look_at(api, author, data, repairs=["number-seats", "uuid-for-guid"])
    assert mended.faults == ()
    assert {repair.code for repair in mended.repairs} == {"guid-from-uuid", "seat-numbered"}
    assert mended.plan is not None
    plan = read_plan(mended.plan).plan
    assert plan is not None
    assert [(seat.guid, seat.number) for seat in plan.seats()] == [("u1", "1"), ("u2", "2")]


async def test_what_was_mended_is_kept_with_the_plan_and_audited(api: Api, author: str, database: Database) -> None:
    venue_id = uuid4()
    await database.fetch(
        "INSERT INTO venues (venue_id, name, zone) VALUES ($1, 'Teatro', 'Europe/Lisbon') RETURNING name", venue_id
    )
    mended = await look_at(api, author, json.dumps(CHART).encode(), repairs=["number-seats", "uuid-for-guid"])
    assert mended.plan is not None
    note = {
        "format": mended.format,
        "repair_counts": {"guid-from-uuid": 1, "seat-numbered": 1},
        "repairs": [
            {"pointer": one.pointer, "code": one.code, "message": one.message} for one in mended.repairs
        ],
    }  # fmt: skip
    body = {"plan": json.loads(mended.plan), "expected_version": 0, "origin": note}
    saved = read(await api.call("POST", f"/v1/venues/{venue_id}/plans", body, token=author), wire.SavedPlan, 201)
    ((detail,),) = [
        tuple(row.values())
        for row in await database.fetch("SELECT detail FROM audit_log WHERE subject = $1", str(saved.plan_id))
    ]
    kept = json.loads(detail)
    assert kept["format"] == "pretix"
    assert kept["repair_counts"] == note["repair_counts"]
    assert [repair["code"] for repair in kept["repairs"]] == [repair.code for repair in mended.repairs]


@pytest.mark.parametrize(
    ("more", "pointer"),
    [({"repairs": ["paint-it-green"]}, "/repairs"), ({"seat_pattern": "seat"}, "/seat_pattern")],
)
async def test_a_wrong_wish_is_named(api: Api, author: str, more: dict[str, Any], pointer: str) -> None:
    body = {"data": b64encode(b"{}").decode()} | more
    answer = await api.call("POST", "/v1/plan-files", body, token=author)
    refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in refused.fields] == [pointer]


async def test_an_origin_of_nonsense_is_refused_by_the_name_of_its_member(api: Api, author: str) -> None:
    body = {"plan": {}, "origin": {"format": "Pretix!"}}
    answer = await api.call("POST", f"/v1/venues/{UUID(int=1)}/plans", body, token=author)
    refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in refused.fields] == ["/origin/format"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public plans (../shared/plans) are not here")
async def test_every_public_plan_has_its_counts_and_faults_over_http(api: Api, author: str) -> None:
    found = {}
    for path in sorted(SHARED.iterdir()):
        if path.suffix != ".md":
            report = await look_at(api, author, path.read_bytes(), name=path.stem)
            found[path.stem.split("__")[1]] = (report.format, report.seats, report.ga_capacity, report.fault_count)
    assert found == {
        "valid_seatmap": ("csv-grid", 4, 0, 0),
        "seatmap-canvas-stadium": ("pretix", 738, 0, 0),
        "sampleChart": ("seatsio", 32, 200, 0),
        "sampleChartWithErrors": ("seatsio", 32, 200, 3),
        "sampleChartWithSections": ("seatsio", 71, 0, 0),
        "sampleChartWithTables": ("seatsio", 12, 0, 0),
        "amazing-venue": ("svg", 152, 0, 0),
    }
