-- A capture that failed for good is compensated by a supervisor first, and only then are tickets issued (R25).
SELECT l.order_id, l.event_id, l.seat_no
  FROM order_seats l JOIN orders o USING (order_id)
 WHERE l.order_id = ANY ($1::uuid[]) AND l.valid AND o.status IN ('CONFIRMED', 'PARTLY_REFUNDED')
   AND NOT EXISTS (SELECT FROM tickets t
                    WHERE t.order_id = l.order_id AND t.seat_no = l.seat_no AND t.status <> 'VOID')
   AND NOT is_compensation_due(l.order_id)
 ORDER BY l.order_id, l.seat_no;
