-- Many checkouts in one transaction: each is `check_out`, called once all locks of all of them are ours, so that none of
-- them waits inside. p_requests is an array of objects with the arguments of `check_out`. code 'slow': somebody holds a
-- lock that this request needs, and its key is new; with p_wait (one request, alone) it waits instead.
-- Replays come first: who cannot have the locks has the key looked up. An error undoes the batch: each then runs alone.
-- Keys are spent in their order, so that two batches that meet in keys cannot wait for each other in a circle.
-- The orders of an event are decided one by one and written together, one statement for each table.
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
    v_made    record;
    v_sales   orders[] := '{}';
    v_holds   holds[] := '{}';
    v_lines   order_seats[] := '{}';
    v_event   integer;
    v_pending integer := 0;  -- seats of v_event that are decided and not written yet
    v_slot    integer;       -- the part of the cap that the batch has claimed for v_event
    v_room    integer;       -- and for how many more it has room: counted once, because the lock lets nobody else in
BEGIN
    IF NOT p_wait THEN
        v_busy := busy_holds(ARRAY(SELECT (q ->> 'hold_id')::uuid FROM jsonb_array_elements(p_requests) AS q));
    END IF;
    FOR v_ask IN
        SELECT q.*, h.event_id, h.places, cardinality(h.seats) AS wanted
          FROM ROWS FROM (jsonb_to_recordset(p_requests) AS (
                   principal text, acts_for_all boolean, hold_id uuid, order_id uuid, number text, staff_id uuid,
                   seats integer[], price_types integer[], shown_total bigint, key text, digest bytea,
                   tiers integer[], tier_types integer[], quantities integer[]
               )) WITH ORDINALITY AS q (
                   principal, acts_for_all, hold_id, order_id, number, staff_id,
                   seats, price_types, shown_total, key, digest, tiers, tier_types, quantities, r)
          LEFT JOIN LATERAL (SELECT * FROM holds h WHERE h.hold_id = q.hold_id OFFSET 0) h ON true
         ORDER BY h.event_id, q.principal, q.key
    LOOP
        IF v_ask.hold_id = ANY (v_busy) THEN
            v_answers[v_ask.r] := seen_or_slow(v_ask.principal, 'checkout', v_ask.key, v_ask.digest, v_ask.hold_id);
        ELSIF p_wait OR v_ask.places > 0 THEN
            PERFORM write_check_outs(v_sales, v_holds, v_lines) WHERE v_pending > 0;
            v_sales := '{}'; v_holds := '{}'; v_lines := '{}'; v_pending := 0; v_room := NULL;
            v_answers[v_ask.r] := check_out(
                v_ask.principal, v_ask.acts_for_all, v_ask.hold_id, v_ask.order_id, v_ask.number, v_ask.staff_id,
                v_ask.seats, v_ask.price_types, v_ask.shown_total, v_ask.key, v_ask.digest,
                coalesce(v_ask.tiers, '{}'), coalesce(v_ask.tier_types, '{}'), coalesce(v_ask.quantities, '{}'), p_wait);
        ELSE
            LOOP
                IF v_pending > 0 AND v_ask.event_id IS DISTINCT FROM v_event THEN
                    PERFORM write_check_outs(v_sales, v_holds, v_lines);
                    v_sales := '{}'; v_holds := '{}'; v_lines := '{}'; v_pending := 0;
                END IF;
                v_room := CASE WHEN v_ask.event_id = v_event THEN v_room END;
                v_event := v_ask.event_id;
                SELECT * INTO v_made FROM decide_check_out(
                    v_ask.principal, v_ask.acts_for_all, v_ask.hold_id, v_ask.order_id, v_ask.number, v_ask.staff_id,
                    v_ask.seats, v_ask.price_types, v_ask.shown_total, v_ask.key, v_ask.digest,
                    coalesce(v_ask.tiers, '{}'), coalesce(v_ask.tier_types, '{}'), coalesce(v_ask.quantities, '{}'),
                    p_wait, v_pending, CASE WHEN v_room >= v_ask.wanted THEN v_slot END);
                -- No part of the cap has room for all that is not written yet: for this one alone there may be.
                EXIT WHEN v_pending = 0 OR (v_made.answer).code NOT IN ('slow', 'paying-cap-reached');
                v_event := NULL;
            END LOOP;
            v_answers[v_ask.r] := v_made.answer;
            IF (v_made.sale).order_id IS NOT NULL THEN
                v_sales := v_sales || v_made.sale;
                v_holds := v_holds || v_made.hold;
                v_lines := v_lines || v_made.lines;
                v_pending := v_pending + v_ask.wanted;
                IF v_room >= v_ask.wanted THEN
                    v_room := v_room - v_ask.wanted;
                ELSE
                    v_slot := (v_made.hold).paying_slot;
                    v_room := room_in_slot(v_event, v_slot, (v_made.sale).created_at) - v_pending;
                END IF;
                PERFORM spend_key(v_ask.principal, 'checkout', v_ask.key, v_ask.digest, v_ask.hold_id, v_ask.order_id,
                                  (v_made.sale).created_at);
            END IF;
        END IF;
    END LOOP;
    PERFORM write_check_outs(v_sales, v_holds, v_lines) WHERE v_pending > 0;
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
