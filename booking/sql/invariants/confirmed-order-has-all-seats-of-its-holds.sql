-- R3, R22: an order is confirmed with every seat of its holds, and with no other.
SELECT format('order %s: lines %s, holds %s', o.order_id, lines.seats, held.seats) AS detail
  FROM orders o
  CROSS JOIN LATERAL (SELECT array_agg(l.seat_no ORDER BY l.seat_no) AS seats
                        FROM order_seats l WHERE l.order_id = o.order_id) lines
  CROSS JOIN LATERAL (SELECT array_agg(seat ORDER BY seat) AS seats
                        FROM order_holds oh JOIN holds h USING (hold_id) CROSS JOIN unnest(h.seats) AS seat
                       WHERE oh.order_id = o.order_id AND oh.live) held
 WHERE o.status IN ('PENDING', 'RECONCILING', 'CONFIRMED') AND lines.seats IS DISTINCT FROM held.seats
