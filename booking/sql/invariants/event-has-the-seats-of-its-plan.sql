-- R1: the stock is the plan's, seat by seat.
SELECT format('event %s has %s seats, its plan %s', e.event_id, count(s.seat_no), p.seat_count) AS detail
  FROM events e
  JOIN plans p ON p.plan_id = e.plan_id AND p.version = e.plan_version
  LEFT JOIN seats s USING (event_id)
 GROUP BY e.event_id, p.seat_count HAVING count(s.seat_no) <> p.seat_count
