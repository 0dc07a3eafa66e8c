-- What a provider, a terminal or a supervisor says about an operation (R22, R24–R26). Repeats change nothing; unknown never
-- undoes a definite answer; nothing leaves SUCCEEDED or DECLINED. p_device: the device that says so, or NULL. A device speaks
-- of its own terminal's sale and of nothing else, a provider of its own operations, nobody of cash: see may_say.
-- p_principal, p_key, p_digest: whose key is spent on this report (R6); no key, no row.
-- p_spare: ids for what this step may have to make (capture or void, reconciliation item).
-- The answer's detail is the advice; code 'result-conflict' comes with its reconciliation item committed.
-- p_card_fingerprint: the provider's name for the card, the same for each use of one card; tickets by card are limited (R8).
-- p_expires: when an authorization ends; NULL: its provider does not say, see authorization_lasts.
DROP FUNCTION IF EXISTS record_result(
    uuid, uuid, text, bigint, text, text, text, text, jsonb, text, uuid[], text, text, bytea);
DROP FUNCTION IF EXISTS record_result(
    uuid, uuid, text, bigint, text, text, text, text, jsonb, text, uuid[], text, text, bytea, text);
CREATE OR REPLACE FUNCTION record_result(
    p_operation uuid, p_device uuid, p_outcome text, p_amount bigint, p_ref text, p_decline_code text,
    p_card_brand text, p_next_action text, p_evidence jsonb, p_source text, p_spare uuid[],
    p_principal text DEFAULT NULL, p_key text DEFAULT NULL, p_digest bytea DEFAULT NULL,
    p_card_fingerprint text DEFAULT '', p_expires timestamptz DEFAULT NULL
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_result(p_principal, p_key, p_digest, p_operation);
    v_op     payment_operations;
    v_heard  record;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation;
    IF NOT FOUND THEN
        RETURN refused('operation-not-found');
    ELSIF NOT may_say(v_op, p_device, p_source) THEN
        RETURN refused('operation-not-yours');
    END IF;
    IF v_op.kind IN ('authorize', 'sale', 'cash') THEN
        PERFORM lock_account(o.event_id, o.principal) FROM orders o WHERE o.order_id = v_op.order_id;
        PERFORM lock_sale(v_op.order_id);
    ELSIF v_op.money_back_id IS NOT NULL OR v_op.kind = 'void' THEN  -- a void decides about the capture that waits for it
        PERFORM lock_order_for_money(v_op.order_id);
    END IF;
    PERFORM FROM payment_operations p WHERE p.operation_id = p_operation FOR NO KEY UPDATE;
    SELECT * INTO v_heard FROM hear_result(
        p_operation, p_device, p_outcome, p_amount, p_ref, p_decline_code, p_card_brand, p_next_action, p_evidence,
        p_source, p_spare, p_principal, p_key, p_digest, p_card_fingerprint, p_expires);
    IF (v_heard.paid).operation_id IS NOT NULL THEN
        PERFORM settle_paid(ARRAY[v_heard.paid], p_spare[1:1], (v_heard.paid).updated_at);
    END IF;
    RETURN v_heard.answer;
END $$;

-- Record a result, all but one thing: a success that pays its order is checked here and returned as `paid`, the operation as
-- it has to be; the caller writes it with `settle_paid`, alone or with others. Until then no other result of that order,
-- account or card may be heard: it would be checked against counts that are behind. Caller: for a charge the account and
-- lock_sale, for a void and for what an act of money back opened lock_order_for_money, then the operation.
DROP FUNCTION IF EXISTS hear_result(
    uuid, uuid, text, bigint, text, text, text, text, jsonb, text, uuid[], text, text, bytea, text);
CREATE OR REPLACE FUNCTION hear_result(
    p_operation uuid, p_device uuid, p_outcome text, p_amount bigint, p_ref text, p_decline_code text,
    p_card_brand text, p_next_action text, p_evidence jsonb, p_source text, p_spare uuid[],
    p_principal text, p_key text, p_digest bytea, p_card_fingerprint text, p_expires timestamptz,
    OUT answer sale_answer, OUT paid payment_operations
) LANGUAGE plpgsql AS $$
DECLARE
    v_op    payment_operations;
    v_order orders;
    v_now   timestamptz;
BEGIN
    IF p_key IS NOT NULL THEN
        answer := seen_result(p_principal, p_key, p_digest, p_operation);
        IF answer.code IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_operation;
    IF NOT FOUND THEN
        answer := refused('operation-not-found');
        RETURN;
    ELSIF NOT may_say(v_op, p_device, p_source)
       OR p_source = 'authority' AND NOT (v_op.status = 'CREATED' AND p_outcome = 'declined'
                                          AND (v_op.kind = 'authorize' OR coalesce(v_op.expires_at <= booking_now(), false))) THEN
        answer := refused('operation-not-yours');
        RETURN;
    END IF;
    v_now := booking_now();
    IF p_evidence <> '[]' THEN
        PERFORM note_evidence(p_operation, p_evidence, p_source);
    ELSIF p_source LIKE 'supervisor:%' THEN  -- his word is all there is: it stands there by his name
        PERFORM note_evidence(p_operation, jsonb_build_array(jsonb_build_object(
            'at', v_now, 'direction', 'said', 'body', p_outcome)), p_source);
    END IF;
    IF v_op.status IN ('SUCCEEDED', 'DECLINED') THEN
        answer := answer_again(v_op, p_outcome, p_amount, p_ref, p_source, p_spare, v_now);
        PERFORM spend_key(p_principal, 'results', p_key, p_digest, p_operation, p_operation, v_now, answer.code);
        RETURN;
    END IF;
    v_op.provider_ref := coalesce(nullif(p_ref, ''), v_op.provider_ref);
    v_op.card_brand := coalesce(nullif(p_card_brand, ''), v_op.card_brand);
    v_op.card_fingerprint := coalesce(nullif(p_card_fingerprint, ''), v_op.card_fingerprint);
    v_op.next_action := p_next_action;
    v_op.updated_at := v_now;
    IF v_op.kind IN ('authorize', 'sale', 'cash') THEN
        SELECT * INTO v_order FROM orders o WHERE o.order_id = v_op.order_id;
    END IF;
    IF p_outcome = 'succeeded' AND p_amount = v_op.amount_minor THEN
        v_op.decided_by := p_source;
        IF v_op.kind = 'authorize' THEN
            v_op.expires_at := coalesce(p_expires, v_now + authorization_lasts(v_op.provider));
        END IF;
        paid := after_success(v_op, v_order, p_spare, v_now);
    ELSE
        PERFORM note_no_success(v_op, v_order, p_outcome, p_amount, p_decline_code, p_source, p_spare, v_now);
    END IF;
    IF p_key IS NOT NULL THEN
        PERFORM spend_key(p_principal, 'results', p_key, p_digest, p_operation, p_operation, v_now);
    END IF;
    answer := ROW ('', p_operation, false,
                   CASE WHEN paid.operation_id IS NULL THEN advice_of(p_operation) ELSE 'goods-issued' END, NULL);
END $$;

-- How long an authorization lasts where its provider does not say: card schemes let go after seven days (P26).
CREATE OR REPLACE FUNCTION authorization_lasts(p_provider text) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_provider WHEN 'stripe-terminal' THEN interval '2 days' ELSE interval '7 days' END
$$;

-- Whatever is said but a success in full. Caller: hear_result.
CREATE OR REPLACE FUNCTION note_no_success(
    p_op payment_operations, p_order orders, p_outcome text, p_amount bigint, p_decline_code text, p_source text,
    p_spare uuid[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_operations p
       SET provider_ref = p_op.provider_ref, card_brand = p_op.card_brand, card_fingerprint = p_op.card_fingerprint,
           next_action = p_op.next_action, updated_at = p_now
     WHERE p.operation_id = p_op.operation_id;
    IF p_outcome = 'succeeded' THEN
        PERFORM keep_unknown(p_op, p_now);
        PERFORM open_item(p_spare[2], 'amount-mismatch', p_op,
                          jsonb_build_object('amount_minor', p_op.amount_minor, 'reported_minor', p_amount,
                                             'provider_ref', p_op.provider_ref, 'source', p_source), p_now);
    ELSIF p_outcome = 'unknown' THEN
        PERFORM keep_unknown(p_op, p_now);
    ELSIF p_outcome = 'action_required' THEN
        UPDATE payment_operations p SET status = 'ACTION_REQUIRED', next_attempt_at = p_now + interval '30 s'
         WHERE p.operation_id = p_op.operation_id;
    ELSE
        UPDATE payment_operations p
           SET status = 'DECLINED', decline_code = p_decline_code, decided_by = p_source, next_attempt_at = NULL
         WHERE p.operation_id = p_op.operation_id;
        PERFORM after_decline(p_op, p_order, p_decline_code, p_source, p_spare[2], p_now);
    END IF;
END $$;

-- Who may say what became of an operation (R24–R27): a device of the sale that it opened itself, and of money that it gives back
-- at its terminal or out of its drawer; a provider of its own operations, the authority of what was never sent (checked under the lock), a supervisor with evidence of all but cash.
CREATE OR REPLACE FUNCTION may_say(p_op payment_operations, p_device uuid, p_source text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_op.kind = 'cash' THEN false
        WHEN p_device IS NOT NULL
            THEN (p_op.kind = 'sale' OR p_op.at_till) AND p_op.device_id IS NOT DISTINCT FROM p_device
                 AND p_source = 'device:' || p_device
        WHEN p_source LIKE 'supervisor:_%' THEN true
        WHEN p_op.kind = 'sale' OR p_op.at_till THEN false
        ELSE p_source IN ('provider:' || p_op.provider, 'authority') END
$$;

-- What a key of a report answered before: the code of then, the advice of now.
CREATE OR REPLACE FUNCTION seen_result(p_principal text, p_key text, p_digest bytea, p_operation uuid)
RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'results', p_key, p_digest, p_operation);
BEGIN
    IF v_answer.code = '' THEN
        v_answer.detail := advice_of(p_operation);
    END IF;
    RETURN v_answer;
END $$;

-- What a till is told: goods only when this operation paid its order, or a part of it that is kept; else take the money back. It
-- answers a success alone: after an unknown report it means "no goods", and there is nothing that could be taken back. Money
-- that went back at the terminal stays back.
CREATE OR REPLACE FUNCTION advice_of(p_operation uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p.advice IN ('part', 'goods-issued') OR p.at_till AND p.status = 'SUCCEEDED' THEN 'goods-issued'
                ELSE 'reverse' END
      FROM payment_operations p WHERE p.operation_id = p_operation
$$;

-- What was asked and answered, oldest first. Of what a driver of ours writes down the pauses are kept and not the instants, which are
-- its host's: the last entry is dated now. A till's own clock is evidence of its own.
CREATE OR REPLACE FUNCTION note_evidence(p_operation uuid, p_evidence jsonb, p_source text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO operation_evidence (operation_id, at, source, direction, body)
    SELECT p_operation, CASE WHEN p_source LIKE 'provider:%' THEN n.now - (max(e.at) OVER () - e.at) ELSE e.at END, p_source,
           e.value ->> 'direction', e.value ->> 'body'
      FROM (SELECT booking_now() AS now OFFSET 0) n
     CROSS JOIN (SELECT j.value, j.n, (j.value ->> 'at')::timestamptz AS at
                   FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS j (value, n)) e
     ORDER BY e.n
$$;

-- A till did what it was advised to: the terminal has taken its sale back (R25). That is a void of its own beside the sale,
-- which stays SUCCEEDED, and the end of the item that waited for it. Said again it changes nothing.
CREATE OR REPLACE FUNCTION note_reversal(
    p_op payment_operations, p_ref text, p_source text, p_void uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, amount_minor, currency, decided_by,
                                    created_at, updated_at)
    VALUES (p_void, p_op.order_id, p_op.event_id, p_op.operation_id, p_op.part, 'void', 'SUCCEEDED', p_op.provider,
            p_op.principal, p_op.device_id, p_void::text, p_ref, p_op.amount_minor, p_op.currency, p_source, p_now, p_now)
        ON CONFLICT (parent_id, kind) WHERE kind IN ('capture', 'void') AND status <> 'DECLINED' DO NOTHING;
    UPDATE payment_operations p SET next_attempt_at = NULL WHERE p.operation_id = p_op.operation_id;
    PERFORM resolve_items(p_op.operation_id, 'paid-not-confirmed', p_source, 'reversed at the terminal', p_now);
    PERFORM resolve_items(p_op.operation_id, 'reversal-overdue', p_source, 'reversed at the terminal', p_now);
END $$;

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
    ELSIF p_outcome = 'declined' AND p_op.kind = 'sale' AND p_op.advice = 'reverse' AND NOT EXISTS (
            SELECT FROM follow_ups_of(p_op.operation_id) b WHERE b.kind = 'refund') THEN
        PERFORM note_reversal(p_op, p_ref, p_source, p_spare[1], p_now);
        RETURN ROW ('', p_op.operation_id, false, 'reverse', NULL)::sale_answer;
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
           next_attempt_at = CASE WHEN p.kind = 'sale' OR p.at_till THEN p_now + interval '5 min'
               ELSE p_now + spread(least(300, 2 * 2 ^ least(p.attempts, 7))) END
     WHERE p.operation_id = p_op.operation_id;
    IF p_op.kind IN ('authorize', 'sale') AND NOT p_op.void_requested THEN
        UPDATE orders o SET status = 'RECONCILING' WHERE o.order_id = p_op.order_id AND o.status = 'PENDING';
    END IF;
END $$;

-- A charge that is not wanted any more leaves its order alone: what became of that is decided by the payment in its place.
DROP FUNCTION IF EXISTS after_decline(payment_operations, orders, text, uuid, timestamptz);
CREATE OR REPLACE FUNCTION after_decline(
    p_op payment_operations, p_order orders, p_code text, p_source text, p_item uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_op.kind IN ('void', 'refund') THEN
        PERFORM after_money_back_refused(p_op, p_code, p_source, p_item, p_now);
    ELSIF p_op.kind = 'capture' THEN
        PERFORM open_item(p_item, 'capture-failed', p_op, jsonb_build_object('decline_code', p_code), p_now);
    ELSIF NOT p_op.void_requested AND NOT has_live_charge(p_op.order_id) THEN
        PERFORM after_no_charge(p_order, p_now);
    END IF;
END $$;

-- Money is authorized or booked (or given back, or captured): what is now to be written about the operation. A charge that
-- pays its order, or the last part of it, is returned, checked and not written; an earlier part is kept. One that may not pay is
-- given back, and a person is told (R22, R25), except where it was given up before: then that is no news.
DROP FUNCTION IF EXISTS after_success(payment_operations, orders, bigint, uuid[], text, timestamptz);
CREATE OR REPLACE FUNCTION after_success(p_op payment_operations, p_order orders, p_spare uuid[], p_now timestamptz)
RETURNS payment_operations LANGUAGE plpgsql AS $$
DECLARE
    v_charge CONSTANT boolean := p_op.kind IN ('authorize', 'sale');
    v_part   boolean := p_op.spare_ids IS NOT NULL;
    v_taken  bigint := 0;
    v_why    text := '';
BEGIN
    IF v_charge THEN
        IF p_op.part > 1 THEN
            SELECT t.minor INTO v_taken FROM taken_by_parts(p_op.order_id) t;
        END IF;
        v_part := v_part AND v_taken + p_op.amount_minor < p_order.amount_minor;
        v_why := CASE WHEN p_op.void_requested THEN 'void-requested'
                      WHEN v_part THEN why_not_confirm(p_order, p_order.amount_minor)
                      ELSE why_not_confirm(p_order, v_taken + p_op.amount_minor) END;
        IF v_why = '' AND NOT v_part AND p_op.part > 1 AND NOT may_cards_of_parts_take(p_op.order_id)
           OR v_why = '' AND p_op.card_fingerprint <> ''
           AND NOT may_card_take(p_op.event_id, card_of(p_op), tickets_of_order(p_op.order_id)) THEN
            v_why := 'card-limit';
        END IF;
        IF v_why = '' AND NOT v_part THEN
            RETURN p_op;
        END IF;
    END IF;
    UPDATE payment_operations p
       SET status = 'SUCCEEDED', decided_by = p_op.decided_by, next_action = '', expires_at = p_op.expires_at,
           -- A till is expected to reverse what came too late; see note_silent_devices.
           next_attempt_at = CASE WHEN p_op.kind = 'sale' AND p_op.void_requested THEN p_now + interval '5 min' END,
           provider_ref = p_op.provider_ref, card_brand = p_op.card_brand, card_fingerprint = p_op.card_fingerprint,
           advice = CASE WHEN NOT v_charge THEN p.advice WHEN v_why = '' THEN 'part' ELSE 'reverse' END,
           decline_code = CASE v_why WHEN 'card-limit' THEN v_why ELSE p.decline_code END, updated_at = p_now
     WHERE p.operation_id = p_op.operation_id;
    IF p_op.kind = 'capture' THEN
        PERFORM resolve_items(p_op.operation_id, 'capture-overdue', p_op.decided_by, 'captured', p_now);
    ELSIF p_op.kind IN ('void', 'refund') THEN
        PERFORM after_money_back(p_op, p_spare[2], p_now);
    ELSIF v_charge AND v_why = '' THEN
        UPDATE orders o SET status = 'PENDING' WHERE o.order_id = p_op.order_id AND o.status = 'RECONCILING';
    ELSIF v_charge THEN
        IF p_op.kind = 'authorize' THEN
            PERFORM open_follow_up(p_op, 'void', p_op.amount_minor, p_spare[1], p_now);
        END IF;
        IF p_op.void_requested THEN
            RETURN NULL;
        END IF;
        PERFORM open_item(p_spare[2], 'paid-not-confirmed', p_op, jsonb_build_object('why', v_why), p_now);
        IF p_order.status IN ('PENDING', 'RECONCILING') THEN
            PERFORM end_sale(p_order, 'CANCELLED', 'RELEASED', v_why, p_now);
        END IF;
    END IF;
    RETURN NULL;
END $$;

-- Write charges that pay their orders: SUCCEEDED, the orders confirmed, counted to the cards, captures opened. One statement
-- for each table. p_captures: an id for each, used where the money is only authorized. Caller: hear_result said `paid`.
CREATE OR REPLACE FUNCTION settle_paid(p_paid payment_operations[], p_captures uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_orders uuid[] := ARRAY(SELECT n.order_id FROM unnest(p_paid) AS n);
BEGIN
    PERFORM confirm_sales(v_orders, p_now);
    PERFORM count_to_card(n.event_id, card_of(n), tickets_of_order(n.order_id))
       FROM unnest(p_paid) AS n WHERE n.card_fingerprint <> '' ORDER BY n.event_id, card_of(n);
    UPDATE payment_operations p
       SET status = 'SUCCEEDED', advice = 'goods-issued', decided_by = n.decided_by, provider_ref = n.provider_ref,
           card_brand = n.card_brand, card_fingerprint = n.card_fingerprint, expires_at = n.expires_at, next_action = '',
           next_attempt_at = NULL, updated_at = p_now
      FROM unnest(p_paid) AS n WHERE p.operation_id = n.operation_id;
    PERFORM open_follow_ups(array_agg(n.operation_id), 'capture', array_agg(n.amount_minor),
                            array_agg(p_captures[n.ordinality]), p_now)
       FROM unnest(p_paid) WITH ORDINALITY AS n WHERE n.kind = 'authorize' HAVING count(*) > 0;
    PERFORM settle_parts(array_agg(n.order_id), p_now) FROM unnest(p_paid) AS n WHERE n.part > 1 HAVING count(*) > 0;
END $$;

-- Captures or voids of charges: once for each, driven by the worker (and at once by whoever settled the charge). p_again: after
-- one that was refused, because a person wants it.
DROP FUNCTION IF EXISTS open_follow_ups(uuid[], text, bigint[], uuid[], timestamptz);
CREATE OR REPLACE FUNCTION open_follow_ups(
    p_charges uuid[], p_kind text, p_amounts bigint[], p_ids uuid[], p_now timestamptz, p_again boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment_operations (operation_id, order_id, event_id, parent_id, part, kind, status, provider, principal,
                                    device_id, idempotency_key, provider_ref, payment_method, amount_minor, currency,
                                    expires_at, next_attempt_at, created_at, updated_at)
    SELECT w.id, p.order_id, p.event_id, p.operation_id, p.part, p_kind, 'CREATED', p.provider, p.principal,
           p.device_id, w.id::text, p.provider_ref, p.payment_method, w.amount, p.currency,
           CASE p_kind WHEN 'capture' THEN p.expires_at END, p_now + interval '2 s', p_now, p_now
      FROM unnest(p_charges, p_amounts, p_ids) AS w (charge, amount, id)
      JOIN payment_operations p ON p.operation_id = w.charge
     WHERE p_again OR p_kind = 'capture'
        OR NOT EXISTS (SELECT FROM payment_operations c
                        WHERE c.order_id = p.order_id AND c.parent_id = w.charge AND c.kind = p_kind)
     ORDER BY w.charge
        ON CONFLICT (parent_id, kind) WHERE kind IN ('capture', 'void') AND status <> 'DECLINED' DO NOTHING;
END $$;

CREATE OR REPLACE FUNCTION open_follow_up(
    p_op payment_operations, p_kind text, p_amount bigint, p_id uuid, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM open_follow_ups(ARRAY[p_op.operation_id], p_kind, ARRAY[p_amount], ARRAY[p_id], p_now);
END $$;

-- Whether the money of a confirmed order was refused for good at its capture, and no supervisor has settled that (R25).
CREATE OR REPLACE FUNCTION is_compensation_due(p_order uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM payment_operations p JOIN reconciliation_items i USING (operation_id)
                    WHERE p.order_id = p_order AND i.kind = 'capture-failed' AND i.resolved_at IS NULL)
$$;

-- The tickets of an order wait for the end of its compensation. Whoever resolves the item announces the order in the same
-- transaction: the issuer must not depend on a caller who remembers it.
CREATE OR REPLACE FUNCTION announce_settled_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (event_id, type, aggregate_id, created_at)
    VALUES (NEW.event_id, 'order-settled', NEW.order_id, NEW.resolved_at);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER announce_settled_order AFTER UPDATE OF resolved_at ON reconciliation_items
    FOR EACH ROW WHEN (NEW.kind = 'capture-failed' AND OLD.resolved_at IS NULL AND NEW.resolved_at IS NOT NULL)
    EXECUTE FUNCTION announce_settled_order();
