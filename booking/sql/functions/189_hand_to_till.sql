-- Money that is owed back and that only a till can give: from its drawer, or at its terminal (R25, R33). It is an operation of that
-- one till, SENT, and counts as pending from now on: nobody else can give it, and the till reports it once. Who finds the till
-- silent settles that operation first; only what is definitely not given can be given elsewhere.
--
-- Not for a sale that its till is told to reverse: that till does so by itself when it comes back, whatever is agreed meanwhile.

-- Tills with somebody at work who may give money back: who, and since when. What a shift is until there are shifts.
CREATE OR REPLACE FUNCTION open_tills() RETURNS TABLE (
    device_id uuid, name text, staff_name text, since timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (s.device_id) s.device_id, d.name, w.display_name, s.created_at
      FROM (SELECT booking_now() AS now OFFSET 0) n
      JOIN staff_sessions s ON s.revoked_at IS NULL AND s.expires_at > n.now
      JOIN staff w ON w.staff_id = s.staff_id AND w.active AND w.role IN ('clerk', 'supervisor', 'admin')
      JOIN devices d ON d.device_id = s.device_id
     ORDER BY s.device_id, s.created_at DESC
$$;

CREATE OR REPLACE FUNCTION is_open_till(p_device uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM open_tills() t WHERE t.device_id = p_device)
$$;

-- Whether a refund of what a terminal or a drawer took was refused, and is owed still.
CREATE OR REPLACE FUNCTION is_owed_at_a_till(p_op payment_operations, p_charge payment_operations)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_op.kind = 'refund' AND p_op.status = 'DECLINED' AND p_charge.kind IN ('sale', 'cash')
       AND p_charge.status = 'SUCCEEDED' AND NOT has_follow_up(p_charge.operation_id, 'void', 'SUCCEEDED')
       AND most_to_pay_back(p_op, p_charge) > 0
$$;

-- By which ways a till can give back what an item is about: a terminal what a terminal took, a drawer whatever was taken.
CREATE OR REPLACE FUNCTION ways_at_a_till(p_item reconciliation_items) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN m.standing <> 'taken' THEN '{}' WHEN c.kind = 'sale' THEN '{same,cash}' ELSE '{cash}' END::text[]
      FROM payment_operations p
      JOIN payment_operations c ON c.operation_id = coalesce(p.parent_id, p.operation_id)
     CROSS JOIN LATERAL money_of_charge(c.operation_id) m
     WHERE p.operation_id = p_item.operation_id
$$;

-- Whether what an item waits for is done at a till, which tells by itself.
CREATE OR REPLACE FUNCTION is_under_way_at_a_till(p_item reconciliation_items) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations p
                     JOIN payment_operations f
                       ON f.operation_id = open_follow_up_of(coalesce(p.parent_id, p.operation_id))
                    WHERE p.operation_id = p_item.operation_id AND f.at_till)
$$;

-- Have a till give back p_amount of a charge: p_way 'cash' out of its drawer, 'same' at its terminal. Never more than is left of the
-- charge. p_act: the act of a person that it is a part of, or NULL. Caller: lock_order_for_money of the charge's order.
CREATE OR REPLACE FUNCTION owe_at_till(
    p_charge uuid, p_amount bigint, p_way text, p_operation uuid, p_device uuid, p_principal text, p_reason text,
    p_now timestamptz, p_act uuid
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_money record;
BEGIN
    SELECT * INTO v_money FROM money_of_charge(p_charge);
    IF p_amount < 1 OR p_amount > v_money.refundable THEN
        RETURN refused('refund-too-much', v_money.refundable::text);
    ELSIF v_money.standing <> 'taken' THEN
        RETURN refused('action-not-allowed', 'not-captured');
    END IF;
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, payment_method, card_brand, amount_minor,
                                    currency, money_back_id, at_till, next_attempt_at, created_at, updated_at)
    SELECT p_operation, c.order_id, c.event_id, c.operation_id, c.part, 'refund', 'SENT',
           CASE p_way WHEN 'cash' THEN 'cash' ELSE c.provider END, 'device:' || p_device, p_device, p_operation::text,
           CASE p_way WHEN 'cash' THEN '' ELSE c.provider_ref END, c.payment_method,
           CASE p_way WHEN 'cash' THEN '' ELSE c.card_brand END, p_amount, c.currency, p_act, true,
           p_now + interval '15 min', p_now, p_now
      FROM payment_operations c WHERE c.operation_id = p_charge;
    PERFORM note_evidence(p_operation, jsonb_build_array(jsonb_build_object(
        'at', p_now, 'direction', 'asked', 'body', p_reason)), 'person:' || p_principal);
    RETURN done(p_operation);
END $$;

-- Whether the till of p_device has to give back money of an order, and has not reported it: then it may see that order, whoever sold it.
CREATE OR REPLACE FUNCTION owes_at(p_order uuid, p_device uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations p
                    WHERE p.device_id = p_device AND p.at_till AND p.status IN ('SENT', 'UNKNOWN')
                      AND p.order_id = p_order)
$$;
