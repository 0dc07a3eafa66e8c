-- R25: a capture is parked while a void of its charge is asked for, and for no other reason (P19).
SELECT format('capture %s of order %s is parked and no void of its charge is under way', k.operation_id, k.order_id) AS detail
  FROM payment_operations k
 WHERE k.kind = 'capture' AND k.void_requested AND k.status = 'CREATED'
   AND NOT EXISTS (SELECT FROM payment_operations v
                    WHERE v.parent_id = k.parent_id AND v.kind = 'void' AND v.status NOT IN ('SUCCEEDED', 'DECLINED'))
