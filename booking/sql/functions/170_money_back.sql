-- Money that goes back (R25): what of a charge can go back, and the one way to open a void or a refund of it. Whoever gives money
-- back holds lock_order_for_money: account → order → holds → seats → counters of tiers → operations. So two refunds of one order
-- come one after the other, and the second sees what the first has taken of the charge, decided or not (P18).

-- Lock all that a refund of an order may change. NULL when there is no such order.
CREATE OR REPLACE FUNCTION lock_order_for_money(p_order uuid) RETURNS orders LANGUAGE plpgsql AS $$
DECLARE
    v_order orders;
BEGIN
    SELECT * INTO v_order FROM orders o WHERE o.order_id = p_order;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM lock_account(v_order.event_id, v_order.principal);
    SELECT * INTO v_order FROM orders o WHERE o.order_id = p_order FOR NO KEY UPDATE;
    IF v_order.status IN ('PENDING', 'RECONCILING') THEN
        PERFORM lock_sale(p_order);
    ELSE
        -- A line stays valid or not under the order's lock; what is not valid any more is another's seat by now.
        PERFORM lock_seats(v_order.event_id, ARRAY(
            SELECT l.seat_no FROM order_seats l WHERE l.order_id = p_order AND l.valid));
        PERFORM FROM ga_tiers t
         WHERE (t.event_id, t.tier_id, t.bucket) IN (
               SELECT l.event_id, l.tier_id, l.bucket FROM order_places l WHERE l.order_id = p_order AND l.valid)
         ORDER BY t.event_id, t.tier_id, t.bucket FOR NO KEY UPDATE OF t;
    END IF;
    PERFORM FROM payment_operations p WHERE p.order_id = p_order ORDER BY p.operation_id FOR NO KEY UPDATE;
    RETURN v_order;
END $$;

-- Whether a charge that people made at the provider was attached to its order in place of one whose money never came: then the money
-- of its tickets goes back to it.
CREATE OR REPLACE FUNCTION stands_for_its_order(p_charge uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM reconciliation_items i
                    WHERE i.operation_id = p_charge AND i.resolution = 'pays the order that it was attached to')
$$;

-- The charges of an order that took money, and what of each can go back: newest card first, cash last. `charged` is what was taken:
-- of a charge that people made at the provider perhaps less than was authorized; `advice` of one that stands for another is
-- 'goods-issued'. `pending` is on its way back and not
-- decided: it cannot be given twice. `standing`: 'taken'; 'authorized', its capture was not sent; 'capturing', its
-- capture was sent and is not decided; 'lost', its capture was refused for good, so that nothing was taken.
CREATE OR REPLACE FUNCTION money_of_order(p_order uuid)
RETURNS TABLE (operation_id uuid, kind text, provider text, card_brand text, advice text, charged bigint, refunded bigint,
               pending bigint, refundable bigint, standing text)
LANGUAGE sql STABLE AS $$
    WITH ops AS MATERIALIZED (SELECT * FROM payment_operations p WHERE p.order_id = p_order OFFSET 0),
    charges AS (
        SELECT c.*,
               coalesce((SELECT k.amount_minor FROM ops k
                          WHERE k.parent_id = c.operation_id AND k.kind = 'capture' AND k.status = 'SUCCEEDED'),
                        c.amount_minor) AS charged,
               CASE WHEN c.idempotency_key LIKE 'attached:%' AND stands_for_its_order(c.operation_id)
                    THEN 'goods-issued' ELSE c.advice END AS standing_for,
               CASE WHEN c.kind <> 'authorize' THEN 'taken'
                    ELSE coalesce((SELECT CASE k.status WHEN 'SUCCEEDED' THEN 'taken' WHEN 'DECLINED' THEN 'lost'
                                                        WHEN 'CREATED' THEN 'authorized' ELSE 'capturing' END
                                     FROM ops k WHERE k.parent_id = c.operation_id AND k.kind = 'capture'
                                    ORDER BY k.status = 'DECLINED', k.created_at DESC LIMIT 1), 'authorized')
               END AS standing,
               coalesce((SELECT sum(b.amount_minor) FROM ops b
                          WHERE b.parent_id = c.operation_id AND b.kind IN ('void', 'refund')
                            AND b.status = 'SUCCEEDED'), 0)::bigint AS refunded,
               coalesce((SELECT sum(b.amount_minor) FROM ops b
                          WHERE b.parent_id = c.operation_id AND b.kind IN ('void', 'refund')
                            AND b.status NOT IN ('SUCCEEDED', 'DECLINED')), 0)::bigint AS pending
          FROM ops c
         WHERE c.kind IN ('authorize', 'sale', 'cash') AND c.status = 'SUCCEEDED')
    SELECT c.operation_id, c.kind, c.provider, c.card_brand, c.standing_for, c.charged, c.refunded, c.pending,
           CASE c.standing WHEN 'lost' THEN 0 ELSE greatest(0, c.charged - c.refunded - c.pending) END, c.standing
      FROM charges c
     ORDER BY c.kind = 'cash', c.created_at DESC, c.operation_id DESC
$$;

