-- R28: tickets are issued once, for valid lines alone.
SELECT format('ticket %s is %s for a line that is not valid', t.ticket_id, t.status) AS detail
  FROM tickets t LEFT JOIN order_seats l USING (order_id, seat_no)
 WHERE t.status <> 'VOID' AND t.place_no IS NULL AND l.valid IS DISTINCT FROM true
UNION ALL
SELECT format('ticket %s is %s for a place that is not valid', t.ticket_id, t.status)
  FROM tickets t LEFT JOIN order_places l USING (order_id, place_no)
 WHERE t.status <> 'VOID' AND t.seat_no IS NULL AND l.valid IS DISTINCT FROM true
UNION ALL
SELECT format('seat %s, place %s of order %s has %s tickets', t.seat_no, t.place_no, t.order_id, count(*))
  FROM tickets t WHERE t.status <> 'VOID'
 GROUP BY t.order_id, t.seat_no, t.place_no HAVING count(*) > 1
