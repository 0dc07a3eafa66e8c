-- R1: one (event, seat) belongs to at most one valid sold order.
SELECT format('event %s seat %s is sold in %s orders', l.event_id, l.seat_no, count(*)) AS detail
  FROM order_seats l WHERE l.valid
 GROUP BY l.event_id, l.seat_no HAVING count(*) > 1
