-- R25: a confirmed order whose capture failed, or is open for more than an hour, has an open item for a supervisor; once
-- he has settled a failed capture, the item says how.
SELECT format('capture %s of confirmed order %s is %s since %s, and nobody was told', p.operation_id, p.order_id, p.status,
              p.created_at) AS detail
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.kind = 'capture' AND o.status = 'CONFIRMED'
   AND NOT p.void_requested  -- parked-capture-has-its-void
   AND NOT (p.status = 'DECLINED' AND p.decline_code = 'voided')
   AND (p.status = 'DECLINED' OR p.status <> 'SUCCEEDED' AND p.created_at < booking_now() - interval '1 hour')
   AND NOT EXISTS (SELECT FROM reconciliation_items i
                    WHERE i.operation_id = p.operation_id
                      AND (i.resolved_at IS NULL OR i.kind = 'capture-failed' AND i.resolution <> ''))
