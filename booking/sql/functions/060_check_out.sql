-- Hold → order (R7, R10): HELD → PAYMENT_PENDING, seats → PAYING, one bounded extension of the deadline, the total from
-- the price version that the hold locked. Time is taken after the seat locks.
-- Places of tiers come as lines (tier, price type, quantity) and become one row each.
-- p_wait: whether it may wait for a part of the cap of seats being paid; otherwise code 'slow', nothing done.
DROP FUNCTION IF EXISTS check_out(
    text, boolean, uuid, uuid, text, uuid, integer[], integer[], bigint, text, bytea);
DROP FUNCTION IF EXISTS check_out(
    text, boolean, uuid, uuid, text, uuid, integer[], integer[], bigint, text, bytea, integer[], integer[], integer[]);
CREATE OR REPLACE FUNCTION check_out(
    p_principal text, p_all boolean, p_hold uuid, p_order uuid, p_number text, p_staff uuid,
    p_seats integer[], p_price_types integer[], p_shown_total bigint, p_key text, p_digest bytea,
    p_tiers integer[] DEFAULT '{}', p_tier_types integer[] DEFAULT '{}', p_quantities integer[] DEFAULT '{}',
    p_wait boolean DEFAULT true
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer   sale_answer := seen_key(p_principal, 'checkout', p_key, p_digest, p_hold);
    v_hold     holds;
    v_event    events;
    v_now      timestamptz;
    v_deadline timestamptz;
    v_unpriced integer[];
    v_total    bigint;
    v_slot     integer;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold;
    IF NOT FOUND OR NOT (p_all OR v_hold.principal = p_principal) THEN
        RETURN refused('hold-not-found');
    END IF;
    -- A new hold of this account must not take ours for over while we keep it from being over.
    PERFORM lock_account(v_hold.event_id, v_hold.principal);
    SELECT * INTO v_hold FROM holds h WHERE h.hold_id = p_hold FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'checkout', p_key, p_digest, p_hold);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    PERFORM lock_seats(v_hold.event_id, v_hold.seats);
    PERFORM FROM ga_holds g WHERE g.hold_id = p_hold ORDER BY g.tier_id, g.bucket FOR NO KEY UPDATE;
    v_now := booking_now();
    SELECT * INTO v_event FROM events e WHERE e.event_id = v_hold.event_id;

    v_answer := why_not_check_out(v_hold, v_event, v_now);
    IF v_answer.code <> '' THEN
        RETURN v_answer;
    END IF;
    IF cardinality(p_seats) <> cardinality(p_price_types)
       OR ARRAY(SELECT unnest(p_seats) ORDER BY 1) <> ARRAY(SELECT unnest(v_hold.seats) ORDER BY 1) THEN
        RETURN refused('invalid-request', 'lines', v_hold.seats);
    ELSIF NOT are_places_of(p_hold, p_tiers, p_quantities) THEN
        RETURN refused('invalid-request', 'places');
    END IF;
    SELECT sum(p.amount_minor), array_agg(l.seat_no ORDER BY l.seat_no) FILTER (WHERE p.amount_minor IS NULL)
      INTO v_total, v_unpriced
      FROM unnest(p_seats, p_price_types) AS l (seat_no, price_type_id)
      LEFT JOIN plan_seats ps ON ps.plan_id = v_event.plan_id AND ps.version = v_event.plan_version
           AND ps.seat_no = l.seat_no
      LEFT JOIN prices p ON p.event_id = v_hold.event_id AND p.price_version = v_hold.price_version
           AND p.category_no = ps.category_no AND p.price_type_id = l.price_type_id;
    IF v_unpriced IS NOT NULL THEN
        RETURN refused('price-unknown', '', v_unpriced);
    END IF;
    v_total := coalesce(v_total, 0) + total_of_places(v_hold, p_tiers, p_tier_types, p_quantities);
    IF v_total IS NULL THEN
        RETURN refused('price-unknown', 'places');
    ELSIF v_total <> p_shown_total THEN
        RETURN refused('price-changed', v_total::text);
    END IF;

    v_slot := claim_paying_slot(v_event, cardinality(v_hold.seats) + v_hold.places, v_now, p_wait);
    IF v_slot IS NULL OR v_slot < 0 THEN
        RETURN refused(CASE WHEN v_slot IS NULL THEN 'slow' ELSE 'paying-cap-reached' END);
    END IF;

    v_deadline := CASE WHEN v_hold.grace_used THEN v_hold.expires_at
                       ELSE greatest(v_hold.expires_at, v_now + make_interval(secs => v_event.grace_s)) END;
    UPDATE holds h SET status = 'PAYMENT_PENDING', expires_at = v_deadline, grace_used = true, paying_slot = v_slot
     WHERE h.hold_id = p_hold;
    UPDATE seats s SET status = 2, order_id = p_order, hold_expires_at = v_deadline, version = s.version + 1
     WHERE s.event_id = v_hold.event_id AND s.seat_no = ANY (v_hold.seats);
    INSERT INTO orders (order_id, event_id, principal, channel, number, amount_minor, currency, price_version,
                        device_id, staff_id, created_at)
    VALUES (p_order, v_hold.event_id, v_hold.principal, v_hold.channel, p_number, v_total, v_event.currency,
            v_hold.price_version, v_hold.device_id, coalesce(p_staff, v_hold.staff_id), v_now);
    INSERT INTO order_holds (order_id, hold_id) VALUES (p_order, p_hold);
    INSERT INTO order_seats (order_id, event_id, seat_no, price_type_id, amount_minor)
    SELECT p_order, v_hold.event_id, l.seat_no, l.price_type_id, p.amount_minor
      FROM unnest(p_seats, p_price_types) AS l (seat_no, price_type_id)
      JOIN plan_seats ps ON ps.plan_id = v_event.plan_id AND ps.version = v_event.plan_version
           AND ps.seat_no = l.seat_no
      JOIN prices p ON p.event_id = v_hold.event_id AND p.price_version = v_hold.price_version
           AND p.category_no = ps.category_no AND p.price_type_id = l.price_type_id
     ORDER BY l.seat_no;
    IF v_hold.places > 0 THEN
        PERFORM insert_order_places(v_hold, p_order, p_tiers, p_tier_types, p_quantities);
        PERFORM ga_pay(ARRAY[p_hold], v_deadline, v_now);
    END IF;
    PERFORM spend_key(p_principal, 'checkout', p_key, p_digest, p_hold, p_order, v_now);
    PERFORM announce_seats(v_hold.event_id, 'seats-paying', p_order, v_hold.seats, NULL, v_now);
    RETURN done(p_order);
