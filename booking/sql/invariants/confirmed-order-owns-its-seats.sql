-- R39: a confirmed order owns exactly its seats, but for those that were cancelled (line-that-ended-has-its-act).
SELECT format('order %s does not own seat %s of event %s', o.order_id, l.seat_no, l.event_id) AS detail
  FROM orders o
  JOIN order_seats l USING (order_id)
  LEFT JOIN seats s ON s.event_id = l.event_id AND s.seat_no = l.seat_no
 WHERE (o.status = 'CONFIRMED' AND NOT l.valid
        AND NOT EXISTS (SELECT FROM money_back_lines b WHERE b.order_id = o.order_id AND b.seat_no = l.seat_no AND b.counts))
    OR (l.valid AND (s.status IS DISTINCT FROM 3 OR s.order_id IS DISTINCT FROM o.order_id))
UNION ALL
SELECT format('order %s is confirmed without a seat or a place', o.order_id)
  FROM orders o
 WHERE o.status = 'CONFIRMED' AND NOT EXISTS (SELECT FROM order_seats l WHERE l.order_id = o.order_id)
   AND NOT EXISTS (SELECT FROM order_places l WHERE l.order_id = o.order_id)
