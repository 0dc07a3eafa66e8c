"""The rules of general admission (R11, R39): clean after real sales, and each fires on a breach planted for it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from booking import sql
from booking.services import issue_tickets
from booking.services.check_invariants import breaches_of, check
from booking.store.database import Database
from tests.server.box_office import fan, till
from tests.server.general_admission import PLACE_PLANTS, Counter, make_standing

RULES = {rule.name: rule for rule in sql.invariants()}

# Further breaches that the rules have to see, and rules of seats that look after places as well.
ALSO: tuple[tuple[str, str], ...] = (
    ("places-counted-equal-places-stored", "UPDATE ga_tiers SET sold = sold - 1 WHERE sold > 0"),
    ("places-counted-equal-places-stored", "UPDATE order_places SET bucket = 60"),
    ("places-counted-equal-places-stored", "DELETE FROM ga_holds WHERE status = 2"),
    ("tier-is-not-oversold", "UPDATE ga_tiers SET name = 'Other' WHERE bucket = 1"),
    ("tier-is-not-oversold", "DELETE FROM ga_tiers WHERE bucket = 0"),
    ("places-belong-to-their-hold", "UPDATE ga_holds SET status = 0 WHERE status = 1"),
    ("places-belong-to-their-hold", "UPDATE ga_holds SET expires_at = expires_at + interval '1 us' WHERE status = 2"),
    ("places-belong-to-their-hold", "DELETE FROM ga_holds WHERE status = 3"),
    (
        "places-belong-to-their-hold",
        "UPDATE holds SET status = 'RELEASED', ended_at = booking_now() WHERE status = 'HELD'",
    ),
    ("confirmed-order-owns-its-places", "UPDATE order_places SET valid = true"),
    ("confirmed-order-owns-its-places", "UPDATE order_places SET amount_minor = 1 WHERE place_no = 1"),
    ("confirmed-order-owns-its-places", "UPDATE ga_holds SET quantity = 1 WHERE status = 3"),
    ("account-count-equals-its-tickets", "UPDATE account_limits SET sold = sold - 1 WHERE sold > 0"),
    ("order-total-is-the-sum-of-its-lines", "UPDATE order_places SET amount_minor = amount_minor - 1"),
    ("hold-is-announced", "DELETE FROM outbox WHERE payload ->> 'change' = 'held'"),
    ("account-stays-within-its-limit", "UPDATE events SET max_per_account = 1"),
    (
        "ticket-belongs-to-a-valid-line",
        "UPDATE order_places SET valid = false WHERE place_no = 2",
    ),
    (
        "ticket-belongs-to-a-valid-line",
        (
            "DROP INDEX place_ticket_issued_once; INSERT INTO tickets (ticket_id, event_id, order_id, place_no, code)"
            " SELECT gen_random_uuid(), event_id, order_id, place_no, 'second' FROM tickets WHERE place_no = 1"
        ),
    ),
)


@pytest.fixture
async def standing_crowd(database: Database) -> Database:
    """Places sold with tickets, beside seats too, held, and being paid, of a tier with two buckets."""
    event_id = await make_standing(database, 60, buckets=2)
    await Counter(database, till(), event_id).sell(5, 3)
    await Counter(database, fan(), event_id).hold(4)
    await Counter(database, fan(), event_id).hold(1, 5)
    buyer = Counter(database, fan(), event_id)
    await buyer.check_out(await buyer.hold(3))
    await issue_tickets.prepare(database)
    assert await issue_tickets.issue_new(database) == 6
    return database


async def test_real_sales_of_places_break_no_rule(dsn: str, standing_crowd: Database) -> None:
    assert (await check(dsn)).breaches == ()
    assert len(await standing_crowd.fetch("SELECT FROM ga_tiers WHERE held > 0")) > 0


async def test_each_rule_of_places_finds_the_breaches_planted_for_it(standing_crowd: Database) -> None:
    plants: tuple[tuple[str, str], ...] = (*PLACE_PLANTS.items(), *ALSO)
    silent = [(rule, plant) for rule, plant in plants if not await _fires(standing_crowd, rule, plant)]
    assert silent == []


async def _fires(db: Database, rule: str, plant: str) -> bool:
    """Whether a rule speaks while a breach is there; nothing of it stays."""
    async with db.general.trip(10) as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            assert await breaches_of(connection, RULES[rule]) == (), rule
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(plant)
            return bool(await breaches_of(connection, RULES[rule]))
        finally:
            await transaction.rollback()


def test_the_plants_cover_every_rule_that_is_about_places_alone() -> None:
    about_places: Mapping[str, object] = {name: rule for name, rule in RULES.items() if "ga_tiers" in rule.text}
    assert set(about_places) <= set(PLACE_PLANTS)
