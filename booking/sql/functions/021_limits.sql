-- The limits beside an account's tickets (R7, R8): cards, the cap of seats being paid; and what a hold that is decided alone
-- has to look at.

-- ------------------------------------------------------------------ what a hold that is decided alone looks at

-- The wanted seats that a house hold keeps back. A hint until the seats are locked.
CREATE OR REPLACE FUNCTION seats_of_house_hold(p_event integer, p_house uuid, p_seats integer[])
RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(SELECT s.seat_no FROM house_hold_seats k JOIN seats s USING (event_id, seat_no)
                  WHERE k.event_id = p_event AND k.seat_no = ANY (p_seats) AND k.house_hold_id = p_house
                    AND s.status = 4
                  ORDER BY s.seat_no);
END $$;

-- Whether a house hold still keeps these seats back, as far as they are BLOCKED. Caller: the seats' locks, under which alone
-- a seat changes its house hold.
CREATE OR REPLACE FUNCTION is_kept_by(p_event integer, p_house uuid, p_seats integer[])
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_seats = '{}' OR NOT EXISTS (
        SELECT FROM seats s
          LEFT JOIN house_hold_seats k ON k.event_id = s.event_id AND k.seat_no = s.seat_no AND k.house_hold_id = p_house
         WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats) AND s.status = 4 AND k.seat_no IS NULL);
END $$;

-- Where the event has an orphan rule, lock the wanted seats and two on each side: what is left single depends on them. All
-- in one order; two holds of a row cannot leave a seat single between them.
CREATE OR REPLACE FUNCTION lock_row_beside(p_event integer, p_seats integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM events e WHERE e.event_id = p_event AND e.orphan_rule <> 'off') THEN
        PERFORM lock_seats(p_event, ARRAY(SELECT DISTINCT w + side FROM unnest(p_seats) AS w
                                            CROSS JOIN generate_series(-2, 2) AS side));
    END IF;
END $$;

-- The single seats that a hold of these would leave; none where the event has no orphan rule. Caller: lock_row_beside.
CREATE OR REPLACE FUNCTION orphans_left(p_event integer, p_seats integer[]) RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM events e WHERE e.event_id = p_event AND e.orphan_rule <> 'off') THEN
        RETURN coalesce(orphans_of(p_event, p_seats), '{}');
    END IF;
    RETURN '{}';
END $$;

-- ------------------------------------------------------------------ the cap of seats being paid (R7)
--
-- A cap of 750 or more is dealt out to 15 parts, a smaller one is one part. A checkout claims its places in one part under
-- that part's lock and counts only there; the quotas sum to the cap, so the cap holds whoever meets whom. There are no
-- counters to keep: a hold that leaves PAYMENT_PENDING is out of its part, and nobody locks anything for that. A part is
-- full when a hold does not fit: at most five places of each part stay unused.
-- Slot 0 belongs to the one part of a small cap, which counts all slots; slots 1–15 are the parts of a large one, which
-- deal out what slot 0 still has no part in. So no change of the setting lets more in than the cap says.

-- Seats and places being paid in some slots. Dead sales do not count: nobody can pay them any more.
CREATE OR REPLACE FUNCTION paying_in_slots(p_event integer, p_first integer, p_last integer, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT coalesce(sum(cardinality(h.seats) + h.places), 0) FROM holds h
             WHERE h.event_id = p_event AND h.status = 'PAYMENT_PENDING' AND h.paying_slot BETWEEN p_first AND p_last
               AND NOT CASE WHEN h.expires_at <= p_now THEN is_dead_hold(h, p_now) ELSE false END);
END $$;

-- How many seats and places may be paid at once in one part.
CREATE OR REPLACE FUNCTION quota_of_part(p_event events, p_now timestamptz) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_event.paying_cap < 750 THEN p_event.paying_cap
                ELSE (p_event.paying_cap - paying_in_slots(p_event.event_id, 0, 0, p_now)) / 15 END
$$;

-- A slot in which so many places may be paid now, its lock ours until the end of the transaction. -1: the cap is reached.
-- NULL: what has room is locked by others; with p_wait we wait for the first of them instead. Each session begins at a part
-- of its own, so that sessions meet late, and a batch stays in its part until that is full. Caller: all row locks of the sale.
CREATE OR REPLACE FUNCTION claim_paying_slot(p_event events, p_places integer, p_now timestamptz, p_wait boolean)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_parts CONSTANT integer := CASE WHEN p_event.paying_cap < 750 THEN 1 ELSE 15 END;
    v_quota CONSTANT integer := quota_of_part(p_event, p_now);
    v_mine  boolean;
    v_busy  integer;
    v_slot  integer;
