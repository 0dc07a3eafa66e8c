-- What retention may delete (R6, R13).

-- Whether a key that names these ids (a hold, an order, an operation; what it was about, and what it made) may be
-- forgotten: the order behind it, if there is one, has been over since before p_ended_before, and no money of it is open.
CREATE OR REPLACE FUNCTION is_key_forgettable(p_subject uuid, p_result uuid, p_ended_before timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM holds h WHERE h.hold_id IN (p_subject, p_result) AND h.ended_at IS NULL)
       AND NOT EXISTS (
            SELECT FROM orders o
             WHERE o.order_id IN (
                   SELECT id FROM unnest(ARRAY[p_subject, p_result]) AS named (id)
                   UNION SELECT p.order_id FROM payment_operations p WHERE p.operation_id IN (p_subject, p_result)
                   UNION SELECT oh.order_id FROM order_holds oh WHERE oh.hold_id IN (p_subject, p_result))
               AND (o.status IN ('PENDING', 'RECONCILING')
                    OR greatest(o.confirmed_at, o.ended_at) > p_ended_before
                    OR EXISTS (SELECT FROM payment_operations p
                                WHERE p.order_id = o.order_id AND p.status NOT IN ('SUCCEEDED', 'DECLINED'))
                    OR EXISTS (SELECT FROM reconciliation_items i
                                WHERE i.order_id = o.order_id AND i.resolved_at IS NULL)))
$$;
