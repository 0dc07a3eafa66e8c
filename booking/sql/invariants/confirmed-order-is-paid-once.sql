-- R22, R24: an order that was confirmed was paid, in one charge or in parts, exactly its amount.
SELECT format('order %s of %s is confirmed with payments of %s in %s charges', o.order_id, o.amount_minor,
              coalesce(sum(p.amount_minor), 0), count(p.operation_id)) AS detail
  FROM orders o
  LEFT JOIN payment_operations p ON p.order_id = o.order_id AND p.kind IN ('authorize', 'sale', 'cash')
       AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued'
 WHERE o.confirmed_at IS NOT NULL
 GROUP BY o.order_id HAVING coalesce(sum(p.amount_minor), 0) <> o.amount_minor
