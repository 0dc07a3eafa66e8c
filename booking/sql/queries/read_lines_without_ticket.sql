-- A capture that failed for good is compensated by a supervisor first, and only then are tickets issued (R25).
SELECT l.order_id, l.event_id, l.seat_no, l.place_no
  FROM (SELECT s.order_id, s.event_id, s.seat_no, NULL::integer AS place_no
          FROM order_seats s
         WHERE s.order_id = ANY ($1::uuid[]) AND s.valid
           AND NOT EXISTS (SELECT FROM tickets t
                            WHERE t.order_id = s.order_id AND t.seat_no = s.seat_no AND t.status <> 'VOID')
        UNION ALL
        SELECT p.order_id, p.event_id, NULL, p.place_no
          FROM order_places p
         WHERE p.order_id = ANY ($1::uuid[]) AND p.valid
           AND NOT EXISTS (SELECT FROM tickets t
                            WHERE t.order_id = p.order_id AND t.place_no = p.place_no AND t.status <> 'VOID')) l
  JOIN orders o USING (order_id)
 WHERE o.status IN ('CONFIRMED', 'PARTLY_REFUNDED') AND NOT is_compensation_due(l.order_id)
 ORDER BY l.order_id, l.seat_no, l.place_no;
