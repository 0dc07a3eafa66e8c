SELECT e.event_id, e.name, v.name AS venue_name, e.starts_at, e.zone, e.currency, e.status, e.sale_opens_at,
       e.plan_id, e.plan_version, p.seat_count, booking_now() AS server_time
  FROM events e
  JOIN venues v USING (venue_id)
  JOIN plans p ON p.plan_id = e.plan_id AND p.version = e.plan_version
 ORDER BY e.starts_at, e.event_id
