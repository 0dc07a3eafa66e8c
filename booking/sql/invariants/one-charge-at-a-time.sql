-- R24: never a second charge while the first may have taken money.
SELECT format('part %s of order %s has %s charges that may take money', p.part, p.order_id, count(*)) AS detail
  FROM payment_operations p
 WHERE p.kind IN ('authorize', 'sale', 'cash') AND p.status <> 'DECLINED' AND NOT p.void_requested
 GROUP BY p.order_id, p.part HAVING count(*) > 1
