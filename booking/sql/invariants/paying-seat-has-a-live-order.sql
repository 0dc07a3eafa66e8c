-- R7: a seat that is being paid belongs to an order that waits for its payment, and to that order's hold.
SELECT format('event %s seat %s is being paid, order %s is %s', s.event_id, s.seat_no, s.order_id, coalesce(o.status, '?'))
       AS detail
  FROM seats s
  LEFT JOIN orders o ON o.order_id = s.order_id
  LEFT JOIN order_holds oh ON oh.order_id = s.order_id AND oh.hold_id = s.hold_id AND oh.live
  LEFT JOIN holds h ON h.hold_id = s.hold_id
 WHERE s.status = 2
   AND (o.status IS NULL OR o.status NOT IN ('PENDING', 'RECONCILING') OR oh.hold_id IS NULL
        OR h.status <> 'PAYMENT_PENDING' OR o.event_id <> s.event_id)
