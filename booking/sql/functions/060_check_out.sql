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
    v_answer sale_answer := seen_key(p_principal, 'checkout', p_key, p_digest, p_hold);
    v_hold   holds;
    v_made   record;
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
    PERFORM FROM holds h WHERE h.hold_id = p_hold FOR NO KEY UPDATE;
    PERFORM lock_seats(v_hold.event_id, v_hold.seats);
    SELECT * INTO v_made FROM decide_check_out(
        p_principal, p_all, p_hold, p_order, p_number, p_staff, p_seats, p_price_types, p_shown_total, p_key, p_digest,
        p_tiers, p_tier_types, p_quantities, p_wait, 0, NULL);
    IF (v_made.sale).order_id IS NOT NULL THEN
        PERFORM write_check_outs(ARRAY[v_made.sale], ARRAY[v_made.hold], v_made.lines);
        IF v_hold.places > 0 THEN
            PERFORM insert_order_places(v_made.hold, p_order, p_tiers, p_tier_types, p_quantities);
            PERFORM ga_pay(ARRAY[p_hold], (v_made.hold).expires_at, (v_made.sale).created_at);
        END IF;
        PERFORM spend_key(p_principal, 'checkout', p_key, p_digest, p_hold, p_order, (v_made.sale).created_at);
    END IF;
    RETURN v_made.answer;
END $$;

-- Whether a hold may go to payment, and the order that is to be written of it: `sale` with its `lines`, and `hold` as it has
-- to be then; answer and no sale when it may not. Nothing is written here but the claim of a part of the cap; the caller
-- writes with write_check_outs, alone or with others. p_pending: seats and places of this event that are decided and not
-- written yet; the cap counts them. p_slot: the part of the cap that this transaction has claimed already, where it has room
-- for this hold as well; NULL: claim one. Caller: the account, the hold and its seats are locked.
DROP FUNCTION IF EXISTS decide_check_out(
    text, boolean, uuid, uuid, text, uuid, integer[], integer[], bigint, text, bytea, integer[], integer[], integer[],
    boolean, integer);
CREATE OR REPLACE FUNCTION decide_check_out(
    p_principal text, p_all boolean, p_hold uuid, p_order uuid, p_number text, p_staff uuid,
    p_seats integer[], p_price_types integer[], p_shown_total bigint, p_key text, p_digest bytea,
    p_tiers integer[], p_tier_types integer[], p_quantities integer[], p_wait boolean, p_pending integer, p_slot integer,
    OUT answer sale_answer, OUT sale orders, OUT hold holds, OUT lines order_seats[]
) LANGUAGE plpgsql AS $$
DECLARE
    v_event    events;
    v_now      timestamptz;
    v_unpriced integer[];
    v_total    bigint;
    v_slot     integer := p_slot;
