-- R25: an order that was confirmed says whether the money of all, some or none of its lines went back; a cancelled one stays so.
SELECT format('order %s is %s and ought to be %s', o.order_id, o.status, w.status) AS detail
  FROM orders o CROSS JOIN LATERAL (SELECT status_of_paid_order(o.order_id) AS status) w
 WHERE o.confirmed_at IS NOT NULL AND o.status NOT IN (w.status, 'CANCELLED')
