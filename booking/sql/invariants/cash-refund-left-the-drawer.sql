-- R25, R34: cash that was refunded left a drawer, once, and exactly so much; nothing else did under that name.
SELECT format('refund %s of %s in cash: %s movements of %s', p.operation_id, p.amount_minor, count(m.movement_id),
              coalesce(sum(m.amount_minor), 0)) AS detail
  FROM payment_operations p LEFT JOIN cash_movements m USING (operation_id)
 WHERE p.kind = 'refund' AND p.provider = 'cash' AND p.status = 'SUCCEEDED'
 GROUP BY p.operation_id HAVING coalesce(sum(m.amount_minor), 0) <> -p.amount_minor
UNION ALL
SELECT format('movement %s of %s is of an operation that gave no cash back', m.movement_id, m.amount_minor)
  FROM cash_movements m LEFT JOIN payment_operations p USING (operation_id)
 WHERE m.kind = 'refund' AND (p.kind IS DISTINCT FROM 'refund' OR p.provider <> 'cash' OR p.status <> 'SUCCEEDED')
UNION ALL
SELECT format('movement %s is of drawer %s, its refund of %s', m.movement_id, m.device_id, p.device_id)
  FROM cash_movements m JOIN payment_operations p USING (operation_id)
 WHERE m.kind = 'refund' AND m.device_id IS DISTINCT FROM p.device_id
