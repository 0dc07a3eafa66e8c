-- Cancel an order that is not paid, or only in part: parts that were taken go back. Refused while a charge may have taken
-- money; a charge that was never sent ends with the order, and one that is not wanted any more goes its own way.
-- p_keep_seats: back to the hold while time is left, else the seats are free. Cancelled twice is cancelled.
CREATE OR REPLACE FUNCTION cancel_order(
    p_principal text, p_all boolean, p_order uuid, p_reason text, p_keep_seats boolean, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_begun  record;
    v_order  orders;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_begun
      FROM begin_order_act(p_principal, p_all, 'cancel', p_order, 'sale', p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    END IF;
    v_order := v_begun.sale;
    IF v_order.status = 'CANCELLED' THEN
        PERFORM spend_key(p_principal, 'cancel', p_key, p_digest, p_order, p_order, booking_now());
        RETURN ROW ('', p_order, true, '', NULL)::sale_answer;
    ELSIF v_order.status = 'RECONCILING' THEN
        RETURN refused('payment-running');
    ELSIF v_order.status <> 'PENDING' THEN
        RETURN refused('order-not-cancellable', v_order.status);
    END IF;
    v_now := booking_now();
    -- The charges are locked first: from here on none of them is sent.
    PERFORM FROM payment_operations p WHERE p.order_id = p_order ORDER BY p.operation_id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM payment_operations p WHERE p.order_id = p_order AND p.kind IN ('authorize', 'sale', 'cash')
                  AND p.status NOT IN ('CREATED', 'DECLINED') AND p.advice <> 'part' AND NOT p.void_requested) THEN
        RETURN refused('payment-running');
    END IF;
    -- Charges alone: a void gives money back that was taken, and is called off by nobody (R25).
    UPDATE payment_operations p
       SET status = 'DECLINED', decline_code = 'cancelled', decided_by = 'authority', next_attempt_at = NULL,
           updated_at = v_now
     WHERE p.order_id = p_order AND p.kind IN ('authorize', 'sale') AND p.status = 'CREATED';
    IF p_keep_seats AND deadline_of_order(p_order) > v_now THEN
        PERFORM give_parts_back(p_order, v_now);
        PERFORM return_to_hold(v_order, v_now);
        UPDATE order_holds oh SET live = false WHERE oh.order_id = p_order;
        UPDATE orders o SET status = 'CANCELLED', ended_at = v_now, end_reason = p_reason WHERE o.order_id = p_order;
    ELSE
        PERFORM end_sale(v_order, 'CANCELLED', 'RELEASED', p_reason, v_now);
    END IF;
    PERFORM spend_key(p_principal, 'cancel', p_key, p_digest, p_order, p_order, v_now);
    RETURN done(p_order);
END $$;
