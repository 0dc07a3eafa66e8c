"""Planted bugs: each is a small change of one or two functions in a throw-away database.

A plant names text that must be there, so that a function that was rewritten makes the plant fail loudly instead of
planting nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg

ANYWHERE = ""


@dataclass(frozen=True)
class Change:
    """In one SQL function, or in the one that has it, every `old` becomes `new`."""

    function: str
    old: str
    new: str


PLANTS: dict[str, tuple[Change, ...]] = {
    "expiry-less-than-for-at-most": (
        Change("seat_is_free", "p_deadline <= p_now", "p_deadline < p_now"),
    ),
    "release-by-seat-alone": (Change("free_hold", "AND s.hold_id = p_hold.hold_id", ""),),
    "replay-extends": (
        Change(
            "hold_seats_batch",
            "RETURN QUERY",
            """UPDATE holds h SET expires_at = v_now + make_interval(secs => e.hold_ttl_s)
                 FROM unnest(p_events, p_principals, p_keys) WITH ORDINALITY AS again (event_id, principal, key, r)
                 JOIN events e ON e.event_id = again.event_id
                WHERE v_codes[again.r] = 'replay' AND h.event_id = again.event_id AND h.principal = again.principal
                  AND h.idem_key = again.key AND h.status = 'HELD';
            RETURN QUERY""",
        ),
    ),
    "digest-ignored": (
        Change("hold_seats_batch", "h.digest = a.digest", "true"),
        Change("who_may_hold", "h.digest = a.digest", "true"),
        Change("seen_key", "v_key.request_digest <> p_digest", "false"),
    ),
    # The limits are read, then the account is locked: two holds of one account both see none. The pause is not the bug,
    # it only makes the gap as wide as a busy server's.
    "quota-read-before-the-lock": (
        Change("who_may_hold", "FOR NO KEY UPDATE OF l SKIP LOCKED", ""),
        Change("who_may_hold", "FOR NO KEY UPDATE OF l", ""),
        Change(
            "hold_seats_batch",
            "WITH mine AS MATERIALIZED",
            """PERFORM pg_sleep(0.005);
            PERFORM FROM account_limits l WHERE l.event_id = ANY (p_events) AND l.principal = ANY (p_principals)
              ORDER BY l.event_id, l.principal FOR NO KEY UPDATE;
            WITH mine AS MATERIALIZED""",
        ),
    ),
    "sweep-takes-paying": (
        Change("sweep_expired", "AND p.status <> 'DECLINED'", "AND false"),
        Change("sweep_hold", "NOT is_every_charge_negative(v_order_id)", "false"),
    ),
    "takeover-of-a-newer-hold": (
        Change("seat_is_free", "p_deadline <= p_now", "true"),
    ),
    "total-from-the-client": (
        Change(
            ANYWHERE, "answer := refused('price-changed', v_total::text); RETURN;", "v_total := p_shown_total;"
        ),
    ),
    "duplicate-result-applied": (
        Change("hear_result", "v_op.status IN ('SUCCEEDED', 'DECLINED')", "false"),
    ),
    "given-up-charge-pays": (
        Change("after_success", "WHEN p_op.void_requested THEN 'void-requested'", "WHEN false THEN ''"),
    ),
    "parts-are-not-given-back": (
        Change("end_sale", "PERFORM give_parts_back(p_order.order_id, p_now);", ""),
    ),
    "order-without-all-its-seats": (
        Change(
            "confirm_sales",
            "UPDATE order_seats l SET valid = true WHERE l.order_id = ANY (p_orders)",
            """UPDATE order_seats l SET valid = true WHERE l.order_id = ANY (p_orders)
                  AND l.seat_no = (SELECT min(m.seat_no) FROM order_seats m WHERE m.order_id = l.order_id)""",
        ),
    ),
}  # fmt: skip


async def plant(dsn: str, name: str) -> None:
    """Change the functions of the database at `dsn`.

    Raises:
        LookupError: a function, or the text in it, is not there: the plant has to be written anew.
    """
    connection = await asyncpg.connect(dsn)
    try:
        for change in PLANTS[name]:
            await _apply(connection, name, change)
    finally:
        await connection.close()


async def _apply(connection: asyncpg.Connection[asyncpg.Record], name: str, change: Change) -> None:
    found = await connection.fetch(
        "SELECT pg_get_functiondef(p.oid) AS body FROM pg_proc p"
        " WHERE p.prokind = 'f' AND p.pronamespace = 'public'::regnamespace"
        " AND p.proname = coalesce(nullif($1, ''), p.proname) AND position($2 IN p.prosrc) > 0",
        change.function, change.old,
    )  # fmt: skip
    if len(found) != 1:
        raise LookupError(f"{name}: {len(found)} functions {change.function} have {change.old!r}")
    body: str = found[0]["body"]
    await connection.execute(body.replace(change.old, change.new))
