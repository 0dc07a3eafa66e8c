-- R22: every payment of an order, and all cash that left a drawer for it, is in the currency that it was sold in.
SELECT format('%s %s of order %s is in %s, the order in %s', p.kind, p.operation_id, o.order_id, p.currency, o.currency) AS detail
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.currency <> o.currency
UNION ALL
SELECT format('movement %s of operation %s is in %s, the operation in %s', m.movement_id, p.operation_id, m.currency, p.currency)
  FROM cash_movements m JOIN payment_operations p USING (operation_id)
 WHERE m.currency <> p.currency
