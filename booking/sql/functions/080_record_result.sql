-- What a provider, a terminal or a supervisor says about an operation (R22, R24–R26). Repeats change nothing; unknown never
-- undoes a definite answer; nothing leaves SUCCEEDED or DECLINED. p_device: the device that must have opened it, or NULL.
-- p_spare: ids for what this step may have to make (capture or void, reconciliation item).
-- The answer's detail is the advice; code 'result-conflict' comes with its reconciliation item committed.
CREATE OR REPLACE FUNCTION record_result(
    p_operation uuid, p_device uuid, p_outcome text, p_amount bigint, p_ref text, p_decline_code text,
    p_card_brand text, p_next_action text, p_evidence jsonb, p_source text, p_spare uuid[]
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_op    payment_operations;
    v_order orders;
    v_now   timestamptz;
BEGIN
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation;
    IF NOT FOUND THEN
        RETURN refused('operation-not-found');
    ELSIF p_device IS NOT NULL AND v_op.device_id IS DISTINCT FROM p_device THEN
        RETURN refused('operation-not-yours');
    END IF;
    IF v_op.kind IN ('authorize', 'sale', 'cash') THEN
        PERFORM lock_account(o.event_id, o.principal) FROM orders o WHERE o.order_id = v_op.order_id;
        v_order := lock_sale(v_op.order_id);
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation FOR NO KEY UPDATE;
    v_now := booking_now();
    PERFORM note_evidence(p_operation, p_evidence, p_source);

    IF v_op.status IN ('SUCCEEDED', 'DECLINED') THEN
        RETURN answer_again(v_op, p_outcome, p_amount, p_ref, p_source, p_spare, v_now);
    END IF;
    UPDATE payment_operations p
       SET provider_ref = coalesce(nullif(p_ref, ''), p.provider_ref),
           card_brand = coalesce(nullif(p_card_brand, ''), p.card_brand),
           next_action = p_next_action, updated_at = v_now
     WHERE p.operation_id = p_operation;
    IF p_outcome = 'succeeded' AND p_amount <> v_op.amount_minor THEN
        PERFORM keep_unknown(v_op, v_now);
        PERFORM open_item(p_spare[2], 'amount-mismatch', v_op,
                          jsonb_build_object('amount_minor', v_op.amount_minor, 'reported_minor', p_amount,
                                             'provider_ref', p_ref, 'source', p_source), v_now);
    ELSIF p_outcome = 'unknown' THEN
        PERFORM keep_unknown(v_op, v_now);
    ELSIF p_outcome = 'action_required' THEN
        UPDATE payment_operations p SET status = 'ACTION_REQUIRED', next_attempt_at = v_now + interval '30 s'
         WHERE p.operation_id = p_operation;
    ELSIF p_outcome = 'declined' THEN
        UPDATE payment_operations p SET status = 'DECLINED', decline_code = p_decline_code, next_attempt_at = NULL
         WHERE p.operation_id = p_operation;
        PERFORM after_decline(v_op, v_order, p_decline_code, p_spare[2], v_now);
    ELSE
        UPDATE payment_operations p SET status = 'SUCCEEDED', next_attempt_at = NULL, next_action = ''
         WHERE p.operation_id = p_operation;
        PERFORM after_success(v_op, v_order, p_amount, p_spare, v_now);
    END IF;
    RETURN ROW ('', p_operation, false, advice_of(p_operation), NULL)::sale_answer;
END $$;

-- What a till is told: goods only when this operation paid its order, else take the money back.
CREATE OR REPLACE FUNCTION advice_of(p_operation uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(p.advice, ''), 'reverse') FROM payment_operations p WHERE p.operation_id = p_operation
$$;

CREATE OR REPLACE FUNCTION note_evidence(p_operation uuid, p_evidence jsonb, p_source text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO operation_evidence (operation_id, at, source, direction, body)
    SELECT p_operation, (e.value ->> 'at')::timestamptz, p_source, e.value ->> 'direction', e.value ->> 'body'
      FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS e (value, n)
     ORDER BY e.n
$$;

-- A report about an operation that has its answer: the same again is a repeat, another one a conflict for a supervisor.
-- Money that was taken after all is voided, where the provider can; nothing that was sold since is touched (B10).
CREATE OR REPLACE FUNCTION answer_again(
    p_op payment_operations, p_outcome text, p_amount bigint, p_ref text, p_source text, p_spare uuid[],
    p_now timestamptz
) RETURNS sale_answer LANGUAGE plpgsql AS $$
BEGIN
    IF p_outcome IN ('unknown', 'action_required')
       OR (p_outcome = 'succeeded' AND p_op.status = 'SUCCEEDED' AND p_amount = p_op.amount_minor)
       OR (p_outcome = 'declined' AND p_op.status = 'DECLINED') THEN
        RETURN ROW ('', p_op.operation_id, true, advice_of(p_op.operation_id), NULL)::sale_answer;
    END IF;
    PERFORM open_item(p_spare[2], 'result-conflict', p_op,
                      jsonb_build_object('recorded', p_op.status, 'reported', p_outcome, 'reported_minor', p_amount,
                                         'provider_ref', p_ref, 'source', p_source), p_now);
    IF p_outcome = 'succeeded' AND p_op.status = 'DECLINED' AND p_op.kind = 'authorize' THEN
        UPDATE payment_operations p SET provider_ref = coalesce(nullif(p_ref, ''), p.provider_ref), updated_at = p_now
         WHERE p.operation_id = p_op.operation_id;
        PERFORM open_follow_up(p_op, 'void', p_amount, p_spare[1], p_now);
    END IF;
    RETURN ROW ('result-conflict', p_op.operation_id, false, p_op.status, NULL)::sale_answer;
END $$;

-- The provider does not say: the operation stays live, its seats stay PAYING, the order waits (R24).
CREATE OR REPLACE FUNCTION keep_unknown(p_op payment_operations, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_operations p
       SET status = 'UNKNOWN', advice = '',
           next_attempt_at = CASE WHEN p.kind = 'sale' THEN p_now + interval '5 min'
               ELSE p_now + spread(least(300, 2 * 2 ^ least(p.attempts, 7))) END
     WHERE p.operation_id = p_op.operation_id;
    IF p_op.kind IN ('authorize', 'sale') THEN
        UPDATE orders o SET status = 'RECONCILING' WHERE o.order_id = p_op.order_id AND o.status = 'PENDING';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION after_decline(
    p_op payment_operations, p_order orders, p_code text, p_item uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_op.kind IN ('capture', 'void', 'refund') THEN
        PERFORM open_item(p_item, p_op.kind || '-failed', p_op, jsonb_build_object('decline_code', p_code), p_now);
    ELSIF NOT has_live_charge(p_op.order_id) THEN
        PERFORM after_no_charge(p_order, p_now);
    END IF;
END $$;

-- Money is authorized or booked: confirm in this transaction, or give it back and say so (R22, R25).
CREATE OR REPLACE FUNCTION after_success(
    p_op payment_operations, p_order orders, p_amount bigint, p_spare uuid[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_why text;
BEGIN
    IF p_op.kind NOT IN ('authorize', 'sale') THEN
        RETURN;
    END IF;
    v_why := CASE WHEN p_op.void_requested THEN 'void-requested' ELSE why_not_confirm(p_order, p_amount) END;
    IF v_why = '' THEN
        PERFORM confirm_sale(p_order, p_now);
        UPDATE payment_operations p SET advice = 'goods-issued' WHERE p.operation_id = p_op.operation_id;
        IF p_op.kind = 'authorize' THEN
            PERFORM open_follow_up(p_op, 'capture', p_amount, p_spare[1], p_now);
        END IF;
        RETURN;
    END IF;
    UPDATE payment_operations p SET advice = 'reverse' WHERE p.operation_id = p_op.operation_id;
    IF p_op.kind = 'authorize' THEN
        PERFORM open_follow_up(p_op, 'void', p_amount, p_spare[1], p_now);
    END IF;
    PERFORM open_item(p_spare[2], 'paid-not-confirmed', p_op, jsonb_build_object('why', v_why), p_now);
    IF p_order.status IN ('PENDING', 'RECONCILING') THEN
        PERFORM end_sale(p_order, 'CANCELLED', 'RELEASED', v_why, p_now);
    END IF;
END $$;

-- Capture or void of a charge: once for each, driven by the worker (and at once by whoever settled the charge).
CREATE OR REPLACE FUNCTION open_follow_up(
    p_op payment_operations, p_kind text, p_amount bigint, p_id uuid, p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, payment_method, amount_minor, currency,
                                    next_attempt_at, created_at, updated_at)
    SELECT p_id, p.order_id, p.event_id, p.operation_id, p.part, p_kind, 'CREATED', p.provider, p.principal,
           p.device_id, p_id::text, p.provider_ref, p.payment_method, p_amount, p.currency,
           p_now + interval '2 s', p_now, p_now
      FROM payment_operations p
     WHERE p.operation_id = (p_op).operation_id
        ON CONFLICT (parent_id, kind) WHERE kind IN ('capture', 'void') DO NOTHING
$$;
