"""Plans in the database: versions, digests, repairs on record, events made from them (I3, R13, S8, W9, W10, P21)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from backend_client import wire
from booking.domain.errors import InvalidRequestError, NotFoundError
from booking.domain.seating_plan.document import plan_digest
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.repairs import ALL_REPAIRS
from booking.services import plan_command
from booking.services.create_event import EventSpec, TierSpec, create_event
from booking.services.import_plan import ImportedPlan, export_plan, import_plan
from booking.store.database import Database
from tests.fixtures.plans import FOLDER, file_bytes, plan_bytes

ZONE = "Europe/Lisbon"
# A date whose local times are plain: neither skipped nor shown twice.
EVENING = datetime.fromisoformat("2027-06-18T20:30")

REPAIRING = ReadOptions(ALL_REPAIRS)


def fixture(name: str, /, **changes: Any) -> SeatingPlan:
    reading = read_pretix(json.dumps(json.loads(plan_bytes(name)) | changes).encode())
    assert reading.plan is not None
    return reading.plan


def plan_of(chart: Any) -> SeatingPlan:
    reading = read_plan(json.dumps(chart).encode())
    assert reading.plan is not None
    return reading.plan


async def count(database: Database, table: str) -> int:
    row = await database.fetchrow(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0])


def spec_for(stored: ImportedPlan, **changes: Any) -> EventSpec:
    """An evening in the small hall."""
    spec = EventSpec(
        name="An evening",
        plan_id=stored.plan_id,
        plan_version=stored.version,
        starts_at=EVENING,
        zone=ZONE,
        currency="EUR",
        price_types=("Adult", "Child"),
        prices={"Front": (4_000, 2_000), "Rear": (2_500, 1_250)},
    )
    return replace(spec, **changes)


@pytest.fixture
async def hall(database: Database) -> ImportedPlan:
    return await import_plan(database, "Hall", ZONE, small_hall())


# ---------------------------------------------------------------- plans


async def test_the_same_plan_twice_is_the_same_version(database: Database) -> None:
    first = await import_plan(database, "Hall", ZONE, fixture("valid"))
    second = await import_plan(database, "Hall", ZONE, fixture("valid"))
    assert (first.version, first.is_new) == (1, True)
    assert (second.plan_id, second.version, second.is_new) == (first.plan_id, 1, False)
    assert await count(database, "plans") == 1


async def test_a_changed_plan_is_the_next_version_and_the_old_one_stays(database: Database) -> None:
    first = await import_plan(database, "Hall", ZONE, fixture("valid"))
    second = await import_plan(database, "Hall", ZONE, fixture("fraction_is_fine"))
    assert (second.plan_id, second.version) == (first.plan_id, 2)
    assert await export_plan(database, first.plan_id, 1) == fixture("valid")
    assert await export_plan(database, first.plan_id) == fixture("fraction_is_fine")


async def test_going_back_to_an_old_plan_finds_its_old_version(database: Database) -> None:
    for name in ("valid", "fraction_is_fine"):
        await import_plan(database, "Hall", ZONE, fixture(name))
    assert (await import_plan(database, "Hall", ZONE, fixture("valid"))).version == 1


async def test_plans_of_other_names_and_venues_are_plans_of_their_own(database: Database) -> None:
    plans = [
        await import_plan(database, "Hall", ZONE, fixture("valid")),
        await import_plan(database, "Hall", ZONE, fixture("valid", name="Chairs out")),
        await import_plan(database, "Other hall", ZONE, fixture("valid")),
    ]
    assert len({plan.plan_id for plan in plans}) == 3
    assert {plan.version for plan in plans} == {1}


async def test_imports_at_once_make_one_venue_and_versions_without_gaps(database: Database) -> None:
    names = ["valid", "fraction_is_fine", "valid", "label_padded", "fraction_is_fine"]
    stored = await asyncio.gather(*(import_plan(database, "Hall", ZONE, fixture(name)) for name in names))
    assert await count(database, "venues") == 1
    assert {plan.version for plan in stored} == {1, 2}  # the padded label reads as the plain one
    assert len({plan.plan_id for plan in stored}) == 1


async def test_s8_12000_seats_stored_and_loaded_have_the_same_count_and_hash(database: Database) -> None:
    plan = stadium(12_000)
    stored = await import_plan(database, "Bowl", ZONE, plan)
    loaded = await export_plan(database, stored.plan_id)
    assert loaded.seat_count == 12_000
    assert plan_digest(loaded) == plan_digest(plan)
    assert await count(database, "plan_seats") == 12_000


async def test_the_stored_document_is_what_clients_decode(database: Database, hall: ImportedPlan) -> None:
    row = await database.fetchrow("SELECT document, seat_count FROM plans")
    assert row is not None
    plan = msgspec.json.decode(bytes(row["document"]), type=wire.Plan, strict=True)
    assert (plan.plan_id, plan.version, len(plan.seats.guid)) == (hall.plan_id, 1, row["seat_count"])


async def test_seat_names_are_stored_by_seat_no(database: Database, hall: ImportedPlan) -> None:
    plan = small_hall()
    expected = [
        (plan.sections[section_no].name, row.label, seat.number, seat.guid, seat.category_no, int(seat.flags))
        for section_no, row in plan.rows()
        for seat in row.seats
    ]
    rows = await database.fetch(
        "SELECT section, row_label, number, guid, category_no, flags FROM plan_seats WHERE plan_id = $1"
        " ORDER BY seat_no",
        hall.plan_id,
    )
    assert [tuple(row) for row in rows] == expected


async def test_repairs_are_kept_on_record(database: Database) -> None:
    reading = read_pretix(plan_bytes("guid_missing"), REPAIRING)
    assert reading.plan is not None
    stored = await import_plan(database, "Hall", ZONE, reading.plan, repairs=reading.repairs, principal="ada")
    row = await database.fetchrow("SELECT principal, subject, detail FROM audit_log WHERE action = 'plan-imported'")
    assert row is not None
    assert (row["principal"], row["subject"]) == ("ada", str(stored.plan_id))
    assert [item["code"] for item in json.loads(row["detail"])["repairs"]] == ["guid-generated"] * 2


@pytest.mark.parametrize(
    ("venue", "zone", "pointer"),
    [("Hall", "Europe/Atlantis", "/zone"), ("  ", ZONE, "/venue"), ("Hall", "Asia/Tokyo", "/zone")],
)
async def test_a_venue_needs_a_name_and_keeps_its_zone(
    database: Database, hall: ImportedPlan, venue: str, zone: str, pointer: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await import_plan(database, venue, zone, fixture("valid"))
    assert [fault.pointer for fault in refused.value.fields] == [pointer]
    assert await count(database, "plans") == 1


async def test_an_unknown_plan_is_not_found(database: Database, hall: ImportedPlan) -> None:
    with pytest.raises(NotFoundError):
        await export_plan(database, uuid4())
    with pytest.raises(NotFoundError):
        await export_plan(database, hall.plan_id, 2)


# ---------------------------------------------------------------- events


async def test_an_event_takes_every_seat_of_its_plan(database: Database, hall: ImportedPlan) -> None:
    event_id = await create_event(database, spec_for(hall, house_seats={3, 4}))
    seats = await database.fetch("SELECT seat_no, status, holder FROM seats WHERE event_id = $1 ORDER BY 1", event_id)
    assert [seat["seat_no"] for seat in seats] == list(range(154))
    assert [seat["seat_no"] for seat in seats if (seat["status"], seat["holder"]) == (4, 3)] == [3, 4]
    assert {(seat["status"], seat["holder"]) for seat in seats} == {(0, 0), (4, 3)}


async def test_an_event_has_its_prices_categories_types_and_feed(database: Database, hall: ImportedPlan) -> None:
    event_id = await create_event(database, spec_for(hall))
    prices = await database.fetch(
        "SELECT c.name AS category, t.name AS type, p.amount_minor, p.price_version FROM prices AS p"
        " JOIN price_categories AS c USING (event_id, category_no)"
        " JOIN price_types AS t USING (event_id, price_type_id)"
        " WHERE event_id = $1 ORDER BY c.category_no, t.price_type_id",
        event_id,
    )
    assert [tuple(price) for price in prices] == [
        ("Front", "Adult", 4_000, 1),
        ("Front", "Child", 2_000, 1),
        ("Rear", "Adult", 2_500, 1),
        ("Rear", "Child", 1_250, 1),
    ]
    assert await count(database, "event_feed") == 1


async def test_w9_local_times_become_instants_of_the_venue(database: Database, hall: ImportedPlan) -> None:
    singapore = spec_for(
        hall, zone="Asia/Singapore", starts_at=EVENING, sale_opens=datetime.fromisoformat("2027-01-04T10:00")
    )
    event_id = await create_event(database, singapore)
    row = await database.fetchrow("SELECT starts_at, sale_opens_at FROM events WHERE event_id = $1", event_id)
    assert row is not None
    assert row["sale_opens_at"] == datetime(2027, 1, 4, 2, 0, tzinfo=UTC)
    assert row["starts_at"] == datetime(2027, 6, 18, 12, 30, tzinfo=UTC)


async def test_a_sale_without_an_opening_is_open_at_once(database: Database, hall: ImportedPlan) -> None:
    event_id = await create_event(database, spec_for(hall))
    row = await database.fetchrow(
        "SELECT booking_now() - sale_opens_at AS age FROM events WHERE event_id = $1", event_id
    )
    assert row is not None
    assert timedelta(0) <= row["age"] < timedelta(minutes=1)


REFUSED: dict[str, tuple[dict[str, Any], set[str]]] = {
    "W10 twice": ({"zone": "Europe/Berlin", "starts_at": datetime.fromisoformat("2026-10-25T02:30")}, {"/starts_at"}),
    "W10 never": ({"zone": "Europe/Berlin", "starts_at": datetime.fromisoformat("2026-03-29T02:30")}, {"/starts_at"}),
    "W10 opening": (
        {"zone": "Europe/Berlin", "sale_opens": datetime.fromisoformat("2026-03-29T02:30")}, {"/sale_opens"},
    ),
    "unknown zone, currency and no name": (
        {"zone": "Mars/Base", "currency": "ZZZ", "name": " "}, {"/zone", "/currency", "/name"},
    ),
    "P21 a price no card can be charged": (
        {"currency": "KWD", "prices": {"Front": (5_124, 5_000), "Rear": (5_000, 4_999)}},
        {"/prices/Front/Adult", "/prices/Rear/Child"},
    ),
    "negative price": ({"prices": {"Front": (-1, 0), "Rear": (1, 1)}}, {"/prices/Front/Adult"}),
    "a price too few": ({"prices": {"Front": (4_000,), "Rear": (1, 1)}}, {"/prices/Front"}),
    "a category without prices": ({"prices": {"Front": (4_000, 2_000)}}, {"/prices/Rear"}),
    "a category that is not there": (
        {"prices": {"Front": (1, 1), "Rear": (1, 1), "Moon": (1, 1)}}, {"/prices/Moon"},
    ),
    "the same price type twice": ({"price_types": ("Adult", "Adult")}, {"/price_types"}),
    "a house seat outside the plan": ({"house_seats": {154}}, {"/house_seats"}),
    "settings out of bounds": (
        {"hold_ttl_s": 0, "grace_s": 901, "max_per_account": 0}, {"/hold_ttl_s", "/grace_s", "/max_per_account"},
    ),
    "a hold that ends before it can be paid": ({"hold_ttl_s": 10}, {"/hold_ttl_s"}),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_wrong_with_an_event_is_said_at_once_and_nothing_is_created(
    database: Database, hall: ImportedPlan, case: str
) -> None:
    changes, pointers = REFUSED[case]
    with pytest.raises(InvalidRequestError) as refused:
        await create_event(database, spec_for(hall, **changes))
    assert {fault.pointer for fault in refused.value.fields} == pointers
    assert await count(database, "events") == 0


async def test_w10_a_time_that_comes_twice_is_taken_when_it_is_said_which(
    database: Database, hall: ImportedPlan
) -> None:
    twice = datetime.fromisoformat("2026-10-25T02:30")
    event_id = await create_event(database, spec_for(hall, zone="Europe/Berlin", starts_at=twice, fold=1))
    row = await database.fetchrow("SELECT starts_at FROM events WHERE event_id = $1", event_id)
    assert row is not None
    assert row["starts_at"] == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


async def test_a_float_price_is_a_mistake_of_the_program(database: Database, hall: ImportedPlan) -> None:
    prices: Any = {"Front": (40.0, 20.0), "Rear": (1, 1)}
    with pytest.raises(TypeError):
        await create_event(database, spec_for(hall, prices=prices))
    assert await count(database, "events") == 0


async def test_an_event_of_an_unknown_plan_is_not_found(database: Database, hall: ImportedPlan) -> None:
    with pytest.raises(NotFoundError):
        await create_event(database, spec_for(hall, plan_version=9))


async def house_of_floors(database: Database) -> ImportedPlan:
    plan = read_plan(file_bytes("seatsio/house.json")).plan
    assert plan is not None
    return await import_plan(database, "House", ZONE, plan, source_format="seatsio")


HOUSE_PRICES = {"Gold": (5_000, 2_500), "Silver": (3_000, 1_500)}


async def tiers_of(database: Database, event_id: int) -> list[tuple[Any, ...]]:
    rows = await database.fetch(
        "SELECT tier_id, name, category_no, capacity FROM ga_tiers WHERE event_id = $1 ORDER BY tier_id, bucket",
        event_id,
    )
    return [tuple(row) for row in rows]


async def test_standing_areas_of_a_plan_are_tiers_of_its_events(database: Database) -> None:
    event_id = await create_event(database, spec_for(await house_of_floors(database), prices=HOUSE_PRICES))
    assert await tiers_of(database, event_id) == [(1, "Pit", 1, 80), (2, "Left-Rear", 0, 20)]


async def test_the_spec_may_say_otherwise_of_a_standing_area_and_add_more(database: Database) -> None:
    tiers = (TierSpec("Terrace", "Gold", 5), TierSpec("Pit", "Gold", 60))
    event_id = await create_event(database, spec_for(await house_of_floors(database), prices=HOUSE_PRICES, tiers=tiers))
    expected = [(1, "Pit", 0, 60), (2, "Left-Rear", 0, 20), (3, "Terrace", 0, 5)]
    assert await tiers_of(database, event_id) == expected


async def test_a_category_of_standing_places_alone_needs_prices(database: Database) -> None:
    chart = json.loads(file_bytes("seatsio/floors.json"))
    chart["categories"]["list"].append({"label": "Standing", "color": "#000000", "key": 2})
    chart["subChartFloors"][1]["subChart"]["generalAdmissionAreas"][0]["categoryKey"] = 2
    plan = read_plan(json.dumps(chart).encode()).plan
    assert plan is not None
    stored = await import_plan(database, "Floors", ZONE, plan)
    with pytest.raises(InvalidRequestError) as refused:
        await create_event(database, spec_for(stored, prices={"All": (1_000, 500)}))
    assert {fault.pointer for fault in refused.value.fields} == {"/prices/Standing", "/tiers/0/category"}
    assert await count(database, "events") == 0


async def test_a_plan_of_tables_floors_and_standing_areas_is_stored_and_loaded_the_same(database: Database) -> None:
    for name in ("house", "floors"):
        plan = read_plan(file_bytes(f"seatsio/{name}.json")).plan
        assert plan is not None
        stored = await import_plan(database, "House", ZONE, plan)
        assert await export_plan(database, stored.plan_id) == plan


async def test_a_new_version_keeps_tables_with_their_rows_and_areas_with_their_categories(database: Database) -> None:
    """I4: a seat in front of the table takes the next free number, so its rows move; the table stays at its own."""
    chart = json.loads(file_bytes("seatsio/house.json"))
    await import_plan(database, "House", ZONE, plan_of(chart))
    chart["subChart"]["rows"] = [
        {"label": "A", "seats": [{"x": 5, "y": 5, "label": "1", "categoryKey": "new", "uuid": "fresh"}]}
    ]
    chart["categories"]["list"].insert(0, {"label": "Bronze", "color": "#cd7f32", "key": "new"})
    second = await import_plan(database, "House", ZONE, plan_of(chart))
    assert second.version == 2
    row = await database.fetchrow("SELECT document FROM plans WHERE version = 2")
    assert row is not None
    document = msgspec.json.decode(bytes(row["document"]), type=wire.Plan, strict=True)
    table_rows = [document.rows[table.row_no] for table in document.tables]
    assert [row.label for row in table_rows] == ["T1", "T2", ""]
    names = [document.categories[area.category_no].name for area in document.standing]
    assert names == ["Silver", "Gold"]


async def test_where_a_plan_came_from_and_what_was_mended_is_kept_with_it(database: Database) -> None:
    reading = read_plan(plan_bytes("guid_missing"), REPAIRING)
    assert reading.plan is not None
    await import_plan(
        database, "Hall", ZONE, reading.plan, repairs=reading.repairs, source_format=reading.format, principal="ada"
    )
    row = await database.fetchrow("SELECT document FROM plans")
    assert row is not None
    origin = json.loads(row["document"])["origin"]
    assert (origin["format"], origin["repair_counts"]) == ("pretix", {"guid-generated": 2})
    assert [item["pointer"] for item in origin["repairs"]] == [repair.pointer for repair in reading.repairs]
    log = await database.fetchrow("SELECT detail FROM audit_log WHERE action = 'plan-imported'")
    assert log is not None
    assert json.loads(log["detail"])["repairs"] == origin["repairs"]


# ---------------------------------------------------------------- the command


def run(*arguments: str) -> int:
    return plan_command.main(arguments)


def test_a_plan_is_imported_and_exported_from_the_command_line(
    dsn: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    where = ("--venue", "Hall", "--zone", ZONE, "--dsn", dsn)
    assert run("import", str(FOLDER / "second_variant.json"), *where, "--json") == 0
    report = json.loads(capfdbinary.readouterr().out)
    assert (report["version"], report["is_new"], report["seats"]) == (1, True, 5)
    assert run("import", str(FOLDER / "second_variant.json"), *where) == 0
    assert b"Already there" in capfdbinary.readouterr().out
    assert run("export", report["plan_id"], "--dsn", dsn) == 0
    assert read_pretix(capfdbinary.readouterr().out).plan == fixture("second_variant")


@pytest.mark.parametrize("name", ["seatsio/house.json", "svg/transforms.svg", "csv/list.csv", "csv/grid.csv"])
def test_s8_each_format_is_imported_and_exported_in_both_of_ours(
    dsn: str, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, name: str
) -> None:
    where = ("--venue", "House", "--zone", ZONE, "--dsn", dsn)
    assert run("import", str(FOLDER / name), *where, "--json", "--focal", "12,34.5") == 0
    plan_id = json.loads(capfdbinary.readouterr().out)["plan_id"]
    file = tmp_path / "out.json"
    for form in ("taquilla", "pretix"):
        assert run("export", plan_id, "--format", form, "--output", str(file), "--dsn", dsn) == 0
        assert run("import", str(file), *where, "--json") == 0
        report = json.loads(capfdbinary.readouterr().out)
        assert (report["plan_id"], report["version"], report["is_new"]) == (plan_id, 1, False)
        assert report["derived"]["focal_point"] == {"x": 12, "y": 34.5, "from": "plan"}


def test_a_plain_export_says_what_it_leaves_out(dsn: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        run("import", str(FOLDER / "seatsio/house.json"), "--venue", "H", "--zone", ZONE, "--dsn", dsn, "--json") == 0
    )
    plan_id = json.loads(capfd.readouterr().out)["plan_id"]
    assert run("export", plan_id, "--plain", "--dsn", dsn) == 0
    captured = capfd.readouterr()
    assert "2 standing areas" in captured.err
    assert "taquilla" not in captured.out
    assert run("export", plan_id, "--output", "/proc/none/plan.json", "--dsn", dsn) == 2


def test_i3_a_refused_plan_leaves_the_database_empty(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--venue", "Hall", "--zone", ZONE, "--dsn", dsn)
    assert run("import", str(FOLDER / "everything_of_i3.json"), *where) == 1
    assert "9 faults" in capsys.readouterr().out

    async def counts() -> tuple[int, int]:
        db = await Database.open(dsn)
        try:
            return await count(db, "venues"), await count(db, "plans")
        finally:
            await db.close()

    assert asyncio.run(counts()) == (0, 0)


def test_exit_codes_of_import_and_export_tell_who_is_to_blame(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = str(FOLDER / "valid.json")
    assert run("import", plan, "--venue", "Hall", "--zone", "Mars/Base", "--dsn", dsn) == 2
    assert "/zone" in capsys.readouterr().err
    assert run("export", str(UUID(int=1)), "--dsn", dsn) == 1
    assert "There is no plan" in capsys.readouterr().err
