-- Events with a room that may still be steered: their sale is not over.
SELECT r.event_id, r.url
  FROM admission_rooms r JOIN events e ON e.event_id = r.event_id
 WHERE e.status <> 'CANCELLED' AND e.starts_at > booking_now()
 ORDER BY r.event_id
