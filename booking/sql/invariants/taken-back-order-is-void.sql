-- R25, R33: an order that a supervisor took back has nothing valid any more, and the item that he did it by has ended by a person.
-- Its charges that were lost are let go, or on their way to be, unless their time is over or somebody knows of it.
SELECT format('order %s was taken back, and is valid still', a.order_id) AS detail
  FROM money_backs a WHERE a.item_id IS NOT NULL AND has_valid_lines(a.order_id)
UNION ALL
SELECT format('order %s was taken back by item %s, which %s ended', a.order_id, a.item_id, coalesce(nullif(i.resolved_by, ''), 'nobody'))
  FROM money_backs a LEFT JOIN reconciliation_items i USING (item_id)
 WHERE a.item_id IS NOT NULL
   AND (i.resolved_by IS NULL OR i.resolved_by NOT LIKE 'supervisor:_%' OR i.order_id <> a.order_id)
UNION ALL
SELECT format('charge %s of order %s, which was taken back, is not let go', c.operation_id, c.order_id)
  FROM money_backs a
  JOIN payment_operations k ON k.order_id = a.order_id AND k.kind = 'capture' AND k.status = 'DECLINED'
  JOIN payment_operations c ON c.operation_id = k.parent_id
 WHERE a.item_id IS NOT NULL AND coalesce(c.expires_at > a.created_at, true)
   AND NOT EXISTS (SELECT FROM payment_operations v WHERE v.parent_id = c.operation_id AND v.kind IN ('void', 'refund'))
   AND NOT EXISTS (SELECT FROM payment_operations l
                    WHERE l.parent_id = c.operation_id AND l.kind = 'capture' AND l.status = 'SUCCEEDED')