CREATE OR REPLACE FUNCTION money_of_charge(p_charge uuid)
RETURNS TABLE (charged bigint, refunded bigint, pending bigint, refundable bigint, standing text) LANGUAGE sql STABLE AS $$
    SELECT m.charged, m.refunded, m.pending, m.refundable, m.standing
      FROM payment_operations p CROSS JOIN LATERAL money_of_order(p.order_id) m
     WHERE p.operation_id = p_charge AND m.operation_id = p_charge
$$;

-- Open one void or refund of a charge: never more than it took (refund-too-much, detail: what can still go back).
--   void    the whole of an authorization whose capture was not sent; the capture is parked, and goes on if the void is refused.
--   refund  p_way 'same': to the card that paid, driven by its provider (CREATED) or by the till p_device at its terminal (SENT);
--           it waits for a capture that is under way. In cash where cash paid, and for p_way 'cash' out of the drawer of
--           p_device: that is decided at once, with its cash movement.
-- 'action-not-allowed' says by its detail what is in the way. p_act: the act of a person that it is a part of, or NULL.
-- Caller: lock_order_for_money of the charge's order.
CREATE OR REPLACE FUNCTION open_money_back(
    p_charge uuid, p_kind text, p_amount bigint, p_way text, p_operation uuid, p_principal text, p_device uuid,
    p_reason text, p_now timestamptz, p_act uuid DEFAULT NULL
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_charge payment_operations;
    v_money  record;
    v_cash   boolean;
    v_status text;
BEGIN
    SELECT * INTO v_charge FROM payment_operations p
     WHERE p.operation_id = p_charge AND p.kind IN ('authorize', 'sale', 'cash');
    IF NOT FOUND THEN
        RETURN refused('operation-not-found');
    ELSIF v_charge.status <> 'SUCCEEDED' THEN
        RETURN refused('action-not-allowed', 'charge-not-succeeded');
    END IF;
    SELECT * INTO v_money FROM money_of_charge(p_charge);
    IF p_amount < 1 OR p_amount > v_money.refundable THEN
        RETURN refused('refund-too-much', v_money.refundable::text);
    ELSIF p_kind = 'void' THEN
        IF v_charge.kind <> 'authorize' OR v_money.standing <> 'authorized' OR p_amount <> v_charge.amount_minor
           OR EXISTS (SELECT FROM payment_operations b WHERE b.parent_id = p_charge AND b.kind = 'void'
                         AND b.status <> 'DECLINED') THEN
            RETURN refused('action-not-allowed', 'not-voidable');
        END IF;
        UPDATE payment_operations c SET void_requested = true, next_attempt_at = NULL, updated_at = p_now
         WHERE c.parent_id = p_charge AND c.kind = 'capture' AND c.status = 'CREATED';
    ELSIF v_money.standing = 'authorized' AND NOT EXISTS (
            SELECT FROM follow_ups_of(p_charge) c WHERE c.kind = 'capture') THEN
        RETURN refused('action-not-allowed', 'not-captured');
    END IF;
    v_cash := p_kind = 'refund' AND (p_way = 'cash' OR v_charge.kind = 'cash');
    IF v_cash AND v_money.standing <> 'taken' THEN
        RETURN refused('action-not-allowed', 'not-captured');
    ELSIF (v_cash OR p_kind = 'refund' AND v_charge.kind = 'sale') AND p_device IS NULL THEN
        RETURN refused('action-not-allowed', 'needs-a-till');
    END IF;
    v_status := CASE WHEN v_cash THEN 'SUCCEEDED' WHEN v_charge.kind = 'sale' THEN 'SENT' ELSE 'CREATED' END;
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, payment_method, card_brand, amount_minor,
                                    currency, decided_by, money_back_id, at_till, next_attempt_at, created_at, updated_at)
    VALUES (p_operation, v_charge.order_id, v_charge.event_id, p_charge, v_charge.part, p_kind, v_status,
            CASE WHEN v_cash THEN 'cash' ELSE v_charge.provider END, p_principal, p_device, p_operation::text,
            CASE WHEN v_cash THEN '' ELSE v_charge.provider_ref END, v_charge.payment_method,
            CASE WHEN v_cash THEN '' ELSE v_charge.card_brand END, p_amount, v_charge.currency,
            CASE WHEN v_cash THEN 'drawer:' || p_principal ELSE '' END, p_act, v_cash OR v_status = 'SENT',
            CASE v_status WHEN 'SENT' THEN p_now + interval '5 min' WHEN 'CREATED' THEN p_now + interval '2 s' END,
            p_now, p_now);
    PERFORM note_evidence(p_operation, jsonb_build_array(jsonb_build_object(
        'at', p_now, 'direction', 'asked', 'body', p_reason)), 'person:' || p_principal);
    IF v_cash THEN
        PERFORM note_cash_out(p_operation, p_now);
    END IF;
    RETURN done(p_operation);
END $$;

