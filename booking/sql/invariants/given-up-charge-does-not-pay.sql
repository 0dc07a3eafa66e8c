-- R24: a charge that was given up pays nothing any more; its success is on its way back, or a till is expected to reverse it.
SELECT format('%s %s was given up and pays its order %s', p.kind, p.operation_id, p.order_id) AS detail
  FROM payment_operations p
 WHERE p.kind IN ('authorize', 'sale', 'cash') AND p.void_requested AND p.advice IN ('part', 'goods-issued')
