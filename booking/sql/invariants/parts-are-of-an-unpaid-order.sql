-- R22: a part that is kept is one of an order that is not wholly paid yet, and the parts of an order are less than it costs. Once it is
-- confirmed they have paid it; once it has ended they go back.
SELECT format('part %s of order %s is kept, and the order is %s', p.operation_id, o.order_id, o.status) AS detail
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.advice = 'part' AND (o.status NOT IN ('PENDING', 'RECONCILING') OR p.status <> 'SUCCEEDED')
UNION ALL
SELECT format('order %s costs %s and %s parts of it have taken %s', o.order_id, o.amount_minor, count(*), sum(p.amount_minor))
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.advice = 'part' GROUP BY o.order_id HAVING sum(p.amount_minor) >= o.amount_minor
