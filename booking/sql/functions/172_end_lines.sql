-- What follows when an act is decided: the end of tickets and lines, the way back of seats and places, what is counted.

-- Decide an act by its operations, as far as they are: accepted with the first that succeeded (or where no money is to move),
-- refused once none can. Returns its status. Caller: lock_order_for_money.
CREATE OR REPLACE FUNCTION settle_money_back(p_act uuid, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_act  money_backs;
    v_done integer;
    v_live integer;
    v_all  integer;
BEGIN
    SELECT * INTO v_act FROM money_backs a WHERE a.money_back_id = p_act FOR NO KEY UPDATE;
    IF v_act.status <> 'PENDING' THEN
        RETURN v_act.status;
    END IF;
    SELECT count(*) FILTER (WHERE p.status = 'SUCCEEDED'),
           count(*) FILTER (WHERE p.status NOT IN ('SUCCEEDED', 'DECLINED')), count(*) INTO v_done, v_live, v_all
      FROM (SELECT * FROM payment_operations p WHERE p.order_id = v_act.order_id OFFSET 0) p
     WHERE p.money_back_id = p_act;
    IF v_done > 0 OR v_all = 0 THEN
        UPDATE money_backs a SET status = 'ACCEPTED', decided_at = p_now WHERE a.money_back_id = p_act;
        PERFORM end_lines(p_act, p_now);
        RETURN 'ACCEPTED';
    ELSIF v_live > 0 THEN
        RETURN 'PENDING';
    END IF;
    UPDATE money_backs a SET status = 'REFUSED', decided_at = p_now WHERE a.money_back_id = p_act;
    UPDATE money_back_lines l SET counts = false WHERE l.money_back_id = p_act;
    UPDATE tickets t SET money_back_id = NULL WHERE t.order_id = v_act.order_id AND t.money_back_id = p_act;
    RETURN 'REFUSED';
END $$;

-- The lines of an accepted act end, as far as they are valid: tickets VOID, seats for sale or kept by the house, counts follow (B4,
-- B5), one outbox row with each seat once, the order's state. Caller: lock_order_for_money.
CREATE OR REPLACE FUNCTION end_lines(p_act uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_act    money_backs;
    v_order  orders;
    v_seats  integer[];
    v_places integer[];
BEGIN
    SELECT * INTO v_act FROM money_backs a WHERE a.money_back_id = p_act;
    SELECT * INTO v_order FROM orders o WHERE o.order_id = v_act.order_id;
    PERFORM FROM order_seats l WHERE l.order_id = v_act.order_id ORDER BY l.seat_no FOR NO KEY UPDATE;
    PERFORM FROM order_places l WHERE l.order_id = v_act.order_id ORDER BY l.place_no FOR NO KEY UPDATE;
    v_seats := ARRAY(SELECT s.seat_no FROM money_back_lines l JOIN order_seats s USING (order_id, seat_no)
                      WHERE l.money_back_id = p_act AND s.valid ORDER BY 1);
    v_places := ARRAY(SELECT g.place_no FROM money_back_lines l JOIN order_places g USING (order_id, place_no)
                       WHERE l.money_back_id = p_act AND g.valid ORDER BY 1);
    UPDATE tickets t SET status = 'VOID'
     WHERE t.order_id = v_act.order_id AND t.status <> 'VOID' AND (t.seat_no = ANY (v_seats) OR t.place_no = ANY (v_places));
    UPDATE order_seats l SET valid = false WHERE l.order_id = v_act.order_id AND l.seat_no = ANY (v_seats);
    UPDATE account_limits a SET sold = a.sold - cardinality(v_seats) - cardinality(v_places)
     WHERE a.event_id = v_order.event_id AND a.principal = v_order.principal;
    IF cardinality(v_places) > 0 THEN
        PERFORM return_places(v_order, v_places, v_act.seats_to_sale, p_now);
    END IF;
    PERFORM count_to_card(k.event_id, k.card, -cardinality(v_seats) - cardinality(v_places))
       FROM cards_of_order(v_act.order_id) k ORDER BY k.event_id, k.card;
    PERFORM return_seats(v_act, v_seats, p_now);
    PERFORM settle_order_status(v_order, v_act, p_now);
END $$;

-- SOLD seats of an order for sale again, or BLOCKED in a house hold of their own, from which they can be released like any other.
CREATE OR REPLACE FUNCTION return_seats(p_act money_backs, p_seats integer[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_seats = '{}' THEN
        RETURN;
    END IF;
    IF NOT p_act.seats_to_sale THEN
        INSERT INTO house_holds (house_hold_id, event_id, kind, reason, created_by, created_at)
        VALUES (p_act.house_hold_id, p_act.event_id, 'other', p_act.reason, p_act.created_by, p_now);
        INSERT INTO house_hold_seats AS h (event_id, seat_no, house_hold_id)
        SELECT p_act.event_id, w.seat_no, p_act.house_hold_id FROM unnest(p_seats) AS w (seat_no) ORDER BY 2
            ON CONFLICT ON CONSTRAINT house_hold_seats_pk DO UPDATE SET house_hold_id = excluded.house_hold_id;
    END IF;
    UPDATE seats s
       SET status = CASE WHEN p_act.seats_to_sale THEN 0 ELSE 4 END, holder = CASE WHEN p_act.seats_to_sale THEN 0 ELSE 3 END,
           printed = false, used = false, order_id = NULL, version = s.version + 1
     WHERE s.event_id = p_act.event_id AND s.seat_no = ANY (p_seats) AND s.status = 3 AND s.order_id = p_act.order_id;
    PERFORM announce_seats(p_act.event_id, 'seats-returned', p_act.order_id, p_seats, NULL, p_now,
                           jsonb_build_object('money_back_id', p_act.money_back_id, 'kind', p_act.kind));
END $$;

-- Places of an order are not sold any more. Those that do not return to sale lessen the capacity: that is what keeping a place back
-- means where places have no numbers; `change_tier` gives it back.
CREATE OR REPLACE FUNCTION return_places(p_order orders, p_places integer[], p_to_sale boolean, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_places jsonb;
BEGIN
    WITH back AS (
        UPDATE order_places l SET valid = false
         WHERE l.order_id = p_order.order_id AND l.place_no = ANY (p_places) AND l.valid
        RETURNING l.event_id, l.tier_id, l.bucket),
    summed AS (SELECT b.event_id, b.tier_id, b.bucket, count(*)::int AS quantity FROM back b GROUP BY 1, 2, 3),
    counted AS (
        UPDATE ga_tiers t
           SET sold = t.sold - s.quantity,
               capacity = CASE WHEN p_to_sale THEN t.capacity ELSE greatest(0, t.capacity - s.quantity) END,
               overbooked = least(t.overbooked, greatest(0, t.held + t.sold - s.quantity
                   - CASE WHEN p_to_sale THEN t.capacity ELSE greatest(0, t.capacity - s.quantity) END))
          FROM summed s
         WHERE t.event_id = s.event_id AND t.tier_id = s.tier_id AND t.bucket = s.bucket)
    SELECT jsonb_agg(jsonb_build_object('tier_id', s.tier_id, 'bucket', s.bucket, 'quantity', s.quantity))
      INTO v_places FROM summed s;
    PERFORM announce_places(p_order.event_id, 'refunded', p_order.order_id, '{}', v_places, NULL, p_now);
END $$;

-- REFUNDED when the money of every line went back, PARTLY_REFUNDED when that of some did; CANCELLED when every line is void and no
-- money moved. An order that is CANCELLED stays so, whatever goes back later.
CREATE OR REPLACE FUNCTION settle_order_status(p_order orders, p_act money_backs, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_status text := status_of_paid_order(p_order.order_id);
BEGIN
    IF p_order.status NOT IN ('CANCELLED', v_status) THEN
        UPDATE orders o
           SET status = v_status, ended_at = CASE WHEN v_status = 'PARTLY_REFUNDED' THEN o.ended_at ELSE p_now END,
               end_reason = CASE WHEN v_status = 'PARTLY_REFUNDED' THEN o.end_reason ELSE p_act.reason END
         WHERE o.order_id = p_order.order_id;
    END IF;
    INSERT INTO outbox (event_id, type, aggregate_id, payload, created_at)
    VALUES (p_order.event_id, CASE p_act.kind WHEN 'refund' THEN 'order-refunded' ELSE 'tickets-cancelled' END,
            p_order.order_id, jsonb_build_object('number', p_order.number, 'money_back_id', p_act.money_back_id,
                                                 'amount_minor', p_act.amount_minor, 'currency', p_order.currency), p_now);
END $$;

-- What the state of an order that was confirmed has to be, by its lines and the acts about them.
CREATE OR REPLACE FUNCTION status_of_paid_order(p_order uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN back.lines >= l.lines THEN 'REFUNDED' WHEN back.lines > 0 THEN 'PARTLY_REFUNDED'
                WHEN l.valid = 0 THEN 'CANCELLED' ELSE 'CONFIRMED' END
      FROM (SELECT count(*) AS lines, count(*) FILTER (WHERE x.valid) AS valid
              FROM (SELECT s.valid FROM order_seats s WHERE s.order_id = p_order
                    UNION ALL SELECT g.valid FROM order_places g WHERE g.order_id = p_order) x) l,
           (SELECT count(*) AS lines FROM money_back_lines b JOIN money_backs a USING (money_back_id)
             WHERE b.order_id = p_order AND b.counts AND a.kind = 'refund' AND a.status = 'ACCEPTED') back
$$;

-- Money went back. What an act of a person waited for is decided; a capture that was parked is called off for good; cash is
-- written down. Without tickets the order may have tickets that nobody paid for any more: a person decides which (P17).
CREATE OR REPLACE FUNCTION after_money_back(p_op payment_operations, p_item uuid, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_op.kind = 'void' THEN
        UPDATE payment_operations c
           SET status = 'DECLINED', decline_code = 'voided', decided_by = 'authority', next_attempt_at = NULL,
               updated_at = p_now
         WHERE c.parent_id = p_op.parent_id AND c.kind = 'capture' AND c.status = 'CREATED' AND c.void_requested;
    END IF;
    IF p_op.at_till AND p_op.provider = 'cash' THEN
        PERFORM note_cash_out(p_op.operation_id, p_now);
    END IF;
    PERFORM resolve_items(p_op.operation_id, 'no-result', p_op.decided_by, 'the money went back', p_now);
    IF p_op.money_back_id IS NOT NULL THEN
        PERFORM settle_money_back(p_op.money_back_id, p_now);
    ELSIF EXISTS (SELECT FROM payment_operations c WHERE c.operation_id = p_op.parent_id AND c.advice = 'goods-issued')
          AND has_valid_lines(p_op.order_id) THEN
        PERFORM open_item(p_item, 'refund-without-ticket', p_op, jsonb_build_object('amount_minor', p_op.amount_minor), p_now);
    END IF;
END $$;

-- Money that was to go back did not: everything is as before (P19). A capture that was parked goes on. Who asked at a till saw it;
-- otherwise, and where other money of the act went back already, a person is told.
CREATE OR REPLACE FUNCTION after_money_back_refused(
    p_op payment_operations, p_code text, p_source text, p_item uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_status text := '';
BEGIN
    IF p_op.kind = 'void' THEN
        UPDATE payment_operations c SET void_requested = false, next_attempt_at = p_now, updated_at = p_now
         WHERE c.parent_id = p_op.parent_id AND c.kind = 'capture' AND c.status = 'CREATED' AND c.void_requested;
    END IF;
    PERFORM resolve_items(p_op.operation_id, 'no-result', p_source, 'refused', p_now);
    IF p_op.money_back_id IS NOT NULL THEN
        v_status := settle_money_back(p_op.money_back_id, p_now);
    END IF;
    IF v_status <> 'REFUSED' OR p_source NOT LIKE 'device:%' THEN
        PERFORM open_item(p_item, p_op.kind || '-failed', p_op, jsonb_build_object('decline_code', p_code), p_now);
    END IF;
END $$;

-- Whether anything of an order is sold still.
CREATE OR REPLACE FUNCTION has_valid_lines(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM order_seats s WHERE s.order_id = p_order AND s.valid)
        OR EXISTS (SELECT FROM order_places g WHERE g.order_id = p_order AND g.valid)
$$;
