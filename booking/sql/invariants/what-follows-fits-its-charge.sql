-- R22, R25: a capture, void or refund belongs to a charge of its order, and to that charge's provider unless it is paid in cash.
-- Never more is captured than was authorized, and all of what an order was confirmed with; a void is of the whole.
SELECT format('%s %s of order %s: its charge is %s of order %s', b.kind, b.operation_id, b.order_id, coalesce(c.kind, 'missing'),
              c.order_id) AS detail
  FROM payment_operations b LEFT JOIN payment_operations c ON c.operation_id = b.parent_id
 WHERE b.kind IN ('capture', 'void', 'refund')
   AND (c.operation_id IS NULL OR c.order_id <> b.order_id OR c.kind NOT IN ('authorize', 'sale', 'cash'))
UNION ALL
SELECT format('%s %s is of %s, its charge of %s', b.kind, b.operation_id, b.provider, c.provider)
  FROM payment_operations b JOIN payment_operations c ON c.operation_id = b.parent_id
 WHERE b.kind IN ('capture', 'void', 'refund') AND b.provider <> c.provider AND NOT (b.kind = 'refund' AND b.provider = 'cash')
UNION ALL
SELECT format('%s %s is of %s, its charge of %s', b.kind, b.operation_id, b.amount_minor, c.amount_minor)
  FROM payment_operations b JOIN payment_operations c ON c.operation_id = b.parent_id
 WHERE c.status = 'SUCCEEDED' AND b.status <> 'DECLINED'
   AND (b.kind = 'capture' AND b.amount_minor > c.amount_minor
        OR (b.kind = 'void' OR b.kind = 'capture' AND c.advice = 'goods-issued') AND b.amount_minor <> c.amount_minor)
