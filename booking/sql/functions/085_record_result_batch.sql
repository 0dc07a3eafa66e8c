-- Many results recorded (and sales confirmed) in one transaction: as check_out_batch, each is `record_result`. Locked are
-- the sales of the charges among them, and then the operations. p_requests: the arguments of `record_result`. Cards are locked
-- in their order: who reports a card has no key, who has a key reports no card.
CREATE OR REPLACE FUNCTION record_result_batch(p_requests jsonb, p_wait boolean)
RETURNS TABLE (
    request integer, code text, result_id uuid, replayed boolean, detail text, seats integer[], picture text
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_busy     uuid[] := '{}';
    v_answers  sale_answer[];
    v_ask      record;
    v_heard    record;
    v_paid     payment_operations[] := '{}';
    v_captures uuid[] := '{}';
    v_behind   text[] := '{}';  -- orders, accounts and cards whose counts are behind until v_paid is written
BEGIN
    IF NOT p_wait THEN
        v_busy := busy_operations(ARRAY(SELECT (q ->> 'operation_id')::uuid FROM jsonb_array_elements(p_requests) AS q));
    END IF;
    FOR v_ask IN
        SELECT q.*, names.touched
          FROM ROWS FROM (jsonb_to_recordset(p_requests) AS (
                   operation_id uuid, device_id uuid, outcome text, amount bigint, provider_ref text, decline_code text,
                   card_brand text, next_action text, evidence jsonb, source text, spare uuid[],
                   principal text, key text, digest bytea, card_fingerprint text, expires_at timestamptz
               )) WITH ORDINALITY AS q (
                   operation_id, device_id, outcome, amount, provider_ref, decline_code,
                   card_brand, next_action, evidence, source, spare, principal, key, digest, card_fingerprint, expires_at, r)
          LEFT JOIN LATERAL (
               -- A till's account has no limit that a confirmation looks at.
               SELECT ARRAY[o.order_id::text, CASE o.channel WHEN 'online' THEN o.event_id || ' ' || o.principal END,
                            o.event_id || ' ' || p.provider || ':'
                            || coalesce(nullif(q.card_fingerprint, ''), nullif(p.card_fingerprint, ''))]
                      || CASE WHEN p.part > 1 THEN cards_of_parts(p.order_id) END AS touched
                 FROM (SELECT * FROM payment_operations p WHERE p.operation_id = q.operation_id OFFSET 0) p
                CROSS JOIN LATERAL (SELECT * FROM orders o WHERE o.order_id = p.order_id OFFSET 0) o
                OFFSET 0) names ON true
         ORDER BY q.card_fingerprint, q.principal, q.key, q.operation_id
    LOOP
        IF v_ask.operation_id = ANY (v_busy) THEN
            v_answers[v_ask.r] := seen_result(v_ask.principal, v_ask.key, v_ask.digest, v_ask.operation_id);
            IF (v_answers[v_ask.r]).code IS NULL THEN
                v_answers[v_ask.r] := refused('slow');
            END IF;
        ELSIF p_wait THEN
            v_answers[v_ask.r] := record_result(
                v_ask.operation_id, v_ask.device_id, v_ask.outcome, v_ask.amount, v_ask.provider_ref,
                v_ask.decline_code, v_ask.card_brand, v_ask.next_action, v_ask.evidence, v_ask.source, v_ask.spare,
                v_ask.principal, v_ask.key, v_ask.digest, coalesce(v_ask.card_fingerprint, ''), v_ask.expires_at);
        ELSE
            IF v_ask.touched && v_behind THEN
                PERFORM settle_paid(v_paid, v_captures, booking_now());
                v_paid := '{}';
                v_captures := '{}';
                v_behind := '{}';
            END IF;
            SELECT * INTO v_heard FROM hear_result(
                v_ask.operation_id, v_ask.device_id, v_ask.outcome, v_ask.amount, v_ask.provider_ref,
                v_ask.decline_code, v_ask.card_brand, v_ask.next_action, v_ask.evidence, v_ask.source, v_ask.spare,
                v_ask.principal, v_ask.key, v_ask.digest, coalesce(v_ask.card_fingerprint, ''), v_ask.expires_at);
            v_answers[v_ask.r] := v_heard.answer;
            IF (v_heard.paid).operation_id IS NOT NULL THEN
                v_paid := v_paid || v_heard.paid;
                v_captures := v_captures || v_ask.spare[1];
                v_behind := v_behind || v_ask.touched;
            END IF;
        END IF;
    END LOOP;
    IF v_paid <> '{}' THEN
        PERFORM settle_paid(v_paid, v_captures, booking_now());
    END IF;
    RETURN QUERY
    SELECT a.r::integer, a.code, a.result_id, coalesce(a.replayed, false), coalesce(a.detail, ''), a.seats, o.picture
      FROM unnest(v_answers) WITH ORDINALITY AS a (code, result_id, replayed, detail, seats, r)
      LEFT JOIN LATERAL (
           SELECT j.picture
             FROM (SELECT p.order_id FROM payment_operations p WHERE p.operation_id = a.result_id OFFSET 0) p
            CROSS JOIN LATERAL (SELECT * FROM orders_as_json(ARRAY[p.order_id])) j
            WHERE a.code = '' OFFSET 0) o ON true
     ORDER BY a.r;
END $$;

-- Lock operations, and for charges their sales before them. Returns the operations that somebody else has; and voids and those of
-- an act that gives money back, which may decide about a capture, tickets and seats: each alone, under the locks of its order.
CREATE OR REPLACE FUNCTION busy_operations(p_operations uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_busy uuid[];
    v_mine uuid[];
BEGIN
    v_busy := busy_sales(ARRAY(SELECT p.order_id FROM payment_operations p
                                WHERE p.operation_id = ANY (p_operations) AND p.kind IN ('authorize', 'sale', 'cash')));
    SELECT array_agg(k.operation_id) INTO v_mine
      FROM (SELECT p.operation_id FROM payment_operations p
             WHERE p.operation_id = ANY (p_operations) AND NOT p.order_id = ANY (v_busy) AND p.money_back_id IS NULL
               AND p.kind <> 'void'
             ORDER BY p.operation_id FOR NO KEY UPDATE SKIP LOCKED) k;
    RETURN ARRAY(SELECT p.operation_id FROM payment_operations p
                  WHERE p.operation_id = ANY (p_operations) AND NOT p.operation_id = ANY (coalesce(v_mine, '{}')));
END $$;
