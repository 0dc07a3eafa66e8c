"""`python -m tests.bench.seat_detail`: the details of one seat in a big house with a long past (targets: p99 < 20 ms).

A throw-away PostgreSQL, an event of 60,000 seats, 200,000 holds of two seats that have ended: three of four gave their
seats back, the rest became orders (half of them cancelled, half sold, with tickets and prints). Then the details of
random seats, of the seat with the longest past, and of sold ones are read, one after another. The last lines say what
the history costs where it is written: holds that end, with the trigger and without. The table goes to stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from statistics import quantiles
from time import perf_counter

from booking.embedded import Cluster
from booking.services.read_seat import read_seat
from booking.store.database import Database
from tests.bench.measuring import measured_cluster, seed_event, seeded_database

# Holds over the last weeks, each of two seats beside each other; one of a hundred takes the same two (0 and 1).
_PAST = """
INSERT INTO holds (hold_id, event_id, principal, channel, status, seats, price_version, expires_at, idem_key, digest,
                   created_at, ended_at)
SELECT (lpad(to_hex(n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, $1, 'device:' || n % 40, 'till',
       CASE WHEN n % 8 = 0 THEN 'SOLD' ELSE 'RELEASED' END, ARRAY[s.first, s.first + 1], 1, t.at + interval '5 min',
       n::text, '', t.at, t.at + interval '4 min'
  FROM generate_series(1, $2::integer) AS n
 CROSS JOIN LATERAL (SELECT booking_now() - make_interval(secs => ($2 - n) * 10) AS at) t
 CROSS JOIN LATERAL (SELECT CASE WHEN n % 100 = 1 THEN 0
                                 WHEN n % 8 = 0 THEN 2 + (n / 8 * 2) % ($3::integer - 2)
                                 ELSE 2 + (n * 7919::bigint * 2) % ($3 - 2) END::integer AS first) s
"""
_ORDERS = (
    """INSERT INTO orders (order_id, event_id, principal, channel, number, status, amount_minor, currency,
                           price_version, created_at, confirmed_at, ended_at)
       SELECT h.hold_id, $1, h.principal, 'till', 'N' || h.idem_key,
              CASE h.status WHEN 'SOLD' THEN 'CONFIRMED' ELSE 'CANCELLED' END, 8000, 'EUR', 1, h.created_at,
              CASE h.status WHEN 'SOLD' THEN h.ended_at END, CASE h.status WHEN 'SOLD' THEN NULL ELSE h.ended_at END
         FROM holds h WHERE h.event_id = $1 AND h.idem_key::integer % 4 = 0""",
    """INSERT INTO order_holds (order_id, hold_id) SELECT o.order_id, o.order_id FROM orders o WHERE o.event_id = $1""",
    """INSERT INTO order_seats (order_id, event_id, seat_no, price_type_id, amount_minor, valid)
       SELECT o.order_id, $1, w.seat_no, 1, 4000, o.status = 'CONFIRMED'
         FROM orders o JOIN holds h ON h.hold_id = o.order_id CROSS JOIN LATERAL unnest(h.seats) AS w (seat_no)
        WHERE o.event_id = $1""",
    """INSERT INTO payment_operations (operation_id, order_id, event_id, kind, status, provider, principal,
                                       idempotency_key, amount_minor, currency, tendered_minor, change_minor,
                                       decided_by, created_at, updated_at)
       SELECT o.order_id, o.order_id, $1, 'cash', 'SUCCEEDED', 'drawer', o.principal, o.order_id::text, 8000, 'EUR',
              8000, 0, 'drawer', o.created_at, o.confirmed_at FROM orders o WHERE o.status = 'CONFIRMED'""",
    """INSERT INTO tickets (ticket_id, event_id, order_id, seat_no, code, status, issued_at, printed_at)
       SELECT gen_random_uuid(), $1, l.order_id, l.seat_no, gen_random_uuid()::text, 'PRINTED', o.confirmed_at,
              o.confirmed_at
         FROM order_seats l JOIN orders o USING (order_id) WHERE l.event_id = $1 AND l.valid""",
    """INSERT INTO print_jobs (print_job_id, order_id, ticket_ids, principal, printer, status, created_at, updated_at)
       SELECT t.order_id, t.order_id, array_agg(t.ticket_id), 'device:1', 'BOCA', 'CONFIRMED', min(t.issued_at),
              min(t.issued_at) FROM tickets t GROUP BY t.order_id""",
    """UPDATE seats s SET status = 3, holder = 1, printed = true, order_id = l.order_id
         FROM order_seats l WHERE l.event_id = $1 AND l.valid AND s.event_id = l.event_id AND s.seat_no = l.seat_no""",
    """INSERT INTO ended_hold_seats (event_id, seat_no, hold_id)
       SELECT h.event_id, w.seat_no, h.hold_id FROM holds h CROSS JOIN LATERAL unnest(h.seats) AS w (seat_no)
        WHERE h.event_id = $1 AND h.status = 'RELEASED'""",
)
_OPEN = """
INSERT INTO holds (hold_id, event_id, principal, channel, seats, price_version, expires_at, idem_key, digest,
                   created_at)
SELECT gen_random_uuid(), $1, 'open:' || n, 'online', ARRAY[n * 2, n * 2 + 1], 1, booking_now() + interval '5 min',
       'open-' || $3::text || n, '', booking_now()
  FROM generate_series(1, $2) AS n
"""
_END = "UPDATE holds SET status = 'EXPIRED', ended_at = booking_now() WHERE event_id = $1 AND ended_at IS NULL"


async def _seed(db: Database, seats: int, holds: int) -> int:
    event_id = await seed_event(db, seats)
    async with db.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL transaction_timeout = 0")
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(_PAST, event_id, holds, seats)
        for statement in _ORDERS:
            await connection.execute(statement, *((event_id,) if "$1" in statement else ()))
    async with db.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL transaction_timeout = 0")
        await connection.execute("ANALYZE")
    return event_id


async def _times(db: Database, event_id: int, seats: list[int]) -> list[float]:
    """Milliseconds that each of these reads took."""
    for seat in seats[:20]:
        await read_seat(db, event_id, seat)
    taken = []
    for seat in seats:
        since = perf_counter()
        await read_seat(db, event_id, seat)
        taken.append((perf_counter() - since) * 1000)
    return taken


async def _ending_us(db: Database, event_id: int, count: int, *, remembered: bool) -> float:
    """Microseconds for the end of one hold of two seats, its row alone: with the trigger, or without."""
    async with db.transaction() as connection:
        if not remembered:
            await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(_OPEN, event_id, count, str(perf_counter()))
        since = perf_counter()
        await connection.execute(_END, event_id)
        return (perf_counter() - since) / count * 1e6


def _line(what: str, taken: list[float]) -> str:
    cuts = quantiles(taken, n=100, method="inclusive")
    return f"{what:<34}{cuts[49]:>8.2f}{cuts[94]:>8.2f}{cuts[98]:>8.2f}{max(taken):>8.2f}"


async def _measure(cluster: Cluster, seats: int, holds: int, reads: int) -> list[str]:
    async with seeded_database(cluster, lanes=False) as db:
        event_id = await _seed(db, seats, holds)
        chance = random.Random(20261130)
        some = [chance.randrange(seats) for _ in range(reads)]
        longest = await read_seat(db, event_id, 0)
        lines = [
            f"{seats} seats, {holds} holds that ended; milliseconds{'':<4}p50     p95     p99     max",
            _line("any seat", await _times(db, event_id, some)),
            _line(f"longest past ({len(longest.history)} items)", await _times(db, event_id, [0] * (reads // 4))),
        ]
        for remembered in (False, True):
            costs = [await _ending_us(db, event_id, 2_000, remembered=remembered) for _ in range(5)]
            words = "with its history kept" if remembered else "without"
            lines.append(f"end of a hold, its row alone, {words}: {min(costs):.1f} µs")
    return lines


def main() -> int:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(prog="taquilla bench seat-detail", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seats", type=int, default=60_000)
    parser.add_argument("--holds", type=int, default=200_000)
    parser.add_argument("--reads", type=int, default=2_000)
    options = parser.parse_args()
    with measured_cluster() as cluster:
        lines = asyncio.run(_measure(cluster, options.seats, options.holds, options.reads))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
