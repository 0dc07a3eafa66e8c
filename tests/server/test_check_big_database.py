"""The checker on a house that has sold for a long time: it stays clean, and ends in bounded time (R39)."""

from __future__ import annotations

from time import perf_counter

import asyncpg
import pytest

from booking.services.check_invariants import check
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, make_event

# Each order is one of two seats, sold at a till for cash; what one costs in rows is what a real one does.
_SOLD_OUT = f"""
CREATE TEMP TABLE sale ON COMMIT DROP AS
SELECT $1::integer AS event_id, n, md5('order' || $1 || ':' || n)::uuid AS order_id,
       md5('hold' || $1 || ':' || n)::uuid AS hold_id,
       md5('pay' || $1 || ':' || n)::uuid AS operation_id, ARRAY[2 * n, 2 * n + 1] AS seats,
       'device:' || (n % 200) AS principal,
       booking_now() - interval '1 day' + n * interval '1 ms' AS at
  FROM generate_series(0, $2 - 1) AS n;
INSERT INTO holds (hold_id, event_id, principal, channel, status, seats, price_version, expires_at, grace_used,
                   idem_key, digest, created_at, ended_at)
SELECT hold_id, event_id, principal, 'till', 'SOLD', seats, 1, at + interval '300 s', true, 'h' || n, '', at, at
  FROM sale;
INSERT INTO orders (order_id, event_id, principal, channel, number, status, amount_minor, currency, price_version,
                    created_at, confirmed_at)
SELECT order_id, event_id, principal, 'till', 'N' || n, 'CONFIRMED', {2 * ADULT_PRICE}, 'EUR', 1, at, at FROM sale;
INSERT INTO order_holds (order_id, hold_id) SELECT order_id, hold_id FROM sale;
INSERT INTO order_seats (order_id, event_id, seat_no, price_type_id, amount_minor, valid)
SELECT order_id, event_id, unnest(seats), {ADULT}, {ADULT_PRICE}, true FROM sale;
INSERT INTO payment_operations (operation_id, order_id, event_id, kind, status, provider, principal, idempotency_key,
                                amount_minor, currency, tendered_minor, change_minor, advice, decided_by, created_at,
                                updated_at)
SELECT operation_id, order_id, event_id, 'cash', 'SUCCEEDED', 'drawer', principal, operation_id::text,
       {2 * ADULT_PRICE}, 'EUR', {2 * ADULT_PRICE}, 0, 'goods-issued', 'drawer:' || principal, at, at FROM sale;
INSERT INTO account_limits (event_id, principal, sold)
SELECT event_id, principal, 2 * count(*) FROM sale GROUP BY 1, 2;
UPDATE seats s SET status = 3, holder = 1, order_id = sale.order_id, version = 3
  FROM sale WHERE s.event_id = sale.event_id AND s.seat_no = ANY (sale.seats) AND s.seat_no / 2 = sale.n;
INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, created_at)
SELECT event_id, step.type, CASE step.type WHEN 'seats-held' THEN hold_id ELSE order_id END, seats,
       array_fill(staff_byte(step.status, 1::smallint, false, false), ARRAY[2]), array_fill(step.version, ARRAY[2]), at
  FROM sale, (VALUES ('seats-held', 1::smallint, 1), ('seats-paying', 2::smallint, 2), ('seats-sold', 3::smallint, 3))
       AS step (type, status, version)
 ORDER BY n, step.version;
INSERT INTO outbox (event_id, type, aggregate_id, created_at)
SELECT event_id, 'order-confirmed', order_id, at FROM sale;
INSERT INTO idempotency (principal, route, key, request_digest, subject_id, result_id, created_at)
SELECT principal, 'checkout', 'c' || event_id || ':' || n, ''::bytea, hold_id, order_id, at FROM sale
 UNION ALL SELECT principal, 'payments', 'p' || event_id || ':' || n, ''::bytea, order_id, operation_id, at FROM sale;
INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code)
SELECT md5('t' || event_id || ':' || n || ':' || seat)::uuid, event_id, order_id, seat,
       'T' || event_id || ':' || n || ':' || seat
  FROM sale, unnest(seats) AS seat;
"""


async def _sell_out(dsn: str, event_id: int, orders: int) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute(_SOLD_OUT.replace("$1", str(event_id)).replace("$2", str(orders)))
    finally:
        await connection.close()


async def _check_after(database: Database, dsn: str, events: int, seats: int, within_s: float) -> None:
    for _ in range(events):
        await _sell_out(dsn, await make_event(database, seats), seats // 2)
    await database.fetch("UPDATE account_limits SET sold = sold + 1 WHERE principal = 'device:7' AND event_id = 1")
    started = perf_counter()
    report = await check(dsn)
    took = perf_counter() - started
    slowest = sorted(report.rules, key=lambda checked: -checked.seconds)[:5]
    print(f"\n{events} x {seats} seats, {events * seats // 2} orders: {took:.1f} s,"
          f" slowest {[(one.rule, one.seconds) for one in slowest]}")  # fmt: skip
    assert [breach.rule for breach in report.breaches] == ["account-count-equals-its-tickets"]
    assert took < within_s
    await database.fetch("UPDATE account_limits SET sold = sold - 1 WHERE principal = 'device:7' AND event_id = 1")


async def test_one_breach_among_thousands_of_orders_is_found_in_time(database: Database, dsn: str) -> None:
    await _check_after(database, dsn, 2, 4_000, within_s=20)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_one_breach_among_a_hundred_thousand_orders_is_found_in_time(database: Database, dsn: str) -> None:
    await _check_after(database, dsn, 4, 60_000, within_s=120)
