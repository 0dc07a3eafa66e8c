-- I4: a number whose seat the plan has no longer (flags 8) is BLOCKED, in nobody's hand.
SELECT format('event %s seat %s is gone from the plan and has status %s', s.event_id, s.seat_no, s.status) AS detail
  FROM events e
  JOIN plan_seats p ON p.plan_id = e.plan_id AND p.version = e.plan_version AND p.flags & 8 <> 0
  JOIN seats s ON s.event_id = e.event_id AND s.seat_no = p.seat_no
 WHERE s.status <> 4 OR s.holder <> 0
