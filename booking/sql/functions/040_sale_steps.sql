-- The steps that several calls share. Each says which locks its caller must hold; the order is that of
-- booking/services/README.md: account → order → holds → seats → operations → keys → outbox.

-- Lock the row that serialises an account's limits in an event, made when it is missing (R8).
CREATE OR REPLACE FUNCTION lock_account(p_event integer, p_principal text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account_limits a WHERE a.event_id = p_event AND a.principal = p_principal FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO account_limits (event_id, principal) VALUES (p_event, p_principal) ON CONFLICT DO NOTHING;
        PERFORM FROM account_limits a WHERE a.event_id = p_event AND a.principal = p_principal FOR NO KEY UPDATE;
    END IF;
END $$;

-- Lock an order, then its live holds, then their seats. NULL when there is no such order.
CREATE OR REPLACE FUNCTION lock_sale(p_order uuid) RETURNS orders LANGUAGE plpgsql AS $$
DECLARE
    v_order orders;
BEGIN
    SELECT * INTO v_order FROM orders o WHERE o.order_id = p_order FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM FROM holds h
     WHERE h.hold_id IN (SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = p_order AND oh.live)
     ORDER BY h.hold_id FOR NO KEY UPDATE;
    PERFORM lock_seats(v_order.event_id, seats_of_order(p_order));
    RETURN v_order;
END $$;

-- The seats of an order's live holds.
CREATE OR REPLACE FUNCTION seats_of_order(p_order uuid) RETURNS integer[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(seat ORDER BY seat), '{}')
      FROM order_holds oh JOIN holds h USING (hold_id) CROSS JOIN unnest(h.seats) AS seat
     WHERE oh.order_id = p_order AND oh.live
$$;

-- The live holds of an order in a status. OFFSET 0: each is looked up by its key. Asked in one piece, a planner that knows
-- few holds of that status begins at all of them, and goes on so in the minute in which they become thousands.
CREATE OR REPLACE FUNCTION holds_in_status(p_order uuid, p_status text) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    SELECT h.hold_id FROM order_holds oh
     CROSS JOIN LATERAL (SELECT h.hold_id, h.status FROM holds h WHERE h.hold_id = oh.hold_id OFFSET 0) h
     WHERE oh.order_id = p_order AND oh.live AND h.status = p_status
$$;

-- When the holds of an order end: the earliest of them.
CREATE OR REPLACE FUNCTION deadline_of_order(p_order uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT min(h.expires_at) FROM order_holds oh JOIN holds h USING (hold_id) WHERE oh.order_id = p_order AND oh.live
$$;

-- A charge of the order that may still take money for it: not one whose success would only be given back. Its own locks:
-- none, the order's lock is enough.
CREATE OR REPLACE FUNCTION has_live_charge(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations p
                    WHERE p.order_id = p_order AND p.kind IN ('authorize', 'sale', 'cash')
                      AND p.status IN ('CREATED', 'SENT', 'ACTION_REQUIRED', 'UNKNOWN') AND NOT p.void_requested)
$$;

-- Captures, voids and refunds of a charge, found by its order: a charge that was refused something has no index of its own.
CREATE OR REPLACE FUNCTION follow_ups_of(p_charge uuid) RETURNS SETOF payment_operations LANGUAGE sql STABLE AS $$
    SELECT c.* FROM payment_operations p
     CROSS JOIN LATERAL (SELECT * FROM payment_operations c WHERE c.order_id = p.order_id OFFSET 0) c
     WHERE p.operation_id = p_charge AND c.parent_id = p_charge
$$;

-- Why a paid order cannot be confirmed, or ''. The whole of R22: hold, seats, limits, total, price. Caller: lock_sale,
-- and the account row. Time does not matter here: seats that are PAYING are nobody else's, even after grace (R7).
CREATE OR REPLACE FUNCTION why_not_confirm(p_order orders, p_amount bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_event events;
    v_lines record;  -- of the order: seats and places, and what they cost
    v_held  record;  -- by its holds: seats and places; whether one of them is not what it should be
BEGIN
    SELECT * INTO v_event FROM events e WHERE e.event_id = p_order.event_id;
    IF p_order.status NOT IN ('PENDING', 'RECONCILING') THEN
        RETURN 'order-ended';
    ELSIF v_event.status = 'CANCELLED' THEN
        RETURN 'event-cancelled';
    END IF;
    SELECT s.seats, p.places, s.minor + p.minor AS minor INTO v_lines
      FROM (SELECT count(*) AS seats, coalesce(sum(l.amount_minor), 0) AS minor
              FROM order_seats l WHERE l.order_id = p_order.order_id) s,
           (SELECT count(*) AS places, coalesce(sum(l.amount_minor), 0) AS minor
              FROM order_places l WHERE l.order_id = p_order.order_id) p;
    SELECT coalesce(sum(cardinality(h.seats)), 0) AS seats, coalesce(sum(h.places), 0) AS places,
           coalesce(bool_or(h.status <> 'PAYMENT_PENDING' OR h.price_version <> p_order.price_version), false) AS lost
      INTO v_held
      FROM order_holds oh JOIN holds h USING (hold_id) WHERE oh.order_id = p_order.order_id AND oh.live;
    IF v_held.lost OR v_lines.seats + v_lines.places = 0 OR v_lines.seats <> v_held.seats
       OR v_lines.seats <> (
            SELECT count(*) FROM order_seats l JOIN seats s USING (event_id, seat_no)
             WHERE l.order_id = p_order.order_id AND s.status = 2 AND s.order_id = p_order.order_id
               AND s.hold_id IN (SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = p_order.order_id AND oh.live))
       OR v_lines.places + v_held.places > 0 AND v_lines.places <> places_held_for(p_order.order_id) THEN
        RETURN 'hold-lost';
    ELSIF p_amount <> p_order.amount_minor OR p_order.amount_minor <> v_lines.minor THEN
        RETURN 'total-differs';
    ELSIF p_order.channel = 'online' AND v_lines.seats + v_lines.places + coalesce(
            (SELECT a.sold FROM account_limits a
              WHERE a.event_id = p_order.event_id AND a.principal = p_order.principal), 0)
            > limit_of_account(v_event, p_order.principal) THEN
        RETURN 'limit-exceeded';
    END IF;
    RETURN '';
END $$;

DROP FUNCTION IF EXISTS confirm_sale(orders, timestamptz);

-- Seats SOLD, holds SOLD, orders CONFIRMED, lines valid, the accounts' counts, the outbox: one transaction (R22), and one
-- statement for each table, whatever the number of orders: a statement costs more than a row, because it reads the table's
-- CHECKs anew. Caller: why_not_confirm said '' to each, under the same locks.
CREATE OR REPLACE FUNCTION confirm_sales(p_orders uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_lines record;
BEGIN
    -- As arrays, so that no plan may begin at all the seats of an event because they could be joined by their order.
    SELECT array_agg(l.event_id) AS events, array_agg(l.seat_no) AS seats, array_agg(l.order_id) AS orders INTO v_lines
      FROM order_seats l WHERE l.order_id = ANY (p_orders);
    WITH sold AS (
        UPDATE seats s SET status = 3, hold_id = NULL, hold_expires_at = NULL, version = s.version + 1
          FROM unnest(v_lines.events, v_lines.seats, v_lines.orders) AS w (event_id, seat_no, id)
         WHERE s.event_id = w.event_id AND s.seat_no = w.seat_no AND s.order_id = w.id
        RETURNING s.event_id, w.id, s.seat_no, s.version, staff_byte(s.status, s.holder, s.printed, s.used) AS state)
    INSERT INTO outbox (event_id, type, aggregate_id, seats, seat_states, seat_versions, created_at)
    SELECT s.event_id, 'seats-sold', s.id, array_agg(s.seat_no ORDER BY s.seat_no),
           array_agg(s.state ORDER BY s.seat_no), array_agg(s.version ORDER BY s.seat_no), p_now
      FROM sold s GROUP BY s.event_id, s.id ORDER BY s.id;
    UPDATE holds h SET status = 'SOLD', ended_at = p_now
     WHERE h.hold_id IN (SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = ANY (p_orders) AND oh.live);
    UPDATE order_seats l SET valid = true WHERE l.order_id = ANY (p_orders);
    PERFORM ga_confirm(o, p_now)
       FROM orders o
      WHERE o.order_id = ANY (p_orders) AND EXISTS (SELECT FROM order_places l WHERE l.order_id = o.order_id)
      ORDER BY o.order_id;
    WITH confirmed AS (
        UPDATE orders o SET status = 'CONFIRMED', confirmed_at = p_now WHERE o.order_id = ANY (p_orders)
        RETURNING o.event_id, o.principal, o.order_id)
    UPDATE admission_sessions a SET spent_at = p_now, spent_by = c.order_id
      FROM confirmed c
     WHERE a.event_id = c.event_id AND a.principal = c.principal AND a.single_purchase AND a.spent_at IS NULL;
    INSERT INTO account_limits AS a (event_id, principal, sold)
    SELECT o.event_id, o.principal, sum(s.seats + p.places)
      FROM orders o
     CROSS JOIN LATERAL (SELECT count(*) AS seats FROM order_seats l WHERE l.order_id = o.order_id) s
     CROSS JOIN LATERAL (SELECT count(*) AS places FROM order_places l WHERE l.order_id = o.order_id) p
     WHERE o.order_id = ANY (p_orders) GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT ON CONSTRAINT account_limits_pk DO UPDATE SET sold = a.sold + excluded.sold;
    INSERT INTO outbox (event_id, type, aggregate_id, payload, created_at)
    SELECT o.event_id, 'order-confirmed', o.order_id,
           jsonb_build_object('number', o.number, 'amount_minor', o.amount_minor, 'currency', o.currency), p_now
      FROM orders o WHERE o.order_id = ANY (p_orders) ORDER BY o.order_id;
END $$;

-- End an order that was not paid, or not wholly: its seats, where they are still its own, become free, and parts that were taken
-- go back. Caller: lock_sale.
CREATE OR REPLACE FUNCTION end_sale(
    p_order orders, p_order_status text, p_hold_status text, p_reason text, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_hold  holds;
BEGIN
    PERFORM lock_places(holds_of_order(p_order.order_id));
    UPDATE orders o SET status = p_order_status, ended_at = p_now, end_reason = p_reason
     WHERE o.order_id = p_order.order_id;
    PERFORM give_parts_back(p_order.order_id, p_now);
    FOR v_hold IN
        SELECT h.* FROM order_holds oh
         CROSS JOIN LATERAL (SELECT * FROM holds h WHERE h.hold_id = oh.hold_id OFFSET 0) h
         WHERE oh.order_id = p_order.order_id AND oh.live AND h.status IN ('HELD', 'PAYMENT_PENDING')
         ORDER BY h.hold_id
    LOOP
        PERFORM free_hold(v_hold, p_hold_status, p_now);
    END LOOP;
END $$;

-- End a hold and free what is still its own: matched by hold, never by seat alone (R5). Caller: the hold and its seats
-- are locked. Seats that a newer hold or a sale has taken are left alone.
CREATE OR REPLACE FUNCTION free_hold(p_hold holds, p_status text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_freed integer[];
BEGIN
    UPDATE holds h SET status = p_status, ended_at = p_now WHERE h.hold_id = p_hold.hold_id;
    WITH freed AS (
        UPDATE seats s
           SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL, order_id = NULL, version = s.version + 1
         WHERE s.event_id = p_hold.event_id AND s.seat_no = ANY (p_hold.seats)
           AND s.hold_id = p_hold.hold_id AND s.status IN (1, 2)
        RETURNING s.seat_no)
    SELECT array_agg(f.seat_no) INTO v_freed FROM freed f;
    PERFORM announce_seats(p_hold.event_id, 'seats-released', p_hold.hold_id, v_freed, NULL, p_now);
    IF p_hold.places > 0 THEN
        PERFORM ga_free(p_hold, p_now);
    END IF;
END $$;

-- End the dead sales in the way of a hold: those whose seats, or places of whose tiers, it wants, and its buyer's own, which
-- would count against him. Caller: the buyer's account row. Locks orders → holds → all their seats and the wanted ones →
-- all their counters and the wanted ones, each in order; the caller's own look at the wanted ones then waits for nothing.
-- Whether a sale is dead is read again under the locks.
DROP FUNCTION IF EXISTS end_dead_sales(integer, text, integer[], timestamptz);
CREATE OR REPLACE FUNCTION end_dead_sales(
    p_event integer, p_principal text, p_seats integer[], p_now timestamptz, p_tiers integer[] DEFAULT '{}'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_suspects uuid[] := ARRAY(
        SELECT s.hold_id FROM seats s
         WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats) AND s.status = 2 AND s.hold_expires_at <= p_now
         UNION
        SELECT h.hold_id FROM holds h
         WHERE h.event_id = p_event AND h.principal = p_principal AND h.ended_at IS NULL
           AND h.status = 'PAYMENT_PENDING' AND h.expires_at <= p_now
         UNION
        SELECT g.hold_id FROM ga_holds g
         WHERE g.event_id = p_event AND g.tier_id = ANY (p_tiers) AND g.status = 2 AND g.expires_at <= p_now);
    v_orders   uuid[];
    v_order    orders;
    v_holds    uuid[];
BEGIN
    IF cardinality(v_suspects) = 0 THEN
        RETURN;
    END IF;
    v_orders := ARRAY(SELECT oh.order_id FROM order_holds oh JOIN holds h USING (hold_id)
                       WHERE oh.hold_id = ANY (v_suspects) AND oh.live
                         AND is_dead_sale(oh.order_id, h.expires_at, p_now));
    IF cardinality(v_orders) = 0 THEN
        RETURN;
    END IF;
    PERFORM FROM orders o WHERE o.order_id = ANY (v_orders) ORDER BY o.order_id FOR NO KEY UPDATE;
    v_holds := ARRAY(SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = ANY (v_orders) AND oh.live);
    PERFORM FROM holds h WHERE h.hold_id = ANY (v_holds) ORDER BY h.hold_id FOR NO KEY UPDATE;
    PERFORM lock_seats(p_event, p_seats || ARRAY(
        SELECT unnest(h.seats) FROM holds h WHERE h.hold_id = ANY (v_holds)));
    PERFORM FROM ga_tiers t
     WHERE t.event_id = p_event AND (t.tier_id = ANY (p_tiers) OR (t.tier_id, t.bucket) IN (
           SELECT g.tier_id, g.bucket FROM ga_holds g WHERE g.hold_id = ANY (v_holds) AND g.status IN (1, 2)))
     ORDER BY t.tier_id, t.bucket FOR NO KEY UPDATE OF t;
    FOR v_order IN SELECT * FROM orders o WHERE o.order_id = ANY (v_orders) ORDER BY o.order_id LOOP
        IF is_dead_sale(v_order.order_id, deadline_of_order(v_order.order_id), p_now) THEN
            PERFORM end_sale(v_order, 'EXPIRED', 'EXPIRED', 'time ran out', p_now);
        END IF;
    END LOOP;
END $$;

-- PAYING → HELD under the same deadline, the grace stays used (R7). Caller: lock_sale.
CREATE OR REPLACE FUNCTION return_to_hold(p_order orders, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_seats integer[] := seats_of_order(p_order.order_id);
BEGIN
    UPDATE holds h SET status = 'HELD'
      FROM holds_in_status(p_order.order_id, 'PAYMENT_PENDING') AS n (hold_id) WHERE h.hold_id = n.hold_id;
    UPDATE seats s SET status = 1, order_id = NULL, version = s.version + 1
     WHERE s.event_id = p_order.event_id AND s.seat_no = ANY (v_seats)
       AND s.status = 2 AND s.order_id = p_order.order_id;
    PERFORM announce_seats(p_order.event_id, 'seats-held', p_order.order_id, v_seats,
                           deadline_of_order(p_order.order_id), p_now);
    PERFORM ga_return(holds_of_order(p_order.order_id), p_now);
END $$;

-- After a charge was declined or is not to be: seats back to the hold while time is left, else the end of the order. Seats of
-- which a part is paid stay with the order: a hold could be taken over. Caller: lock_sale; no live charge is left.
CREATE OR REPLACE FUNCTION after_no_charge(p_order orders, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_order.status NOT IN ('PENDING', 'RECONCILING') THEN
        RETURN;
    END IF;
    IF deadline_of_order(p_order.order_id) > p_now THEN
        UPDATE orders o SET status = 'PENDING' WHERE o.order_id = p_order.order_id AND o.status = 'RECONCILING';
        IF NOT has_parts(p_order.order_id) THEN
            PERFORM return_to_hold(p_order, p_now);
        END IF;
    ELSE
        PERFORM end_sale(p_order, 'EXPIRED', 'EXPIRED', 'time ran out', p_now);
    END IF;
END $$;

-- Close the open item of a kind that the course of things has settled by itself.
CREATE OR REPLACE FUNCTION resolve_items(
    p_operation uuid, p_kind text, p_by text, p_resolution text, p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    UPDATE reconciliation_items i SET resolved_at = p_now, resolved_by = p_by, resolution = p_resolution
     WHERE i.operation_id = p_operation AND i.kind = p_kind AND i.resolved_at IS NULL
$$;

-- Open a reconciliation item; one open item of a kind for each operation.
CREATE OR REPLACE FUNCTION open_item(
    p_item uuid, p_kind text, p_operation payment_operations, p_detail jsonb, p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO reconciliation_items (item_id, kind, event_id, order_id, operation_id, detail, opened_at)
    VALUES (p_item, p_kind, (p_operation).event_id, (p_operation).order_id, (p_operation).operation_id, p_detail, p_now)
        ON CONFLICT (operation_id, kind, subject) WHERE resolved_at IS NULL DO NOTHING
$$;
