-- Items that the course of things makes: what nobody has answered for long becomes one, and an item ends by itself when its
-- cause is gone. Called by the worker, in short transactions that wait for nobody.

-- Operations that their provider leaves open for longer than the settings say: a reconciliation item each, once. The worker
-- goes on asking. p_items: ids, and so the number of items at most. Captures have their own time (note_overdue_captures).
CREATE OR REPLACE FUNCTION note_unknown_operations(p_items uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_after CONSTANT interval := make_interval(secs => (reconciliation_terms()).unknown_after_s);
    v_op    payment_operations;
    v_done  integer := 0;
BEGIN
    FOR v_op IN
        SELECT p.* FROM payment_operations p
         WHERE p.next_attempt_at IS NOT NULL AND p.kind IN ('authorize', 'void', 'refund') AND NOT p.at_till
           AND p.status NOT IN ('SUCCEEDED', 'DECLINED') AND p.created_at <= v_now - v_after
           AND NOT EXISTS (SELECT FROM reconciliation_items i
                            WHERE i.operation_id = p.operation_id AND i.resolved_at IS NULL)
         ORDER BY p.next_attempt_at LIMIT cardinality(p_items) FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_done := v_done + 1;
        PERFORM open_item(p_items[v_done],
                          CASE v_op.kind WHEN 'authorize' THEN 'unknown-overdue' ELSE v_op.kind || '-overdue' END,
                          v_op, jsonb_build_object('status', v_op.status, 'attempts', v_op.attempts), v_now);
    END LOOP;
    RETURN v_done;
END $$;

-- The least id that an order, or anything else with such an id, made at an instant or later can have (UUIDv7).
CREATE OR REPLACE FUNCTION first_id_of(p_instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT rpad(lpad(to_hex((extract(epoch FROM p_instant) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- Lines of an order that were sold, and have no ticket.
CREATE OR REPLACE FUNCTION lines_without_ticket(p_order uuid) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM order_seats l
             WHERE l.order_id = p_order AND l.valid
               AND NOT EXISTS (SELECT FROM tickets t
                                WHERE t.order_id = l.order_id AND t.seat_no = l.seat_no AND t.status <> 'VOID'))::integer
         + (SELECT count(*) FROM order_places l
             WHERE l.order_id = p_order AND l.valid
               AND NOT EXISTS (SELECT FROM tickets t
                                WHERE t.order_id = l.order_id AND t.place_no = l.place_no AND t.status <> 'VOID'))::integer
$$;

-- Orders that are confirmed for p_age and have lines without a ticket: an item each, once (R28). Looks at orders of the last
-- p_within, by their ids; the daily comparison looks at all of a day.
CREATE OR REPLACE FUNCTION note_missing_tickets(p_items uuid[], p_age interval, p_within interval)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_order orders;
    v_done  integer := 0;
BEGIN
    FOR v_order IN
        SELECT o.* FROM orders o
         WHERE o.order_id >= first_id_of(v_now - p_within) AND o.status IN ('CONFIRMED', 'PARTLY_REFUNDED')
           AND o.confirmed_at <= v_now - p_age AND lines_without_ticket(o.order_id) > 0
           AND NOT is_compensation_due(o.order_id)
           AND NOT EXISTS (SELECT FROM reconciliation_items i
                            WHERE i.order_id = o.order_id AND i.kind = 'tickets-missing'
                              AND (i.resolved_at IS NULL OR i.resolved_by LIKE 'supervisor:%'))
         ORDER BY o.order_id LIMIT cardinality(p_items)
    LOOP
        IF open_item_about(p_items[v_done + 1], 'tickets-missing', 'tickets:' || v_order.order_id, v_order.event_id,
                           v_order.order_id, NULL, '', v_order.amount_minor, v_order.currency,
                           jsonb_build_object('lines', lines_without_ticket(v_order.order_id)), v_now) THEN
            v_done := v_done + 1;
        END IF;
    END LOOP;
    RETURN v_done;
END $$;

-- Why the cause of an open item is gone, in words; '' while it is not.
CREATE OR REPLACE FUNCTION why_item_ends(p_item reconciliation_items) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_op     payment_operations;
    v_charge payment_operations;
    v_money  record;
BEGIN
    IF p_item.kind = 'tickets-missing' THEN
        RETURN CASE WHEN lines_without_ticket(p_item.order_id) = 0 THEN 'the tickets are issued' ELSE '' END;
    ELSIF p_item.kind = 'terminal-total-differs' THEN
        RETURN CASE WHEN terminal_difference((p_item.detail ->> 'totals_id')::uuid) = 0
                    THEN 'the totals agree' ELSE '' END;
    ELSIF p_item.operation_id IS NULL THEN
        RETURN '';
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_item.operation_id;
    IF p_item.kind IN ('no-result', 'unknown-overdue', 'capture-overdue', 'void-overdue', 'refund-overdue')
       OR p_item.kind = 'amount-mismatch' AND v_op.status = 'SUCCEEDED' THEN
        RETURN CASE v_op.status WHEN 'SUCCEEDED' THEN 'the answer is known: it succeeded'
                                WHEN 'DECLINED' THEN 'the answer is known: it was declined' ELSE '' END;
    END IF;
    v_charge := charge_of(v_op);
    IF p_item.kind = 'capture-failed' THEN
        RETURN CASE WHEN has_follow_up(v_charge.operation_id, 'capture', 'SUCCEEDED') THEN 'captured'
                    WHEN is_tried_again(p_item, v_op) THEN 'tried again: see the newer item'
                    WHEN NOT has_valid_lines(p_item.order_id) THEN 'nothing of the order is valid any more' ELSE '' END;
    ELSIF p_item.kind = 'refund-without-ticket' THEN
        RETURN CASE WHEN value_of_tickets(p_item.order_id) <= (
                         SELECT coalesce(sum(m.charged - m.refunded), 0) FROM money_of_order(p_item.order_id) m
                          WHERE m.standing <> 'lost') THEN 'tickets and money agree' ELSE '' END;
    ELSIF p_item.kind = 'amount-mismatch' AND v_op.status = 'DECLINED'
          AND v_op.kind NOT IN ('authorize', 'sale') THEN
        RETURN 'the answer is known: it was declined';
    ELSIF p_item.kind NOT IN ('void-failed', 'refund-failed', 'paid-not-confirmed', 'result-conflict', 'amount-mismatch',
                              'provider-only', 'duplicate-charge', 'reversal-overdue') THEN
        RETURN '';
    ELSIF p_item.kind IN ('void-failed', 'refund-failed') AND is_tried_again(p_item, v_op) THEN
        RETURN 'tried again: see the newer item';
    ELSIF p_item.kind = 'result-conflict' AND p_item.detail ->> 'recorded' = 'SUCCEEDED' THEN
        RETURN '';
    ELSIF has_follow_up(v_charge.operation_id, 'void', 'SUCCEEDED') THEN
        RETURN 'the charge was let go';
    END IF;
    SELECT * INTO v_money FROM money_of_charge(v_charge.operation_id);
    IF p_item.kind IN ('void-failed', 'refund-failed') AND EXISTS (
            SELECT FROM money_backs a WHERE a.money_back_id = v_op.money_back_id AND a.status = 'ACCEPTED') THEN
        RETURN CASE WHEN v_money.standing = 'lost' THEN 'nothing was taken'
                    WHEN owed_by_act(v_op) = 0 AND open_follow_up_of(v_charge.operation_id) IS NULL THEN 'refunded' ELSE '' END;
    ELSIF p_item.kind = 'refund-failed' THEN
        RETURN CASE WHEN EXISTS (SELECT FROM payment_operations r
                                  WHERE r.order_id = v_op.order_id AND r.parent_id = v_op.parent_id AND r.kind = 'refund'
                                    AND r.status = 'SUCCEEDED' AND r.created_at > v_op.created_at
                                    AND r.amount_minor = v_op.amount_minor) THEN 'refunded' ELSE '' END;
    END IF;
    RETURN CASE WHEN v_money.refunded >= v_money.charged THEN 'the money went back' ELSE '' END;
END $$;

-- Whether a newer try of the same thing was refused as well, and has an item of its own.
CREATE OR REPLACE FUNCTION is_tried_again(p_item reconciliation_items, p_op payment_operations)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations c JOIN reconciliation_items i USING (operation_id)
                    WHERE c.order_id = p_op.order_id AND c.parent_id = p_op.parent_id AND c.kind = p_op.kind
                      AND c.money_back_id IS NOT DISTINCT FROM p_op.money_back_id
                      AND c.amount_minor = p_op.amount_minor AND c.created_at > p_op.created_at AND i.kind = p_item.kind
                      AND i.resolved_at IS NULL)
$$;

-- End those of p_limit open items after p_after whose cause is gone. `last` is the item to go on after, NULL at the end.
CREATE OR REPLACE FUNCTION end_settled_items(p_after uuid, p_limit integer, OUT ended integer, OUT last uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_now  timestamptz := booking_now();
    v_from timestamptz := (SELECT i.opened_at FROM reconciliation_items i WHERE i.item_id = p_after);
    v_seen integer := 0;
    v_item reconciliation_items;
BEGIN
    ended := 0;
    FOR v_item IN
        SELECT * FROM reconciliation_items i
         WHERE i.resolved_at IS NULL AND (p_after IS NULL OR (i.opened_at, i.item_id) > (v_from, p_after))
         ORDER BY i.opened_at, i.item_id LIMIT p_limit
    LOOP
        v_seen := v_seen + 1;
        last := v_item.item_id;
        IF why_item_ends(v_item) <> '' AND end_settled_item(v_item.item_id, v_now) THEN
            ended := ended + 1;
        END IF;
    END LOOP;
    IF v_seen < p_limit THEN
        last := NULL;
    END IF;
END $$;

-- End one item whose cause is gone, unless somebody acts on it just now; then it has another turn.
CREATE OR REPLACE FUNCTION end_settled_item(p_item uuid, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_item reconciliation_items;
    v_why  text;
BEGIN
    SELECT * INTO v_item FROM reconciliation_items i
     WHERE i.item_id = p_item AND i.resolved_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_why := why_item_ends(v_item);
    RETURN v_why <> '' AND end_item(p_item, 'authority', v_why, '', p_now);
END $$;

-- What a provider said of an operation that has its answer and was asked about again by a person: it is not due any more, and
-- an item that said otherwise ends when the provider agrees with us.
CREATE OR REPLACE FUNCTION note_reconfirmed(p_operation uuid, p_outcome text, p_amount bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
    v_op  payment_operations;
BEGIN
    UPDATE payment_operations p SET next_attempt_at = NULL
     WHERE p.operation_id = p_operation AND p.status IN ('SUCCEEDED', 'DECLINED')
    RETURNING * INTO v_op;
    IF v_op.status = 'SUCCEEDED' AND p_outcome = 'succeeded' AND p_amount = v_op.amount_minor THEN
        PERFORM end_item(i.item_id, 'authority', 'the provider says so as well', '', v_now)
           FROM reconciliation_items i
          WHERE i.operation_id = p_operation AND i.resolved_at IS NULL
            AND i.kind IN ('ours-only', 'amount-differs');
    END IF;
END $$;

-- They summed up money of several currencies, and nobody asked for them: operators have `read_unknown_payments`.
DROP FUNCTION IF EXISTS item_figures();
DROP FUNCTION IF EXISTS unknown_figures();

-- Authorizations that nobody has sent and whose buyer's time is over: whoever can send them is away, or there is nobody. They
-- end with their order, by `mark_sent` and its refusal.
CREATE OR REPLACE FUNCTION unsent_past_deadline(p_limit integer) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    SELECT p.operation_id
      FROM (SELECT booking_now() AS now OFFSET 0) n
      JOIN payment_operations p ON p.next_attempt_at <= n.now AND p.kind = 'authorize' AND p.status = 'CREATED'
     WHERE coalesce(deadline_of_order(p.order_id) <= n.now, true)
     ORDER BY p.next_attempt_at LIMIT p_limit
$$;
