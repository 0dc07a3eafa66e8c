-- The end of expired holds (R5), by the scan and by delayed messages (R44): both tidy what has expired already. Nothing
-- depends on them; they wait for nobody and steal from nobody. Locks: order → holds → seats → counters of tiers, as
-- everywhere, each with SKIP LOCKED. Whatever somebody else has locked is left for the next time.

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

DROP FUNCTION IF EXISTS sweep_hold(uuid, timestamptz);

-- End one expired hold, with the order it is in. With p_until only the hold that is HELD until exactly then: a checkout
-- has moved the deadline, a sale or a release has ended it, and an older message means nothing to it any more.
-- Returns whether it was ended now; NULL when somebody else holds locked what is needed.
CREATE OR REPLACE FUNCTION sweep_hold(p_hold uuid, p_now timestamptz, p_until timestamptz DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_hold     holds;
    v_order_id uuid;
    v_order    orders;
BEGIN
    SELECT oh.order_id INTO v_order_id FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live;
    IF v_order_id IS NOT NULL THEN
        SELECT * INTO v_order FROM orders o WHERE o.order_id = v_order_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v_hold.status NOT IN ('HELD', 'PAYMENT_PENDING') OR v_hold.expires_at > p_now
          OR p_until IS NOT NULL AND (v_hold.status <> 'HELD' OR v_hold.expires_at <> p_until) THEN
        RETURN false;
    ELSIF v_order_id IS DISTINCT FROM
              (SELECT oh.order_id FROM order_holds oh WHERE oh.hold_id = p_hold AND oh.live)
          OR NOT try_lock_seats_of_hold(v_hold)
          OR v_hold.places > 0 AND NOT try_lock_places_of_hold(v_hold) THEN
        RETURN NULL;  -- it came into an order, or left one, while we looked; or what it has is locked
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

-- End up to p_limit expired holds, oldest first. Returns how many. Holds with places come last: a tier's counter is taken
-- for as short a time as can be.
CREATE OR REPLACE FUNCTION sweep_expired(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_hold  uuid;
    v_ended integer := 0;
BEGIN
    FOR v_hold IN
        WITH due AS MATERIALIZED (
            SELECT h.hold_id, h.expires_at, h.places FROM holds h
             WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.expires_at <= v_now
               AND NOT EXISTS (SELECT FROM order_holds oh JOIN payment_operations p USING (order_id)
                                WHERE oh.hold_id = h.hold_id AND oh.live
                                  AND p.kind IN ('authorize', 'sale', 'cash') AND p.status <> 'DECLINED'
                                  AND p.advice <> 'part' AND NOT p.void_requested)
             ORDER BY h.expires_at LIMIT p_limit)
        SELECT d.hold_id
          FROM due d
         ORDER BY d.places > 0, d.expires_at
    LOOP
        IF sweep_hold(v_hold, v_now) THEN
            v_ended := v_ended + 1;
        END IF;
    END LOOP;
    RETURN v_ended;
END $$;

-- What delayed messages "this hold ends then" come to (R44). They may come late, twice, in any order, or never: each is
-- for the hold that is HELD until exactly that time, and for no other. Verdicts: 'ended' now; 'early', come again then;
-- 'locked', somebody is at it, come again soon; 'moot', the hold has gone on, ended, or never was. Locks as the sweeper.
CREATE OR REPLACE FUNCTION expire_holds(p_holds uuid[], p_untils timestamptz[])
RETURNS TABLE (hold_id uuid, until timestamptz, verdict text, server_time timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_message record;
    v_ended   boolean;
BEGIN
    server_time := booking_now();
    FOR v_message IN
        SELECT m.hold_id, m.until, h.places
          FROM unnest(p_holds, p_untils) AS m (hold_id, until) LEFT JOIN holds h USING (hold_id)
         ORDER BY coalesce(h.places, 0) > 0, m.until, m.hold_id
    LOOP
        hold_id := v_message.hold_id;
        until := v_message.until;
        IF v_message.places IS NULL THEN
            verdict := 'moot';
        ELSIF v_message.until > server_time THEN
            verdict := 'early';
        ELSE
            v_ended := sweep_hold(v_message.hold_id, server_time, v_message.until);
            verdict := CASE v_ended WHEN true THEN 'ended' WHEN false THEN 'moot' ELSE 'locked' END;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
