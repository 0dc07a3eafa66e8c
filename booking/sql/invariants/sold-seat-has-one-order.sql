-- R39: a sold seat points to one confirmed order that lists it.
SELECT format('event %s seat %s is sold without an order that lists it', s.event_id, s.seat_no) AS detail
  FROM seats s
  LEFT JOIN orders o ON o.order_id = s.order_id
  LEFT JOIN order_seats l ON l.order_id = s.order_id AND l.event_id = s.event_id AND l.seat_no = s.seat_no AND l.valid
 WHERE s.status = 3
   AND (l.seat_no IS NULL OR o.status NOT IN ('CONFIRMED', 'PARTLY_REFUNDED', 'RECONCILING') OR o.event_id <> s.event_id)
