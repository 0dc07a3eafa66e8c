-- R25: what goes back of a charge, decided or not, is never more than it took (P18); and it is of a charge of the same order.
SELECT format('%s of order %s took %s, and %s of it goes back', c.operation_id, c.order_id,
              coalesce(k.amount_minor, c.amount_minor), sum(b.amount_minor)) AS detail
  FROM payment_operations c
  JOIN payment_operations b ON b.parent_id = c.operation_id AND b.kind IN ('void', 'refund') AND b.status <> 'DECLINED'
  LEFT JOIN payment_operations k ON k.parent_id = c.operation_id AND k.kind = 'capture' AND k.status = 'SUCCEEDED'
 WHERE c.status = 'SUCCEEDED'
 GROUP BY c.operation_id, k.operation_id HAVING sum(b.amount_minor) > coalesce(k.amount_minor, c.amount_minor)
UNION ALL
SELECT format('%s %s of order %s is of no charge of it that took money', b.kind, b.operation_id, b.order_id)
  FROM payment_operations b JOIN payment_operations c ON c.operation_id = b.parent_id
 WHERE b.kind = 'refund' AND b.status <> 'DECLINED'
   AND (c.order_id <> b.order_id OR c.kind NOT IN ('authorize', 'sale', 'cash') OR c.status <> 'SUCCEEDED')
