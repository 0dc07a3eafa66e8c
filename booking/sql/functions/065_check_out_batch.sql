-- Many checkouts in one transaction: each is `check_out`, called once all locks of all of them are ours, so that none of
-- them waits inside. p_requests is an array of objects with the arguments of `check_out`. code 'slow': somebody holds a
-- lock that this request needs, and its key is new; with p_wait (one request, alone) it waits instead.
-- Replays come first: who cannot have the locks has the key looked up. An error undoes the batch: each then runs alone.
-- Keys are spent in their order, so that two batches that meet in keys cannot wait for each other in a circle.
-- `picture`: the order as it stands at the end of the transaction, for the answer.
CREATE OR REPLACE FUNCTION check_out_batch(p_requests jsonb, p_wait boolean)
RETURNS TABLE (
    request integer, code text, result_id uuid, replayed boolean, detail text, seats integer[], picture text
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_busy    uuid[] := '{}';
    v_answers sale_answer[];
    v_ask     record;
BEGIN
    IF NOT p_wait THEN
        v_busy := busy_holds(ARRAY(SELECT (q ->> 'hold_id')::uuid FROM jsonb_array_elements(p_requests) AS q));
    END IF;
    FOR v_ask IN
        SELECT q.*
          FROM ROWS FROM (jsonb_to_recordset(p_requests) AS (
                   principal text, acts_for_all boolean, hold_id uuid, order_id uuid, number text, staff_id uuid,
                   seats integer[], price_types integer[], shown_total bigint, key text, digest bytea,
                   tiers integer[], tier_types integer[], quantities integer[]
               )) WITH ORDINALITY AS q (
                   principal, acts_for_all, hold_id, order_id, number, staff_id,
                   seats, price_types, shown_total, key, digest, tiers, tier_types, quantities, r)
         ORDER BY q.principal, q.key
    LOOP
        IF v_ask.hold_id = ANY (v_busy) THEN
            v_answers[v_ask.r] := seen_or_slow(v_ask.principal, 'checkout', v_ask.key, v_ask.digest, v_ask.hold_id);
        ELSE
            v_answers[v_ask.r] := check_out(
                v_ask.principal, v_ask.acts_for_all, v_ask.hold_id, v_ask.order_id, v_ask.number, v_ask.staff_id,
                v_ask.seats, v_ask.price_types, v_ask.shown_total, v_ask.key, v_ask.digest,
                coalesce(v_ask.tiers, '{}'), coalesce(v_ask.tier_types, '{}'), coalesce(v_ask.quantities, '{}'), p_wait);
        END IF;
    END LOOP;
    RETURN QUERY
    SELECT a.r::integer, a.code, a.result_id, coalesce(a.replayed, false), coalesce(a.detail, ''), a.seats, o.picture
      FROM unnest(v_answers) WITH ORDINALITY AS a (code, result_id, replayed, detail, seats, r)
      LEFT JOIN LATERAL (SELECT * FROM orders_as_json(ARRAY[a.result_id]) WHERE a.code = '' OFFSET 0) o ON true
     ORDER BY a.r;
END $$;

-- What a key answered before, or 'slow' when it is new.
CREATE OR REPLACE FUNCTION seen_or_slow(p_principal text, p_route text, p_key text, p_digest bytea, p_subject uuid)
RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, p_route, p_key, p_digest, p_subject);
BEGIN
    IF v_answer.code IS NULL THEN
        RETURN refused('slow');
    END IF;
    RETURN v_answer;
END $$;