BEGIN
    answer := seen_key(p_principal, 'checkout', p_key, p_digest, p_hold);
    IF answer.code IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT * INTO hold FROM holds h WHERE h.hold_id = p_hold;
    IF NOT FOUND OR NOT (p_all OR hold.principal = p_principal) THEN
        answer := refused('hold-not-found'); RETURN;
    END IF;
    IF hold.places > 0 THEN
        PERFORM FROM ga_holds g WHERE g.hold_id = p_hold ORDER BY g.tier_id, g.bucket FOR NO KEY UPDATE;
    END IF;
    v_now := booking_now();
    SELECT * INTO v_event FROM events e WHERE e.event_id = hold.event_id;

    answer := why_not_check_out(hold, v_event, v_now);
    IF answer.code <> '' THEN
        RETURN;
    END IF;
    IF cardinality(p_seats) <> cardinality(p_price_types)
       OR ARRAY(SELECT unnest(p_seats) ORDER BY 1) <> ARRAY(SELECT unnest(hold.seats) ORDER BY 1) THEN
        answer := refused('invalid-request', 'lines', hold.seats); RETURN;
    ELSIF (hold.places > 0 OR p_tiers <> '{}' OR p_quantities <> '{}')
          AND NOT are_places_of(p_hold, p_tiers, p_quantities) THEN
        answer := refused('invalid-request', 'places'); RETURN;
    END IF;
    SELECT sum(p.amount_minor), array_agg(l.seat_no ORDER BY l.seat_no) FILTER (WHERE p.amount_minor IS NULL),
           array_agg(ROW (p_order, hold.event_id, l.seat_no, l.price_type_id, p.amount_minor, false)::order_seats
                     ORDER BY l.seat_no)
      INTO v_total, v_unpriced, lines
      FROM unnest(p_seats, p_price_types) AS l (seat_no, price_type_id)
      LEFT JOIN plan_seats ps ON ps.plan_id = v_event.plan_id AND ps.version = v_event.plan_version
           AND ps.seat_no = l.seat_no
      LEFT JOIN prices p ON p.event_id = hold.event_id AND p.price_version = hold.price_version
           AND p.category_no = ps.category_no AND p.price_type_id = l.price_type_id;
    IF v_unpriced IS NOT NULL THEN
        answer := refused('price-unknown', '', v_unpriced); RETURN;
    END IF;
    v_total := coalesce(v_total, 0);
    IF p_tiers <> '{}' THEN
        v_total := v_total + total_of_places(hold, p_tiers, p_tier_types, p_quantities);
    END IF;
    IF v_total IS NULL THEN
        answer := refused('price-unknown', 'places'); RETURN;
    ELSIF v_total <> p_shown_total THEN
        answer := refused('price-changed', v_total::text); RETURN;
    END IF;

    IF v_slot IS NULL THEN
        v_slot := claim_paying_slot(v_event, p_pending + cardinality(hold.seats) + hold.places, v_now, p_wait);
    END IF;
    IF v_slot IS NULL OR v_slot < 0 THEN
        answer := refused(CASE WHEN v_slot IS NULL THEN 'slow' ELSE 'paying-cap-reached' END); RETURN;
    END IF;

    hold.expires_at := CASE WHEN hold.grace_used THEN hold.expires_at
                            ELSE greatest(hold.expires_at, v_now + make_interval(secs => v_event.grace_s)) END;
    hold.paying_slot := v_slot;
    sale.order_id := p_order;
    sale.event_id := hold.event_id;
    sale.principal := hold.principal;
    sale.channel := hold.channel;
    sale.number := p_number;
    sale.amount_minor := v_total;
    sale.currency := v_event.currency;
    sale.price_version := hold.price_version;
    sale.device_id := hold.device_id;
    sale.staff_id := coalesce(p_staff, hold.staff_id);
    sale.created_at := v_now;
    answer := done(p_order);
END $$;

-- Write the orders that decide_check_out allowed: p_sales[n] is of p_holds[n]. Holds PAYMENT_PENDING, seats PAYING, orders and
-- their lines, the outbox: one statement for each table, whatever the number of orders.
CREATE OR REPLACE FUNCTION write_check_outs(p_sales orders[], p_holds holds[], p_lines order_seats[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_seats record;
BEGIN
    UPDATE holds h
       SET status = 'PAYMENT_PENDING', expires_at = n.expires_at, grace_used = true, paying_slot = n.paying_slot
      FROM unnest(p_holds) AS n WHERE h.hold_id = n.hold_id;
    INSERT INTO orders (order_id, event_id, principal, channel, number, amount_minor, currency, price_version,
                        device_id, staff_id, created_at)
    SELECT n.order_id, n.event_id, n.principal, n.channel, n.number, n.amount_minor, n.currency, n.price_version,
           n.device_id, n.staff_id, n.created_at
      FROM unnest(p_sales) AS n;
    INSERT INTO order_holds (order_id, hold_id)
    SELECT (p_sales[n.ordinality]).order_id, n.hold_id FROM unnest(p_holds) WITH ORDINALITY AS n;
    INSERT INTO order_seats (order_id, event_id, seat_no, price_type_id, amount_minor)
    SELECT n.order_id, n.event_id, n.seat_no, n.price_type_id, n.amount_minor FROM unnest(p_lines) AS n;
    SELECT array_agg(n.event_id) AS events, array_agg(w.seat_no) AS numbers,
           array_agg((p_sales[n.ordinality]).order_id) AS orders, array_agg(n.expires_at) AS untils INTO v_seats
      FROM unnest(p_holds) WITH ORDINALITY AS n CROSS JOIN LATERAL unnest(n.seats) AS w (seat_no);
    WITH paying AS (
        UPDATE seats s SET status = 2, order_id = w.order_id, hold_expires_at = w.until, version = s.version + 1
          FROM unnest(v_seats.events, v_seats.numbers, v_seats.orders, v_seats.untils) AS w (event_id, seat_no, order_id, until)
         WHERE s.event_id = w.event_id AND s.seat_no = w.seat_no
        RETURNING s.event_id, s.order_id, s.seat_no, s.version,
                  staff_byte(s.status, s.holder, s.printed, s.used) AS state)
    INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, created_at)
    SELECT p.event_id, 'seats-paying', p.order_id, array_agg(p.seat_no ORDER BY p.seat_no),
           array_agg(p.state ORDER BY p.seat_no), array_agg(p.version ORDER BY p.seat_no), booking_now()
      FROM paying p GROUP BY p.event_id, p.order_id ORDER BY p.order_id;
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
