SELECT h.hold_id, h.event_id, h.status, h.seats, h.places, h.expires_at, h.grace_used, h.principal, h.created_at,
       oh.order_id, e.plan_id, e.plan_version, booking_now() AS server_time
  FROM holds h
  JOIN events e USING (event_id)
  LEFT JOIN order_holds oh ON oh.hold_id = h.hold_id AND oh.live
 WHERE h.hold_id = $1
