-- Many operations marked as sent in one transaction: as mark_sent, each for one driver, committed before any provider is asked. An
-- operation that somebody else has locked is not answered: it waits alone.
CREATE OR REPLACE FUNCTION mark_sent_batch(p_operations uuid[]) RETURNS TABLE (operation_id uuid, sent boolean) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_mine uuid[];
    v_sent uuid[];
BEGIN
    SELECT coalesce(array_agg(k.operation_id), '{}') INTO v_mine
      FROM (SELECT p.operation_id FROM payment_operations p WHERE p.operation_id = ANY (p_operations)
             ORDER BY p.operation_id FOR NO KEY UPDATE SKIP LOCKED) k;
    v_sent := mark_locked_as_sent(v_mine);
    RETURN QUERY SELECT m.id, m.id = ANY (v_sent) FROM unnest(v_mine) AS m (id);
END $$;
