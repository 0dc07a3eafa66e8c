"""The ticket issuer: tickets come only from the committed confirmation, through the outbox (R28).

It reads `order-confirmed` by snapshot difference, as the sequencer reads seat changes, and moves its cursor after the
tickets are committed: a death in between delivers an order twice, and `ticket_issued_once` makes that harmless. So a
backlog is worked off in small transactions, and two issuers at once need no lock.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Iterator, Sequence
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.store import feed_queries, issue_queries
from booking.store.database import Database
from booking.store.issue_queries import NewTicket
from booking.store.violations import is_fault_of_data

CONSUMER = "ticket-issuer"
TICK_S = 0.1
_ORDERS_AT_A_TIME = 200
_BEFORE_EVERYTHING = "3:3:"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

log = logging.getLogger(__name__)


async def run(db: Database, *, tick_s: float = TICK_S) -> None:
    """Issue until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again, as after any fault of the database.
    """
    await prepare(db)
    while True:
        await issue_new(db)
        await asyncio.sleep(tick_s)


async def prepare(db: Database) -> None:
    """Make the cursor, at the beginning of the outbox."""
    async with db.transaction() as connection:
        await feed_queries.ensure_consumer(connection, CONSUMER, _BEFORE_EVERYTHING)


async def issue_new(db: Database) -> int:
    """Issue the tickets of all orders confirmed since the last time. Returns how many tickets are new."""
    before = await issue_queries.read_consumer(db, CONSUMER)
    if before is None:
        raise LookupError("the issuer's cursor is missing: call prepare() first")
    if not await feed_queries.is_anything_new(db, CONSUMER):
        return 0
    after, order_ids = await issue_queries.scan_confirmed_orders(db, before)
    issued = 0
    for chunk in _chunks(order_ids):
        issued += await _issue_what_can_be(db, chunk)
    async with db.transaction() as connection:
        await issue_queries.advance_consumer(connection, CONSUMER, before, after)
    return issued


async def _issue_what_can_be(db: Database, order_ids: Sequence[UUID]) -> int:
    """As `issue_for`; an order whose tickets cannot be issued never stops the others (P32).

    It is an item for a supervisor after some minutes (`note_missing_tickets`), who can have it announced anew. What
    ails the database and no order (a full disk) is raised: nobody's turn is passed over because of it.
    """
    try:
        return await issue_for(db, order_ids)
    except Exception as error:
        if not is_fault_of_data(error):
            raise
        if len(order_ids) == 1:
            log.exception("the tickets of order %s could not be issued", order_ids[0])
            return 0
    return sum([await _issue_what_can_be(db, [order_id]) for order_id in order_ids])


async def issue_for(db: Database, order_ids: Sequence[UUID]) -> int:
    """Issue what is missing for these orders, in one transaction. Returns how many tickets are new."""
    async with db.transaction() as connection:
        lines = await issue_queries.read_lines_without_ticket(connection, order_ids)
        if not lines:
            return 0
        tickets = [NewTicket(uuid7(), line, ticket_code()) for line in lines]
        return await issue_queries.insert_tickets(connection, tickets)


def ticket_code() -> str:
    """`T-XXXX-XXXX-XXXX-XXXX`: 80 random bits in Crockford's base 32, which has no I, L, O and U."""
    symbols = [secrets.choice(_CROCKFORD) for _ in range(16)]
    return "-".join(["T", *("".join(symbols[start : start + 4]) for start in range(0, 16, 4))])


def _chunks(order_ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(order_ids), _ORDERS_AT_A_TIME):
        yield order_ids[start : start + _ORDERS_AT_A_TIME]
