-- R25: a void or refund gives money back that was taken: only its provider can refuse it, or a supervisor settle it.
SELECT format('%s %s of order %s was called off by "%s" (%s)', p.kind, p.operation_id, p.order_id, p.decided_by,
              p.decline_code) AS detail
  FROM payment_operations p
 WHERE p.kind IN ('void', 'refund') AND p.status = 'DECLINED' AND p.decided_by = 'authority'
