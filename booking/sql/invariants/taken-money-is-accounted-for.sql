-- R25: money that paid no order, and is no part of one, is on its way back, or a supervisor has it. A till is expected to reverse
-- what came after it was given up; when it is silent a supervisor has it.
SELECT format('%s %s of %s succeeded, its order %s is %s', p.kind, p.operation_id, p.amount_minor, o.order_id, o.status)
       AS detail
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.kind IN ('authorize', 'sale', 'cash') AND p.status = 'SUCCEEDED' AND p.advice NOT IN ('goods-issued', 'part')
   AND NOT (p.kind = 'sale' AND p.void_requested AND p.next_attempt_at IS NOT NULL)
   AND NOT EXISTS (SELECT FROM payment_operations v WHERE v.parent_id = p.operation_id AND v.kind IN ('void', 'refund'))
   AND NOT EXISTS (SELECT FROM reconciliation_items i WHERE i.operation_id = p.operation_id)
