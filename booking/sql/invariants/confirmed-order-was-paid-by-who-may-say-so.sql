-- R22, R24, R26: the charge of a confirmed order succeeded by the word of who can know it: its provider, the device that
-- opened it, the drawer, or a supervisor. Nobody at a till decides for a provider.
SELECT format('%s %s of confirmed order %s (%s, device %s) succeeded by the word of "%s"', p.kind, p.operation_id,
              p.order_id, p.provider, p.device_id, p.decided_by) AS detail
  FROM orders o JOIN payment_operations p USING (order_id)
 WHERE o.status IN ('CONFIRMED', 'PARTLY_REFUNDED', 'REFUNDED')
   AND p.kind IN ('authorize', 'sale', 'cash') AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued'
   AND p.decided_by <> CASE p.kind WHEN 'authorize' THEN 'provider:' || p.provider
                                   WHEN 'sale' THEN coalesce('device:' || p.device_id, '')
                                   ELSE 'drawer:' || p.principal END
   AND NOT (p.kind <> 'cash' AND p.decided_by LIKE 'supervisor:_%')
UNION ALL
SELECT format('order %s is confirmed without a charge that paid it', o.order_id)
  FROM orders o
 WHERE o.status = 'CONFIRMED'
   AND NOT EXISTS (SELECT FROM payment_operations p
                    WHERE p.order_id = o.order_id AND p.kind IN ('authorize', 'sale', 'cash')
                      AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued')
