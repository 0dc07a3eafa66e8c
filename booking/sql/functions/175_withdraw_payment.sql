-- The buyer has called off an authorization that waits for him (3-D Secure and the like). That is committed before its provider is
-- asked to close it, so that an approval which crosses it has one meaning, whoever of the two is heard first and however often: told
-- before, it pays the order and stands; told after, it can only be given back. The order waits for that charge no longer.
--
-- 'asked': close it at the provider; said again it is so again. 'ended': it has its answer, or was never sent and ends here.
CREATE OR REPLACE FUNCTION withdraw_payment(p_operation uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_op  payment_operations;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation AND p.kind = 'authorize';
    IF NOT FOUND THEN
        RETURN 'ended';
    END IF;
    PERFORM lock_account(o.event_id, o.principal) FROM orders o WHERE o.order_id = v_op.order_id;
    PERFORM lock_sale(v_op.order_id);
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation FOR NO KEY UPDATE;
    IF v_op.status IN ('SUCCEEDED', 'DECLINED') THEN
        RETURN 'ended';
    ELSIF v_op.void_requested THEN
        RETURN 'asked';
    END IF;
    v_now := booking_now();
    PERFORM note_evidence(p_operation, jsonb_build_array(jsonb_build_object(
        'at', v_now, 'direction', 'asked', 'body', 'called off')), 'person:' || v_op.principal);
    PERFORM give_up_charge(p_operation, v_now);
    -- Whoever called it off asks its provider; the worker does when that process died.
    UPDATE payment_operations p SET next_attempt_at = v_now + interval '5 s'
     WHERE p.operation_id = p_operation AND p.void_requested;
    IF NOT has_live_charge(v_op.order_id) THEN
        PERFORM after_no_charge(o, v_now) FROM orders o WHERE o.order_id = v_op.order_id;
    END IF;
    RETURN CASE v_op.status WHEN 'CREATED' THEN 'ended' ELSE 'asked' END;
END $$;
