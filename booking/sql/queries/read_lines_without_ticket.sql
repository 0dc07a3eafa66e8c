SELECT l.order_id, l.event_id, l.seat_no
  FROM order_seats l JOIN orders o USING (order_id)
 WHERE l.order_id = ANY ($1::uuid[]) AND l.valid AND o.status IN ('CONFIRMED', 'PARTLY_REFUNDED')
   AND NOT EXISTS (SELECT FROM tickets t
                    WHERE t.order_id = l.order_id AND t.seat_no = l.seat_no AND t.status <> 'VOID')
 ORDER BY l.order_id, l.seat_no;
