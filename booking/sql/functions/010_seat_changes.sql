-- Seat states as staff bytes, and the outbox rows that tell of them.

-- status in bits 0–2, holder in bits 3–5, printed in bit 6, used in bit 7 (the wire's staff layout).
CREATE OR REPLACE FUNCTION staff_byte(p_status smallint, p_holder smallint, p_printed boolean, p_used boolean)
RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (p_status + p_holder * 8 + p_printed::int * 64 + p_used::int * 128)::smallint
$$;

CREATE OR REPLACE FUNCTION holder_of(p_channel text)
RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE p_channel WHEN 'till' THEN 1 WHEN 'online' THEN 2 ELSE 3 END::smallint
$$;

-- Whether a hold may take a seat (R4, R5): free, held until now, or kept back by the house until now. The one predicate.
CREATE OR REPLACE FUNCTION seat_is_free(p_status smallint, p_deadline timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_status = 0 OR p_status IN (1, 4) AND coalesce(p_deadline <= p_now, false)
$$;

-- Append one outbox row about seats as they stand now. The caller holds their locks and has changed them: that is what
-- makes the ids of changes to one seat rise in the order of the changes.
CREATE OR REPLACE FUNCTION announce_seats(
    p_event integer, p_type text, p_aggregate uuid, p_seats integer[], p_until timestamptz, p_now timestamptz,
    p_payload jsonb DEFAULT '{}'
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, until, payload, created_at)
    SELECT p_event, p_type, p_aggregate,
           array_agg(s.seat_no ORDER BY s.seat_no),
           array_agg(staff_byte(s.status, s.holder, s.printed, s.used) ORDER BY s.seat_no),
           array_agg(s.version ORDER BY s.seat_no),
           p_until, p_payload, p_now
      FROM seats s
     WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats)
    HAVING count(*) > 0
$$;

-- Whether the seats of an unpaid order may go back: every charge is known to have failed (R7, R24). An amount that differs,
-- an unknown result, or money that has to be given back keep the seats until somebody settled it. A part that was taken goes
-- back when the sale ends, and what a success of a charge that is not wanted any more brings goes back whenever it comes.
CREATE OR REPLACE FUNCTION is_every_charge_negative(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM payment_operations p
                        WHERE p.order_id = p_order AND p.kind IN ('authorize', 'sale', 'cash')
                          AND p.status <> 'DECLINED' AND p.advice <> 'part' AND NOT p.void_requested)
$$;

-- A sale that nobody can finish: its seats are PAYING, its time is over, and every charge is known to have failed, or none
-- was ever opened. No new charge begins after the deadline, so it stays dead. The next hold ends it (R5): nothing waits
-- for the sweeper. A charge that runs, is unknown, or took money keeps its seats, however late it is (R7, R24).
CREATE OR REPLACE FUNCTION is_dead_sale(p_order uuid, p_deadline timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_deadline <= p_now
       AND EXISTS (SELECT FROM orders o WHERE o.order_id = p_order AND o.status IN ('PENDING', 'RECONCILING'))
       AND is_every_charge_negative(p_order)
$$;

CREATE OR REPLACE FUNCTION is_dead_hold(p_hold holds, p_now timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_hold.status = 'PAYMENT_PENDING' AND p_hold.expires_at <= p_now
       AND EXISTS (SELECT FROM order_holds oh WHERE oh.hold_id = p_hold.hold_id AND oh.live
                      AND is_dead_sale(oh.order_id, p_hold.expires_at, p_now))
$$;

-- Lock seats in their order (deadlock-free with every other step).
CREATE OR REPLACE FUNCTION lock_seats(p_event integer, p_seats integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM seats s WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats)
     ORDER BY s.seat_no FOR NO KEY UPDATE;
END $$;
