-- R7, R24: while a charge may still succeed, the order's seats are nobody else's.
SELECT format('%s %s is %s and its order %s is %s', p.kind, p.operation_id, p.status, o.order_id, o.status) AS detail
  FROM payment_operations p JOIN orders o USING (order_id)
 WHERE p.kind IN ('authorize', 'sale', 'cash') AND NOT p.void_requested
   AND p.status IN ('SENT', 'ACTION_REQUIRED', 'UNKNOWN')
   AND (o.status NOT IN ('PENDING', 'RECONCILING')
        OR EXISTS (SELECT FROM order_seats l LEFT JOIN seats s ON s.event_id = l.event_id AND s.seat_no = l.seat_no
                    WHERE l.order_id = o.order_id
                      AND (s.status IS DISTINCT FROM 2 OR s.order_id IS DISTINCT FROM o.order_id)))
