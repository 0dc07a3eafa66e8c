-- The sweeper (R5): tidies what has expired already. Nothing depends on it; it waits for nobody and steals from nobody.
-- Locks: order → holds → seats, as everywhere. Whatever somebody else has locked is left for the next time.

-- Lock the seats that are still a hold's own; false when somebody else holds one of them locked.
CREATE OR REPLACE FUNCTION try_lock_seats_of_hold(p_hold holds) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_own    integer;
    v_locked integer;
BEGIN
    SELECT count(*) INTO v_own FROM seats s
     WHERE s.event_id = p_hold.event_id AND s.seat_no = ANY (p_hold.seats) AND s.hold_id = p_hold.hold_id;
    SELECT count(*) INTO v_locked
      FROM (SELECT FROM seats s
             WHERE s.event_id = p_hold.event_id AND s.seat_no = ANY (p_hold.seats) AND s.hold_id = p_hold.hold_id
             ORDER BY s.seat_no FOR NO KEY UPDATE SKIP LOCKED) AS locked;
    RETURN v_locked >= v_own;
END $$;

-- End one expired hold, with the order it is in. Returns whether it was ended now.
CREATE OR REPLACE FUNCTION sweep_hold(p_hold uuid, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_hold     holds;
    v_order_id uuid;
    v_order    orders;
BEGIN
    SELECT oh.order_id INTO v_order_id FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live;
    IF v_order_id IS NOT NULL THEN
        SELECT * INTO v_order FROM orders o WHERE o.order_id = v_order_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    SELECT * INTO v_hold FROM holds h
     WHERE h.hold_id = p_hold AND h.status IN ('HELD', 'PAYMENT_PENDING') AND h.expires_at <= p_now
       FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR NOT try_lock_seats_of_hold(v_hold) THEN
        RETURN false;
    END IF;
    IF v_order_id IS NULL THEN
        PERFORM free_hold(v_hold, 'EXPIRED', p_now);
        RETURN true;
    ELSIF v_order.status NOT IN ('PENDING', 'RECONCILING') OR NOT is_every_charge_negative(v_order_id) THEN
        RETURN false;
    END IF;
    PERFORM end_sale(v_order, 'EXPIRED', 'EXPIRED', 'time ran out', p_now);
    RETURN true;
END $$;

-- End up to p_limit expired holds, oldest first. Returns how many.
CREATE OR REPLACE FUNCTION sweep_expired(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_hold  uuid;
    v_ended integer := 0;
BEGIN
    FOR v_hold IN
        SELECT h.hold_id FROM holds h
         WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.expires_at <= v_now
           AND NOT EXISTS (SELECT FROM order_holds oh JOIN payment_operations p USING (order_id)
                            WHERE oh.hold_id = h.hold_id AND oh.live
                              AND p.kind IN ('authorize', 'sale', 'cash') AND p.status <> 'DECLINED')
         ORDER BY h.expires_at LIMIT p_limit
    LOOP
        IF sweep_hold(v_hold, v_now) THEN
            v_ended := v_ended + 1;
        END IF;
    END LOOP;
    RETURN v_ended;
END $$;
