-- R24: nothing that was asked of a provider or a till waits for ever: it is due some time, or a person has it. A capture that is parked
-- waits for its void.
SELECT format('%s %s of order %s is %s since %s; it is not due, and nobody was told', p.kind, p.operation_id, p.order_id, p.status,
              p.updated_at) AS detail
  FROM payment_operations p
 WHERE p.status NOT IN ('SUCCEEDED', 'DECLINED') AND p.next_attempt_at IS NULL
   AND NOT (p.kind = 'capture' AND p.void_requested)
   AND NOT EXISTS (SELECT FROM reconciliation_items i WHERE i.operation_id = p.operation_id AND i.resolved_at IS NULL)
