-- R3, R22: an order is confirmed with every seat of its holds, and with no other.
SELECT format('order %s: lines %s, holds %s', o.order_id, lines.seats, held.seats) AS detail
  FROM orders o
  LEFT JOIN (SELECT l.order_id, array_agg(l.seat_no ORDER BY l.seat_no) AS seats
               FROM order_seats l GROUP BY l.order_id) lines USING (order_id)
  LEFT JOIN (SELECT oh.order_id, array_agg(seat ORDER BY seat) AS seats
               FROM order_holds oh JOIN holds h USING (hold_id) CROSS JOIN unnest(h.seats) AS seat
              WHERE oh.live GROUP BY oh.order_id) held USING (order_id)
 WHERE o.status IN ('PENDING', 'RECONCILING', 'CONFIRMED') AND lines.seats IS DISTINCT FROM held.seats