-- Cash that left a drawer with a refund, once for each.
CREATE OR REPLACE FUNCTION note_cash_out(p_operation uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO cash_movements (movement_id, kind, principal, device_id, staff_id, event_id, operation_id, amount_minor,
                                currency, at)
    SELECT p.operation_id, 'refund', p.principal, p.device_id, a.staff_id, p.event_id, p.operation_id, -p.amount_minor,
           p.currency, p_now
      FROM payment_operations p LEFT JOIN money_backs a USING (money_back_id)
     WHERE p.operation_id = p_operation
        ON CONFLICT (operation_id) WHERE operation_id IS NOT NULL DO NOTHING
$$;

-- The sale of parts ends without a confirmation: what its parts have taken goes back. An authorization is voided by its provider, a
-- terminal's sale is refunded by the till that took it, and cash is paid out by it; a till that is silent becomes an item.
-- Caller: lock_sale, or the locks of the sweeper.
CREATE OR REPLACE FUNCTION give_parts_back(p_order uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH parts AS (
        UPDATE payment_operations p SET advice = 'reverse', updated_at = p_now
         WHERE p.order_id = p_order AND p.advice = 'part'
        RETURNING p.*)
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, payment_method, card_brand, amount_minor,
                                    currency, at_till, next_attempt_at, created_at, updated_at)
    SELECT p.spare_ids[2], p.order_id, p.event_id, p.operation_id, p.part,
           CASE p.kind WHEN 'authorize' THEN 'void' ELSE 'refund' END,
           CASE p.kind WHEN 'authorize' THEN 'CREATED' ELSE 'SENT' END,
           CASE p.kind WHEN 'cash' THEN 'cash' ELSE p.provider END, p.principal, p.device_id, p.spare_ids[2]::text,
           p.provider_ref, p.payment_method, p.card_brand, p.amount_minor, p.currency, p.kind <> 'authorize',
           p_now + CASE p.kind WHEN 'authorize' THEN interval '2 s' ELSE interval '5 min' END, p_now, p_now
      FROM parts p ORDER BY p.operation_id;
END $$;

-- Whether an order keeps parts that were taken already.
CREATE OR REPLACE FUNCTION has_parts(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations p WHERE p.order_id = p_order AND p.advice = 'part')
$$;

-- The order is confirmed: its earlier parts are counted to their cards, once to each, and what of them is only authorized is
-- captured. The card of the last part is counted already.
CREATE OR REPLACE FUNCTION settle_parts(p_orders uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_parts payment_operations[];
BEGIN
    SELECT array_agg(p ORDER BY p.event_id, card_of(p)) INTO v_parts
      FROM payment_operations p WHERE p.order_id = ANY (p_orders) AND p.advice = 'part';
    PERFORM count_to_card(c.event_id, c.card, tickets_of_order(c.order_id))
       FROM (SELECT n.event_id, n.order_id, card_of(n) AS card FROM unnest(v_parts) AS n WHERE n.card_fingerprint <> ''
              EXCEPT
             SELECT k.event_id, k.order_id, k.card FROM unnest(p_orders) AS o (id) CROSS JOIN LATERAL cards_of_order(o.id) k) c
      ORDER BY c.event_id, c.card;
    UPDATE payment_operations p SET advice = 'goods-issued', updated_at = p_now
      FROM unnest(v_parts) AS n WHERE p.operation_id = n.operation_id;
    PERFORM open_follow_ups(array_agg(n.operation_id), 'capture', array_agg(n.amount_minor),
                            array_agg(n.spare_ids[1]), p_now)
       FROM unnest(v_parts) AS n WHERE n.kind = 'authorize' HAVING count(*) > 0;
END $$;

-- The cards that the tickets of an order are counted to: each once, however many of its charges it paid.
CREATE OR REPLACE FUNCTION cards_of_order(p_order uuid)
RETURNS TABLE (event_id integer, order_id uuid, card text) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT p.event_id, p.order_id, card_of(p)
      FROM (SELECT * FROM payment_operations p WHERE p.order_id = p_order OFFSET 0) p
     WHERE p.kind IN ('authorize', 'sale') AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued'
       AND p.card_fingerprint <> ''
$$;

-- The cards of an order's earlier parts, as a batch names them: what confirms the order counts to them as well.
CREATE OR REPLACE FUNCTION cards_of_parts(p_order uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(p.event_id || ' ' || card_of(p)), '{}')
      FROM (SELECT * FROM payment_operations p WHERE p.order_id = p_order OFFSET 0) p
     WHERE p.advice = 'part' AND p.card_fingerprint <> ''
$$;

-- Whether the cards of an order's earlier parts may still have its tickets (R8). Locks the cards, in their order.
CREATE OR REPLACE FUNCTION may_cards_of_parts_take(p_order uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_part record;
    v_may  boolean := true;
BEGIN
    FOR v_part IN
        SELECT DISTINCT p.event_id, card_of(p) AS card FROM payment_operations p
         WHERE p.order_id = p_order AND p.advice = 'part' AND p.card_fingerprint <> '' ORDER BY 1, 2
    LOOP
        v_may := may_card_take(v_part.event_id, v_part.card, tickets_of_order(p_order)) AND v_may;
    END LOOP;
    RETURN v_may;
END $$;
