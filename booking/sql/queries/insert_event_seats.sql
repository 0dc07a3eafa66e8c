-- $1 event_id, $2 plan_id, $3 plan_version. Numbers whose seat is gone (flags 8) are BLOCKED for good: nobody's, not the house's.
INSERT INTO seats (event_id, seat_no, status)
SELECT $1, seat_no, CASE WHEN flags & 8 <> 0 THEN 4 ELSE 0 END
  FROM plan_seats WHERE plan_id = $2 AND version = $3
 ORDER BY seat_no
