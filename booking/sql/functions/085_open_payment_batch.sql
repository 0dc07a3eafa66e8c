-- Many payments opened in one transaction: as check_out_batch, each is `open_payment`. They are decided one by one and written
-- together, or before the next payment of the same order or account is decided.
CREATE OR REPLACE FUNCTION open_payment_batch(p_requests jsonb, p_wait boolean)
RETURNS TABLE (
    request integer, code text, result_id uuid, replayed boolean, detail text, seats integer[], picture text
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_busy    uuid[] := '{}';
    v_orders  uuid[];
    v_answers sale_answer[];
    v_ask     record;
    v_opened  record;
    v_new     payment_operations[] := '{}';
    v_behind  text[] := '{}';  -- orders, accounts and cards whose counts are behind until v_new is written
BEGIN
    v_orders := ARRAY(SELECT (q.value ->> 'order_id')::uuid
                        FROM jsonb_array_elements(p_requests) WITH ORDINALITY AS q (value, r) ORDER BY q.r);
    IF NOT p_wait THEN
        v_busy := busy_sales(v_orders);
    END IF;
    FOR v_ask IN
        SELECT q.*, ARRAY[o.order_id::text, CASE o.channel WHEN 'online' THEN o.event_id || ' ' || o.principal END]
                    || CASE WHEN q.kind = 'cash' THEN cards_of_parts(o.order_id) END AS touched
          FROM ROWS FROM (jsonb_to_recordset(p_requests) AS (
                   principal text, acts_for_all boolean, order_id uuid, operation_id uuid, kind text, provider text,
                   device_id uuid, amount bigint, tendered bigint, payment_method text, key text, digest bytea,
                   in_parts boolean, instead_of uuid, spare uuid[], countable text
               )) WITH ORDINALITY AS q (
                   principal, acts_for_all, order_id, operation_id, kind, provider,
                   device_id, amount, tendered, payment_method, key, digest, in_parts, instead_of, spare, countable, r)
          LEFT JOIN LATERAL (SELECT * FROM orders o WHERE o.order_id = q.order_id OFFSET 0) o ON true
         ORDER BY q.principal, q.key
    LOOP
        IF v_ask.order_id = ANY (v_busy) THEN
            v_answers[v_ask.r] := seen_or_slow(v_ask.principal, 'payments', v_ask.key, v_ask.digest, v_ask.order_id);
        ELSIF p_wait THEN
            v_answers[v_ask.r] := open_payment(
                v_ask.principal, v_ask.acts_for_all, v_ask.order_id, v_ask.operation_id, v_ask.kind, v_ask.provider,
                v_ask.device_id, v_ask.amount, v_ask.tendered, v_ask.payment_method, v_ask.key, v_ask.digest, true,
                v_ask.in_parts, v_ask.instead_of, v_ask.spare, v_ask.countable);
        ELSE
            IF v_ask.touched && v_behind THEN
                PERFORM write_payments(v_new);
                v_new := '{}';
                v_behind := '{}';
            END IF;
            SELECT * INTO v_opened FROM decide_payment(
                v_ask.principal, v_ask.acts_for_all, v_ask.order_id, v_ask.operation_id, v_ask.kind, v_ask.provider,
                v_ask.device_id, v_ask.amount, v_ask.tendered, v_ask.payment_method, v_ask.key, v_ask.digest, false,
                v_ask.in_parts, v_ask.instead_of, v_ask.spare, v_ask.countable);
            v_answers[v_ask.r] := v_opened.answer;
            IF (v_opened.operation).operation_id IS NOT NULL THEN
                v_new := v_new || v_opened.operation;
                v_behind := v_behind || v_ask.touched;
            END IF;
        END IF;
    END LOOP;
    IF v_new <> '{}' THEN
        PERFORM write_payments(v_new);
    END IF;
    RETURN QUERY
    SELECT a.r::integer, a.code, a.result_id, coalesce(a.replayed, false), coalesce(a.detail, ''), a.seats, o.picture
      FROM unnest(v_answers) WITH ORDINALITY AS a (code, result_id, replayed, detail, seats, r)
      LEFT JOIN LATERAL (SELECT * FROM orders_as_json(ARRAY[v_orders[a.r]]) WHERE a.code = '' OFFSET 0) o ON true
     ORDER BY a.r;
END $$;
