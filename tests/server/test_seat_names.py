"""What a seat is called when its row is a table or a booth: the plan's tables decide, and every answer says it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec
import pytest

from backend_client import wire
from backend_client.plan_names import row_kinds, seat_ref
from booking import sql
from booking.domain.caller import Role
from booking.domain.seating_plan.model import (
    AreaShape,
    Category,
    Row,
    Seat,
    SeatingPlan,
    Section,
    Table,
    TableKind,
)
from booking.services import sequence_feed
from booking.services.import_plan import import_plan
from booking.services.issue_tickets import issue_new, prepare
from booking.store.database import Database
from tests.server.box_office import Desk, till
from tests.server.plan_change import ZONE, change, evening
from tests.server.web_api import Api, api_over, problem, read

TABLE = Table(TableKind.TABLE, AreaShape.CIRCLE, 50.0, 50.0, 20.0, 20.0)
BOOTH = Table(TableKind.BOOTH, AreaShape.RECTANGLE, 150.0, 50.0, 20.0, 20.0)


def row(label: str, *numbers: str, table: Table | None = None) -> Row:
    seats = tuple(Seat(f"{label}-{number}", number, 9.0 * place, 40.0, 0) for place, number in enumerate(numbers))
    return Row(label, seats, table=table)


OWN_BOOTH = Row("", (Seat("booth", "B1", 150.0, 50.0, 0),), table=BOOTH)
"""As seats.io has it: the row has no name, the one seat bears the booth's."""


def hall(*rows: Row) -> SeatingPlan:
    apart = tuple(
        replace(one, seats=tuple(replace(seat, y=40.0 * line) for seat in one.seats))
        for line, one in enumerate(rows, 1)
    )
    return SeatingPlan("Hall", 500.0, 500.0, (Category("Stalls", "#336699"),), (Section("Floor", apart),))


OLD = hall(row("A", "1", "2"), row("T2", "1", "2", "3", table=TABLE), OWN_BOOTH, row("B2", "1", table=BOOTH))
NEW = hall(row("A", "1", "2"), row("T2", "1", "new", "3", table=TABLE), OWN_BOOTH, row("B2", "1", table=BOOTH))
"""Seat 2 of the table is gone, another stands in its place and is numbered last of all."""


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def kinds(db: Database, version: int) -> dict[str, str]:
    rows = await db.fetch("SELECT guid, row_kind FROM plan_seats WHERE version = $1 ORDER BY seat_no", version)
    return {found["guid"]: found["row_kind"] for found in rows}


async def test_every_answer_that_names_a_seat_says_what_its_row_is(api: Api) -> None:
    stored = await import_plan(api.db, "House", ZONE, OLD)
    event_id = await evening(api.db, stored)
    await sequence_feed.prepare(api.db)
    await prepare(api.db)
    token = await api.staff(Role.SUPERVISOR)
    path = f"/v1/events/{event_id}"
    plan = read(await api.call("GET", f"{path}/plan"), wire.Plan)
    named = [seat_ref(plan, seat_no) for seat_no in range(len(plan.seats.guid))]
    assert [seat.row_kind for seat in named] == ["", "", "table", "table", "table", "booth", "booth"]
    chosen = [named[1], named[4], named[5], named[6]]

    step = await Desk(api.db, till(), event_id).sell(*(seat.seat_no for seat in chosen))
    await issue_new(api.db)
    for seat in named:
        detail = read(await api.call("GET", f"{path}/seats/{seat.seat_no}", token=token), wire.SeatDetail)
        assert detail.seat == seat
    tickets = await api.call("GET", f"/v1/orders/{step.operation.order_id}/tickets", token=token)
    assert [ticket.seat for ticket in read(tickets, wire.TicketList).tickets] == chosen
    wish = wire.HoldRequest(seats=tuple(seat.seat_no for seat in chosen))
    answer = await api.call("POST", f"{path}/holds", wish, token=token, key="taken")
    assert problem(answer, wire.ErrorCode.SEATS_TAKEN).seats == tuple(chosen)
    wish = wire.HoldRequest(seats=(named[0].seat_no, named[2].seat_no))
    answer = await api.call("POST", f"{path}/holds", wish, token=token, key="free")
    assert read(answer, wire.Hold, 201).seats == (named[0], named[2])


async def test_a_table_keeps_its_kind_when_its_row_goes_on_elsewhere_in_the_next_version(database: Database) -> None:
    stored = await import_plan(database, "House", ZONE, OLD)
    event_id = await evening(database, stored)
    sold = await Desk(database, till(), event_id).hold(4)
    assert (sold.seats[0].row, sold.seats[0].row_kind) == ("T2", "table")
    await import_plan(database, "House", ZONE, NEW)
    told = await kinds(database, 2)
    assert {guid for guid, kind in told.items() if kind == "table"} == {"T2-1", "T2-2", "T2-new", "T2-3"}
    assert (told["booth"], told["B2-1"], told["A-1"]) == ("booth", "booth", "")
    (stored_plan,) = await database.fetch("SELECT document FROM plans WHERE version = 2")
    plan = msgspec.json.decode(bytes(stored_plan["document"]), type=wire.Plan)
    own = {plan.seats.guid[seat]: kind for seat, row_no in enumerate(plan.seats.row_no)
           if (kind := row_kinds(plan).get(row_no, ""))}  # fmt: skip
    assert own == {guid: kind for guid, kind in told.items() if kind and guid != "T2-2"}
    assert (await change(database, event_id, 2)).relabelled == ()


async def test_a_taken_seat_that_comes_to_a_table_is_told_to_be_called_otherwise(database: Database) -> None:
    event_id = await evening(database, await import_plan(database, "House", ZONE, hall(row("T2", "1", "2"))))
    await Desk(database, till(), event_id).hold(1)
    await import_plan(database, "House", ZONE, hall(row("T2", "1", "2", table=TABLE)))
    told = (await change(database, event_id, 2)).relabelled
    assert [(seat.row, seat.number, seat.row_kind) for seat in told] == [("T2", "2", "table")]


async def test_the_migration_finds_the_tables_of_stored_plans_as_an_import_does(database: Database) -> None:
    await import_plan(database, "House", ZONE, OLD)
    await import_plan(database, "House", ZONE, hall(row("A", "1"), OWN_BOOTH, row("B2", "1", table=BOOTH)))
    imported = [await kinds(database, version) for version in (1, 2)]
    assert imported[1]["T2-2"] == "table"
    await database.fetch("UPDATE plan_seats SET row_kind = ''")
    migration = next(file for file in sql.migrations() if file.name == "row_kinds")
    for statement in migration.text[migration.text.index("WITH documents") :].split(";\n"):
        if statement.strip():
            await database.fetch(statement)
    assert [await kinds(database, version) for version in (1, 2)] == imported
