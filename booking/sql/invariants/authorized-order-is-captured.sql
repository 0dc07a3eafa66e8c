-- R22: what was authorized and confirmed has its capture on record; it is never voided as well.
SELECT format('authorization %s of confirmed order %s has no capture', p.operation_id, p.order_id) AS detail
  FROM payment_operations p
 WHERE p.kind = 'authorize' AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued'
   AND NOT EXISTS (SELECT FROM payment_operations c WHERE c.parent_id = p.operation_id AND c.kind = 'capture')
UNION ALL
SELECT format('charge %s is captured and voided', p.operation_id)
  FROM payment_operations p
 WHERE EXISTS (SELECT FROM payment_operations c
                WHERE c.parent_id = p.operation_id AND c.kind = 'capture' AND c.status = 'SUCCEEDED')
   AND EXISTS (SELECT FROM payment_operations v
                WHERE v.parent_id = p.operation_id AND v.kind = 'void' AND v.status = 'SUCCEEDED')
