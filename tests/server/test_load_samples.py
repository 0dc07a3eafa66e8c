"""The demo's data: complete, believable, loaded once, and bound by the same invariants as every sale (R39)."""

from __future__ import annotations

from datetime import timedelta

from booking.domain.currencies import exponent_of
from booking.services.check_invariants import check
from booking.services.load_samples import load_samples
from booking.services.sample_programme import EVENTS, STAFF
from booking.store.database import Database


async def test_samples_are_complete_and_lively_and_a_second_loading_adds_nothing(database: Database) -> None:
    """Looked at in one loading: it is the slow part."""
    first = await load_samples(database)
    assert (len(first.events), len(first.staff)) == (len(EVENTS), len(STAFF))
    again = await load_samples(database)
    assert (again.events, again.staff) == ((), ())
    await _look_at_events(database)
    await _look_at_seats(database)
    await _look_at_tiers(database)
    await _look_at_invariants(database)
    await _look_at_staff(database)


async def _look_at_events(db: Database) -> None:
    events = await db.fetch(
        "SELECT e.name, e.currency, e.zone, v.zone AS venue_zone, e.status, e.starts_at - booking_now() AS ahead,"
        " e.sale_opens_at <= booking_now() AS open, p.seat_count"
        " FROM events AS e JOIN venues AS v USING (venue_id) JOIN plans AS p"
        " ON (p.plan_id, p.version) = (e.plan_id, e.plan_version) ORDER BY event_id"
    )
    assert [event["name"] for event in events] == [event.name for event in EVENTS]
    assert all(event["open"] and event["status"] == "ON_SALE" for event in events)
    assert all(timedelta(weeks=2) < event["ahead"] < timedelta(weeks=8) for event in events)
    assert all(event["zone"] == event["venue_zone"] for event in events)
    assert sorted(exponent_of(event["currency"]) for event in events) == [0, 2, 2, 2, 3]
    assert sorted({event["seat_count"] for event in events}) == [154, 899, 60_000]


async def _look_at_seats(db: Database) -> None:
    rows = await db.fetch("SELECT event_id, status, count(*) AS seats FROM seats GROUP BY event_id, status")
    seats = {(row["event_id"], row["status"]): row["seats"] for row in rows}
    for event_id in range(1, len(EVENTS) + 1):
        assert seats[event_id, 3] >= 10, "sold"
        assert seats[event_id, 4] >= 4, "kept by the house"
        assert seats[event_id, 1] >= 2, "held by fans"
        assert seats[event_id, 0] > seats[event_id, 3], "free"


async def _look_at_tiers(db: Database) -> None:
    tiers = await db.fetch("SELECT e.name, t.name AS tier, t.capacity FROM ga_tiers t JOIN events e USING (event_id)")
    assert [tuple(row) for row in tiers] == [
        (event.name, tier.name, tier.capacity) for event in EVENTS for tier in event.standing
    ]
    assert tiers, "one evening has standing places"


async def _look_at_invariants(db: Database) -> None:
    """At most one valid order a seat, each sold seat in a confirmed order that is paid to the last unit (R39)."""
    broken = await db.fetch(
        "SELECT s.event_id, s.seat_no FROM seats AS s"
        " LEFT JOIN order_seats AS l ON (l.event_id, l.seat_no, l.valid) = (s.event_id, s.seat_no, true)"
        " LEFT JOIN orders AS o ON o.order_id = l.order_id AND o.status = 'CONFIRMED'"
        " WHERE (s.status = 3) <> (o.order_id IS NOT NULL)"
    )
    assert broken == []
    unpaid = await db.fetch(
        "SELECT o.order_id FROM orders AS o WHERE o.amount_minor <> (SELECT sum(p.amount_minor)"
        " FROM payment_operations AS p WHERE p.order_id = o.order_id AND p.status = 'SUCCEEDED')"
        " OR o.amount_minor <> (SELECT sum(l.amount_minor) FROM order_seats AS l WHERE l.order_id = o.order_id)"
    )
    assert unpaid == []
    assert (await check(db.dsn)).breaches == ()
    row = await db.fetchrow("SELECT count(*) AS orders FROM orders WHERE status = 'CONFIRMED'")
    assert row is not None
    assert row["orders"] == sum(event.orders for event in EVENTS)


async def _look_at_staff(db: Database) -> None:
    staff = await db.fetch("SELECT name, display_name, role FROM staff ORDER BY name")
    assert {(person["name"], person["display_name"], person["role"]) for person in staff} == {
        (person.name, person.display_name, person.role.value) for person in STAFF
    }
