"""What is done for one payment finds what belongs to it by an index, however many payments there are."""

from __future__ import annotations

from uuid import UUID

import pytest

from booking.domain.model import PaymentOperation
from booking.domain.states import OperationKind
from booking.services import issue_tickets
from booking.sql import query
from booking.store.database import Database
from tests.server.box_office import Desk, fan, make_event
from tests.server.refund_desk import captured

LOOK_UPS = {
    "an event of a capture": (
        "SELECT * FROM find_event_operation('{sandbox}', 'capture', '', $1::uuid::text, '') WHERE operation_id = $2"
    ),
    "an event of a charge by its reference": (
        "SELECT * FROM find_event_operation('{sandbox}', 'capture', '', '', 'ch_1') WHERE charge_id = $1 AND"
        " operation_id = $2"
    ),
    "whether a refund waits for the capture": "SELECT WHERE NOT waits_for_capture($1) AND $2::uuid IS NOT NULL",
    "whether a charge may be voided": "SELECT WHERE may_be_voided($1) AND $2::uuid IS NOT NULL",
    "what went back of a charge": "SELECT FROM money_of_charge($1) WHERE $2::uuid IS NOT NULL",
    "what is under way of a charge": "SELECT WHERE open_follow_up_of($1) IS NULL AND $2::uuid IS NOT NULL",
    "whether a charge was captured": (
        "SELECT WHERE has_follow_up($1, 'capture', 'SUCCEEDED') AND $2::uuid IS NOT NULL"
    ),
    "that a charge's money goes back": (
        "SELECT FROM open_money_back($1, 'refund', 100, 'same', gen_random_uuid(), 'p', NULL, 'r', booking_now())"
        " WHERE code = '' AND $2::uuid IS NOT NULL"
    ),
    "a capture that is said to be refused after all": (
        "SELECT FROM record_result($2, NULL, 'declined', 0, '', 'no', '', '', '[]', 'provider:sandbox',"
        " ARRAY[gen_random_uuid(), gen_random_uuid()]) WHERE code = 'result-conflict' AND $1::uuid IS NOT NULL"
    ),
    "a comparison that begins": (
        "SELECT start_run($1, 'sandbox', booking_now()::date, booking_now() - interval '1 day', booking_now(), 'x')"
        " WHERE $2::uuid IS NOT NULL"
    ),
}
OF_AN_ORDER = {
    "its tickets": query("read_tickets_of_order"),
    "what of it can go back": query("read_refundable").replace("$2", "false"),
    "whether it may be taken back": "SELECT WHERE why_not_take_back($1) = ''",
    "what its tickets are worth": "SELECT WHERE value_of_tickets($1) > 0",
    "lines without a ticket": "SELECT WHERE lines_without_ticket($1) = 0",
    "its money": "SELECT FROM money_of_order($1)",
    "the locks of who gives its money back": "SELECT FROM lock_order_for_money($1)",
}

_READ_WHOLE = (
    "SELECT sum(seq_scan) FROM pg_stat_xact_user_tables"
    " WHERE relname IN ('payment_operations', 'tickets', 'orders', 'order_seats', 'reconciliation_items')"
)


@pytest.fixture
async def charge(database: Database) -> PaymentOperation:
    """An authorization that was captured."""
    charge = (await Desk(database, fan(), await make_event(database)).sell(1, kind=OperationKind.AUTHORIZE)).operation
    await captured(database, charge)
    return charge


@pytest.mark.parametrize("statement", LOOK_UPS.values(), ids=LOOK_UPS.keys())
async def test_it_is_found_by_an_index(database: Database, charge: PaymentOperation, statement: str) -> None:
    capture: UUID = (
        await database.fetch("SELECT operation_id FROM payment_operations WHERE parent_id = $1", charge.operation_id)
    )[0]["operation_id"]
    await find_by_index(database, statement, charge.operation_id, capture)


@pytest.mark.parametrize("statement", OF_AN_ORDER.values(), ids=OF_AN_ORDER.keys())
async def test_what_belongs_to_an_order_is_found_by_an_index(
    database: Database, charge: PaymentOperation, statement: str
) -> None:
    await issue_tickets.issue_for(database, [charge.order_id])
    await find_by_index(database, statement, charge.order_id)


async def find_by_index(db: Database, statement: str, *arguments: object) -> None:
    """A table of a few rows is read whole because that is cheap; here, only where there is no other way."""
    async with db.transaction() as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")
        before = await connection.fetchval(_READ_WHOLE)
        assert len(await connection.fetch(statement, *arguments)) == 1
        assert await connection.fetchval(_READ_WHOLE) == before