END $$;

-- Why a hold cannot go to payment; code '' when it can. Caller: the hold and its seats are locked.
CREATE OR REPLACE FUNCTION why_not_check_out(p_hold holds, p_event events, p_now timestamptz)
RETURNS sale_answer LANGUAGE plpgsql AS $$
BEGIN
    IF p_hold.status = 'EXPIRED' OR (p_hold.status = 'HELD' AND p_now >= p_hold.expires_at) THEN
        RETURN refused('hold-expired');
    ELSIF p_hold.status <> 'HELD' THEN
        RETURN refused('hold-not-open', p_hold.status);
    ELSIF EXISTS (SELECT FROM order_holds oh WHERE oh.hold_id = p_hold.hold_id AND oh.live) THEN
        RETURN refused('hold-not-open', 'PENDING');
    ELSIF cardinality(p_hold.seats) <> (
            SELECT count(*) FROM seats s WHERE s.event_id = p_hold.event_id AND s.seat_no = ANY (p_hold.seats)
               AND s.status = 1 AND s.hold_id = p_hold.hold_id)
       OR p_hold.places > 0 AND p_hold.places <> (
            SELECT coalesce(sum(g.quantity), 0) FROM ga_holds g WHERE g.hold_id = p_hold.hold_id AND g.status = 1) THEN
        RETURN refused('hold-expired');
    ELSIF p_event.status = 'CANCELLED' THEN
        RETURN refused('event-not-on-sale');
    ELSIF p_hold.expires_at - p_now < make_interval(secs => p_event.min_time_to_pay_s) THEN
        RETURN refused('too-little-time');
    END IF;
    RETURN done(NULL);
END $$;
