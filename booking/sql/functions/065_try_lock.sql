-- Locks for many sale steps in one transaction: all that they need, in the one order (account → order → holds → seats →
-- tiers), each sorted, nothing waited for but the counters of tiers, which come last. Answered is what somebody else holds
-- locked: those steps run alone, later. The other steps then find their own locks free.

-- Of these holds, the ones whose seats are all locked now. Caller: the holds.
CREATE OR REPLACE FUNCTION try_lock_seats_of_holds(p_holds uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_locked uuid[];
BEGIN
    WITH mine AS MATERIALIZED (
        SELECT h.hold_id, cardinality(h.seats) AS wanted
          FROM unnest(p_holds) AS w (id)
         CROSS JOIN LATERAL (SELECT h.hold_id, h.event_id, h.seats FROM holds h WHERE h.hold_id = w.id OFFSET 0) h
         CROSS JOIN LATERAL unnest(h.seats) AS n (seat_no)
          JOIN seats s ON s.event_id = h.event_id AND s.seat_no = n.seat_no
         ORDER BY s.event_id, s.seat_no FOR NO KEY UPDATE OF s SKIP LOCKED)
    SELECT array_agg(k.hold_id) INTO v_locked
      FROM (SELECT m.hold_id FROM mine m GROUP BY m.hold_id, m.wanted HAVING count(*) >= m.wanted
             UNION ALL
            SELECT h.hold_id FROM holds h WHERE h.hold_id = ANY (p_holds) AND cardinality(h.seats) = 0) k;
    RETURN coalesce(v_locked, '{}');
END $$;

-- Lock holds that are in no order yet, with their accounts and seats. Returns those that somebody else has.
CREATE OR REPLACE FUNCTION busy_holds(p_holds uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_mine uuid[];
BEGIN
    SELECT array_agg(k.hold_id) INTO v_mine
      FROM (SELECT h.hold_id
              FROM unnest(p_holds) AS w (id)
             CROSS JOIN LATERAL (SELECT h.hold_id, h.event_id, h.principal FROM holds h
                                  WHERE h.hold_id = w.id OFFSET 0) h
              JOIN account_limits a ON a.event_id = h.event_id AND a.principal = h.principal
             ORDER BY a.event_id, a.principal FOR NO KEY UPDATE OF a SKIP LOCKED) k;
    SELECT array_agg(k.hold_id) INTO v_mine
      FROM (SELECT h.hold_id FROM holds h WHERE h.hold_id = ANY (v_mine)
             ORDER BY h.hold_id FOR NO KEY UPDATE SKIP LOCKED) k;
    v_mine := try_lock_seats_of_holds(v_mine);
    IF EXISTS (SELECT FROM holds h WHERE h.hold_id = ANY (v_mine) AND h.places > 0) THEN
        -- In the order in which a claim waits for what it takes back of expired holds.
        PERFORM FROM ga_holds g WHERE g.hold_id = ANY (v_mine)
         ORDER BY g.event_id, g.tier_id, g.bucket, g.hold_id FOR NO KEY UPDATE;
    END IF;
    RETURN ARRAY(SELECT h.hold_id FROM holds h WHERE h.hold_id = ANY (p_holds) AND NOT h.hold_id = ANY (v_mine));
END $$;

-- Lock orders with their accounts, live holds, seats and tiers. Returns the orders that somebody else has.
CREATE OR REPLACE FUNCTION busy_sales(p_orders uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_mine  uuid[];
    v_holds uuid[];
BEGIN
    SELECT array_agg(k.order_id) INTO v_mine
      FROM (SELECT o.order_id
              FROM unnest(p_orders) AS w (id)
             CROSS JOIN LATERAL (SELECT o.order_id, o.event_id, o.principal FROM orders o
                                  WHERE o.order_id = w.id OFFSET 0) o
              JOIN account_limits a ON a.event_id = o.event_id AND a.principal = o.principal
             ORDER BY a.event_id, a.principal FOR NO KEY UPDATE OF a SKIP LOCKED) k;
    SELECT array_agg(k.order_id) INTO v_mine
      FROM (SELECT o.order_id FROM orders o WHERE o.order_id = ANY (v_mine)
             ORDER BY o.order_id FOR NO KEY UPDATE SKIP LOCKED) k;
    -- Read under the orders' locks: which holds an order lives of changes under them alone.
    SELECT array_agg(k.hold_id) INTO v_holds
      FROM (SELECT h.hold_id
              FROM order_holds oh JOIN holds h USING (hold_id)
             WHERE oh.order_id = ANY (v_mine) AND oh.live
             ORDER BY h.hold_id FOR NO KEY UPDATE OF h SKIP LOCKED) k;
    v_holds := try_lock_seats_of_holds(v_holds);
    v_mine := ARRAY(SELECT m.id FROM unnest(v_mine) AS m (id)
                     WHERE NOT EXISTS (SELECT FROM order_holds oh
                                        WHERE oh.order_id = m.id AND oh.live AND NOT oh.hold_id = ANY (v_holds)));
    IF EXISTS (SELECT FROM holds h WHERE h.hold_id = ANY (v_holds) AND h.places > 0) THEN
        PERFORM lock_places(v_holds);
    END IF;
    RETURN ARRAY(SELECT o.order_id FROM orders o WHERE o.order_id = ANY (p_orders) AND NOT o.order_id = ANY (v_mine));
END $$;