BEGIN
    FOR n IN 0 .. v_parts - 1 LOOP
        v_slot := CASE v_parts WHEN 1 THEN 0 ELSE 1 + (pg_backend_pid() + n) % 15 END;
        -- Our own part is locked before it is counted; the others only when a look says that they have room.
        v_mine := n = 0 AND pg_try_advisory_xact_lock(p_event.event_id, v_slot);
        CONTINUE WHEN p_places + paying_in_part(p_event.event_id, v_slot, p_now) > v_quota;
        IF v_mine THEN
            RETURN v_slot;
        ELSIF n = 0 OR NOT pg_try_advisory_xact_lock(p_event.event_id, v_slot) THEN
            v_busy := coalesce(v_busy, v_slot);
        ELSIF p_places + paying_in_part(p_event.event_id, v_slot, p_now) <= v_quota THEN
            RETURN v_slot;
        END IF;
    END LOOP;
    IF v_busy IS NOT NULL AND NOT p_wait THEN
        RETURN NULL;
    ELSIF v_busy IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(p_event.event_id, v_busy);
        IF p_places + paying_in_part(p_event.event_id, v_busy, p_now) <= v_quota THEN
            RETURN v_busy;
        END IF;
    END IF;
    RETURN -1;
END $$;

-- Seats and places being paid in a part: its own slot, or all of them where there is one part.
CREATE OR REPLACE FUNCTION paying_in_part(p_event integer, p_slot integer, p_now timestamptz)
RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT paying_in_slots(p_event, p_slot, CASE p_slot WHEN 0 THEN 15 ELSE p_slot END, p_now)
$$;

-- How many more may be paid in a part. True until the end of the transaction that has claimed it: nobody else gets in.
CREATE OR REPLACE FUNCTION room_in_slot(p_event integer, p_slot integer, p_now timestamptz)
RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT quota_of_part(e, p_now) - paying_in_part(p_event, p_slot, p_now) FROM events e WHERE e.event_id = p_event
$$;

-- ------------------------------------------------------------------ cards (R8)

-- The name of a charge's card: each provider tells cards apart in its own way. '' when it does not say.
CREATE OR REPLACE FUNCTION card_of(p_op payment_operations) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE (p_op).card_fingerprint WHEN '' THEN '' ELSE (p_op).provider || ':' || (p_op).card_fingerprint END
$$;

-- Whether a card may have so many tickets more in the event; its row is locked until the end of the transaction. Caller:
-- lock_sale. Nothing is known of a charge without a fingerprint, and nothing limited.
CREATE OR REPLACE FUNCTION may_card_take(p_event integer, p_fingerprint text, p_tickets integer)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_sold integer;
BEGIN
    IF p_fingerprint = '' THEN
        RETURN true;
    END IF;
    INSERT INTO card_limits (event_id, fingerprint) VALUES (p_event, p_fingerprint) ON CONFLICT DO NOTHING;
    SELECT c.sold INTO v_sold FROM card_limits c
     WHERE c.event_id = p_event AND c.fingerprint = p_fingerprint FOR NO KEY UPDATE;
    RETURN v_sold + p_tickets <= (SELECT e.max_per_card FROM events e WHERE e.event_id = p_event);
END $$;

-- Count tickets to a card, or back from it (p_tickets < 0) when they are refunded. Caller: may_card_take, or lock_sale.
CREATE OR REPLACE FUNCTION count_to_card(p_event integer, p_fingerprint text, p_tickets integer)
RETURNS void LANGUAGE sql AS $$
    UPDATE card_limits c SET sold = c.sold + p_tickets WHERE c.event_id = p_event AND c.fingerprint = p_fingerprint
$$;

-- The tickets that an order has or asks for: its seats and places.
CREATE OR REPLACE FUNCTION tickets_of_order(p_order uuid) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT ((SELECT count(*) FROM order_seats l WHERE l.order_id = p_order)
            + (SELECT count(*) FROM order_places l WHERE l.order_id = p_order))::integer
$$;
